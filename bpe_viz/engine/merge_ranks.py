"""What merges with what, and at which rank: the one thing in which merge lists differ.

A trained list names pairs. A list of ranks, as tiktoken's files hold, names only what a merge makes: any two neighbours
whose bytes, joined, are in the list may merge, and a pre-token that is in the list as a whole is taken whole. Whatever
encodes or explains asks a MergeSource and need not know which of the two it has.

Both share one history of a pre-token. Limited to the first K ranks, "merge the lowest rank present, again and again"
makes the same merges as without a limit, up to the first whose rank is K or more; so one run holds every position.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from bpe_viz.engine.packing import ENTRIES_A_PIECE
from bpe_viz.engine.types import Pair

if TYPE_CHECKING:
    from bpe_viz.engine.published import Published


class PairEntries(NamedTuple):
    """Every pair that merges; arrays of one length, ascending by rank.

    left, right: int32, symbol ids
    rank: int64
    """

    left: NDArray[np.int32]
    right: NDArray[np.int32]
    rank: NDArray[np.int64]


class Whole(NamedTuple):
    """A pre-token that is taken whole because it is a token.

    rank: from behind this rank on; -1 where that is always
    number: of its symbol, base symbols not counted
    """

    rank: int
    number: int


class MergeSource(Protocol):
    """What merges; symbol ids are base symbols, then what each rank makes.

    n_base: how many base symbols there are
    takes_whole: some pre-tokens that are tokens are taken whole, whatever their merges would give
    ascends: no merge makes a pair of lower rank than its own, so the highest rank is the last
    turns: the rank behind which each rank applies, where several are alike and the leftmost is taken, whichever it is;
        None: each rank is alone
    sweeps: a rank merges at all its places, from the left, before a lower one that this makes possible
    unused: the ranks whose tokens only lead to others: what is one at the end falls back into what it was made of
    """

    n_base: int
    takes_whole: bool
    ascends: bool
    turns: Sequence[int] | None
    sweeps: bool
    unused: Collection[int]

    def __len__(self) -> int:
        """How many ranks there are."""

    def of(self, left: int, right: int) -> int | None:
        """Return the rank of what two neighbours make, None if they do not merge."""

    def whole(self, pretoken: bytes) -> Whole | None:
        """Return as what, and from when on, a pre-token is taken whole, None if it is not."""

    def wholes(self, position: int) -> Iterable[tuple[bytes, int]]:
        """Return the pre-tokens that are taken whole after `position` merges, and their symbols."""

    def makes(self) -> NDArray[np.int32]:
        """Return the symbol that each rank makes, for a merge to go on from: (ranks,) int32."""

    def pair(self, rank: int) -> Pair | None:
        """Return the pair that makes the token of a rank, None if there is no such pair."""

    def pairs(self, n: int) -> list[Pair]:
        """Return the pairs of the first n ranks. Raises FormatError if the list has no pairs."""

    def entries(self, n: int) -> PairEntries:
        """Return every pair of the first n ranks, for a hash table."""


class MergeRanks:
    """A list of pairs: pair -> rank, for as many merges as are known."""

    takes_whole = False
    ascends = True
    sweeps = False
    unused: Collection[int] = ()
    turns: Sequence[int] | None = None

    def __init__(self, n_base: int, pairs: Iterable[tuple[int, int]] = ()) -> None:
        self.n_base = n_base
        self._rank: dict[int, int] = {}
        self._pairs: list[tuple[int, int]] = []
        self.extend(pairs)

    def __len__(self) -> int:
        return len(self._pairs)

    def __getstate__(self) -> dict[str, Any]:
        """Pack the list for another process, as an array, to be made anew in pieces."""
        return {"n_base": self.n_base, "pairs": np.array(self._pairs, dtype=np.int32).reshape(-1, 2)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Unpack it."""
        self.n_base, self._rank, self._pairs = state["n_base"], {}, []
        pairs = state["pairs"]
        for start in range(0, len(pairs), ENTRIES_A_PIECE):
            self.extend(map(tuple, pairs[start : start + ENTRIES_A_PIECE].tolist()))

    def extend(self, pairs: Iterable[tuple[int, int]]) -> None:
        """Learn the merges that follow. A pair that is listed twice keeps its first rank."""
        first = len(self._pairs)
        self._pairs.extend(pairs)
        keys = [left << 32 | right for left, right in self._pairs[first:]]
        if len(set(keys)) == len(keys) and self._rank.keys().isdisjoint(keys):
            self._rank.update(zip(keys, range(first, first + len(keys)), strict=True))
            return
        for rank, key in enumerate(keys, first):
            self._rank.setdefault(key, rank)

    def follow(self, published: Published) -> None:
        """Learn what has been trained since."""
        if published.frontier > len(self):
            slots = published.merged_slot[len(self) : published.frontier]
            self.extend(zip(published.left[slots].tolist(), published.right[slots].tolist(), strict=True))

    def of(self, left: int, right: int) -> int | None:
        """Return the rank of a pair, None if it is no merge."""
        return self._rank.get(left << 32 | right)

    def whole(self, pretoken: bytes) -> Whole | None:
        """Return None: a list of pairs takes nothing whole."""
        return None

    def wholes(self, position: int) -> Iterable[tuple[bytes, int]]:
        """Return nothing."""
        return ()

    def makes(self) -> NDArray[np.int32]:
        """Return the symbols in order: each rank makes one of its own."""
        return np.arange(self.n_base, self.n_base + len(self), dtype=np.int32)

    def pair(self, rank: int) -> Pair:
        """Return the pair of a rank."""
        return Pair(*self._pairs[rank])

    def pairs(self, n: int) -> list[Pair]:
        """Return the first n pairs, in rank order."""
        return [Pair(left, right) for left, right in self._pairs[:n]]

    def entries(self, n: int) -> PairEntries:
        """Return the first n pairs."""
        pairs = np.array(self._pairs[:n], dtype=np.int32).reshape(-1, 2)
        left, right = np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1])
        return PairEntries(left, right, np.arange(len(pairs), dtype=np.int64))
