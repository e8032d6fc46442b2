"""Large arrays in memory of their own: it is taken page by page as it is used, and given back when the array goes.

The C library keeps freed memory of up to 32 MB for itself, and more of it in each thread; for a training, whose arrays
grow one after the other, that came to half as much again as was in use.
"""

from __future__ import annotations

import mmap
import sys
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

_OWN_MEMORY_FROM = 1 << 20  # bytes
_HUGE_PAGES_FROM = 1 << 21  # the size of one on most machines; below, none would be whole


def zeros(size: int, dtype: DTypeLike) -> NDArray[Any]:
    """Return (size,) zeros. Room that is never written to takes no memory."""
    n_bytes = size * np.dtype(dtype).itemsize
    if n_bytes < _OWN_MEMORY_FROM:
        return np.zeros(size, dtype=dtype)
    return np.frombuffer(_own_memory(n_bytes), dtype=dtype)


def longer(array: NDArray[Any], size: int, used: int | None = None) -> NDArray[Any]:
    """Return (size,) with the first `used` values of an array, all of them if None, and zeros behind."""
    made = zeros(size, array.dtype)
    kept = len(array) if used is None else used
    made[:kept] = array[:kept]
    return made


def _own_memory(n_bytes: int) -> mmap.mmap:
    if sys.platform == "win32":
        return mmap.mmap(-1, n_bytes)
    memory = mmap.mmap(-1, n_bytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if sys.platform == "linux" and n_bytes >= _HUGE_PAGES_FROM:
        memory.madvise(mmap.MADV_HUGEPAGE)  # 512 times fewer pages to take
    return memory
