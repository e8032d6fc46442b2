"""Codes of subword-nmt against the library."""

from __future__ import annotations

import gzip
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe_viz.engine.tokenizer import Tokenizer
from bpe_viz.engine.types import CountingOptions, Options, Pair, TrainingOptions
from bpe_viz.errors import FormatError
from bpe_viz.formats import check_before_training, detect_format, draft_tokenizer, load_tokenizer, save_tokenizer
from bpe_viz.formats.subword_nmt import WORDS
from tests.engine.test_replay import agrees_with_naive
from tests.formats.training import CORPORA, TEXTS, merges_of_tokens, trained

WORD_COUNTING = CountingOptions(pattern=WORDS)


def in_library(codes: str):
    apply_bpe = pytest.importorskip("subword_nmt.apply_bpe")
    return apply_bpe.BPE(io.StringIO(codes))


def as_library_writes(tokenizer: Tokenizer, text: str) -> str:
    """Return the tokens of a line as the library prints them: `@@ ` where a word goes on."""
    from bpe_viz.engine.pretokenize import pretokenizer_for

    words = []
    for start, end in pretokenizer_for(tokenizer.counting).spans(text):
        tokens = [t.content.decode() for t in tokenizer.encode(text[start:end]).tokens if t.content]
        words.append("@@ ".join(tokens))
    return " ".join(words)


def write(folder, codes: str):
    path = folder / "x.codes"
    path.write_bytes(codes.encode())
    return path


def test_the_library_splits_its_own_corpus_the_same(shared):
    folder = shared / "data" / "tok" / "subword-nmt"
    loaded = load_tokenizer(folder / "bpe.ref")
    assert (loaded.n_merges, loaded.base.end_of_word, loaded.base.base) == (1000, "glued", "characters")
    library = in_library((folder / "bpe.ref").read_text(encoding="utf-8"))
    lines = gzip.decompress((folder / "corpus.en.gz").read_bytes()).decode().split("\n")
    for line in [*lines, "字 naïve  two  spaces\tand a tab\u00a0x </w> a</w>"]:
        assert as_library_writes(loaded, line) == library.segment(line)


def test_the_first_place_of_a_repeated_merge_counts(shared, case):
    path = shared / "cases" / "files" / "codes_dup.txt"
    loaded = load_tokenizer(path)
    assert as_library_writes(loaded, "abc") == case("EN-03")["expected"]["subword-nmt"]
    assert any("whose first place counts: 1, first on line 4" in note for note in loaded.notes)


def test_versions(tmp_path):
    for codes, end_of_word in (
        ("a b\nab </w>\n", "separate"),
        ("#version: 0.1\na b\nab </w>\n", "separate"),
        ("#version: 0.2\na b</w>\n", "glued"),
        ("#version: 0.2.0\na b</w>\n", "glued"),
        ("\ufeff#version: 0.2\r\na b</w>\r\n", "glued"),
        ("a b 12\nab c</w> 3\n", "glued"),  # fastBPE
    ):
        path = write(tmp_path, codes)
        assert detect_format(path).name == "subword-nmt", codes
        loaded = load_tokenizer(path)
        assert loaded.base.end_of_word == end_of_word, codes
        if "12" not in codes and "\ufeff" not in codes:
            library = in_library(codes)
            for text in ("ab", "aab b", "abab ab", "a", "abc"):
                assert as_library_writes(loaded, text) == library.segment(text), (codes, text)


def test_a_token_that_two_merges_make_is_one_token(tmp_path):
    path = write(tmp_path, "#version: 0.2\nb c\na b\na bc\nab c\n")
    loaded = load_tokenizer(path)
    assert len({tuple(loaded.encode(text).ids[:1]) for text in ("abcx", "abcabcx")}) == 1
    assert loaded.id_of(len(loaded.base) + 2) == loaded.id_of(len(loaded.base) + 3)
    save_tokenizer(loaded, tmp_path / "again.codes")
    assert (tmp_path / "again.codes").read_bytes() == path.read_bytes()


def test_the_two_versions_split_differently(tmp_path):
    old = load_tokenizer(write(tmp_path, "#version: 0.1\nb </w>\na b\n"))
    new = load_tokenizer(write(tmp_path, "#version: 0.2\na b\nb a\n"))
    assert [t.content for t in old.encode("ab").tokens] == [b"a", b"b"]
    assert [t.content for t in new.encode("ab").tokens] == [b"a", b"b"]
    assert [t.content for t in new.encode("aba").tokens] == [b"ab", b"a"]


@settings(max_examples=400, deadline=None)
@given(merges_of_tokens(), st.lists(st.text("abc", min_size=1, max_size=14), min_size=1, max_size=6), st.data())
def test_tokens_that_several_merges_make_go_on_as_in_the_library(tmp_path_factory, lines, words, data):
    written = [f"{left} {right}" for left, right in lines]
    path = write(tmp_path_factory.getbasetemp(), "\n".join(["#version: 0.2", *written, ""]))
    loaded = load_tokenizer(path)
    first = list(dict.fromkeys(written))
    for position in (len(first), data.draw(st.integers(1, len(first)))):
        library = in_library("\n".join(["#version: 0.2", *first[:position], ""]))
        for word in words:
            assert as_library_writes(loaded.at(position), word) == library.segment(word)


def test_a_merge_is_made_at_all_its_places_before_a_lower_one_that_it_makes_possible(tmp_path):
    codes = "#version: 0.2\na b\nb c\nab c\nabc a\na bc\n"
    loaded = load_tokenizer(write(tmp_path, codes))
    # a + b never applies where b + c came first: here c c keeps the letters apart.
    low = load_tokenizer(write(tmp_path, "#version: 0.2\nb c\na b\nab c\nabc a\na bc\n"))
    assert as_library_writes(low, "abcabcx") == in_library("#version: 0.2\nb c\na b\nab c\nabc a\na bc\n").segment(
        "abcabcx"
    )
    assert as_library_writes(low, "abcabcx") == "abc@@ abc@@ x"
    assert as_library_writes(loaded, "abcabcx") == in_library(codes).segment("abcabcx")
    with pytest.raises(FormatError, match="would merge in another order"):
        save_tokenizer(low, tmp_path / "x.json")
    agrees_with_naive(low, {"abcabc": 2, "bcabca": 1})


@pytest.mark.parametrize(
    ("codes", "what"),
    [
        ("#version: 0.3\na b\n", "line 1 names a version other than 0.1 and 0.2"),
        ("#version: 0.2\na b c\n", "line 2 is not two tokens"),
        ("#version: 0.2\na b 5\nc d\n", "line 3 is not two tokens and a count"),
        ("#version: 0.2\na b 5\nc d -1\n", "line 3 is not two tokens and a count"),
        ("#version: 0.2\nab c\n", "line 2 names 'ab', which is no letter"),
        ("#version: 0.2\na</w> b\n", "line 2 goes on behind the end of a word"),
        ("#version: 0.2\n< /\n</ w\n</w >\n", "line 4 makes a token that only looks as if </w> ended it"),
    ],
)
def test_damage_is_named(codes, what, tmp_path):
    with pytest.raises(FormatError, match=what) as caught:
        load_tokenizer(write(tmp_path, codes))
    assert caught.value.remedy


@pytest.mark.parametrize("text", ["low 5\nlower 2\n", "the cat\nsat on\n", "a b\nc d\n", "a b", "", "a\tb\nab\tc\n"])
def test_text_is_not_taken_for_codes(text, tmp_path):
    path = tmp_path / "file.txt"
    path.write_text(text)
    assert detect_format(path) is None


TRAINING = st.builds(
    TrainingOptions,
    base=st.just("characters"),
    end_of_word=st.sampled_from(["glued", "separate"]),
    marker=st.sampled_from(["</w>", "_"]),
    rule=st.sampled_from(["textbook", "subword-nmt"]),
    merges=st.integers(0, 30),
)


@settings(max_examples=300)
@given(corpus=CORPORA, training=TRAINING, texts=st.lists(TEXTS, min_size=1, max_size=4), position=st.integers(0, 30))
def test_what_is_saved_splits_alike_here_and_in_the_library(tmp_path_factory, corpus, training, texts, position):
    tokenizer = trained(corpus, WORD_COUNTING, training)
    tokenizer = tokenizer.at(min(position, tokenizer.n_merges))
    path = tmp_path_factory.mktemp("saved") / "x.codes"
    try:
        save_tokenizer(tokenizer, path)
    except FormatError as error:
        reasons = ("marker </w>", "Two merges make", "no merge", "as merges of GPT-2")
        assert any(reason in error.message for reason in reasons)  # noqa: PT017  # most examples are saved
        assert not path.exists()
        return
    loaded = load_tokenizer(path)
    library = in_library(path.read_text(encoding="utf-8"))
    for text in texts:
        expected = [token.content for token in tokenizer.encode(text).tokens if token.content]
        assert [token.content for token in loaded.encode(text).tokens if token.content] == expected
        line = text.replace("\n", " ").replace("\r", " ")
        assert as_library_writes(loaded, line) == library.segment(line)
    again = path.with_name("again.codes")
    save_tokenizer(loaded, again)
    assert again.read_bytes() == path.read_bytes()


def test_codes_that_would_be_read_as_another_format_are_refused(tmp_path):
    glued = TrainingOptions(base="characters", end_of_word="glued", rule="subword-nmt", merges=1)
    with pytest.raises(FormatError, match="as merges of GPT-2"):
        save_tokenizer(trained("Ġ11", WORD_COUNTING, glued), tmp_path / "x.codes")
    assert not list(tmp_path.iterdir())


def test_what_codes_cannot_hold_is_refused(tmp_path):
    path = tmp_path / "x.codes"
    glued = {"base": "characters", "end_of_word": "glued"}
    for counting, training, what in (
        (WORD_COUNTING, {}, "merges of characters"),
        (WORD_COUNTING, {"base": "characters"}, "a marker at the end of a word"),
        (CountingOptions(pattern=WORDS, normalize=("NFC",)), glued, "normalized"),
        (WORD_COUNTING, glued | {"unknown": "<unk>"}, "no unknown token"),
    ):
        options = Options(counting, TrainingOptions(**training))
        with pytest.raises(FormatError, match=what):
            check_before_training(options, path)
        with pytest.raises(FormatError, match=what):
            save_tokenizer(trained("low lower", counting, options.training), path)
    spaced = trained("a b a b", CountingOptions("none"), TrainingOptions(**glued, merges=1))
    with pytest.raises(FormatError, match="holds ' ', which parts tokens"):
        save_tokenizer(spaced, path)
    base = trained("abc abc b a", WORD_COUNTING, TrainingOptions(**glued, merges=0)).base
    a, b = base.content.index(b"a"), base.content.index(b"b")
    same = Tokenizer.from_merges(base, [Pair(a, b), Pair(a, b)], WORD_COUNTING)
    with pytest.raises(FormatError, match="Two merges make the token 'ab'"):
        save_tokenizer(same, path)
    assert not path.exists()


def test_what_codes_lose_is_said(tmp_path):
    counting = CountingOptions("gpt2", special_tokens=("<s>",))
    tokenizer = trained("lowlow lower", counting, TrainingOptions(base="characters", end_of_word="glued", marker="_"))
    draft = draft_tokenizer(tokenizer.at(1), tmp_path / "x.codes")
    notes = " ".join([*draft.losses, *draft.notes])
    for what in ("no ids", "--pretokenizer gpt2", "<s>", "'_' is written as </w>", "first 1 of"):
        assert what in notes
