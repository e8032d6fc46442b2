"""The hot loops of encoding: pre-tokens to token ids, with a memory of pre-tokens in front of the merging.

Plain Python over flat arrays, like kernels.py, and run in the same two ways.

The words used below
    key     tells pre-tokens apart: see kernels_keys.py.
    entry   of a table as in kernels_batches.py. The two words behind its key hold the tokens of the pre-token: their
            number in the low bits of the last, and up to three tokens packed in; or, for more of them or a long
            pre-token, where they lie in Cache.tokens, and the number of the long one in the last word.
When a memory is full all is forgotten: what is met often comes back at once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from bpe_viz.engine.kernels_batches import ENTRY, SECOND_KEY, Batch, find_entry, scan_batch, take_batch
from bpe_viz.engine.kernels_boundaries import find_pair, remove_boundaries
from bpe_viz.engine.kernels_keys import SHORT_BYTES, key_of, mixed, same_bytes

# A NumPy array (compiled) or a memoryview of one (plain): both are indexed and assigned alike.
Array = Any

LONGEST_KEPT = 256
COUNT_BITS = 16
IN_COUNT = (1 << COUNT_BITS) - 1
PACKED_TOKENS = 3


N_BASE = 256

PLACE_BITS = 8
IN_PLACE = (1 << PLACE_BITS) - 1

SCANNED = 1 << PLACE_BITS
"""Up to so many symbols the lowest rank is found by looking at all of them: quicker than a heap, for their number."""

NO_RANK = 2**31 - 1
NO_ORDER = 2**62
NO_TOKEN = -1

_31_BITS = (1 << 31) - 1

# Rows of Cache.used.
ENTRIES, TOKENS_USED, TEXT_USED, LONG_USED, FORGOTTEN, IDS, WANTED = range(7)
N_USED = 7


class Merges(NamedTuple):
    """What merges, up to one position.

    symbol_of_byte: (256,) int32, base symbols
    pair_of_bases: (65536,) int32, the rank of each two base symbols, left * 256 + right, or NO_RANK
    makes: (ranks,) int32, the symbol that each rank makes
    table: the pairs and their ranks, see kernels_boundaries.fill_pair_table
    may_merge: (bits / 8,) uint8, a bit for each of as many hashes of pairs, a power of two: where it is not set no such
           pair is in the table. Most pairs do not merge, and this small array spares the way to the large one.
    ids: (symbols,) int32, token ids
    whole: (size,) int32, a hash table of the symbols that are taken whole, NO_TOKEN where empty; size is a power of
           two, or 0 if none is
    content: (bytes,) uint8, the bytes of these symbols end to end, none for others; content_start: (symbols + 1,) int64
    """

    symbol_of_byte: Array
    pair_of_bases: Array
    makes: Array
    table: Array
    may_merge: Array
    ids: Array
    whole: Array
    content: Array
    content_start: Array


class Cache(NamedTuple):
    """Pre-tokens met before, and their tokens.

    entry: (entries * ENTRY,) int64, a table; it is kept at most three quarters full
    tokens: (n,) int32, those that do not fit into an entry, end to end
    text: (n,) uint8, the bytes of long pre-tokens, end to end; start: (n,) int64, where each begins
    used: (N_USED,) int64, how much of each is in use; how often all was forgotten for want of room; how many ids were
          written by a call, and how many bytes the pre-token has that scratch has no room for
    """

    entry: Array
    tokens: Array
    text: Array
    start: Array
    used: Array


class Scratch(NamedTuple):
    """Room for one pre-token: of n bytes each but heap, which has 3 * n.

    symbol, right_of, left_of: int32; rank, heap: int64, as in kernels_boundaries.remove_boundaries; nothing: int64,
    empty
    """

    symbol: Array
    rank: Array
    right_of: Array
    left_of: Array
    heap: Array
    nothing: Array


def encode_text(
    rule: int, classes: Array, data: Array, start: int, end: int, merges: Merges, cache: Cache, scratch: Scratch,
    batch: Batch, out: Array,
) -> int:  # fmt: skip
    """Encode the text in data[start:end] by a scanner's pre-tokens.

    rule, classes: see kernels_scanning
    out: (end - start + PACKED_TOKENS,) int32, gets the ids
    Returns where the next pre-token starts: before `end` only if scratch needs room for cache.used[WANTED] bytes.
    cache.used[IDS] tells how many ids were written.
    """
    cache.used[IDS] = 0
    at = start
    while at < end:
        n = scan_batch(rule, classes, batch, data, at, end, end, cache.entry)
        if n == 0:
            return end
        if _encode_batch(batch, n, data, merges, cache, scratch, out) < n:
            return batch.start[0]  # type: ignore[no-any-return]  # an int64
        at = batch.end[n - 1]
    return at


def encode_spans(
    data: Array, starts: Array, ends: Array, merges: Merges, cache: Cache, scratch: Scratch, batch: Batch, out: Array
) -> int:
    """Encode pre-tokens one after the other. Returns how many ids there are.

    starts, ends: (pretokens,) int64, where each lies in data; none is empty, and scratch has room for the longest
    out: (bytes of all pre-tokens + PACKED_TOKENS,) int32, gets the ids
    """
    cache.used[IDS] = 0
    done = 0
    while done < len(starts):
        n = take_batch(batch, data, starts, ends, done, cache.entry)
        _encode_batch(batch, n, data, merges, cache, scratch, out)
        done += n
    return cache.used[IDS]  # type: ignore[no-any-return]  # an int64


def _encode_batch(batch: Batch, n: int, data: Array, merges: Merges, cache: Cache, scratch: Scratch, out: Array) -> int:
    """Write the ids of a batch behind those that are there. Returns n, or 0 if scratch needs more room first."""
    longest = 0
    for i in range(n):
        longest = max(longest, batch.end[i] - batch.start[i])
    if longest > len(scratch.symbol):
        cache.used[WANTED] = longest
        return 0
    entry = cache.entry
    used = cache.used[IDS]
    for i in range(n):
        first, second = batch.first_key[i], batch.second_key[i]
        at = batch.start[i]
        length = batch.end[i] - at
        home = batch.home[i]
        found = find_entry(entry, home, first, second, cache.text, cache.start, COUNT_BITS, data, at, length)
        if not entry[found + SECOND_KEY]:
            fresh = _merge(data, at, length, first, second, merges, scratch, out, used)
            if length <= LONGEST_KEPT:
                _remember(cache, home, found, data, at, length, first, second, out, used, fresh)
            used += fresh
            continue
        known, count = entry[found + 2], entry[found + 3] & IN_COUNT
        if count <= PACKED_TOKENS and length <= SHORT_BYTES:
            # All three are written, and what is too much is overwritten by what follows: no branch.
            out[used] = known & _31_BITS
            out[used + 1] = known >> 31
            out[used + 2] = entry[found + 3] >> COUNT_BITS
        else:
            for j in range(count):
                out[used + j] = cache.tokens[known + j]
        used += count
    cache.used[IDS] = used
    return n


def _remember(
    cache: Cache, home: int, empty: int, data: Array, at: int, n: int, first: int, second: int, out: Array, out_at: int,
    count: int,
) -> None:  # fmt: skip
    """Put a pre-token and its tokens, out[out_at:out_at + count], into an empty entry."""
    entry, used = cache.entry, cache.used
    place = empty
    is_full = (
        4 * ENTRY * (used[ENTRIES] + 1) > 3 * len(entry)
        or used[TOKENS_USED] + count > len(cache.tokens)
        or used[TEXT_USED] + n > len(cache.text)
        or used[LONG_USED] >= len(cache.start)
    )
    if is_full:
        for i in range(len(entry)):
            entry[i] = 0
        used[ENTRIES] = used[TOKENS_USED] = used[TEXT_USED] = used[LONG_USED] = 0
        used[FORGOTTEN] += 1
        place = home
    used[ENTRIES] += 1
    entry[place], entry[place + 1] = first, second
    if count <= PACKED_TOKENS and n <= SHORT_BYTES:
        entry[place + 2] = out[out_at] | (out[out_at + 1] if count > 1 else 0) << 31
        entry[place + 3] = count | (out[out_at + 2] if count > 2 else 0) << COUNT_BITS
        return
    entry[place + 2] = used[TOKENS_USED]
    entry[place + 3] = count
    for i in range(count):
        cache.tokens[used[TOKENS_USED] + i] = out[out_at + i]
    used[TOKENS_USED] += count
    if n > SHORT_BYTES:
        entry[place + 3] |= used[LONG_USED] << COUNT_BITS
        cache.start[used[LONG_USED]] = used[TEXT_USED]
        used[LONG_USED] += 1
        for i in range(n):
            cache.text[used[TEXT_USED] + i] = data[at + i]
        used[TEXT_USED] += n


def _merge(
    text: Array, at: int, n: int, first: int, second: int, merges: Merges, scratch: Scratch, out: Array, out_at: int
) -> int:
    """Write the ids of a pre-token that is not remembered; returns how many."""
    if len(merges.whole) > 0:
        symbol = _find_whole(merges, text, at, n, first, second)
        if symbol != NO_TOKEN:
            out[out_at] = merges.ids[symbol]
            return 1
    for i in range(n):
        scratch.symbol[i] = merges.symbol_of_byte[text[at + i]]
    if n <= SCANNED:
        count = _merge_by_scanning(n, merges, scratch)
        for i in range(count):
            out[out_at + i] = merges.ids[scratch.symbol[i]]
        return count
    symbols, right_of = scratch.symbol[:n], scratch.right_of[:n]
    rank, left_of, heap = scratch.rank[:n], scratch.left_of[:n], scratch.heap[: 3 * n]
    turns, made = scratch.nothing, scratch.nothing
    remove_boundaries(symbols, -1, merges.makes, turns, merges.table, rank, made, right_of, left_of, heap)
    count = 0
    i = 0
    while i < n:
        out[out_at + count] = merges.ids[symbols[i]]
        count += 1
        i = right_of[i]
    return count


def _merge_by_scanning(n: int, merges: Merges, scratch: Scratch) -> int:
    """Merge the first n of scratch.symbol, the lowest rank first, again and again; returns how many are left.

    Rank and place stand in one number, so that the lowest of all, leftmost first, is found without a branch.
    Plain reference: boundaries.split_symbols.
    """
    symbol, order, right_of, left_of = scratch.symbol, scratch.rank, scratch.right_of, scratch.left_of
    for i in range(n):
        right_of[i] = i + 1
        left_of[i] = i - 1
        order[i] = NO_ORDER
        if i + 1 < n:
            rank = merges.pair_of_bases[symbol[i] << 8 | symbol[i + 1]]
            if rank != NO_RANK:
                order[i] = rank << PLACE_BITS | i
    while True:
        lowest = NO_ORDER
        for i in range(n):
            lowest = min(lowest, order[i])
        if lowest == NO_ORDER:
            break
        at = lowest & IN_PLACE
        gone = right_of[at]
        after, before = right_of[gone], left_of[at]
        symbol[at] = merges.makes[lowest >> PLACE_BITS]
        right_of[at] = after
        order[at] = order[gone] = NO_ORDER
        if after < n:
            left_of[after] = at
            order[at] = _order_of(merges, symbol[at], symbol[after], at)
        if before >= 0:
            order[before] = _order_of(merges, symbol[before], symbol[at], before)
    count = 0
    at = 0
    while at < n:
        symbol[count] = symbol[at]
        count += 1
        at = right_of[at]
    return count


def _order_of(merges: Merges, left: int, right: int, place: int) -> int:
    bit = _bit_of(merges.may_merge, left, right)
    if not merges.may_merge[bit >> 3] >> (bit & 7) & 1:
        return NO_ORDER
    rank = find_pair(merges.table, left, right)
    return NO_ORDER if rank < 0 else rank << PLACE_BITS | place


def _bit_of(may_merge: Array, left: int, right: int) -> int:
    return (left * 0x9E3779B1 + right * 0x85EBCA77) >> 9 & (len(may_merge) * 8 - 1)


def fill_may_merge(may_merge: Array, left: Array, right: Array) -> None:
    """Set the bits of pairs: see Merges. left, right: (pairs,) int32."""
    for i in range(len(left)):
        bit = _bit_of(may_merge, left[i], right[i])
        may_merge[bit >> 3] |= 1 << (bit & 7)


def _find_whole(merges: Merges, text: Array, at: int, n: int, first: int, second: int) -> int:
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


def find_cuts(merges: Merges, n_symbols: int, left: Array, right: Array, rank: Array) -> int:
    """Find every way to cut each symbol into two symbols that come before it; what is made has rank symbol - N_BASE.

    merges: with content, and with whole, into which the n_symbols are entered
    left, right: (at least as many as there are ways,) int32; rank: (as many,) int64
    Plain reference: JoinedRanks.entries.
    """
    content, begins = merges.content, merges.content_start
    found = 0
    for made in range(N_BASE, n_symbols):
        start, end = begins[made], begins[made + 1]
        for cut in range(start + 1, end):
            first, second = key_of(content, start, cut - start)
            a = _find_whole(merges, content, start, cut - start, first, second)
            if a == NO_TOKEN:
                continue
            first, second = key_of(content, cut, end - cut)
            b = _find_whole(merges, content, cut, end - cut, first, second)
            if b == NO_TOKEN:
                continue
            left[found] = a
            right[found] = b
            rank[found] = made - N_BASE
            found += 1
    return found
