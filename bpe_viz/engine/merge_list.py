"""A merge list as it is shown entry by entry: that of a training, and that of a tokenizer that was opened.

A training's is its Timeline. That of a tokenizer file has no counts, for the text that it was learned from is not in
it; ReplayedTimeline counts what its entries do on another text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from bpe_viz.engine.joined_ranks import JoinedRanks
from bpe_viz.engine.symbols import BaseVocabulary, SymbolTable
from bpe_viz.engine.types import NO_SYMBOL, Departure, Frame, Merge, Pair, StopReason

if TYPE_CHECKING:
    from bpe_viz.engine.tokenizer import Tokenizer


class MergeList(Protocol):
    """Entries in order, as many as are known; readable from any thread.

    base: the symbols before any merge
    departures: the merges that were chosen by hand, by rank
    is_counted: each entry's merge tells how often it was counted; else its count is 0 and means nothing
    """

    base: BaseVocabulary
    departures: Mapping[int, Departure]
    is_counted: bool

    @property
    def frontier(self) -> int:
        """How many entries are known."""

    @property
    def stop(self) -> StopReason | None:
        """Why nothing follows the frontier; None if something does, or nobody has tried."""

    @property
    def symbols(self) -> SymbolTable:
        """The table of all symbols up to the frontier."""

    def merge(self, rank: int) -> Merge:
        """Return an entry. Raises IndexError beyond the frontier."""

    def rank_of(self, pair: Pair) -> int | None:
        """Return the first entry that merges a pair, None if none does."""

    def id_of(self, symbol: int) -> int:
        """Return the token id of a symbol."""

    def expected(self, rank: int) -> Departure | None:
        """Return what training would have done at an entry; None where it did or would do the same, or is unknown."""

    def departs(self) -> NDArray[np.bool_]:
        """Return (frontier,) bool: where a listed entry is not what training would have done; nowhere if unknown."""


class ListedMerges:
    """The merge list of a tokenizer, without counts."""

    is_counted = False

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self.base = tokenizer.base
        self.symbols = tokenizer.symbols
        self.departures: Mapping[int, Departure] = {}
        self.stop: StopReason = "end of list"
        self.joins = isinstance(tokenizer.merge_ranks, JoinedRanks)
        """Entries are tokens, made of any two neighbours whose bytes join to them."""

    @property
    def frontier(self) -> int:
        """How many entries the list has."""
        return self.tokenizer.n_merges

    def merge(self, rank: int) -> Merge:
        """Return an entry; in a list of ranks with the two symbols that its token's bytes merge to, if they are two.

        Raises IndexError beyond the list.
        """
        if not 0 <= rank < self.frontier:
            raise IndexError(f"no merge of rank {rank} among {self.frontier}")
        left, right = self.tokenizer.merge_ranks.pair(rank) or (NO_SYMBOL, NO_SYMBOL)
        return Merge(rank, left, right, len(self.base) + rank, count=0, replacements=0, ties=1)

    def rank_of(self, pair: Pair) -> int | None:
        """Return the entry that merges a pair, None if none does."""
        return self.tokenizer.merge_ranks.of(*pair)

    def id_of(self, symbol: int) -> int:
        """Return the token id of a symbol."""
        return self.tokenizer.id_of(symbol)

    def expected(self, rank: int) -> Departure | None:
        """Return None: without a corpus nothing is known of it."""
        return None

    def departs(self) -> NDArray[np.bool_]:
        """Return nowhere: without a corpus nothing is known of it."""
        return np.zeros(self.frontier, dtype=bool)

    def frame(self, position: int) -> Frame:
        """Return what is to be seen at a position: the entries around it, and no pairs. Raises IndexError."""
        if not 0 <= position <= self.frontier:
            raise IndexError(f"position {position} is outside 0 to {self.frontier}")
        is_last = position == self.frontier
        return Frame(
            position=position,
            made=self.merge(position - 1) if position else None,
            next=None if is_last else self.merge(position),
            stop=self.stop if is_last else None,
            top=(),
            pairs=0,
            tokens=0,
            splits={},
            changed=frozenset(),
            symbols=self.symbols,
        )
