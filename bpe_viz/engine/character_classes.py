"""The table of character classes that the scanners look up, made from the `regex` module so that both agree."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import regex
from numpy.typing import NDArray

from bpe_viz.engine import kernels_scanning as scanning

_N_POINTS = 0x110000

# Where a class other than OTHER can be: planes 4 to 13 are unassigned, 15 and 16 are private. Looking through
# those as well would take 60 ms instead of 15, on every start.
_ASSIGNED = (range(0x40000), range(0xE0000, 0xF0000))

_CLASSES = (
    (r"[\p{Lu}\p{Lt}]+", scanning.LETTER | scanning.UPPER),
    (r"\p{Ll}+", scanning.LETTER | scanning.LOWER),
    (r"[\p{Lm}\p{Lo}]+", scanning.LETTER | scanning.UPPER | scanning.LOWER),
    (r"\p{M}+", scanning.OTHER | scanning.UPPER | scanning.LOWER),
    (r"\p{N}+", scanning.NUMBER),
    (r"[\r\n]+", scanning.NEWLINE),
    (r"[^\S\r\n]+", scanning.BLANK),
)


@lru_cache(maxsize=1)
def character_classes() -> NDArray[np.uint8]:
    """Return the table as kernels_scanning wants it; it takes about 20 ms to make, once in a process."""
    kinds = kinds_of_all_points().reshape(-1, 1 << scanning.BLOCK_BITS)
    n_index = len(kinds) >> scanning.BLOCK_BITS
    block_of = np.empty(len(kinds), dtype=np.uint8)
    number_of: dict[bytes, int] = {}
    for place, block in enumerate(kinds):
        number = n_index + number_of.setdefault(block.tobytes(), len(number_of))
        if number > 255:
            raise ValueError("The blocks of characters are too many for a table of bytes")
        block_of[place] = number
    return np.concatenate((block_of, np.frombuffer(b"".join(number_of), dtype=np.uint8)))


def kinds_of_all_points() -> NDArray[np.uint8]:
    """Return the class of every code point, (0x110000,) uint8: bits LETTER ... OTHER of kernels_scanning."""
    kinds = np.full(_N_POINTS, scanning.OTHER, dtype=np.uint8)
    # Groups of one pattern, since one search is quicker than one for each class.
    pattern = regex.compile("|".join(f"({one})" for one, _ in _CLASSES))
    for points in _ASSIGNED:
        text = np.arange(points.start, points.stop, dtype="<u4").tobytes().decode("utf-32-le", "surrogatepass")
        for match in pattern.finditer(text):
            start, end = match.span()
            kinds[points.start + start : points.start + end] = _CLASSES[match.lastindex - 1][1]
    kinds[ord("\u017f")] |= scanning.LONG_S
    return kinds
