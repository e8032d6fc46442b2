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

from bpe_viz.engine.kernels_automaton import Scanner
from bpe_viz.engine.kernels_batches import ENTRY, SECOND_KEY, Batch, find_entry, scan_batch, take_batch
from bpe_viz.engine.kernels_boundaries import remove_boundaries
from bpe_viz.engine.kernels_keys import LONG_KEY, SHORT_BYTES, key_of
from bpe_viz.engine.kernels_merging import (
    CELLS,
    LANE,
    LANES,
    NO_TOKEN,
    Lanes,
    Merges,
    fill_lane,
    find_whole,
    merge_lanes,
)

# A NumPy array (compiled) or a memoryview of one (plain): both are indexed and assigned alike.
Array = Any

LONGEST_KEPT = LANE
COUNT_BITS = 16
IN_COUNT = (1 << COUNT_BITS) - 1
PACKED_TOKENS = 3
MANY = 1 << COUNT_BITS - 1
NOWHERE = -1

_31_BITS = (1 << 31) - 1

# Rows of Cache.used.
ENTRIES, TOKENS_USED, TEXT_USED, LONG_USED, FORGOTTEN, IDS, WANTED = range(7)
N_USED = 7


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


class Room(NamedTuple):
    """What encoding at one position works with and in."""

    scanner: Scanner
    merges: Merges
    cache: Cache
    lanes: Lanes
    scratch: Scratch
    batch: Batch


def encode_text(room: Room, rule: int, data: Array, start: int, end: int, out: Array) -> int:
    """Encode the text in data[start:end] by a scanner's pre-tokens.

    rule: see kernels_scanning; room.scanner: of automaton.scanner_for(rule)
    out: (end - start + PACKED_TOKENS,) int32, gets the ids
    Returns where the next pre-token starts: before `end` only if scratch needs room for cache.used[WANTED] bytes.
    cache.used[IDS] tells how many ids were written.
    """
    scanner, merges, cache, batch = room.scanner, room.merges, room.cache, room.batch
    lanes, scratch = room.lanes, room.scratch
    cache.used[IDS] = 0
    at = start
    while at < end:
        n = scan_batch(rule, scanner, batch, data, at, end, end, cache.entry)
        if n == 0:
            return end
        if _encode_batch(batch, n, data, merges, cache, lanes, scratch, out) < n:
            return batch.start[0]  # type: ignore[no-any-return]  # an int64
        at = batch.end[n - 1]
    return at


def encode_spans(room: Room, data: Array, starts: Array, ends: Array, out: Array) -> int:
    """Encode pre-tokens one after the other. Returns how many ids there are.

    starts, ends: (pretokens,) int64, where each lies in data; none is empty, and scratch has room for the longest
    out: (bytes of all pre-tokens + PACKED_TOKENS,) int32, gets the ids
    """
    merges, cache, batch = room.merges, room.cache, room.batch
    lanes, scratch = room.lanes, room.scratch
    cache.used[IDS] = 0
    done = 0
    while done < len(starts):
        n = take_batch(batch, data, starts, ends, done, cache.entry)
        _encode_batch(batch, n, data, merges, cache, lanes, scratch, out)
        done += n
    return cache.used[IDS]  # type: ignore[no-any-return]  # an int64


def _encode_batch(
    batch: Batch, n: int, data: Array, merges: Merges, cache: Cache, lanes: Lanes, scratch: Scratch, out: Array
) -> int:
    """Write the ids of a batch behind those that are there. Returns n, or 0 if scratch needs more room first."""
    longest = 0
    for i in range(n):
        longest = max(longest, batch.end[i] - batch.start[i])
    if longest > len(scratch.symbol):
        cache.used[WANTED] = longest
        return 0
    _make_room(cache, n)
    _find_all(batch, n, data, merges, cache, lanes)
    entry = cache.entry
    used = cache.used[IDS]
    for i in range(n):
        found = batch.seen[i]
        if found < 0:
            used += _merge_long(data, batch.start[i], batch.end[i] - batch.start[i], merges, scratch, out, used)
            continue
        known, state = entry[found + 2], entry[found + 3]
        count = state & IN_COUNT
        if count <= PACKED_TOKENS:
            # All three are written, and what is too much is overwritten by what follows: no branch.
            out[used] = known & _31_BITS
            out[used + 1] = known >> 31
            out[used + 2] = state >> COUNT_BITS
            used += count
            continue
        count -= MANY
        for j in range(count):
            out[used + j] = cache.tokens[known + j]
        used += count
    cache.used[IDS] = used
    return n


def _make_room(cache: Cache, n: int) -> None:
    """Forget all if n more pre-tokens might not find room."""
    used = cache.used
    is_full = (
        4 * ENTRY * (used[ENTRIES] + n) > 3 * len(cache.entry)
        or used[TOKENS_USED] + n * LONGEST_KEPT > len(cache.tokens)
        or used[TEXT_USED] + n * LONGEST_KEPT > len(cache.text)
        or used[LONG_USED] + n > len(cache.start)
    )
    if is_full:
        for i in range(len(cache.entry)):
            cache.entry[i] = 0
        used[ENTRIES] = used[TOKENS_USED] = used[TEXT_USED] = used[LONG_USED] = 0
        used[FORGOTTEN] += 1


def _find_all(batch: Batch, n: int, data: Array, merges: Merges, cache: Cache, lanes: Lanes) -> None:
    """Write where the entry of each pre-token is to batch.seen, NOWHERE for one too long; what is new is merged."""
    entry = cache.entry
    waiting = 0
    for i in range(n):
        first, second, at = batch.first_key[i], batch.second_key[i], batch.start[i]
        length = batch.end[i] - at
        found = find_entry(entry, batch.home[i], first, second, cache.text, cache.start, COUNT_BITS, data, at, length)
        batch.seen[i] = found
        if entry[found + SECOND_KEY]:
            continue
        if length > LONGEST_KEPT:
            batch.seen[i] = NOWHERE
            continue
        _enter(cache, found, first, second, data, at, length)
        if len(merges.whole) > 0:
            symbol = find_whole(merges, data, at, length, first, second)
            if symbol != NO_TOKEN:
                entry[found + 2] = merges.ids[symbol]
                entry[found + 3] |= 1
                continue
        fill_lane(lanes, waiting, data, at, length, merges)
        lanes.entry[waiting] = found
        waiting += 1
        if waiting == LANES:
            _merge_waiting(waiting, merges, cache, lanes)
            waiting = 0
    if waiting:
        _merge_waiting(waiting, merges, cache, lanes)


def _enter(cache: Cache, empty: int, first: int, second: int, data: Array, at: int, n: int) -> None:
    """Put a pre-token into an empty entry, its tokens not yet known."""
    entry, used = cache.entry, cache.used
    used[ENTRIES] += 1
    entry[empty], entry[empty + 1] = first, second
    if n > SHORT_BYTES:
        entry[empty + 3] = used[LONG_USED] << COUNT_BITS
        cache.start[used[LONG_USED]] = used[TEXT_USED]
        used[LONG_USED] += 1
        for i in range(n):
            cache.text[used[TEXT_USED] + i] = data[at + i]
        used[TEXT_USED] += n


def _merge_waiting(n: int, merges: Merges, cache: Cache, lanes: Lanes) -> None:
    """Merge what is in the first n lanes, and put the tokens into its entries."""
    merge_lanes(n, merges, lanes)
    entry, used = cache.entry, cache.used
    for lane in range(n):
        place, count, at = lanes.entry[lane], lanes.length[lane], lane * CELLS
        is_long = entry[place + SECOND_KEY] >> 56 == LONG_KEY
        if count <= PACKED_TOKENS and not is_long:
            second = merges.ids[lanes.symbol[at + 1]] if count > 1 else 0
            third = merges.ids[lanes.symbol[at + 2]] if count > 2 else 0
            entry[place + 2] = merges.ids[lanes.symbol[at]] | second << 31
            entry[place + 3] = count | third << COUNT_BITS
            continue
        entry[place + 2] = used[TOKENS_USED]
        entry[place + 3] |= count + MANY
        for i in range(count):
            cache.tokens[used[TOKENS_USED] + i] = merges.ids[lanes.symbol[at + i]]
        used[TOKENS_USED] += count


def _merge_long(data: Array, at: int, n: int, merges: Merges, scratch: Scratch, out: Array, out_at: int) -> int:
    """Write the ids of a pre-token that is too long to be remembered; returns how many."""
    if len(merges.whole) > 0:
        first, second = key_of(data, at, n)
        symbol = find_whole(merges, data, at, n, first, second)
        if symbol != NO_TOKEN:
            out[out_at] = merges.ids[symbol]
            return 1
    for i in range(n):
        scratch.symbol[i] = merges.symbol_of_byte[data[at + i]]
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
