"""RWKV's vocabulary as a format: shown as it is, since greedy longest match is not BPE."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bpe_viz.engine.boundaries import BoundaryRanks
from bpe_viz.engine.longest_match import LongestMatch, LongestMatchBase
from bpe_viz.engine.merge_ranks import MergeRanks
from bpe_viz.engine.pretokenize import WHOLE_TEXT
from bpe_viz.engine.symbols import SymbolTable
from bpe_viz.engine.tokenizer import Tokenizer
from bpe_viz.engine.types import DEFAULT_MARKER, CountingOptions
from bpe_viz.formats import Format, refuse_pretokenizer
from bpe_viz.formats._rwkv_vocabulary import looks_like_rwkv, read_rwkv


def detect(path: Path, head: bytes) -> bool:
    """Tell whether a file begins as such a vocabulary does."""
    return looks_like_rwkv(head)


def load(path: Path, given: CountingOptions | None = None) -> Tokenizer:
    """Read a vocabulary. Raises FormatError that names the line."""
    refuse_pretokenizer(path, given)
    ids = read_rwkv(path)
    contents = tuple(ids)
    match = LongestMatch({content: symbol for symbol, content in enumerate(contents)})
    base = LongestMatchBase("bytes", "none", DEFAULT_MARKER, contents, (False,) * len(contents), match)
    symbols = SymbolTable(
        base,
        np.frombuffer(b"".join(contents), np.uint8),
        np.concatenate(([0], np.cumsum([len(content) for content in contents], dtype=np.int64))),
        np.zeros(len(contents), dtype=np.uint8),
        len(contents),
    )
    tokenizer = Tokenizer(
        symbols,
        BoundaryRanks(base, MergeRanks(len(contents))),
        CountingOptions(pattern=WHOLE_TEXT),
        ids=np.fromiter(ids.values(), np.int64, len(ids)),
        special_ids={},
        name=path.name,
    )
    tokenizer.kind = "longest match"
    tokenizer.why_no_merges = (
        "This is not BPE: a text is cut from the left into the longest tokens, and there are no merges to step."
    )
    tokenizer.notes = (tokenizer.why_no_merges,)
    tokenizer.is_told_by_options = False
    return tokenizer


FORMAT = Format(
    name="rwkv",
    title="RWKV vocabulary",
    suffixes=(".txt",),
    detect=detect,
    load=load,
)
