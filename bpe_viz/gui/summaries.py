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
    size = "" if corpus.is_table else f" · {_counted(corpus.n_bytes, 'byte')}"
    return f"{corpus.name}{size} · {_counted(corpus.n_pretokens, 'pre-token')}, {len(corpus.pretokens):,} distinct"


def summary_of_tokenizer(tokenizer: Tokenizer) -> str:
    """Return name, and how many tokens, merges and special tokens there are."""
    said = [tokenizer.name, _counted(tokenizer.vocab_size, "token")]
    if tokenizer.n_merges:
        said.append(_counted(tokenizer.n_merges, "merge"))
    if tokenizer.special_ids:
        said.append(_counted(len(tokenizer.special_ids), "special token"))
    return " · ".join(said)


def _counted(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"
