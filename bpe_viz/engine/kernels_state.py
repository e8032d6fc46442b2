"""All that a training is, in flat arrays; kernels.py says what a cell, a token, a slot and a place is."""

from __future__ import annotations

from typing import NamedTuple

from bpe_viz.engine.kernels_order import Array, Order

# Rows of State.size: how much of each growing array is in use, and whether changes are recorded (1 or 0).
PAIRS, PLACES, CHANGES, CHANGED_ROWS, MERGES, SYMBOLS, TEXT, TOKENS, LIVE_PAIRS, FLOOR, WARMTH, RECORDS = range(12)
N_SIZES = 12

# Up to this count, how many pairs have it is kept incrementally; above it ties are few and are counted in the tree.
SMALL_COUNT = 65_536


class State(NamedTuple):
    """All that a training is, at the frontier. Sizes in use stand in `size`; arrays may be longer.

    cell:        (3 * cells,) int32, see kernels.py
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
