"""Replay: the merges of a tokenizer, made again in the order of its list on a corpus that it may not come from.

Every entry merges its pairs wherever they stand, from left to right, once; a pair that arises after its entry has been
is left alone. That is what the list says step by step. The tokenizer's own library encodes otherwise, lowest rank first
in each pre-token, and where the two end in different splits the pre-token is named. An entry whose pairs do not occur
counts 0 and changes nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bpe_viz.engine import kernels_order, kernels_replay, kernels_tournament
from bpe_viz.engine.arrays import longer, zeros
from bpe_viz.engine.boundaries import pair_table
from bpe_viz.engine.compiled import PLAIN, Kernels
from bpe_viz.engine.kernels_order import NO_SLOT, Order
from bpe_viz.engine.kernels_pairs import EMPTY, MOST_SYMBOLS
from bpe_viz.engine.kernels_replay import ReplayState
from bpe_viz.engine.published import Published
from bpe_viz.engine.replay_cells import BYTES_A_LOOK, ReplayCells, Watch
from bpe_viz.engine.replayed_timeline import ReplayedTimeline
from bpe_viz.engine.slices import let_others_run, next_budget
from bpe_viz.engine.types import Progress, StopReason, StopRequested, TrainingOptions, never_stop, no_progress
from bpe_viz.errors import OptionError

if TYPE_CHECKING:
    from bpe_viz.engine.pretoken_counts import PretokenCounts
    from bpe_viz.engine.tokenizer import Tokenizer

_LEAST_BUDGET = 2_000
_FIRST_BUDGET = 20_000
_CELLS_A_LOOK = 1 << 16


class Replayer:
    """Makes the entries of a list on a corpus, and records what each changed.

    It is used like a Trainer: exactly one thread may use it at a time; its timeline may be read from any.
    """

    def __init__(
        self,
        pretokens: PretokenCounts,
        tokenizer: Tokenizer,
        options: TrainingOptions,
        kernel_set: Kernels = PLAIN,
        progress: Progress = no_progress,
        should_stop: StopRequested = never_stop,
    ) -> None:
        """Count the first pairs. Raises Stopped when should_stop() says so, OptionError for too long a list."""
        watch = Watch(progress, should_stop)
        self._tokenizer = tokenizer
        self._pretokens = pretokens
        self.target = tokenizer.n_merges
        watch.look(0.0, "Preparing the merge list")
        ranks = tokenizer.merge_ranks
        if ranks.n_base + len(ranks) >= MOST_SYMBOLS:
            raise OptionError(f"A list of {len(ranks):,} entries is too long to be replayed.", "Open it alone.")
        entries = ranks.entries(self.target)
        self._cells = ReplayCells(pretokens, tokenizer.base, ranks.makes(), watch)
        self._arrays = _first_state(self._cells, pretokens, pair_table(entries, kernel_set), self.target)
        self.use(kernel_set)
        self._count_pairs(watch)
        n_pairs = int(self._arrays.size[kernels_replay.PAIRS])
        first_counts = self._arrays.order.count[:n_pairs].copy()
        self.timeline = ReplayedTimeline(pretokens, tokenizer, options, self._published(), first_counts, self._cells)
        self._publish()

    @property
    def frontier(self) -> int:
        """How many entries are made."""
        return int(self._arrays.size[kernels_replay.ENTRIES])

    @property
    def n_symbols(self) -> int:
        """How many cells the distinct pre-tokens take."""
        return self._cells.n

    @property
    def n_bytes(self) -> int:
        """How much memory it takes at the most."""
        arrays = (*self._arrays.order, *(array for array in self._arrays if isinstance(array, np.ndarray)))
        return sum(array.nbytes for array in arrays)

    def use(self, kernel_set: Kernels) -> None:
        """Go on with other kernels; all arrays stay as they are."""
        self._kernels = kernel_set
        self._view = kernel_set.view(self._arrays)
        self._module = kernel_set.of(kernels_replay)

    def train_to(
        self,
        position: int | None = None,
        progress: Progress = no_progress,
        should_stop: StopRequested = never_stop,
    ) -> StopReason | None:
        """Make entries until `position` (None: the end) is reached or should_stop() says so; publish as it goes.

        Returns why nothing can follow, None if something can.
        """
        position = self.target if position is None else min(position, self.target)
        start, budget = self.frontier, _FIRST_BUDGET
        while not should_stop():
            began = time.perf_counter()
            answer = self._module.replay(self._view, position, budget)
            if answer == kernels_replay.NEEDS_ROOM:
                self._make_room(int(self._arrays.waiting[self.frontier]))
                continue
            if self.frontier == self.target and self.timeline.differing is None:
                self.timeline.differing = self._find_differing(progress, should_stop)
            self._publish()
            if answer == kernels_replay.DONE:
                break
            budget = next_budget(budget, time.perf_counter() - began, _LEAST_BUDGET)
            done = (self.frontier - start) / max(1, position - start)
            progress(done, f"Replaying: merge {self.frontier:,} of {position:,}")
        return self.timeline.stop

    def _count_pairs(self, watch: Watch) -> None:
        cell, n = 0, self._cells.n
        while cell < n:
            watch.look(cell / n, "Counting the first pairs")
            end = min(n, cell + _CELLS_A_LOOK)
            reached = int(self._module.count_pairs(self._view, cell, end))
            if reached < end:
                self._make_room(_CELLS_A_LOOK)
            cell = reached
        self._play_anew()

    def _play_anew(self) -> None:
        n_pairs = int(self._arrays.size[kernels_replay.PAIRS])
        self._kernels.of(kernels_tournament).build_tree(self._view.order, self._view.tree, n_pairs, 1)

    def _make_room(self, places: int) -> None:
        """Enlarge what an entry with so many places may fill."""
        n_pairs = int(self._arrays.size[kernels_replay.PAIRS])
        tree, table = self._arrays.tree, self._arrays.slot_table
        self._arrays = _with_room(self._arrays, places)
        self.use(self._kernels)
        if self._arrays.slot_table is not table:
            order = self._view.order
            self._module.fill_slot_table(self._view.slot_table, order.left, order.right, n_pairs)
        if self._arrays.tree is not tree:
            self._play_anew()

    def _published(self) -> Published:
        arrays, size = self._arrays, self._arrays.size
        named = {**arrays._asdict(), **arrays.order._asdict()}
        fixed: dict[str, Any] = {
            "frontier": int(size[kernels_replay.ENTRIES]),
            "n_pairs": int(size[kernels_replay.PAIRS]),
            "n_symbols": len(self._tokenizer.symbols),
            "leading": NO_SLOT,
            "ends_word": np.empty(0, dtype=np.uint8),
            "merged_slot": np.empty(0, dtype=np.int32),
            "ties": np.empty(0, dtype=np.int64),
        }
        return Published(**fixed, **{name: named[name] for name in Published._fields if name not in fixed})

    def _publish(self) -> None:
        arrays = self._arrays
        stop: StopReason | None = "end of list" if self.frontier >= self.target else None
        self.timeline.publish_replayed(self._published(), stop, arrays.rank_of, arrays.leading, arrays.leading_count)

    def _find_differing(self, progress: Progress, should_stop: StopRequested) -> frozenset[int] | None:
        """Return the pre-tokens that end in another split than the tokenizer's own library gives; None if stopped."""
        candidates = set(np.flatnonzero(self._arrays.passed).tolist())
        ranks, makes, n_base = self._tokenizer.merge_ranks, self._cells.makes, len(self._tokenizer.base)
        if ranks.takes_whole:
            of_row = self._pretokens.content
            candidates.update(row for row in range(len(self._pretokens)) if ranks.whole(of_row(row)) is not None)
        if ranks.turns is not None or ranks.unused:
            # Pieces of one score are replayed one by one, while the library takes the leftmost, whichever it is; and
            # pieces that are unused are merged and stay, while the library lets them fall back.
            candidates.update(range(len(self._pretokens)))
        differing = []
        n_bytes = 0
        for number, row in enumerate(sorted(candidates)):
            if n_bytes >= BYTES_A_LOOK:
                if should_stop():
                    return None
                progress(number / len(candidates), "Comparing with the splits of lowest rank first")
                let_others_run()
                n_bytes = 0
            content = self._pretokens.content(row)
            n_bytes += len(content)
            theirs = self._tokenizer.symbols_of(content, self.target)
            same = [int(makes[one - n_base]) if n_base <= one < n_base + self.target else one for one in theirs]
            if same != list(self.timeline.split(row, self.target)):
                differing.append(row)
        return frozenset(differing)


# --- room ---

_OF_PAIRS = ("rank_of", "stamp")
_OF_ORDER = ("count", "left", "right")
_OF_OFFERS = ("offer_place", "offer_next")
_OF_CHANGES = ("change_slot", "change")
_OF_TOUCHED = ("touched", "before")
_OF_RANKS = {
    "head": np.int32, "waiting": np.int32, "entry_count": np.int64, "merged_count": np.int64, "replacements": np.int64,
    "tokens_after": np.int64, "live_pairs_after": np.int64, "pairs_after": np.int64, "changes_end": np.int64,
    "changed_rows_end": np.int64, "leading": np.int32, "leading_count": np.int64,
}  # fmt: skip


def _first_state(
    cells: ReplayCells, pretokens: PretokenCounts, rank_table: NDArray[np.int64], n_ranks: int
) -> ReplayState:
    n = cells.n
    size = np.zeros(kernels_replay.N_SIZES, dtype=np.int64)
    size[kernels_replay.TOKENS] = cells.n_tokens
    of_ranks: dict[str, Any] = {name: np.zeros(n_ranks, dtype=dtype) for name, dtype in _OF_RANKS.items()}
    of_ranks["head"][:] = -1
    nothing, nothing64 = np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int64)
    right_of = np.minimum(np.arange(1, n + 1, dtype=np.int32), n - 1)
    left_of = np.maximum(np.arange(-1, n - 1, dtype=np.int32), 0)
    order = Order(
        count=nothing64,
        left=nothing,
        right=nothing,
        length=nothing,
        text=np.empty(0, dtype=np.uint8),
        text_start=nothing64,
        prefix=nothing64,
        first_place=nothing,
        rule=np.array([kernels_order.SMALLEST_IDS, 0], dtype=np.int64),
    )
    state = ReplayState(
        order=order,
        size=size,
        symbol=cells.first_symbol.copy(),
        right_of=right_of,
        left_of=left_of,
        slot=np.full(n, NO_SLOT, dtype=np.int32),
        row=cells.row,
        fallen=cells.fallen,
        weight=pretokens.counts,
        passed=np.zeros(len(pretokens), dtype=np.uint8),
        makes=cells.makes,
        rank_table=rank_table,
        slot_table=np.full(2 * 64, EMPTY, dtype=np.int64),
        rank_of=nothing,
        offer_place=nothing,
        offer_next=nothing,
        tree=np.full(2, NO_SLOT, dtype=np.int32),
        change_slot=nothing,
        change=nothing64,
        changed_row=nothing,
        stamp=nothing,
        touched=nothing,
        before=nothing64,
        place=nothing,
        **of_ranks,
    )
    return _with_room(state, max(64, min(n, _CELLS_A_LOOK)))


def _with_room(state: ReplayState, places: int) -> ReplayState:
    """Return the state with room for an entry of so many places; longer arrays are moved, never changed in place.

    A reader that still holds the old arrays reads the same values from them.
    """
    size, order = state.size, state.order
    grown: dict[str, Any] = {}

    def grow(names: Sequence[str], used: int, wanted: int, arrays: Callable[[str], NDArray[Any]]) -> None:
        if len(arrays(names[0])) < wanted:
            length = max(wanted, 2 * len(arrays(names[0])))
            grown.update({name: longer(arrays(name), length, used) for name in names})

    pairs, offers, changes, rows = (
        int(size[kind])
        for kind in (
            kernels_replay.PAIRS,
            kernels_replay.OFFERS,
            kernels_replay.CHANGES,
            kernels_replay.CHANGED_ROWS,
        )
    )
    grow(_OF_ORDER, pairs, pairs + 2 * places, lambda name: getattr(order, name))
    grow(_OF_PAIRS, pairs, pairs + 2 * places, lambda name: getattr(state, name))
    grow(_OF_OFFERS, offers, offers + 2 * places, lambda name: getattr(state, name))
    grow(_OF_CHANGES, changes, changes + 5 * places, lambda name: getattr(state, name))
    grow(("changed_row",), rows, rows + places, lambda name: getattr(state, name))
    grow(_OF_TOUCHED, 0, 5 * places, lambda name: getattr(state, name))
    grow(("place",), 0, places, lambda name: getattr(state, name))
    wanted = pairs + 2 * places
    if wanted > len(state.slot_table) // 4:
        grown["slot_table"] = np.full(2 << (2 * wanted).bit_length(), EMPTY, dtype=np.int64)
    if wanted > len(state.tree):
        grown["tree"] = zeros(1 << wanted.bit_length(), np.int32)
    in_order = {name: grown.pop(name) for name in _OF_ORDER if name in grown}
    return state._replace(order=order._replace(**in_order), **grown)
