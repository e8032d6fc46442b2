"""Why a text was split so: for each pre-token, every merge that applied, in order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from bpe_viz.engine.boundaries import merges_in_order, split_symbols
from bpe_viz.engine.pipeline import SetTokens

if TYPE_CHECKING:
    from bpe_viz.engine.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True)
class AppliedMerge:
    """One merge at one place.

    rank: of the merge
    left, right, made: symbol ids
    start, end: the base symbols that what was made stands for, the end not included
    """

    rank: int
    left: int
    right: int
    made: int
    start: int
    end: int


class Split(NamedTuple):
    """What stands after a merge, all of it or only what is near.

    symbols: in order; GAP where the base lacks the character
    at: index in them of what was made
    is_cut_before, is_cut_after: there is more on that side
    """

    symbols: tuple[int, ...]
    at: int
    is_cut_before: bool = False
    is_cut_after: bool = False


@dataclass(frozen=True, slots=True)
class Explanation:
    """One pre-token's way from base symbols to tokens.

    pretoken: its text, normalized as it was encoded
    pieces: the bytes of each base symbol
    first: its base symbols; GAP where the base lacks the character
    merges: every merge that applied, in order
    symbols: the symbols at the end
    whole: the symbol of a pre-token that is taken whole because it is a token, though its merges would not make it
    special_id: the id, if it is a token that no merge makes: a special one, or one of a model that is not BPE
    """

    pretoken: str
    pieces: tuple[bytes, ...]
    first: tuple[int, ...]
    merges: tuple[AppliedMerge, ...]
    symbols: tuple[int, ...]
    special_id: int | None = None
    whole: int | None = None

    def splits(self, reach: int | None = None) -> Iterator[Split]:
        """Yield what stands after each merge.

        reach: at most so many symbols on either side of what was made; None: all. A pre-token of n base symbols may
            have n merges, so all of them are a square of its length.
        """
        n = len(self.first)
        reach = n if reach is None else reach
        symbol = list(self.first)
        left_of, right_of = list(range(-1, n - 1)), list(range(1, n + 1))
        for merge in self.merges:
            symbol[merge.start] = merge.made
            right_of[merge.start] = merge.end
            if merge.end < n:
                left_of[merge.end] = merge.start
            before: list[int] = []
            place = left_of[merge.start]
            while place >= 0 and len(before) < reach:
                before.append(symbol[place])
                place = left_of[place]
            after: list[int] = []
            behind = merge.end
            while behind < n and len(after) < reach:
                after.append(symbol[behind])
                behind = right_of[behind]
            yield Split((*reversed(before), merge.made, *after), len(before), place >= 0, behind < n)


def explain(tokenizer: Tokenizer, text: str, around: bool = True) -> list[Explanation]:
    """Explain every pre-token of a text, in order, at the tokenizer's position.

    around: with the tokens that the tokenizer's file puts around a text
    """
    explanations: list[Explanation] = []
    for part in tokenizer.pipeline.prepare(text, "allow", around).parts:
        if isinstance(part, SetTokens):
            for token_id, content in zip(part.ids, part.contents, strict=True):
                shown = content.decode(errors="replace")
                explanations.append(Explanation(shown, (content,), (), (), (), special_id=token_id))
        else:
            explanations += [explain_pretoken(tokenizer, pretoken) for pretoken in part.pretokens]
    return explanations


def explain_pretoken(tokenizer: Tokenizer, pretoken: bytes) -> Explanation:
    """Explain one pre-token, taken as it is."""
    first, widths = tokenizer.base.start(pretoken)
    ends = list(accumulate(widths))
    pieces = tuple(pretoken[end - width : end] for end, width in zip(ends, widths, strict=True))
    text = pretoken.decode(errors="replace")
    ranks = tokenizer.merge_ranks
    position = tokenizer.position
    whole = ranks.whole(pretoken) if ranks.takes_whole else None
    if whole is not None and whole.rank < position:
        position = whole.rank + 1
    else:
        whole = None
    symbol = list(first)
    end_of = list(range(1, len(symbol) + 1))
    merges: list[AppliedMerge] = []
    for start, boundary, rank in merges_in_order(first, ranks):
        if (rank if ranks.turns is None else ranks.turns[rank]) >= position:
            break
        made, end = ranks.n_base + rank, end_of[boundary]
        merges.append(AppliedMerge(rank, symbol[start], symbol[boundary], made, start, end))
        symbol[start], end_of[start] = made, end
    if ranks.unused:
        # What is unused falls back at the end.
        return Explanation(text, pieces, tuple(first), tuple(merges), tuple(split_symbols(first, ranks, position)))
    symbols: list[int] = []
    place = 0
    while place < len(symbol):
        symbols.append(symbol[place])
        place = end_of[place]
    if whole is not None and len(symbols) > 1:
        taken = ranks.n_base + whole.number
        return Explanation(text, pieces, tuple(first), (), (taken,), whole=taken)
    return Explanation(text, pieces, tuple(first), tuple(merges), tuple(symbols))
