"""The tournament of pairs: who wins, who comes next, and how many tie.

A binary tree over the slots: tree[1] is the slot that wins, tree[n] the winner of 2n and 2n + 1, and the leaves are the
slots themselves, from the capacity on. Most pairs never come near the top, so it is played among those above a floor.

Plain Python over flat arrays, like kernels.py, and run in the same two ways.
"""

from __future__ import annotations

from bpe_viz.engine.kernels_order import NO_SLOT, Array, Order, better, mergeable

_REPLAYED = 32  # if one slot in so many plays, each is entered by itself


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
