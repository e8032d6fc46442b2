"""One sentence on an entry that is replayed on a corpus: what it did there, and what training would have done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bpe_viz.engine.list_narration import END
from bpe_viz.engine.narration import ARROW, Named, Piece, Words, times
from bpe_viz.engine.types import Departure, Frame, Merge

if TYPE_CHECKING:
    from bpe_viz.engine.replayed_timeline import ReplayedTimeline


def narrate_replay(frame: Frame, timeline: ReplayedTimeline) -> tuple[Piece, ...]:
    """Return the sentence in pieces; they read well when set end to end, spaces included."""
    made = frame.made
    start: list[Piece] = [Words("No merge yet.", "strong")] if made is None else _made(made, timeline)
    return (*start, *_to_come(frame, timeline))


def _made(made: Merge, timeline: ReplayedTimeline) -> list[Piece]:
    title = Words(f"{'Entry' if timeline.joins else 'Merge'} {made.rank + 1:,}", "strong")
    did = "does not occur in this text" if made.count == 0 else f"is counted {times(made.count)} in this text"
    departure = timeline.expected(made.rank)
    return [title, Words("  "), *_joined(made), Words(f" {did}"), *_compared(made, departure), Words(".")]


def _joined(made: Merge) -> list[Piece]:
    token = Named(made.token, "made")
    if made.pair is None:
        return [token]
    return [Named(made.left, "taken"), Words(" + "), Named(made.right, "taken"), Words(f" {ARROW} "), token]


def _compared(made: Merge, departure: Departure | None) -> list[Piece]:
    if departure is None:
        return [Words(", as often as any pair: training on it would do the same")] if made.count else []
    return [Words("; training on it would have merged "), *by_training(departure, made)]


def by_training(departure: Departure, made: Merge) -> list[Piece]:
    """Say what training would have merged at an entry, and how much more often that is counted."""
    other = departure.instead_of
    if other is None:
        return [Words("nothing")]
    return [
        Named(other.left, "taken"),
        Words(" + "),
        Named(other.right, "taken"),
        Words(f" here, counted {other.count:,} against {made.count:,}"),
    ]


def _to_come(frame: Frame, timeline: ReplayedTimeline) -> list[Piece]:
    following = frame.next
    if following is None:
        return [Words(f"  {END[0].upper()}{END[1:]}.")]
    named: list[Piece] = [Named(following.token, "next")]
    if following.pair is not None and not timeline.joins:
        named = [Named(following.left, "next"), Words(" + "), Named(following.right, "next")]
    is_known = following.rank < timeline.frontier
    return [Words("  Next: "), *named, Words(f", counted {following.count:,}." if is_known else ".")]
