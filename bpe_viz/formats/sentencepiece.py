"""SentencePiece's `.model`: pieces with scores, and a normalizer. BPE is shown merge by merge, others as they are.

The list holds no merges but what they make: two neighbours merge if their texts, joined, are a piece, and the piece of
the highest score comes first. Source: google/sentencepiece, src/bpe_model.cc and model_interface.cc.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import regex

from bpe_viz.engine.boundaries import BoundaryRanks
from bpe_viz.engine.merge_ranks import ScoredPieces
from bpe_viz.engine.model_base import FirstSymbols
from bpe_viz.engine.sentencepiece_pipelines import (
    NormalizerPipeline,
    PieceBase,
    PiecesPipeline,
    sentencepiece_processor,
)
from bpe_viz.engine.symbols import GAP, SymbolTable
from bpe_viz.engine.tokenizer import Tokenizer
from bpe_viz.engine.types import DEFAULT_MARKER, CountingOptions
from bpe_viz.errors import FormatError
from bpe_viz.formats import Format, refuse_pretokenizer
from bpe_viz.formats._bpe_model import NotSteppedError
from bpe_viz.formats._own_library import Encode, OwnLibrary
from bpe_viz.formats._reading import AGAIN, read_whole
from bpe_viz.formats._sentencepiece_proto import (
    BYTE,
    CONTROL,
    KINDS,
    NORMAL,
    UNKNOWN,
    UNUSED,
    USER_DEFINED,
    ModelProto,
    WireError,
    looks_like_sentencepiece,
    read_model,
)
from bpe_viz.formats._tokens_only import tokens_only

_NO_LETTERS = {
    CONTROL: "a control piece",
    UNKNOWN: "the unknown piece",
    UNUSED: "unused: it merges, and is unknown by itself",
}
"""What letters are of which no base symbol can be made."""


def detect(path: Path, head: bytes) -> bool:
    """Tell whether a file begins as such a model does."""
    return looks_like_sentencepiece(head)


def load(path: Path, given: CountingOptions | None = None) -> Tokenizer:
    """Read a model. Raises FormatError."""
    refuse_pretokenizer(path, given)
    data = read_whole(path)
    try:
        model = read_model(data)
    except WireError as error:
        raise FormatError(f"{path} is no whole SentencePiece model: {error}.", AGAIN) from error
    if len({piece.text for piece in model.pieces}) < len(model.pieces):
        raise FormatError(f"{path} is no whole SentencePiece model: it lists a piece twice.", AGAIN)
    unknown = [number for number, piece in enumerate(model.pieces) if piece.type == UNKNOWN]
    if len(unknown) != 1:
        raise FormatError(
            f"{path} is no whole SentencePiece model: {len(unknown)} of its pieces are unknown ones.", AGAIN
        )
    processor = sentencepiece_processor(data, str(path))
    kind = KINDS[model.kind]
    why = f"This is not BPE but {kind}: there are no merges to step"
    try:
        if kind != "BPE":
            raise NotSteppedError("")
        tokenizer = _stepped(model, unknown[0])
        tokenizer.pipeline = NormalizerPipeline(processor)
    except NotSteppedError as error:
        tokenizer = _view_only(model, unknown[0], processor)
        if kind == "BPE":
            why = f"This BPE model cannot be shown merge by merge, as {error}"
        tokenizer.why_no_merges = f"{why}, and its tokens are those of the sentencepiece library."
        tokenizer.notes = (tokenizer.why_no_merges,)
    tokenizer.kind = kind
    tokenizer.name = path.name
    tokenizer.is_told_by_options = False
    tokenizer.text_of_ids = partial(_text_of_ids, processor, model)
    tokenizer.notes += (
        "The model's normalizer changes a text before it is encoded, so decoding need not give it back.",
        "The model puts no tokens around a text: programs that use it add those of their own choice.",
    )
    return tokenizer


def _stepped(model: ModelProto, unknown: int) -> Tokenizer:
    """Return a BPE model's tokenizer, its pipeline still to be set. Raises NotSteppedError."""
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
    name = pieces[unknown].text
    special_ids = {piece.text: number for number, piece in enumerate(pieces) if piece.type == CONTROL}
    tokenizer = Tokenizer(
        symbols,
        BoundaryRanks(base, ranks),
        CountingOptions(special_tokens=tuple(special_ids)),
        unknown=name,
        ids=np.array(ids, dtype=np.int64),
        special_ids={name: unknown, **special_ids},
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


def _view_only(model: ModelProto, unknown: int, processor: Any) -> Tokenizer:
    vocab = {piece.text: number for number, piece in enumerate(model.pieces)}
    controls = {piece.text: number for number, piece in enumerate(model.pieces) if piece.type == CONTROL}
    tokenizer = tokens_only(vocab, controls, model.pieces[unknown].text)
    tokenizer.pipeline = PiecesPipeline(processor, partial(_content_of, model), unknown)
    return tokenizer


def _content_of(model: ModelProto, number: int) -> bytes:
    """Return the bytes of a piece. Not a closure: a tokenizer is to be sent between processes."""
    piece = model.pieces[number]
    return bytes([int(piece.text[3:5], 16)]) if piece.type == BYTE else piece.text.encode()


def _text_of_ids(processor: Any, model: ModelProto, ids: Sequence[int]) -> str:
    # The library takes a text that is no piece as it stands.
    return str(
        processor.DecodePieces(
            [model.pieces[number].text if 0 <= number < len(model.pieces) else f"<no token {number}>" for number in ids]
        )
    )


def _open_library(path: Path, tokenizer: Tokenizer) -> Encode:
    """Return what encodes with the library, which takes no text for a special token and puts nothing around a text."""
    processor = sentencepiece_processor(read_whole(path), str(path))
    return lambda text, special_text, around: processor.encode(text)


FORMAT = Format(
    name="sentencepiece",
    title="SentencePiece model",
    suffixes=(".model",),
    detect=detect,
    load=load,
    library=OwnLibrary("sentencepiece", _open_library),
)
