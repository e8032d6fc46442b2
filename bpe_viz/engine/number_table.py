"""A table from integers to integers in two arrays.

A dictionary of half a million takes a hundred megabytes, and half a second to be sent to another process.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Any

import numpy as np
from numpy.typing import NDArray

_DENSE = 4
"""Keys that take less than so many places each are counted off instead of sorted, which takes a tenth of the time."""


class NumberTable:
    """Looks single keys up, among as many as there are."""

    __slots__ = ("_key_at", "_value_at", "keys", "values")

    def __init__(self, keys: NDArray[np.int64], values: NDArray[np.int64]) -> None:
        """keys: (n,), ascending, none twice; values: (n,)"""
        self.keys, self.values = np.ascontiguousarray(keys), np.ascontiguousarray(values)
        # Single values are read several times as quickly from these.
        self._key_at, self._value_at = self.keys.data, self.values.data

    @classmethod
    def first_places(cls, keys: NDArray[np.int64]) -> NumberTable:
        """Return where each key stands first. keys: (n,), in any order."""
        n = len(keys)
        if n and int(keys.min()) >= 0 and int(keys.max()) < _DENSE * n:
            first = np.full(int(keys.max()) + 1, -1, dtype=np.int64)
            first[keys[::-1]] = np.arange(n - 1, -1, -1)  # of several values for one place the last stays
            there = np.flatnonzero(first >= 0)
            return cls(there, first[there])
        order = np.argsort(keys)
        ordered = keys[order]
        is_first = np.ones(n, dtype=bool)
        is_first[1:] = ordered[1:] != ordered[:-1]
        if not is_first.all():
            order = np.argsort(keys, kind="stable")  # takes three times as long
        return cls(ordered[is_first], order[is_first])

    @classmethod
    def last_places(cls, keys: NDArray[np.int64]) -> NumberTable:
        """Return where each key stands last. keys: (n,), in any order."""
        from_behind = cls.first_places(keys[::-1])
        return cls(from_behind.keys, len(keys) - 1 - from_behind.values)

    def __len__(self) -> int:
        return len(self.keys)

    def get(self, key: int) -> int | None:
        """Return the value of a key, None if it is not there."""
        at = bisect_left(self._key_at, key)
        return self._value_at[at] if at < len(self._key_at) and self._key_at[at] == key else None

    def __reduce__(self) -> tuple[Any, ...]:
        """Say how it is made anew in another process."""
        return NumberTable, (self.keys, self.values)
