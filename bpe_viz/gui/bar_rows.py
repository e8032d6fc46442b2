"""What the bars show of a frame, row by row, and how a row is said in words."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from bpe_viz.engine.corpus import Corpus
from bpe_viz.engine.narration import no_pair_left, sentence, times, why_it_wins
from bpe_viz.engine.types import Frame, Pair, TrainingOptions
from bpe_viz.engine.visible import Parts, text_of, visible
from bpe_viz.gui.selection import Selection
from bpe_viz.gui.symbol_texts import parts_of_symbol

MINUS = "−"
DOT = "·"
MOST_LOOKED_AT = 1_000  # symbols of a pre-token that may be a line of 10 MB
MOST_WORDS = 5
LONGEST_WORD = 24

Mark = Literal["next", "tied", "plain"]


@dataclass(frozen=True, slots=True)
class BarRow:
    """One pair of the frame.

    before: its count before the last merge
    mark: "next" is merged next; "tied" has the same count, but another pair won
    replacements: how often the next merge replaces it; None if it is not merged next or that is not known
    """

    pair: Pair
    left: Parts
    right: Parts
    count: int
    before: int
    is_new: bool
    mark: Mark
    replacements: int | None

    @property
    def change(self) -> int:
        """How the last merge changed the count."""
        return self.count - self.before

    @property
    def change_text(self) -> str:
        """The change as the bars show it: new, −6, +3, or nothing."""
        return "new" if self.is_new else signed(self.change)

    @property
    def label(self) -> str:
        """The pair as plain text."""
        return f"{text_of(self.left)} {DOT} {text_of(self.right)}"


def bar_rows(frame: Frame) -> tuple[BarRow, ...]:
    """Return a row for each of the frame's top pairs, best first."""
    following = frame.next
    rows = []
    for counted in frame.top:
        pair = Pair(counted.left, counted.right)
        is_next = pair in frame.next_pairs
        # Where the next merge was chosen by hand, the best pairs may tie without it.
        tied = counted.tied and following is not None and counted.count == following.count
        known = following.replacements if is_next and following is not None else 0
        rows.append(
            BarRow(
                pair=pair,
                left=parts_of_symbol(frame.symbols, pair.left, None),
                right=parts_of_symbol(frame.symbols, pair.right, None),
                count=counted.count,
                before=0 if counted.is_new else counted.count - counted.change,
                is_new=counted.is_new,
                mark="next" if is_next else "tied" if tied else "plain",
                replacements=known or None,
            )
        )
    return tuple(rows)


def signed(change: int) -> str:
    """Write a change with its sign; no change is nothing."""
    return f"{'+' if change > 0 else MINUS}{abs(change):,}" if change else ""


def describe(row: BarRow) -> str:
    """Say in one line all that a row shows."""
    said = [f"{row.label}: counted {times(row.count)}"]
    if row.replacements is not None and row.replacements != row.count:
        said.append(f"replaced {times(row.replacements)}, because places overlap")
    if row.is_new:
        said.append("new since the last merge")
    elif row.change:
        said.append(f"{signed(row.change)} by the last merge")
    if row.mark == "next":
        said.append("merged next")
    elif row.mark == "tied":
        said.append("tied with the pair that is merged next")
    return "; ".join(said)


def describe_tie(frame: Frame, options: TrainingOptions) -> str:
    """Say why the next pair wins its tie; empty where it has none."""
    return sentence(why_it_wins(frame, options), frame.symbols)


def words_with(pair: Pair, frame: Frame, corpus: Corpus) -> list[str]:
    """Return some of the frame's pre-tokens that hold the pair, with their counts, as plain text."""
    words = []
    for row, split in frame.splits.items():
        if pair in pairwise(split[:MOST_LOOKED_AT]):
            content = corpus.pretokens.content(row)[:MOST_LOOKED_AT]
            words.append(f"{visible(content, limit=LONGEST_WORD)}  {int(corpus.pretokens.counts[row]):,}")
            if len(words) == MOST_WORDS:
                break
    return words


def is_pointed_at(pair: Pair, selection: Selection | None, frame: Frame) -> bool:
    """Tell whether a pair is what is pointed at, has the symbol, or stands in the pre-token."""
    if selection is None:
        return False
    if selection.pair is not None:
        return pair == selection.pair
    if selection.token is not None:
        return selection.token in pair
    split = frame.splits.get(selection.row, ()) if selection.row is not None else ()
    return pair in pairwise(split[:MOST_LOOKED_AT])


def why_empty(frame: Frame | None, options: TrainingOptions) -> str:
    """Say why there is no bar."""
    if frame is None:
        return "No pairs have been counted yet."
    if options.max_token_length is not None:
        said = no_pair_left(frame, options)
        return f"{said[0].upper()}{said[1:]}."
    return "No pairs are left: every pre-token is one token."
