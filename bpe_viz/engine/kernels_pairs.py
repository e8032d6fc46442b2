"""A hash table of pairs and their ranks, for the kernels that merge.

Plain Python over flat arrays, run as it stands or compiled: see kernels.py.
"""

from __future__ import annotations

from typing import Any

# A NumPy array (compiled) or a memoryview of one (plain): both are indexed and assigned alike.
Array = Any

SYMBOL_BITS = 21
"""An entry of the table is one number, pair_key << SYMBOL_BITS | rank: most of it stays in the processor's caches."""

MOST_SYMBOLS = (1 << SYMBOL_BITS) - 1
BORDER = MOST_SYMBOLS
"""No symbol, which merges with none: a rank is always less than a symbol."""

EMPTY = -1
NO_RANK = 1 << SYMBOL_BITS

BUCKET = 4
"""A pair is looked for in so many places at once: each is compared, without a branch that would be guessed wrong."""
_IN_RANK = (1 << SYMBOL_BITS) - 1


def pair_key(left: int, right: int) -> int:
    """Return a number that tells pairs apart."""
    return left << SYMBOL_BITS | right


def bucket_of(left: int, right: int, size: int) -> int:
    """Return where the bucket begins in which a pair is looked for first; size: of the table."""
    return (left * 0x9E3779B1 + right * 0x85EBCA77) >> 7 & (size - BUCKET)


def rank_in(table: Array, bucket: int, key: int) -> int:
    """Return the rank of a pair, NO_RANK if it is no merge. bucket: where it is looked for first."""
    rank = NO_RANK
    while True:
        for i in range(BUCKET):
            entry = table[bucket + i]
            rank = entry & _IN_RANK if entry >> SYMBOL_BITS == key else rank
        if rank != NO_RANK or table[bucket + BUCKET - 1] == EMPTY:
            return rank
        bucket = (bucket + BUCKET) & (len(table) - 1)


def find_pair(table: Array, left: int, right: int) -> int:
    """Return the rank of a pair, -1 if it is no merge. table: see fill_pair_table."""
    rank = rank_in(table, bucket_of(left, right, len(table)), pair_key(left, right))
    return -1 if rank == NO_RANK else rank


def fill_pair_table(table: Array, left: Array, right: Array, rank: Array) -> None:
    """Enter pairs, in the order given; one that comes twice keeps its first rank.

    table: (size,) int64 filled with EMPTY, size a power of two above the number of pairs
    left, right: (pairs,) int32; rank: (pairs,) int64
    """
    mask = len(table) - 1
    for i in range(len(left)):
        key = pair_key(left[i], right[i])
        slot = bucket_of(left[i], right[i], len(table))
        while table[slot] != EMPTY and table[slot] >> SYMBOL_BITS != key:
            slot = (slot + 1) & mask
        if table[slot] == EMPTY:
            table[slot] = key << SYMBOL_BITS | rank[i]
