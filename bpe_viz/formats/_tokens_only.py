"""A tokenizer whose tokens no merge makes: a model that is not BPE, or is not shown merge by merge."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from bpe_viz.engine.boundaries import BoundaryRanks
from bpe_viz.engine.merge_ranks import MergeRanks
from bpe_viz.engine.symbols import BaseVocabulary, SymbolTable
from bpe_viz.engine.tokenizer import Tokenizer
from bpe_viz.engine.types import DEFAULT_MARKER, CountingOptions


def tokens_only(vocab: Mapping[str, int], added: Mapping[str, int], unknown: str | None) -> Tokenizer:
    """Return a tokenizer of tokens that no merge makes; its pipeline is still to be set."""
    base = BaseVocabulary("characters", "none", DEFAULT_MARKER, (), ())
    texts = list(vocab)
    contents = [text.encode() for text in texts]
    starts = np.concatenate(([0], np.cumsum([len(content) for content in contents], dtype=np.int64)))
    symbols = SymbolTable(
        base,
        np.frombuffer(b"".join(contents), np.uint8),
        starts,
        np.zeros(len(texts), dtype=np.uint8),
        len(texts),
        len(texts),
    )
    special_ids = dict(added) if unknown is None else {unknown: vocab[unknown], **added}
    return Tokenizer(
        symbols,
        BoundaryRanks(base, MergeRanks(0)),
        CountingOptions(special_tokens=tuple(added)),
        unknown=unknown,
        ids=np.fromiter(vocab.values(), np.int64, len(vocab)),
        special_ids=special_ids,
    )
