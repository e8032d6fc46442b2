"""Many short texts looked up at once: millions of them in arrays, where a dictionary would need a string for each.

A text is read eight bytes at a time, as numbers, which tell it apart exactly; mixed, they are where it is looked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.int64]
_Words = NDArray[np.uint64]

_WORD = 8
_MASKS = np.array([(1 << 8 * n) - 1 for n in range(_WORD + 1)], dtype=np.uint64)
_ODD = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)
_MOST_STEPS = 32
"""From the first text of a bucket: there are four times as many buckets as texts, so that more are no accident."""


class SpanIndex:
    """Finds spans of bytes among texts, no two of which are the same."""

    def __init__(self, texts: Sequence[bytes]) -> None:
        lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        self._words = _aligned(np.frombuffer(b"".join(texts), dtype=np.uint8))
        self._end = np.cumsum(lengths)
        self._start = self._end - lengths
        self._longest = int(lengths.max(initial=0))
        keys = _keys(self._words, self._start, self._end)
        self._order = np.argsort(keys)
        # Behind all stands a key that is not smaller than any.
        self._keys = np.append(keys[self._order], np.uint64(2**64 - 1))
        bits = max(1, (4 * len(texts)).bit_length())
        self._shift = np.uint64(64 - bits)
        counts = np.bincount((keys >> self._shift).astype(np.int64), minlength=1 << bits)
        self._first = np.cumsum(counts) - counts

    def find(self, data: NDArray[np.uint8], start: Places, end: Places) -> NDArray[np.int64] | None:
        """Return the number of the text that each span is; None if one is none, or that takes too long to tell.

        data: (n,) uint8; start, end: (spans,) int64
        """
        if len(start) and int((end - start).max()) > self._longest:
            return None
        words = _aligned(data)
        keys = _keys(words, start, end)
        at = self._first[(keys >> self._shift).astype(np.int64)]
        for _ in range(_MOST_STEPS):
            is_before = self._keys[at] < keys
            if not is_before.any():
                break
            at += is_before
        if not np.array_equal(self._keys[at], keys):
            return None
        found: Places = self._order[np.minimum(at, len(self._order) - 1)]
        theirs = self._start[found], self._end[found]
        # Two texts with one key, or a span with the key of a text that it is not: as good as never.
        if not np.array_equal(theirs[1] - theirs[0], end - start):
            return None
        ours, other = _each_word(words, start, end), _each_word(self._words, *theirs)
        if not all(np.array_equal(one, another) for (_, one), (_, another) in zip(ours, other, strict=True)):
            return None
        return found


def _aligned(data: NDArray[np.uint8]) -> _Words:
    """Return bytes as words, with some to spare."""
    padded = np.zeros((len(data) // _WORD + 3) * _WORD, dtype=np.uint8)
    padded[: len(data)] = data
    return padded.view("<u8")


def _each_word(words: _Words, start: Places, end: Places) -> Iterator[tuple[Places | slice, _Words]]:
    """Yield (spans, their next eight bytes as numbers) until no span has any more; all have the first."""
    which: Places | slice = slice(None)
    at, left = start, end - start
    while len(at):
        place, bits = at >> 3, ((at & 7) << 3).astype(np.uint64)
        # Shifting by all 64 bits is undefined, hence twice.
        high = words[place + 1] << np.uint64(1) << (np.uint64(63) - bits)
        yield which, (words[place] >> bits | high) & _MASKS[np.minimum(left, _WORD)]
        goes_on = np.flatnonzero(left > _WORD)
        which = goes_on if isinstance(which, slice) else which[goes_on]
        at, left = at[goes_on] + _WORD, left[goes_on] - _WORD


def _keys(words: _Words, start: Places, end: Places) -> _Words:
    """Return a number for each span, which is hardly ever that of another text."""
    keys = (end - start).astype(np.uint64) * _ODD
    for which, word in _each_word(words, start, end):
        mixed = (keys[which] ^ word) * _ODD
        keys[which] = (mixed ^ mixed >> _HALF) * _ODD
    return keys
