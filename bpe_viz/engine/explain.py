"""Why a text was split so: for each pre-token, every merge that applied, in order."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from bpe_viz.engine.boundaries import merges_in_order
from bpe_viz.engine.pipeline import SetTokens

if TYPE_CHECKING:
    from bpe_viz.engine.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True)
class AppliedMerge:
    """One merge at one place.

    rank: of the merge
    left, right, made: symbol ids
    symbols: the whole pre-token after it; GAP where the base lacks the character
    at: index in symbols of what was made
    """

    rank: int
    left: int
    right: int
    made: int
    symbols: tuple[int, ...]
    at: int


@dataclass(frozen=True, slots=True)
class Explanation:
    """One pre-token's way from base symbols to tokens.

    pretoken: its text, normalized as it was encoded
    pieces: the bytes of each base symbol
    first: its base symbols; GAP where the base lacks the character
    merges: every merge that applied, in order
    whole: the symbol of a pre-token that is taken whole because it is a token, though its merges would not make it
    special_id: the id, if it is a token that no merge makes or touches: a special one, or one of a model that is not BPE
    """

    pretoken: str
    pieces: tuple[bytes, ...]
    first: tuple[int, ...]
    merges: tuple[AppliedMerge, ...]
    special_id: int | None = None
    whole: int | None = None

    @property
    def symbols(self) -> tuple[int, ...]:
        """The symbols at the end."""
        if self.whole is not None:
            return (self.whole,)
        return self.merges[-1].symbols if self.merges else self.first


def explain(tokenizer: Tokenizer, text: str, around: bool = True) -> list[Explanation]:
    """Explain every pre-token of a text, in order, at the tokenizer's position.

    around: with the tokens that the tokenizer's file puts around a text
    """
    explanations: list[Explanation] = []
    for part in tokenizer.pipeline.prepare(text, "allow", around).parts:
        if isinstance(part, SetTokens):
            for token_id, content in zip(part.ids, part.contents, strict=True):
                shown = content.decode(errors="replace")
                explanations.append(Explanation(shown, (content,), (), (), special_id=token_id))
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
    symbol: list[int] = list(first)
    standing = list(range(len(symbol)))
    merges: list[AppliedMerge] = []
    for start, boundary, rank in merges_in_order(first, ranks):
        if rank >= position:
            break
        left, right = symbol[start], symbol[boundary]
        symbol[start] = ranks.n_base + rank
        standing.remove(boundary)
        merges.append(
            AppliedMerge(rank, left, right, symbol[start], tuple(symbol[i] for i in standing), standing.index(start))
        )
    if whole is not None and len(standing) > 1:
        return Explanation(text, pieces, tuple(first), (), whole=ranks.n_base + whole.number)
    return Explanation(text, pieces, tuple(first), tuple(merges))
