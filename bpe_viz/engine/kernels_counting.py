"""A hash table of pre-tokens: how often each occurs, in the order they were first seen.

Every function is plain Python over flat arrays and is run in two ways, as it stands and compiled: see kernels.py.
All integers stay below 2**62, where Python's and a machine's agree; products are cut to their low bits, which agree
whatever overflowed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from bpe_viz.engine.kernels_scanning import SPACE, WORDS, pretoken_end, run_end

# A NumPy array (compiled) or a memoryview of one (plain): both are indexed and assigned alike.
Array = Any

# Rows of Table.size: how much is in use, and how many bytes of text the pre-token needs that found no room.
PRETOKENS, TEXT, WANTED_TEXT = range(3)

WHOLE = 7  # up to so many bytes a key is the pre-token itself, its length above
LENGTH_SHIFT = 56
HASHED = 1 << 61  # marks the key of a longer one
LOW_BITS = HASHED - 1
# Odd, and without a pattern in its bits: the golden ratio's.
MULTIPLIER = 0x1E3779B97F4A7C15
SLOT_SHIFT = 24  # the high bits of a product are the mixed ones


class Table(NamedTuple):
    """Pre-tokens with their counts; arrays may be longer than what is in use.

    size:  (3,) int64, PRETOKENS, TEXT and WANTED_TEXT
    slot:  (2 * slots,) int64, [key or 0, number of the pre-token] side by side, so that one memory access brings
           both; slots is a power of two, more than the pre-tokens there is room for
    key:   (pre-tokens,) int64; start: (pre-tokens + 1,) int64, where each starts in text
    count: (pre-tokens,) int64; first: (pre-tokens,) int64, the position where each was first seen
    text:  (bytes,) uint8, the pre-tokens end to end
    """

    size: Array
    slot: Array
    key: Array
    start: Array
    count: Array
    first: Array
    text: Array


class Batch(NamedTuple):
    """Pre-tokens that are looked up together; all arrays are equally long and int64.

    start, end: where each lies in its text; key: its key; count: how often it occurs; position: where it was first
    seen; seen: scratch, what was read ahead of its turn
    """

    start: Array
    end: Array
    key: Array
    count: Array
    position: Array
    seen: Array


def home_of(key: int) -> int:
    """Return a key's slot, if there were any number of slots."""
    return ((key * MULTIPLIER) & LOW_BITS) >> SLOT_SHIFT


def key_of(data: Array, start: int, end: int) -> int:
    """Return the key of a pre-token, which is not 0; different pre-tokens of up to WHOLE bytes have different keys."""
    length = end - start
    if length <= WHOLE:
        key = length << LENGTH_SHIFT
        for i in range(length):
            key |= data[start + i] << 8 * i
        return key
    key = length
    at = start
    while at < end:
        # The last seven bytes may overlap those before: every byte counts, whatever the length.
        at = min(at, end - WHOLE)
        chunk = 0
        for i in range(WHOLE):
            chunk |= data[at + i] << 8 * i
        key = ((key ^ chunk) * MULTIPLIER) & LOW_BITS
        key ^= key >> 31
        at += WHOLE
    return key | HASHED


def same_bytes(a: Array, at: int, b: Array, start: int, end: int) -> bool:
    """Tell whether the bytes of `a` from `at` on are b[start:end]."""
    for i in range(start, end):
        if a[at] != b[i]:
            return False
        at += 1
    return True


def add_batch(table: Table, batch: Batch, n: int, data: Array) -> int:
    """Add to the counts of the first n pre-tokens of a batch, which lie in `data`.

    Returns how many were added; fewer than n if the table needs room for the next.
    """
    # A function for each step would be easier to read; passing it the table took longer than the steps.
    slot, text, starts = table.slot, table.text, table.start
    mask = len(slot) // 2 - 1
    # Nearly every look into a large table waits for memory; these waits, which no branch parts, pass together.
    for i in range(n):
        batch.seen[i] = slot[2 * (home_of(batch.key[i]) & mask) + 1]
    for i in range(n):
        batch.seen[i] = table.count[batch.seen[i]] + starts[batch.seen[i]]
    for i in range(n):
        key, start, end = batch.key[i], batch.start[i], batch.end[i]
        at = home_of(key) & mask
        number = -1
        while slot[2 * at]:
            if slot[2 * at] == key:
                number = slot[2 * at + 1]
                known_at = starts[number]
                if key < HASHED:
                    break
                if starts[number + 1] - known_at == end - start and same_bytes(text, known_at, data, start, end):
                    break
                number = -1
            at = (at + 1) & mask
        if number >= 0:
            table.count[number] += batch.count[i]
            continue
        number = table.size[PRETOKENS]
        used = table.size[TEXT]
        if number >= len(table.key) or used + end - start > len(text):
            table.size[WANTED_TEXT] = end - start
            return i
        slot[2 * at] = key
        slot[2 * at + 1] = number
        table.key[number] = key
        table.count[number] = batch.count[i]
        table.first[number] = batch.position[i]
        for j in range(start, end):
            text[used + j - start] = data[j]
        starts[number + 1] = used + end - start
        table.size[PRETOKENS] = number + 1
        table.size[TEXT] = used + end - start
    return n


def count_pretokens(
    rule: int,
    classes: Array,
    table: Table,
    batch: Batch,
    data: Array,
    start: int,
    until: int,
    end: int,
    position: int,
) -> int:
    """Count the pre-tokens of the text in data[start:end] that start before `until`.

    position: of data[0] in all that is counted
    Returns where the next pre-token starts: before `until` only if the table needs room for it.
    """
    at = start
    while at < until:
        n = 0
        while n < len(batch.key) and at < until:
            if rule & WORDS:
                at = run_end(classes, data, at, end, SPACE)
                if at >= end:
                    break
            after = pretoken_end(rule, classes, data, at, end)
            batch.start[n] = at
            batch.end[n] = after
            batch.key[n] = key_of(data, at, after)
            batch.count[n] = 1
            batch.position[n] = position + at
            at = after
            n += 1
        added = add_batch(table, batch, n, data)
        if added < n:
            return batch.start[added]  # type: ignore[no-any-return]  # an integer
    return at


def fill_slots(table: Table) -> None:
    """Put all pre-tokens into their slots, which are empty."""
    mask = len(table.slot) // 2 - 1
    for number in range(table.size[PRETOKENS]):
        key = table.key[number]
        at = home_of(key) & mask
        while table.slot[2 * at]:
            at = (at + 1) & mask
        table.slot[2 * at] = key
        table.slot[2 * at + 1] = number
