"""What a change of options changed, in plain words."""

from __future__ import annotations

from bpe_viz.engine.timeline import Timeline
from bpe_viz.engine.types import Options
from bpe_viz.engine.visible import visible
from bpe_viz.gui.option_titles import describe


def describe_change(before: Options, after: Options) -> list[str]:
    """Return a sentence for each option that differs."""
    now = describe(after)
    return [f"{title}: {was} became {now[title]}." for title, was in describe(before).items() if was != now[title]]


def first_difference(before: Timeline, after: Timeline) -> str:
    """Say at which merge two merge lists first differ, by the text of their tokens.

    Says something of what both have trained only; nothing if that is no merge.
    """
    old, new = before.symbols, after.symbols
    shared = min(before.frontier, after.frontier)
    for rank, (was, is_now) in enumerate(zip(before.pairs()[:shared], after.pairs()[:shared], strict=True)):
        labels_old = tuple(old.label(symbol) for symbol in was)
        labels_new = tuple(new.label(symbol) for symbol in is_now)
        if labels_old != labels_new:
            shown_old = " + ".join(visible(label, limit=20) for label in labels_old)
            shown_new = " + ".join(visible(label, limit=20) for label in labels_new)
            return f"Merge {rank + 1:,} is the first to differ: {shown_old} before, {shown_new} now."
    if before.stop is not None and after.stop is not None and before.frontier == after.frontier:
        return "The merges are the same."
    return f"The first {shared:,} merges are the same." if shared else ""
