"""The arrays that a training stands on: laid out from pre-tokens, and made longer as merges need it."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bpe_viz.engine import kernels_cells, kernels_order, kernels_state
from bpe_viz.engine.arrays import longer, zeros
from bpe_viz.engine.compiled import PLAIN, Kernels
from bpe_viz.engine.kernels_order import Order
from bpe_viz.engine.kernels_state import State
from bpe_viz.engine.symbols import SymbolizedPretokens
from bpe_viz.engine.types import TrainingOptions
from bpe_viz.errors import CorpusError, OptionError

if TYPE_CHECKING:
    from bpe_viz.engine.corpus import PretokenCounts

_MOST_CELLS = 2**31 - 1  # places are int32
_MOST_SYMBOLS = 2**62  # counts are int64
_MOST_PAIRS_IN_A_TABLE = 2**24


def first_state(
    written: SymbolizedPretokens,
    pretokens: PretokenCounts,
    options: TrainingOptions,
    rule: int,
    kernel_set: Kernels,
) -> State:
    """Lay out the cells and the base symbols; pairs come next."""
    vocabulary = written.vocabulary
    labels = [vocabulary.label(symbol) for symbol in range(len(vocabulary))]
    text = np.frombuffer(b"".join(labels), dtype=np.uint8)
    n_base = len(labels)
    occurrences = pretokens.counts
    # No pair's count is above this sum; the rounding of float64 is far below the bit that is kept spare.
    if float(occurrences.astype(np.float64) @ written.lengths) >= _MOST_SYMBOLS:
        raise CorpusError(
            "The counts add up to more than 2**62 symbols, and no higher ones are kept.",
            "Divide all counts by the same number.",
        )
    state = _nothing()
    state.order.rule[:] = rule, options.max_token_length or 0
    state = with_room(state, needs(pairs=2, places=1, merges=1, symbols=n_base, text=len(text)))
    state.order.text[: len(text)] = text
    state.order.text_start[0] = 0
    state.order.text_start[1 : n_base + 1] = np.cumsum([len(label) for label in labels])
    state.order.length[:n_base] = 1
    order = PLAIN.view(state.order)  # NumPy's own uint8 would overflow where Python's integers grow
    for symbol in range(n_base):
        order.prefix[symbol] = kernels_order.text_prefix(order, symbol, order.text_start[symbol + 1])
    state.ends_word[:n_base] = vocabulary.ends_word
    state.left_stamp[:n_base] = -1
    state.right_stamp[:n_base] = -1
    state.size[kernels_state.SYMBOLS] = n_base
    state.size[kernels_state.TEXT] = len(text)
    state.size[kernels_state.TOKENS] = int((occurrences * written.lengths).sum())
    return state._replace(
        cell=_cells(written, kernel_set),
        occurrences=occurrences,
        weight=occurrences if options.weights == "counts" else np.ones_like(occurrences),
    )


def _cells(written: SymbolizedPretokens, kernel_set: Kernels) -> NDArray[np.int32]:
    n_rows, n_symbols = len(written.lengths), int(written.lengths.sum())
    n_cells = n_symbols + n_rows + 1
    if n_cells > _MOST_CELLS:
        raise OptionError(
            f"The distinct pre-tokens hold {n_symbols:,} symbols; at most {_MOST_CELLS:,} can be trained on.",
            "Choose a pretokenizer that cuts the text into more, and more often equal, pre-tokens.",
        )
    cell = zeros(3 * n_cells, np.int32)
    view, module = kernel_set.view(cell), kernel_set.of(kernels_cells)
    module.empty_cell(view, 0)
    where = 1
    for start, end, symbols in written.parts():
        part = kernel_set.view((symbols, written.lengths[start:end]))
        where = int(module.lay_out_cells(*part, start, view, where))
    return cell


_FirstPairs = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]


def number_pairs(kernel_set: Kernels, cell: NDArray[np.int32], n_base: int) -> _FirstPairs:
    """Number the distinct pairs by first appearance and write each into its cell.

    Returns the left and the right symbol of each, and how often it stands.
    """
    if n_base * n_base > _MOST_PAIRS_IN_A_TABLE:
        return _number_pairs_by_sorting(cell, n_base)
    n_most = min(n_base * n_base, len(cell) // 3)
    number = np.full(n_base * n_base, kernels_order.NO_SLOT, dtype=np.int32)
    left, right = np.empty(n_most, dtype=np.int32), np.empty(n_most, dtype=np.int32)
    places = np.zeros(n_most, dtype=np.int64)
    n_pairs = kernel_set.of(kernels_cells).number_pairs(
        kernel_set.view(cell), n_base, *kernel_set.view((number, left, right, places))
    )
    return left[:n_pairs], right[:n_pairs], places[:n_pairs]


def _number_pairs_by_sorting(cell: NDArray[np.int32], n_base: int) -> _FirstPairs:
    """Do the same for an alphabet whose pairs are too many for a table."""
    cells = cell.reshape(-1, 3)
    starts = np.flatnonzero((cells[:-1, 0] >= 0) & (cells[1:, 0] >= 0))
    key = cells[starts, 0].astype(np.int64) * n_base + cells[starts + 1, 0]
    keys, first, inverse, places = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
    in_order = np.argsort(first)
    number = np.empty(len(keys), dtype=np.int32)
    number[in_order] = np.arange(len(keys), dtype=np.int32)
    cells[starts, 1] = number[inverse.reshape(-1)]
    keys = keys[in_order]
    return (keys // n_base).astype(np.int32), (keys % n_base).astype(np.int32), places[in_order].astype(np.int64)


# --- room: how long each growing array is ---

_GROWS_WITH = {
    "pairs": ("count", "left", "right", "touched_stamp"),
    "places": ("place",),
    "changes": ("change_slot", "change"),
    "changed_rows": ("changed_row",),
    "merges": (
        "merged_slot", "merged_count", "replacements", "ties", "tokens_after", "live_pairs_after",
        "pairs_after", "changes_end", "changed_rows_end",
    ),
    "symbols": ("length", "prefix", "ends_word", "left_stamp", "left_slot", "right_stamp", "right_slot"),
    "text": ("text",),
    "scratch": ("touched", "before", "fresh_slot", "fresh_place"),
}  # fmt: skip
_OF_FIRST_SEEN = ("first_place", "first_at")  # grow with pairs, if the rule looks at them
_USED = {
    "pairs": kernels_state.PAIRS,
    "places": kernels_state.PLACES,
    "changes": kernels_state.CHANGES,
    "changed_rows": kernels_state.CHANGED_ROWS,
    "merges": kernels_state.MERGES,
    "symbols": kernels_state.SYMBOLS,
    "text": kernels_state.TEXT,
}
_INT64 = {
    "count", "prefix", "first_at", "before", "change", "merged_count", "replacements", "ties", "tokens_after",
    "live_pairs_after", "pairs_after", "changes_end", "changed_rows_end",
}  # fmt: skip
_BYTES = {"text", "ends_word"}


def _dtype(name: str) -> Any:
    return np.int64 if name in _INT64 else np.uint8 if name in _BYTES else np.int32


def needs(**sizes: int) -> dict[str, int]:
    """Return how long the arrays of each kind have to be, as with_room takes it; kinds as in _GROWS_WITH."""
    return {kind: sizes.get(kind, 0) for kind in _GROWS_WITH}


def _nothing() -> State:
    names = [*itertools.chain.from_iterable(_GROWS_WITH.values()), *_OF_FIRST_SEEN]
    empty = {name: np.empty(0, dtype=_dtype(name)) for name in names}
    order = Order(
        text_start=np.zeros(1, dtype=np.int64),
        rule=np.zeros(2, dtype=np.int64),
        **{name: empty.pop(name) for name in ("count", "left", "right", "length", "text", "prefix", "first_place")},
    )
    return State(
        order=order,
        size=np.zeros(kernels_state.N_SIZES, dtype=np.int64),
        cell=np.empty(0, dtype=np.int32),
        weight=np.empty(0, dtype=np.int64),
        occurrences=np.empty(0, dtype=np.int64),
        place_start=np.zeros(1, dtype=np.int64),
        tree=np.full(2, kernels_order.NO_SLOT, dtype=np.int32),
        with_count=np.zeros(kernels_state.SMALL_COUNT, dtype=np.int64),
        **empty,
    )


def with_room(state: State, wanted: dict[str, int]) -> State:
    """Return the state with arrays at least as long as wanted; longer ones are moved, never changed in place.

    A reader that still holds the old arrays reads the same values from them. Room that is not used takes no memory, so
    there may be much of it; but places are in use as far as there is room for them.
    """
    named = {**state.order._asdict(), **state._asdict()}
    grown: dict[str, Any] = {}
    for kind, names in _GROWS_WITH.items():
        had = len(named[names[0]])
        if wanted[kind] <= had:
            continue
        size = wanted[kind] if kind == "places" else max(wanted[kind], 2 * had, 1024)
        used = int(state.size[_USED[kind]]) if kind in _USED else 0
        for name in names:
            grown[name] = longer(named[name], size, used)
        if kind == "pairs":
            grown["place_start"] = longer(named["place_start"], size + 1, used + 1)
            if state.order.rule[kernels_order.TIE_RULE] == kernels_order.FIRST_SEEN:
                grown.update({name: longer(named[name], size, used) for name in _OF_FIRST_SEEN})
        elif kind == "symbols":
            grown["text_start"] = longer(named["text_start"], size + 1, used + 1)
    if wanted["pairs"] > len(state.tree):
        grown["tree"] = zeros(2 ** math.ceil(math.log2(wanted["pairs"])), np.int32)
    in_order = {name: grown.pop(name) for name in list(grown) if name in Order._fields}
    return state._replace(order=state.order._replace(**in_order), **grown)
