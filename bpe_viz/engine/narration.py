"""One sentence on a frame: what its merge is, why it won, and what comes next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from bpe_viz.engine import kernels_order
from bpe_viz.engine.symbols import SymbolTable
from bpe_viz.engine.tie_rules import tie_rule
from bpe_viz.engine.types import Departure, Frame, Merge, Pair, TrainingOptions
from bpe_viz.engine.visible import visible

ARROW = "→"
LONGEST_SYMBOL = 24


class Words(NamedTuple):
    """Plain text; tone: "strong" says which merge this is, "quiet" only helps."""

    text: str
    tone: Literal["plain", "strong", "quiet"] = "plain"


class Named(NamedTuple):
    """A symbol by id; role: what it is in the sentence: taken by this merge, made by it, taken next."""

    symbol: int
    role: Literal["taken", "made", "next"]


Piece = Words | Named


def narrate(frame: Frame, options: TrainingOptions) -> tuple[Piece, ...]:
    """Return the sentence in pieces; they read well when set end to end, spaces included.

    options: of the training that the frame belongs to: its tie rule and limits are named
    """
    return (*_made(frame, options), *_to_come(frame, options))


def sentence(pieces: Sequence[Piece], symbols: SymbolTable) -> str:
    """Return the pieces as one line of plain text; long symbols are shortened."""
    return "".join(piece.text if isinstance(piece, Words) else _shown(piece.symbol, symbols) for piece in pieces)


def pair_text(pair: Pair, symbols: SymbolTable) -> str:
    """Return a pair as plain text: e + r; long symbols are shortened."""
    return " + ".join(_shown(symbol, symbols) for symbol in pair)


def times(count: int) -> str:
    """Say how often: once, 2 times, 1,204 times."""
    return "once" if count == 1 else f"{count:,} times"


def _shown(symbol: int, symbols: SymbolTable) -> str:
    return visible(symbols.content(symbol), symbols.marker(symbol), LONGEST_SYMBOL)


def _made(frame: Frame, options: TrainingOptions) -> list[Piece]:
    made = frame.made
    if made is None:
        return [Words("No merge yet.", "strong")]
    pieces: list[Piece] = [
        Words(f"Merge {made.rank + 1:,}", "strong"),
        Words("  "),
        Named(made.left, "taken"),
        Words(" + "),
        Named(made.right, "taken"),
        Words(f" {ARROW} "),
        Named(made.token, "made"),
    ]
    if frame.made_by_choice is None:
        return [*pieces, Words(f" was counted {_counted(made)}, the highest count{_tie(made, options)}.")]
    return [*pieces, Words(f" was chosen, counted {_counted(made)}; "), *by_the_rule(frame.made_by_choice), Words(".")]


def by_the_rule(departure: Departure) -> list[Piece]:
    """Say what would have been done at a merge that was chosen by hand."""
    other = departure.instead_of
    if other is None:
        return [Words("by the rule training would have ended here")]
    return [
        Words("the rule would have merged "),
        Named(other.left, "taken"),
        Words(" + "),
        Named(other.right, "taken"),
        Words(f", counted {other.count:,}"),
    ]


def _counted(merge: Merge) -> str:
    if merge.replacements == merge.count:
        return times(merge.count)
    return f"{times(merge.count)} (replaced {times(merge.replacements)}: places overlap)"


def _tie(merge: Merge, options: TrainingOptions) -> str:
    if merge.ties == 1:
        return ", with no tie"
    return f"; {merge.ties:,} pairs tied and {tie_rule(options.rule).winner} won"


def _to_come(frame: Frame, options: TrainingOptions) -> list[Piece]:
    following = frame.next
    if following is None:
        return _end(frame, options)
    count = f"counted {following.count:,}"
    # Not trained yet: how often it can be replaced is not known.
    if 0 < following.replacements < following.count:
        count += f", to be replaced {times(following.replacements)}"
    return [
        Words("  Next: "),
        Named(following.left, "next"),
        Words(" + "),
        Named(following.right, "next"),
        Words(f", {count}"),
        *_why_next(frame, options),
        Words("."),
    ]


def _why_next(frame: Frame, options: TrainingOptions) -> Sequence[Piece]:
    if frame.next_by_choice is not None:
        return [Words(", chosen; "), *by_the_rule(frame.next_by_choice)]
    tie = why_it_wins(frame, options)
    return [Words(": "), *tie] if tie else [Words(", with no tie")]


def why_it_wins(frame: Frame, options: TrainingOptions) -> tuple[Piece, ...]:
    """Say how many pairs tie for the next merge, which rule decides, and why the winner goes before the runner-up.

    Nothing where no pair ties with it, or it was chosen by hand.
    """
    following = frame.next
    if following is None or following.ties == 1 or frame.next_by_choice is not None:
        return ()
    rule = tie_rule(options.rule)
    said = Words(f"{following.ties:,} pairs tie, and {rule.name} takes {rule.takes}")
    winner = Pair(following.left, following.right)
    tied = (Pair(one.left, one.right) for one in frame.top if one.count == following.count)
    runner_up = next((pair for pair in tied if pair != winner), None)
    # Which pair was seen second is not known: only the trainer has the text.
    if runner_up is None or rule.code == kernels_order.FIRST_SEEN:
        return (said,)
    other = (Named(runner_up.left, "taken"), Words(" + "), Named(runner_up.right, "taken"))
    if rule.code == kernels_order.SMALLEST_IDS:
        ids, others = (f"{pair.left:,} and {pair.right:,}" for pair in (winner, runner_up))
        return said, Words(f": {ids} before "), *other, Words(f" with {others}")
    if rule.code == kernels_order.SHORTEST_PIECE:
        length, longer = (sum(_characters(frame, symbol) for symbol in pair) for pair in (winner, runner_up))
        if length < longer:
            return said, Words(f": {length:,} characters, "), *other, Words(f" makes {longer:,}")
    return said, Words(", after " if rule.code == kernels_order.GREATEST else ", before "), *other


def _characters(frame: Frame, symbol: int) -> int:
    """Count code points as the kernels do: bytes that begin one."""
    return sum(byte & 0xC0 != 0x80 for byte in frame.symbols.label(symbol))


def _end(frame: Frame, options: TrainingOptions) -> list[Piece]:
    match frame.stop:
        case "target":
            return [Words(f"  Training ends here: {_target_reached(frame.position)}.")]
        case "below min-count" if frame.top:
            best = frame.top[0]
            return [
                Words("  Training ends here: the most frequent pair, "),
                Named(best.left, "taken"),
                Words(" + "),
                Named(best.right, "taken"),
                Words(f", is counted {times(best.count)}, below the least count of {options.min_count:,}."),
            ]
        case "below min-count":
            return [Words(f"  Training ends here: no pair reaches the least count of {options.min_count:,}.")]
        case "no pair left":
            return [Words(f"  Training ends here: {no_pair_left(frame, options)}.")]
        case _:
            return []


def _target_reached(merges: int) -> str:
    return f"the target of {merges:,} merge{'' if merges == 1 else 's'} is reached"


def no_pair_left(frame: Frame, options: TrainingOptions) -> str:
    """Say why no pair is left, in words that follow "because" or a colon."""
    if options.max_token_length is not None:
        return f"no pair is left that makes a token of at most {options.max_token_length:,} base symbols"
    return f"no pair is left, every pre-token is one token ({frame.tokens:,} in all)"


def why_no_next(frame: Frame, options: TrainingOptions) -> str | None:
    """Say in one short sentence why no merge can follow this frame; None if one can."""
    match frame.stop:
        case "target":
            said = _target_reached(frame.position)
        case "below min-count":
            said = f"no pair reaches the least count of {options.min_count:,}"
        case "no pair left":
            said = no_pair_left(frame, options)
        case _:
            return None
    return f"{said[0].upper()}{said[1:]}."
