"""A tokenizer that cuts bytes from the left into the longest tokens: RWKV's, in its own vocabulary and in GGUF."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from bpe_viz.engine.boundaries import BoundaryRanks
from bpe_viz.engine.longest_match import LongestMatch, LongestMatchBase
from bpe_viz.engine.merge_ranks import MergeRanks
from bpe_viz.engine.pretokenize import WHOLE_TEXT
from bpe_viz.engine.symbols import SymbolTable
from bpe_viz.engine.tokenizer import Tokenizer
from bpe_viz.engine.types import DEFAULT_MARKER, CountingOptions


def longest_match_tokenizer(ids: Mapping[bytes, int], special_ids: dict[str, int]) -> Tokenizer:
    """Return a tokenizer without merges. ids: token -> id, each byte a token; special_ids: of special tokens by text"""
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
        CountingOptions(pattern=WHOLE_TEXT, special_tokens=tuple(special_ids)),
        ids=np.fromiter(ids.values(), np.int64, len(ids)),
        special_ids=special_ids,
    )
    tokenizer.kind = "longest match"
    tokenizer.why_no_merges = (
        "This is not BPE: a text is cut from the left into the longest tokens, and there are no merges to step."
    )
    tokenizer.notes = (tokenizer.why_no_merges,)
    tokenizer.is_told_by_options = False
    return tokenizer
