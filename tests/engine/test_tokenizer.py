"""Encoding and decoding at any position, against replaying the merges one by one."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_viz.engine import reference
from bpe_viz.engine.corpus import count_text, count_words
from bpe_viz.engine.explain import explain
from bpe_viz.engine.pipeline import aligned_normalize
from bpe_viz.engine.symbols import GAP
from bpe_viz.engine.timeline import Timeline
from bpe_viz.engine.tokenizer import Tokenizer
from bpe_viz.engine.trainer import Trainer
from bpe_viz.engine.types import CountingOptions, Pair, TrainingOptions
from bpe_viz.errors import FormatError, OptionError
from tests.engine.strategies import LETTERS, corpora, runs

texts = st.text(alphabet=LETTERS + "xÉ \r", max_size=40)
any_text = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=60)
named = st.sampled_from(["none", "whitespace", "gpt2", "cl100k", "o200k"])


def train(text: str, counting: CountingOptions, **options) -> Tokenizer:
    return Tokenizer.from_timeline(timeline_of(text, counting, **options), counting)


def timeline_of(text: str, counting: CountingOptions, **options) -> Timeline:
    specials = len(counting.special_tokens)
    trainer = Trainer(count_text(text, counting).pretokens, TrainingOptions(**options), specials)
    trainer.train_to()
    return trainer.timeline


def test_a_list_whose_tokens_double_without_end_is_refused():
    base = train("a", CountingOptions()).base
    pairs = [Pair(97, 97), *(Pair(255 + n, 255 + n) for n in range(1, 64))]
    with pytest.raises(FormatError, match=r"The tokens up to merge 2[0-9] are longer"):
        Tokenizer.from_merges(base, pairs, CountingOptions())


class TestEncoding:
    @given(st.one_of(corpora, runs), st.sampled_from(["none", "separate", "glued"]), texts, st.integers(0, 60))
    def test_a_position_equals_replaying_the_merges_one_by_one(self, words, end_of_word, text, position):
        chosen = TrainingOptions(base="characters", end_of_word=end_of_word, merges=60)
        trainer = Trainer(count_words(words, "words").pretokens, chosen)
        trainer.train_to()
        counting = CountingOptions(pretokenizer="gpt2")
        tokenizer = Tokenizer.from_timeline(trainer.timeline, counting)
        position = min(position, trainer.frontier)
        n_base = len(trainer.timeline.base)
        for explanation in explain(tokenizer, text):
            # Ids as the reference's symbols, a gap as a symbol that no merge names.
            word: list = [f"<{s}>" if s != GAP else f"gap {i}" for i, s in enumerate(explanation.first)]
            now = [[symbol] for symbol in word]
            for rank, (left, right) in enumerate(trainer.timeline.pairs()[:position]):
                now = _merge(now, f"<{left}>", f"<{right}>", f"<{n_base + rank}>")
            expected = [symbol[0] for symbol in now]
            ids = tokenizer.at(position).encode_pretoken(explanation.pretoken.encode())
            assert ["gap" if i is None else f"<{i}>" for i in ids] == [
                "gap" if s.startswith("gap") else s for s in expected
            ]

    @given(any_text, st.sampled_from(["none", "gpt2", "cl100k", "o200k"]), any_text, st.integers(0, 50))
    def test_decode_of_encode_is_the_text_for_a_byte_base_that_covers_it(self, corpus, pretokenizer, text, position):
        tokenizer = train(corpus + "x", CountingOptions(pretokenizer=pretokenizer), merges=50)
        at = tokenizer.at(min(position, tokenizer.n_merges))
        assert at.decode(at.encode(text).ids).text == text

    @given(any_text, named, any_text)
    def test_offsets_cover_the_text_that_is_not_dropped(self, corpus, pretokenizer, text):
        tokenizer = train(corpus + "x", CountingOptions(pretokenizer=pretokenizer), merges=50)
        encoding = tokenizer.encode(text)
        covered = sum(len(token.content) for token in encoding.tokens)
        if pretokenizer != "whitespace":
            assert (covered, encoding.dropped) == (len(text.encode()), 0)
        for token in encoding.tokens:
            if token.start is not None and token.end is not None:
                assert text[token.start : token.end].encode() == token.content

    @given(any_text, any_text)
    def test_counts_at_every_position_equal_encoding_there(self, corpus, text):
        tokenizer = train(corpus + "abab", CountingOptions(), merges=30)
        laid_out = tokenizer.lay_out(text)
        counts = laid_out.counts(tokenizer.n_merges)
        for position in range(tokenizer.n_merges + 1):
            assert counts[position] == len(laid_out.at(position)) == len(tokenizer.at(position).encode(text).ids)

    def test_a_character_that_the_base_lacks_is_a_gap(self):
        tokenizer = train("low lower", CountingOptions(), base="characters")
        encoding = tokenizer.encode("low xlow")
        assert (encoding.gaps, [token.id is None for token in encoding.tokens].count(True)) == (1, 1)
        gap = next(token for token in encoding.tokens if token.id is None)
        assert (gap.content, gap.start, gap.end) == (b"x", 4, 5)

    def test_an_unknown_token_takes_the_gaps_place(self):
        tokenizer = train("low lower", CountingOptions(), base="characters", unknown="<unk>")
        encoding = tokenizer.encode("xx")
        unknown = tokenizer.special_ids["<unk>"]
        assert (encoding.ids, encoding.gaps) == ([unknown, unknown], 0)
        assert unknown == len(tokenizer.symbols)

    def test_a_token_inside_a_character_has_no_offset_there(self):
        tokenizer = train("x", CountingOptions(), merges=0)
        encoding = tokenizer.encode("é!")
        assert [(t.start, t.end) for t in encoding.tokens] == [(0, None), (None, 1), (1, 2)]


def _merge(word: list[list[str]], left: str, right: str, made: str) -> list[list[str]]:
    merged: list[list[str]] = []
    i = 0
    while i < len(word):
        if i + 1 < len(word) and word[i] == [left] and word[i + 1] == [right]:
            merged.append([made])
            i += 2
        else:
            merged.append(word[i])
            i += 1
    return merged


class TestSpecialTokens:
    counting = CountingOptions(special_tokens=("<|end|>", "<|end|>now", "a+b"))

    def test_longest_match_metacharacters_and_ids_after_the_merges(self):
        tokenizer = train("low low<|end|>low a+b", self.counting, merges=3)
        n = len(tokenizer.symbols)
        assert tokenizer.special_ids == {"<|end|>": n, "<|end|>now": n + 1, "a+b": n + 2}
        ids = tokenizer.encode("<|end|>now<|end|>a+baab").ids
        assert ids[:3] == [n + 1, n, n + 2]
        assert tokenizer.decode(ids).text == "<|end|>now<|end|>a+baab"

    def test_as_text_or_an_error(self):
        tokenizer = train("low", self.counting, merges=3)
        as_text = tokenizer.encode("a+b", special_text="text")
        assert as_text.ids == [97, 43, 98]
        with pytest.raises(OptionError, match=r"special token 'a\+b' at character 3"):
            tokenizer.encode("x a+b", special_text="error")

    def test_special_text_is_cut_out_before_counting(self, case):
        given_case = case("TR-17")
        counting = CountingOptions("whitespace", special_tokens=("the",))
        tokenizer = train(given_case["input"]["text"], counting, base="characters")
        assert [token.content.decode() for token in tokenizer.vocabulary()] == ["n", "the"]
        assert [tokenizer.label(i).decode() for i in tokenizer.encode("then").ids] == ["the", "n"]

    def test_a_special_token_that_was_learned_shares_its_id_and_says_so(self):
        # "THE" is no special token, but its lower case is: it is learned as an ordinary token.
        counting = CountingOptions(normalize=("lowercase",), special_tokens=("the",))
        tokenizer = train("THE THE THE", counting, merges=5)
        learned = next(token for token in tokenizer.vocabulary() if token.content == b"the")
        assert tokenizer.special_ids == {"the": learned.id}
        assert "both have id" in tokenizer.notes[0]
        assert tokenizer.vocab_size == 256 + tokenizer.n_merges

    def test_the_rule_of_tokenizers_numbers_special_tokens_first_and_bytes_by_their_letters(self):
        tokenizer = train("low low<|end|>low a+b", self.counting, merges=3, rule="huggingface")
        assert tokenizer.special_ids == {"<|end|>": 0, "<|end|>now": 1, "a+b": 2}
        # "!" is the first printable byte, and a space is written with a letter beyond the printable ones.
        assert tokenizer.encode("!").ids == [3]
        assert tokenizer.token(3 + 256).rank == 0
        ids = tokenizer.encode("low<|end|>now!").ids
        assert tokenizer.decode(ids).text == "low<|end|>now!"
        assert tokenizer.vocab_size == 3 + 256 + 3

    def test_the_rule_of_tokenizers_lets_a_learned_token_keep_a_special_ones_id(self):
        counting = CountingOptions(normalize=("lowercase",), special_tokens=("the",))
        tokenizer = train("THE THE THE", counting, merges=5, rule="huggingface")
        assert tokenizer.special_ids == {"the": 0}
        assert tokenizer.token(0).content == b"the"
        assert tokenizer.vocab_size == 256 + tokenizer.n_merges


class TestDecoding:
    def test_unknown_and_negative_ids_are_marked_and_the_rest_is_kept(self):
        tokenizer = train("low", CountingOptions(), merges=2)
        decoding = tokenizer.decode([108, 999, -1, 111])
        assert decoding.text == "l<no token 999><no token -1>o"
        assert decoding.unknown == (999, -1)

    def test_bytes_that_are_no_whole_character_are_counted(self):
        tokenizer = train("low", CountingOptions(), merges=2)
        decoding = tokenizer.decode([240, 159, 108, 195, 169])
        assert (decoding.text, decoding.invalid) == ("\ufffdlé", 1)

    def test_a_dropped_space_comes_back_from_the_marker(self):
        counting = CountingOptions(pretokenizer="whitespace")
        tokenizer = train("low lower low", counting, base="characters", end_of_word="glued")
        assert tokenizer.decode(tokenizer.encode("low lower").ids).text == "low lower"

    @given(st.lists(st.integers(-5, 400), max_size=20))
    def test_any_ids_decode(self, ids):
        tokenizer = train("low lower é", CountingOptions(), merges=5)
        decoding = tokenizer.decode(ids)
        assert [piece.id for piece in decoding.pieces] == ids
        assert list(decoding.unknown) == [i for i in ids if not 0 <= i < tokenizer.vocab_size]


class TestNormalization:
    @given(
        any_text,
        st.lists(st.sampled_from(["NFC", "NFD", "NFKC", "NFKD", "lowercase"]), max_size=2, unique=True),
    )
    def test_alignment_covers_both_texts(self, text, forms):
        normalized, (chars, byte_from, byte_to) = aligned_normalize(text, tuple(forms))
        assert (chars[0], chars[-1]) == (0, len(text))
        assert (byte_to[-1] if len(byte_to) else 0) == len(normalized.encode())
        assert list(byte_from[1:]) == list(byte_to[:-1])

    def test_tokens_of_changed_text_point_into_the_given_text(self):
        counting = CountingOptions(normalize=("NFC", "lowercase"))
        tokenizer = train("é", counting, base="characters")
        encoding = tokenizer.encode("E\u0301")
        assert [(t.content.decode(), t.start, t.end) for t in encoding.tokens] == [("é", 0, 2)]

    def test_one_character_that_becomes_several_has_no_inner_offsets(self):
        counting = CountingOptions(normalize=("NFKC",))
        tokenizer = train("fi", counting, base="characters", merges=0)
        encoding = tokenizer.encode("\ufb01")
        assert [(t.content, t.start, t.end) for t in encoding.tokens] == [(b"f", 0, None), (b"i", None, 1)]


class TestMergeLists:
    def test_a_merge_of_symbols_that_do_not_exist_yet_is_refused(self):
        base = train("ab", CountingOptions(), merges=0).base
        with pytest.raises(FormatError, match="Merge 1 joins symbols 97 and 300"):
            Tokenizer.from_merges(base, [Pair(97, 98), Pair(97, 300)], CountingOptions())

    @given(st.one_of(corpora, runs), texts)
    def test_a_tokenizer_made_of_its_own_merge_list_encodes_the_same(self, words, text):
        trainer = Trainer(count_words(words, "words").pretokens, TrainingOptions(merges=40))
        trainer.train_to()
        one = Tokenizer.from_timeline(trainer.timeline, CountingOptions())
        other = Tokenizer.from_merges(one.base, one.pairs, CountingOptions())
        assert other.encode(text).ids == one.encode(text).ids
        assert list(other.vocabulary()) == list(one.vocabulary())

    def test_positions_outside_are_refused(self):
        tokenizer = train("abab", CountingOptions(), merges=1)
        with pytest.raises(IndexError, match="position 2 is outside 0 to 1"):
            tokenizer.at(2)


def test_the_reference_encodes_as_its_own_training_split_the_words():
    words = {tuple("abab"): 2, tuple("ab"): 1}
    merges = [pair for pair, _ in reference.train(words, 10)]
    assert reference.encode(tuple("abab"), merges) == ("abab",)


@given(st.lists(st.text(alphabet="ab \n\t'1é\u3000\x1c<s>\ud800", max_size=12), max_size=12), named)
def test_ids_put_together_from_chunks_are_those_of_the_whole_text(texts, pretokenizer):
    counting = CountingOptions(pretokenizer, special_tokens=("<s>",))
    tokenizer = train("ab a b'a <s> 11 aé", counting, merges=20)
    for text in [*texts, *texts, *(" ".join(pair) for pair in pairwise(texts))]:
        expected = [token.id for token in tokenizer.lay_out(text).encoding(tokenizer.position).tokens]
        assert tokenizer.encode_ids(text) == expected == tokenizer.encode(text).ids
