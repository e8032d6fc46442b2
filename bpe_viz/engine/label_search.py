"""Find the symbols whose label holds some bytes, a slice of them at a time."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from bpe_viz.engine.symbols import SymbolTable

_HEX = re.compile(r"0x((?:[0-9a-fA-F]{2})+)")


def parse_wanted(typed: str) -> bytes:
    """Read what was typed: `0x6573` is bytes in hex, everything else is text."""
    is_hex = _HEX.fullmatch(typed)
    return bytes.fromhex(is_hex.group(1)) if is_hex else typed.encode(errors="replace")


def symbols_holding(symbols: SymbolTable, wanted: bytes, first: int, end: int) -> NDArray[np.int64]:
    """Return the symbols among [first, end) whose label holds the wanted bytes, ascending.

    wanted: not empty
    All labels lie end to end in one array, which is searched at once; what reaches over the end of a label is
    dropped.
    """
    starts = symbols.text_start[first : end + 1]
    start, stop = int(starts[0]), int(starts[-1])
    text = symbols.text[start:stop]
    places = np.flatnonzero(text[: max(0, len(text) - len(wanted) + 1)] == wanted[0])
    for offset, byte in enumerate(wanted[1:], 1):
        places = places[text[places + offset] == byte]
    found = np.searchsorted(starts, places + start, side="right") - 1
    is_inside = places + start + len(wanted) <= starts[found + 1]
    return np.unique(found[is_inside]) + first
