"""SentencePiece's `.model`: pieces with scores, and a normalizer. BPE is shown merge by merge, others as they are.

_scored_pieces.py tells how pieces merge.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from bpe_viz.engine.sentencepiece_pipelines import (
    NormalizerPipeline,
    PiecesPipeline,
    sentencepiece_processor,
)
from bpe_viz.engine.tokenizer import Tokenizer
from bpe_viz.engine.types import CountingOptions
from bpe_viz.errors import FormatError
from bpe_viz.formats import Format, refuse_pretokenizer
from bpe_viz.formats._bpe_model import NotSteppedError
from bpe_viz.formats._own_library import Encode, OwnLibrary
from bpe_viz.formats._reading import AGAIN, read_whole
from bpe_viz.formats._scored_pieces import scored_pieces
from bpe_viz.formats._sentencepiece_proto import (
    BYTE,
    CONTROL,
    KINDS,
    UNKNOWN,
    ModelProto,
    WireError,
    looks_like_sentencepiece,
    read_model,
)
from bpe_viz.formats._tokens_only import tokens_only


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
        name = model.pieces[unknown[0]].text
        tokenizer = scored_pieces(model, {name: unknown[0], **_controls(model)}, name)
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


def _controls(model: ModelProto) -> dict[str, int]:
    return {piece.text: number for number, piece in enumerate(model.pieces) if piece.type == CONTROL}


def _view_only(model: ModelProto, unknown: int, processor: Any) -> Tokenizer:
    vocab = {piece.text: number for number, piece in enumerate(model.pieces)}
    tokenizer = tokens_only(vocab, _controls(model), model.pieces[unknown].text)
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
