"""The rank at which each boundary falls, worked out in two ways."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_viz.engine import boundaries, compiled
from bpe_viz.engine.boundaries import STANDS, BoundaryRanks, LongSplit
from bpe_viz.engine.compiled import PLAIN
from bpe_viz.engine.corpus import count_words
from bpe_viz.engine.merge_ranks import MergeRanks
from bpe_viz.engine.reader import Reader
from bpe_viz.engine.trainer import Trainer
from bpe_viz.engine.types import TrainingOptions
from tests.engine.strategies import LETTERS, corpora, options, runs


@pytest.fixture(scope="session")
def kernel_sets():
    return (PLAIN, compiled.load())


@given(st.one_of(corpora, runs), options, st.text(alphabet=LETTERS + "xyz", min_size=1, max_size=60))
def test_long_pretokens_are_worked_out_as_short_ones_are(kernel_sets, words, chosen, text):
    trainer = Trainer(count_words(words, "words").pretokens, chosen)
    trainer.train_to()
    base = trainer.timeline.base
    content = text.encode()
    ranks = MergeRanks(len(base), trainer.timeline.pairs())
    short = BoundaryRanks(base, ranks).of(content, trainer.frontier)
    for kernel_set in kernel_sets:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(boundaries, "LONG", 0)
            patch.setattr(boundaries, "LONG_FOR_PLAIN", 0)
            long = BoundaryRanks(base, ranks, kernel_set).of(content, trainer.frontier)
        for name in ("symbols", "widths", "rank"):
            assert np.array_equal(getattr(short, name), getattr(long, name)), name


@pytest.mark.parametrize("compiled_ones", [False, True])
def test_a_run_of_a_hundred_thousand_letters(kernel_sets, compiled_ones):
    pretokens = count_words({"a" * 100_000: 1}, "words").pretokens
    trainer = Trainer(pretokens, TrainingOptions(base="characters", merges=20))
    trainer.train_to()
    reader = Reader(trainer.timeline, kernel_sets[compiled_ones])
    split = reader.frame(3, rows=[0]).splits[0]
    assert isinstance(split, LongSplit)
    assert len(split) == 100_000 // 8
    assert trainer.timeline.symbols.content(split[0]) == b"a" * 8
    assert set(split[10:20]) == {split[0]}


def test_what_is_known_for_more_merges_serves_for_fewer():
    base = Trainer(count_words({"ab": 1}, "words").pretokens, TrainingOptions(base="characters")).timeline.base
    ranks = MergeRanks(len(base), [(0, 1)])
    known = BoundaryRanks(base, ranks)
    first = known.of(b"ab", 1)
    assert first.rank.tolist() == [STANDS, 0]
    ranks.extend([(0, 0)])
    assert known.of(b"ab", 1) is first
    assert known.of(b"ab", 2) is not first


def test_a_long_split_is_a_sequence():
    split = LongSplit(np.array([5, 6, 7]))
    assert (list(split), split[1:], len(split), split == LongSplit(np.array([5, 6, 7]))) == ([5, 6, 7], (6, 7), 3, True)
