"""A text laid out in base symbols, with the rank at which each boundary between them falls.

From it the tokens at any position are read at once, and how many there are at every position; so scrubbing through
a training re-splits a text without encoding it again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bpe_viz.engine.boundaries import STANDS, BoundaryRanks, tokens_between
from bpe_viz.engine.pipeline import SetTokens, SpecialText, Stretch
from bpe_viz.engine.symbols import GAP
from bpe_viz.engine.types import EncodedToken, EncodingDetails

if TYPE_CHECKING:
    from bpe_viz.engine.tokenizer import Tokenizer


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


@dataclass(frozen=True, slots=True, eq=False)
class EncodedText:
    """A text for every position of one merge list.

    Arrays over the base symbols of the text, tokens that are set being one symbol each:
    symbols: int64, base symbols, GAP, or for a token that is set, or unknown, -2 - its id
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
            np.where((symbols >= n_base) & (symbols < n_base + self.tokenizer.n_merges), symbols - n_base, -1),
            first,
            last,
            self.start[first],
            self.end[last],
        )

    def counts(self, positions: int) -> NDArray[np.int64]:
        """Return (positions + 1,) int64: how many tokens the text has after 0, 1, ... merges, gaps not counted."""
        fallen = np.bincount(self.rank[(self.rank >= 0) & (self.rank < positions)], minlength=positions)[:positions]
        # What is taken whole without any merge has a rank below 0.
        tokens = len(self.symbols) - int((self.symbols == GAP).sum()) - int((self.rank < 0).sum())
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


_ARRAYS = ("symbols", "rank", "made", "start", "end", "part", "parts", "widths")


class _Piece:
    """The arrays of one part of a text, and its bytes."""

    __slots__ = ("content", *_ARRAYS)

    def __init__(self, content: bytes, **arrays: NDArray[np.int64]) -> None:
        self.content = content
        for name, array in arrays.items():
            setattr(self, name, array)


def lay_out(
    tokenizer: Tokenizer, boundaries: BoundaryRanks[Any], text: str, special_text: SpecialText, around: bool
) -> EncodedText:
    """Lay a text out; see EncodedText. Raises OptionError for special text that is to be an error, and FormatError.

    around: with the tokens that the tokenizer's file puts around a text
    A lone surrogate has no UTF-8: it is encoded as U+FFFD, and a note says so.
    """
    prepared = tokenizer.pipeline.prepare(text, special_text, around)
    left_out = 0
    pieces: list[_Piece] = []
    for part in prepared.parts:
        if isinstance(part, SetTokens):
            pieces.append(_set_tokens(part))
        else:
            pieces.append(_stretch(tokenizer, boundaries, part))
            left_out += sum(map(tokenizer.base.left_out, part.pretokens))
    notes = prepared.notes
    if left_out:
        notes += (
            f"The vocabulary lacks {left_out:,} characters: they are left out and their neighbours joined, as the "
            "file's own library does.",
        )

    def joined(name: str) -> NDArray[np.int64]:
        arrays = [getattr(piece, name) for piece in pieces]
        return np.concatenate(arrays).astype(np.int64) if arrays else np.empty(0, dtype=np.int64)

    return EncodedText(
        tokenizer=tokenizer,
        text=text,
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
        dropped=prepared.dropped,
        notes=notes,
    )


def _set_tokens(tokens: SetTokens) -> _Piece:
    """Lay out tokens that nothing touches; those of one stretch of code points share it."""
    ids = np.array(tokens.ids, dtype=np.int64)
    is_new = np.append(True, (np.diff(tokens.start) != 0) | (np.diff(tokens.end) != 0))
    part, parts = _places(np.cumsum(is_new[: len(ids)]))
    stands = np.full(len(ids), STANDS)
    return _Piece(
        b"".join(tokens.contents),
        symbols=-2 - ids,
        rank=stands,
        made=stands,
        start=tokens.start,
        end=tokens.end,
        part=part,
        parts=parts,
        widths=np.array([len(content) for content in tokens.contents], dtype=np.int64),
    )


def _stretch(tokenizer: Tokenizer, boundaries: BoundaryRanks[Any], stretch: Stretch) -> _Piece:
    found = [boundaries.of(pretoken, tokenizer.position) for pretoken in stretch.pretokens]
    n_symbols = np.array([len(one.symbols) for one in found], dtype=np.int64)
    if not n_symbols.sum():
        return _Piece(b"", **dict.fromkeys(_ARRAYS, np.empty(0, dtype=np.int64)))
    symbols = np.concatenate([one.symbols for one in found]).astype(np.int64)
    widths = np.concatenate([one.widths for one in found]).astype(np.int64)
    if tokenizer.unknown is not None:
        symbols[symbols == GAP] = -2 - tokenizer.special_ids[tokenizer.unknown]

    # A pre-token without any symbol has bytes all the same, so symbols are counted from where their pre-token begins.
    lengths = np.array([len(pretoken) for pretoken in stretch.pretokens], dtype=np.int64)
    behind = np.cumsum(widths)
    first = behind - widths + np.repeat((np.cumsum(lengths) - lengths) - _widths_before(n_symbols, behind), n_symbols)
    is_marker = widths == 0
    # A marker of its own stands behind the last character of its word.
    first_byte = np.where(is_marker, np.maximum(first - 1, 0), first)
    last_byte = np.where(is_marker, first_byte, first + widths - 1)
    start, end = stretch.start[stretch.group[first_byte]], stretch.end[stretch.group[last_byte]]
    start[is_marker] = end[is_marker]
    part, parts = _parts(stretch, first_byte, last_byte, is_marker)
    return _Piece(
        b"".join(pretoken for pretoken, n in zip(stretch.pretokens, n_symbols.tolist(), strict=True) if n),
        symbols=symbols,
        rank=np.concatenate([one.rank for one in found]),
        made=np.concatenate([one.made for one in found]),
        start=start,
        end=end,
        part=part,
        parts=parts,
        widths=widths,
    )


def _widths_before(n_symbols: NDArray[np.int64], behind: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many bytes the symbols before each pre-token stand for.

    n_symbols: of each pre-token; behind: the bytes of all symbols up to each
    """
    before: NDArray[np.int64] = np.append(0, behind)[np.cumsum(n_symbols) - n_symbols]
    return before


def _parts(
    stretch: Stretch, first_byte: NDArray[np.int64], last_byte: NDArray[np.int64], is_marker: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the place of each symbol among those of its code points, and how many these are.

    What is left out before or behind them, as a pretokenizer may do, counts as one.
    """
    part, parts = np.zeros(len(first_byte), dtype=np.int64), np.ones(len(first_byte), dtype=np.int64)
    own = np.flatnonzero(~is_marker)
    first_group, last_group = stretch.group[first_byte[own]], stretch.group[last_byte[own]]
    begins_inside, ends_inside = ~stretch.opens[first_byte[own]], ~stretch.closes[last_byte[own]]
    is_one = first_group == last_group
    within = np.flatnonzero(is_one)
    if len(within):
        groups = first_group[within]
        place, number = _places(groups)
        run_first, run_last = np.flatnonzero(place == 0), np.flatnonzero(place == number - 1)
        late = np.repeat(begins_inside[within][run_first], number[run_first])
        early = np.repeat(ends_inside[within][run_last], number[run_first])
        part[own[within]] = place + late
        parts[own[within]] = number + late + early
    across = np.flatnonzero(~is_one)
    part[own[across]] = begins_inside[across]
    parts[own[across]] = 1 + begins_inside[across] + ends_inside[across]
    return part, parts


def _places(groups: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the place of each among its neighbours of the same group, and how many these are; both (n,) int64."""
    if not len(groups):
        return groups, groups
    starts = np.flatnonzero(np.append(True, groups[1:] != groups[:-1]))
    lengths = np.diff(np.append(starts, len(groups)))
    return np.arange(len(groups)) - np.repeat(starts, lengths), np.repeat(lengths, lengths)
