"""Every merge that applied to a pre-token, and what stands after each."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bpe_viz.engine.corpus import count_words
from bpe_viz.engine.explain import explain_pretoken
from bpe_viz.engine.tokenizer import Tokenizer
from bpe_viz.engine.trainer import Trainer
from bpe_viz.engine.types import CountingOptions, TrainingOptions
from tests.engine.strategies import LETTERS, corpora, options, runs


def tokenizer_of(words: dict[str, int], chosen: TrainingOptions) -> Tokenizer:
    trainer = Trainer(count_words(words, "words").pretokens, chosen)
    trainer.train_to()
    return Tokenizer.from_timeline(trainer.timeline, CountingOptions())


@given(st.one_of(corpora, runs), options, st.text(alphabet=LETTERS + "xyz", min_size=1, max_size=40), st.integers(0, 5))
def test_splits_are_the_merges_applied_one_by_one(words, chosen, text, reach):
    tokenizer = tokenizer_of(words, chosen)
    explanation = explain_pretoken(tokenizer, text.encode())
    standing = dict(enumerate(explanation.first))
    whole, near = explanation.splits(), explanation.splits(reach)
    for merge, split, cut in zip(explanation.merges, whole, near, strict=True):
        assert standing[merge.start] == merge.left
        covered = [place for place in sorted(standing) if merge.start <= place < merge.end]
        assert [standing[place] for place in covered] == [merge.left, merge.right]
        del standing[covered[1]]
        standing[merge.start] = merge.made
        symbols = tuple(standing[place] for place in sorted(standing))
        at = sorted(standing).index(merge.start)
        assert split == (symbols, at, False, False)
        first = max(0, at - reach)
        assert cut == (symbols[first : at + reach + 1], at - first, first > 0, at + reach + 1 < len(symbols))
    assert explanation.symbols == tuple(standing[place] for place in sorted(standing))
    assert explanation.symbols == tuple(tokenizer.symbols_of(text.encode(), tokenizer.n_merges))


def test_what_is_kept_of_a_run_of_a_hundred_thousand_letters_grows_with_it():
    tokenizer = tokenizer_of({"a" * 64: 1}, TrainingOptions(merges=6))
    explanation = explain_pretoken(tokenizer, b"a" * 100_000)
    assert len(explanation.merges) == 100_000 - len(explanation.symbols)
    assert len(explanation.symbols) == 100_000 // 64 + 1  # 32 are left over, which are one token
    assert all(len(split.symbols) <= 5 for split in explanation.splits(reach=2))
