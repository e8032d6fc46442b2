"""The lists of places where pairs occur; kernels.py says what a place is, and when it is stale.

Plain Python over flat arrays, like kernels.py, and run in the same two ways.
"""

from __future__ import annotations

from bpe_viz.engine.kernels_order import FIRST_SEEN, TIE_RULE
from bpe_viz.engine.kernels_state import PAIRS, PLACES, State


def sort_fresh_places(state: State, first_new: int, n_fresh: int) -> None:
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
