"""RWKV's vocabulary as a format: shown as it is, since greedy longest match is not BPE."""

from __future__ import annotations

from pathlib import Path

from bpe_viz.engine.tokenizer import Tokenizer
from bpe_viz.engine.types import CountingOptions
from bpe_viz.formats import Format, refuse_pretokenizer
from bpe_viz.formats._longest_match import longest_match_tokenizer
from bpe_viz.formats._rwkv_vocabulary import looks_like_rwkv, read_rwkv


def detect(path: Path, head: bytes) -> bool:
    """Tell whether a file begins as such a vocabulary does."""
    return looks_like_rwkv(head)


def load(path: Path, given: CountingOptions | None = None) -> Tokenizer:
    """Read a vocabulary. Raises FormatError that names the line."""
    refuse_pretokenizer(path, given)
    tokenizer = longest_match_tokenizer(read_rwkv(path), {})
    tokenizer.name = path.name
    return tokenizer


FORMAT = Format(
    name="rwkv",
    title="RWKV vocabulary",
    suffixes=(".txt",),
    detect=detect,
    load=load,
)
