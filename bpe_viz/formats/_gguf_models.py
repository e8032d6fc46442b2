"""What kinds of models a GGUF file may hold: merges of bytes or characters, pieces with scores, and RWKV's."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import msgspec

from bpe_viz.engine.llama_cpp_cutting import Passes, Span, SpecialToken
from bpe_viz.engine.llama_cpp_pipelines import SPACE, LinesPipeline, PiecesPipeline, WordsPipeline
from bpe_viz.engine.pretokenize import pretokenizer_for
from bpe_viz.engine.tokenizer import Tokenizer
from bpe_viz.engine.types import CountingOptions
from bpe_viz.errors import FormatError
from bpe_viz.formats import PretokenizerNeeded, refuse_pretokenizer
from bpe_viz.formats._bpe_model import BpeModel, BpeSymbols, NotSteppedError, bpe_symbols
from bpe_viz.formats._gguf_vocabulary import Vocabulary
from bpe_viz.formats._llama_cpp_pretokenizers import PRETOKENIZERS, Pretokenizer
from bpe_viz.formats._longest_match import longest_match_tokenizer
from bpe_viz.formats._reading import AGAIN, shortened_line
from bpe_viz.formats._scored_pieces import scored_pieces
from bpe_viz.formats._sentencepiece_proto import BYTE, CONTROL, NORMAL, UNKNOWN, USER_DEFINED, ModelProto, Piece

_BYTE_OF_NAME = {f"<0x{byte:02X}>": byte for byte in range(256)}
_ELEVEN = 11  # GPT-2's ids of what stands around a text, where a file names none
_ONE, _TWO = 1, 2  # the same of Llama's
_BPE = 2  # the type of a model of pieces that merge

_ESCAPED = re.compile(r"(?:[^\\]|\\x[0-9a-f]{2}|\\[^x])*", re.DOTALL)
_ESCAPE = re.compile(rb"\\(x[0-9a-f]{2}|[^x])", re.DOTALL)

_Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class _GivenSpans:
    """Cuts as a user asks for. Not a closure: a tokenizer is to be sent between processes."""

    counting: CountingOptions

    def __call__(self, text: str) -> list[Span]:
        return pretokenizer_for(self.counting).spans(text)


def of_merges(vocabulary: Vocabulary, given: CountingOptions | None) -> Tokenizer:
    """Return the tokenizer of a model of merges.

    given: how text is cut, for a name that is not known
    Raises PretokenizerNeeded if it is lacking, FormatError.
    """
    known = _known(vocabulary, given)
    return _of_characters(vocabulary, known) if known.is_of_characters else _of_bytes(vocabulary, known, given)


def _of_bytes(vocabulary: Vocabulary, known: Pretokenizer, given: CountingOptions | None) -> Tokenizer:
    """Return the tokenizer of a byte-level BPE model."""
    specials = vocabulary.specials()
    before, behind = vocabulary.around(known.adds_first, _ELEVEN if known.has_first else None, _ELEVEN)
    merges = _merges(vocabulary)
    vocab = _mergeable(vocabulary, specials, merges, known.takes_whole)
    model = BpeModel(vocab, _in_json(merges), ignore_merges=known.takes_whole)
    symbols = _symbols(vocabulary, model, True, {one.text for one in specials})
    is_plain = (
        known.option is not None
        and given is None
        and symbols.is_ordinary
        and (before, behind) == (None, None)
        # Several may be cut out in another order; one that is always a token cannot be said by options.
        and len(specials) < 2
        and not any(one.is_always or one.strips_left or one.strips_right for one in specials)
    )
    how = given or CountingOptions(known.option if is_plain and known.option else CountingOptions().pretokenizer)
    counting = CountingOptions(how.pretokenizer, how.pattern, special_tokens=tuple(one.text for one in specials))
    tokenizer = Tokenizer(
        symbols.symbols,
        symbols.boundaries,
        counting,
        ids=symbols.ids,
        special_ids={one.text: one.id for one in specials},
    )
    tokenizer.pipeline = WordsPipeline(
        f"as llama.cpp cuts for {vocabulary.pre or 'default'}"
        if given is None
        else "special tokens, and words as given",
        specials,
        before,
        behind,
        Passes(known.passes).spans if given is None else _GivenSpans(counting),
        is_plain,
    )
    tokenizer.is_told_by_options = is_plain
    tokenizer.notes = (*_cutting_notes(vocabulary, given), *_around_notes(before, behind), *symbols.notes)
    return tokenizer


def _of_characters(vocabulary: Vocabulary, known: Pretokenizer) -> Tokenizer:
    """Return the tokenizer of a model whose merges join characters."""
    _check_bytes(vocabulary)
    ids = vocabulary.ids()
    otherwise = None if vocabulary.model == "gemma4" else _ELEVEN
    before, behind = vocabulary.around(known.adds_first, otherwise, otherwise, always=known.takes_line_ends)
    specials = vocabulary.specials()
    special_ids = {one.text: one.id for one in specials}
    merges = _merges(vocabulary)
    if named := next((text for text in chain.from_iterable(merges) if text in _BYTE_OF_NAME), None):
        raise _not_stepped(vocabulary, NotSteppedError(f"its merges join {named}, which is a byte"))
    line_ends = {text: number for text, number in ids.items() if set(text) == {"\n"}} if known.takes_line_ends else {}
    needs_no_merge = special_ids.keys() | line_ends.keys()
    symbols = _symbols(vocabulary, BpeModel(ids, _in_json(merges), byte_fallback=True), False, needs_no_merge)
    tokenizer = Tokenizer(
        symbols.symbols,
        symbols.boundaries,
        CountingOptions(special_tokens=tuple(special_ids)),
        ids=symbols.ids,
        special_ids=special_ids,
    )
    tokenizer.pipeline = LinesPipeline("lines, as llama.cpp cuts them", specials, before, behind, line_ends)
    tokenizer.is_told_by_options = False
    tokenizer.text_of_ids = _TextOfIds(vocabulary.texts, vocabulary.types, adds_space=False)
    tokenizer.notes = (*_around_notes(before, behind), *symbols.notes)
    return tokenizer


def _known(vocabulary: Vocabulary, given: CountingOptions | None) -> Pretokenizer:
    """Return what the name of the pre-tokenizer stands for; of one that is not known, nothing if another is given."""
    known = PRETOKENIZERS.get("gemma4" if vocabulary.model == "gemma4" else vocabulary.pre or "default")
    if known is not None:
        refuse_pretokenizer(vocabulary.path, given)
        return known
    if given is None:
        raise PretokenizerNeeded(
            f"{vocabulary.path} names the pre-tokenizer {shortened_line(vocabulary.pre)}, which bpe-viz does not know.",
            "Give --pretokenizer or --pattern.",
        )
    return Pretokenizer(())


def _symbols(vocabulary: Vocabulary, model: BpeModel, of_bytes: bool, special: Collection[str]) -> BpeSymbols:
    try:
        contents = list(map(str.encode, model.vocab))
        return bpe_symbols(f"{vocabulary.path}: tokenizer.ggml", model, contents, of_bytes, special, has_gaps=of_bytes)
    except NotSteppedError as error:
        raise _not_stepped(vocabulary, error) from error


def _in_json(merges: list[_Pair]) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(merges))


def _merges(vocabulary: Vocabulary) -> list[_Pair]:
    """Return the merges; of a pair that is listed again the first place counts, unlike in the tokenizers library."""
    return list(dict.fromkeys(_pairs(vocabulary)))


def _pairs(vocabulary: Vocabulary) -> list[_Pair]:
    if vocabulary.merges is None:
        raise FormatError(f"{vocabulary.path} holds no tokenizer.ggml.merges.", AGAIN)
    pairs = []
    for number, written in enumerate(vocabulary.merges):
        place = written.find(" ", 1)
        if place < 0 or place == len(written) - 1:
            raise FormatError(
                f"{vocabulary.path}: tokenizer.ggml.merges[{number}] is {shortened_line(written)}, which is no pair of "
                "tokens.",
                AGAIN,
            )
        pairs.append((written[:place], written[place + 1 :]))
    return pairs


def _mergeable(
    vocabulary: Vocabulary, specials: Sequence[SpecialToken], merges: Collection[str | _Pair], takes_whole: bool
) -> dict[str, int]:
    """Return the ids of the tokens that may come out of merges, or be taken whole; other special tokens are none.

    The bytes of these are those of their texts as they stand, not of letters for bytes.
    """
    ids = vocabulary.ids()
    if takes_whole:
        no_letters = (one.text for one in specials if not one.text.isascii())
    else:
        no_letters = (one.text for one in specials if len(one.text) > 1)
    apart = set(no_letters)
    if apart:
        apart.difference_update(chain.from_iterable(merges), map("".join, merges))
    for text in apart:
        del ids[text]
    return ids


def _check_bytes(vocabulary: Vocabulary) -> None:
    """Raise FormatError if a character that is no token could not fall apart."""
    if lacking := sorted(_BYTE_OF_NAME.keys() - vocabulary.texts):
        raise FormatError(
            f"{vocabulary.path}: tokenizer.ggml.tokens lacks {len(lacking)} of the tokens of the 256 bytes, "
            f"{lacking[0]} for one: text with them has no ids.",
            "Convert the model again with a current llama.cpp.",
        )


def _not_stepped(vocabulary: Vocabulary, error: NotSteppedError) -> FormatError:
    return FormatError(
        f"{vocabulary.path} cannot be shown merge by merge, as {error}.",
        "Open the model's tokenizer.json or .model instead.",
    )


def _cutting_notes(vocabulary: Vocabulary, given: CountingOptions | None) -> Iterator[str]:
    if given is not None:
        yield (
            f"bpe-viz does not know the pre-tokenizer {shortened_line(vocabulary.pre)} of this file: text is cut as "
            "was asked for, and the ids are not llama.cpp's where that cuts otherwise."
        )
    elif not vocabulary.pre:
        yield "The file names no pre-tokenizer: text is cut by llama.cpp's default one, which the model may not expect."
    else:
        yield (
            f"Text is cut as llama.cpp does for {shortened_line(vocabulary.pre)}, by the letters and numbers of "
            "Unicode 15.1."
        )


def _around_notes(before: SpecialToken | None, behind: SpecialToken | None) -> Iterator[str]:
    put = [f"{one.text!r} {where}" for one, where in ((before, "before"), (behind, "behind")) if one is not None]
    if put:
        yield f"llama.cpp puts {' and '.join(put)} a text."


def of_scores(vocabulary: Vocabulary) -> Tokenizer:
    """Return the tokenizer of a model of pieces with scores. Raises FormatError."""
    _check_bytes(vocabulary)
    specials = vocabulary.specials()
    before, behind = vocabulary.around(True, _ONE, _TWO)
    adds_space = vocabulary.adds_space
    try:
        tokenizer = scored_pieces(
            ModelProto(tuple(_pieces(vocabulary)), _BPE, True), {one.text: one.id for one in specials}
        )
    except NotSteppedError as error:
        raise _not_stepped(vocabulary, error) from error
    tokenizer.pipeline = PiecesPipeline("spaces as llama.cpp writes them", specials, before, behind, adds_space)
    tokenizer.is_told_by_options = False
    tokenizer.text_of_ids = _TextOfIds(vocabulary.texts, vocabulary.types, adds_space)
    tokenizer.notes = (
        *(("A space is put before a text, and behind each special token.",) if adds_space else ()),
        *_around_notes(before, behind),
        *tokenizer.notes,
    )
    return tokenizer


def of_longest_match(vocabulary: Vocabulary) -> Tokenizer:
    """Return the tokenizer of RWKV's model, whose tokens are written as Python writes bytes. Raises FormatError."""
    ids = {}
    for number, text in enumerate(vocabulary.texts):
        if _ESCAPED.fullmatch(text) is None:
            raise FormatError(
                f"{vocabulary.path}: tokenizer.ggml.tokens[{number}] is {shortened_line(text)}, which is not "
                "escaped as bytes are.",
                AGAIN,
            )
        ids[_ESCAPE.sub(_unescaped, text.encode())] = number
    if lacking := [byte for byte in range(256) if bytes([byte]) not in ids]:
        raise FormatError(
            f"{vocabulary.path}: {len(lacking)} of the 256 bytes are no token, 0x{lacking[0]:02x} for one: text with "
            "them has no ids.",
            AGAIN,
        )
    specials = vocabulary.specials()
    tokenizer = longest_match_tokenizer(ids, {one.text: one.id for one in specials})
    tokenizer.pipeline = WordsPipeline("special tokens of the file", specials, None, None, Passes(()).spans)
    return tokenizer


def _unescaped(escape: re.Match[bytes]) -> bytes:
    written = escape[1]
    if written[:1] == b"x":
        return bytes([int(written[1:], 16)])
    return {b"t": b"\t", b"n": b"\n", b"r": b"\r"}.get(written, written)


def _pieces(vocabulary: Vocabulary) -> Iterator[Piece]:
    """Yield the pieces as merging sees them: whatever two neighbours may make is a normal one, whatever its type.

    The rest are called control pieces; so are those of letters that are no tokens by themselves.
    """
    ids = vocabulary.ids()
    scores = vocabulary.scores or [0.0] * len(vocabulary.texts)
    for text, kind, score in zip(vocabulary.texts, vocabulary.types, scores, strict=True):
        if text in _BYTE_OF_NAME:
            yield Piece(text, score, BYTE)
            continue
        if len(text) == 1 or (kind == NORMAL and all(letter in ids for letter in text)):
            yield Piece(text, score, NORMAL)
            continue
        # A space is written in another way before anything merges, and what a user defined is cut out before that.
        is_never_left = " " in text or (kind == USER_DEFINED and SPACE not in text)
        yield Piece(text, score, NORMAL if not is_never_left and _is_made_of_two(text, ids) else CONTROL)


def _is_made_of_two(text: str, ids: Collection[str]) -> bool:
    """Tell whether two tokens, joined, may be a text; a character is what merging begins with, token or not."""
    return any(all(len(part) == 1 or part in ids for part in (text[:cut], text[cut:])) for cut in range(1, len(text)))


class _TextOfIds:
    """Makes the text of ids as llama.cpp does, special tokens included; what no token has is marked."""

    def __init__(self, texts: Sequence[str], types: Sequence[int], adds_space: bool) -> None:
        self._texts = texts
        self._types = types
        self._adds_space = adds_space

    def __call__(self, ids: Sequence[int]) -> str:
        """Return the text of ids."""
        content = b"".join(map(self._content, ids))
        if self._adds_space and ids and self._content(ids[0]).startswith(b" "):
            content = content[1:]
        return content.decode(errors="replace")

    def _content(self, token_id: int) -> bytes:
        if not 0 <= token_id < len(self._texts):
            return f"<no token {token_id}>".encode()
        text, kind = self._texts[token_id], self._types[token_id]
        if kind == BYTE and text in _BYTE_OF_NAME:
            return bytes([_BYTE_OF_NAME[text]])
        if kind in (CONTROL, USER_DEFINED, UNKNOWN):
            return text.encode()
        return text.replace(SPACE, " ").encode() if kind == NORMAL else b""
