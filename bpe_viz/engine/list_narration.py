"""One sentence on an entry of a tokenizer's merge list: what it merges, and what comes next."""

from __future__ import annotations

from bpe_viz.engine.narration import ARROW, Named, Piece, Words
from bpe_viz.engine.types import Frame, Merge

_NOT_BPE = "This is not BPE"
END = "the list ends here: this is the whole tokenizer"


def narrate_listed(frame: Frame, joins: bool) -> tuple[Piece, ...]:
    """Return the sentence in pieces; they read well when set end to end, spaces included.

    joins: entries are tokens, and two neighbours merge if their bytes, joined, are one
    """
    made = frame.made
    start: list[Piece] = [Words("No merge yet.", "strong")] if made is None else describe_entry(made, joins)
    return (*start, *_to_come(frame, joins))


def narrate_no_merges(kind: str, why: str) -> tuple[Piece, ...]:
    """Return the sentence on a tokenizer that has no merges to step through.

    kind: of its model; why: a sentence, empty if it just has none
    """
    if kind != "BPE" and why.startswith(_NOT_BPE):
        title, colon, rest = why.partition(":")
        return (Words(f"{title}{colon}", "strong"), Words(rest))
    title = "No merges." if kind == "BPE" else f"{_NOT_BPE} but {kind}."
    return (Words(title, "strong"), Words(f"  {why or 'There is nothing to step through.'}"))


def describe_entry(made: Merge, joins: bool) -> list[Piece]:
    """Say what an entry does."""
    title = Words(f"{'Entry' if joins else 'Merge'} {made.rank + 1:,}", "strong")
    token = Named(made.token, "made")
    if made.pair is None:
        return [title, Words("  "), token, Words(" is no two tokens' join: only a whole pre-token becomes it.")]
    parts: list[Piece] = [Named(made.left, "taken"), Words(" + "), Named(made.right, "taken")]
    if joins:
        return [title, Words("  "), token, Words(" is made of any two neighbours that join to it, such as "), *parts,
                Words(".")]  # fmt: skip
    return [title, Words("  "), *parts, Words(f" {ARROW} "), token, Words(" wherever the two stand side by side.")]


def _to_come(frame: Frame, joins: bool) -> list[Piece]:
    following = frame.next
    if following is None:
        return [Words(f"  {END[0].upper()}{END[1:]}.")]
    if joins or following.pair is None:
        return [Words("  Next: "), Named(following.token, "next"), Words(".")]
    return [
        Words("  Next: "),
        Named(following.left, "next"),
        Words(" + "),
        Named(following.right, "next"),
        Words("."),
    ]
