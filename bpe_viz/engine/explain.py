"""Why a text was split so: for each pre-token, every merge that applied, in order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bpe_viz.engine.boundaries import merges_in_order
from bpe_viz.engine.layout import aligned_normalize
from bpe_viz.engine.pretokenize import pretokenizer_for
from bpe_viz.engine.segments import cut_special_tokens

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
    special_id: the id, if it is a special token and was not split at all
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


def explain(tokenizer: Tokenizer, text: str) -> list[Explanation]:
    """Explain every pre-token of a text, in order, at the tokenizer's position."""
    explanations: list[Explanation] = []
    pretokenizer = pretokenizer_for(tokenizer.counting)
    for stretch, is_special in cut_special_tokens(text, tokenizer.counting.special_tokens):
        if is_special:
            explanations.append(Explanation(stretch, (stretch.encode(),), (), (), tokenizer.special_ids[stretch]))
            continue
        normalized, _ = aligned_normalize(stretch, tokenizer.counting.normalize)
        explanations += [explain_pretoken(tokenizer, normalized[a:b]) for a, b in pretokenizer.spans(normalized)]
    return explanations


def explain_pretoken(tokenizer: Tokenizer, pretoken: str) -> Explanation:
    """Explain one pre-token, taken as it is."""
    content = pretoken.encode()
    pieces = tokenizer.base.pieces(content)
    first = tokenizer.base.symbols(pieces)
    ranks = tokenizer.merge_ranks
    whole = ranks.whole(content)
    position = tokenizer.position
    if whole is not None and whole < position:
        position = whole + 1
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
        return Explanation(pretoken, tuple(pieces), tuple(first), (), whole=ranks.n_base + whole)
    return Explanation(pretoken, tuple(pieces), tuple(first), tuple(merges))
