"""What a change of options changed, in plain words."""

from __future__ import annotations

from dataclasses import fields

from bpe_viz.engine.timeline import Timeline
from bpe_viz.engine.types import Options
from bpe_viz.engine.visible import visible

_NAMES = {
    "end_of_word": "end of word",
    "min_count": "least count",
    "vocab_size": "vocabulary size",
    "max_token_length": "longest token",
    "special_tokens": "special tokens",
    "rule": "tie rule",
    "unknown": "unknown token",
    "normalize": "normalization",
}


def describe_change(before: Options, after: Options) -> list[str]:
    """Return a sentence for each option that differs."""
    sentences = []
    for old, new in ((before.counting, after.counting), (before.training, after.training)):
        for field in fields(old):
            was, is_now = getattr(old, field.name), getattr(new, field.name)
            if was != is_now:
                name = _NAMES.get(field.name, field.name).capitalize()
                sentences.append(f"{name}: {_in_words(was)} became {_in_words(is_now)}.")
    return sentences


def _in_words(value: object) -> str:
    if value is None or value == ():
        return "none"
    return ", ".join(value) if isinstance(value, tuple) else f"{value:,}" if isinstance(value, int) else str(value)


def first_difference(before: Timeline, after: Timeline) -> str:
    """Say at which merge two merge lists first differ, by the text of their tokens."""
    old, new = before.symbols, after.symbols
    shared = min(before.frontier, after.frontier)
    for rank, (was, is_now) in enumerate(zip(before.pairs()[:shared], after.pairs()[:shared], strict=True)):
        labels_old = tuple(old.label(symbol) for symbol in was)
        labels_new = tuple(new.label(symbol) for symbol in is_now)
        if labels_old != labels_new:
            shown_old = " + ".join(visible(label, limit=20) for label in labels_old)
            shown_new = " + ".join(visible(label, limit=20) for label in labels_new)
            return f"Merge {rank + 1:,} is the first to differ: {shown_old} before, {shown_new} now."
    if before.frontier == after.frontier:
        return "The merges are the same."
    return f"The first {shared:,} merges are the same."
