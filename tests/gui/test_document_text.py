"""What a text edit would change survives it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtGui import QTextCursor, QTextDocument

from bpe_viz.gui.document_text import HELD_SPACE, N_PLACEHOLDERS, DocumentText, Placeholders

# GUI-03 and GUI-12 of the cases: what Qt loses, and what has no ink.
TEXTS = [
    "a\u00a0b",
    "a\u2028b",
    "\ufeffa",
    "a\r\nb",
    "a\ud83db",
    "\ufffea",
    "\ufdd0x",
    "a\u2029b",
    "\u0301",
    "\u200b",
    "\u200d\u202e\u00ad\x00\t",
    "\ue000\uf8ff\U000f0000",
    "a  b   c ",
    "a👍🏽é",
    "\ufffc\ufffd",
    "\n\n",
]
STRANGE = st.sampled_from(sorted(set("".join(TEXTS))))
ANY_TEXT = st.text(st.one_of(st.characters(codec=None), STRANGE))


def through_document(placeholders: Placeholders, text: str) -> str:
    document = QTextDocument()
    QTextCursor(document).insertText(placeholders.shown(text))
    return placeholders.text(document.toRawText().replace("\u2029", "\n"))


@pytest.mark.parametrize("text", TEXTS, ids=ascii)
def test_texts_that_qt_changes_survive_a_document(qapp: object, text: str) -> None:
    assert through_document(Placeholders(), text) == text


@given(ANY_TEXT)
def test_every_text_survives_a_document(qapp: object, text: str) -> None:
    assert through_document(Placeholders(), text) == text


@given(st.lists(ANY_TEXT, max_size=5))
def test_pieces_put_in_one_after_the_other_read_as_the_whole(pieces: list[str]) -> None:
    placeholders, shown = Placeholders(), ""
    for piece in pieces:
        shown += placeholders.shown(piece, shown)
    assert placeholders.text(shown) == "".join(pieces)


@given(ANY_TEXT)
def test_a_document_has_one_code_point_for_each_of_the_text(text: str) -> None:
    placeholders = Placeholders()
    shown = placeholders.shown(text)
    assert len(shown) == len(text)
    for there, here in zip(shown, text, strict=True):
        if (meaning := placeholders.meaning(there)) is not None:
            assert meaning == here
        else:
            assert there == here or (there, here) == (HELD_SPACE, " ")


@given(ANY_TEXT)
def test_positions_count_utf_16(text: str) -> None:
    shown = Placeholders().shown(text)
    content = DocumentText.of(text, shown)
    for place in range(len(text) + 1):
        assert content.position(place) == len(shown[:place].encode("utf-16-le")) // 2
        assert content.code_point(content.position(place)) == place


def test_positions_of_an_emoji_with_skin_tone() -> None:
    content = DocumentText.of("a👍🏽é", "a👍🏽é")
    ranges = [(content.position(a), content.position(b)) for a, b in ((0, 1), (1, 3), (3, 4))]
    assert ranges == [(0, 1), (1, 5), (5, 6)]


def test_private_use_characters_of_the_text_are_replaced_too() -> None:
    placeholders = Placeholders()
    shown = placeholders.shown("\u200b\ue000\ue001")
    assert len(set(shown)) == 3
    assert placeholders.text(shown) == "\u200b\ue000\ue001"


def test_a_mark_stands_alone_only_without_a_letter_before_it() -> None:
    placeholders = Placeholders()
    assert placeholders.shown("e\u0301") == "e\u0301"
    assert placeholders.shown("\u0301", before="e") == "\u0301"
    assert placeholders.meaning(placeholders.shown("\u0301")) == "\u0301"
    assert placeholders.meaning(placeholders.shown("\n\u0301")[1]) == "\u0301"


def test_a_character_without_a_glyph_gets_a_placeholder() -> None:
    placeholders = Placeholders(lambda character: character != "漢")
    shown = placeholders.shown("漢字")
    assert placeholders.meaning(shown[0]) == "漢"
    assert shown[1] == "字"


def test_there_are_placeholders_for_every_text_that_the_editor_takes() -> None:
    assert N_PLACEHOLDERS > 100_000
