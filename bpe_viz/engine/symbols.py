"""Symbols: the base vocabulary, and the table that knows the bytes of every symbol id."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bpe_viz.engine.types import Base, EndOfWord, TrainingOptions

if TYPE_CHECKING:
    from bpe_viz.engine.corpus import PretokenCounts

GAP = -1
"""Stands for a character that the base lacks."""


@dataclass(frozen=True, slots=True)
class BaseVocabulary:
    """The symbols before any merge, and how a pre-token is written in them.

    content: the bytes of each base symbol, the marker not included (b"" for a marker that is its own symbol)
    ends_word: whether each base symbol carries the end-of-word marker; a flag, so that a marker is never
        confused with the same text in a corpus
    """

    base: Base
    end_of_word: EndOfWord
    marker: str
    content: tuple[bytes, ...]
    ends_word: tuple[bool, ...]
    _tables: list[NDArray[np.int32]] = field(init=False, repr=False, compare=False, default_factory=list)
    _plain: dict[bytes, int] = field(init=False, repr=False, compare=False)
    _last: dict[bytes, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        plain = {c: i for i, (c, ends) in enumerate(zip(self.content, self.ends_word, strict=True)) if not ends}
        last = {c: i for i, (c, ends) in enumerate(zip(self.content, self.ends_word, strict=True)) if ends}
        object.__setattr__(self, "_plain", plain)
        object.__setattr__(self, "_last", last)

    def __len__(self) -> int:
        return len(self.content)

    def label(self, symbol: int) -> bytes:
        """The symbol's text with its marker: what it sorts by."""
        return self.content[symbol] + (self.marker.encode() if self.ends_word[symbol] else b"")

    def pieces(self, pretoken: bytes) -> list[bytes]:
        """Cut a pre-token into the bytes of its base symbols; a marker of its own is an empty last piece.

        pretoken: UTF-8
        """
        if self.base == "bytes":
            pieces = [pretoken[i : i + 1] for i in range(len(pretoken))]
        else:
            pieces = [character.encode() for character in pretoken.decode("utf-8", errors="replace")]
        if self.end_of_word == "separate":
            pieces.append(b"")
        return pieces

    def start(self, pretoken: bytes) -> tuple[list[int], list[int]]:
        """Return the base symbols of a pre-token, and how many of its bytes each stands for.

        Raises FormatError for a pre-token that a file's own library would refuse.
        """
        pieces = self.pieces(pretoken)
        return self.symbols(pieces), [len(piece) for piece in pieces]

    def left_out(self, pretoken: bytes) -> int:
        """Return how many characters of a pre-token no symbol stands for, while their neighbours are joined: none."""
        return 0

    def arrays(self, pretoken: bytes) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return what start does, for a long pre-token: both (n,) int32."""
        if self.base == "bytes":
            codes = np.frombuffer(pretoken, dtype=np.uint8).astype(np.int32)
            widths = np.ones(len(codes), dtype=np.int32)
        else:
            text = pretoken.decode("utf-8", errors="replace")
            codes = np.frombuffer(text.encode("utf-32-le"), dtype=np.int32)
            widths = (1 + (codes >= 0x80) + (codes >= 0x800) + (codes >= 0x10000)).astype(np.int32)
        is_last = np.zeros(len(codes), dtype=bool)
        if self.end_of_word == "glued":
            is_last[-1:] = True
        symbols = self.look_up(codes, is_last)
        if self.end_of_word == "separate":
            symbols = np.append(symbols, np.int32(self._last.get(b"", GAP)))
            widths = np.append(widths, np.int32(0))
        return symbols, widths

    def look_up(self, codes: NDArray[Any], is_last: NDArray[np.bool_]) -> NDArray[np.int32]:
        """Return the symbol of each byte or code point, GAP where there is none: (n,) int32.

        is_last: (n,), where the symbol carries the end-of-word marker
        """
        if not self._tables:
            for known in (self._plain, self._last):
                table = np.full(256 if self.base == "bytes" else 0x110000, GAP, dtype=np.int32)
                for content, symbol in known.items():
                    if content:
                        table[content[0] if self.base == "bytes" else ord(content.decode())] = symbol
                self._tables.append(table)
        symbols: NDArray[np.int32] = self._tables[0][codes]
        if is_last.any():
            symbols[is_last] = self._tables[1][codes[is_last]]
        return symbols

    def symbols(self, pieces: list[bytes]) -> list[int]:
        """Return the symbol id of each piece, GAP where the base lacks it."""
        ids = [self._plain.get(piece, GAP) for piece in pieces]
        if pieces and self.end_of_word != "none":
            ids[-1] = self._last.get(pieces[-1], GAP)
        return ids


_ROWS_AT_ONCE = 1 << 15


@dataclass(frozen=True, eq=False, slots=True)
class SymbolizedPretokens:
    """All distinct pre-tokens written in base symbols, made some rows at a time, as all would take four times the text.

    lengths: (rows,) int64, how many symbols each pre-token has
    """

    vocabulary: BaseVocabulary
    lengths: NDArray[np.int64]
    _pretokens: PretokenCounts

    def parts(self) -> Iterator[tuple[int, int, NDArray[np.int32]]]:
        """Yield (first row, row behind the last, their symbols end to end) in order."""
        vocabulary = self.vocabulary
        for start, end in _row_ranges(self._pretokens):
            codes, lengths = _codes(self._pretokens, vocabulary.base, start, end)
            symbols = vocabulary.look_up(codes, _ends_a_word(lengths, len(codes), vocabulary.end_of_word))
            if vocabulary.end_of_word == "separate":
                own = vocabulary.ends_word.index(True)
                symbols = np.insert(symbols, np.cumsum(lengths), own).astype(np.int32)
            yield start, end, symbols


def stand_in_order() -> tuple[int, ...]:
    """Return the 256 bytes in the order of the letters that stand for them in GPT-2's vocabulary.

    Printable bytes stand for themselves, in order; the others follow, since their letters begin at U+0100.
    """
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    return (*printable, *(byte for byte in range(256) if byte not in printable))


def symbolize(pretokens: PretokenCounts, options: TrainingOptions) -> SymbolizedPretokens:
    """Write every distinct pre-token in base symbols, and find the base vocabulary on the way.

    Bytes: all 256, whether they occur or not (and with a glued marker all 256 that end a word). Characters: those
    that occur, in code-point order of their text, markers included.
    """
    if options.base == "bytes":
        vocabulary, lengths = _base_of_bytes(options), np.diff(pretokens.offsets).astype(np.int64)
    else:
        vocabulary, lengths = _base_of_characters(pretokens, options)
    return SymbolizedPretokens(vocabulary, lengths + (options.end_of_word == "separate"), pretokens)


def _row_ranges(pretokens: PretokenCounts) -> Iterator[tuple[int, int]]:
    for start in range(0, len(pretokens), _ROWS_AT_ONCE):
        yield start, min(start + _ROWS_AT_ONCE, len(pretokens))


def _codes(pretokens: PretokenCounts, base: Base, start: int, end: int) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the bytes or code points of some rows, and how many each row has."""
    offsets = pretokens.offsets[start : end + 1]
    data = memoryview(pretokens.data)[offsets[0] : offsets[-1]]
    octets = np.frombuffer(data, dtype=np.uint8)
    if base == "bytes":
        return octets, np.diff(offsets)
    codes = np.frombuffer(str(data, "utf-8").encode("utf-32-le"), dtype=np.int32)
    before = np.concatenate(([0], np.cumsum((octets & 0xC0) != 0x80, dtype=np.int64)))
    return codes, np.diff(before[offsets - offsets[0]])


def _ends_a_word(lengths: NDArray[np.int64], n_codes: int, end_of_word: EndOfWord) -> NDArray[np.bool_]:
    """Tell of each code whether its symbol carries the marker."""
    is_last = np.zeros(n_codes, dtype=bool)
    if end_of_word == "glued":
        is_last[(np.cumsum(lengths) - 1)[lengths > 0]] = True
    return is_last


def _base_of_bytes(options: TrainingOptions) -> BaseVocabulary:
    order = stand_in_order() if options.rule == "huggingface" else tuple(range(256))
    base = [(bytes([byte]), False) for byte in order]
    if options.end_of_word == "glued":
        base += [(bytes([byte]), True) for byte in order]
    elif options.end_of_word == "separate":
        base += [(b"", True)]
    return _vocabulary(base, options)


def _base_of_characters(
    pretokens: PretokenCounts, options: TrainingOptions
) -> tuple[BaseVocabulary, NDArray[np.int64]]:
    """Return the characters that occur, and how many each pre-token has."""
    found: set[tuple[bytes, bool]] = set()
    lengths = np.zeros(len(pretokens), dtype=np.int64)
    for start, end in _row_ranges(pretokens):
        codes, lengths[start:end] = _codes(pretokens, "characters", start, end)
        is_last = _ends_a_word(lengths[start:end], len(codes), options.end_of_word)
        for ends in (False, True):
            found |= {(chr(code).encode(), ends) for code in np.unique(codes[is_last == ends])}
    if options.end_of_word == "separate":
        found.add((b"", True))
    marker = options.marker.encode()
    return _vocabulary(
        sorted(found, key=lambda symbol: (symbol[0] + (marker if symbol[1] else b""), symbol[1])), options
    ), lengths


def _vocabulary(base: list[tuple[bytes, bool]], options: TrainingOptions) -> BaseVocabulary:
    return BaseVocabulary(
        options.base,
        options.end_of_word,
        options.marker,
        tuple(content for content, _ in base),
        tuple(ends for _, ends in base),
    )


class SymbolTable:
    """The bytes of every symbol id: base symbols first, then one for each merge, then tokens that no merge makes.

    Reads arrays that only ever grow beyond what this table was told of, so it may be kept as long as wanted.
    """

    __slots__ = ("_ends_word", "_text", "_text_start", "base", "n_symbols", "n_unmade")

    def __init__(
        self, base: BaseVocabulary, text: Any, text_start: Any, ends_word: Any, n_symbols: int, n_unmade: int = 0
    ) -> None:
        """Arrays as in kernels_order.Order and kernels.State; n_symbols: how many of them count.

        n_unmade: how many of these, the last ones, no merge makes
        """
        self.base = base
        self.n_symbols = n_symbols
        self.n_unmade = n_unmade
        self._text = text
        self._text_start = text_start
        self._ends_word = ends_word

    def __len__(self) -> int:
        return self.n_symbols

    @property
    def text(self) -> NDArray[np.uint8]:
        """The labels of all symbols end to end; it may be longer."""
        return self._text  # type: ignore[no-any-return]  # as its docstring says

    @property
    def text_start(self) -> NDArray[np.int64]:
        """Where each label begins in text, and one more for the end; it may be longer."""
        return self._text_start  # type: ignore[no-any-return]  # likewise

    def label(self, symbol: int) -> bytes:
        """The symbol's text with its marker."""
        if not 0 <= symbol < self.n_symbols:
            raise IndexError(f"no symbol {symbol} among {self.n_symbols}")
        return self._text[self._text_start[symbol] : self._text_start[symbol + 1]].tobytes()  # type: ignore[no-any-return]  # uint8

    def ends_word(self, symbol: int) -> bool:
        """Whether the symbol carries the end-of-word marker."""
        return bool(self._ends_word[symbol])

    def content(self, symbol: int) -> bytes:
        """The symbol's bytes, without its marker."""
        label = self.label(symbol)
        return label[: -len(self.base.marker.encode())] if self.ends_word(symbol) else label

    def marker(self, symbol: int) -> str:
        """The end-of-word marker's text if the symbol carries it, else empty."""
        return self.base.marker if self.ends_word(symbol) else ""

    def rank(self, symbol: int) -> int | None:
        """The rank of the merge that made the symbol; None for a base symbol and for a token that no merge makes."""
        return symbol - len(self.base) if len(self.base) <= symbol < self.n_symbols - self.n_unmade else None
