"""Every value of the worked examples that were derived by hand, through the engine."""

from __future__ import annotations

import pytest

from bpe_viz.engine import reference
from bpe_viz.engine.corpus import count_text, count_words, worked_example
from bpe_viz.engine.explain import explain
from bpe_viz.engine.pretokenize import PRETOKENIZERS
from bpe_viz.engine.reader import Reader
from bpe_viz.engine.tokenizer import Tokenizer
from bpe_viz.engine.trainer import Trainer
from bpe_viz.engine.types import CountingOptions, TrainingOptions

LINES = CountingOptions(pretokenizer="none")


def train(**options) -> Trainer:
    trainer = Trainer(worked_example().pretokens, TrainingOptions(base="characters", **options))
    trainer.train_to()
    return trainer


def table(trainer: Trainer) -> list[tuple[str, int, int]]:
    """(merge, count, ties) of every merge."""
    symbols = trainer.timeline.symbols
    return [
        (f"{symbols.label(m.left).decode()} {symbols.label(m.right).decode()}", m.count, m.ties)
        for m in trainer.timeline.merges()
    ]


def labels(trainer: Trainer, symbols) -> str:
    return " ".join(trainer.timeline.symbols.label(symbol).decode() for symbol in symbols)


class TestLowLowerNewestWidest:
    def test_base_and_first_counts(self):
        trainer = train(merges=0)
        assert [c.decode() for c in trainer.timeline.base.content] == list("deilnorstw")
        counts = Reader(trainer.timeline).pair_counts()
        named = {labels(trainer, pair): count for pair, count in counts.items()}
        first = {"e s": 9, "s t": 9, "w e": 8, "l o": 7, "o w": 7, "n e": 6, "e w": 6}
        assert {pair: named[pair] for pair in first} == first
        assert max(count for pair, count in named.items() if pair not in first) < 6

    def test_seven_merges_with_their_counts_and_ties(self):
        trainer = train(merges=7)
        assert table(trainer) == [
            ("e s", 9, 2),
            ("es t", 9, 1),
            ("l o", 7, 2),
            ("lo w", 7, 1),
            ("e w", 6, 3),
            ("ew est", 6, 2),
            ("n ewest", 6, 1),
        ]
        assert len(trainer.timeline.symbols) == 17

    def test_splits_after_rank_3(self):
        trainer = train(merges=7)
        splits = Reader(trainer.timeline).frame(4, rows=range(4)).splits
        assert labels(trainer, splits[0]) == "low"
        assert labels(trainer, splits[3]) == "w i d est"

    def test_encoding_with_five_merges(self):
        tokenizer = Tokenizer.from_timeline(train(merges=7).timeline, LINES).at(5)
        assert [tokenizer.label(i).decode() for i in tokenizer.encode("newer").ids] == ["n", "ew", "e", "r"]
        assert [tokenizer.label(i).decode() for i in tokenizer.encode("lowest").ids] == ["low", "est"]

    def test_ids(self):
        tokenizer = Tokenizer.from_timeline(train(merges=7).timeline, LINES)
        named = {token.content.decode(): token.id for token in tokenizer.vocabulary()}
        assert named == {
            "d": 0, "e": 1, "i": 2, "l": 3, "n": 4, "o": 5, "r": 6, "s": 7, "t": 8, "w": 9,
            "es": 10, "est": 11, "lo": 12, "low": 13, "ew": 14, "ewest": 15, "newest": 16,
        }  # fmt: skip
        assert tokenizer.encode("lowest").ids == [13, 11]

    def test_counting_each_word_once_changes_rank_4(self):
        trainer = train(merges=5, weights="types")
        assert [merge for merge, _, _ in table(trainer)] == ["e s", "es t", "l o", "lo w", "d est"]
        assert table(trainer)[4][1] == 1

    def test_separate_end_of_word_marker(self):
        trainer = train(merges=12, end_of_word="separate")
        assert table(trainer) == [
            ("e s", 9, 3),
            ("es t", 9, 2),
            ("est </w>", 9, 1),
            ("l o", 7, 2),
            ("lo w", 7, 1),
            ("e w", 6, 3),
            ("ew est</w>", 6, 2),
            ("n ewest</w>", 6, 1),
            ("low </w>", 5, 1),
            ("d est</w>", 3, 3),
            ("i dest</w>", 3, 2),
            ("w idest</w>", 3, 1),
        ]
        top = Reader(trainer.timeline).frame(0, top=20).top
        assert {labels(trainer, (p.left, p.right)) for p in top if p.tied} == {"e s", "s t", "t </w>"}


class TestOneMerge:
    @pytest.mark.parametrize(
        ("words", "pair", "count", "ties", "replacements", "after"),
        [
            (["low", "lower"], "l o", 2, 2, 2, ["lo w", "lo w e r"]),
            (["aaa"], "a a", 2, 1, 1, ["aa a"]),
            (["aaaa"], "a a", 3, 1, 2, ["aa aa"]),
            (["banana"], "a n", 2, 2, 2, ["b an an a"]),
            (["xy", "xy", "ab"], "x y", 2, 1, 2, ["xy", "a b"]),
            (["q", "xy"], "x y", 1, 1, 1, ["q", "xy"]),
        ],
    )
    def test_best_pair_and_what_it_leaves(self, words, pair, count, ties, replacements, after):
        counts = {word: words.count(word) for word in words}
        pretokens = count_words(counts, "words").pretokens
        trainer = Trainer(pretokens, TrainingOptions(base="characters", merges=1))
        made = trainer.step()
        assert made is not None
        assert (labels(trainer, (made.left, made.right)), made.count, made.ties) == (pair, count, ties)
        assert made.replacements == replacements
        splits = Reader(trainer.timeline).frame(1, rows=range(len(counts))).splits.values()
        assert [labels(trainer, split) for split in splits] == after

    def test_no_pair_leaves_all_as_it_was(self):
        trainer = Trainer(count_words({"a": 1, "b": 1}, "words").pretokens, TrainingOptions(base="characters"))
        assert trainer.step() is None
        assert trainer.timeline.stop == "no pair left"

    def test_symbols_are_never_joined_strings(self):
        assert reference.count_pairs({("a", "bc"): 1, ("ab", "c"): 1}) == {("a", "bc"): 1, ("ab", "c"): 1}


class TestOrderOfMerges:
    def test_lowest_step_by_step(self):
        trainer = train(merges=4)
        tokenizer = Tokenizer.from_timeline(trainer.timeline, LINES)
        (explanation,) = explain(tokenizer, "lowest")
        steps = [explanation.first, *(split.symbols for split in explanation.splits())]
        assert [labels(trainer, step) for step in steps] == [
            "l o w e s t", "l o w es t", "l o w est", "lo w est", "low est",
        ]  # fmt: skip

    def test_a_later_merge_applied_first_finds_nothing(self):
        assert reference.encode(tuple("lowest"), [("es", "t"), ("e", "s")]) == ("l", "o", "w", "es", "t")


class TestBytes:
    def test_base_ids_are_the_bytes(self):
        trainer = Trainer(count_words({"x": 1}, "words").pretokens, TrainingOptions())
        tokenizer = Tokenizer.from_timeline(trainer.timeline, LINES)
        assert tokenizer.encode("héllo").ids == [104, 195, 169, 108, 108, 111]
        assert tokenizer.encode("café").ids == [99, 97, 102, 195, 169]
        assert tokenizer.decode([195]).text == "\ufffd"
        assert tokenizer.decode([195]).invalid == 1


class TestPretokens:
    def test_gpt2_and_cl100k(self):
        assert PRETOKENIZERS["gpt2"].split("Hello, how") == ["Hello", ",", " how"]
        assert PRETOKENIZERS["cl100k"].split("1234") == ["123", "4"]

    def test_a_leading_space_makes_another_token(self):
        corpus = count_text(" hello hello", CountingOptions())
        trainer = Trainer(corpus.pretokens, TrainingOptions())
        trainer.train_to()
        tokenizer = Tokenizer.from_timeline(trainer.timeline, CountingOptions())
        assert tokenizer.encode(" hello").ids != tokenizer.encode("hello").ids
