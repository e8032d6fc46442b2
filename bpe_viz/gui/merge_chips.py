"""Where the chips of a merge stand in its row, and how they are cut where they do not fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from bpe_viz.engine.visible import Parts
from bpe_viz.gui.chips import GAP, chip_width
from bpe_viz.gui.glyphs import drawable
from bpe_viz.gui.look import Look
from bpe_viz.gui.symbol_fit import ELLIPSIS_ONLY, fair_shares, fitted
from bpe_viz.gui.symbol_texts import LONGEST_CHIP, LONGEST_IN_TOOLTIP

PARTS_AND_TOKEN = (1, 1, 2)
"""How room is divided: the token is what there is to see, and as long as both its parts."""

ARROW = "→"
ARROW_GAP = 6

PartsOf = Callable[[int, int], Parts]
"""Returns what is shown of a symbol, given its id and at most how many characters."""


class Placed(NamedTuple):
    """A chip where it is painted, in the viewport."""

    symbol: int
    parts: Parts
    left: int
    right: int


def arrow_room(look: Look) -> int:
    """Return how wide the arrow before the token is, with the gaps beside it."""
    return round(look.ui_metrics().horizontalAdvance(ARROW)) + 2 * look.px(ARROW_GAP)


def place_chips(look: Look, symbols: Sequence[int], parts_of: PartsOf, left: int, room: int) -> list[Placed]:
    """Place the chips of a merge.

    symbols: left, right and token, or in a very narrow panel the token alone
    left: where they begin; room: what they and the arrow may take, in pixels
    """
    gap = look.px(GAP)
    room -= arrow_room(look) + (gap if len(symbols) > 1 else 0)
    shown = [parts_of(symbol, LONGEST_CHIP) for symbol in symbols]
    wanted = [chip_width(look, parts) for parts in shown]
    if sum(wanted) > room:
        # Cut anew from the whole: the length behind a symbol goes first.
        # What no font has is written as a code point, which is what has to be cut then.
        whole = [drawable(parts_of(symbol, LONGEST_IN_TOOLTIP), look.mono_metrics()) for symbol in symbols]
        shown = _cut(look, whole, shown, wanted, room)
    placed: list[Placed] = []
    x = left
    for symbol, parts in zip(symbols, shown, strict=True):
        x += arrow_room(look) if len(placed) == len(symbols) - 1 else gap if placed else 0
        right = x + chip_width(look, parts)
        placed.append(Placed(symbol, parts, x, right))
        x = right
    return placed


def _cut(
    look: Look, whole: Sequence[Parts], full: Sequence[Parts], wanted: Sequence[float], room: float
) -> list[Parts]:
    """Cut symbols to their shares; the token, which is the last, takes what its parts leave."""

    def width_of(parts: Parts) -> float:
        return chip_width(look, parts)

    shares = fair_shares(wanted, room, PARTS_AND_TOKEN[-len(full) :])
    cut = [
        parts if width <= share else fitted(uncut, share, width_of)
        for uncut, parts, width, share in zip(whole[:-1], full, wanted, shares, strict=False)
    ]
    left = room - sum(map(width_of, cut))
    token = full[-1] if wanted[-1] <= left else fitted(whole[-1], left, width_of)
    if token == ELLIPSIS_ONLY and cut:
        # One long sign, such as <U+200D>: it is what there is to see.
        cut = [ELLIPSIS_ONLY for _ in cut]
        token = fitted(whole[-1], room - sum(map(width_of, cut)), width_of)
    return [*cut, token]
