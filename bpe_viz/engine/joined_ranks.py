"""Lists of tokens, as tiktoken's ranks and SentencePiece's scores are: what is listed when joined, merges."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bpe_viz.engine.boundaries import merges_in_order, split_symbols
from bpe_viz.engine.merge_ranks import PairEntries, Whole
from bpe_viz.engine.packing import pack, unpack
from bpe_viz.engine.types import Pair
from bpe_viz.errors import FormatError

_SHORT = 256
"""Bytes of a token whose pairs are looked at one by one."""


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
