"""What counting comes to: the distinct pre-tokens of a text with their counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False, slots=True)
class PretokenCounts:
    """Distinct pre-tokens in first-seen order with their counts.

    data: their UTF-8, end to end
    offsets: (n + 1,) int64, where each starts in data
    counts: (n,) int64, how often each occurs
    """

    data: bytes
    offsets: NDArray[np.int64]
    counts: NDArray[np.int64]

    @classmethod
    def from_counter(cls, counts: Mapping[str, int]) -> PretokenCounts:
        """Lay a mapping pre-token -> count end to end, in its order. No pre-token may hold a surrogate."""
        contents = [pretoken.encode() for pretoken in counts]
        offsets = np.zeros(len(contents) + 1, dtype=np.int64)
        np.cumsum(np.fromiter(map(len, contents), np.int64, len(contents)), out=offsets[1:])
        return cls(b"".join(contents), offsets, np.fromiter(counts.values(), np.int64, len(counts)))

    def __len__(self) -> int:
        return len(self.counts)

    def content(self, row: int) -> bytes:
        """Return the UTF-8 of one pre-token."""
        return self.data[self.offsets[row] : self.offsets[row + 1]]

    def count_characters(self) -> int:
        """Return how many code points all occurrences hold together."""
        if not len(self):
            return 0
        starts_character = (np.frombuffer(self.data, dtype=np.uint8) & 0xC0) != 0x80
        return int(np.dot(np.add.reduceat(starts_character, self.offsets[:-1], dtype=np.int64), self.counts))
