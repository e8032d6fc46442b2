"""What bpe_viz needs of a SentencePiece model's protobuf message, read with every length checked.

Source: google/sentencepiece, src/sentencepiece_model.proto; protobuf's wire format.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)
"""Types of pieces."""

KINDS = {1: "Unigram", 2: "BPE", 3: "Word", 4: "Char"}
"""Types of models."""

_VARINT, _EIGHT_BYTES, _LENGTH, _FOUR_BYTES = 0, 1, 2, 5
_PIECES, _TRAINER = 1, 2
_PIECE_TEXT, _PIECE_SCORE, _PIECE_TYPE = 1, 2, 3
_MODEL_TYPE, _BYTE_FALLBACK = 3, 35


class WireError(ValueError):
    """The bytes are no such message; says where."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One entry of the vocabulary; its id is its place."""

    text: str
    score: float
    type: int


@dataclass(frozen=True, slots=True)
class ModelProto:
    """A model. kind: a key of KINDS"""

    pieces: tuple[Piece, ...]
    kind: int
    byte_fallback: bool


def looks_like_sentencepiece(head: bytes) -> bool:
    """Tell whether a file begins as a model does: with a piece, and it with its text."""
    try:
        number, wire, start, end = next(_fields(head, 0, len(head), may_be_cut=True))
        inner = next(_fields(head, start, min(end, len(head)), may_be_cut=True))
        head[inner[2] : min(inner[3], len(head))].decode()
    except (WireError, StopIteration, UnicodeDecodeError):
        return False
    is_piece = (number, wire) == (_PIECES, _LENGTH) and inner[:2] == (_PIECE_TEXT, _LENGTH)
    return is_piece and inner[3] <= end and inner[3] > inner[2]


def read_model(data: bytes) -> ModelProto:
    """Read a model. Raises WireError."""
    pieces: list[Piece] = []
    kind, byte_fallback = 1, False
    for number, wire, start, end in _fields(data, 0, len(data)):
        if number == _PIECES and wire == _LENGTH:
            pieces.append(_piece(data, start, end, len(pieces)))
        elif number == _TRAINER and wire == _LENGTH:
            for inner, inner_wire, value, _ in _fields(data, start, end):
                if inner == _MODEL_TYPE and inner_wire == _VARINT:
                    kind = value
                elif inner == _BYTE_FALLBACK and inner_wire == _VARINT:
                    byte_fallback = bool(value)
    if kind not in KINDS:
        raise WireError(f"it names the model type {kind}, of which there is none")
    if not pieces:
        raise WireError("it holds no pieces")
    return ModelProto(tuple(pieces), kind, byte_fallback)


def _piece(data: bytes, start: int, end: int, place: int) -> Piece:
    text, score, kind = b"", 0.0, NORMAL
    for number, wire, value, behind in _fields(data, start, end):
        if (number, wire) == (_PIECE_TEXT, _LENGTH):
            text = data[value:behind]
        elif (number, wire) == (_PIECE_SCORE, _FOUR_BYTES):
            (score,) = struct.unpack_from("<f", data, value)
        elif (number, wire) == (_PIECE_TYPE, _VARINT):
            kind = value
    if not NORMAL <= kind <= BYTE:
        raise WireError(f"piece {place} has the type {kind}, of which there is none")
    if not text:
        raise WireError(f"piece {place} has no text")
    try:
        return Piece(text.decode(), score, kind)
    except UnicodeDecodeError:
        raise WireError(f"the text of piece {place} is not UTF-8") from None


def _fields(data: bytes, at: int, end: int, may_be_cut: bool = False) -> Iterator[tuple[int, int, int, int]]:
    """Yield (number, wire type, where its content starts, and ends) of each field; of a varint its value and 0.

    may_be_cut: the last field may end behind the data
    """
    while at < end:
        begins = at
        key, at = _varint(data, at, end)
        number, wire = key >> 3, key & 7
        if wire == _VARINT:
            value, at = _varint(data, at, end)
            yield number, wire, value, 0
            continue
        if wire == _LENGTH:
            length, at = _varint(data, at, end)
        elif wire in (_FOUR_BYTES, _EIGHT_BYTES):
            length = 4 if wire == _FOUR_BYTES else 8
        else:
            raise WireError(f"the field at byte {begins:,} is of no type that models have")
        if at + length > end and not may_be_cut:
            raise WireError(f"the field at byte {begins:,} ends behind what holds it")
        yield number, wire, at, at + length
        at += length


def _varint(data: bytes, at: int, end: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if at >= end:
            break
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise WireError(f"the number at byte {at:,} does not end")
