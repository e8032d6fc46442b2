"""BPE by scores: two neighbours merge if their texts, joined, are a piece, the piece of the highest score first.

The list holds no merges but what they make. Source: google/sentencepiece, src/bpe_model.cc and model_interface.cc.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import regex

from bpe_viz.engine.boundaries import BoundaryRanks
from bpe_viz.engine.joined_ranks import ScoredPieces
from bpe_viz.engine.model_base import FirstSymbols
from bpe_viz.engine.sentencepiece_pipelines import PieceBase
from bpe_viz.engine.symbols import GAP, SymbolTable
from bpe_viz.engine.tokenizer import Tokenizer
from bpe_viz.engine.types import DEFAULT_MARKER, CountingOptions
from bpe_viz.formats._bpe_model import NotSteppedError
from bpe_viz.formats._sentencepiece_proto import BYTE, CONTROL, NORMAL, UNKNOWN, UNUSED, USER_DEFINED, ModelProto

_NO_LETTERS = {
    CONTROL: "a control piece",
    UNKNOWN: "the unknown piece",
    UNUSED: "unused: it merges, and is unknown by itself",
}
"""What letters are of which no base symbol can be made."""


def scored_pieces(model: ModelProto, special_ids: dict[str, int], unknown: str | None = None) -> Tokenizer:
    """Return a BPE model's tokenizer, its pipeline still to be set. Raises NotSteppedError.

    special_ids: the ids of the special tokens and the unknown one by text
    unknown: the text of the unknown one; None: no text ever becomes it
    """
    pieces = model.pieces
    letters = [number for number, piece in enumerate(pieces) if len(piece.text) == 1]
    for number in letters:
        if pieces[number].type in _NO_LETTERS:
            raise NotSteppedError(
                f"its piece {pieces[number].text!r} is a letter that is {_NO_LETTERS[pieces[number].type]}"
            )
    own = [number for number, piece in enumerate(pieces) if piece.type == USER_DEFINED]
    falls_apart = model.byte_fallback
    of_bytes = [number for number, piece in enumerate(pieces) if piece.type == BYTE] if falls_apart else []
    base_ids = list(dict.fromkeys([*letters, *own, *of_bytes]))
    merged = sorted(
        (number for number, piece in enumerate(pieces) if piece.type in (NORMAL, UNUSED) and len(piece.text) > 1),
        key=lambda number: -pieces[number].score,
    )
    turns = _turns(model, merged)
    known = {pieces[number].text for number in letters if pieces[number].type != BYTE}
    if lacking := next((one for number in merged for one in pieces[number].text if one not in known), None):
        raise NotSteppedError(f"its pieces hold {lacking!r}, which is no piece by itself")
    base = _base(model, base_ids, frozenset(own))
    others = sorted(set(range(len(pieces))) - set(base_ids) - set(merged))
    ids = [*base_ids, *merged, *others]
    texts = [pieces[number].text.encode() for number in ids]
    frozen = frozenset(symbol for symbol, number in enumerate(base_ids) if pieces[number].type in (USER_DEFINED, BYTE))
    unused = frozenset(rank for rank, number in enumerate(merged) if pieces[number].type == UNUSED)
    made = texts[len(base_ids) : len(base_ids) + len(merged)]
    ranks = ScoredPieces(texts[: len(base_ids)], made, frozen, turns, unused)
    symbols = SymbolTable(
        base,
        np.frombuffer(b"".join(texts), np.uint8),
        np.concatenate(([0], np.cumsum([len(text) for text in texts], dtype=np.int64))),
        np.zeros(len(texts), dtype=np.uint8),
        len(texts),
        len(others),
    )
    tokenizer = Tokenizer(
        symbols,
        BoundaryRanks(base, ranks),
        CountingOptions(special_tokens=tuple(text for text in special_ids if text != unknown)),
        unknown=unknown,
        ids=np.array(ids, dtype=np.int64),
        special_ids=special_ids,
    )
    if turns is not None:
        n_alike = sum(number for number in Counter(turns).values() if number > 1)
        tokenizer.notes = (f"Pieces that share their score with others apply together: {n_alike:,}.",)
    if unused:
        tokenizer.notes += (
            f"Unused pieces merge on the way to others, and fall back into what they were made of: {len(unused):,}.",
        )
    return tokenizer


def _turns(model: ModelProto, merged: Sequence[int]) -> list[int] | None:
    """Return behind which rank each piece applies: pieces of one score come first alike, the leftmost is taken."""
    scores = [model.pieces[number].score for number in merged]
    if any(score != score for score in scores):
        raise NotSteppedError("a score is no number")
    if len(set(scores)) == len(scores):
        return None
    last = {score: rank for rank, score in enumerate(scores)}
    return [last[score] for score in scores]


def _base(model: ModelProto, base_ids: Sequence[int], own: frozenset[int]) -> PieceBase:
    pieces = model.pieces
    table = {
        pieces[number].text.encode(): symbol
        for symbol, number in enumerate(base_ids)
        if number in own or pieces[number].type not in (BYTE, CONTROL, UNKNOWN)
    }
    of_byte = {
        int(pieces[number].text[3:5], 16): symbol
        for symbol, number in enumerate(base_ids)
        if pieces[number].type == BYTE
    }
    longest_first = sorted((pieces[number].text for number in own), key=lambda text: -len(text))
    return PieceBase(
        "characters",
        "none",
        DEFAULT_MARKER,
        tuple(pieces[number].text.encode() for number in base_ids),
        (False,) * len(base_ids),
        FirstSymbols(table, table, table, table, of_byte or None, unknown=GAP, fuses=True),
        regex.compile("|".join(map(regex.escape, longest_first))) if longest_first else None,
    )
