"""A cursor in a timeline: the pair counts at any position, reached by adding or subtracting recorded changes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bpe_viz.engine import kernels_order, kernels_tournament
from bpe_viz.engine.boundaries import LONG, BoundaryRanks, LongSplit
from bpe_viz.engine.compiled import PLAIN, Kernels
from bpe_viz.engine.kernels_order import Order
from bpe_viz.engine.merge_ranks import MergeRanks
from bpe_viz.engine.published import merge_at
from bpe_viz.engine.types import Frame, Merge, Pair, PairCount, StopReason

if TYPE_CHECKING:
    from bpe_viz.engine.timeline import Timeline

_KEPT_ABOVE_THE_FLOOR = 512


class Reader:
    """The pair counts at a cursor. One thread uses it; the timeline behind it may grow meanwhile."""

    def __init__(self, timeline: Timeline, kernel_set: Kernels = PLAIN) -> None:
        """Stand at position 0. Raises ValueError if the timeline is not recorded."""
        if not timeline.is_recorded:
            raise ValueError("this training was not recorded")
        self.timeline = timeline
        self.position = 0
        self._kernels = kernel_set
        self._seen = timeline.published
        self._n_pairs = len(timeline.first_counts)
        self._count = np.zeros(0, dtype=np.int64)
        self._tree = np.zeros(0, dtype=np.int32)
        self._splits = BoundaryRanks(timeline.base, MergeRanks(len(timeline.base)), kernel_set)
        self._no_place = np.zeros(1, dtype=np.int32)
        self._rule = _readers_rule(self._seen.rule)
        self._floor = 1
        self._make_room()
        self._count[: len(timeline.first_counts)] = timeline.first_counts
        self._build_tree(_KEPT_ABOVE_THE_FLOOR)

    def use(self, kernel_set: Kernels) -> None:
        """Go on with other kernels."""
        self._kernels = kernel_set
        self._splits.use(kernel_set)

    @property
    def _tournament(self) -> Any:
        return self._kernels.of(kernels_tournament)

    def seek(self, position: int) -> None:
        """Move the cursor by adding or subtracting recorded changes.

        Raises IndexError beyond the frontier.
        """
        self._seen = self.timeline.published
        if not 0 <= position <= self._seen.frontier:
            raise IndexError(f"position {position} is outside 0 to {self._seen.frontier}")
        grown = self._make_room()
        start, end = sorted((self._changes_before(self.position), self._changes_before(position)))
        sign = 1 if position > self.position else -1
        seen, tournament = self._seen, self._tournament
        count, change_slot, change = self._views(self._count, seen.change_slot, seen.change)
        tournament.apply_changes(count, change_slot, change, start, end, sign)
        self.position = position
        # A replay costs about log2(pairs) matches a change, a rebuild a look at every pair's count.
        if grown or 16 * (end - start) > self._n_pairs:
            self._build_tree(_KEPT_ABOVE_THE_FLOOR)
        else:
            order, tree = self._order()
            tournament.replay_changes(order, tree, self._n_pairs, self._floor, change_slot, change, start, end, sign)

    def frame(self, position: int, top: int = 20, rows: Iterable[int] = ()) -> Frame:
        """Return what is to be seen at a position.

        top: at most how many pairs
        rows: the pre-tokens whose splits are wanted, by their row in the corpus
        """
        if position != self.position or self._seen is not self.timeline.published:
            self.seek(position)
        seen = self._seen
        made = self.timeline.merge_in(seen, position - 1) if position else None
        best = self.best(top)
        following, stop = self._next(best)
        splits = {row: self.split(row) for row in rows}
        changed = self.timeline.changed_rows(position - 1) if position else np.empty(0, dtype=np.int32)
        return Frame(
            position=position,
            made=made,
            next=following,
            stop=stop,
            top=tuple(best),
            pairs=self._live_pairs(),
            tokens=int(seen.tokens_after[position - 1]) if position else self.timeline.first_tokens,
            splits=splits,
            changed=frozenset(row for row in splits if _contains(changed, row)),
            symbols=self.timeline.symbols_of(seen),
            made_by_choice=self.timeline.departures.get(position - 1),
            next_by_choice=self.timeline.departures.get(position),
            next_pairs=self._taken_by(following),
        )

    def best(self, wanted: int) -> list[PairCount]:
        """Return the most frequent pairs at the cursor, best first, with how the last merge changed them."""
        slots = self._leading_first(self._best_slots(wanted))
        changes = self._last_changes()
        first_new = self._pairs_before_last()
        highest = int(self._count[slots[0]]) if slots else 0
        tied = len(slots) > 1 and int(self._count[slots[1]]) == highest
        return [
            PairCount(
                left=int(self._seen.left[slot]),
                right=int(self._seen.right[slot]),
                count=int(self._count[slot]),
                change=changes.get(slot, 0),
                is_new=self.position > 0 and slot >= first_new,
                tied=tied and int(self._count[slot]) == highest,
            )
            for slot in slots
        ]

    def _best_slots(self, wanted: int) -> list[int]:
        """Return the best slots, best first; lowers the floor until it holds as many as are wanted."""
        found = np.empty(max(1, wanted), dtype=np.int32)
        heap = np.empty((max(1, wanted) + 1) * (len(self._tree).bit_length() + 1), dtype=np.int64)
        while True:
            order, tree = self._order()
            n = self._tournament.best_slots(order, tree, self._n_pairs, wanted, *self._views(found, heap))
            slots: list[int] = found[:n].tolist()
            # What the tree says of pairs below the floor is out of date.
            if self._floor == 1 or (n == wanted and int(self._count[slots[-1]]) >= self._floor):
                return slots
            self._build_tree(max(4 * wanted, 2 * self._above_floor()))

    def _above_floor(self) -> int:
        return int((self._count[: self._n_pairs] >= self._floor).sum())

    def _leading_first(self, slots: list[int]) -> list[int]:
        """Put the pair that is merged next first, where only the trainer knows which of the tied it is."""
        seen = self._seen
        if self._rule[kernels_order.TIE_RULE] == seen.rule[kernels_order.TIE_RULE] or not slots:
            return slots
        leading = int(seen.merged_slot[self.position]) if self.position < seen.frontier else seen.leading
        if leading == kernels_order.NO_SLOT or self._count[leading] != self._count[slots[0]]:
            return slots
        others = [slot for slot in slots if slot != leading]
        return [leading, *others][: len(slots)]

    def counts(self) -> NDArray[np.int64]:
        """Return the counts of all pairs that occur at the cursor, in no order: (pairs,) int64."""
        counts = self._count[: self._n_pairs]
        return counts[counts > 0]

    def pair_counts(self) -> dict[Pair, int]:
        """Return every pair that occurs at the cursor with its count: for tests and small corpora."""
        slots = np.flatnonzero(self._count[: self._n_pairs] > 0)
        left, right = self._seen.left[slots].tolist(), self._seen.right[slots].tolist()
        return {Pair(a, b): count for a, b, count in zip(left, right, self._count[slots].tolist(), strict=True)}

    def split(self, row: int) -> Sequence[int]:
        """Return the symbols of one pre-token at the cursor."""
        self._splits.ranks.follow(self._seen)
        content = self.timeline.pretokens.content(row)
        symbols = self._splits.of(content, self.position).at(self.position)[0]
        return tuple(symbols.tolist()) if len(symbols) <= LONG else LongSplit(symbols)

    def _next(self, best: list[PairCount]) -> tuple[Merge | None, StopReason | None]:
        seen, position = self._seen, self.position
        n_base = len(self.timeline.base)
        if position < seen.frontier:
            return merge_at(seen, n_base, position), None
        stop = self.timeline.stop
        leading = best[0] if best else next(iter(self.best(1)), None)
        if leading is None:
            return None, "no pair left"
        if leading.count < self.timeline.options.min_count:
            return None, "below min-count"
        if stop == "target" and self.timeline.published.frontier == position:
            return None, "target"
        order, tree = self._order()
        ties = int(self._tournament.count_ties(order, tree, self._n_pairs, leading.count))
        return Merge(position, leading.left, leading.right, n_base + position, leading.count, 0, ties), None

    def _taken_by(self, merge: Merge | None) -> tuple[Pair, ...]:
        """Return the pairs that a merge takes."""
        return () if merge is None or merge.pair is None else (merge.pair,)

    def _live_pairs(self) -> int:
        if self.position:
            return int(self._seen.live_pairs_after[self.position - 1])
        return len(self.timeline.first_counts)

    def _changes_before(self, position: int) -> int:
        return int(self._seen.changes_end[position - 1]) if position else 0

    def _pairs_before_last(self) -> int:
        if self.position <= 1:
            return len(self.timeline.first_counts)
        return int(self._seen.pairs_after[self.position - 2])

    def _last_changes(self) -> dict[int, int]:
        if not self.position:
            return {}
        start, end = self._changes_before(self.position - 1), self._changes_before(self.position)
        slots, changes = self._seen.change_slot[start:end], self._seen.change[start:end]
        return dict(zip(slots.tolist(), changes.tolist(), strict=True))

    def _make_room(self) -> bool:
        """Follow the timeline's growth; tell whether the tree must be rebuilt."""
        self._n_pairs = max(self._n_pairs, self._seen.n_pairs)
        if len(self._count) >= self._n_pairs and len(self._tree):
            return False
        capacity = max(2, 1 << (self._n_pairs + self._n_pairs // 2).bit_length())
        count = np.zeros(capacity, dtype=np.int64)
        count[: len(self._count)] = self._count
        self._count = count
        self._tree = np.full(capacity, kernels_order.NO_SLOT, dtype=np.int32)
        return True

    def _build_tree(self, wanted: int) -> None:
        """Play the tournament among the pairs that count most, this many at least: few ever come near the top."""
        (count,) = self._views(self._count)
        self._floor = int(self._tournament.floor_for(count, self._n_pairs, wanted, self._floor))
        order, tree = self._order()
        self._tournament.build_tree(order, tree, self._n_pairs, self._floor)

    def _order(self) -> tuple[Any, Any]:
        seen = self._seen
        order = Order(
            self._count,
            seen.left,
            seen.right,
            seen.length,
            seen.text,
            seen.text_start,
            seen.prefix,
            self._no_place,
            self._rule,
        )
        return self._kernels.view(order), self._kernels.view(self._tree)

    def _views(self, *arrays: Any) -> tuple[Any, ...]:
        return self._kernels.view(arrays)  # type: ignore[no-any-return]  # a tuple in, a tuple out


def _readers_rule(rule: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the rule that a reader orders ties by: which pair was seen first hangs on cells that it has not."""
    own = rule.copy()
    if own[kernels_order.TIE_RULE] == kernels_order.FIRST_SEEN:
        own[kernels_order.TIE_RULE] = kernels_order.SMALLEST_IDS
    return own


def _contains(ascending: NDArray[np.int32], value: int) -> bool:
    place = int(np.searchsorted(ascending, value))
    return place < len(ascending) and int(ascending[place]) == value
