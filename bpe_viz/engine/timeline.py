"""The recorded training: append-only, and readable at any position without the trainer.

A Timeline holds what the trainer published (published.py); a Reader (reader.py) stands at a cursor and holds the pair
counts there, which it reaches by adding or subtracting the recorded changes. No snapshot is ever stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bpe_viz.engine.compiled import Kernels
from bpe_viz.engine.published import Beginning, Published, merge_at, symbol_table
from bpe_viz.engine.reader import Reader
from bpe_viz.engine.symbols import BaseVocabulary, SymbolTable
from bpe_viz.engine.types import Departure, Merge, Pair, StopReason, TrainingOptions

if TYPE_CHECKING:
    from bpe_viz.engine.corpus import PretokenCounts


class Timeline:
    """The merges, their counts, and how each merge changed the pair counts.

    One thread publishes, any thread reads: the whole of what is published is one tuple, replaced at once.
    """

    is_counted = True

    def __init__(
        self,
        pretokens: PretokenCounts,
        options: TrainingOptions,
        base: BaseVocabulary,
        published: Published,
        first_counts: NDArray[np.int64],
        is_recorded: bool = True,
    ) -> None:
        """Begin at position 0.

        first_counts: (pairs at position 0,) int64, their counts before any merge
        is_recorded: what each merge changes is known; else there are only the merges, and nothing for a Reader
        """
        self.pretokens = pretokens
        self.options = options
        self.base = base
        self.first_counts = first_counts
        self.is_recorded = is_recorded
        self.first_tokens = _first_tokens(pretokens, base)
        self.departures: Mapping[int, Departure] = {}
        """The merges that were chosen by hand, by rank."""
        self.differing: frozenset[int] | None = frozenset()
        """The rows of pre-tokens that end in another split than the tokenizer gives; None while that is not known."""
        self._published: tuple[Published, StopReason | None] = (published, None)

    def publish(self, published: Published, stop: StopReason | None) -> None:
        """Replace what readers see; stop: why no further merge can be made."""
        self._published = (published, stop)

    @property
    def published(self) -> Published:
        """What is trained so far, of one moment."""
        return self._published[0]

    @property
    def frontier(self) -> int:
        """How many merges are recorded."""
        return self._published[0].frontier

    @property
    def stop(self) -> StopReason | None:
        """Why no merge can be made beyond the frontier; None if one can, or nobody has tried."""
        return self._published[1]

    @property
    def symbols(self) -> SymbolTable:
        """The table of all symbols up to the frontier."""
        return symbol_table(self.base, self.published)

    def symbols_of(self, published: Published) -> SymbolTable:
        """The table of the symbols of what was published at one moment."""
        return symbol_table(self.base, published)

    def merge(self, rank: int) -> Merge:
        """Return a recorded merge. Raises IndexError beyond the frontier."""
        published = self.published
        if not 0 <= rank < published.frontier:
            raise IndexError(f"no merge of rank {rank} among {published.frontier}")
        return self.merge_in(published, rank)

    def merge_in(self, published: Published, rank: int) -> Merge:
        """Return the merge of this rank in what was published at one moment."""
        return merge_at(published, len(self.base), rank)

    def expected(self, rank: int) -> Departure | None:
        """Return what the rule would have done at a merge that was made in its place; None where it did the same."""
        return self.departures.get(rank)

    def departs(self) -> NDArray[np.bool_]:
        """Return (frontier,) bool: where a merge was made that the rule would not have."""
        departs = np.zeros(self.frontier, dtype=bool)
        departs[[rank for rank in self.departures if rank < len(departs)]] = True
        return departs

    def reader(self, kernel_set: Kernels) -> Reader:
        """Return a reader of its own."""
        return Reader(self, kernel_set)

    def merges(self) -> Iterable[Merge]:
        """Yield all recorded merges in order."""
        published = self.published
        return (self.merge_in(published, rank) for rank in range(published.frontier))

    def pairs(self) -> list[Pair]:
        """Return the merge list as pairs of symbol ids."""
        published = self.published
        slots = published.merged_slot[: published.frontier]
        return [
            Pair(left, right)
            for left, right in zip(published.left[slots].tolist(), published.right[slots].tolist(), strict=True)
        ]

    def rank_of(self, pair: Pair) -> int | None:
        """Return the rank of the merge of a pair, None if it is not recorded."""
        published = self.published
        slots = published.merged_slot[: published.frontier]
        ranks = np.flatnonzero((published.left[slots] == pair.left) & (published.right[slots] == pair.right))
        return int(ranks[0]) if len(ranks) else None

    def id_of(self, symbol: int) -> int:
        """Return the token id of a symbol: its own number, as the window calls it while training goes on."""
        return symbol

    def beginning(self, merges: int) -> Beginning:
        """Return the first merges. Raises IndexError beyond the frontier."""
        published = self.published
        if not 0 <= merges <= published.frontier:
            raise IndexError(f"no {merges} merges among {published.frontier}")
        departures = {rank: one for rank, one in self.departures.items() if rank < merges}
        return Beginning(published.merged_slot[:merges].copy(), departures)

    def tokens_curve(self) -> NDArray[np.int64]:
        """Return (frontier + 1,) int64: how many tokens the corpus is split into at each position."""
        published = self.published
        return np.concatenate(([self.first_tokens], published.tokens_after[: published.frontier]))

    def changed_rows(self, rank: int) -> NDArray[np.int32]:
        """Return the rows of the pre-tokens that the merge of this rank changed, ascending.

        Raises ValueError if that is not recorded.
        """
        if not self.is_recorded:
            raise ValueError("this training was not recorded")
        published = self.published
        start = int(published.changed_rows_end[rank - 1]) if rank else 0
        return published.changed_row[start : int(published.changed_rows_end[rank])]


def _first_tokens(pretokens: PretokenCounts, base: BaseVocabulary) -> int:
    markers = int(pretokens.counts.sum()) if base.end_of_word == "separate" else 0
    if base.base == "bytes":
        return markers + int(np.dot(np.diff(pretokens.offsets), pretokens.counts))
    return markers + pretokens.count_characters()
