"""The timeline of a replay, and the cursor in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bpe_viz.engine.boundaries import LONG, LongSplit
from bpe_viz.engine.compiled import Kernels
from bpe_viz.engine.kernels_order import NO_SLOT
from bpe_viz.engine.merge_list import ListedMerges
from bpe_viz.engine.published import Published
from bpe_viz.engine.reader import Reader
from bpe_viz.engine.replay_cells import ReplayCells
from bpe_viz.engine.symbols import SymbolTable
from bpe_viz.engine.timeline import Timeline
from bpe_viz.engine.types import Departure, Merge, Pair, PairCount, StopReason, TrainingOptions

if TYPE_CHECKING:
    from bpe_viz.engine.pretoken_counts import PretokenCounts
    from bpe_viz.engine.tokenizer import Tokenizer


class ReplayedTimeline(Timeline):
    """The entries of a tokenizer's list, with what each did to the counts of a corpus."""

    def __init__(
        self,
        pretokens: PretokenCounts,
        tokenizer: Tokenizer,
        options: TrainingOptions,
        published: Published,
        first_counts: NDArray[np.int64],
        cells: ReplayCells,
    ) -> None:
        super().__init__(pretokens, options, tokenizer.base, published, first_counts)
        self.first_tokens = cells.n_tokens
        self.listed = ListedMerges(tokenizer)
        self.joins = self.listed.joins
        self.differing = None  # until all is replayed
        self._cells = cells
        self._rank_of = np.empty(0, dtype=np.int32)
        self._leading = np.empty(0, dtype=np.int32)
        self._leading_count = np.empty(0, dtype=np.int64)
        self._departs = np.zeros(tokenizer.n_merges, dtype=bool)  # one for each entry, of as many as are made
        self._n_compared = 0

    def publish_replayed(
        self,
        published: Published,
        stop: StopReason | None,
        rank_of: NDArray[np.int32],
        leading: NDArray[np.int32],
        leading_count: NDArray[np.int64],
    ) -> None:
        """Show readers more entries, and which pairs were counted most before each."""
        self._rank_of, self._leading, self._leading_count = rank_of, leading, leading_count
        new = slice(self._n_compared, published.frontier)
        self._n_compared = published.frontier
        is_other = rank_of[leading[new]] != np.arange(new.start, new.stop)
        is_more = leading_count[new] > published.merged_count[new]
        self._departs[new] = (leading[new] != NO_SLOT) & is_other & is_more
        self.publish(published, stop)

    @property
    def symbols(self) -> SymbolTable:
        """The table of the tokenizer's symbols."""
        return self.listed.symbols

    def symbols_of(self, published: Published) -> SymbolTable:
        """The same table: the whole list is known from the start."""
        return self.listed.symbols

    def merge_in(self, published: Published, rank: int) -> Merge:
        """Return an entry with what it did."""
        listed = self.listed.merge(rank)
        if rank >= published.frontier:
            return listed
        made = int(self._cells.makes[rank])
        return Merge(
            rank,
            listed.left,
            listed.right,
            made,
            int(published.merged_count[rank]),
            int(published.replacements[rank]),
            1,
        )

    def rank_of(self, pair: Pair) -> int | None:
        """Return the entry that merges a pair."""
        return self.listed.rank_of(pair)

    def id_of(self, symbol: int) -> int:
        """Return the token id of a symbol."""
        return self.listed.id_of(symbol)

    def expected(self, rank: int) -> Departure | None:
        """Return what training on this corpus would have merged instead; None where it would have done the same.

        A list departs where another pair is counted more often than those that the entry merges.
        """
        published = self.published
        if rank >= published.frontier or not self._departs[rank]:
            return None
        slot = int(self._leading[rank])
        left, right = int(published.left[slot]), int(published.right[slot])
        count = int(self._leading_count[rank])
        return Departure(rank, Merge(rank, left, right, len(self.base) + rank, count, 0, 1))

    def departs(self) -> NDArray[np.bool_]:
        """Return (frontier,) bool: where training on this corpus would have merged something else."""
        return self._departs[: self.published.frontier]

    def taken_by(self, rank: int) -> NDArray[np.bool_]:
        """Return (slots,) bool: the pairs that an entry merges."""
        return self._rank_of == rank  # type: ignore[no-any-return]  # an array

    def split(self, row: int, position: int) -> Sequence[int]:
        """Return the symbols of a pre-token after the first entries, made in the order of the list."""
        symbols = self._cells.split(row, position)
        return tuple(symbols.tolist()) if len(symbols) <= LONG else LongSplit(symbols)

    def reader(self, kernel_set: Kernels) -> Reader:
        """Return a reader of its own."""
        return ReplayReader(self, kernel_set)


class ReplayReader(Reader):
    """Reads a replay at any position."""

    timeline: ReplayedTimeline

    def split(self, row: int) -> Sequence[int]:
        """Return the symbols of one pre-token at the cursor."""
        return self.timeline.split(row, self.position)

    def _next(self, best: list[PairCount]) -> tuple[Merge | None, StopReason | None]:
        if self.position >= self.timeline.listed.frontier:
            return None, "end of list"
        return self.timeline.merge_in(self._seen, self.position), None

    def _taken_by(self, merge: Merge | None) -> tuple[Pair, ...]:
        if merge is None:
            return ()
        slots = np.flatnonzero(self.timeline.taken_by(merge.rank)[: self._n_pairs])
        slots = slots[self._count[slots] > 0]
        return tuple(map(Pair, self._seen.left[slots].tolist(), self._seen.right[slots].tolist()))
