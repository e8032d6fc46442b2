"""Cuts symbols to the room there is: fairly, and never without an ellipsis."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bpe_viz.engine.visible import ELLIPSIS, Part, Parts, shortened, text_of

MOST_CHARACTERS = 256
"""No symbol is shown longer, however wide the panel."""

ELLIPSIS_ONLY: Parts = (Part(ELLIPSIS, "invisible"),)


def fair_shares(wanted: Sequence[float], room: float, weights: Sequence[float]) -> list[float]:
    """Divide room by weights; what one does not want goes to the others."""
    shares = [0.0] * len(wanted)
    hungry = set(range(len(wanted)))
    while hungry:
        unit = max(0.0, room) / sum(weights[one] for one in hungry)
        content = {one for one in hungry if wanted[one] <= unit * weights[one]}
        for one in content or hungry:
            shares[one] = wanted[one] if content else unit * weights[one]
            room -= shares[one]
        hungry -= content or hungry
    return shares


def fitted(parts: Parts, room: float, width_of: Callable[[Parts], float]) -> Parts:
    """Return a symbol, or as much of its ends as is no wider than room; at the least an ellipsis.

    The length behind a cut symbol is left to the tooltip.
    """
    length = sum(len(part.text) for part in parts)
    if length <= MOST_CHARACTERS and width_of(parts) <= room:
        return parts
    least, most = 1, min(length, MOST_CHARACTERS + 1)
    while most - least > 1:
        limit = (least + most) // 2
        if width_of(_cut(parts, limit)) <= room:
            least = limit
        else:
            most = limit
    # Ends of signs have uneven widths: a few sizes below may be the widest that fits.
    for limit in range(least, max(1, least - 3), -1):
        if width_of(cut := _cut(parts, limit)) <= room:
            return cut
    head = _cut(parts, 2)[:2]
    if length > len(text_of(head)) and width_of(head) <= room:
        return head
    return _inside_of_signs(parts, room, width_of)


def _inside_of_signs(parts: Parts, room: float, width_of: Callable[[Parts], float]) -> Parts:
    """Cut signs such as <U+1F469>, for which there is no room: <U+…469>."""
    first, last = parts[0].text, parts[-1].text
    for n in range(min(len(first) + len(last), MOST_CHARACTERS) - 1, 1, -1):
        head, tail = first[: (n + 1) // 2], last[max(0, len(last) - n // 2) :]
        cut = (Part(head, parts[0].kind), Part(ELLIPSIS, "invisible"), Part(tail, parts[-1].kind))
        if len(head) + len(tail) < sum(len(part.text) for part in parts) and width_of(cut) <= room:
            return cut
    return ELLIPSIS_ONLY


def _cut(parts: Parts, limit: int) -> Parts:
    cut = shortened(parts, limit)
    return cut if cut == parts else cut[:-1]
