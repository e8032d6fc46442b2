"""What token ids stand for: their bytes, and the text of all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bpe_viz.engine.tokenizer import Tokenizer

_SPECIAL_KINDS = ("special", "unknown")


@dataclass(frozen=True, slots=True)
class DecodedPiece:
    """What one id stands for; content is None where no token has this id.

    is_special: it is a special or the unknown token, and no text
    """

    id: int
    content: bytes | None
    is_special: bool = False


@dataclass(frozen=True, slots=True)
class Decoding:
    """Decoded ids.

    pieces: one an id, in order
    unknown: the ids that no token has, in order
    invalid: how many U+FFFD stand for bytes that are no whole character
    special: how many ids are special tokens; n_bytes: how many bytes all stand for
    """

    pieces: tuple[DecodedPiece, ...]
    text: str
    unknown: tuple[int, ...]
    invalid: int
    special: int
    n_bytes: int


def decoded(tokenizer: Tokenizer, ids: Sequence[int]) -> Decoding:
    """Do what Tokenizer.decode says."""
    if tokenizer.text_of_ids is not None:
        return _decoded_by_library(tokenizer, ids, tokenizer.text_of_ids(ids))
    space = b" " if tokenizer.base.end_of_word != "none" and not tokenizer.covers_text else b""
    pieces: list[DecodedPiece] = []
    run: list[bytes] = []
    text: list[str] = []
    unknown: list[int] = []
    invalid = 0
    for token_id in ids:
        try:
            token = tokenizer.token(token_id)
        except KeyError:
            pieces.append(DecodedPiece(token_id, None))
            unknown.append(token_id)
            text += [b"".join(run).decode(errors="replace"), f"<no token {token_id}>"]
            invalid += _count_invalid(run)
            run = []
            continue
        content = token.content + (space if token.ends_word else b"")
        pieces.append(DecodedPiece(token_id, content, token.kind in _SPECIAL_KINDS))
        run.append(content)
    text.append(b"".join(run).decode(errors="replace"))
    invalid += _count_invalid(run)
    joined = "".join(text)
    return _decoding(pieces, joined.removesuffix(" ") if space else joined, unknown, invalid)


def _decoded_by_library(tokenizer: Tokenizer, ids: Sequence[int], text: str) -> Decoding:
    pieces: list[DecodedPiece] = []
    for token_id in ids:
        try:
            label, kind = tokenizer.label(token_id), tokenizer.token(token_id).kind
            pieces.append(DecodedPiece(token_id, label, kind in _SPECIAL_KINDS))
        except KeyError:
            pieces.append(DecodedPiece(token_id, None))
    typed = sum((piece.content or b"").count("\ufffd".encode()) for piece in pieces)
    unknown = [piece.id for piece in pieces if piece.content is None]
    return _decoding(pieces, text, unknown, max(0, text.count("\ufffd") - typed))


def _decoding(pieces: Sequence[DecodedPiece], text: str, unknown: Sequence[int], invalid: int) -> Decoding:
    special = sum(piece.is_special for piece in pieces)
    n_bytes = sum(len(piece.content) for piece in pieces if piece.content is not None)
    return Decoding(tuple(pieces), text, tuple(unknown), invalid, special, n_bytes)


def _count_invalid(run: list[bytes]) -> int:
    joined = b"".join(run)
    return joined.decode(errors="replace").count("\ufffd") - joined.count("\ufffd".encode())
