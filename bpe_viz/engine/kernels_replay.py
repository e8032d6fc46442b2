"""The hot loops of replaying a merge list on a corpus, and nothing else.

Plain Python over flat arrays, run as it stands or compiled: see kernels.py, whose words are used here. What differs
from training: which entry comes next is given, an entry may merge several pairs, and what it makes may be there
already. So a pair's places do not come into being all at once; each waits in the queue of the entry that takes it.
"""

from __future__ import annotations

from typing import NamedTuple

from bpe_viz.engine.kernels_order import NO_SLOT, Array, Order
from bpe_viz.engine.kernels_pairs import EMPTY, find_pair
from bpe_viz.engine.kernels_tournament import replay_slot

# Rows of ReplayState.size: how much of each growing array is in use, and the totals now.
PAIRS, OFFERS, CHANGES, CHANGED_ROWS, ENTRIES, TOKENS, LIVE_PAIRS = range(7)
N_SIZES = 7

# What replay() answers.
DONE, NEEDS_ROOM, BUDGET_SPENT = range(3)

SWALLOWED = -2
"""The symbol of a cell that belongs to the token before it; what a base lacks and what parts pre-tokens is GAP."""

NEVER = 2**31 - 1
"""The rank of a boundary that still stands."""


class ReplayState(NamedTuple):
    """All that a replay is. Sizes in use stand in `size`; arrays may be longer.

    order:     counts, left and right of every slot, as in kernels.Order
    symbol, right_of, left_of, slot, row: (cells,) int32: the symbol of the token that begins here, the cells of its
               neighbours, the slot of the pair that starts here, and its pre-token
    fallen:    (cells,) int32, the rank with which the boundary before a cell fell
    weight:    (rows,) int64, how often each pre-token occurs
    passed:    (rows,) uint8, 1 where a pair arose whose entry had been already
    makes:     (ranks,) int32, the symbol that each entry makes
    rank_table: which entry takes a pair: see kernels_boundaries.fill_pair_table
    slot_table: (2 * size,) int64, [key, slot] of every pair, EMPTY elsewhere; size a power of two
    rank_of:   (slots,) int32, the entry that takes a pair, -1 if none does
    head, waiting: (ranks,) int32, the newest offer to each entry, and how many there are
    offer_place, offer_next: (offers,) int32
    entry_count: (ranks,) int64, how often the pairs of each entry are counted now
    tree:      a tournament of all pairs, as in kernels.State
    change_slot ... changed_rows_end: as in kernels.State, a merge being an entry
    leading, leading_count: (ranks,) the pair that was counted most before each entry, and its count
    stamp:     (slots,) int32, the last entry that touched a slot
    touched, before: (n,) the slots that this entry touches, and their counts before it; scratch, as is place
    """

    order: Order
    size: Array
    symbol: Array
    right_of: Array
    left_of: Array
    slot: Array
    row: Array
    fallen: Array
    weight: Array
    passed: Array
    makes: Array
    rank_table: Array
    slot_table: Array
    rank_of: Array
    head: Array
    waiting: Array
    offer_place: Array
    offer_next: Array
    entry_count: Array
    tree: Array
    change_slot: Array
    change: Array
    changed_row: Array
    merged_count: Array
    replacements: Array
    tokens_after: Array
    live_pairs_after: Array
    pairs_after: Array
    changes_end: Array
    changed_rows_end: Array
    leading: Array
    leading_count: Array
    stamp: Array
    touched: Array
    before: Array
    place: Array


def count_pairs(state: ReplayState, first: int, end: int) -> int:
    """Number and count the pairs that start in some cells, and offer them; return the cell to go on from.

    It stops where there is no room for another pair or offer.
    """
    for cell in range(first, end):
        if state.size[PAIRS] >= _most_pairs(state) or state.size[OFFERS] >= len(state.offer_place):
            return cell
        following = state.right_of[cell]
        if state.symbol[cell] < 0 or state.symbol[following] < 0:
            continue
        slot = find_slot(state, state.symbol[cell], state.symbol[following])
        weight = state.weight[state.row[cell]]
        state.slot[cell] = slot
        if state.order.count[slot] == 0:
            state.size[LIVE_PAIRS] += 1
        state.order.count[slot] += weight
        if state.rank_of[slot] >= 0:
            state.entry_count[state.rank_of[slot]] += weight
            offer(state, cell, state.rank_of[slot])
    return end


def _most_pairs(state: ReplayState) -> int:
    """Return how many pairs there is room for: half of the table stays empty, so that a look-up is short."""
    return min(len(state.order.count), len(state.slot_table) // 4)


def find_slot(state: ReplayState, left: int, right: int) -> int:
    """Return the slot of a pair, a new one for a new pair; there is room for it."""
    table = state.slot_table
    mask = len(table) // 2 - 1
    key = left << 32 | right
    place = _hash(key) & mask
    while table[2 * place] != EMPTY:
        if table[2 * place] == key:
            return table[2 * place + 1]  # type: ignore[no-any-return]  # an int64
        place = (place + 1) & mask
    slot = state.size[PAIRS]
    state.size[PAIRS] = slot + 1
    table[2 * place] = key
    table[2 * place + 1] = slot
    state.order.left[slot] = left
    state.order.right[slot] = right
    state.order.count[slot] = 0
    state.rank_of[slot] = find_pair(state.rank_table, left, right)
    state.stamp[slot] = -1
    return slot  # type: ignore[no-any-return]  # an int64


def fill_slot_table(table: Array, left: Array, right: Array, slots: int) -> None:
    """Enter the pairs into an empty table that is larger than the one before."""
    mask = len(table) // 2 - 1
    for slot in range(slots):
        key = left[slot] << 32 | right[slot]
        place = _hash(key) & mask
        while table[2 * place] != EMPTY:
            place = (place + 1) & mask
        table[2 * place] = key
        table[2 * place + 1] = slot


def _hash(key: int) -> int:
    # As in kernels_boundaries: the sum stays below 2**63.
    return ((key >> 32) * 0x9E3779B1 + (key & 0xFFFFFFFF) * 0x85EBCA77) >> 7


def offer(state: ReplayState, cell: int, rank: int) -> None:
    """Let a place wait for the entry that takes its pair; there is room for it."""
    number = state.size[OFFERS]
    state.size[OFFERS] = number + 1
    state.offer_place[number] = cell
    state.offer_next[number] = state.head[rank]
    state.head[rank] = number
    state.waiting[rank] += 1


def replay(state: ReplayState, until: int, budget: int) -> int:
    """Make the entries up to one, or until about `budget` steps were taken, or more room is needed for the next."""
    while state.size[ENTRIES] < until:
        if budget <= 0:
            return BUDGET_SPENT
        rank = state.size[ENTRIES]
        waiting = state.waiting[rank]
        if not has_room(state, waiting):
            return NEEDS_ROOM
        budget -= 1 + 16 * waiting
        make_entry(state, rank, waiting)
    return DONE


def has_room(state: ReplayState, waiting: int) -> bool:
    """Tell whether there is room for what an entry with so many places may fill."""
    size = state.size
    return (
        size[PAIRS] + 2 * waiting <= min(_most_pairs(state), len(state.tree))
        and size[OFFERS] + 2 * waiting <= len(state.offer_place)
        and size[CHANGES] + 5 * waiting <= len(state.change)
        and size[CHANGED_ROWS] + waiting <= len(state.changed_row)
        and 5 * waiting <= len(state.touched)
        and waiting <= len(state.place)
    )


def make_entry(state: ReplayState, rank: int, waiting: int) -> None:
    """Merge the pairs of one entry wherever they stand, from left to right, and record what that changes."""
    size, count = state.size, state.order.count
    leading = state.tree[1]
    state.leading[rank] = leading
    state.leading_count[rank] = count[leading] if leading != NO_SLOT else 0
    state.merged_count[rank] = state.entry_count[rank]
    number = state.head[rank]
    for i in range(waiting):
        state.place[i] = state.offer_place[number]
        number = state.offer_next[number]
    sort_places(state.place, waiting)
    touched = 0
    replaced = 0
    last_row = -1
    for i in range(waiting):
        cell = state.place[i]
        slot = state.slot[cell]
        # A place is stale when another entry took one of its two symbols.
        if state.symbol[cell] < 0 or slot == NO_SLOT or state.rank_of[slot] != rank:
            continue
        touched = merge_at(state, rank, cell, touched)
        row = state.row[cell]
        replaced += state.weight[row]
        if row != last_row:
            state.changed_row[size[CHANGED_ROWS]] = row
            size[CHANGED_ROWS] += 1
            last_row = row
    record_changes(state, touched)
    size[TOKENS] -= replaced
    state.replacements[rank] = replaced
    state.tokens_after[rank] = size[TOKENS]
    state.live_pairs_after[rank] = size[LIVE_PAIRS]
    state.pairs_after[rank] = size[PAIRS]
    state.changes_end[rank] = size[CHANGES]
    state.changed_rows_end[rank] = size[CHANGED_ROWS]
    size[ENTRIES] = rank + 1


def merge_at(state: ReplayState, rank: int, cell: int, touched: int) -> int:
    """Merge the pair that starts in a cell; return how many slots the entry has touched so far."""
    symbol, made = state.symbol, state.makes[rank]
    weight = state.weight[state.row[cell]]
    end = state.right_of[cell]
    before, after = state.left_of[cell], state.right_of[end]
    touched = change(state, state.slot[cell], -weight, rank, touched)
    if symbol[before] >= 0:
        touched = change(state, state.slot[before], -weight, rank, touched)
    if symbol[after] >= 0:
        touched = change(state, state.slot[end], -weight, rank, touched)
    symbol[cell] = made
    symbol[end] = SWALLOWED
    state.slot[cell] = NO_SLOT
    state.slot[end] = NO_SLOT
    state.right_of[cell] = after
    state.left_of[after] = cell
    state.fallen[end] = rank
    if symbol[before] >= 0:
        touched = new_neighbours(state, before, symbol[before], made, rank, touched)
    if symbol[after] >= 0:
        touched = new_neighbours(state, cell, made, symbol[after], rank, touched)
    return touched


def new_neighbours(state: ReplayState, cell: int, left: int, right: int, rank: int, touched: int) -> int:
    """Count a pair that has come into being in a cell, and offer it to its entry if that is still to come."""
    slot = find_slot(state, left, right)
    state.slot[cell] = slot
    row = state.row[cell]
    taken_by = state.rank_of[slot]
    if taken_by > rank:
        offer(state, cell, taken_by)
    elif taken_by >= 0:
        state.passed[row] = 1
    return change(state, slot, state.weight[row], rank, touched)


def change(state: ReplayState, slot: int, by: int, rank: int, touched: int) -> int:
    """Change a pair's count; return how many slots the entry has touched so far."""
    count = state.order.count
    if state.stamp[slot] != rank:
        state.stamp[slot] = rank
        state.touched[touched] = slot
        state.before[touched] = count[slot]
        touched += 1
    count[slot] += by
    if state.rank_of[slot] >= 0:
        state.entry_count[state.rank_of[slot]] += by
    return touched


def record_changes(state: ReplayState, touched: int) -> None:
    """Record how much each touched count has changed, and play its matches again."""
    size, count = state.size, state.order.count
    first = size[CHANGES]
    for i in range(touched):
        slot, before = state.touched[i], state.before[i]
        if count[slot] == before:
            continue
        if before == 0:
            size[LIVE_PAIRS] += 1
        elif count[slot] == 0:
            size[LIVE_PAIRS] -= 1
        state.change_slot[size[CHANGES]] = slot
        state.change[size[CHANGES]] = count[slot] - before
        size[CHANGES] += 1
    for i in range(first, size[CHANGES]):
        replay_slot(state.order, state.tree, size[PAIRS], state.change_slot[i])


def sort_places(place: Array, n: int) -> None:
    """Sort the first n places, ascending. Most come in descending order, the newest offer being the first."""
    for i in range(n // 2):
        place[i], place[n - 1 - i] = place[n - 1 - i], place[i]
    is_sorted = True
    for i in range(1, n):
        if place[i - 1] > place[i]:
            is_sorted = False
            break
    if is_sorted:
        return
    for root in range(n // 2 - 1, -1, -1):
        _sink(place, root, n)
    for end in range(n - 1, 0, -1):
        place[0], place[end] = place[end], place[0]
        _sink(place, 0, end)


def _sink(place: Array, root: int, n: int) -> None:
    while True:
        child = 2 * root + 1
        if child >= n:
            return
        if child + 1 < n and place[child + 1] > place[child]:
            child += 1
        if place[root] >= place[child]:
            return
        place[root], place[child] = place[child], place[root]
        root = child
