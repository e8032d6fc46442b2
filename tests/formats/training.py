"""Random small tokenizers for round trips."""

from __future__ import annotations

from hypothesis import assume
from hypothesis import strategies as st

from bpe_viz.engine.corpus import count_text
from bpe_viz.engine.tokenizer import Tokenizer
from bpe_viz.engine.trainer import Trainer
from bpe_viz.engine.types import CountingOptions, TrainingOptions
from bpe_viz.errors import CorpusError, PatternError

LETTERS = [*"aabbcé字😀ßΣ1２'.,_-/<w>Ġ#", " ", " ", "\n", "\r", "\t", "\0", "\u0301", "\u00a0", "\u2028", "\x85"]
TEXTS = st.text(st.sampled_from(LETTERS), max_size=40)
CORPORA = st.text(st.sampled_from(LETTERS), min_size=1, max_size=80)


def trained(text: str, counting: CountingOptions, training: TrainingOptions) -> Tokenizer:
    """Train on a text; a text without a pre-token is no example."""
    try:
        corpus = count_text(text, counting)
    except (CorpusError, PatternError):
        assume(False)
        raise
    trainer = Trainer(corpus.pretokens, training, len(set(counting.special_tokens)))
    trainer.train_to()
    return Tokenizer.from_timeline(trainer.timeline, counting)


def contents(tokenizer: Tokenizer, text: str) -> list[bytes]:
    """Return what each token of a text stands for."""
    return [token.content for token in tokenizer.encode(text).tokens]


@st.composite
def merges_of_tokens(draw: st.DrawFn, letters: str = "abc") -> list[tuple[str, str]]:
    """Lines of a merge list that join what lines before them make; several may make one token, or be the same."""
    made = list(letters)
    lines = []
    for a, b in draw(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)), min_size=1, max_size=14)):
        left, right = made[a % len(made)], made[b % len(made)]
        if len(left + right) <= 7:
            lines.append((left, right))
            made.append(left + right)
    # Those that make a token again come late, and what goes on from it may stand before them.
    for cut in draw(st.lists(st.tuples(st.integers(0, 10**6), st.integers(1, 6)), max_size=5)):
        token = made[cut[0] % len(made)]
        if len(token) > cut[1] and {token[: cut[1]], token[cut[1] :]} <= set(made):
            lines.append((token[: cut[1]], token[cut[1] :]))
    return lines
