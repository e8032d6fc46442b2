"""No kernel indexes an array below zero: compiled, it would read what lies before the array (numba_indexing.py)."""

from __future__ import annotations

import operator
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe_viz.engine import boundaries
from bpe_viz.engine.boundaries import BoundaryRanks
from bpe_viz.engine.compiled import Kernels
from bpe_viz.engine.corpus import count_words
from bpe_viz.engine.encoder import Encoder
from bpe_viz.engine.pretokenize import PRETOKENIZERS, pretokenizer_for
from bpe_viz.engine.replay import Replayer
from bpe_viz.engine.scanning import ScanningTally, rule_for
from bpe_viz.engine.tie_rules import TIE_RULES
from bpe_viz.engine.tokenizer import BYTES, Tokenizer
from bpe_viz.engine.trainer import Trainer
from bpe_viz.engine.types import CountingOptions, Pair, TrainingOptions
from tests.engine.strategies import corpora, runs

texts = st.text(alphabet="aab 's1\n\ré中😀", max_size=60)


class FromZero:
    """A view of an array that refuses an index below zero."""

    def __init__(self, view: memoryview) -> None:
        self._view = view

    def __len__(self) -> int:
        return len(self._view)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return FromZero(self._view[index])
        return self._view[self._checked(index)]

    def __setitem__(self, index, item) -> None:
        self._view[self._checked(index)] = item

    def _checked(self, index) -> int:
        if operator.index(index) < 0:
            raise IndexError(f"{index} is below zero")
        return index


class CheckedKernels(Kernels):
    """Plain kernels on such views."""

    def view(self, arrays):
        if isinstance(arrays, tuple):
            views = [self.view(array) for array in arrays]
            return type(arrays)(*views) if hasattr(arrays, "_fields") else tuple(views)
        return FromZero(memoryview(arrays))


CHECKED = CheckedKernels()


def test_the_check_refuses_what_is_below_zero_and_what_is_beyond_the_end():
    view = CHECKED.view(np.arange(4))
    assert (view[0], view[1:][2], len(view)) == (0, 3, 4)
    for wrong in (-1, 4):
        with pytest.raises(IndexError):
            view[wrong]


@settings(max_examples=30)
@pytest.mark.parametrize("rule", TIE_RULES)
@given(words=st.one_of(corpora, runs), data=st.data())
def test_training_branching_and_seeking(rule, words, data):
    pretokens, options = count_words(words, "words").pretokens, TrainingOptions("characters", rule=rule, merges=40)
    trainer = Trainer(pretokens, options, kernel_set=CHECKED)
    trainer.train_to()
    reader = trainer.timeline.reader(CHECKED)
    n = trainer.frontier
    for position in (n, 0, n // 2, n):
        assert reader.frame(position, top=3).position == position
    if n:
        at = data.draw(st.integers(0, n - 1))
        branch = Trainer(pretokens, options, kernel_set=CHECKED)
        branch.repeat(trainer.timeline.beginning(at))
        pairs = trainer.timeline.pairs()
        branch.merge_pair(Pair(*pairs[at]))
        assert branch.timeline.pairs() == pairs[: at + 1]


@given(st.lists(st.text("ab ", min_size=2, max_size=6).map(str.encode), max_size=20, unique=True), texts)
def test_encoding_and_replaying(tokens, text):
    ranks = {content: rank for rank, content in enumerate((*BYTES, *tokens))}
    for counting in (CountingOptions(pretokenizer="cl100k"), CountingOptions(pattern="[^b]+|b+")):
        tokenizer = Tokenizer.from_ranks(ranks, counting)
        assert (
            Encoder(tokenizer, CHECKED, entries=32).encode_bytes(text.encode()).tolist() == tokenizer.encode(text).ids
        )
    replayer = Replayer(
        count_words({"abab": 2, text or "a": 1}, "words").pretokens, tokenizer, TrainingOptions(), CHECKED
    )
    replayer.train_to()
    assert replayer.frontier == len(tokens)


@given(st.text(alphabet="ab", min_size=1, max_size=40).map(str.encode))
def test_working_out_the_boundaries_of_a_long_pretoken(content):
    tokenizer = Tokenizer.from_ranks(
        {token: rank for rank, token in enumerate((*BYTES, b"ab", b"aa", b"abab"))}, CountingOptions()
    )
    expected = BoundaryRanks(tokenizer.base, tokenizer.merge_ranks).of(content, 3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(boundaries, "LONG", 0)
        patch.setattr(boundaries, "LONG_FOR_PLAIN", 0)
        found = BoundaryRanks(tokenizer.base, tokenizer.merge_ranks, CHECKED).of(content, 3)
    assert [one.tolist() for one in found.at(3)] == [one.tolist() for one in expected.at(3)]


@pytest.mark.parametrize("pretokenizer", PRETOKENIZERS)
@given(text=texts)
def test_counting(pretokenizer, text):
    options = CountingOptions(pretokenizer=pretokenizer, documents="file")
    with ScanningTally(rule_for(options), CHECKED, 1) as tally:
        tally.add(text)
        counted = tally.counts()
    expected = Counter(pretokenizer_for(options).split(text))
    found = dict(zip(map(counted.content, range(len(counted))), counted.counts.tolist(), strict=True))
    assert found == {pretoken.encode(): count for pretoken, count in expected.items()}
