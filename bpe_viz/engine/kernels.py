"""The hot loops of training, and nothing else; beside them kernels_*.py, a subject each.

Every function here is plain Python over flat arrays, and is run in two ways: as it stands, on memoryviews, for
small corpora and before anything is compiled; and compiled by Numba, on the same NumPy arrays, for large ones
(compiled.py makes that twin from this very file). So there is one text of each loop, and the tests run both.

The words used below
    cell    one base symbol's place. Pre-tokens lie end to end, with an empty cell before, between and after them.
            Three int32 side by side, so that one memory access brings them all:
            [symbol, slot of the pair that starts here or -1, row of the pre-token].
    token   keeps the place of its first cell for ever. Its symbol is written in its first and in its last cell: the
            left neighbour is found from the cell before a token, the right one by adding the token's length.
    slot    a pair's number, in order of first appearance.
    place   where a pair occurs: the first cell of its left symbol. A place is stale when its cell no longer names
            the slot: the token was swallowed, or its neighbour changed.
All occurrences of a pair come into being in one merge, the one that makes the younger of its two symbols; so a list
of places is complete when it is made, ascending, and never grows.
"""

from __future__ import annotations

from bpe_viz.engine.kernels_cells import EMPTY
from bpe_viz.engine.kernels_order import FIRST_SEEN, NO_SLOT, TIE_RULE, Array, mergeable, text_prefix
from bpe_viz.engine.kernels_places import find_first_place, sort_fresh_places
from bpe_viz.engine.kernels_state import (
    CHANGED_ROWS,
    CHANGES,
    FLOOR,
    LIVE_PAIRS,
    MERGES,
    PAIRS,
    PLACES,
    RECORDS,
    SMALL_COUNT,
    SYMBOLS,
    TEXT,
    TOKENS,
    WARMTH,
    State,
)
from bpe_viz.engine.kernels_tournament import build_tree, count_ties, replay_slot

# What train() answers.
REACHED, NO_PAIR, BELOW_MIN_COUNT, NEEDS_ROOM, BUDGET_SPENT = range(5)


def _touch(state: State, slot: int, stamp: int, n_touched: int) -> int:
    if state.touched_stamp[slot] == stamp:
        return n_touched
    state.touched_stamp[slot] = stamp
    state.before[n_touched] = state.order.count[slot]
    state.touched[n_touched] = slot
    return n_touched + 1


def _new_slot(state: State, left: int, right: int) -> int:
    slot = state.size[PAIRS]
    state.order.left[slot] = left
    state.order.right[slot] = right
    state.order.count[slot] = 0
    state.touched_stamp[slot] = -1
    state.size[PAIRS] = slot + 1
    return slot  # type: ignore[no-any-return]  # an int64


def _new_symbol(state: State, left: int, right: int) -> int:
    order = state.order
    symbol = state.size[SYMBOLS]
    end = state.size[TEXT]
    for part in (left, right):
        for i in range(order.text_start[part], order.text_start[part + 1]):
            order.text[end] = order.text[i]
            end += 1
    order.text_start[symbol + 1] = end
    order.length[symbol] = order.length[left] + order.length[right]
    order.prefix[symbol] = text_prefix(order, symbol, end)
    state.ends_word[symbol] = state.ends_word[right]
    state.left_stamp[symbol] = -1
    state.right_stamp[symbol] = -1
    state.size[TEXT] = end
    state.size[SYMBOLS] = symbol + 1
    return symbol  # type: ignore[no-any-return]  # an int64


def most_touched(occurrences: int) -> int:
    """Return how many slots a merge may touch at most: its own, and at each place two old and two new ones."""
    return 4 * occurrences + 1


def has_room(state: State, slot: int) -> bool:
    """Tell whether every growing array has room for this merge, whatever it turns out to make."""
    occurrences = state.place_start[slot + 1] - state.place_start[slot]
    order, size = state.order, state.size
    joined = (
        order.text_start[order.left[slot] + 1]
        - order.text_start[order.left[slot]]
        + order.text_start[order.right[slot] + 1]
        - order.text_start[order.right[slot]]
    )
    new_pairs = 2 * min(occurrences, size[SYMBOLS] + 1)
    return (
        size[PAIRS] + new_pairs <= min(len(order.left), len(state.tree))
        and size[PLACES] + 2 * occurrences <= len(state.place)
        and most_touched(occurrences) <= len(state.touched)
        and size[RECORDS] * (size[CHANGES] + new_pairs + 2 * occurrences + 1) <= len(state.change)
        and size[RECORDS] * (size[CHANGED_ROWS] + occurrences) <= len(state.changed_row)
        and size[MERGES] < len(state.merged_slot)
        and size[SYMBOLS] < len(order.length)
        and size[TEXT] + joined <= len(order.text)
    )


def warm_up(state: State, start: int, end: int, length_left: int) -> int:
    """Read what the merges at these places will need, all in one go.

    The merges themselves wait for memory one after the other; here the processor fetches many lines side by side,
    which takes an eighth off a training. What is returned is of no use, but must be used, lest it be left out.
    """
    order, cell = state.order, state.cell
    warmth = 0
    for i in range(start, end):
        warmth += cell[3 * state.place[i] + 1]
    for i in range(start, end):
        here = state.place[i]
        neighbour = cell[3 * (here - 1)]
        if neighbour != EMPTY:
            # At a stale place this may be the beginning of a token, not the end of one: nothing lies so far before it.
            old = cell[3 * max(here - order.length[neighbour], 0) + 1]
            if old != NO_SLOT:
                warmth += order.count[old] + state.touched_stamp[old]
        old = cell[3 * (here + length_left) + 1]
        if old != NO_SLOT:
            warmth += order.count[old] + state.touched_stamp[old]
    return warmth


def _move(state: State, was: int, place: int, new: int, weight: int, n_touched: int, n_fresh: int) -> int:
    """Count the pair that a merge makes at a place instead of the pair that began at `was`.

    n_touched, n_fresh: how many slots are touched and places found so far; returns the first anew
    """
    stamp, old = state.size[MERGES], state.cell[3 * was + 1]
    n_touched = _touch(state, old, stamp, n_touched)
    state.order.count[old] -= weight
    n_touched = _touch(state, new, stamp, n_touched)
    state.order.count[new] += weight
    state.cell[3 * place + 1] = new
    state.fresh_slot[n_fresh] = new
    state.fresh_place[n_fresh] = place
    return n_touched


def merge_slot(state: State, slot: int) -> int:
    """Merge a pair everywhere, from left to right without overlap, and record it. Returns the occurrences looked at.

    The caller has made sure that has_room(state, slot).
    """
    order, size, cell = state.order, state.size, state.cell
    stamp, records = size[MERGES], size[RECORDS]
    left, right = order.left[slot], order.right[slot]
    ties = ties_at(state, slot)
    first_new = size[PAIRS]
    made = _new_symbol(state, left, right)
    length_left, length_right = order.length[left], order.length[right]
    start, end = state.place_start[slot], state.place_start[slot + 1]
    replaced = 0
    tokens_gone = 0
    n_fresh = 0
    last_row = -1
    n_touched = _touch(state, slot, stamp, 0)
    warm = 0
    for i in range(start, end):
        if (i - start) % 32 == 0:
            warm += warm_up(state, i, min(end, i + 32), length_left)
        here = state.place[i]
        if cell[3 * here + 1] != slot:
            continue
        row = cell[3 * here + 2]
        weight = state.weight[row]
        right_part = here + length_left
        after = right_part + length_right
        if records and row != last_row:
            state.changed_row[size[CHANGED_ROWS]] = row
            size[CHANGED_ROWS] += 1
            last_row = row

        neighbour = cell[3 * (here - 1)]
        if neighbour != EMPTY:
            before = here - order.length[neighbour]
            if state.left_stamp[neighbour] != stamp:
                state.left_stamp[neighbour] = stamp
                state.left_slot[neighbour] = _new_slot(state, neighbour, made)
            n_touched = _move(state, before, before, state.left_slot[neighbour], weight, n_touched, n_fresh)
            n_fresh += 1
        neighbour = cell[3 * after]
        if neighbour != EMPTY:
            if state.right_stamp[neighbour] != stamp:
                state.right_stamp[neighbour] = stamp
                state.right_slot[neighbour] = _new_slot(state, made, neighbour)
            n_touched = _move(state, right_part, here, state.right_slot[neighbour], weight, n_touched, n_fresh)
            n_fresh += 1
        else:
            cell[3 * here + 1] = NO_SLOT

        cell[3 * right_part + 1] = NO_SLOT
        cell[3 * here] = made
        cell[3 * (after - 1)] = made
        order.count[slot] -= weight
        replaced += weight
        tokens_gone += state.occurrences[row]

    size[WARMTH] = warm
    sort_fresh_places(state, first_new, n_fresh)
    state.merged_slot[stamp] = slot
    state.merged_count[stamp] = state.before[0]
    state.replacements[stamp] = replaced
    state.ties[stamp] = ties
    size[TOKENS] -= tokens_gone
    _record(state, n_touched)
    return end - start  # type: ignore[no-any-return]  # an int64


def _record(state: State, n_touched: int) -> None:
    """Write down the changes of one merge, and bring the tie counts and the tree up to date with them."""
    order, size = state.order, state.size
    rank = size[MERGES]
    for i in range(n_touched):
        slot = state.touched[i]
        old, new = state.before[i], order.count[slot]
        if old == new:
            continue
        if size[RECORDS]:
            state.change_slot[size[CHANGES]] = slot
            state.change[size[CHANGES]] = new - old
            size[CHANGES] += 1
        if old == 0:
            size[LIVE_PAIRS] += 1
        if new == 0:
            size[LIVE_PAIRS] -= 1
        if mergeable(order, slot):
            if 0 < old < SMALL_COUNT:
                state.with_count[old] -= 1
            if 0 < new < SMALL_COUNT:
                state.with_count[new] += 1
    slots = size[PAIRS]
    floor = size[FLOOR]
    for i in range(n_touched):
        slot = state.touched[i]
        if state.before[i] >= floor or order.count[slot] >= floor:
            if order.rule[TIE_RULE] == FIRST_SEEN:
                find_first_place(state, slot)
            replay_slot(order, state.tree, slots, slot)
    state.tokens_after[rank] = size[TOKENS]
    state.live_pairs_after[rank] = size[LIVE_PAIRS]
    state.pairs_after[rank] = slots
    state.changes_end[rank] = size[CHANGES]
    state.changed_rows_end[rank] = size[CHANGED_ROWS]
    size[MERGES] = rank + 1


def ties_at(state: State, slot: int) -> int:
    """Count the mergeable pairs that have the count of this slot, itself included."""
    count = state.order.count[slot]
    if count < SMALL_COUNT:
        return state.with_count[count]  # type: ignore[no-any-return]  # an int64
    if count < state.size[FLOOR]:  # chosen against the rule: the tree knows nothing of its equals
        ties = 0
        for other in range(state.size[PAIRS]):
            if state.order.count[other] == count and mergeable(state.order, other):
                ties += 1
        return ties
    return count_ties(state.order, state.tree, state.size[PAIRS], count)


def leading_slot(state: State) -> int:
    """Return the slot that is merged next, NO_SLOT if none can be; lowers the floor as far as it takes."""
    order, size = state.order, state.size
    slot = state.tree[1]
    if size[FLOOR] > 1 and (slot == NO_SLOT or order.count[slot] < size[FLOOR] or not mergeable(order, slot)):
        highest = 1
        for other in range(size[PAIRS]):
            if order.count[other] > highest and mergeable(order, other):
                highest = order.count[other]
        # Counts fall like 1 / rank, so half as high there are only twice as many.
        size[FLOOR] = max(1, highest // 2)
        play_anew(state)
        slot = state.tree[1]
    if slot == NO_SLOT or order.count[slot] <= 0 or not mergeable(order, slot):
        return NO_SLOT
    return slot  # type: ignore[no-any-return]  # an int32


def play_anew(state: State) -> None:
    """Play the whole tournament above the floor."""
    order, size = state.order, state.size
    if order.rule[TIE_RULE] == FIRST_SEEN:
        for slot in range(size[PAIRS]):
            if order.count[slot] >= size[FLOOR]:
                find_first_place(state, slot)
    build_tree(order, state.tree, size[PAIRS], size[FLOOR])


def repeat(state: State, slots: Array, budget: int) -> int:
    """Make the merges of these slots, whatever would win, from the one that comes next on; return why it ended.

    slots: (merges,) int32, of a training on the same pre-tokens, whose slots are numbered alike as far as its merges
    are the same
    """
    size = state.size
    spent = 0
    while size[MERGES] < len(slots):
        if spent >= budget:
            return BUDGET_SPENT
        slot = slots[size[MERGES]]
        if not has_room(state, slot):
            return NEEDS_ROOM
        spent += merge_slot(state, slot) + 8
    return REACHED


def train(state: State, target: int, min_count: int, budget: int) -> int:
    """Merge the best pair again and again; return why it ended.

    target: how many merges there shall be in all
    budget: about how many occurrences to look at before BUDGET_SPENT, so that a caller can show progress and stop
    """
    size = state.size
    spent = 0
    while size[MERGES] < target:
        if spent >= budget:
            return BUDGET_SPENT
        slot = leading_slot(state)
        if slot == NO_SLOT:
            return NO_PAIR
        if state.order.count[slot] < min_count:
            return BELOW_MIN_COUNT
        if not has_room(state, slot):
            return NEEDS_ROOM
        # A merge costs something even when its pair is rare.
        spent += merge_slot(state, slot) + 8
    return REACHED
