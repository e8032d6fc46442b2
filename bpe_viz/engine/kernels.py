"""The hot loops of training and seeking, and nothing else.

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

from typing import Any, NamedTuple

# A NumPy array (compiled) or a memoryview of one (plain): both are indexed and assigned alike.
Array = Any

EMPTY = -1
NO_SLOT = -1

# Rows of State.size: how much of each growing array is in use, and whether changes are recorded (1 or 0).
PAIRS, PLACES, CHANGES, CHANGED_ROWS, MERGES, SYMBOLS, TEXT, TOKENS, LIVE_PAIRS, FLOOR, WARMTH, RECORDS = range(12)
N_SIZES = 12

# Rows of Order.rule.
TIE_RULE, MAX_TOKEN_LENGTH = range(2)

# What TIE_RULE may be: see tie_rules.py.
TEXTBOOK, SMALLEST_IDS, FIRST_SEEN, GREATEST, SHORTEST_PIECE, UTF16 = range(6)

# What train() answers.
REACHED, NO_PAIR, BELOW_MIN_COUNT, NEEDS_ROOM, BUDGET_SPENT = range(5)

# Up to this count, how many pairs have it is kept incrementally; above it ties are few and are counted in the tree.
SMALL_COUNT = 65_536

_REPLAYED = 32  # if one slot in so many plays, each is entered by itself


class Order(NamedTuple):
    """What decides which of two pairs is merged first.

    count:  (slots,) int64
    left, right: (slots,) int32, symbol ids
    length: (symbols,) int32, in cells
    text:   (bytes,) uint8, the text of all symbols end to end, an end-of-word marker included
    text_start: (symbols + 1,) int64
    prefix: (symbols,) int64, the first bytes of the text as a number (63 bits of them), so that most comparisons look
            at nothing else
    first_place: (slots,) int32, the first place where the pair stands now; with the rule FIRST_SEEN alone, else empty
    rule:   (2,) int64, TIE_RULE and MAX_TOKEN_LENGTH
    """

    count: Array
    left: Array
    right: Array
    length: Array
    text: Array
    text_start: Array
    prefix: Array
    first_place: Array
    rule: Array


class State(NamedTuple):
    """All that a training is, at the frontier. Sizes in use stand in `size`; arrays may be longer.

    cell:        (3 * cells,) int32, see above
    weight:      (rows,) int64, what one occurrence of a pre-token adds to a count
    occurrences: (rows,) int64, how often the pre-token stands in the corpus (the same array when weighting by count)
    place_start: (slots + 1,) int64 and place: (places,) int32, the places of each slot
    tree:        (capacity,) int32, a tournament: tree[1] is the slot that wins, tree[n] the winner of 2n and 2n + 1.
                 It is kept for pairs that count size[FLOOR] or more, since most pairs never come near the top; when
                 none is left up there the floor is lowered and the tournament played anew.
    with_count:  (SMALL_COUNT,) int64, how many mergeable pairs have each small count
    change_slot, change: (changes,) int32 and int64, the recorded changes of all merges, end to end; empty, like
                 changed_row, unless size[RECORDS]
    changed_row: (changed rows,) int32, the pre-tokens that each merge changed, ascending within a merge
    merged_slot ... changed_rows_end: (merges,) what is recorded of each merge; the *_after and *_end arrays hold the
                 state after it
    ends_word:   (symbols,) uint8, 1 where the symbol carries the end-of-word marker
    left_stamp, left_slot: (symbols,) the slot of (symbol, new symbol) and the merge that it was set in
    right_stamp, right_slot: the same for (new symbol, symbol)
    first_at:    (slots,) int64, where in `place` the first place that is not stale may stand; with FIRST_SEEN alone
    touched_stamp: (slots,) int32, the last merge that touched the slot
    touched, before: (n,) int32 and int64, the slots that this merge touches, and their counts before it
    fresh_slot, fresh_place: (n,) int32, the places that this merge makes. These four are scratch of one merge.
    """

    order: Order
    size: Array
    cell: Array
    weight: Array
    occurrences: Array
    place_start: Array
    place: Array
    tree: Array
    with_count: Array
    change_slot: Array
    change: Array
    changed_row: Array
    merged_slot: Array
    merged_count: Array
    replacements: Array
    ties: Array
    tokens_after: Array
    live_pairs_after: Array
    pairs_after: Array
    changes_end: Array
    changed_rows_end: Array
    ends_word: Array
    left_stamp: Array
    left_slot: Array
    right_stamp: Array
    right_slot: Array
    touched_stamp: Array
    first_at: Array
    before: Array
    touched: Array
    fresh_slot: Array
    fresh_place: Array


def compare_text(order: Order, a: int, b: int) -> int:
    """Compare two symbols by their bytes, which is also their order by code point: -1, 0 or 1."""
    if order.prefix[a] != order.prefix[b]:
        return -1 if order.prefix[a] < order.prefix[b] else 1
    i, i_end = order.text_start[a], order.text_start[a + 1]
    j, j_end = order.text_start[b], order.text_start[b + 1]
    while i < i_end and j < j_end:
        if order.text[i] != order.text[j]:
            return -1 if order.text[i] < order.text[j] else 1
        i += 1
        j += 1
    if i < i_end:
        return 1
    return -1 if j < j_end else 0


def compare_joined(order: Order, a: int, b: int, parted: bool) -> int:
    """Compare the texts of two pairs, left and right joined: -1, 0 or 1.

    parted: with a NUL between them, and by UTF-16 units instead of bytes
    """
    sides = (order.left[a], order.right[a], order.left[b], order.right[b])
    i, j = order.text_start[sides[0]], order.text_start[sides[2]]
    i_side, j_side = 0, 2
    while True:
        byte_a = byte_b = -1
        while byte_a < 0 and i_side < 2:
            if i < order.text_start[sides[i_side] + 1]:
                byte_a = order.text[i]
                i += 1
            else:
                i_side += 1
                if i_side == 1:
                    i = order.text_start[sides[1]]
                    if parted:
                        byte_a = 0
        while byte_b < 0 and j_side < 4:
            if j < order.text_start[sides[j_side] + 1]:
                byte_b = order.text[j]
                j += 1
            else:
                j_side += 1
                if j_side == 3:
                    j = order.text_start[sides[3]]
                    if parted:
                        byte_b = 0
        if byte_a == byte_b:
            if byte_a < 0:
                return 0
            continue
        # In UTF-16 what lies beyond U+FFFF (lead bytes from F0 on) sorts before U+E000 to U+FFFF (EE and EF).
        if parted and min(byte_a, byte_b) >= 0xEE and (byte_a >= 0xF0) != (byte_b >= 0xF0):
            return -1 if byte_a >= 0xF0 else 1
        return -1 if byte_a < byte_b else 1


def count_characters(order: Order, symbol: int) -> int:
    """Count the code points of a symbol's text."""
    characters = 0
    for i in range(order.text_start[symbol], order.text_start[symbol + 1]):
        if order.text[i] & 0xC0 != 0x80:
            characters += 1
    return characters


def mergeable(order: Order, slot: int) -> bool:
    """Tell whether the pair's token would be short enough."""
    limit = order.rule[MAX_TOKEN_LENGTH]
    return limit <= 0 or order.length[order.left[slot]] + order.length[order.right[slot]] <= limit  # type: ignore[no-any-return]  # a comparison


def wins_tie(order: Order, a: int, b: int) -> bool:
    """Tell whether slot a goes before slot b when their counts are equal.

    Pairs of equal text (a marker and the same letters typed) go by id, so that every rule is a total order.
    """
    rule = order.rule[TIE_RULE]
    left_a, left_b = order.left[a], order.left[b]
    right_a, right_b = order.right[a], order.right[b]
    if rule == FIRST_SEEN:
        return order.first_place[a] < order.first_place[b]  # type: ignore[no-any-return]  # a comparison
    if rule == SHORTEST_PIECE:
        longer = count_characters(order, left_a) + count_characters(order, right_a)
        longer -= count_characters(order, left_b) + count_characters(order, right_b)
        if longer != 0:
            return longer < 0
    if rule == SHORTEST_PIECE or rule == UTF16:  # noqa: SIM109  # a tuple would be slow when compiled
        sign = compare_joined(order, a, b, rule == UTF16)
        if sign != 0:
            return sign < 0
    elif rule != SMALLEST_IDS:
        sign = compare_text(order, left_a, left_b) if left_a != left_b else 0
        if sign == 0 and right_a != right_b:
            sign = compare_text(order, right_a, right_b)
        if sign != 0:
            return (sign < 0) == (rule == TEXTBOOK)  # type: ignore[no-any-return]  # a comparison
    return left_a < left_b or (left_a == left_b and right_a < right_b)  # type: ignore[no-any-return]  # a comparison


def better(order: Order, a: int, b: int) -> int:
    """Return which of two slots is merged first; NO_SLOT loses, and so does a pair that may not be merged."""
    if a == NO_SLOT:
        return b
    if b == NO_SLOT:
        return a
    if order.rule[MAX_TOKEN_LENGTH] > 0:
        may_a, may_b = mergeable(order, a), mergeable(order, b)
        if may_a != may_b:
            return a if may_a else b
    if order.count[a] != order.count[b]:
        return a if order.count[a] > order.count[b] else b
    if order.count[a] == 0:  # neither exists here; comparing their texts would only cost time
        return a
    return a if wins_tie(order, a, b) else b


def build_tree(order: Order, tree: Array, slots: int, floor: int) -> None:
    """Play the whole tournament among the slots that count floor or more.

    tree: (capacity,) int32, capacity a power of two, at least slots and at least 2
    """
    capacity = len(tree)
    if capacity > _REPLAYED * count_above(order.count, slots, floor):
        for node in range(capacity):
            tree[node] = NO_SLOT
        for slot in range(slots):
            if order.count[slot] >= floor:
                replay_slot(order, tree, slots, slot)
        return
    for node in range(capacity - 1, 0, -1):
        a, b = 2 * node, 2 * node + 1
        if a >= capacity:
            a -= capacity
            b -= capacity
            winner_a = a if a < slots and order.count[a] >= floor else NO_SLOT
            winner_b = b if b < slots and order.count[b] >= floor else NO_SLOT
        else:
            winner_a, winner_b = tree[a], tree[b]
        tree[node] = better(order, winner_a, winner_b)


def count_above(count: Array, slots: int, floor: int) -> int:
    """Count the slots that count floor or more."""
    above = 0
    for slot in range(slots):
        above += count[slot] >= floor
    return above


def floor_for(count: Array, slots: int, wanted: int, start: int) -> int:
    """Return a power of two that at least `wanted` pairs count or exceed, 1 if there are not so many.

    start: a power of two that may be near it
    """
    floor = start
    while floor > 1 and count_above(count, slots, floor) < wanted:
        floor >>= 1
    while floor < 1 << 61 and count_above(count, slots, 2 * floor) >= wanted:
        floor <<= 1
    return floor


def replay_slot(order: Order, tree: Array, slots: int, slot: int) -> None:
    """Play again the matches of one slot whose count has changed.

    When several slots have changed, set all counts first and then replay each of them in any order: a match between
    two others that ends as before is not played further, for the winner, if it changed, replays its own.
    """
    capacity = len(tree)
    node = (capacity + slot) // 2
    sibling = slot ^ 1
    winner = better(order, slot, sibling if sibling < slots else NO_SLOT)
    while True:
        if tree[node] == winner and winner != slot:
            return
        tree[node] = winner
        if node == 1:
            return
        winner = better(order, winner, tree[node ^ 1])
        node //= 2


def best_slots(order: Order, tree: Array, slots: int, wanted: int, found: Array, heap: Array) -> int:
    """Write the best mergeable slots with a positive count into found, best first; return how many.

    found: (wanted,) int32; heap: (wanted * (log2(capacity) + 1) + 1,) int64, scratch.
    A node of the tree stands for its winner; taking a winner sets free the losers on its way down.
    """
    capacity = len(tree)
    used = 0
    if slots > 0 and wanted > 0:
        heap[0] = 1
        used = 1
    taken = 0
    while used > 0 and taken < wanted:
        node = heap[0]
        used = _remove_first(order, tree, heap, used)
        slot = node_winner(tree, slots, node)
        if slot == NO_SLOT or order.count[slot] <= 0 or not mergeable(order, slot):
            break
        found[taken] = slot
        taken += 1
        while node < capacity:
            a, b = 2 * node, 2 * node + 1
            node, loser = (a, b) if node_winner(tree, slots, a) == slot else (b, a)
            if node_winner(tree, slots, loser) != NO_SLOT:
                used = _insert(order, tree, slots, heap, used, loser)
    return taken


def node_winner(tree: Array, slots: int, node: int) -> int:
    """Return the slot that wins at a node; nodes from the capacity on are the slots themselves."""
    capacity = len(tree)
    if node < capacity:
        return tree[node]  # type: ignore[no-any-return]  # an int32
    return node - capacity if node - capacity < slots else NO_SLOT


def _insert(order: Order, tree: Array, slots: int, heap: Array, used: int, node: int) -> int:
    i = used
    heap[i] = node
    slot = node_winner(tree, slots, node)
    while i > 0:
        parent = (i - 1) // 2
        other = node_winner(tree, slots, heap[parent])
        if better(order, slot, other) != slot:
            break
        heap[i], heap[parent] = heap[parent], heap[i]
        i = parent
    return used + 1


def _remove_first(order: Order, tree: Array, heap: Array, used: int) -> int:
    slots = len(tree)  # every node in the heap has a winner, so the exact bound is not needed
    used -= 1
    heap[0] = heap[used]
    i = 0
    while True:
        child = 2 * i + 1
        if child >= used:
            return used
        slot = node_winner(tree, slots, heap[child])
        if child + 1 < used:
            other = node_winner(tree, slots, heap[child + 1])
            if better(order, slot, other) != slot:
                child += 1
                slot = other
        mine = node_winner(tree, slots, heap[i])
        if better(order, mine, slot) == mine:
            return used
        heap[i], heap[child] = heap[child], heap[i]
        i = child


def count_ties(order: Order, tree: Array, slots: int, count: int) -> int:
    """Count the mergeable pairs with this count, of which none may have a higher one but those that won already.

    A walk over the nodes whose winner has at least this count: as many steps as there are such pairs, x log2.
    """
    capacity = len(tree)
    ties = 0
    node = 1
    while node > 0:
        winner = node_winner(tree, slots, node)
        if winner != NO_SLOT and order.count[winner] >= count and mergeable(order, winner):
            if node < capacity:
                node = 2 * node
                continue
            if order.count[winner] == count:
                ties += 1
        while node > 1 and node % 2 == 1:
            node //= 2
        node = node + 1 if node > 1 else 0
    return ties


def apply_changes(count: Array, change_slot: Array, change: Array, start: int, end: int, sign: int) -> None:
    """Add (sign 1) or subtract (sign -1) the recorded changes start to end."""
    for i in range(start, end):
        count[change_slot[i]] += sign * change[i]


def replay_changes(
    order: Order,
    tree: Array,
    slots: int,
    floor: int,
    change_slot: Array,
    change: Array,
    start: int,
    end: int,
    sign: int,
) -> None:
    """Play again the matches of the slots that apply_changes moved from, to, or within the counts above the floor."""
    for i in range(start, end):
        slot = change_slot[i]
        now = order.count[slot]
        if now >= floor or now - sign * change[i] >= floor:
            replay_slot(order, tree, slots, slot)


def lay_out_cells(symbols: Array, lengths: Array, first_row: int, cell: Array, where: int) -> int:
    """Write some pre-tokens into cells, with an empty cell behind each. Returns the cell where the next begin.

    symbols: (n,) int32, end to end; lengths: (rows,) int64, of rows first_row and so on
    where: the first cell to write; before the first pre-token of all stands an empty cell, see empty_cell
    """
    i = 0
    for row in range(len(lengths)):
        for _ in range(lengths[row]):
            cell[3 * where] = symbols[i]
            cell[3 * where + 1] = NO_SLOT
            cell[3 * where + 2] = first_row + row
            where += 1
            i += 1
        empty_cell(cell, where)
        where += 1
    return where


def empty_cell(cell: Array, where: int) -> None:
    """Part two pre-tokens."""
    cell[3 * where] = EMPTY
    cell[3 * where + 1] = NO_SLOT
    cell[3 * where + 2] = -1


def number_pairs(cell: Array, n_base: int, number: Array, left: Array, right: Array, places: Array) -> int:
    """Number the distinct pairs by first appearance, write each into its cell, and count their places.

    number: (n_base * n_base,) int32 filled with NO_SLOT, gets the slot of each pair of base symbols
    left, right: (at least as many as there are pairs,) int32; places: (as many,) int64 zeros, gets how often each
                 pair stands
    Returns how many distinct pairs there are.
    """
    n_pairs = 0
    for here in range(1, len(cell) // 3 - 1):
        a, b = cell[3 * here], cell[3 * here + 3]
        if a == EMPTY or b == EMPTY:
            continue
        slot = number[a * n_base + b]
        if slot == NO_SLOT:
            slot = n_pairs
            number[a * n_base + b] = slot
            left[slot] = a
            right[slot] = b
            n_pairs += 1
        cell[3 * here + 1] = slot
        places[slot] += 1
    return n_pairs


def fill_places(cell: Array, weight: Array, place_start: Array, place: Array, count: Array) -> None:
    """List the first places of each slot, ascending, and add up the counts.

    place_start: (slots + 1,) int64, where each slot's places begin; used up as a cursor and restored
    count: (slots,) int64 zeros
    """
    for here in range(len(cell) // 3):
        slot = cell[3 * here + 1]
        if slot != NO_SLOT:
            place[place_start[slot]] = here
            place_start[slot] += 1
            count[slot] += weight[cell[3 * here + 2]]
    for slot in range(len(place_start) - 1, 0, -1):
        place_start[slot] = place_start[slot - 1]
    place_start[0] = 0


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


def text_prefix(order: Order, symbol: int, end: int) -> int:
    """Return the first eight bytes of a symbol's text as a number, zeros behind a shorter one; end: of its text."""
    start = order.text_start[symbol]
    high, low = 0, 0
    for i in range(4):
        high = high << 8 | (order.text[start + i] if start + i < end else 0)
        low = low << 8 | (order.text[start + 4 + i] if start + 4 + i < end else 0)
    # In two halves of an int64 each, since a uint64 that meets an int64 becomes a float in compiled code.
    return high << 31 | low >> 1


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
            old = cell[3 * (here - order.length[neighbour]) + 1]
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
    _sort_fresh_places(state, first_new, n_fresh)
    state.merged_slot[stamp] = slot
    state.merged_count[stamp] = state.before[0]
    state.replacements[stamp] = replaced
    state.ties[stamp] = ties
    size[TOKENS] -= tokens_gone
    _record(state, n_touched)
    return end - start  # type: ignore[no-any-return]  # an int64


def _sort_fresh_places(state: State, first_new: int, n_fresh: int) -> None:
    """Lay the new pairs' places end to end, by slot; they were found ascending, so they stay ascending.

    A run such as "aaaa" leaves (made, a) with a place that is stale at once and a count of 0: it is kept, since
    nothing ever reads it.
    """
    size, place_start = state.size, state.place_start
    begin = size[PLACES]
    for slot in range(first_new, size[PAIRS]):
        place_start[slot + 1] = 0
    for i in range(n_fresh):
        place_start[state.fresh_slot[i] + 1] += 1
    total = begin
    for slot in range(first_new, size[PAIRS]):
        places = place_start[slot + 1]
        place_start[slot] = total
        total += places
    place_start[size[PAIRS]] = total
    # Each start is used as the cursor of its own slot, and put back by one slot's shift.
    for i in range(n_fresh):
        slot = state.fresh_slot[i]
        state.place[place_start[slot]] = state.fresh_place[i]
        place_start[slot] += 1
    for slot in range(size[PAIRS] - 1, first_new, -1):
        place_start[slot] = place_start[slot - 1]
    place_start[first_new] = begin
    size[PLACES] = total
    if state.order.rule[TIE_RULE] == FIRST_SEEN:
        for slot in range(first_new, size[PAIRS]):
            state.first_at[slot] = place_start[slot]


def drop_places(state: State, look_at_all: bool) -> None:
    """Take stale places out, so that there is room for new ones.

    look_at_all: every place is looked at, which means waiting for memory; else only the lists of pairs that are gone
                 are taken out, the long ones of what was merged among them
    """
    order, size, place, place_start = state.order, state.size, state.place, state.place_start
    kept = 0
    start = 0
    for slot in range(size[PAIRS]):
        end = place_start[slot + 1]
        place_start[slot] = kept
        if order.count[slot] > 0:
            for i in range(start, end):
                if not look_at_all or state.cell[3 * place[i] + 1] == slot:
                    place[kept] = place[i]
                    kept += 1
        if order.rule[TIE_RULE] == FIRST_SEEN:
            state.first_at[slot] = place_start[slot]
        start = end
    place_start[size[PAIRS]] = kept
    size[PLACES] = kept


def find_first_place(state: State, slot: int) -> None:
    """Move a slot's first place on to where the pair stands now; places are ascending, so it only moves on."""
    i, end = state.first_at[slot], state.place_start[slot + 1]
    while i < end and state.cell[3 * state.place[i] + 1] != slot:
        i += 1
    state.first_at[slot] = i
    if i < end:
        state.order.first_place[slot] = state.place[i]


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
