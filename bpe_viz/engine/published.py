"""What a training has published: the arrays that a Timeline holds and a Reader reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe_viz.engine import kernels_state
from bpe_viz.engine.kernels_state import State
from bpe_viz.engine.symbols import BaseVocabulary, SymbolTable
from bpe_viz.engine.types import Departure, Merge


class Published(NamedTuple):
    """The arrays of a training up to its frontier. They may be longer: what lies beyond is not to be read.

    leading: the slot that would be merged next, NO_SLOT if there is none
    The other fields are those of kernels.State and kernels_order.Order of the same names.
    """

    frontier: int
    n_pairs: int
    n_symbols: int
    leading: int
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    length: NDArray[np.int32]
    text: NDArray[np.uint8]
    text_start: NDArray[np.int64]
    prefix: NDArray[np.int64]
    ends_word: NDArray[np.uint8]
    rule: NDArray[np.int64]
    change_slot: NDArray[np.int32]
    change: NDArray[np.int64]
    changed_row: NDArray[np.int32]
    merged_slot: NDArray[np.int32]
    merged_count: NDArray[np.int64]
    replacements: NDArray[np.int64]
    ties: NDArray[np.int64]
    tokens_after: NDArray[np.int64]
    live_pairs_after: NDArray[np.int64]
    pairs_after: NDArray[np.int64]
    changes_end: NDArray[np.int64]
    changed_rows_end: NDArray[np.int64]

    @classmethod
    def of(cls, state: State, leading: int) -> Published:
        """Take what a state holds now; leading: the slot that would be merged next."""
        named = {**state._asdict(), **state.order._asdict()}
        sizes: dict[str, Any] = {
            "frontier": int(state.size[kernels_state.MERGES]),
            "n_pairs": int(state.size[kernels_state.PAIRS]),
            "n_symbols": int(state.size[kernels_state.SYMBOLS]),
            "leading": leading,
        }
        return cls(**sizes, **{name: named[name] for name in cls._fields if name not in sizes})


class Beginning(NamedTuple):
    """The first merges of a training, to be made again by another one on the same pre-tokens.

    slots: (merges,) int32, of the pairs merged; pairs are numbered alike as far as merges are the same
    departures: those of the merges that were chosen by hand, by rank
    """

    slots: NDArray[np.int32]
    departures: Mapping[int, Departure]


def symbol_table(base: BaseVocabulary, published: Published) -> SymbolTable:
    """Return the table of all symbols published."""
    return SymbolTable(base, published.text, published.text_start, published.ends_word, published.n_symbols)


def merge_at(published: Published, n_base: int, rank: int) -> Merge:
    """Return the published merge of this rank."""
    slot = published.merged_slot[rank]
    return Merge(
        rank=rank,
        left=int(published.left[slot]),
        right=int(published.right[slot]),
        token=n_base + rank,
        count=int(published.merged_count[rank]),
        replacements=int(published.replacements[rank]),
        ties=int(published.ties[rank]),
    )
