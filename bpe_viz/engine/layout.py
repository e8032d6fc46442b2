"""A text laid out in base symbols, with the rank at which each boundary between them falls.

From it the tokens at any position are read at once, and how many there are at every position; so scrubbing through
a training re-splits a text without encoding it again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import regex
from numpy.typing import NDArray

from bpe_viz.engine.boundaries import STANDS, BoundaryRanks, tokens_between
from bpe_viz.engine.pretokenize import pretokenizer_for
from bpe_viz.engine.segments import cut_special_tokens, normalize
from bpe_viz.engine.symbols import GAP
from bpe_viz.engine.types import EncodedToken, EncodingDetails
from bpe_viz.errors import OptionError

if TYPE_CHECKING:
    from bpe_viz.engine.tokenizer import SpecialText, Tokenizer


@dataclass(frozen=True, slots=True)
class TextTokens:
    """The tokens of a text at one position; arrays of one length.

    ids:    int64, token ids; GAP where the base lacks the character and there is no unknown token
    ranks:  int64, the rank of the merge that made the token, -1 if none did
    first, last: int64, the token's first and last base symbol in EncodedText
    start, end: int64, the code points of the text that the token touches; equal for a marker of its own
    """

    ids: NDArray[np.int64]
    ranks: NDArray[np.int64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    start: NDArray[np.int64]
    end: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, slots=True)
class EncodedText:
    """A text for every position of one merge list.

    Arrays over the base symbols of the text, special tokens being one symbol each:
    symbols: int64, base symbols, GAP, or for a special or unknown token -2 - its id
    rank, made: int64, as in boundaries.Boundaries: the rank with which the boundary before the symbol falls, or STANDS
    start, end: int64, the code points of the given text that the symbol belongs to
    part, parts: int64, its place among the symbols of those code points, and their number; a character of
             several bytes, or one that normalization changed, has several
    content_start: int64, (symbols + 1,) where its bytes begin in content
    content: what was encoded, UTF-8, after normalization
    known:   up to which position this is true
    """

    tokenizer: Tokenizer
    text: str
    symbols: NDArray[np.int64]
    rank: NDArray[np.int64]
    made: NDArray[np.int64]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    part: NDArray[np.int64]
    parts: NDArray[np.int64]
    content_start: NDArray[np.int64]
    content: bytes
    known: int
    dropped: int
    notes: tuple[str, ...]

    def at(self, position: int) -> TextTokens:
        """Return the tokens after `position` merges."""
        n_base = len(self.tokenizer.base)
        symbols, first = tokens_between(self.symbols, self.rank, self.made, position, n_base)
        last = np.concatenate((first[1:], [len(self.symbols)])) - 1 if len(first) else first
        ids = np.full(len(symbols), GAP, dtype=np.int64)
        ordinary = symbols >= 0
        ids[ordinary] = self.tokenizer.ids_of(symbols[ordinary])
        ids[symbols < GAP] = -2 - symbols[symbols < GAP]
        return TextTokens(
            ids,
            np.where(symbols >= n_base, symbols - n_base, -1),
            first,
            last,
            self.start[first],
            self.end[last],
        )

    def counts(self, positions: int) -> NDArray[np.int64]:
        """Return (positions + 1,) int64: how many tokens the text has after 0, 1, ... merges, gaps not counted."""
        fallen = np.bincount(self.rank[self.rank < positions], minlength=positions)[:positions]
        tokens = len(self.symbols) - int((self.symbols == GAP).sum())
        return tokens - np.concatenate(([0], np.cumsum(fallen)))

    def encoding(self, position: int) -> EncodingDetails:
        """Return the tokens after `position` merges as plain values."""
        tokens = self.at(position)
        begins = np.where(self.part[tokens.first] == 0, tokens.start, -1).tolist()
        ends = np.where(self.part[tokens.last] == self.parts[tokens.last] - 1, tokens.end, -1).tolist()
        content_from = self.content_start[tokens.first].tolist()
        content_to = self.content_start[tokens.last + 1].tolist() if len(tokens) else []
        gaps = int((tokens.ids == GAP).sum())
        return EncodingDetails(
            tokens=tuple(
                EncodedToken(
                    id=None if token_id == GAP else token_id,
                    content=self.content[a:b],
                    start=None if begin < 0 else begin,
                    end=None if end < 0 else end,
                )
                for token_id, a, b, begin, end in zip(
                    tokens.ids.tolist(), content_from, content_to, begins, ends, strict=True
                )
            ),
            gaps=gaps,
            dropped=self.dropped,
            notes=self.notes,
        )


class _Piece:
    """The arrays of one stretch of text between special tokens, or of one special token."""

    __slots__ = ("content", "end", "made", "part", "parts", "rank", "start", "symbols", "widths")

    def __init__(self, content: bytes, **arrays: NDArray[np.int64]) -> None:
        self.content = content
        for name, array in arrays.items():
            setattr(self, name, array)


def lay_out(tokenizer: Tokenizer, boundaries: BoundaryRanks[Any], text: str, special_text: SpecialText) -> EncodedText:
    """Lay a text out; see EncodedText. Raises OptionError for special text that is to be an error.

    A lone surrogate has no UTF-8: it is encoded as U+FFFD, and a note says so.
    """
    counting = tokenizer.counting
    given, text = text, _LONE_SURROGATE.sub("\ufffd", text)
    cut = counting.special_tokens if special_text != "text" else ()
    pieces: list[_Piece] = []
    notes: list[str] = []
    dropped = 0
    offset = 0
    if given != text:
        notes.append("Lone surrogates have no UTF-8: each is encoded as U+FFFD.")
    for stretch, is_special in cut_special_tokens(text, cut):
        if is_special:
            if special_text == "error":
                raise OptionError(
                    f"The text holds the special token {stretch!r} at character {offset}.",
                    "Allow special tokens, or encode them as plain text.",
                )
            pieces.append(_special(stretch, tokenizer.special_ids[stretch], offset))
        elif stretch:
            piece, lost = _stretch(tokenizer, boundaries, stretch, offset)
            pieces.append(piece)
            dropped += lost
        offset += len(stretch)
    if dropped:
        notes.append(f"The pretokenizer drops {dropped:,} of {len(text):,} characters.")

    def joined(name: str) -> NDArray[np.int64]:
        arrays = [getattr(piece, name) for piece in pieces]
        return np.concatenate(arrays).astype(np.int64) if arrays else np.empty(0, dtype=np.int64)

    return EncodedText(
        tokenizer=tokenizer,
        text=given,
        symbols=joined("symbols"),
        rank=joined("rank"),
        made=joined("made"),
        start=joined("start"),
        end=joined("end"),
        part=joined("part"),
        parts=joined("parts"),
        content_start=np.concatenate(([0], np.cumsum(joined("widths")))),
        content=b"".join(piece.content for piece in pieces),
        known=tokenizer.position,
        dropped=dropped,
        notes=tuple(notes),
    )


def _special(text: str, token_id: int, offset: int) -> _Piece:
    content = text.encode()
    one = np.zeros(1, dtype=np.int64)
    return _Piece(
        content,
        symbols=one - 2 - token_id,
        rank=one + STANDS,
        made=one + STANDS,
        start=one + offset,
        end=one + offset + len(text),
        part=one,
        parts=one + 1,
        widths=one + len(content),
    )


def _stretch(tokenizer: Tokenizer, boundaries: BoundaryRanks[Any], stretch: str, offset: int) -> tuple[_Piece, int]:
    """Lay out text without special tokens; also returns how many code points the pretokenizer left uncovered."""
    normalized, clusters = aligned_normalize(stretch, tokenizer.counting.normalize)
    spans = pretokenizer_for(tokenizer.counting).spans(normalized)
    found = [boundaries.of(normalized[a:b].encode(), tokenizer.position) for a, b in spans]
    if not found:
        empty = np.empty(0, dtype=np.int64)
        names = ("symbols", "rank", "made", "start", "end", "part", "parts", "widths")
        return _Piece(b"", **dict.fromkeys(names, empty)), len(stretch)
    symbols = np.concatenate([one.symbols for one in found]).astype(np.int64)
    widths = np.concatenate([one.widths for one in found]).astype(np.int64)
    rank = np.concatenate([one.rank for one in found])
    made = np.concatenate([one.made for one in found])
    content = b"".join(normalized[a:b].encode() for a, b in spans)
    n_symbols = [len(one.symbols) for one in found]

    # Where each symbol's bytes lie in the normalized stretch: spans may leave gaps between them.
    byte_of_char = _byte_offsets(normalized)
    span_from = byte_of_char[[a for a, _ in spans]]
    within = np.concatenate(([0], np.cumsum(widths)[:-1]))
    span_first = np.concatenate(([0], np.cumsum(n_symbols)[:-1]))
    at_byte = within - np.repeat(within[span_first] - span_from, n_symbols)

    char_from, byte_from, byte_to = clusters
    cluster = np.searchsorted(byte_from, at_byte, side="right") - 1
    is_marker = widths == 0
    # A marker of its own stands behind the last character of its word.
    cluster[is_marker] = np.searchsorted(byte_from, at_byte[is_marker], side="left") - 1
    start, end = char_from[cluster] + offset, char_from[cluster + 1] + offset
    start[is_marker] = end[is_marker]
    if tokenizer.base.base == "bytes":
        part, parts = at_byte - byte_from[cluster], byte_to[cluster] - byte_from[cluster]
    else:
        char_at = np.searchsorted(byte_of_char, at_byte)
        first_char = np.searchsorted(byte_of_char, byte_from[cluster])
        part = char_at - first_char
        parts = np.searchsorted(byte_of_char, byte_to[cluster]) - first_char
    part[is_marker], parts[is_marker] = 0, 1
    if tokenizer.unknown is not None:
        symbols[symbols == GAP] = -2 - tokenizer.special_ids[tokenizer.unknown]
    uncovered = len(normalized) - sum(b - a for a, b in spans)
    arrays = {"symbols": symbols, "rank": rank, "made": made, "start": start, "end": end}
    return _Piece(content, **arrays, part=part, parts=parts, widths=widths), uncovered


_Clusters = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]
_GRAPHEME = regex.compile(r"\X")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def aligned_normalize(text: str, forms: tuple[str, ...]) -> tuple[str, _Clusters]:
    """Normalize a text and tell which characters became which bytes.

    Returns the new text and, for stretches that were normalized on their own, (characters where each begins, and one
    more for the end; bytes where each begins; bytes where each ends). Where nothing is normalized the stretches are
    single characters; else grapheme clusters, or the whole text where even these depend on each other.
    """
    if not forms:
        bounds = _byte_offsets(text)
        return text, (np.arange(len(text) + 1), bounds[:-1], bounds[1:])
    normalized = normalize(text, forms)
    stretches = _GRAPHEME.findall(text)
    made = [normalize(stretch, forms) for stretch in stretches]
    if "".join(made) != normalized:
        stretches, made = [text], [normalized]
    chars = np.concatenate(([0], np.cumsum([len(stretch) for stretch in stretches])))
    ends = np.cumsum([len(one.encode()) for one in made])
    return normalized, (chars, np.concatenate(([0], ends[:-1])), ends)


def _byte_offsets(text: str) -> NDArray[np.int64]:
    """Return (characters + 1,) int64: where each character begins in UTF-8."""
    codes = np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32)
    widths = 1 + (codes >= 0x80).astype(np.int64) + (codes >= 0x800) + (codes >= 0x10000)
    return np.concatenate(([0], np.cumsum(widths)))
