"""Training and seeking against the reference, which recounts everything."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe_viz.engine import compiled, kernels_places, kernels_state, reference
from bpe_viz.engine.compiled import PLAIN, Kernels
from bpe_viz.engine.corpus import count_text, count_words, worked_example
from bpe_viz.engine.reader import Reader
from bpe_viz.engine.trainer import Trainer
from bpe_viz.engine.types import CountingOptions, Departure, Pair, TrainingOptions
from bpe_viz.errors import CorpusError, OptionError, PairError, Stopped
from tests.engine.oracle import MARKER, base_words, replay, sort_key
from tests.engine.strategies import corpora, options, runs


@pytest.fixture(scope="session")
def compiled_kernels() -> Kernels:
    return compiled.load()


def trained(words: Mapping[str, int], chosen: TrainingOptions, kernel_set: Kernels = PLAIN) -> Trainer:
    trainer = Trainer(count_words(words, "words").pretokens, chosen, kernel_set=kernel_set)
    trainer.train_to()
    return trainer


def written(trainer: Trainer, symbol: int) -> str:
    """A symbol as the oracle writes it."""
    symbols = trainer.timeline.symbols
    content = symbols.content(symbol)
    text = content.decode() if trainer.options.base == "characters" else content.decode("latin-1")
    return text + (MARKER if symbols.ends_word(symbol) else "")


def merge_list(trainer: Trainer) -> list[tuple[str, str]]:
    return [(written(trainer, a), written(trainer, b)) for a, b in trainer.timeline.pairs()]


def recount(words: Mapping[str, int], chosen: TrainingOptions) -> tuple[list, list]:
    """Return (merges with counts, steps) of the reference."""
    base = base_words(words, chosen.base, chosen.end_of_word)
    weighted = base if chosen.weights == "counts" else dict.fromkeys(base, 1)
    limit = 10_000 if chosen.merges is None else chosen.merges
    learned = reference.train(weighted, limit, chosen.min_count, sort_key(chosen.marker))
    return learned, replay(weighted, [pair for pair, _ in learned])


class TestAgainstTheReference:
    @given(st.one_of(corpora, runs), options)
    def test_merges_and_all_counts_equal_a_recount_after_every_merge(self, words, chosen):
        trainer = trained(words, chosen)
        learned, steps = recount(words, chosen)
        assert [
            (pair, m.count) for pair, m in zip(merge_list(trainer), trainer.timeline.merges(), strict=True)
        ] == learned
        reader = Reader(trainer.timeline)
        for position, step in enumerate(steps):
            reader.seek(position)
            counts = {(written(trainer, a), written(trainer, b)): n for (a, b), n in reader.pair_counts().items()}
            assert counts == step.counts

    @given(st.one_of(corpora, runs), options)
    def test_the_frame_shows_the_best_pairs_in_order_their_change_and_the_ties(self, words, chosen):
        trainer = trained(words, chosen)
        _, steps = recount(words, chosen)
        reader = Reader(trainer.timeline)
        key = sort_key(chosen.marker)
        for position, step in enumerate(steps):
            frame = reader.frame(position, top=1000)
            shown = [((written(trainer, p.left), written(trainer, p.right)), p.count) for p in frame.top]
            assert shown == sorted(step.counts.items(), key=lambda item: (-item[1], key(item[0], {})))
            assert frame.pairs == len(step.counts)
            before = steps[position - 1].counts if position else step.counts
            for pair, (name, count) in zip(frame.top, shown, strict=True):
                assert pair.change == count - before.get(name, 0)
                assert pair.is_new == (name not in before)
            highest = max(step.counts.values(), default=0)
            ties = sum(count == highest for count in step.counts.values())
            assert sum(pair.tied for pair in frame.top) == (ties if ties > 1 else 0)
            if frame.next is not None:
                assert (frame.next.count, frame.next.ties) == (highest, ties)

    @given(st.one_of(corpora, runs), options, st.lists(st.integers(0, 60), max_size=8))
    def test_jumps_restore_every_count(self, words, chosen, jumps):
        trainer = trained(words, chosen)
        there = Reader(trainer.timeline)
        for jump in jumps:
            there.seek(min(jump, trainer.frontier))
        there.seek(0)
        fresh = Reader(trainer.timeline)
        assert there.pair_counts() == fresh.pair_counts()
        assert there.frame(0, top=1000).top == fresh.frame(0, top=1000).top

    @given(st.one_of(corpora, runs), options)
    def test_splits_and_token_totals_at_every_position_equal_the_references(self, words, chosen):
        trainer = trained(words, chosen)
        learned, _ = recount(words, chosen)
        base = list(base_words(words, chosen.base, chosen.end_of_word))
        counts = list(words.values())
        reader = Reader(trainer.timeline)
        curve = trainer.timeline.tokens_curve()
        now = base
        for position in range(trainer.frontier + 1):
            if position:
                now = [reference.merge_word(word, learned[position - 1][0]) for word in now]
            frame = reader.frame(position, rows=range(len(words)))
            assert [tuple(written(trainer, s) for s in frame.splits[row]) for row in range(len(words))] == now
            # Totals count the real corpus, whatever the weights.
            assert frame.tokens == sum(len(word) * n for word, n in zip(now, counts, strict=True))
            assert frame.tokens == curve[position]

    @given(st.one_of(corpora, runs), options)
    def test_changed_rows_are_those_whose_split_changed(self, words, chosen):
        trainer = trained(words, chosen)
        reader = Reader(trainer.timeline)
        rows = range(len(words))
        for position in range(1, trainer.frontier + 1):
            before, now = reader.frame(position - 1, rows=rows).splits, reader.frame(position, rows=rows)
            assert now.changed == {row for row in rows if before[row] != now.splits[row]}

    @given(st.one_of(corpora, runs), options)
    def test_a_merge_replaces_as_often_as_left_to_right_replacement_does(self, words, chosen):
        trainer = trained(words, chosen)
        learned, steps = recount(words, chosen)
        for merge, (pair, _), step in zip(trainer.timeline.merges(), learned, steps, strict=False):
            replaced = sum(n * (len(w) - len(reference.merge_word(w, pair))) for w, n in step.words.items())
            assert merge.replacements == replaced
            assert 1 <= merge.replacements <= merge.count

    @settings(max_examples=30)
    @given(st.one_of(corpora, runs), options)
    def test_compiled_kernels_do_what_the_plain_ones_do(self, compiled_kernels, words, chosen):
        plain, fast = trained(words, chosen), trained(words, chosen, compiled_kernels)
        assert list(plain.timeline.merges()) == list(fast.timeline.merges())
        a, b = Reader(plain.timeline), Reader(fast.timeline, compiled_kernels)
        for position in (plain.frontier, 0, plain.frontier // 2):
            assert a.frame(position, top=50).top == b.frame(position, top=50).top
            assert a.pair_counts() == b.pair_counts()


class TestArbitraryChoices:
    @given(st.one_of(corpora, runs), st.sampled_from(["none", "separate", "glued"]), st.data())
    def test_no_two_merges_make_the_same_string_and_counts_stay_true(self, words, end_of_word, data):
        chosen = TrainingOptions(base="characters", end_of_word=end_of_word, merges=0)
        trainer = Trainer(count_words(words, "words").pretokens, chosen)
        base = base_words(words, "characters", end_of_word)
        reader = Reader(trainer.timeline)
        made: list[str] = []
        while True:
            reader.seek(trainer.frontier)
            counts = reader.pair_counts()
            now = {(written(trainer, a), written(trainer, b)): n for (a, b), n in counts.items()}
            assert now == replay(base, [])[0].counts
            if not counts:
                break
            pair = data.draw(st.sampled_from(sorted(counts)))
            merge = trainer.merge_pair(pair)
            made.append(written(trainer, merge.token))
            base = reference.merge_words(base, (written(trainer, pair.left), written(trainer, pair.right)))
        assert len(made) == len(set(made))
        assert not set(made) & {symbol for word in base_words(words, "characters", end_of_word) for symbol in word}

    def test_a_pair_that_does_not_occur_cannot_be_merged(self):
        trainer = Trainer(count_words({"ab": 1}, "words").pretokens, TrainingOptions())
        with pytest.raises(PairError, match="does not occur before the first merge"):
            trainer.merge_pair(Pair(1, 2))
        with pytest.raises(PairError, match="does not occur before the first merge"):
            trainer.merge_pair(Pair(256, 1_000))
        assert (trainer.frontier, trainer.timeline.departures) == (0, {})

    def test_a_token_that_would_be_too_long_cannot_be_chosen(self):
        trainer = Trainer(
            count_words({"abc": 1}, "words").pretokens, TrainingOptions(base="characters", max_token_length=2)
        )
        trainer.step()
        with pytest.raises(PairError, match=r"ab \+ c makes a token of 3 base symbols; the longest allowed has 2"):
            trainer.merge_pair(Pair(3, 2))


class TestBranches:
    @given(st.one_of(corpora, runs), options, st.data())
    def test_a_branch_repeats_the_merges_and_goes_on_from_another_pair(self, words, chosen, data):
        main = trained(words, chosen)
        position = data.draw(st.integers(0, main.frontier))
        branch = Trainer(count_words(words, "words").pretokens, chosen)
        branch.repeat(main.timeline.beginning(position))
        assert list(branch.timeline.merges()) == list(main.timeline.merges())[:position]
        reader = Reader(branch.timeline)
        reader.seek(position)
        counts = reader.pair_counts()
        if not counts:
            return
        pair = data.draw(st.sampled_from(sorted(counts)))
        merge = branch.merge_pair(pair)
        assert (merge.rank, merge.left, merge.right, merge.count) == (position, *pair, counts[pair])
        branch.train_to()
        _, steps = recount(words, chosen)
        base = steps[0].words
        after = replay(base, merge_list(branch))
        reader.seek(branch.frontier)
        now = {(written(branch, a), written(branch, b)): n for (a, b), n in reader.pair_counts().items()}
        assert now == after[-1].counts

    def test_a_branch_of_the_pair_that_wins_anyway_is_the_same_training(self):
        words = {"low": 5, "lower": 2, "newest": 6, "widest": 3}
        main = trained(words, TrainingOptions(base="characters"))
        branch = Trainer(count_words(words, "words").pretokens, TrainingOptions(base="characters"))
        branch.repeat(main.timeline.beginning(3))
        made = main.timeline.merge(3)
        branch.merge_pair(Pair(made.left, made.right))
        branch.train_to()
        assert list(branch.timeline.merges()) == list(main.timeline.merges())
        assert branch.timeline.departures == {}

    def test_a_departure_says_what_the_rule_would_have_done(self):
        words = {"low": 5, "lower": 2, "newest": 6, "widest": 3}
        main = trained(words, TrainingOptions(base="characters", merges=7))
        rule_s = main.timeline.merge(2)
        branch = Trainer(count_words(words, "words").pretokens, main.options)
        branch.repeat(main.timeline.beginning(2))
        made = branch.merge_pair(named(branch, "n", "e"))
        branch.train_to()
        departure = Departure(2, dataclasses.replace(rule_s, replacements=0))
        assert (made.count, made.ties, rule_s.ties) == (6, 3, 2)
        assert branch.timeline.departures == {2: departure}
        reader = Reader(branch.timeline)
        frames = [reader.frame(position) for position in (1, 2, 3)]
        assert [frame.next_by_choice for frame in frames] == [None, departure, None]
        assert [frame.made_by_choice for frame in frames] == [None, None, departure]

    def test_a_branch_of_a_branch_keeps_both_departures(self):
        words = {"low": 5, "lower": 2, "newest": 6, "widest": 3}
        first = Trainer(count_words(words, "words").pretokens, TrainingOptions(base="characters", merges=7))
        first.merge_pair(named(first, "w", "e"))
        first.train_to()
        second = Trainer(count_words(words, "words").pretokens, first.options)
        second.repeat(first.timeline.beginning(3))
        second.merge_pair(named(second, "i", "d"))
        assert list(second.timeline.departures) == [0, 3]
        assert list(second.timeline.merges())[:3] == list(first.timeline.merges())[:3]

    def test_at_the_end_one_more_pair_can_be_merged(self):
        words = {"low": 5, "lower": 2, "newest": 6, "widest": 3}
        main = trained(words, TrainingOptions(base="characters", merges=2))
        branch = Trainer(count_words(words, "words").pretokens, main.options)
        branch.repeat(main.timeline.beginning(2))
        branch.merge_pair(named(branch, "l", "o"))
        assert (branch.target, branch.frontier, branch.train_to()) == (3, 3, "target")
        # It is the pair that the rule would take, but the target would have ended training.
        assert branch.timeline.departures == {2: Departure(2, None)}
        again = Trainer(count_words(words, "words").pretokens, main.options)
        again.repeat(branch.timeline.beginning(3))
        assert (again.target, list(again.timeline.merges())) == (3, list(branch.timeline.merges()))

    def test_below_the_least_count_a_pair_can_be_merged_all_the_same(self):
        main = trained({"ab": 4, "cd": 3}, TrainingOptions(base="characters", min_count=4))
        branch = Trainer(count_words({"ab": 4, "cd": 3}, "words").pretokens, main.options)
        branch.repeat(main.timeline.beginning(1))
        assert branch.merge_pair(named(branch, "c", "d")).count == 3
        assert branch.timeline.departures == {1: Departure(1, None)}

    def test_a_beginning_beyond_the_frontier_is_refused(self):
        main = trained({"ab": 4}, TrainingOptions(base="characters"))
        with pytest.raises(IndexError, match="no 2 merges among 1"):
            main.timeline.beginning(2)

    def test_stop_while_merges_are_made_again_raises(self):
        words = {f"{i:b}": i for i in range(1, 2000)}
        main = trained(words, TrainingOptions())
        branch = Trainer(count_words(words, "words").pretokens, TrainingOptions())
        with pytest.raises(Stopped):
            branch.repeat(main.timeline.beginning(main.frontier), should_stop=lambda: branch.frontier > 0)
        assert 0 < branch.frontier < main.frontier


def named(trainer: Trainer, left: str, right: str) -> Pair:
    """The pair of these two letters of a character base."""
    of = {trainer.timeline.symbols.label(symbol).decode(): symbol for symbol in range(len(trainer.timeline.symbols))}
    return Pair(of[left], of[right])


class TestGivenCases:
    @pytest.mark.parametrize("case_id", ["TR-02", "TR-03", "TR-04"])
    def test_counts_and_words_after_every_merge(self, case, case_id):
        given_case = case(case_id)
        text, steps = given_case["input"]["text"], given_case["expected"]["steps"]
        corpus = count_text(text, CountingOptions(pretokenizer="whitespace"))
        trainer = Trainer(corpus.pretokens, TrainingOptions(base="characters", merges=0))
        reader = Reader(trainer.timeline)
        for step in steps[1:]:
            # The cases break ties by the smallest ids; their choice is followed, and the counts are compared.
            reader.seek(trainer.frontier)
            joined = {
                written(trainer, a) + written(trainer, b): pair for pair in reader.pair_counts() for a, b in [pair]
            }
            trainer.merge_pair(joined[step["merge"]])
        for position, step in enumerate(steps):
            frame = reader.frame(position, rows=range(len(corpus.pretokens)))
            if position:
                assert written(trainer, frame.made.token) == step["merge"]
                assert frame.made.count == step["count"]
            counts = {(written(trainer, a), written(trainer, b)): n for (a, b), n in reader.pair_counts().items()}
            assert counts == {(a, b): n for a, b, n in step["pair_counts"]}
            words = [[[written(trainer, s) for s in split], int(n)]
                     for split, n in zip(frame.splits.values(), corpus.pretokens.counts, strict=True)]  # fmt: skip
            assert words == step["words"]

    def test_overlapping_places_count_twice_but_are_replaced_once(self, case):
        given_case = case("TR-01")
        corpus = count_text(given_case["input"]["text"], CountingOptions(pretokenizer="whitespace"))
        trainer = Trainer(corpus.pretokens, TrainingOptions(base="characters", merges=3))
        trainer.train_to()
        made = [{"token": written(trainer, m.token), "count": m.count, "replacements": m.replacements}
                for m in trainer.timeline.merges()]  # fmt: skip
        expected = given_case["expected"]
        assert made == expected[next(name for name in expected if name.startswith("overlapping"))]

    def test_a_run_is_replaced_from_the_left_without_overlap(self, case):
        given_case = case("TR-05")
        words = {"".join(symbols): 1 for symbols in given_case["input"]["symbols"]}
        trainer = Trainer(count_words(words, "runs").pretokens, TrainingOptions(base="characters", merges=1))
        trainer.train_to()
        frame = Reader(trainer.timeline).frame(1, rows=range(len(words)))
        assert [[written(trainer, s) for s in split] for split in frame.splits.values()] == (
            given_case["expected"]["result"]
        )

    def test_no_merge_crosses_a_pretokens_edge(self, case):
        given_case = case("TR-06")
        made = {}
        for pretokenizer in ("none", "gpt2"):
            corpus = count_text(given_case["input"]["text"], CountingOptions(pretokenizer=pretokenizer))
            trainer = Trainer(corpus.pretokens, TrainingOptions(base="characters", merges=3))
            trainer.train_to()
            made[pretokenizer] = [list(pair) for pair in merge_list(trainer)]
        assert made["gpt2"] == given_case["expected"]["gpt2_pretokenizer"]
        # The case's merges without a pretokenizer are those of the first-seen rule; by the textbook rule the space
        # leads. Either way two words grow together, which an edge between them forbids.
        assert made["none"] == [["a", "b"], [" ", "ab"], [" ab", " ab"]]

    @pytest.mark.parametrize("least", [1, 2, 3])
    def test_min_count_stops_at_the_first_best_count_below_it(self, case, least):
        given_case = case("TR-15")
        corpus = count_text(given_case["input"]["text"], CountingOptions(pretokenizer="whitespace"))
        trainer = Trainer(corpus.pretokens, TrainingOptions(base="characters", min_count=least))
        trainer.train_to()
        expected = given_case["expected"][f"min_frequency={least}"]["HF"]
        assert [list(pair) for pair in merge_list(trainer)] == expected
        assert trainer.timeline.stop == ("no pair left" if least == 1 else "below min-count")

    def test_a_token_of_exactly_the_longest_length_is_made(self):
        # TR-16: the field's libraries stop one short of their own limit; here the limit itself is allowed.
        made = {}
        for limit in (2, 3, 4):
            trainer = trained({"abcd": 2}, TrainingOptions(base="characters", max_token_length=limit))
            made[limit] = [a + b for a, b in merge_list(trainer)]
        assert made == {2: ["ab", "cd"], 3: ["ab", "abc"], 4: ["ab", "abc", "abcd"]}

    def test_a_pair_that_may_not_be_merged_keeps_its_true_count(self):
        trainer = trained({"abab": 2}, TrainingOptions(base="characters", max_token_length=2))
        assert merge_list(trainer) == [("a", "b")]
        reader = Reader(trainer.timeline)
        assert reader.frame(1).next is None
        counts = {(written(trainer, a), written(trainer, b)): n for (a, b), n in reader.pair_counts().items()}
        assert counts == {("ab", "ab"): 2}

    @pytest.mark.parametrize("text", ["a b c", "   "])
    def test_one_letter_words_and_white_space_have_no_merges(self, text):
        corpus = count_text(text, CountingOptions(pretokenizer="whitespace"))
        trainer = Trainer(corpus.pretokens, TrainingOptions())
        assert trainer.train_to() == "no pair left"
        frame = Reader(trainer.timeline).frame(0)
        assert (trainer.frontier, frame.next, frame.top, frame.stop) == (0, None, (), "no pair left")

    def test_nul_is_an_ordinary_byte(self, shared):
        text = (shared / "cases" / "files" / "corpus_nul.txt").read_text()
        corpus = count_text(text, CountingOptions(pretokenizer="whitespace"))
        trainer = Trainer(corpus.pretokens, TrainingOptions())
        trainer.train_to()
        made = [(a, b, m.count) for (a, b), m in zip(merge_list(trainer), trainer.timeline.merges(), strict=True)]
        assert made == [("\0", "b", 2), ("a", "\0b", 2)]


class TestTargets:
    def test_the_vocabulary_size_counts_base_unknown_and_special_tokens(self):
        pretokens = count_words({"low": 5, "lower": 2}, "words").pretokens
        chosen = TrainingOptions(base="characters", vocab_size=10, unknown="<unk>")
        trainer = Trainer(pretokens, chosen, n_special_tokens=1)
        assert trainer.target == 10 - len("lower") - 2

    def test_a_target_below_the_base_vocabulary_is_refused(self):
        pretokens = count_words({"low": 5}, "words").pretokens
        with pytest.raises(OptionError, match="256 base symbols") as raised:
            Trainer(pretokens, TrainingOptions(vocab_size=255))
        assert "256 or more" in raised.value.remedy

    def test_an_unreachable_target_ends_with_its_reason(self):
        trainer = trained({"low": 1}, TrainingOptions(base="characters", merges=100))
        assert (trainer.frontier, trainer.timeline.stop) == (2, "no pair left")

    def test_an_unknown_rule_names_those_there_are(self):
        pretokens = count_words({"low": 5}, "words").pretokens
        with pytest.raises(OptionError, match="no tie rule named 'textbok'") as raised:
            Trainer(pretokens, TrainingOptions(rule="textbok"))
        assert "textbook" in raised.value.remedy

    def test_stop_keeps_what_was_trained(self):
        # More occurrences than one slice looks at, so that it is asked before the end.
        words = {f"{i:b}": i for i in range(1, 2000)}
        trainer = Trainer(count_words(words, "words").pretokens, TrainingOptions())
        trainer.train_to(should_stop=lambda: trainer.frontier > 0)
        stopped_at = trainer.frontier
        assert trainer.timeline.stop is None
        trainer.train_to()
        assert 0 < stopped_at < trainer.frontier
        assert list(trainer.timeline.merges()) == list(trained(words, TrainingOptions()).timeline.merges())


class TestScale:
    def test_a_word_of_70_000_letters_trains(self):
        trainer = trained({"ab" * 35_000: 1}, TrainingOptions(base="characters", merges=5))
        first = trainer.timeline.merge(0)
        assert (first.count, first.replacements) == (35_000, 35_000)
        assert len(Reader(trainer.timeline).frame(1, rows=[0]).splits[0]) == 35_000

    def test_counts_above_the_small_ones_have_true_ties(self):
        many = kernels_state.SMALL_COUNT * 3
        trainer = trained({"ab": many, "cd": many, "ef": many, "gh": 5, "ij": 5}, TrainingOptions(base="characters"))
        assert [m.ties for m in trainer.timeline.merges()] == [3, 2, 1, 2, 1]

    def test_a_chosen_pair_far_below_the_best_has_true_ties(self):
        many = kernels_state.SMALL_COUNT * 8
        words = {"ab": many, "cd": many // 4, "ef": many // 4, "gh": many // 4 + 1}
        trainer = Trainer(count_words(words, "words").pretokens, TrainingOptions(base="characters"))
        assert trainer.merge_pair(named(trainer, "e", "f")).ties == 2

    def test_counts_beyond_32_bits_stay_exact(self):
        trainer = trained({"ab": 2**40 + 1, "cd": 2**40}, TrainingOptions(base="characters"))
        assert [m.count for m in trainer.timeline.merges()] == [2**40 + 1, 2**40]

    def test_counts_that_add_up_beyond_64_bits_are_refused_in_words(self):
        words = {"ab": 2**61, "abc": 2**61}
        with pytest.raises(CorpusError, match="more than"):
            trained(words, TrainingOptions(base="characters"))
        halved = {word: count // 4 for word, count in words.items()}
        assert next(trained(halved, TrainingOptions(base="characters")).timeline.merges()).count == 2**60

    def test_a_reader_may_read_while_training_goes_on(self):
        words = {f"{i:b}".replace("0", "a").replace("1", "b"): i for i in range(1, 400)}
        whole = trained(words, TrainingOptions(base="characters"))
        trainer = Trainer(count_words(words, "words").pretokens, TrainingOptions(base="characters"))
        reader, complete = Reader(trainer.timeline), Reader(whole.timeline)
        for position in range(0, whole.frontier, 7):
            trainer.train_to(position)
            for asked in (position, position // 2):
                a, b = reader.frame(asked, top=30), complete.frame(asked, top=30)
                assert a.top == b.top
                assert dataclasses.replace(a.next, replacements=0) == dataclasses.replace(b.next, replacements=0)

    def test_characters_of_a_large_alphabet_are_numbered_by_first_appearance_too(self):
        # More base symbols than the table of pairs has room for: the sorting path.
        text = "".join(chr(0x4E00 + i) for i in range(4500))
        trainer = trained({text: 1, text[:2] * 2: 3}, TrainingOptions(base="characters", merges=1))
        assert merge_list(trainer) == [(text[0], text[1])]
        assert int(np.sum(Reader(trainer.timeline).counts())) == 4499 + 9


class TestWithoutARecord:
    def test_the_merges_are_the_same(self):
        pretokens = worked_example().pretokens
        options = TrainingOptions(base="characters", end_of_word="glued")
        recorded, unrecorded = Trainer(pretokens, options), Trainer(pretokens, options, records=False)
        for trainer in (recorded, unrecorded):
            trainer.train_to()
        assert list(unrecorded.timeline.merges()) == list(recorded.timeline.merges())
        assert unrecorded.timeline.tokens_curve().tolist() == recorded.timeline.tokens_curve().tolist()

    def test_nothing_is_made_up_for_who_looks_back(self):
        trainer = Trainer(worked_example().pretokens, TrainingOptions(base="characters"), records=False)
        trainer.train_to()
        with pytest.raises(ValueError, match="not recorded"):
            Reader(trainer.timeline)
        with pytest.raises(ValueError, match="not recorded"):
            trainer.timeline.changed_rows(0)


@given(st.one_of(corpora, runs), options, st.integers(1, 4), st.booleans())
def test_dropping_places_changes_no_merge(words, chosen, every, look_at_all):
    kept = trained(words, chosen)
    dropped = Trainer(count_words(words, "words").pretokens, chosen)
    while dropped.step() is not None:
        if dropped.frontier % every == 0:
            kernels_places.drop_places(dropped._view, look_at_all)
            arrays = dropped._arrays
            used = arrays.place[: arrays.size[kernels_state.PLACES]]
            slots = np.repeat(
                np.arange(arrays.size[kernels_state.PAIRS]),
                np.diff(arrays.place_start[: arrays.size[kernels_state.PAIRS] + 1]),
            )
            assert (arrays.order.count[slots] > 0).all()
            assert not look_at_all or (arrays.cell[3 * used + 1] == slots).all()
    assert list(dropped.timeline.merges()) == list(kept.timeline.merges())
