"""The Trainer: the only mutable thing that knows the corpus. It stands at the frontier and writes the timeline."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bpe_viz.engine import kernels
from bpe_viz.engine.arrays import longer, zeros
from bpe_viz.engine.compiled import PLAIN, Kernels
from bpe_viz.engine.kernels import Order, State
from bpe_viz.engine.symbols import BaseVocabulary, SymbolizedPretokens, symbolize
from bpe_viz.engine.tie_rules import tie_rule
from bpe_viz.engine.timeline import Beginning, Published, Timeline
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
from bpe_viz.errors import CorpusError, OptionError, PairError, Stopped

if TYPE_CHECKING:
    from bpe_viz.engine.corpus import PretokenCounts

_SLICE_SECONDS = 0.02  # how long a slice of training may take between two looks at progress and stop
_MOST_CELLS = 2**31 - 1  # places are int32
_MOST_SYMBOLS = 2**62  # counts are int64
_MOST_PAIRS_IN_A_TABLE = 2**24
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
        self._arrays = _first_state(written, pretokens, options, rule.code, kernel_set)
        self._arrays.size[kernels.RECORDS] = records
        self.use(kernel_set)
        self._count_first_pairs(len(written.vocabulary))
        self.timeline = Timeline(
            pretokens, options, written.vocabulary, self._published(), self._first_counts(), records
        )

    @property
    def frontier(self) -> int:
        """How many merges are trained."""
        return int(self._arrays.size[kernels.MERGES])

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
            budget = _next_budget(budget, time.perf_counter() - began)
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
        order, n_pairs = self._arrays.order, self._arrays.size[kernels.PAIRS]
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
        return self._arrays.order.count[: self._arrays.size[kernels.PAIRS]].copy()  # type: ignore[no-any-return]

    def _count_first_pairs(self, n_base: int) -> None:
        """Give every pair of base symbols its slot, count and places, and play the first tournament."""
        cell = self._arrays.cell
        left, right, places = _number_pairs(self._kernels, cell, n_base)
        n_pairs, n_places = len(left), int(places.sum())
        # Each merge makes new places; from time to time the stale ones are dropped.
        self._arrays = _with_room(self._arrays, _needs(pairs=n_pairs + 1, places=n_places + n_places // 2 + 1))
        self.use(self._kernels)
        arrays, order = self._arrays, self._arrays.order
        order.left[:n_pairs] = left
        order.right[:n_pairs] = right
        order.count[:n_pairs] = 0
        arrays.touched_stamp[:n_pairs] = -1
        arrays.place_start[0] = 0
        np.cumsum(places, out=arrays.place_start[1 : n_pairs + 1])
        starts = arrays.place_start[: n_pairs + 1]
        self._kernels.module.fill_places(*self._kernels.view((cell, arrays.weight, starts, arrays.place, order.count)))
        if order.rule[kernels.TIE_RULE] == kernels.FIRST_SEEN:
            arrays.first_at[:n_pairs] = starts[:-1]
            order.first_place[:n_pairs] = arrays.place[starts[:-1]]
        counts = order.count[:n_pairs]
        if (limit := self.options.max_token_length) is not None:
            counts = counts[order.length[left] + order.length[right] <= limit]
        arrays.with_count[:] = np.bincount(counts[counts < kernels.SMALL_COUNT], minlength=kernels.SMALL_COUNT)
        arrays.size[kernels.PAIRS] = n_pairs
        arrays.size[kernels.PLACES] = n_places
        arrays.size[kernels.LIVE_PAIRS] = n_pairs
        arrays.size[kernels.FLOOR] = max(1, int(counts.max(initial=0)) // 2)
        self._kernels.module.play_anew(self._view)

    def _make_room(self, slot: int) -> None:
        """Enlarge what the merge of this slot may fill."""
        places = self._places_wanted(slot)
        size, order, starts = self._arrays.size, self._arrays.order, self._arrays.order.text_start
        occurrences = self._occurrences(slot)
        new_pairs = 2 * min(occurrences, int(size[kernels.SYMBOLS]) + 1)
        joined = sum(int(starts[s + 1] - starts[s]) for s in (order.left[slot], order.right[slot]))
        records = int(size[kernels.RECORDS])
        wanted = _needs(
            pairs=int(size[kernels.PAIRS]) + new_pairs,
            places=places,
            changes=records * (int(size[kernels.CHANGES]) + new_pairs + 2 * occurrences + 1),
            changed_rows=records * (int(size[kernels.CHANGED_ROWS]) + occurrences),
            merges=int(size[kernels.MERGES]) + 1,
            symbols=int(size[kernels.SYMBOLS]) + 1,
            text=int(size[kernels.TEXT]) + joined,
            scratch=kernels.most_touched(occurrences),
        )
        tree = self._arrays.tree
        self._arrays = _with_room(self._arrays, wanted)
        self.use(self._kernels)
        if self._arrays.tree is not tree:
            self._kernels.module.play_anew(self._view)

    def _places_wanted(self, slot: int) -> int:
        """Drop stale places if there is no room for new ones; return how many there must be room for after that."""
        room, size = len(self._arrays.place), self._arrays.size
        wanted = int(size[kernels.PLACES]) + 2 * self._occurrences(slot)
        if wanted <= room:
            return room
        # Above these shares it would soon be full again; the second way to drop takes ten times as long as the first.
        for look_at_all, share in ((False, 0.8), (True, 0.6)):
            self._kernels.module.drop_places(self._view, look_at_all)
            wanted = int(size[kernels.PLACES]) + 2 * self._occurrences(slot)
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


def _next_budget(budget: int, seconds: float) -> int:
    """Return the budget that would have taken one slice's time, growing at most fourfold at once."""
    fitting = int(budget * _SLICE_SECONDS / max(seconds, 1e-6))
    return max(200, min(4 * budget, fitting))


def _first_state(
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
    state = _with_room(state, _needs(pairs=2, places=1, merges=1, symbols=n_base, text=len(text)))
    state.order.text[: len(text)] = text
    state.order.text_start[0] = 0
    state.order.text_start[1 : n_base + 1] = np.cumsum([len(label) for label in labels])
    state.order.length[:n_base] = 1
    order = PLAIN.view(state.order)  # NumPy's own uint8 would overflow where Python's integers grow
    for symbol in range(n_base):
        order.prefix[symbol] = kernels.text_prefix(order, symbol, order.text_start[symbol + 1])
    state.ends_word[:n_base] = vocabulary.ends_word
    state.left_stamp[:n_base] = -1
    state.right_stamp[:n_base] = -1
    state.size[kernels.SYMBOLS] = n_base
    state.size[kernels.TEXT] = len(text)
    state.size[kernels.TOKENS] = int((occurrences * written.lengths).sum())
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
    view = kernel_set.view(cell)
    kernel_set.module.empty_cell(view, 0)
    where = 1
    for start, end, symbols in written.parts():
        part = kernel_set.view((symbols, written.lengths[start:end]))
        where = int(kernel_set.module.lay_out_cells(*part, start, view, where))
    return cell


_FirstPairs = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]


def _number_pairs(kernel_set: Kernels, cell: NDArray[np.int32], n_base: int) -> _FirstPairs:
    """Number the distinct pairs by first appearance and write each into its cell.

    Returns the left and the right symbol of each, and how often it stands.
    """
    if n_base * n_base > _MOST_PAIRS_IN_A_TABLE:
        return _number_pairs_by_sorting(cell, n_base)
    n_most = min(n_base * n_base, len(cell) // 3)
    number = np.full(n_base * n_base, kernels.NO_SLOT, dtype=np.int32)
    left, right = np.empty(n_most, dtype=np.int32), np.empty(n_most, dtype=np.int32)
    places = np.zeros(n_most, dtype=np.int64)
    n_pairs = kernel_set.module.number_pairs(
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
    "pairs": kernels.PAIRS,
    "places": kernels.PLACES,
    "changes": kernels.CHANGES,
    "changed_rows": kernels.CHANGED_ROWS,
    "merges": kernels.MERGES,
    "symbols": kernels.SYMBOLS,
    "text": kernels.TEXT,
}
_INT64 = {
    "count", "prefix", "first_at", "before", "change", "merged_count", "replacements", "ties", "tokens_after",
    "live_pairs_after", "pairs_after", "changes_end", "changed_rows_end",
}  # fmt: skip
_BYTES = {"text", "ends_word"}


def _dtype(name: str) -> Any:
    return np.int64 if name in _INT64 else np.uint8 if name in _BYTES else np.int32


def _needs(**sizes: int) -> dict[str, int]:
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
        size=np.zeros(kernels.N_SIZES, dtype=np.int64),
        cell=np.empty(0, dtype=np.int32),
        weight=np.empty(0, dtype=np.int64),
        occurrences=np.empty(0, dtype=np.int64),
        place_start=np.zeros(1, dtype=np.int64),
        tree=np.full(2, kernels.NO_SLOT, dtype=np.int32),
        with_count=np.zeros(kernels.SMALL_COUNT, dtype=np.int64),
        **empty,
    )


def _with_room(state: State, wanted: dict[str, int]) -> State:
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
            if state.order.rule[kernels.TIE_RULE] == kernels.FIRST_SEEN:
                grown.update({name: longer(named[name], size, used) for name in _OF_FIRST_SEEN})
        elif kind == "symbols":
            grown["text_start"] = longer(named["text_start"], size + 1, used + 1)
    if wanted["pairs"] > len(state.tree):
        grown["tree"] = zeros(2 ** math.ceil(math.log2(wanted["pairs"])), np.int32)
    in_order = {name: grown.pop(name) for name in list(grown) if name in Order._fields}
    return state._replace(order=state.order._replace(**in_order), **grown)
