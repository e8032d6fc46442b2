"""Lay pre-tokens out in cells, and find the first pairs: what stands before any merge.

What a cell, a slot and a place is, kernels.py says. Plain Python over flat arrays, and run in the same two ways.
"""

from __future__ import annotations

from bpe_viz.engine.kernels_order import NO_SLOT, Array

EMPTY = -1


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
