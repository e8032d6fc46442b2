"""A Tokenizer: base vocabulary, merges and special tokens; encodes and decodes, at any position of its merge list."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from bpe_viz.engine.boundaries import BoundaryRanks
from bpe_viz.engine.id_decoding import Decoding, decoded
from bpe_viz.engine.joined_ranks import JoinedRanks
from bpe_viz.engine.layout import EncodedText, lay_out
from bpe_viz.engine.merge_ranks import MergeRanks, MergeSource
from bpe_viz.engine.number_table import NumberTable
from bpe_viz.engine.pipeline import Pipeline, PlainPipeline, SpecialText
from bpe_viz.engine.symbols import GAP, BaseVocabulary, SymbolTable
from bpe_viz.engine.types import DEFAULT_MARKER, CountingOptions, Encoding, Pair, Token
from bpe_viz.errors import FormatError

if TYPE_CHECKING:
    from bpe_viz.engine.compiled import Kernels
    from bpe_viz.engine.quick_ids import QuickIds
    from bpe_viz.engine.timeline import Timeline

__all__ = ["BYTES", "SpecialText", "Tokenizer"]

_MOST_BYTES = 1 << 30
"""Of all tokens: a list in which each merge doubles the longest would soon have no end."""

BYTES = tuple(bytes([byte]) for byte in range(256))
"""The base vocabulary of bytes, in order."""


class Tokenizer:
    """Immutable to its users. Encoding remembers pre-tokens it has seen; one thread uses it at a time.

    Symbols are numbered base first, then merges in order. Token ids are the same numbers unless a file says
    otherwise; then the unknown token, then the special tokens. A special token whose text is a token already takes
    that token's id, and `notes` says so.
    """

    def __init__(
        self,
        symbols: SymbolTable,
        boundaries: BoundaryRanks[Any],
        counting: CountingOptions,
        unknown: str | None = None,
        position: int | None = None,
        ids: NDArray[np.int64] | None = None,
        special_ids: dict[str, int] | None = None,
        name: str = "trained here",
        specials_first: bool = False,
    ) -> None:
        """Put a tokenizer together.

        symbols: base symbols and merge results
        boundaries: knows the merges; its memory of pre-tokens may be shared by tokenizers of one merge list
        counting: how text is cut before it is encoded
        position: how many merges apply; None: all
        ids: (symbols,) int64, the token id of each symbol; None: the symbol's own number
        special_ids: the ids of the unknown and the special tokens by text; None: they follow the merges
        specials_first: they come before the base symbols instead, as the tokenizers library numbers them
        """
        self.symbols = symbols
        self.counting = counting
        self.unknown = unknown
        self.name = name
        self.n_merges = len(symbols) - len(symbols.base) - symbols.n_unmade
        self.position = self.n_merges if position is None else position
        if not 0 <= self.position <= self.n_merges:
            raise IndexError(f"position {self.position} is outside 0 to {self.n_merges}")
        self._boundaries = boundaries
        self.notes: tuple[str, ...] = ()
        self.refuses_gaps = False
        """A text with a character that the base lacks is refused: the file's own library would join its neighbours."""
        self.normalizes_first = False
        """The file's own library looks for special tokens after normalizing."""
        if special_ids is None:
            ids, special_ids = self._number_with_specials(specials_first)
        self._ids = np.arange(len(symbols), dtype=np.int64) if ids is None else ids
        self.special_ids = special_ids
        self.pipeline: Pipeline = PlainPipeline(counting, special_ids)
        """What stands around the merges."""
        self.is_told_by_options = True
        """Base, merges and `counting` tell all that the file does, so that other formats may hold it."""
        self.not_in_options: tuple[str, ...] = ()
        """What its file's own library does besides, and other formats do not hold."""
        self.kind = "BPE"
        """The kind of its model."""
        self.why_no_merges = ""
        """Why there are no merges to step through; empty if there are."""
        self.text_of_ids: Callable[[Sequence[int]], str] | None = None
        """How its file's own library makes a text of ids, of which some no token has; None: bytes are joined."""
        self.document: bytes | None = None
        """The whole tokenizer.json that it was read from."""
        self.renumbered: Mapping[int, int] = {}
        """The ids of the file by those that its own library gives instead: it numbers some added tokens anew."""
        self._symbol_of_id: NumberTable | None = None
        self._special_of_id: dict[int, str] | None = None
        self._quick: QuickIds | None = None

    @classmethod
    def from_timeline(
        cls,
        timeline: Timeline,
        counting: CountingOptions,
        boundaries: BoundaryRanks[MergeRanks] | None = None,
    ) -> Tokenizer:
        """Return the tokenizer that is trained so far; boundaries: a memory to share, of the same timeline."""
        published = timeline.published
        if boundaries is None:
            boundaries = BoundaryRanks(timeline.base, MergeRanks(len(timeline.base)))
        boundaries.ranks.follow(published)
        symbols = timeline.symbols_of(published)
        specials_first = timeline.options.rule == "huggingface"
        return cls(symbols, boundaries, counting, timeline.options.unknown, specials_first=specials_first)

    @classmethod
    def from_merges(
        cls,
        base: BaseVocabulary,
        pairs: Sequence[Pair],
        counting: CountingOptions,
        unknown: str | None = None,
        ids: NDArray[np.int64] | None = None,
        special_ids: dict[str, int] | None = None,
        name: str = "",
        ranks: MergeSource | None = None,
    ) -> Tokenizer:
        """Return the tokenizer of a merge list; pairs are symbol ids as numbered above.

        ranks: what merges at which rank, if that is not simply each pair at its own
        Raises FormatError if a pair names a symbol that does not exist before it.
        """
        symbols = _symbols_of_merges(base, pairs)
        boundaries = BoundaryRanks(base, MergeRanks(len(base), pairs) if ranks is None else ranks)
        return cls(symbols, boundaries, counting, unknown, None, ids, special_ids, name)

    @classmethod
    def from_ranks(
        cls,
        ranks: Mapping[bytes, int],
        counting: CountingOptions,
        special_ids: dict[str, int] | None = None,
        name: str = "",
    ) -> Tokenizer:
        """Return the tokenizer of a list of ranks, which merges by joined bytes; a token's id is its rank.

        ranks: token -> rank, no rank twice, no token empty
        special_ids: the ids of the special tokens of `counting` by text
        Raises FormatError if one of the 256 bytes is no token.
        """
        lacking = [byte for byte in range(256) if bytes([byte]) not in ranks]
        if lacking:
            raise FormatError(
                f"{len(lacking)} of the 256 bytes are no token, 0x{lacking[0]:02x} for one: text with them has no ids.",
                "Get the whole file.",
            )
        base = BaseVocabulary("bytes", "none", DEFAULT_MARKER, BYTES, (False,) * 256)
        tokens = sorted((token for token in ranks if len(token) > 1), key=ranks.__getitem__)
        contents = [*BYTES, *tokens]
        text = np.frombuffer(b"".join(contents), dtype=np.uint8)
        text_start = np.concatenate(([0], np.cumsum([len(content) for content in contents], dtype=np.int64)))
        symbols = SymbolTable(base, text, text_start, np.zeros(len(contents), dtype=np.uint8), len(contents))
        ids = np.array([ranks[content] for content in contents], dtype=np.int64)
        boundaries = BoundaryRanks(base, JoinedRanks(BYTES, tokens))
        return cls(symbols, boundaries, counting, None, None, ids, special_ids or {}, name)

    def at(self, position: int) -> Tokenizer:
        """Return the tokenizer with the first `position` merges only; ids stay the final ids."""
        other = Tokenizer.__new__(Tokenizer)
        other.__dict__.update(self.__dict__)
        if not 0 <= position <= self.n_merges:
            raise IndexError(f"position {position} is outside 0 to {self.n_merges}")
        other.position = position
        other._quick = None
        return other

    def use(self, kernel_set: Kernels) -> None:
        """Work long pre-tokens out with these kernels; tokenizers that share a memory of pre-tokens follow."""
        self._boundaries.use(kernel_set)

    @property
    def base(self) -> BaseVocabulary:
        """The base vocabulary."""
        return self.symbols.base

    @property
    def vocab_size(self) -> int:
        """How many token ids there are."""
        return len(self._symbols_of_ids) + len(self._ids_without_symbol())

    @property
    def pairs(self) -> list[Pair]:
        """The merges up to its position as pairs of symbol ids, in rank order.

        Raises FormatError if they are no list of pairs, as where tokens are only taken whole.
        """
        return self.merge_ranks.pairs(self.position)

    def id_of(self, symbol: int) -> int:
        """Return the token id of a symbol."""
        return int(self._ids[symbol])

    def ids_of(self, symbols: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the token ids of many symbols."""
        return self._ids[symbols]

    @property
    def merge_ranks(self) -> MergeSource:
        """What merges with what; it may know of later merges than this tokenizer has."""
        ranks: MergeSource = self._boundaries.ranks
        return ranks

    def token(self, token_id: int) -> Token:
        """Return the token with this id. Raises KeyError if there is none."""
        symbol = self._symbol(token_id)
        if symbol is not None:
            rank = self.symbols.rank(symbol)
            kind: Literal["base", "merge", "whole", "special"] = "base" if rank is None else "merge"
            if rank is None and self.unknown is not None and token_id == self.special_ids.get(self.unknown):
                return Token(token_id, self.symbols.content(symbol), False, None, "unknown")
            if rank is None and symbol >= len(self.base):
                kind = "special" if self._special_text(token_id) else "whole"
            return Token(token_id, self.symbols.content(symbol), self.symbols.ends_word(symbol), rank, kind)
        text = self._special_text(token_id)
        if text is None:
            raise KeyError(token_id)
        return Token(token_id, text.encode(), False, None, "unknown" if text == self.unknown else "special")

    def label(self, token_id: int) -> bytes:
        """Return the token's text with its end-of-word marker. Raises KeyError if there is none."""
        token = self.token(token_id)
        return token.content + (self.base.marker.encode() if token.ends_word else b"")

    def vocabulary(self) -> Iterator[Token]:
        """Yield every token, by id."""
        for token_id in sorted([*self._symbols_of_ids.keys.tolist(), *self._ids_without_symbol()]):
            yield self.token(token_id)

    def _ids_without_symbol(self) -> set[int]:
        """Return the ids of special tokens that no symbol has."""
        known = self._symbols_of_ids
        return {token_id for token_id in self.special_ids.values() if known.get(token_id) is None}

    def merge_of(self, token_id: int) -> Pair | None:
        """Return the pair of symbols that makes a token; None if no merge does, or more than two symbols make it."""
        symbol = self._symbol(token_id)
        rank = None if symbol is None else self.symbols.rank(symbol)
        return None if rank is None else self.merge_ranks.pair(rank)

    def lay_out(self, text: str, special_text: SpecialText = "allow", around: bool = True) -> EncodedText:
        """Encode a text for every position at once: see layout.EncodedText.

        around: with the tokens that its file puts around a text
        Raises BpeVizError for special text that is to be an error, and for a character that may be no gap.
        """
        encoded = lay_out(self, self._boundaries, text, special_text, around)
        if self.refuses_gaps and len(gaps := np.flatnonzero(encoded.symbols == GAP)):
            start, end = int(encoded.start[gaps[0]]), int(encoded.end[gaps[0]])
            raise FormatError(
                f"The vocabulary of {self.name} lacks {text[start:end]!r} at character {start + 1:,}, and it has no "
                "unknown token: its own library would leave it out and join its neighbours, which bpe-viz does not.",
                "Leave such characters out of the text.",
            )
        return encoded

    def encode(self, text: str, special_text: SpecialText = "allow") -> Encoding:
        """Encode a text at this tokenizer's position; what else is to be said of it is worked out when asked for.

        Raises BpeVizError for special text that is to be an error, and for a character that may be no gap.
        """
        return Encoding(
            self.encode_ids(text, special_text), lambda: self.lay_out(text, special_text).encoding(self.position)
        )

    def encode_ids(self, text: str, special_text: SpecialText = "allow") -> list[int]:
        """Return the ids of a text, gaps left out: the quickest way for a sentence, which compiles nothing.

        Raises BpeVizError for special text that is to be an error, and for a character that may be no gap.
        """
        is_plain = special_text == "allow" and not self.refuses_gaps
        if not is_plain or not self.pipeline.is_plain_for(text):
            details = self.lay_out(text, special_text).encoding(self.position)
            return [token.id for token in details.tokens if token.id is not None]
        if self._quick is None:
            from bpe_viz.engine.quick_ids import QuickIds

            self._quick = QuickIds(self)
        return self._quick.of(text)

    def symbols_of(self, content: bytes, position: int) -> list[int]:
        """Return the symbols of one pre-token (UTF-8), taken as it is, after `position` merges."""
        return self._boundaries.split(content, position)

    def encode_pretoken(self, content: bytes) -> list[int | None]:
        """Encode one pre-token (UTF-8), taken as it is; None for a gap."""
        unknown = self.special_ids.get(self.unknown) if self.unknown is not None else None
        symbols = self.symbols_of(content, self.position)
        return [unknown if symbol < 0 else self.id_of(symbol) for symbol in symbols]

    def decode(self, ids: Sequence[int]) -> Decoding:
        """Join the tokens' bytes and read them as UTF-8, invalid bytes as U+FFFD.

        An id that no token has is marked in the text. A marked end of word becomes a space if the pretokenizer
        dropped the white space between words, else nothing. Where the file has a library, that makes the text.
        """
        return decoded(self, ids)

    @property
    def covers_text(self) -> bool:
        """Whether the pretokenizer keeps every character of a text, so far as its name tells."""
        from bpe_viz.engine.pretokenize import pretokenizer_for

        return self.pipeline.is_plain_for("") and pretokenizer_for(self.counting).lossless

    def index_ids(self) -> None:
        """Prepare to look ids up, which otherwise takes some time when it is done first."""
        _ = self._symbols_of_ids

    @property
    def _symbols_of_ids(self) -> NumberTable:
        """The symbol of each id; of several symbols of one token the first."""
        if self._symbol_of_id is None:
            self._symbol_of_id = NumberTable.first_places(self._ids)
        return self._symbol_of_id

    def _symbol(self, token_id: int) -> int | None:
        return self._symbols_of_ids.get(token_id)

    def _special_text(self, token_id: int) -> str | None:
        if self._special_of_id is None:
            self._special_of_id = {number: text for text, number in reversed(self.special_ids.items())}
        return self._special_of_id.get(token_id)

    def _number_with_specials(self, specials_first: bool) -> tuple[NDArray[np.int64], dict[str, int]]:
        """Number the symbols, and the unknown and the special tokens after or before them.

        A special token that is an ordinary token too shares its id.
        """
        n_symbols = len(self.symbols)
        unknown = () if self.unknown is None else (self.unknown,)
        texts = list(dict.fromkeys((*unknown, *self.counting.special_tokens)))
        shared = self._symbols_with(texts)
        if specials_first:
            special_ids = {text: number for number, text in enumerate(texts)}
            is_shared = np.zeros(n_symbols, dtype=bool)
            is_shared[list(shared.values())] = True
            ids = len(texts) - 1 + np.cumsum(~is_shared)
            for text, symbol in shared.items():
                ids[symbol] = special_ids[text]
        else:
            ids = np.arange(n_symbols, dtype=np.int64)
            own = [text for text in texts if text not in shared]
            special_ids = {text: n_symbols + number for number, text in enumerate(own)} | shared
        self.notes += tuple(
            f"The special token {text!r} is also an ordinary token: both have id {special_ids[text]}."
            for text in shared
        )
        return ids, special_ids

    def _symbols_with(self, texts: Sequence[str]) -> dict[str, int]:
        """Return the symbols that have one of these texts."""
        wanted = {text.encode(): text for text in texts}
        found: dict[str, int] = {}
        for symbol in range(len(self.symbols)) if wanted else ():
            content = self.symbols.content(symbol)
            if content in wanted and not self.symbols.ends_word(symbol):
                found[wanted[content]] = symbol
        return found


def _symbols_of_merges(base: BaseVocabulary, pairs: Sequence[Pair]) -> SymbolTable:
    labels = [base.label(symbol) for symbol in range(len(base))]
    ends = list(base.ends_word)
    n_bytes = 0
    for rank, (left, right) in enumerate(pairs):
        if not (0 <= left < len(labels) and 0 <= right < len(labels)):
            raise FormatError(f"Merge {rank} joins symbols {left} and {right}, which do not exist before it.")
        n_bytes += len(labels[left]) + len(labels[right])
        if n_bytes > _MOST_BYTES:
            raise FormatError(
                f"The tokens up to merge {rank:,} are longer than {_MOST_BYTES:,} bytes together: hardly learned.",
                "Get the file again.",
            )
        labels.append(labels[left] + labels[right])
        ends.append(ends[right])
    text = np.frombuffer(b"".join(labels), dtype=np.uint8)
    text_start = np.concatenate(([0], np.cumsum([len(label) for label in labels], dtype=np.int64)))
    return SymbolTable(base, text, text_start, np.array(ends, dtype=np.uint8), len(labels))
