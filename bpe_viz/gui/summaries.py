"""What the line at the bottom says of what is open."""

from __future__ import annotations

from bpe_viz.engine.corpus import Corpus
from bpe_viz.engine.tokenizer import Tokenizer

SAMPLE_TEXT = (
    "Tokenizers cut text into pieces: common words stay whole, unusual ones fall apart.\n"
    "Zahlen 1234567, naïve café, 東京タワー, emoji 👩‍🚀🎉, and code: for (i = 0; i < n; ++i) {}"
)
"""What a tokenizer encodes that is opened without a text: words, numbers, other scripts, code."""


def summary_of_corpus(corpus: Corpus) -> str:
    """Return name, size, and how many pre-tokens there are."""
    size = f" · {corpus.n_bytes:,} bytes" if not corpus.is_table else ""
    return f"{corpus.name}{size} · {corpus.n_pretokens:,} pre-tokens, {len(corpus.pretokens):,} distinct"


def summary_of_tokenizer(tokenizer: Tokenizer) -> str:
    """Return name, and how many tokens, merges and special tokens there are."""
    said = [tokenizer.name, f"{tokenizer.vocab_size:,} tokens"]
    if tokenizer.n_merges:
        said.append(f"{tokenizer.n_merges:,} merges")
    if tokenizer.special_ids:
        n = len(tokenizer.special_ids)
        said.append(f"{n:,} special token{'' if n == 1 else 's'}")
    return " · ".join(said)
