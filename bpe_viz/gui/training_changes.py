"""What a change changed, in plain words: of the options, and of the merges that two trainings made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from bpe_viz.engine.symbols import SymbolTable
from bpe_viz.engine.timeline import Timeline
from bpe_viz.engine.types import Options, Pair
from bpe_viz.engine.visible import visible
from bpe_viz.gui.option_titles import describe

MOST_DIFFERENCES = 4
LONGEST_SYMBOL = 20


def describe_change(before: Options, after: Options) -> list[str]:
    """Return a sentence for each option that differs."""
    now = describe(after)
    return [f"{title}: {was} became {now[title]}." for title, was in describe(before).items() if was != now[title]]


class Text(NamedTuple):
    """A symbol's bytes, and its marker's text if it ends a word."""

    content: bytes
    marker: str


@dataclass(frozen=True, slots=True)
class Difference:
    """One place of two merge lists where they differ; each side: left and right."""

    rank: int
    was: tuple[Text, Text]
    now: tuple[Text, Text]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two merge lists side by side, as far as both are trained.

    compared: how many merges that is
    differences: the first few
    made_by_both: how many tokens both made up to there, wherever in their lists
    is_whole: both are trained to their ends, which are the same
    """

    compared: int
    differences: tuple[Difference, ...]
    made_by_both: int
    is_whole: bool

    @property
    def sentence(self) -> str:
        """Say at which merge the lists first differ; nothing if no merge was compared."""
        if self.differences:
            first = self.differences[0]
            was, now = (" + ".join(visible(*text, LONGEST_SYMBOL) for text in side) for side in (first.was, first.now))
            return f"Merge {first.rank + 1:,} is the first to differ: {was} before, {now} now."
        if self.is_whole:
            return "The merges are the same."
        return f"The first {self.compared:,} merges are the same." if self.compared else ""


def compare(before: Timeline, after: Timeline) -> Comparison:
    """Compare two merge lists by the text of their tokens. 30,000 merges take 0.2 s: not for the GUI thread."""
    stops, compared = (before.stop, after.stop), min(before.frontier, after.frontier)
    old, new = before.symbols, after.symbols  # read last: they hold what is compared, and more if training goes on
    differences: list[Difference] = []
    made_old, made_new = set(), set()
    for rank, (pair_old, pair_new) in enumerate(zip(before.pairs()[:compared], after.pairs()[:compared], strict=True)):
        was, now = _texts(old, pair_old), _texts(new, pair_new)
        if was != now and len(differences) < MOST_DIFFERENCES:
            differences.append(Difference(rank, was, now))
        made_old.add((was[0].content + was[1].content, was[1].marker))
        made_new.add((now[0].content + now[1].content, now[1].marker))
    is_whole = None not in stops and before.frontier == after.frontier
    return Comparison(compared, tuple(differences), len(made_old & made_new), is_whole)


def _texts(symbols: SymbolTable, pair: Pair) -> tuple[Text, Text]:
    left, right = pair
    return (
        Text(symbols.content(left), symbols.marker(left)),
        Text(symbols.content(right), symbols.marker(right)),
    )
