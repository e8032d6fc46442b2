"""Special tokens cut out of a text, and passes that cut what the pass before left."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bpe_viz.engine.llama_cpp_cutting import Passes, SpecialToken, Threes, cut_out

LETTERS = "ab1２ \t\n\u3000é\u1c8a"
TEXTS = st.text(LETTERS, max_size=40)
PASSES = st.lists(
    st.sampled_from([r"\p{N}", r" ?\p{L}+", r"\s+", r"[ab]+", Threes(r"\p{N}+", True), Threes("[0-9]+", False)]),
    max_size=4,
)


@given(TEXTS, PASSES)
def test_passes_cover_a_text_and_each_cuts_finer(text, passes):
    spans = Passes(tuple(passes)).spans(text)
    assert "".join(text[start:end] for start, end in spans) == text
    assert all(start < end for start, end in spans)
    before = {start for start, _ in Passes(tuple(passes[:-1])).spans(text)}
    assert before <= {start for start, _ in spans}


def pieces(text: str, *passes: str | Threes) -> list[str]:
    return [text[start:end] for start, end in Passes(passes).spans(text)]


def test_a_later_pass_does_not_see_beyond_what_an_earlier_one_cut():
    assert pieces("a  1", r"\s+(?!\S)") == ["a", " ", " 1"]
    assert pieces("a  1", r"1", r"\s+(?!\S)") == ["a", "  ", "1"]


def test_threes_behind_a_run_and_before_it():
    behind, before = Threes("[0-9]+", behind=True), Threes("[0-9]+", behind=False)
    assert pieces("x1234567y", behind) == ["x1", "234", "567", "y"]
    assert pieces("x123456y", behind) == ["x123", "456", "y"]
    assert pieces("x1234567y", before) == ["x1", "234", "567y"]
    assert pieces("x123456y", before) == ["x", "123", "456y"]
    assert pieces("123", behind) == pieces("123", before) == ["123"]


def test_white_space_beyond_ascii_is_white_space_even_where_a_pattern_names_the_character():
    assert pieces("a\u3000b", r"[\u2fff-\u3001]") == ["a\u3000b"]
    assert pieces("a\u3000b", r"[\u2fff-\u3001]|\p{Z}") == ["a", "\u3000", "b"]


def cut(text: str, *specials: SpecialToken) -> list[str]:
    """Return the parts of a text, special tokens in capitals."""
    return [
        text[part.start : part.end].upper() if part.special else text[part.start : part.end]
        for part in cut_out(text, specials)
    ]


def test_the_first_token_is_cut_out_everywhere_before_the_second_is_looked_for():
    ab, bcd = SpecialToken("ab", 1), SpecialToken("bcd", 2)
    assert cut("abcd ab", bcd, ab) == ["a", "BCD", " ", "AB"]
    assert cut("abcd ab", ab, bcd) == ["AB", "cd ", "AB"]
    assert cut("aaa", SpecialToken("aa", 1)) == ["AA", "a"]
    assert cut("", ab) == []


def test_white_space_beside_a_token_goes_with_it():
    left = SpecialToken("<m>", 1, strips_left=True)
    right = SpecialToken("<e>", 2, strips_right=True)
    assert cut("a \t<m> b", left) == ["a", "<M>", " b"]
    assert cut("a<e> \n<e>  b", right) == ["a", "<E>", "<E>", "b"]
    assert cut(" <m>", left) == ["<M>"]
    assert cut("a\u00a0<m>", left) == ["a\u00a0", "<M>"]


@given(st.text("ab<>", max_size=30), st.lists(st.text("ab<>", min_size=1, max_size=3), max_size=4, unique=True))
def test_no_token_is_left_in_what_is_between(text, tokens):
    fragments = cut_out(text, [SpecialToken(token, number) for number, token in enumerate(tokens)])
    assert "".join(text[one.start : one.end] for one in fragments) == text
    for one in fragments:
        if one.special is None:
            assert not any(token in text[one.start : one.end] for token in tokens)
        else:
            assert text[one.start : one.end] == one.special.text
