"""What merges with what, and at which rank: the one thing in which merge lists differ.

A trained list names pairs. A list of ranks, as tiktoken's files hold, names only what a merge makes: any two neighbours
whose bytes, joined, are in the list may merge, and a pre-token that is in the list as a whole is taken whole. Whatever
encodes or explains asks a MergeSource and need not know which of the two it has.

Both share one history of a pre-token. Limited to the first K ranks, "merge the lowest rank present, again and again"
makes the same merges as without a limit, up to the first whose rank is K or more; so one run holds every position.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from bpe_viz.engine.types import Pair
from bpe_viz.errors import FormatError

if TYPE_CHECKING:
    from bpe_viz.engine.timeline import Published


class PairEntries(NamedTuple):
    """Every pair that merges; arrays of one length, ascending by rank.

    left, right: int32, symbol ids
    rank: int64
    """

    left: NDArray[np.int32]
    right: NDArray[np.int32]
    rank: NDArray[np.int64]


class MergeSource(Protocol):
    """What merges; symbol ids are base symbols, then what each rank makes.

    n_base: how many base symbols there are
    takes_whole: a pre-token that is a token is taken whole, whatever its merges would give
    ascends: no merge makes a pair of lower rank than its own, so the highest rank is the last
    """

    n_base: int
    takes_whole: bool
    ascends: bool

    def __len__(self) -> int:
        """How many ranks there are."""

    def of(self, left: int, right: int) -> int | None:
        """Return the rank of what two neighbours make, None if they do not merge."""

    def whole(self, pretoken: bytes) -> int | None:
        """Return the rank of a pre-token that is taken whole, None if it is not."""

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

    def __init__(self, n_base: int, pairs: Iterable[tuple[int, int]] = ()) -> None:
        self.n_base = n_base
        self._rank: dict[int, int] = {}
        self._pairs: list[tuple[int, int]] = []
        self.extend(pairs)

    def __len__(self) -> int:
        return len(self._pairs)

    def extend(self, pairs: Iterable[tuple[int, int]]) -> None:
        """Learn the merges that follow. A pair that is listed twice keeps its first rank."""
        for left, right in pairs:
            self._rank.setdefault(left << 32 | right, len(self._pairs))
            self._pairs.append((left, right))

    def follow(self, published: Published) -> None:
        """Learn what has been trained since."""
        if published.frontier > len(self):
            slots = published.merged_slot[len(self) : published.frontier]
            self.extend(zip(published.left[slots].tolist(), published.right[slots].tolist(), strict=True))

    def of(self, left: int, right: int) -> int | None:
        """Return the rank of a pair, None if it is no merge."""
        return self._rank.get(left << 32 | right)

    def whole(self, pretoken: bytes) -> int | None:
        """Return None: a list of pairs takes nothing whole."""
        return None

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


class JoinedRanks:
    """A list of tokens: the bytes of two neighbours, joined -> rank. Source: tiktoken, src/lib.rs."""

    takes_whole = True
    ascends = False

    def __init__(self, base: Sequence[bytes], tokens: Sequence[bytes]) -> None:
        """Take the list over.

        base: the bytes of each base symbol, one byte each
        tokens: the bytes of all others, ascending by rank; none comes twice
        """
        self.n_base = len(base)
        self._content = [*base, *tokens]
        self._symbol = {content: symbol for symbol, content in enumerate(self._content)}

    def __len__(self) -> int:
        return len(self._content) - self.n_base

    def of(self, left: int, right: int) -> int | None:
        """Return the rank of the joined bytes of two symbols, None if they are no token."""
        made = self._symbol.get(self._content[left] + self._content[right])
        return None if made is None else made - self.n_base

    def whole(self, pretoken: bytes) -> int | None:
        """Return the rank of a pre-token that is a token; None for one byte, which is a base symbol."""
        symbol = self._symbol.get(pretoken, -1)
        return symbol - self.n_base if symbol >= self.n_base else None

    def pair(self, rank: int) -> Pair | None:
        """Return the two symbols that the token's bytes merge to just before its rank; None if they are not two."""
        from bpe_viz.engine.boundaries import split_symbols

        content = self._content[self.n_base + rank]
        parts = split_symbols([self._symbol[content[i : i + 1]] for i in range(len(content))], self, rank)
        return Pair(*parts) if len(parts) == 2 else None

    def pairs(self, n: int) -> list[Pair]:
        """Raise FormatError: which pair makes a token depends on what stands around it."""
        raise FormatError(
            "This tokenizer is a list of ranks: it merges by joined bytes and has no list of pairs.",
            "Save it as .tiktoken.",
        )

    def entries(self, n: int) -> PairEntries:
        """Return every way to cut each of the first n tokens into two tokens."""
        limit = self.n_base + n
        found: list[int] = []
        find = self._symbol.get
        for made in range(self.n_base, limit):
            content = self._content[made]
            for cut in range(1, len(content)):
                left = find(content[:cut], limit)
                if left < limit and (right := find(content[cut:], limit)) < limit:
                    found += (left, right, made - self.n_base)
        table = np.array(found, dtype=np.int64).reshape(-1, 3)
        left_ids, right_ids = table[:, 0].astype(np.int32), table[:, 1].astype(np.int32)
        return PairEntries(left_ids, right_ids, np.ascontiguousarray(table[:, 2]))
