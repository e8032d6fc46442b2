"""Tokens as stretches of a text that is being edited."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtGui import QColor

from bpe_viz.engine.layout import EncodedText
from bpe_viz.engine.symbols import BaseVocabulary
from bpe_viz.engine.tokenizer import Tokenizer
from bpe_viz.engine.types import CountingOptions, Pair
from bpe_viz.formats._tokenizer_json_reading import read_document
from bpe_viz.gui.copy_as import COPY_FORMS
from bpe_viz.gui.look import Look
from bpe_viz.gui.theme import theme_names
from bpe_viz.gui.token_colours import COLOUR_TITLES, box_styles, colour_tokens
from bpe_viz.gui.token_note import describe_character
from bpe_viz.gui.token_spans import token_spans, totals

BYTES = BaseVocabulary("bytes", "none", "", tuple(bytes([i]) for i in range(256)), (False,) * 256)


def contrast(a: QColor, b: QColor) -> float:
    """WCAG 2.2, contrast ratio."""

    def luminance(colour: QColor) -> float:
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
                  for c in (colour.redF(), colour.greenF(), colour.blueF())]  # fmt: skip
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    light, dark = sorted((luminance(a), luminance(b)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def encoded(
    text: str, *pairs: tuple[int, int], specials: tuple[str, ...] = (), pretokenizer: str = "gpt2"
) -> EncodedText:
    counting = CountingOptions(pretokenizer=pretokenizer, special_tokens=specials)
    return Tokenizer.from_merges(BYTES, [Pair(*pair) for pair in pairs], counting).lay_out(text)


def edges(text: str, shown: str, *pairs: tuple[int, int]) -> list[tuple[float, float]]:
    spans = token_spans(encoded(text, *pairs), len(pairs), shown)
    return list(zip(spans.left.tolist(), spans.right.tolist(), strict=True))


def test_a_character_is_shared_by_its_tokens_in_equal_parts() -> None:
    assert edges("é", "é") == [(0, 0.5), (0.5, 1)]
    assert edges("x👍", "x👍") == [(0, 1), (1, 1.25), (1.25, 1.5), (1.5, 1.75), (1.75, 2)]


def test_tokens_before_an_edit_stay_and_those_behind_it_move() -> None:
    assert edges("abcd", "abXcd") == [(0, 1), (1, 2), (3, 4), (4, 5)]
    assert edges("abcd", "ad") == [(0, 1), (1, 2)]
    assert edges("aa", "aaa") == [(0, 1), (1, 2)]


def test_an_edited_token_is_left_out_until_it_is_encoded() -> None:
    assert edges("abc", "aXbc", (97, 98)) == [(3, 4)]


@given(st.text("ab é👍", max_size=12), st.text("ab é👍", max_size=12))
def test_tokens_that_are_kept_stand_for_the_same_text(old: str, new: str) -> None:
    spans = token_spans(encoded(old, (97, 98)), 1, new)
    for number in range(len(spans.index)):
        token = spans.index[number]
        left, right = spans.left[number], spans.right[number]
        before = old[int(spans.tokens.start[token]) : int(spans.tokens.end[token])]
        assert new[int(left) : int(-(-right // 1))] == before


def test_colours_of_neighbours_differ_by_place() -> None:
    styles = colour_tokens(token_spans(encoded("a longer text\nof lines"), 0, "a longer text\nof lines"), "place")
    assert (styles[1:] != styles[:-1]).all()


def test_every_colouring_numbers_boxes_that_exist(look: Look) -> None:
    spans = token_spans(encoded("abab <s> é", (97, 98), (256, 256), specials=("<s>",)), 2, "abab <s> é")
    for by in COLOUR_TITLES:
        styles = colour_tokens(spans, by)
        assert 0 <= styles.min() <= styles.max() < len(box_styles(look))
        is_special = spans.tokens.ids == 258
        assert (styles[is_special] == len(box_styles(look)) - 2).all()


def test_a_shared_character_names_all_its_tokens() -> None:
    spans = token_spans(encoded("👍", (240, 159)), 1, "👍")
    said = describe_character(spans, 0)
    assert "is split into 3 tokens" in said
    assert "bytes 1 to 2 of the 4 of 👍 U+1F44D THUMBS UP SIGN" in said
    assert "merge 1 (rank 0): <F0> + <9F>" in said
    assert "byte 4 of the 4" in said
    assert "bytes F0 9F" in said


def test_a_token_over_two_characters_names_the_one_it_is_part_of() -> None:
    spans = token_spans(encoded("aé", (97, 195), pretokenizer="none"), 1, "aé")
    said = describe_character(spans, 0)
    assert "byte 1 of the 2 of é" in said
    assert said.count("of the") == 1


def test_totals_count_gaps_and_dropped_text_apart() -> None:
    text = encoded("ab é")
    counted = totals(text, text.at(0))
    assert (counted.characters, counted.bytes, counted.tokens, counted.token_bytes) == (4, 5, 5, 5)


@pytest.fixture
def around() -> EncodedText:
    """A text between two tokens that its tokenizer puts there."""
    tokenizers = pytest.importorskip("tokenizers")
    vocabulary = {token: number for number, token in enumerate(["[UNK]", "[CLS]", "[SEP]", "cat", "##s", "the"])}
    library = tokenizers.Tokenizer(tokenizers.models.WordPiece(vocabulary, unk_token="[UNK]"))
    library.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    library.add_special_tokens(["[CLS]", "[SEP]"])
    library.post_processor = tokenizers.processors.BertProcessing(("[SEP]", 2), ("[CLS]", 1))
    return read_document(library.to_str().encode(), "around.json", "around.json").lay_out("the cats")


def test_tokens_around_a_text_are_counted_apart(around) -> None:
    tokens = around.at(0)
    assert tokens.ids.tolist() == [1, 5, 3, 4, 2]
    counted = totals(around, tokens)
    assert (counted.tokens, counted.around, counted.token_bytes) == (5, 2, 7)


def test_tokens_around_a_text_are_copied_with_all_of_it(around) -> None:
    spans = token_spans(around, 0, around.text)
    copied = [COPY_FORMS["Ids"](spans, spans.of_text(*place).tolist()) for place in ((0, 8), (0, 7), (4, 8))]
    assert copied == ["1 5 3 4 2", "5 3", "3 4"]


def test_tokens_are_copied_in_every_form() -> None:
    spans = token_spans(encoded("ab é", (97, 98)), 1, "ab é")
    everything = spans.between(0, 4).tolist()
    assert COPY_FORMS["Ids"](spans, everything) == "256 32 195 169"
    assert COPY_FORMS["Python list of ids"](spans, everything) == "[256, 32, 195, 169]"
    assert COPY_FORMS["Bytes in hex"](spans, everything) == "61 62 20 C3 A9"
    assert COPY_FORMS["Tokens, one a line"](spans, everything) == "ab\n␣\n<C3>\n<A9>"
    assert COPY_FORMS["Ids"](spans, spans.between(1, 2).tolist()) == "256"


@pytest.mark.parametrize("theme", theme_names())
def test_ink_reads_on_every_box(theme: str, qapp: object) -> None:
    look = Look(theme)
    for style in box_styles(look):
        for role in ("ink", "sign") if style.line_width == 1 else ("ink",):
            assert contrast(look.colour(role), style.fill) >= 4.5, (theme, role, style.fill.name())
