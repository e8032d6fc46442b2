"""A hash table of pairs and their ranks, for the kernels that merge.

Plain Python over flat arrays, run as it stands or compiled: see kernels.py.
"""

from __future__ import annotations

from typing import Any

# A NumPy array (compiled) or a memoryview of one (plain): both are indexed and assigned alike.
Array = Any

SYMBOL_BITS = 21
"""An entry of the table is one number, pair_key << SYMBOL_BITS | rank, so that most of the table stays in the
processor's caches; there may be no more symbols than this."""

EMPTY = -1
_IN_RANK = (1 << SYMBOL_BITS) - 1


def pair_key(left: int, right: int) -> int:
    """Return a number that tells pairs apart."""
    return left << SYMBOL_BITS | right


def slot_of(left: int, right: int, mask: int) -> int:
    """Return where in the table a pair is looked for first; mask: the size of the table less one."""
    return (left * 0x9E3779B1 + right * 0x85EBCA77) >> 7 & mask


def rank_from(table: Array, slot: int, found: int, key: int) -> int:
    """Return the rank of a pair, -1 if it is no merge. slot, found: where it is looked for first, and what is there."""
    mask = len(table) - 1
    while found != EMPTY:
        if found >> SYMBOL_BITS == key:
            return found & _IN_RANK
        slot = (slot + 1) & mask
        found = table[slot]
    return -1


def find_pair(table: Array, left: int, right: int) -> int:
    """Return the rank of a pair, -1 if it is no merge. table: see fill_pair_table."""
    slot = slot_of(left, right, len(table) - 1)
    return rank_from(table, slot, table[slot], pair_key(left, right))


def fill_pair_table(table: Array, left: Array, right: Array, rank: Array) -> None:
    """Enter pairs, in the order given; one that comes twice keeps its first rank.

    table: (size,) int64 filled with EMPTY, size a power of two above the number of pairs
    left, right: (pairs,) int32; rank: (pairs,) int64
    """
    mask = len(table) - 1
    for i in range(len(left)):
        key = pair_key(left[i], right[i])
        slot = slot_of(left[i], right[i], mask)
        while table[slot] != EMPTY and table[slot] >> SYMBOL_BITS != key:
            slot = (slot + 1) & mask
        if table[slot] == EMPTY:
            table[slot] = key << SYMBOL_BITS | rank[i]
