"""When each boundary inside a pre-token falls: the whole history of a split in one array.

Before any merge there is a boundary between every two base symbols. A merge removes one boundary at each place where
it applies, and merges apply in rank order; so the rank that removes each boundary tells how the pre-token is split
after any number of merges: at position K the boundaries of rank K and more still stand. The symbol between two of
them is the token of the highest rank that fell between, or the base symbol if there is none.

That holds for every list in which a merge never makes a pair of lower rank than its own, as every trained list is.

A token that is not used falls back at the end into the two that it was made of. So a boundary inside it stands until a
used token goes over it, and falls with that one's rank.
"""

from __future__ import annotations

import heapq
from collections import OrderedDict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from bpe_viz.engine import kernels_boundaries, kernels_pairs
from bpe_viz.engine.compiled import PLAIN, Kernels
from bpe_viz.engine.kernels_pairs import BUCKET, EMPTY, MOST_SYMBOLS
from bpe_viz.engine.merge_ranks import MergeSource, PairEntries
from bpe_viz.engine.symbols import GAP, BaseVocabulary

STANDS = 2**62
"""The rank of a boundary that no merge removes."""

LONG = 4_000
"""Pre-tokens of more bytes are worked out in arrays by compiled kernels."""

LONG_FOR_PLAIN = 1_000_000
"""The same by plain kernels: Python's own heap and dictionary are quicker, but take some 300 bytes for each."""

_MOST_REMEMBERED = 200_000
_MOST_BYTES_REMEMBERED = 1 << 28
_RANK_BITS = 2**32 - 1

Fall = tuple[int, int, int]
"""One merge: see merges_in_order."""


@dataclass(frozen=True, slots=True)
class Boundaries:
    """One pre-token's history.

    symbols: (n,) int32, base symbols, GAP where the base lacks the character
    widths:  (n,) int32, how many bytes of the pre-token each base symbol stands for
    rank:    (n,) int64, the rank with which the boundary before each symbol falls; rank[0] is STANDS
    made:    (n,) int64, ascending in the order of the merges; its low 32 bits are the rank of the token that the
             fall of this boundary made. The same array as rank where the highest rank is the last.
    known:   how many merges this was worked out with
    n_base:  ids from here on are merges
    """

    symbols: NDArray[np.int32]
    widths: NDArray[np.int32]
    rank: NDArray[np.int64]
    made: NDArray[np.int64]
    known: int
    n_base: int

    @property
    def n_bytes(self) -> int:
        """How much memory it takes, about; 500 for what Python itself needs for its arrays and their place."""
        made = 0 if self.made is self.rank else self.made.nbytes
        return self.symbols.nbytes + self.widths.nbytes + self.rank.nbytes + made + 500

    def at(self, position: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return (ids, first base symbols) of the tokens after `position` merges; an id is GAP at a gap."""
        return tokens_between(self.symbols, self.rank, self.made, position, self.n_base)


def tokens_between(
    symbols: NDArray[np.signedinteger[Any]],
    rank: NDArray[np.int64],
    made: NDArray[np.int64],
    position: int,
    n_base: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (ids, first base symbols) of the tokens that the standing boundaries part; see Boundaries."""
    if not len(symbols):
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    starts = np.flatnonzero(rank >= position)
    fallen = np.where(rank < position, made, -1)
    last = np.maximum.reduceat(fallen, starts)
    return np.where(last >= 0, n_base + (last & _RANK_BITS), symbols[starts]), starts


class LongSplit(Sequence[int]):
    """The symbols of a long pre-token, in an array: ten million Python integers would take a second to make."""

    __slots__ = ("_symbols",)

    def __init__(self, symbols: NDArray[np.int64]) -> None:
        self._symbols = symbols

    def __len__(self) -> int:
        return len(self._symbols)

    @overload
    def __getitem__(self, index: int) -> int: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[int, ...]: ...

    def __getitem__(self, index: int | slice) -> int | tuple[int, ...]:
        if isinstance(index, slice):
            return tuple(self._symbols[index].tolist())
        return int(self._symbols[index])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LongSplit) and np.array_equal(self._symbols, other._symbols)

    def __hash__(self) -> int:
        return hash(self._symbols.tobytes())


_Source = TypeVar("_Source", bound=MergeSource)


class BoundaryRanks(Generic[_Source]):
    """Works out the boundaries of pre-tokens, and remembers them. One thread uses it."""

    def __init__(self, base: BaseVocabulary, ranks: _Source, kernel_set: Kernels = PLAIN) -> None:
        self.base = base
        self.ranks = ranks
        self._remembered: OrderedDict[bytes, Boundaries] = OrderedDict()
        self._bytes_remembered = 0
        self._kernels = kernel_set
        self._table = np.empty(0, dtype=np.int64)
        self._table_of = -1

    def use(self, kernel_set: Kernels) -> None:
        """Go on with other kernels."""
        if kernel_set is not self._kernels:
            self._kernels = kernel_set
            self._table_of = -1

    def of(self, pretoken: bytes, position: int) -> Boundaries:
        """Return the boundaries of a pre-token (UTF-8), true for every position up to this one at least."""
        found = self._remembered.get(pretoken)
        if found is not None and (found.known >= position or found.known == len(self.ranks)):
            return found
        found = self._long(pretoken) if self._is_long(pretoken) else self._short(pretoken)
        self._remember(pretoken, found)
        return found

    def _remember(self, pretoken: bytes, boundaries: Boundaries) -> None:
        """Forget what was remembered longest, until there is room; the newest is kept however large it is."""
        outdated = self._remembered.pop(pretoken, None)
        self._bytes_remembered += boundaries.n_bytes - (0 if outdated is None else outdated.n_bytes)
        while self._remembered and (
            len(self._remembered) >= _MOST_REMEMBERED or self._bytes_remembered > _MOST_BYTES_REMEMBERED
        ):
            self._bytes_remembered -= self._remembered.popitem(last=False)[1].n_bytes
        self._remembered[pretoken] = boundaries

    def _is_long(self, pretoken: bytes) -> bool:
        if self.ranks.sweeps:
            return False  # the kernels take one place at a time
        if self.ranks.n_base + len(self.ranks) >= MOST_SYMBOLS:
            return False
        return len(pretoken) > (LONG if self._kernels.compiled else LONG_FOR_PLAIN)

    def split(self, pretoken: bytes, position: int) -> list[int]:
        """Return the symbols of a pre-token at one position; nothing is remembered."""
        if self._is_long(pretoken):
            return self.of(pretoken, position).at(position)[0].tolist()  # type: ignore[no-any-return]  # integers
        whole = self.ranks.whole(pretoken) if self.ranks.takes_whole else None
        if whole is not None and whole.rank < position:
            return [self.ranks.n_base + whole.number]
        return split_symbols(self.base.start(pretoken)[0], self.ranks, position)

    def _short(self, pretoken: bytes) -> Boundaries:
        symbols, widths = self.base.start(pretoken)
        fallen, made = [STANDS] * len(symbols), [-1] * len(symbols)
        highest = -1
        turns = self.ranks.turns
        for number, (_, boundary, rank) in enumerate(merges_in_order(symbols, self.ranks)):
            highest = max(highest, rank if turns is None else turns[rank])
            fallen[boundary] = highest
            made[boundary] = number << 32 | rank
        return self._boundaries(
            pretoken,
            np.array(symbols, dtype=np.int32),
            np.array(widths, dtype=np.int32),
            np.array(fallen, dtype=np.int64),
            np.array(made, dtype=np.int64),
        )

    def _long(self, pretoken: bytes) -> Boundaries:
        """Do the same in arrays: a pre-token may be a line of 10 MB."""
        symbols, widths = self.base.arrays(pretoken)
        n = len(symbols)
        rank = np.full(n, STANDS, dtype=np.int64)
        made = np.full(0 if self.ranks.ascends else n, -1, dtype=np.int64)
        right_of, left_of = np.empty(n, dtype=np.int32), np.empty(n, dtype=np.int32)
        heap = np.empty(3 * n, dtype=np.int64)
        turns = np.array(self.ranks.turns or (), dtype=np.int64)
        arrays = (symbols.copy(), self.ranks.makes(), turns, self._pair_table(), rank, made, right_of, left_of, heap)
        view = self._kernels.view(arrays)
        self._kernels.of(kernels_boundaries).remove_boundaries(view[0], GAP, *view[1:])
        return self._boundaries(pretoken, symbols, widths, rank, made)

    def _boundaries(
        self,
        pretoken: bytes,
        symbols: NDArray[np.int32],
        widths: NDArray[np.int32],
        rank: NDArray[np.int64],
        made: NDArray[np.int64],
    ) -> Boundaries:
        whole = self.ranks.whole(pretoken) if self.ranks.takes_whole else None
        if whole is not None:
            # From its own rank on the pre-token is one token, whatever its merges would give.
            late = rank > whole.rank
            late[0] = False
            rank[late] = whole.rank
            made[late] = len(symbols) << 32 | whole.number
        if self.ranks.unused:
            _raise_again(rank, made, self.ranks.unused)
        made = rank if self.ranks.ascends else made
        return Boundaries(symbols, widths, rank, made, len(self.ranks), self.ranks.n_base)

    def _pair_table(self) -> NDArray[np.int64]:
        """Return the merges as a hash table for the kernels; made anew when more are known."""
        n = len(self.ranks)
        if self._table_of != n:
            self._table = pair_table(self.ranks.entries(n), self._kernels)
            self._table_of = n
        return self._table


def pair_table(entries: PairEntries, kernel_set: Kernels) -> NDArray[np.int64]:
    """Return pairs as a hash table for the kernels: see kernels_pairs.fill_pair_table."""
    table = np.full(max(BUCKET, 1 << (2 * len(entries.left)).bit_length()), EMPTY, dtype=np.int64)
    kernel_set.of(kernels_pairs).fill_pair_table(*kernel_set.view((table, *entries)))
    return table


def split_symbols(symbols: Sequence[int], ranks: MergeSource, position: int) -> list[int]:
    """Return what base symbols become after `position` merges."""
    now: list[int | None] = list(symbols)
    turns, unused = ranks.turns, ranks.unused
    inside: dict[int, list[int]] = {}
    for start, boundary, rank in merges_in_order(symbols, ranks):
        if (rank if turns is None else turns[rank]) >= position:
            break
        fallen = _fallen(inside, start, boundary, rank in unused) if unused else (boundary,)
        if fallen:
            now[start] = ranks.n_base + rank
            for place in fallen:
                now[place] = None
    return [symbol for symbol in now if symbol is not None]


def _fallen(inside: dict[int, list[int]], start: int, boundary: int, is_unused: bool) -> list[int]:
    """Return the boundaries that a merge lets fall: none if what it makes is unused.

    inside: the boundaries that still stand within the tokens there are, by the start of each; kept up to date
    """
    fallen = [*inside.pop(start, ()), boundary, *inside.pop(boundary, ())]
    if is_unused:
        inside[start] = fallen
        return []
    return fallen


def _raise_again(rank: NDArray[np.int64], made: NDArray[np.int64], unused: Collection[int]) -> None:
    """Let boundaries stand until a used token goes over them; rank and made are as in Boundaries, and changed."""
    boundaries = np.flatnonzero(made >= 0)
    boundaries = boundaries[np.argsort(made[boundaries])]
    turn_of, made_of = rank[boundaries].tolist(), made[boundaries].tolist()
    rank[boundaries], made[boundaries] = STANDS, -1
    start_of, end_of = list(range(len(rank))), list(range(len(rank)))  # of a token, by its last and its first symbol
    inside: dict[int, list[int]] = {}
    for boundary, turn, number in zip(boundaries.tolist(), turn_of, made_of, strict=True):
        start, end = start_of[boundary - 1], end_of[boundary]
        start_of[end], end_of[start] = start, end
        fallen = _fallen(inside, start, boundary, number & _RANK_BITS in unused)
        rank[fallen], made[fallen] = turn, number


def merges_in_order(symbols: Sequence[int], ranks: MergeSource) -> list[Fall]:
    """Merge the lowest rank present, leftmost first, again and again; ranks of one turn are alike.

    Where ranks sweep, all places of a rank are merged before anything else is looked at.
    Returns (start, boundary, rank) of every merge in order: the first base symbol of the token made, the base symbol
    before which a boundary fell, and the rank. n log n steps for n symbols.
    """
    n = len(symbols)
    symbol = list(symbols)
    left_of = list(range(-1, n - 1))
    right_of = list(range(1, n + 1))
    rank_of, n_base, turns = ranks.of, ranks.n_base, ranks.turns
    # What waits is turn << 32 | start; it is out of date if the rank of the pair there has another turn by now.
    waiting: list[int] = []
    rank_at: list[int | None] = [None] * n

    def offer(start: int) -> None:
        end = right_of[start]
        rank = None
        if end < n and symbol[start] != GAP and symbol[end] != GAP:
            rank = rank_of(symbol[start], symbol[end])
            if rank is not None:
                heapq.heappush(waiting, (rank if turns is None else turns[rank]) << 32 | start)
        rank_at[start] = rank

    for start in range(n - 1):
        offer(start)
    done: list[Fall] = []
    sweep: list[int] = []  # the places that are still to be merged before others, the last one first
    while sweep or waiting:
        lowest = sweep.pop() if sweep else heapq.heappop(waiting)
        turn, start = lowest >> 32, lowest & 0xFFFFFFFF
        rank = rank_at[start]
        if rank is None or (rank if turns is None else turns[rank]) != turn:
            continue
        if ranks.sweeps and not sweep:
            # They lie on top of the heap, from left to right; merging makes longer tokens, and so none of them anew.
            while waiting and waiting[0] >> 32 == turn:
                sweep.append(heapq.heappop(waiting))
            sweep.reverse()
        boundary = right_of[start]
        symbol[start] = n_base + rank
        rank_at[boundary] = None
        right_of[start] = right_of[boundary]
        if right_of[start] < n:
            left_of[right_of[start]] = start
        done.append((start, boundary, rank))
        offer(start)
        if left_of[start] >= 0:
            offer(left_of[start])
    return done
