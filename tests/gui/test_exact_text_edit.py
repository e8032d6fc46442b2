"""An edit whose content is exact under any editing."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QEvent, QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QKeyEvent, QTextCursor, QWheelEvent
from pytestqt.qtbot import QtBot

from bpe_viz.gui.exact_text_edit import ExactTextEdit
from bpe_viz.gui.look import Look

STRANGE = st.sampled_from("\u00a0\u2028\u2029\ufeff\r\n\ud83d\ufffe\ufdd0\u0301\u200b\t\x00\ue000\ufffc  ae👍🏽漢")
PIECE = st.text(st.one_of(STRANGE, st.characters(codec=None)), max_size=6)
EDITS = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 3), PIECE), max_size=6)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(PIECE, EDITS)
def test_edits_anywhere_read_back_exactly_and_undo(
    qtbot: QtBot, look: Look, first: str, edits: list[tuple[int, int, str]]
) -> None:
    editor = ExactTextEdit(look)
    qtbot.addWidget(editor)
    editor.show_text(first)
    assert editor.text == first
    expected = first
    for place, n_replaced, piece in edits:
        start = min(place, len(expected))
        end = min(start + n_replaced, len(expected))
        cursor = editor.textCursor()
        cursor.setPosition(editor.content.position(start))
        cursor.setPosition(editor.content.position(end), QTextCursor.MoveMode.KeepAnchor)
        editor.setTextCursor(cursor)
        editor.insert(piece)
        # Qt moves an edge out of the middle of what is drawn as one; the content says where it went.
        expected = expected[:start] + piece + expected[end:]
        assert editor.text == expected
    while editor.document().isUndoAvailable():
        editor.undo()
    assert editor.text == first
    while editor.document().isRedoAvailable():
        editor.redo()
    assert editor.text == expected


def test_a_placeholder_has_the_room_of_its_sign_and_typing_beside_it_does_not(qtbot: QtBot, look: Look) -> None:
    editor = ExactTextEdit(look)
    qtbot.addWidget(editor)
    editor.show_text("a\u200bb")
    editor.grab()
    line = editor.document().firstBlock().layout().lineAt(0)
    x = [line.cursorToX(unit)[0] for unit in range(4)]
    assert x[2] - x[1] > 2 * (x[1] - x[0])
    qtbot.keyClicks(editor, "c")
    assert editor.textCursor().charFormat().fontLetterSpacing() == 0


def test_files_are_left_to_the_window(qtbot: QtBot, look: Look) -> None:
    editor = ExactTextEdit(look)
    qtbot.addWidget(editor)
    files = QMimeData()
    files.setUrls([QUrl.fromLocalFile("/tmp/a.txt")])
    assert not editor.canInsertFromMimeData(files)
    editor.insertFromMimeData(files)
    assert editor.text == ""


def test_the_wheel_with_ctrl_is_left_to_the_window(qtbot: QtBot, look: Look) -> None:
    editor = ExactTextEdit(look)
    qtbot.addWidget(editor)
    wheel = QWheelEvent(
        QPointF(5, 5),
        QPointF(5, 5),
        QPoint(),
        QPoint(0, 120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.ControlModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    editor.wheelEvent(wheel)
    assert not wheel.isAccepted()


def test_text_from_elsewhere_can_be_undone_if_there_was_one_before(qtbot: QtBot, look: Look) -> None:
    editor = ExactTextEdit(look)
    qtbot.addWidget(editor)
    editor.show_text("one")
    assert not editor.document().isUndoAvailable()
    editor.show_text("two")
    editor.undo()
    assert editor.text == "one"


@pytest.mark.parametrize("modifiers", [Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ControlModifier])
def test_a_tab_looks_the_same_typed_or_pasted(qtbot: QtBot, look: Look, modifiers: Qt.KeyboardModifier) -> None:
    typed, pasted = ExactTextEdit(look), ExactTextEdit(look)
    for editor in (typed, pasted):
        qtbot.addWidget(editor)
        editor.show_text("ab")
        editor.moveCursor(QTextCursor.MoveOperation.Right)
    pasted.insert("\t")
    typed.keyPressEvent(QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_Tab, modifiers, "\t"))
    assert typed.text == pasted.text == "a\tb"
    assert typed.content.shown == pasted.content.shown
    typed.grab()
    line = typed.document().firstBlock().layout().lineAt(0)
    assert 2 <= (line.cursorToX(2)[0] - line.cursorToX(1)[0]) / typed._boxes.cell <= 4
    typed.undo()
    assert typed.text == "ab"
