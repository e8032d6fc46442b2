"""The ids of a sentence are the same whichever way they are found."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_viz.engine import compiled, quick_ids
from bpe_viz.engine.compiled import PLAIN
from bpe_viz.engine.corpus import count_text
from bpe_viz.engine.quick_ids import QuickIds
from bpe_viz.engine.tokenizer import Tokenizer
from bpe_viz.engine.trainer import Trainer
from bpe_viz.engine.types import CountingOptions, TrainingOptions

TEXT = "the lowest of the low, newer and newest: 字字 \n\n don't\t<s>" * 3
PARTS = st.sampled_from([*"aelownst \n字.'<s>\ud800", "<s>", " the", "lowest"])
TEXTS = st.lists(PARTS, max_size=40).map("".join)


def trained(counting: CountingOptions, **options: str) -> Tokenizer:
    trainer = Trainer(count_text(TEXT, counting).pretokens, TrainingOptions(merges=40, **options), 1)
    trainer.train_to()
    return Tokenizer.from_timeline(trainer.timeline, counting)


PLAIN_ONES = [
    trained(CountingOptions(special_tokens=("<s>",))),
    trained(CountingOptions(pretokenizer="cl100k")),
    trained(CountingOptions(pretokenizer="none")),
    trained(CountingOptions(normalize=("NFKC",))),
    trained(CountingOptions(pattern=r"\w+|\W")),
]


@pytest.mark.parametrize("tokenizer", PLAIN_ONES)
@given(texts=st.lists(TEXTS, min_size=1, max_size=6))
def test_kernels_give_the_ids_of_the_laid_out_text(tokenizer, texts):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled, "loaded", lambda: PLAIN)
        patch.setattr(quick_ids, "_WORTH_LAYING_OUT", 0)
        quick = QuickIds(tokenizer)
        for text in [*texts, *texts]:
            tokens = tokenizer.lay_out(text).encoding(tokenizer.position).tokens
            assert quick.of(text) == [token.id for token in tokens]
        assert quick._worker is not None


def test_kernels_that_are_not_at_hand_are_asked_for_seldom(monkeypatch):
    asked = []
    monkeypatch.setattr(compiled, "loaded", lambda: asked.append(1))
    monkeypatch.setattr(compiled, "is_ready", lambda: False)
    quick = QuickIds(trained(CountingOptions()))
    for number in range(3_000):
        quick.of(f"{number * 7919} unheard-of words")
    assert 1 <= len(asked) <= 4


def test_a_base_that_kernels_do_not_know_goes_without_them(monkeypatch):
    monkeypatch.setattr(compiled, "loaded", lambda: PLAIN)
    monkeypatch.setattr(quick_ids, "_WORTH_LAYING_OUT", 0)
    tokenizer = trained(CountingOptions(), base="characters")
    quick = QuickIds(tokenizer)
    assert quick.of("the lowest") == [token.id for token in tokenizer.lay_out("the lowest").encoding(40).tokens]
    assert quick._worker is None
