"""The hot loops of merging new pre-tokens: several at a time, side by side.

Each merge asks a large table about the two pairs that it makes, and waits for memory. Of one pre-token these waits
follow each other; those of several pass together. So pre-tokens are merged in *lanes*, in step: each lane makes one
merge, all lanes ask, and then all read what came.

Plain Python over flat arrays, like kernels.py, and run in the same two ways.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from bpe_viz.engine.kernels_keys import key_of, mixed, same_bytes
from bpe_viz.engine.kernels_pairs import BORDER, NO_RANK, bucket_of, pair_key, rank_in

# A NumPy array (compiled) or a memoryview of one (plain): both are indexed and assigned alike.
Array = Any

N_BASE = 256

LANES = 48
LANE = 256
"""Up to so many symbols fit into a lane: there the lowest rank is found by looking at all, quicker than by a heap."""

CELLS = LANE + 2
"""A lane has a border on each side, so that what merges always has neighbours."""

_PLACE_BITS = 9
_IN_PLACE = (1 << _PLACE_BITS) - 1
_NO_ORDER = NO_RANK << _PLACE_BITS

NO_TOKEN = -1


class Merges(NamedTuple):
    """What merges, up to one position.

    symbol_of_byte: (256,) int32, base symbols
    pair_of_bases: (65536,) int32, the rank of each two base symbols, left * 256 + right, or NO_RANK
    makes: (ranks,) int32, the symbol that each rank makes
    table: (size,) int64, the pairs and their ranks, see kernels_pairs.fill_pair_table
    ids: (symbols,) int32, token ids
    whole: (size,) int32, a hash table of the symbols that are taken whole, NO_TOKEN where empty; size is a power of
           two, or 0 if none is; those that merging makes anyway may be left out
    content: (bytes,) uint8, the bytes of these symbols end to end, none for others; content_start: (symbols + 1,) int64
    """

    symbol_of_byte: Array
    pair_of_bases: Array
    makes: Array
    table: Array
    ids: Array
    whole: Array
    content: Array
    content_start: Array


class Lanes(NamedTuple):
    """Pre-tokens that are merged side by side; that of lane i has its symbols in the cells from i * CELLS + 1 on.

    symbol, right_of, left_of: (LANES * CELLS,) int32, places are counted from the border of each lane
    order: as long, int32: the rank of the pair that begins in each cell << 9 | its place; _NO_ORDER or more: no merge
    length: (LANES,) int64, how many symbols are in each lane; after merging, how many tokens
    entry: (LANES,) int64, of whom they are: for the caller
    active: (LANES,) int64, the lanes that still merge; place: as long, where each has just merged
    key, bucket: (2 * LANES,) int64, the pairs that each asks for, and where in the table; seen: what was read ahead
    """

    symbol: Array
    right_of: Array
    left_of: Array
    order: Array
    length: Array
    entry: Array
    active: Array
    place: Array
    key: Array
    bucket: Array
    seen: Array


def fill_lane(lanes: Lanes, lane: int, data: Array, at: int, n: int, merges: Merges) -> None:
    """Put n bytes, at most LANE, into a lane."""
    base = lane * CELLS
    lanes.length[lane] = n
    left = merges.symbol_of_byte[data[at]]
    lanes.symbol[base] = lanes.symbol[base + n + 1] = BORDER
    lanes.symbol[base + 1] = left
    for i in range(1, n):
        right = merges.symbol_of_byte[data[at + i]]
        lanes.symbol[base + i + 1] = right
        lanes.order[base + i] = merges.pair_of_bases[left << 8 | right] << _PLACE_BITS | i
        left = right
    lanes.order[base + n] = _NO_ORDER
    for i in range(1, n + 1):
        lanes.right_of[base + i] = i + 1
        lanes.left_of[base + i] = i - 1


def merge_lanes(n_lanes: int, merges: Merges, lanes: Lanes) -> None:
    """Merge what is in the first lanes, in each the lowest rank first, leftmost first, again and again.

    Rank and place stand in one number, so that the lowest of all is found without a branch. Afterwards the tokens of
    each lane stand at its beginning.
    Plain reference: boundaries.split_symbols.
    """
    table = merges.table
    for lane in range(n_lanes):
        lanes.active[lane] = lane
    n_active = n_lanes
    while n_active > 0:
        still = 0
        for i in range(n_active):
            base = lanes.active[i] * CELLS
            n = lanes.length[lanes.active[i]]
            at = _merge_lowest(base, n, merges, lanes)
            if at == 0:
                continue
            lanes.active[still] = lanes.active[i]
            lanes.place[still] = at
            _ask(base, at, 2 * still, lanes, len(table))
            still += 1
        n_active = still
        for i in range(2 * n_active):
            lanes.seen[i] = table[lanes.bucket[i]]
        for i in range(n_active):
            base, at = lanes.active[i] * CELLS, lanes.place[i]
            before = lanes.left_of[base + at]
            lanes.order[base + before] = rank_in(table, lanes.bucket[2 * i], lanes.key[2 * i]) << _PLACE_BITS | before
            lanes.order[base + at] = rank_in(table, lanes.bucket[2 * i + 1], lanes.key[2 * i + 1]) << _PLACE_BITS | at
    for lane in range(n_lanes):
        _gather(lane, lanes)


def _merge_lowest(base: int, n: int, merges: Merges, lanes: Lanes) -> int:
    """Merge the pair of the lowest rank of n cells; returns its place, 0 if none merges."""
    right_of = lanes.right_of
    order = lanes.order[base + 1 : base + 1 + n]
    lowest = order[0]
    for i in range(n):
        lowest = min(lowest, order[i])
    if lowest >= _NO_ORDER:
        return 0
    at = lowest & _IN_PLACE
    gone = right_of[base + at]
    after = right_of[base + gone]
    lanes.symbol[base + at] = merges.makes[lowest >> _PLACE_BITS]
    right_of[base + at] = after
    lanes.left_of[base + after] = at
    lanes.order[base + gone] = _NO_ORDER
    return at  # type: ignore[no-any-return]  # an int32


def _ask(base: int, at: int, i: int, lanes: Lanes, size: int) -> None:
    symbol = lanes.symbol
    made = symbol[base + at]
    before, after = symbol[base + lanes.left_of[base + at]], symbol[base + lanes.right_of[base + at]]
    lanes.key[i] = pair_key(before, made)
    lanes.bucket[i] = bucket_of(before, made, size)
    lanes.key[i + 1] = pair_key(made, after)
    lanes.bucket[i + 1] = bucket_of(made, after, size)


def _gather(lane: int, lanes: Lanes) -> None:
    base = lane * CELLS
    n = lanes.length[lane]
    count = 0
    at = 1
    while at <= n:
        lanes.symbol[base + count] = lanes.symbol[base + at]
        count += 1
        at = lanes.right_of[base + at]
    lanes.length[lane] = count


def find_whole(merges: Merges, text: Array, at: int, n: int, first: int, second: int) -> int:
    """Return as which symbol n bytes are taken whole, NO_TOKEN if as none. first, second: their key"""
    mask = len(merges.whole) - 1
    slot = mixed(first, second) & mask
    while merges.whole[slot] != NO_TOKEN:
        symbol = merges.whole[slot]
        begins = merges.content_start[symbol]
        if merges.content_start[symbol + 1] - begins == n and same_bytes(merges.content, begins, text, at, n):
            return symbol  # type: ignore[no-any-return]  # an int32
        slot = (slot + 1) & mask
    return NO_TOKEN


def fill_whole(merges: Merges, n_symbols: int) -> None:
    """Enter those of n_symbols symbols that have bytes into merges.whole, which holds NO_TOKEN only."""
    mask = len(merges.whole) - 1
    for symbol in range(n_symbols):
        at = merges.content_start[symbol]
        if merges.content_start[symbol + 1] == at:
            continue
        first, second = key_of(merges.content, at, merges.content_start[symbol + 1] - at)
        slot = mixed(first, second) & mask
        while merges.whole[slot] != NO_TOKEN:
            slot = (slot + 1) & mask
        merges.whole[slot] = symbol


def find_pairs(merges: Merges, n_symbols: int, lanes: Lanes, made: Array, left: Array, right: Array) -> None:
    """Find for each of n_symbols symbols the pair that makes it of its bytes, if merging makes it at all.

    Wherever a token is made, what has merged inside it before is what would merge of its bytes alone: so of all pairs
    that join to it no other ever does.

    merges: with content, and with whole, into which the n_symbols are entered
    made: (n_symbols,) uint8, zeros; gets 1 for those that are made, base symbols among them
    left, right: (n_symbols,) int32, filled with NO_TOKEN; get the pairs
    Plain reference: JoinedRanks.merging_pairs.
    """
    content = merges.content
    waiting = 0
    for symbol in range(n_symbols):
        start, end = merges.content_start[symbol], merges.content_start[symbol + 1]
        if 0 < end - start <= LANE:
            fill_lane(lanes, waiting, content, start, end - start, merges)
            lanes.entry[waiting] = symbol
            waiting += 1
        if waiting < LANES and symbol < n_symbols - 1:
            continue
        merge_lanes(waiting, merges, lanes)
        for lane in range(waiting):
            of = lanes.entry[lane]
            if lanes.length[lane] > 1 or lanes.symbol[lane * CELLS] != of:
                continue
            made[of] = 1
            start, end = merges.content_start[of], merges.content_start[of + 1]
            cut = start + _last_boundary(lane, end - start, lanes)
            if cut < end:
                left[of] = _symbol_of(merges, start, cut - start)
                right[of] = _symbol_of(merges, cut, end - cut)
        waiting = 0


def _last_boundary(lane: int, n: int, lanes: Lanes) -> int:
    """Return how many of n symbols, now all one, were left of the boundary that fell last; n if there was none.

    What stood right of it is the one cell whose neighbours, when it fell, were the first cell and the end.
    """
    base = lane * CELLS
    for i in range(2, n + 1):
        if lanes.left_of[base + i] == 1 and lanes.right_of[base + i] == n + 1:
            return i - 1
    return n


def _symbol_of(merges: Merges, at: int, n: int) -> int:
    """Return the symbol whose bytes are the n from merges.content[at] on, NO_TOKEN if there is none."""
    first, second = key_of(merges.content, at, n)
    return find_whole(merges, merges.content, at, n, first, second)


def find_cuts(merges: Merges, n_symbols: int, left: Array, right: Array, rank: Array) -> int:
    """Find every way to cut each symbol into two symbols that come before it; what is made has rank symbol - N_BASE.

    merges: with content, and with whole, into which the n_symbols are entered
    left, right: (at least as many as there are ways,) int32; rank: (as many,) int64
    Plain reference: JoinedRanks.entries.
    """
    begins = merges.content_start
    found = 0
    for made in range(N_BASE, n_symbols):
        start, end = begins[made], begins[made + 1]
        for cut in range(start + 1, end):
            a = _symbol_of(merges, start, cut - start)
            if a == NO_TOKEN:
                continue
            b = _symbol_of(merges, cut, end - cut)
            if b == NO_TOKEN:
                continue
            left[found] = a
            right[found] = b
            rank[found] = made - N_BASE
            found += 1
    return found
