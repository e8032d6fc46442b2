"""What merges with what, and at which rank: the one thing in which merge lists differ.

A trained list names pairs. A list of ranks, as tiktoken's files hold, names only what a merge makes: any two neighbours
whose bytes, joined, are in the list may merge, and a pre-token that is in the list as a whole is taken whole. Whatever
encodes or explains asks a MergeSource and need not know which of the two it has.

Both share one history of a pre-token. Limited to the first K ranks, "merge the lowest rank present, again and again"
makes the same merges as without a limit, up to the first whose rank is K or more; so one run holds every position.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from bpe_viz.engine.number_table import NumberTable
from bpe_viz.engine.packing import ENTRIES_A_PIECE, pack, unpack
from bpe_viz.engine.types import Pair
from bpe_viz.errors import FormatError

if TYPE_CHECKING:
    from bpe_viz.engine.timeline import Published

_SHORT = 256
"""Bytes of a token whose pairs are looked at one by one."""


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


class JoinedRanks:
    """A list of tokens: the bytes of two neighbours, joined -> rank. Source: tiktoken, src/lib.rs."""

    takes_whole = True
    ascends = False
    sweeps = False
    unused: Collection[int] = ()
    turns: Sequence[int] | None = None

    def __init__(self, base: Sequence[bytes], tokens: Sequence[bytes]) -> None:
        """Take the list over.

        base: the bytes of each base symbol, one byte each
        tokens: the bytes of all others, ascending by rank; none comes twice
        """
        self.n_base = len(base)
        self._content = [*base, *tokens]
        self._symbol = {content: symbol for symbol, content in enumerate(self._content)}

    def __getstate__(self) -> dict[str, Any]:
        """Pack the list for another process, in pieces."""
        state = {name: value for name, value in vars(self).items() if name != "_symbol"}
        return {**state, "_content": pack(self._content)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Unpack it."""
        vars(self).update(state, _content=[], _symbol={})
        for piece in unpack(state["_content"]):
            first = len(self._content)
            self._content += piece
            self._symbol.update(zip(piece, range(first, len(self._content)), strict=True))

    def __len__(self) -> int:
        return len(self._content) - self.n_base

    def of(self, left: int, right: int) -> int | None:
        """Return the rank of the joined bytes of two symbols, None if they are no token."""
        made = self._symbol.get(self._content[left] + self._content[right])
        return None if made is None else made - self.n_base

    def whole(self, pretoken: bytes) -> Whole | None:
        """Return the rank of a pre-token that is a token; None for one byte, which is a base symbol."""
        rank = self._symbol.get(pretoken, -1) - self.n_base
        return Whole(rank, rank) if rank >= 0 else None

    def wholes(self, position: int) -> Iterable[tuple[bytes, int]]:
        """Return every token up to a position."""
        return zip(self._content[: self.n_base + position], range(self.n_base + position), strict=True)

    def makes(self) -> NDArray[np.int32]:
        """Return the symbols in order: each rank makes one of its own."""
        return np.arange(self.n_base, len(self._content), dtype=np.int32)

    def pair(self, rank: int) -> Pair | None:
        """Return the two symbols that the token's bytes merge to just before its rank; None if they are not two."""
        from bpe_viz.engine.boundaries import split_symbols

        parts = split_symbols(self._first_symbols(self._content[self.n_base + rank]), self, rank)
        return Pair(*parts) if len(parts) == 2 else None

    def _first_symbols(self, content: bytes) -> list[int]:
        return [self._symbol[content[i : i + 1]] for i in range(len(content))]

    def merging_pairs(self, n: int) -> list[Pair | None]:
        """Return for each of the first n ranks the one pair that ever makes its token while no others apply.

        None: no merge makes it, and only a pre-token that is taken whole becomes it.
        Wherever a token is made, no merge before has crossed its edges; those inside were, in order, those that its
        bytes alone would undergo. So the last of these is the only pair that makes it, though others would join to it.
        """
        contents = self._content[self.n_base : self.n_base + n]
        return [
            self._last_of_short(content, n) if len(content) <= _SHORT else self._last_merge(rank, n)
            for rank, content in enumerate(contents)
        ]

    def _last_of_short(self, content: bytes, n: int) -> Pair | None:
        """Do what _last_merge does: for few bytes it is quicker to look at all pairs again and again."""
        find, limit = self._symbol.get, self.n_base + n
        parts = [content[i : i + 1] for i in range(len(content))]
        joined = [find(left + right, limit) for left, right in pairwise(parts)]
        while len(parts) > 2:
            lowest = min(joined)
            if lowest >= limit:
                return None
            at = joined.index(lowest)
            parts[at : at + 2] = [parts[at] + parts[at + 1]]
            del joined[at]
            if at < len(joined):
                joined[at] = find(parts[at] + parts[at + 1], limit)
            if at > 0:
                joined[at - 1] = find(parts[at - 1] + parts[at], limit)
        return Pair(self._symbol[parts[0]], self._symbol[parts[1]])

    def _last_merge(self, rank: int, n: int) -> Pair | None:
        from bpe_viz.engine.boundaries import merges_in_order

        symbol = self._first_symbols(self._content[self.n_base + rank])
        for start, boundary, made in merges_in_order(tuple(symbol), self):
            if made == rank:
                return Pair(symbol[start], symbol[boundary])
            if made >= n:
                return None
            symbol[start] = self.n_base + made
        return None

    def pairs(self, n: int) -> list[Pair]:
        """Return the pairs that make the first n tokens, and nothing else.

        Raises FormatError if one is only made by taking a pre-token whole, which a list of pairs does not tell.
        """
        found = self.merging_pairs(n)
        if None in found:
            whole = self._content[self.n_base + found.index(None)]
            raise FormatError(
                f"No merge makes the token {whole!r}, which is only taken where it is a whole pre-token, and a list of "
                f"pairs cannot tell so. There are {found.count(None):,} of them.",
                "Save as .json or .tiktoken.",
            )
        return [pair for pair in found if pair is not None]

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


class ScoredPieces(JoinedRanks):
    """SentencePiece's list: the text of two neighbours, joined -> rank. Source: sentencepiece, src/bpe_model.cc."""

    takes_whole = False

    def __init__(
        self,
        base: Sequence[bytes],
        pieces: Sequence[bytes],
        frozen: frozenset[int] = frozenset(),
        turns: Sequence[int] | None = None,
        unused: frozenset[int] = frozenset(),
    ) -> None:
        """Take the list over.

        base: the text of each base symbol: one character, or a piece that is cut out and never merges
        pieces: the text of all that merges make, the highest score first; no text comes twice, and all their
            characters are in base
        frozen: the base symbols that never merge
        turns, unused: as in MergeSource; turns where pieces have the same score
        """
        super().__init__(base, pieces)
        self._frozen = frozen
        self.turns = turns
        self.unused = unused
        self._leave_out_frozen()

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Unpack the list."""
        super().__setstate__(state)
        self._leave_out_frozen()

    def _leave_out_frozen(self) -> None:
        for symbol in self._frozen:
            del self._symbol[self._content[symbol]]

    def of(self, left: int, right: int) -> int | None:
        """Return the rank of the joined text of two symbols, None if it is no piece."""
        return None if left in self._frozen or right in self._frozen else super().of(left, right)

    def whole(self, pretoken: bytes) -> Whole | None:
        """Return None: a text is a token only if its merges make it."""
        return None

    def wholes(self, position: int) -> Iterable[tuple[bytes, int]]:
        """Return nothing."""
        return ()

    def pair(self, rank: int) -> Pair | None:
        """Return the two symbols whose merge makes the piece out of its characters; None if these do not make it."""
        return self._last_merge(rank, len(self))

    def _first_symbols(self, content: bytes) -> list[int]:
        found = [self._symbol.get(one.encode()) for one in content.decode()]
        symbols = [one for one in found if one is not None]
        # A character that is cut out before any merge leaves nothing to merge.
        return symbols if len(symbols) == len(found) else []

    def pairs(self, n: int) -> list[Pair]:
        """Raise FormatError: pieces of one score apply together, and no list of pairs says so."""
        raise FormatError("This tokenizer is a list of scores, and has no list of pairs.", "Keep its file.")


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
