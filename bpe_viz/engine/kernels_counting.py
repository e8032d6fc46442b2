"""A hash table of pre-tokens: how often each occurs, and where each was first seen.

Every function is plain Python over flat arrays and is run in two ways, as it stands and compiled: see kernels.py.
Nearly all of counting is waiting for memory, so what a pre-token met before needs lies together: its key, by which it
is told from all others unless it is long, and its count.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from bpe_viz.engine.kernels_automaton import Scanner
from bpe_viz.engine.kernels_batches import ENTRY, FIRST_KEY, SECOND_KEY, Batch, find_entry, home_of, scan_batch

# A NumPy array (compiled) or a memoryview of one (plain): both are indexed and assigned alike.
Array = Any

# Rows of Table.size: how much is in use, and how many bytes of text the pre-token needs that found no room.
PRETOKENS, TEXT, WANTED_TEXT = range(3)

# What an entry holds besides its key: the count, and the number of the pre-token, in the order they were entered.
COUNT, NUMBER = 2, 3


class Table(NamedTuple):
    """Pre-tokens with their counts; arrays may be longer than what is in use.

    size:  (3,) int64, PRETOKENS, TEXT and WANTED_TEXT
    entry: (ENTRY * entries,) int64, a table as in kernels_batches.py, longer than there is room for pre-tokens
    start: (pre-tokens + 1,) int64, where each starts in text
    first: (pre-tokens,) int64, the position where each was first seen
    text:  (bytes,) uint8, the pre-tokens end to end
    """

    size: Array
    entry: Array
    start: Array
    first: Array
    text: Array


def enter(
    table: Table, at: int, first_key: int, second_key: int, count: int, position: int, data: Array, start: int, n: int
) -> bool:
    """Put a pre-token of n bytes into an empty entry; tells whether there was room for it."""
    size, text = table.size, table.text
    number, used = size[PRETOKENS], size[TEXT]
    if number >= len(table.first) or used + n > len(text):
        size[WANTED_TEXT] = n
        return False
    table.entry[at + FIRST_KEY] = first_key
    table.entry[at + SECOND_KEY] = second_key
    table.entry[at + COUNT] = count
    table.entry[at + NUMBER] = number
    table.first[number] = position
    for i in range(n):
        text[used + i] = data[start + i]
    table.start[number + 1] = used + n
    size[PRETOKENS] = number + 1
    size[TEXT] = used + n
    return True


def count_pretokens(
    rule: int,
    scanner: Scanner,
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
    entry = table.entry
    at = start
    while at < until:
        n = scan_batch(rule, scanner, batch, data, at, until, end, entry)
        if n == 0:
            return end
        for i in range(n):
            first_key, second_key = batch.first_key[i], batch.second_key[i]
            begin = batch.start[i]
            length = batch.end[i] - begin
            found = find_entry(
                entry, batch.home[i], first_key, second_key, table.text, table.start, 0, data, begin, length
            )
            if entry[found + SECOND_KEY]:
                entry[found + COUNT] += 1
            elif not enter(table, found, first_key, second_key, 1, position + begin, data, begin, length):
                return begin  # type: ignore[no-any-return]  # an int64
        at = batch.end[n - 1]
    return at


def merge_tables(table: Table, other: Table, start: int) -> int:
    """Add the counts of another table, from its entry at `start` on; first seen first.

    Both are gone through nearly in step, as entries lie in the order of their keys.
    Returns where to go on when the table has room for what comes next; the length of other.entry when all is added.
    """
    mask = len(table.entry) - 1
    for at in range(start, len(other.entry), ENTRY):
        first_key, second_key = other.entry[at + FIRST_KEY], other.entry[at + SECOND_KEY]
        if not second_key:
            continue
        number, count = other.entry[at + NUMBER], other.entry[at + COUNT]
        begin = other.start[number]
        n = other.start[number + 1] - begin
        home = home_of(first_key, second_key, mask)
        found = find_entry(table.entry, home, first_key, second_key, table.text, table.start, 0, other.text, begin, n)
        if table.entry[found + SECOND_KEY]:
            table.entry[found + COUNT] += count
            known = table.entry[found + NUMBER]
            table.first[known] = min(table.first[known], other.first[number])
        elif not enter(table, found, first_key, second_key, count, other.first[number], other.text, begin, n):
            return at
    return len(other.entry)


def move_entries(old: Array, entry: Array) -> None:
    """Put all entries into a longer array of empty ones."""
    mask = len(entry) - 1
    for at in range(0, len(old), ENTRY):
        if not old[at + SECOND_KEY]:
            continue
        home = home_of(old[at + FIRST_KEY], old[at + SECOND_KEY], mask)
        while entry[home + SECOND_KEY]:
            home = (home + ENTRY) & mask
        for i in range(ENTRY):
            entry[home + i] = old[at + i]


def counts_by_number(table: Table, count: Array) -> None:
    """Write the count of each pre-token, in the order of entry. count: (pre-tokens,) int64."""
    for at in range(0, len(table.entry), ENTRY):
        if table.entry[at + SECOND_KEY]:
            count[table.entry[at + NUMBER]] = table.entry[at + COUNT]


def write_in_order(table: Table, order: Array, text: Array) -> None:
    """Write the pre-tokens' text end to end in this order of their numbers."""
    written = 0
    for i in range(len(order)):
        for j in range(table.start[order[i]], table.start[order[i] + 1]):
            text[written] = table.text[j]
            written += 1
