from __future__ import annotations

from itertools import pairwise

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from bpe_viz.engine import pretokenize
from bpe_viz.engine.pretokenize import PRETOKENIZERS, pretokenizer_for, split_lines, uncovered
from bpe_viz.engine.segments import (
    CutBuffer,
    SpecialTokenCutter,
    cut_special_tokens,
    last_normalization_cut,
    normalize,
)
from bpe_viz.engine.types import NORMALIZATIONS, CountingOptions
from bpe_viz.errors import OptionError, PatternError

# Everything that the patterns tell apart, and what they do not expect: marks, final sigma, odd spaces, NUL.
TEXTS = st.text(
    st.sampled_from([*"aBéßΣσ字ﷺʰ\u0301\u0327\u088f1２½'’stLL.,!/-_ \t\n\r\v\x85\xa0\u2028\u3000\0😀", " ", " ", "\n"]),
    max_size=40,
)
NAMED = pytest.mark.parametrize("name", PRETOKENIZERS)


def split_by(pattern: str, text: str) -> list[str]:
    return pretokenizer_for(CountingOptions(pattern=pattern)).split(text)


@NAMED
def test_an_entry_keeps_its_contract(name):
    entry = PRETOKENIZERS[name]
    assert entry.name == name
    assert entry.title
    assert entry.description.endswith(".")
    assert regex.compile(entry.pattern or "").groups == 0  # findall would return the groups


@NAMED
@given(text=TEXTS)
def test_spans_are_where_the_pretokens_are(name, text):
    entry = PRETOKENIZERS[name]
    spans = entry.spans(text)
    assert [text[start:end] for start, end in spans] == entry.split(text)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
    if entry.lossless:
        assert "".join(entry.split(text)) == text
        assert uncovered(len(text), spans) == 0
    else:
        assert uncovered(len(text), spans) == sum(map(str.isspace, text))


@NAMED
@given(pieces=st.lists(TEXTS, max_size=6))
def test_a_text_in_pieces_has_the_pretokens_of_the_whole(name, pieces):
    entry = PRETOKENIZERS[name]
    buffer = CutBuffer(entry.last_cut)
    parts = [*(buffer.add(piece) for piece in pieces), buffer.rest()]
    assert "".join(parts) == "".join(pieces)
    assert [pretoken for part in parts for pretoken in entry.split(part)] == entry.split("".join(pieces))


@NAMED
@given(text=TEXTS)
def test_every_safe_cut_leaves_the_pretokens_alone(name, text):
    entry = PRETOKENIZERS[name]
    whole = entry.split(text)
    for cut in {entry.last_cut(text[:end]) for end in range(1, len(text) + 1)}:
        assert entry.split(text[:cut]) + entry.split(text[cut:]) == whole


@NAMED
@given(text=TEXTS)
def test_by_line_equals_a_loop_over_lines(name, text):
    entry = PRETOKENIZERS[name]
    loop = [pretoken for line in split_lines(text) for pretoken in entry.split(line)]
    assert [pretoken for batch, _ in entry.batches(text, by_line=True) for pretoken in batch] == loop


@given(text=TEXTS)
def test_lines_end_at_newlines_only(text):
    lines = split_lines(text)
    assert "".join(lines) == text
    assert all("\n" not in line[:-1] and line for line in lines)


def test_hello_how_is_split_as_worked_by_hand():
    assert PRETOKENIZERS["gpt2"].split("Hello, how") == ["Hello", ",", " how"]
    assert PRETOKENIZERS["cl100k"].split("1234") == ["123", "4"]


def test_none_keeps_lines_whole_with_cr_and_lf():
    assert PRETOKENIZERS["none"].split("a b\r\n\nc\rd") == ["a b\r\n", "\n", "c\rd"]


def test_cl100k_is_the_pattern_first_published(case):
    pt01 = case("PT-01")
    assert PRETOKENIZERS["cl100k"].split(pt01["input"]["text"]) == pt01["expected"]["original_cl100k_pieces"]


def test_groups_in_a_pattern_change_nothing(case):
    pt03 = case("PT-03")
    assert split_by(pt03["input"]["pattern"], pt03["input"]["text"]) == pt03["expected"]["right_pieces"]


def test_letters_are_those_of_the_regex_module(case):
    pt09 = case("PT-09")
    expected = next(pieces for engine, pieces in pt09["expected"].items() if engine.startswith("regex"))
    assert PRETOKENIZERS["gpt2"].split(pt09["input"]["text"]) == expected


@pytest.mark.parametrize("name", ["gpt2", "cl100k", "o200k"])
def test_named_patterns_split_as_their_models_do(name, case):
    for expected_of_text in (case("PT-13")["expected"], case("PT-15")["expected"]):
        for text, expected in expected_of_text.items():
            assert PRETOKENIZERS[name].split(text) == expected[name]
    pt14 = case("PT-14")
    assert PRETOKENIZERS[name].split(pt14["input"]["text"]) == pt14["expected"]["pieces"][name]


def test_an_unknown_name_is_told_with_the_nearest():
    with pytest.raises(OptionError, match=r"'gpt-2'.*mean gpt2\?.*none, whitespace, gpt2, cl100k, o200k"):
        pretokenizer_for(CountingOptions(pretokenizer="gpt-2"))


@pytest.mark.parametrize(
    ("pattern", "place"),
    [
        ("(a", r"'\(a' does not compile: .* at character 3"),
        (r"\p{Foo}", "unknown property at character 8"),
        ("(?a)(?u)x", "mutually incompatible"),
        ("(" * 3000 + ")" * 3000, "recursion"),
        ("(?r)a", "backwards"),
    ],
)
def test_a_faulty_pattern_is_named_with_the_place(pattern, place):
    with pytest.raises(PatternError, match=place):
        pretokenizer_for(CountingOptions(pattern=pattern))


def test_a_pattern_that_never_ends_is_told():
    endless = pretokenizer_for(CountingOptions(pattern=r"(?:a|a)+$|b"), timeout=0.05)
    with pytest.raises(PatternError, match=r"never ends: 1,024 .*0\.05 seconds .*at character 2\."):
        endless.split("b" + "a" * 40 + "c")


@pytest.mark.parametrize("pattern", ["(?R)", "(?R)|a", "(?:a?)*+(?R)", "(?(DEFINE)(?<x>(?&x)))(?&x)"])
def test_a_pattern_that_calls_itself_without_end_is_told(pattern):
    with pytest.raises(PatternError, match="never ends: it ran out of memory"):
        pretokenizer_for(CountingOptions(pattern=pattern)).split("low lower")


def test_a_long_pattern_is_shortened_where_it_is_named():
    with pytest.raises(PatternError) as raised:
        pretokenizer_for(CountingOptions(pattern="(" + "x" * 100_000))
    assert len(str(raised.value)) < 300


def test_a_pattern_may_take_longer_for_the_whole_text_than_for_a_batch():
    slow = pretokenizer_for(CountingOptions(pattern=r"\w+"), timeout=0.02)
    assert len(slow.split("ab " * 100_000)) == 100_000


PATTERNS = (r"\w*", r"", r"a?", r"(?<=a)\S|\b", r"\G.|\n", r"^a|(?=\n)", r"\s+(?!\S)|\S", r"\K", r"a\Kb|.")


@pytest.mark.parametrize("pattern", PATTERNS)
@given(text=st.text("ab \n", max_size=20))
def test_batches_of_a_pattern_are_those_of_one_search(pattern, text):
    entry = pretokenizer_for(CountingOptions(pattern=pattern))
    whole = [match.group() for match in regex.finditer(pattern, text)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pretokenize, "MATCHES_A_BATCH", 2)
        batches = list(entry.batches(text))
        assert [pretoken for batch, _ in batches for pretoken in batch] == whole
        searched = [place for _, place in batches]
        assert searched == sorted(searched)
        assert searched[-1] <= len(text)
        assert entry.split(text) == [pretoken for pretoken in whole if pretoken]


def test_the_longest_special_token_wins_and_is_taken_literally():
    specials = ["<a>", "<a>+", ".*"]
    segments = cut_special_tokens("x<a>+<a>.*xx", specials)
    assert segments == [("x", False), ("<a>+", True), ("<a>", True), (".*", True), ("xx", False)]
    with pytest.raises(OptionError):
        cut_special_tokens("x", [""])


@given(
    pieces=st.lists(st.text("ab<>", max_size=8), max_size=6),
    specials=st.lists(st.text("ab<>", min_size=1, max_size=4), max_size=4),
)
def test_special_tokens_in_pieces_are_those_of_the_whole(pieces, specials):
    def joined(segments):
        texts = [""]
        for text, is_special in segments:
            if is_special:
                texts += [text, ""]
            else:
                texts[-1] += text
        return texts

    cutter = SpecialTokenCutter(specials)
    in_pieces = [segment for piece in pieces for segment in cutter.add(piece)]
    in_pieces += cutter.add("", final=True)
    whole = cut_special_tokens("".join(pieces), specials)
    assert joined(in_pieces) == joined(whole)
    assert "".join(text for text, _ in whole) == "".join(pieces)


@given(pieces=st.lists(TEXTS, max_size=6), forms=st.lists(st.sampled_from(NORMALIZATIONS), max_size=3))
def test_normalizing_in_pieces_equals_normalizing_the_whole(pieces, forms):
    buffer = CutBuffer(last_normalization_cut)
    parts = [*(buffer.add(piece) for piece in pieces), buffer.rest()]
    assert "".join(normalize(part, forms) for part in parts) == normalize("".join(pieces), forms)


def test_normalizations_apply_in_the_given_order():
    assert normalize("É", ("NFD", "lowercase")) == "e\u0301"
    assert normalize("\u212b", ("lowercase", "NFC")) == "å"
    with pytest.raises(OptionError, match=r"'nfc'.*NFC, NFD"):
        normalize("a", ("nfc",))
