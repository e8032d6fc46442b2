"""Pre-tokens are looked up by the batch: scanned and given their keys before any of them is looked for.

A look into a large table waits for memory. In a batch all these waits are begun one after the other, with no branch
between them, and so they pass together. Run in two ways: see kernels.py.

A table is an array of entries, ENTRY int64 side by side: the two numbers of the key (the second is 0 in an empty entry)
and two of what is known of the pre-token. There is a power of two of them, and always an empty one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from bpe_viz.engine.kernels_automaton import Scanner, scan_starts
from bpe_viz.engine.kernels_keys import SHORT_BYTES, key_of, mixed, same_bytes
from bpe_viz.engine.kernels_scanning import SPACE, WORDS, pretoken_end, run_end

# A NumPy array (compiled) or a memoryview of one (plain): both are indexed and assigned alike.
Array = Any


FIRST_KEY, SECOND_KEY = range(2)
ENTRY = 4


class Batch(NamedTuple):
    """Pre-tokens that are looked up together; all arrays are equally long and int64.

    start, end: where each lies in its text
    first_key, second_key: its key
    home: where in a table it is looked for first
    seen: scratch, what was read ahead of its turn
    """

    start: Array
    end: Array
    first_key: Array
    second_key: Array
    home: Array
    seen: Array


def scan_batch(
    rule: int, scanner: Scanner, batch: Batch, data: Array, start: int, until: int, end: int, entry: Array
) -> int:
    """Fill a batch with the pre-tokens that start from `start` on and before `until`, as far as there is room.

    data: the text is data[start:end]
    entry: the table they will be looked for in
    Returns how many there are; 0 only where no pre-token is left in the text.
    """
    if len(scanner.steps) > 0:
        n = scan_starts(scanner, data, start, until, end, batch.start)
        for i in range(n):
            batch.end[i] = batch.start[i + 1]
    else:
        n = _scan_one_by_one(rule, scanner.classes, batch, data, start, until, end)
    _find_homes(batch, n, data, entry)
    return n


def _scan_one_by_one(rule: int, classes: Array, batch: Batch, data: Array, start: int, until: int, end: int) -> int:
    at = start
    n = 0
    while n < len(batch.start) and at < until:
        if rule & WORDS:
            at = run_end(classes, data, at, end, SPACE)
            if at >= end:
                break
        batch.start[n] = at
        at = pretoken_end(rule, classes, data, at, end)
        batch.end[n] = at
        n += 1
    return n


def take_batch(batch: Batch, data: Array, starts: Array, ends: Array, done: int, entry: Array) -> int:
    """Fill a batch with pre-tokens that lie at starts[done:] to ends[done:]; otherwise as scan_batch.

    starts, ends: (n,) int64; none is empty
    """
    n = min(len(batch.start), len(starts) - done)
    for i in range(n):
        batch.start[i] = starts[done + i]
        batch.end[i] = ends[done + i]
    _find_homes(batch, n, data, entry)
    return n


def _find_homes(batch: Batch, n: int, data: Array, entry: Array) -> None:
    """Give n pre-tokens their keys, and read ahead where they are looked for."""
    mask = len(entry) - 1
    for i in range(n):
        start = batch.start[i]
        first, second = key_of(data, start, batch.end[i] - start)
        batch.first_key[i] = first
        batch.second_key[i] = second
        batch.home[i] = home_of(first, second, mask)
    for i in range(n):
        batch.seen[i] = entry[batch.home[i]]


def home_of(first: int, second: int, mask: int) -> int:
    """Return where the entry of a key is looked for first; mask: the length of the table less one."""
    return mixed(first, second) * ENTRY & mask


def find_entry(
    entry: Array,
    home: int,
    first: int,
    second: int,
    text: Array,
    start: Array,
    shift: int,
    data: Array,
    at: int,
    n: int,
) -> int:
    """Return where the entry of the n bytes at data[at] begins, or the empty one where it belongs.

    text, start: the bytes of a long pre-token begin at text[start[its number]]
    shift: its number is in the last word of its entry, from this bit on
    """
    mask = len(entry) - 1
    place = home
    while entry[place + SECOND_KEY]:
        has_key = entry[place + FIRST_KEY] == first and entry[place + SECOND_KEY] == second
        if has_key and (n <= SHORT_BYTES or same_bytes(text, start[entry[place + 3] >> shift], data, at, n)):
            return place
        place = (place + ENTRY) & mask
    return place
