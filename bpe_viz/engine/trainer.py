"""The Trainer: the only mutable thing that knows the corpus. It stands at the frontier and writes the timeline."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bpe_viz.engine import kernels, kernels_cells, kernels_order, kernels_places, kernels_state
from bpe_viz.engine.compiled import PLAIN, Kernels
from bpe_viz.engine.published import Beginning, Published
from bpe_viz.engine.slices import next_budget
from bpe_viz.engine.symbols import BaseVocabulary, symbolize
from bpe_viz.engine.tie_rules import tie_rule
from bpe_viz.engine.timeline import Timeline
from bpe_viz.engine.training_arrays import first_state, needs, number_pairs, with_room
from bpe_viz.engine.types import (
    DEFAULT_MERGES,
    Departure,
    Merge,
    Pair,
    Progress,
    StopReason,
    StopRequested,
    TrainingOptions,
    never_stop,
    no_progress,
)
from bpe_viz.engine.visible import visible
from bpe_viz.errors import OptionError, PairError, Stopped

if TYPE_CHECKING:
    from bpe_viz.engine.corpus import PretokenCounts

_LEAST_BUDGET = 200  # occurrences looked at in a slice
_LONGEST_SHOWN = 24  # characters of a symbol in a message


class Trainer:
    """Trains one merge at a time, exactly, and records what each merge changed.

    Exactly one thread may use a trainer at a time; its timeline may be read from any.
    """

    def __init__(
        self,
        pretokens: PretokenCounts,
        options: TrainingOptions,
        n_special_tokens: int = 0,
        kernel_set: Kernels = PLAIN,
        records: bool = True,
    ) -> None:
        """Count the first pairs.

        n_special_tokens: how many ids of options.vocab_size special tokens take
        records: what each merge changes is recorded, so that the timeline can be read at any position; without, a
            training that nobody looks back on takes an eighth less memory
        Raises OptionError if the target is below the base vocabulary, or the rule is unknown; CorpusError if the
        corpus has too many symbols to count.
        """
        self.options = options
        rule = tie_rule(options.rule)
        written = symbolize(pretokens, options)
        self.target = merges_to_make(options, written.vocabulary, n_special_tokens)
        self._arrays = first_state(written, pretokens, options, rule.code, kernel_set)
        self._arrays.size[kernels_state.RECORDS] = records
        self.use(kernel_set)
        self._count_first_pairs(len(written.vocabulary))
        self.timeline = Timeline(
            pretokens, options, written.vocabulary, self._published(), self._first_counts(), records
        )

    @property
    def frontier(self) -> int:
        """How many merges are trained."""
        return int(self._arrays.size[kernels_state.MERGES])

    @property
    def n_symbols(self) -> int:
        """How many cells the distinct pre-tokens take: what the cost of training grows with."""
        return len(self._arrays.cell) // 3

    @property
    def n_bytes(self) -> int:
        """How much memory training and timeline take at the most: room that is not used yet takes none."""
        arrays = (*self._arrays.order, *(array for array in self._arrays if isinstance(array, np.ndarray)))
        return sum(array.nbytes for array in arrays)

    def use(self, kernel_set: Kernels) -> None:
        """Go on with other kernels; all arrays stay as they are."""
        self._kernels = kernel_set
        self._view = kernel_set.view(self._arrays)

    def step(self) -> Merge | None:
        """Make one merge. Returns it, or None when training has stopped; timeline.stop says why."""
        before = self.frontier
        self.train_to(min(before + 1, self.target))
        return self.timeline.merge(before) if self.frontier > before else None

    def train_to(
        self,
        position: int | None = None,
        progress: Progress = no_progress,
        should_stop: StopRequested = never_stop,
    ) -> StopReason | None:
        """Make merges until `position` (None: the target) is reached, no pair is left, or should_stop() says so.

        Publishes to the timeline after each slice. Returns why no further merge can be made, None if one can.
        """
        position = self.target if position is None else min(position, self.target)

        def train(budget: int) -> int:
            return int(self._kernels.module.train(self._view, position, self.options.min_count, budget))

        self._run(train, lambda: int(self._kernels.module.leading_slot(self._view)), position, progress, should_stop)
        return self.timeline.stop

    def repeat(
        self,
        beginning: Beginning,
        progress: Progress = no_progress,
        should_stop: StopRequested = never_stop,
    ) -> None:
        """Make the first merges of another training on the same pre-tokens again, to branch off there.

        Raises Stopped when should_stop() says so.
        """
        slots, merges = beginning.slots, len(beginning.slots)
        self.target = max(self.target, merges)
        self.timeline.departures = {**self.timeline.departures, **beginning.departures}

        def repeat(budget: int) -> int:
            return int(self._kernels.module.repeat(self._view, self._kernels.view(slots), budget))

        self._run(repeat, lambda: int(slots[self.frontier]), merges, progress, should_stop)
        if self.frontier < merges:
            raise Stopped

    def _run(
        self,
        run: Callable[[int], int],
        next_slot: Callable[[], int],
        position: int,
        progress: Progress,
        should_stop: StopRequested,
    ) -> None:
        """Run kernels in slices, each with the budget that fits its time, and publish after each.

        next_slot: what is merged next, when that needs more room
        """
        start = self.frontier
        budget = 2_000
        while not should_stop():
            began = time.perf_counter()
            answer = run(budget)
            if answer == kernels.NEEDS_ROOM:
                self._make_room(next_slot())
                continue
            self._publish(answer)
            if answer != kernels.BUDGET_SPENT:
                break
            budget = next_budget(budget, time.perf_counter() - began, _LEAST_BUDGET)
            done = (self.frontier - start) / max(1, position - start)
            progress(done, f"Training: merge {self.frontier:,} of {position:,}")

    def merge_pair(self, pair: Pair) -> Merge:
        """Merge this pair next, whatever the tie rule says; what the rule would have done is kept as a departure.

        Raises PairError if the pair does not occur now, or its token would be longer than the options allow.
        """
        slot, rank, module = self._slot_of(pair), self.frontier, self._kernels.module
        leading = int(module.leading_slot(self._view))
        goes_on = rank < self.target and self._arrays.order.count[leading] >= self.options.min_count
        if not goes_on or slot != leading:
            departure = Departure(rank, self._would_merge(leading) if goes_on else None)
            self.timeline.departures = {**self.timeline.departures, rank: departure}
        if not module.has_room(self._view, slot):
            self._make_room(slot)
        module.merge_slot(self._view, slot)
        self.target = max(self.target, self.frontier)
        self._publish(kernels.REACHED)
        return self.timeline.merge(rank)

    def _slot_of(self, pair: Pair) -> int:
        order, n_pairs = self._arrays.order, self._arrays.size[kernels_state.PAIRS]
        found = np.flatnonzero(
            (order.left[:n_pairs] == pair.left) & (order.right[:n_pairs] == pair.right) & (order.count[:n_pairs] > 0)
        )
        if not len(found):
            where = f"after merge {self.frontier:,}" if self.frontier else "before the first merge"
            raise PairError(
                f"The pair {self._shown(pair)} does not occur {where}.", "Choose one that the pair counts show there."
            )
        length, limit = int(order.length[pair.left] + order.length[pair.right]), self.options.max_token_length
        if limit is not None and length > limit:
            raise PairError(
                f"The pair {self._shown(pair)} makes a token of {length:,} base symbols; the longest allowed has "
                f"{limit:,}.",
                "Allow longer tokens in the training options, or choose another pair.",
            )
        return int(found[0])

    def _would_merge(self, slot: int) -> Merge:
        order, rank = self._arrays.order, self.frontier
        return Merge(
            rank=rank,
            left=int(order.left[slot]),
            right=int(order.right[slot]),
            token=len(self.timeline.base) + rank,
            count=int(order.count[slot]),
            replacements=0,
            ties=int(self._kernels.module.ties_at(self._view, slot)),
        )

    def _shown(self, pair: Pair) -> str:
        symbols = self.timeline.symbols
        if max(pair) >= len(symbols):
            return f"of the symbols {pair.left:,} and {pair.right:,}"
        return " + ".join(visible(symbols.label(symbol), limit=_LONGEST_SHOWN) for symbol in pair)

    def _first_counts(self) -> NDArray[np.int64]:
        return self._arrays.order.count[: self._arrays.size[kernels_state.PAIRS]].copy()  # type: ignore[no-any-return]

    def _count_first_pairs(self, n_base: int) -> None:
        """Give every pair of base symbols its slot, count and places, and play the first tournament."""
        cell = self._arrays.cell
        left, right, places = number_pairs(self._kernels, cell, n_base)
        n_pairs, n_places = len(left), int(places.sum())
        # Each merge makes new places; from time to time the stale ones are dropped.
        self._arrays = with_room(self._arrays, needs(pairs=n_pairs + 1, places=n_places + n_places // 3 + 1))
        self.use(self._kernels)
        arrays, order = self._arrays, self._arrays.order
        order.left[:n_pairs] = left
        order.right[:n_pairs] = right
        order.count[:n_pairs] = 0
        arrays.touched_stamp[:n_pairs] = -1
        arrays.place_start[0] = 0
        np.cumsum(places, out=arrays.place_start[1 : n_pairs + 1])
        starts = arrays.place_start[: n_pairs + 1]
        views = self._kernels.view((cell, arrays.weight, starts, arrays.place, order.count))
        self._kernels.of(kernels_cells).fill_places(*views)
        if order.rule[kernels_order.TIE_RULE] == kernels_order.FIRST_SEEN:
            arrays.first_at[:n_pairs] = starts[:-1]
            order.first_place[:n_pairs] = arrays.place[starts[:-1]]
        counts = order.count[:n_pairs]
        if (limit := self.options.max_token_length) is not None:
            counts = counts[order.length[left] + order.length[right] <= limit]
        small = kernels_state.SMALL_COUNT
        arrays.with_count[:] = np.bincount(counts[counts < small], minlength=small)
        arrays.size[kernels_state.PAIRS] = n_pairs
        arrays.size[kernels_state.PLACES] = n_places
        arrays.size[kernels_state.LIVE_PAIRS] = n_pairs
        arrays.size[kernels_state.FLOOR] = max(1, int(counts.max(initial=0)) // 2)
        self._kernels.module.play_anew(self._view)

    def _make_room(self, slot: int) -> None:
        """Enlarge what the merge of this slot may fill."""
        places = self._places_wanted(slot)
        size, order, starts = self._arrays.size, self._arrays.order, self._arrays.order.text_start
        occurrences = self._occurrences(slot)
        new_pairs = 2 * min(occurrences, int(size[kernels_state.SYMBOLS]) + 1)
        joined = sum(int(starts[s + 1] - starts[s]) for s in (order.left[slot], order.right[slot]))
        records = int(size[kernels_state.RECORDS])
        wanted = needs(
            pairs=int(size[kernels_state.PAIRS]) + new_pairs,
            places=places,
            changes=records * (int(size[kernels_state.CHANGES]) + new_pairs + 2 * occurrences + 1),
            changed_rows=records * (int(size[kernels_state.CHANGED_ROWS]) + occurrences),
            merges=int(size[kernels_state.MERGES]) + 1,
            symbols=int(size[kernels_state.SYMBOLS]) + 1,
            text=int(size[kernels_state.TEXT]) + joined,
            scratch=kernels.most_touched(occurrences),
        )
        tree = self._arrays.tree
        self._arrays = with_room(self._arrays, wanted)
        self.use(self._kernels)
        if self._arrays.tree is not tree:
            self._kernels.module.play_anew(self._view)

    def _places_wanted(self, slot: int) -> int:
        """Drop stale places if there is no room for new ones; return how many there must be room for after that."""
        room, size = len(self._arrays.place), self._arrays.size
        wanted = int(size[kernels_state.PLACES]) + 2 * self._occurrences(slot)
        if wanted <= room:
            return room
        # Above these shares it would soon be full again; the second way to drop takes ten times as long as the first.
        for look_at_all, share in ((False, 0.8), (True, 0.6)):
            self._kernels.of(kernels_places).drop_places(self._view, look_at_all)
            wanted = int(size[kernels_state.PLACES]) + 2 * self._occurrences(slot)
            if wanted <= share * room:
                return room
        return max(room, wanted * 3 // 2)

    def _occurrences(self, slot: int) -> int:
        return int(self._arrays.place_start[slot + 1] - self._arrays.place_start[slot])

    def _published(self) -> Published:
        return Published.of(self._arrays, int(self._kernels.module.leading_slot(self._view)))

    def _publish(self, answer: int) -> None:
        stop: StopReason | None = None
        if answer == kernels.NO_PAIR:
            stop = "no pair left"
        elif answer == kernels.BELOW_MIN_COUNT:
            stop = "below min-count"
        elif self.frontier >= self.target:
            stop = "target"
        self.timeline.publish(self._published(), stop)


def merges_to_make(options: TrainingOptions, vocabulary: BaseVocabulary, n_special_tokens: int) -> int:
    """Return the target as a number of merges. Raises OptionError if it is below the base vocabulary."""
    if options.vocab_size is None:
        return DEFAULT_MERGES if options.merges is None else options.merges
    taken = len(vocabulary) + n_special_tokens + (options.unknown is not None)
    if options.vocab_size < taken:
        raise OptionError(
            f"A vocabulary of {options.vocab_size:,} is smaller than what it starts with: "
            f"{len(vocabulary):,} base symbols and {taken - len(vocabulary):,} unknown and special tokens.",
            f"Give {taken:,} or more.",
        )
    return options.vocab_size - taken
