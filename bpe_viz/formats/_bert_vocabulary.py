"""BERT's vocab.txt: a token a line, whose id is the number of the line from 0. It is WordPiece, not BPE.

Source: google-research/bert, tokenization.py.
"""

from __future__ import annotations

from pathlib import Path

from bpe_viz.errors import FormatError
from bpe_viz.formats._reading import AGAIN, damaged, lines_of, read_whole, without_bom

CONTINUES = "##"
"""Begins a token that goes on within a word."""

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def looks_like_bert(head: bytes) -> bool:
    """Tell whether a file begins as such a vocabulary does: with a line that is one of its special tokens."""
    lines = without_bom(head).decode(errors="ignore").split("\n")
    return lines[0].removesuffix("\r") in SPECIAL


def read_bert(path: Path) -> dict[str, int]:
    """Return token -> id. Raises FormatError that names the line."""
    ids: dict[str, int] = {}
    lines = lines_of(path, read_whole(path))
    if lines[-1] == "":
        lines.pop()
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            raise damaged(path, number, line, "holds no token")
        if line in ids:
            raise damaged(path, number, line, f"lists the token of line {ids[line] + 1} again")
        ids[line] = number - 1
    if "[UNK]" not in ids:
        raise FormatError(f"{path} has no token [UNK], which stands for unknown words.", AGAIN)
    return ids
