"""Lists of pairs as files hold them, in which lines may repeat each other."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bpe_viz.engine.merge_ranks import PairEntries, Whole
from bpe_viz.engine.number_table import NumberTable
from bpe_viz.engine.packing import pack, unpack
from bpe_viz.engine.types import Pair


class ListedRanks:
    """A list as files hold it, in which lines may make the same token: pair -> rank of the last line that has it.

    Each rank has a symbol of its own all the same, which tells by which line a token was made; merges go on from all
    symbols of one token alike. Behind them stand the symbols of tokens that no line makes.
    Source: huggingface/tokenizers, models/bpe/model.rs and word.rs; subword-nmt, apply_bpe.py, which sweeps.
    """

    ascends = False
    unused: Collection[int] = ()
    turns: Sequence[int] | None = None

    def __init__(
        self,
        n_base: int,
        left: NDArray[np.int32],
        right: NDArray[np.int32],
        made: NDArray[np.int32],
        numbers: Mapping[bytes, int] | None = None,
        sweeps: bool = False,
    ) -> None:
        """Take the list over.

        left, right: (ranks,) the first symbols of the tokens that each line joins
        made: (ranks,) the first symbol of the token that each line makes
        numbers: the symbols, base symbols not counted, of pre-tokens that are taken whole once all merges apply
        sweeps: as in MergeSource
        """
        self.n_base = n_base
        self._left, self._right, self._made = left, right, made
        self._numbers = dict(numbers or {})
        self.takes_whole = numbers is not None
        self.sweeps = sweeps
        self._rank = NumberTable.last_places(left.astype(np.int64) << 32 | right)
        self._first_at = made.data

    def __getstate__(self) -> dict[str, Any]:
        """Pack the list for another process."""
        state = {name: value for name, value in vars(self).items() if name != "_first_at"}
        return {**state, "_numbers": pack(self._numbers)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Unpack it."""
        vars(self).update(state, _numbers={}, _first_at=state["_made"].data)
        for piece in unpack(state["_numbers"]):
            self._numbers.update(piece)

    def __len__(self) -> int:
        return len(self._made)

    @property
    def goes_back(self) -> bool:
        """Whether a merge can make a pair of lower rank than its own, so that sweeping may give another split."""
        ranks = self._rank.values
        symbols = np.concatenate((self._left[ranks], self._right[ranks]))
        n_symbols = int(max(symbols.max(initial=0), self._made.max(initial=0))) + 1
        first_use = np.full(n_symbols, len(self), dtype=np.int64)
        np.minimum.at(first_use, symbols, np.concatenate((ranks, ranks)))
        return bool((first_use[self._made[ranks]] < ranks).any())

    @property
    def n_repeated(self) -> int:
        """How many lines join a pair that a later line joins again, so that they never apply."""
        return len(self) - len(self._rank)

    def of(self, left: int, right: int) -> int | None:
        """Return the rank of a pair, None if it is no merge."""
        n_base, n_ranks, first = self.n_base, len(self._made), self._first_at
        if n_base <= left < n_base + n_ranks:
            left = first[left - n_base]
        if n_base <= right < n_base + n_ranks:
            right = first[right - n_base]
        return self._rank.get(left << 32 | right)

    def whole(self, pretoken: bytes) -> Whole | None:
        """Return the symbol of a pre-token that is a token: it counts when all merges apply, and not before."""
        number = self._numbers.get(pretoken)
        return None if number is None else Whole(len(self) - 1, number)

    def wholes(self, position: int) -> Iterable[tuple[bytes, int]]:
        """Return every pre-token that is a token if all merges apply."""
        if position < len(self):
            return ()
        return ((content, self.n_base + number) for content, number in self._numbers.items())

    def makes(self) -> NDArray[np.int32]:
        """Return the first symbol of the token that each rank makes."""
        return self._made

    def pair(self, rank: int) -> Pair | None:
        """Return the pair of a rank, None for a token that no merge makes."""
        return Pair(int(self._left[rank]), int(self._right[rank])) if 0 <= rank < len(self) else None

    def pairs(self, n: int) -> list[Pair]:
        """Return the pairs of the first n lines; but of those that a later line joins again only if it is there too."""
        left, right = self._left[:n], self._right[:n]
        last = self._rank.values[np.searchsorted(self._rank.keys, left.astype(np.int64) << 32 | right)]
        return [Pair(a, b) for a, b in zip(left[last < n].tolist(), right[last < n].tolist(), strict=True)]

    def entries(self, n: int) -> PairEntries:
        """Return the pairs of the first n lines that apply."""
        ranks = np.sort(self._rank.values)
        ranks = ranks[ranks < n]
        return PairEntries(self._left[ranks], self._right[ranks], ranks)
