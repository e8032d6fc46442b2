"""Where the symbols of one pre-token stand in its row, and how each is marked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from bpe_viz.engine.types import Frame, Pair
from bpe_viz.gui.chips import GAP, ChipStyle
from bpe_viz.gui.look import Look
from bpe_viz.gui.selection import Selection

NOTE_SCALE = 0.9
_MANY = 1000


class PlacedSymbol(NamedTuple):
    """A symbol that is painted: its place in the split, and its edges in the viewport."""

    place: int
    symbol: int
    style: ChipStyle
    left: int
    right: int
    is_pointed_at: bool


class RowLayout(NamedTuple):
    """What is painted of one row.

    underlined: ranges of places [first, end) that the next merge takes
    before, after: how many symbols are left out
    """

    places: tuple[PlacedSymbol, ...]
    underlined: tuple[tuple[int, int], ...]
    before: int
    after: int


def edges_that_fit(
    look: Look, n_symbols: int, first: int, x: int, room: int, width_of: Callable[[int], int]
) -> list[tuple[int, int]]:
    """Return left and right edge of the symbols that fit from x on, at least one of them.

    first: the place of the first symbol to show; room: where the row ends
    width_of: the width of the symbol at a place; asked for what is shown only
    """
    gap = look.px(GAP)
    edges: list[tuple[int, int]] = []
    for index in range(first, n_symbols):
        width = width_of(index)
        if x + width > room and edges:
            break
        edges.append((x, x + width))
        x += width + gap
    left_out = n_symbols - first - len(edges)
    if left_out:
        note = note_width(look, said_of_rest(left_out))
        while len(edges) > 1 and edges[-1][1] + gap + note > room:
            edges.pop()
    return edges


def note_width(look: Look, note: str) -> int:
    """Return the width of a note beside chips, with its gap."""
    return round(look.ui_metrics(NOTE_SCALE).horizontalAdvance(note)) + look.px(GAP)


def said_of_rest(left_out: int) -> str:
    """Return the note on the symbols for which there is no room."""
    # Where few are left out, two more chips say more than the word does.
    return f"… {left_out:,} more symbols" if left_out >= _MANY else f"… {left_out:,} more"


class Marks:
    """What is marked among the symbols [first, end) of one split.

    next_starts: where a pair begins that the next merge takes
    pointed_at: the places of the symbols that are pointed at
    """

    def __init__(self, frame: Frame, pointed_at: Selection | None, split: Sequence[int], first: int, end: int) -> None:
        self._split = split
        self._made = frame.made.token if frame.made else None
        self.next_starts = [start for pair in frame.next_pairs for start in _taken(pair, split, first, end)]
        self._next = {place for start in self.next_starts for place in (start, start + 1)}
        self.pointed_at: set[int] = set()
        if pointed_at is not None and pointed_at.token is not None:
            self.pointed_at = {index for index in range(first, end) if split[index] == pointed_at.token}
        elif pointed_at is not None and pointed_at.pair is not None:
            starts = _taken(pointed_at.pair, split, first, end)
            self.pointed_at = {place for start in starts for place in (start, start + 1)}

    def style(self, index: int, is_changed: bool) -> ChipStyle:
        """Return how a symbol is painted; what was just made and what comes next is said before all else."""
        if self._split[index] < 0:
            return ChipStyle.GAP
        if is_changed and self._split[index] == self._made:
            return ChipStyle.MADE
        if index in self._next:
            return ChipStyle.NEXT
        return ChipStyle.SELECTED if index in self.pointed_at else ChipStyle.PLAIN


def _taken(pair: Pair, split: Sequence[int], first: int, end: int) -> Iterator[int]:
    """Yield where a merge takes a pair, left to right without overlap.

    first, end: only pairs that have a symbol among these places
    """
    left, right = pair
    index = max(0, first - 1)
    if left == right:
        # Which of the places of a run are taken hangs on where the run begins.
        while index > 0 and split[index - 1] == left:
            index -= 1
    while index < min(end, len(split) - 1):
        if split[index] == left and split[index + 1] == right:
            if index >= first - 1:
                yield index
            index += 2
        else:
            index += 1
