"""The hot loops of splitting a long pre-token: in which order its boundaries fall, and nothing else.

Plain Python over flat arrays, run as it stands or compiled: see kernels.py.
"""

from __future__ import annotations

from typing import Any

from bpe_viz.engine.kernels_pairs import find_pair

# A NumPy array (compiled) or a memoryview of one (plain): both are indexed and assigned alike.
Array = Any


def remove_boundaries(
    symbols: Array,
    gap: int,
    makes: Array,
    turns: Array,
    table: Array,
    rank: Array,
    made: Array,
    right_of: Array,
    left_of: Array,
    heap: Array,
) -> int:
    """Merge the lowest rank present, leftmost first, again and again: see boundaries.merges_in_order.

    symbols:  (n,) int32, base symbols, `gap` where there is none; afterwards the symbol of each token that stands, at
              its first place
    makes: (ranks,) int32, the symbol that each rank makes
    turns: (ranks,) int64, the turn of each rank, those of one turn being alike; empty: ranks are turns
    rank, made: (n,) int64, as in boundaries.Boundaries, get what removes the boundary before each symbol where
              something does; made may be empty
    right_of: (n,) int32, gets the first place of the token behind each token
    left_of:  (n,) int32, scratch; heap: (3 * n,) int64, scratch, an offer is rank << 32 | start
    Returns how many boundaries fell.
    """
    n = len(symbols)
    used = 0
    for start in range(n):
        left_of[start] = start - 1
        right_of[start] = start + 1
    for start in range(n - 1):
        used = _offer(symbols, gap, turns, table, right_of, heap, used, start)
    fallen = 0
    highest = 0
    while used > 0:
        offer = heap[0]
        used -= 1
        heap[0] = heap[used]
        _sift_down(heap, used)
        turn, start = offer >> 32, offer & 0xFFFFFFFF
        end = right_of[start]
        if symbols[start] == gap or end >= n:
            continue
        # An offer is stale when an earlier merge took one of its two symbols: then another pair, or none, is here.
        lowest = find_pair(table, symbols[start], symbols[end])
        if lowest < 0 or (turns[lowest] if len(turns) > 0 else lowest) != turn:
            continue
        symbols[start] = makes[lowest]
        symbols[end] = gap
        highest = max(highest, turn)
        rank[end] = highest
        if len(made) > 0:
            made[end] = fallen << 32 | lowest
        fallen += 1
        after = right_of[end]
        right_of[start] = after
        if after < n:
            left_of[after] = start
        used = _offer(symbols, gap, turns, table, right_of, heap, used, start)
        if left_of[start] >= 0:
            used = _offer(symbols, gap, turns, table, right_of, heap, used, left_of[start])
    return fallen


def _offer(
    symbols: Array, gap: int, turns: Array, table: Array, right_of: Array, heap: Array, used: int, start: int
) -> int:
    end = right_of[start]
    if end >= len(symbols) or symbols[start] == gap or symbols[end] == gap:
        return used
    lowest = find_pair(table, symbols[start], symbols[end])
    if lowest < 0:
        return used
    i = used
    heap[i] = (turns[lowest] if len(turns) > 0 else lowest) << 32 | start
    while i > 0 and heap[(i - 1) // 2] > heap[i]:
        parent = (i - 1) // 2
        heap[i], heap[parent] = heap[parent], heap[i]
        i = parent
    return used + 1


def _sift_down(heap: Array, used: int) -> None:
    i = 0
    while True:
        child = 2 * i + 1
        if child >= used:
            return
        if child + 1 < used and heap[child + 1] < heap[child]:
            child += 1
        if heap[i] <= heap[child]:
            return
        heap[i], heap[child] = heap[child], heap[i]
        i = child
