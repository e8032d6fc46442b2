"""Who wins among equals: each rule against the reference, against its library, and on the given cases."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe_viz.engine import compiled, kernels_order, reference
from bpe_viz.engine.compiled import PLAIN
from bpe_viz.engine.corpus import count_text, count_words
from bpe_viz.engine.pretokenize import PRETOKENIZERS
from bpe_viz.engine.reader import Reader
from bpe_viz.engine.symbols import stand_in_order
from bpe_viz.engine.tie_rules import TIE_RULES
from bpe_viz.engine.trainer import Trainer
from bpe_viz.engine.types import CountingOptions, TrainingOptions
from tests.engine.strategies import runs

RULE_OF_CODE = {
    kernels_order.TEXTBOOK: reference.textbook,
    kernels_order.UTF16: reference.utf16,
    kernels_order.SMALLEST_IDS: reference.smallest_ids,
    kernels_order.FIRST_SEEN: reference.first_seen,
    kernels_order.GREATEST: reference.greatest,
    kernels_order.SHORTEST_PIECE: reference.shortest_piece,
}

# Letters on both sides of the UTF-16 gap, and prefixes of each other longer than what is compared as a number.
letters = st.text(alphabet="abé\uffee\U0001f600", min_size=1, max_size=10)
repeated = st.builds(
    lambda part, times: part * times, st.text(alphabet="ab", min_size=1, max_size=4), st.integers(1, 6)
)
corpora = st.dictionaries(st.one_of(letters, repeated), st.integers(1, 4), min_size=1, max_size=8)


GPT2_PATTERN = PRETOKENIZERS["gpt2"].pattern


def train(text: str, rule: str, merges: int, pretokenizer: str = "whitespace", **options) -> list[tuple[str, str]]:
    counted = count_text(text, CountingOptions(pretokenizer=pretokenizer))
    trainer = Trainer(counted.pretokens, TrainingOptions(rule=rule, merges=merges, **options))
    trainer.train_to()
    symbols = trainer.timeline.symbols
    return [(symbols.label(a).decode(), symbols.label(b).decode()) for a, b in trainer.timeline.pairs()]


@pytest.fixture(scope="session")
def kernel_sets():
    return (PLAIN, compiled.load())


@settings(max_examples=60)
@pytest.mark.parametrize("rule", TIE_RULES)
@given(words=st.one_of(corpora, runs))
def test_every_rule_equals_the_reference(kernel_sets, rule, words):
    learned = reference.train(
        {tuple(word): count for word, count in words.items()}, 60, rule=RULE_OF_CODE[TIE_RULES[rule].code]
    )
    for kernel_set in kernel_sets:
        pretokens = count_words(words, "words").pretokens
        trainer = Trainer(pretokens, TrainingOptions("characters", rule=rule, merges=60), kernel_set=kernel_set)
        trainer.train_to()
        symbols = trainer.timeline.symbols
        made = [
            ((symbols.label(m.left).decode(), symbols.label(m.right).decode()), m.count)
            for m in trainer.timeline.merges()
        ]
        assert made == learned


@settings(max_examples=60)
@pytest.mark.parametrize("rule", TIE_RULES)
@given(words=corpora)
def test_the_frame_shows_first_what_is_merged_next(rule, words):
    pretokens = count_words(words, "words").pretokens
    trainer = Trainer(pretokens, TrainingOptions("characters", rule=rule, merges=20))
    reader = Reader(trainer.timeline)
    while True:
        frame = reader.frame(trainer.frontier, top=3)
        merge = trainer.step()
        if merge is None:
            break
        assert frame.next is not None
        assert (frame.next.left, frame.next.right) == (merge.left, merge.right)
        assert (frame.top[0].left, frame.top[0].right) == (merge.left, merge.right)


@settings(max_examples=60)
@pytest.mark.parametrize("rule", TIE_RULES)
@given(words=st.one_of(corpora, runs), data=st.data())
def test_a_branch_from_any_position_equals_the_reference_with_the_same_choice(kernel_sets, rule, words, data):
    pretokens = count_words(words, "words").pretokens
    options = TrainingOptions("characters", rule=rule, merges=40)
    main = Trainer(pretokens, options)
    main.train_to()
    position = data.draw(st.integers(0, main.frontier))
    reader = Reader(main.timeline)
    reader.seek(position)
    if not (pairs := sorted(reader.pair_counts())):
        return
    pair = data.draw(st.sampled_from(pairs))
    for kernel_set in kernel_sets:
        branch = Trainer(pretokens, options, kernel_set=kernel_set)
        branch.repeat(main.timeline.beginning(position))
        branch.merge_pair(pair)
        branch.train_to()
        symbols = branch.timeline.symbols
        made = [
            ((symbols.label(m.left).decode(), symbols.label(m.right).decode()), m.count)
            for m in branch.timeline.merges()
        ]
        assert made == reference.train(
            {tuple(word): count for word, count in words.items()},
            max(40, position + 1),
            rule=RULE_OF_CODE[TIE_RULES[rule].code],
            chosen=[texts for texts, _ in made[: position + 1]],
        )
        assert made[:position] == [
            ((symbols.label(m.left).decode(), symbols.label(m.right).decode()), m.count)
            for m in list(main.timeline.merges())[:position]
        ]
        following = Reader(branch.timeline).frame(position, top=3)
        assert following.next is not None
        assert (following.next.left, following.next.right) == pair


class TestCases:
    def test_one_corpus_four_merge_lists(self, case):
        given_case = case("TIE-01")
        text, expected = given_case["input"]["text"], given_case["expected"]
        for rule, name in (
            ("huggingface", "smallest_id_pair"),
            ("rustbpe", "smallest_id_pair"),
            ("first-seen", "first_seen"),
        ):
            assert [list(pair) for pair in train(text, rule, 5)] == expected[name]["merges"]
        codes = expected["lexicographically_greatest_pair"]["codes"]
        made = train(text, "subword-nmt", 5, base="characters", end_of_word="glued", min_count=2)
        assert [" ".join(pair) for pair in made] == codes
        assert [f"{a} {b}</w>" for a, b in train(text, "cs336", 5)] == codes
        pieces = expected["shortest_then_smallest_piece"]["pieces_in_order"]
        assert [a + b for a, b in train(text, "sentencepiece", 5)] == pieces

    def test_ids_in_the_order_of_stand_in_letters_or_of_bytes(self, case):
        given_case = case("TIE-02")
        text, expected = given_case["input"]["text"], given_case["expected"]
        made = train(text, "huggingface", 3, "gpt2")
        assert [[a.replace(" ", "Ġ"), b.replace(" ", "Ġ")] for a, b in made] == expected["hf_bytelevel"]
        assert [a + b for a, b in train(text, "rustbpe", 3, "gpt2")] == expected["rustbpe"]

    def test_pairs_are_compared_not_joined_bytes(self, case):
        given_case = case("TIE-03")
        expected = given_case["expected"]
        for rule, name in (("cs336", "pair_of_bytes (CS336)"), ("huggingface", "smallest_ids (HF-like)")):
            made = train(given_case["input"]["text"], rule, 4)
            assert [list(pair) for pair in made] == [entry[:2] for entry in expected[name]]

    def test_first_seen_hangs_on_the_order_of_the_text(self, case):
        given_case = case("TIE-04")
        for text in given_case["input"]["texts"]:
            made = train(text, "first-seen", 2)
            assert [list(pair) for pair in made] == given_case["expected"]["minbpe"][text]
            assert train(text, "textbook", 2) == [("a", "a"), ("d", "d")]

    def test_shorter_pieces_first_in_code_points(self, case):
        given_case = case("TR-39")
        for name in "abc":
            text = " ".join(given_case["input"][f"lines_{name}"])
            made = train(text, "sentencepiece", 9, base="characters")
            assert [a + b for a, b in made] == given_case["expected"][name]


class TestLibraries:
    """Plain options, random corpora, equal merge lists; each where its library is installed."""

    texts = st.lists(st.text(alphabet="abcé ", min_size=1, max_size=12), min_size=1, max_size=8).map(" ".join)

    @settings(max_examples=40)
    @given(text=texts)
    def test_tokenizers(self, text):
        tokenizers = pytest.importorskip("tokenizers")
        model = tokenizers.Tokenizer(tokenizers.models.BPE())
        model.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
        alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
        trainer = tokenizers.trainers.BpeTrainer(
            vocab_size=290, initial_alphabet=alphabet, show_progress=False, special_tokens=[]
        )
        model.train_from_iterator([text], trainer)
        with tempfile.TemporaryDirectory() as folder:
            model.model.save(folder)
            lines = (Path(folder) / "merges.txt").read_text(encoding="utf-8").split("\n")
        merges = [tuple(line.split(" ")) for line in lines if line and not line.startswith("#version")]
        counted = count_text(text, CountingOptions())
        ours = Trainer(counted.pretokens, TrainingOptions(rule="huggingface", vocab_size=290))
        ours.train_to()
        symbols = ours.timeline.symbols
        letters = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
        written = [tuple(_in_letters(symbols.label(symbol)) for symbol in pair) for pair in ours.timeline.pairs()]
        assert letters is not None
        assert written == merges

    @settings(max_examples=40)
    @given(text=texts)
    def test_rustbpe(self, text):
        rustbpe = pytest.importorskip("rustbpe", reason="rustbpe is not installed (extra bench)")
        peer = rustbpe.Tokenizer()
        peer.train_from_iterator(iter([text]), 290, pattern=GPT2_PATTERN)
        theirs = [bytes(token) for token, rank in sorted(peer.get_mergeable_ranks(), key=lambda entry: entry[1])][256:]
        assert tokens_made(text, "rustbpe", 34) == theirs

    @settings(max_examples=40)
    @given(text=texts)
    def test_bpeasy(self, text):
        bpeasy = pytest.importorskip("bpeasy", reason="bpeasy is not installed (extra bench)")
        theirs = bpeasy.train_bpe(iter([text]), GPT2_PATTERN, 10_000, 290)
        by_rank = [bytes(token) for token, _ in sorted(theirs.items(), key=lambda entry: entry[1])]
        assert tokens_made(text, "rustbpe", 34) == by_rank[256:]

    @settings(max_examples=15)
    @given(text=st.lists(st.text(alphabet="abcdé", min_size=1, max_size=12), min_size=2, max_size=8).map(" ".join))
    def test_sentencepiece(self, text):
        sentencepiece = pytest.importorskip("sentencepiece", reason="sentencepiece is not installed (extra bench)")
        import io

        model = io.BytesIO()
        # Its pieces of one letter take ids as well, so more than enough are asked for, softly.
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(text.split(" ")), model_writer=model, model_type="bpe", vocab_size=60,
            hard_vocab_limit=False, character_coverage=1.0, add_dummy_prefix=False, normalization_rule_name="identity",
            split_by_whitespace=True, max_sentencepiece_length=512, minloglevel=2,
        )  # fmt: skip
        processor = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
        pieces = [processor.id_to_piece(i) for i in range(3, processor.get_piece_size())]
        made = [a + b for a, b in train(text, "sentencepiece", 60, base="characters")]
        assert made == [piece for piece in pieces if len(piece) > 1][: len(made)]

    @settings(max_examples=40)
    @given(text=texts)
    def test_subword_nmt(self, text):
        learn_bpe = pytest.importorskip("subword_nmt.learn_bpe", reason="subword-nmt is not installed (extra bench)")
        import io

        out = io.StringIO()
        try:
            learn_bpe.learn_bpe(io.StringIO(text), out, 20, min_frequency=2)
        except ValueError:  # it has no answer where there is no pair at all
            return
        theirs = [tuple(line.split(" ")) for line in out.getvalue().split("\n")[1:] if line]
        words = " ".join(text.split())
        made = train(words, "subword-nmt", 20, base="characters", end_of_word="glued", min_count=2) if words else []
        assert made == theirs


def _in_letters(content: bytes) -> str:
    letters = {byte: chr(byte) for byte in stand_in_order()[:188]}
    letters |= {byte: chr(0x100 + i) for i, byte in enumerate(stand_in_order()[188:])}
    return "".join(letters[byte] for byte in content)


def tokens_made(text: str, rule: str, merges: int) -> list[bytes]:
    """The bytes of each merge's token, in order, for a byte base and GPT-2's pattern."""
    trainer = Trainer(count_text(text, CountingOptions()).pretokens, TrainingOptions(rule=rule, merges=merges))
    trainer.train_to()
    symbols = trainer.timeline.symbols
    return [symbols.content(merge.token) for merge in trainer.timeline.merges()]
