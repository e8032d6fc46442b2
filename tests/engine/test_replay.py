"""A merge list that is replayed on a corpus, against the naive way: all pairs are counted anew after every entry."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe_viz.engine import compiled
from bpe_viz.engine.boundaries import BoundaryRanks
from bpe_viz.engine.compiled import PLAIN
from bpe_viz.engine.joined_ranks import ScoredPieces
from bpe_viz.engine.pretoken_counts import PretokenCounts
from bpe_viz.engine.replay import Replayer
from bpe_viz.engine.symbols import BaseVocabulary, SymbolTable
from bpe_viz.engine.tokenizer import BYTES, Tokenizer
from bpe_viz.engine.trainer import Trainer
from bpe_viz.engine.types import CountingOptions, Pair, TrainingOptions
from bpe_viz.errors import Stopped

COUNTING = CountingOptions(pretokenizer="none")


def listed(merges: list[tuple[str, str]]) -> Tokenizer:
    """A tokenizer of bytes that merges these, which name tokens by their text."""
    base = BaseVocabulary("bytes", "none", "</w>", BYTES, (False,) * 256)
    symbol = {bytes([byte]): byte for byte in range(256)}
    pairs = []
    for left, right in merges:
        pairs.append(Pair(symbol[left.encode()], symbol[right.encode()]))
        symbol.setdefault((left + right).encode(), 256 + len(pairs) - 1)
    return Tokenizer.from_merges(base, pairs, COUNTING, name="listed")


def ranked(tokens: list[str]) -> Tokenizer:
    """A tokenizer of joined bytes with these tokens after the bytes."""
    ranks = {bytes([byte]): byte for byte in range(256)}
    for token in tokens:
        ranks.setdefault(token.encode(), len(ranks))
    return Tokenizer.from_ranks(ranks, COUNTING, name="ranked")


def replayed(tokenizer: Tokenizer, words: dict[str, int], kernel_set=PLAIN) -> Replayer:
    replayer = Replayer(PretokenCounts.from_counter(words), tokenizer, TrainingOptions(), kernel_set)
    replayer.train_to()
    return replayer


def naive(tokenizer: Tokenizer, words: dict[str, int]):
    """Yield (splits, pair counts) at every position; every entry is made once, wherever its pairs stand."""
    ranks = tokenizer.merge_ranks
    splits = {word: list(tokenizer.base.start(word.encode())[0]) for word in words}
    for rank in range(tokenizer.n_merges + 1):
        counts: Counter[Pair] = Counter()
        for word, split in splits.items():
            for pair in pairwise(split):
                counts[Pair(*pair)] += words[word]
        yield {word: tuple(split) for word, split in splits.items()}, +counts
        for word, split in splits.items():
            made, i = [], 0
            while i < len(split):
                if i + 1 < len(split) and ranks.of(split[i], split[i + 1]) == rank:
                    made.append(int(ranks.makes()[rank]))
                    i += 2
                else:
                    made.append(split[i])
                    i += 1
            splits[word] = made


words_of = st.dictionaries(st.text("abc", min_size=1, max_size=9), st.integers(1, 5), min_size=1, max_size=6)
merges_of = st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)), max_size=9)
tokens_of = st.lists(st.text("abc", min_size=2, max_size=5), max_size=9)


def chosen(picks: list[tuple[int, int]]) -> list[tuple[str, str]]:
    """Merges of tokens that are there when each is listed, none making what is there already."""
    tokens, merges = ["a", "b", "c"], []
    for a, b in picks:
        left, right = tokens[a % len(tokens)], tokens[b % len(tokens)]
        if left + right not in tokens and len(left + right) <= 6:
            merges.append((left, right))
            tokens.append(left + right)
    return merges


def agrees_with_naive(tokenizer: Tokenizer, words: dict[str, int], kernel_set=PLAIN) -> None:
    timeline = replayed(tokenizer, words, kernel_set).timeline
    reader = timeline.reader(kernel_set)
    for position, (splits, counts) in enumerate(naive(tokenizer, words)):
        frame = reader.frame(position, 5, range(len(words)))
        assert reader.pair_counts() == counts
        assert [tuple(frame.splits[row]) for row in range(len(words))] == list(splits.values())
        assert frame.tokens == sum(len(split) * words[word] for word, split in splits.items())
        assert frame.pairs == len(counts)
        assert [one.count for one in frame.top] == sorted(counts.values(), reverse=True)[:5]
        if position < tokenizer.n_merges:
            assert set(frame.next_pairs) == {p for p in counts if tokenizer.merge_ranks.of(*p) == position}
            taken = [count for pair, count in counts.items() if tokenizer.merge_ranks.of(*pair) == position]
            assert timeline.merge(position).count == sum(taken)
            departure = timeline.expected(position)
            departs = bool(counts) and max(counts.values()) > sum(taken)
            assert (departure is not None) == departs
            if departure is not None and departure.instead_of is not None:
                assert departure.instead_of.count == max(counts.values())


@settings(max_examples=120, deadline=None)
@given(merges_of, words_of)
def test_a_list_of_pairs_is_counted_as_a_recount_would(picks, words):
    agrees_with_naive(listed(chosen(picks)), words)


@settings(max_examples=120, deadline=None)
@given(tokens_of, words_of)
def test_a_list_of_ranks_merges_every_pair_that_joins_to_a_token(tokens, words):
    agrees_with_naive(ranked(tokens), words)


@settings(max_examples=60, deadline=None)
@given(tokens_of, words_of)
def test_what_the_library_splits_otherwise_is_named(tokens, words):
    tokenizer = ranked(tokens)
    timeline = replayed(tokenizer, words).timeline
    wanted = [
        row
        for row, word in enumerate(words)
        if tuple(tokenizer.symbols_of(word.encode(), tokenizer.n_merges)) != timeline.split(row, tokenizer.n_merges)
    ]
    assert sorted(timeline.differing or ()) == wanted


def test_compiled_kernels_count_the_same():
    tokenizer = listed(chosen([(i * 7, i * 5 + 1) for i in range(40)]))
    agrees_with_naive(tokenizer, {"abcabcaabbcc": 3, "aaaa": 2, "cab" * 9: 1}, compiled.load())


def test_a_list_replayed_on_its_own_corpus_departs_nowhere():
    words = PretokenCounts.from_counter({"low": 5, "lower": 2, "newest": 6, "widest": 3})
    trainer = Trainer(words, TrainingOptions(merges=9))
    trainer.train_to()
    tokenizer = Tokenizer.from_timeline(trainer.timeline, COUNTING)
    replayer = Replayer(words, tokenizer, TrainingOptions())
    replayer.train_to()
    assert [(m.left, m.right, m.count) for m in replayer.timeline.merges()] == [
        (m.left, m.right, m.count) for m in trainer.timeline.merges()
    ]
    assert not replayer.timeline.departs().any()
    assert replayer.timeline.differing == frozenset()
    assert np.array_equal(replayer.timeline.tokens_curve(), trainer.timeline.tokens_curve())


def test_an_entry_that_does_not_occur_counts_nothing_and_is_listed():
    timeline = replayed(listed([("x", "y"), ("a", "b")]), {"ab": 2, "ba": 1}).timeline
    assert [merge.count for merge in timeline.merges()] == [0, 2]
    assert timeline.stop == "end of list"
    departure = timeline.expected(0)
    assert departure is not None
    assert departure.instead_of is not None
    assert departure.instead_of.count == 2


def test_a_replay_goes_on_where_it_was_stopped():
    words = {"abab" * 5: 3, "aabb" * 4: 1}
    tokenizer = listed(chosen([(i * 3, i * 11 + 1) for i in range(30)]))
    whole = replayed(tokenizer, words)
    replayer = Replayer(PretokenCounts.from_counter(words), tokenizer, TrainingOptions())
    assert replayer.train_to(3) is None
    assert replayer.frontier == 3
    assert replayer.timeline.stop is None
    replayer.train_to(should_stop=lambda: True)
    assert replayer.frontier == 3
    replayer.train_to()
    assert list(replayer.timeline.merges()) == list(whole.timeline.merges())


def test_counting_the_first_pairs_can_be_stopped():
    with pytest.raises(Stopped):
        Replayer(PretokenCounts.from_counter({"ab": 1}), listed([]), TrainingOptions(), should_stop=lambda: True)


def test_pieces_of_one_turn_that_the_library_merges_otherwise_are_told():
    contents = [*BYTES, b"bc", b"ab"]
    base = BaseVocabulary("bytes", "none", "</w>", BYTES, (False,) * 256)
    ends = np.cumsum([0, *map(len, contents)])
    symbols = SymbolTable(base, np.frombuffer(b"".join(contents), np.uint8), ends, np.zeros(258, np.uint8), 258)
    words = PretokenCounts.from_counter({"abc": 1, "bc": 1, "ab": 2})
    for turns, expected in ((None, []), ([1, 1], [b"abc"])):
        ranks = ScoredPieces(BYTES, contents[256:], turns=turns)
        tokenizer = Tokenizer(symbols, BoundaryRanks(base, ranks), COUNTING, special_ids={})
        replayer = Replayer(words, tokenizer, TrainingOptions())
        replayer.train_to()
        assert [words.content(row) for row in replayer.timeline.differing or ()] == expected
