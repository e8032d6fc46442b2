"""The encode panel on a real workspace: what it shows, types, copies and decodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QMimeData, QPoint, Qt
from PySide6.QtGui import QFocusEvent, QGuiApplication, QPalette, QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLayout, QMenu
from pytestqt.qtbot import QtBot

from bpe_viz.engine.corpus import Corpus, count_text, worked_example
from bpe_viz.engine.types import CountingOptions, Options, Pair, TrainingOptions
from bpe_viz.engine.visible import visible
from bpe_viz.gui import text_geometry
from bpe_viz.gui.chips import ChipStyle
from bpe_viz.gui.copy_as import COPY_FORMS
from bpe_viz.gui.exact_text_edit import EXACT_TEXT, MOST_CHARACTERS
from bpe_viz.gui.export import export_figure
from bpe_viz.gui.look import Look
from bpe_viz.gui.panels.encode import LEAST_HEIGHT_WITH_CURVE, PANEL, EncodePanel
from bpe_viz.gui.selection import Selection
from bpe_viz.gui.token_boxes import BoxCache
from bpe_viz.gui.workspace import Workspace

WORKED = Options(CountingOptions(pretokenizer="none"), TrainingOptions(base="characters"))
BYTES = Options(CountingOptions(special_tokens=("<s>",)), TrainingOptions(merges=5))
TEXT = "lowest newer, slower"

MakePanel = Callable[..., EncodePanel]


@pytest.fixture
def make_panel(qtbot: QtBot, look: Look) -> Iterator[MakePanel]:
    workspaces = []

    def make(corpus: Corpus | None = None, options: Options = WORKED, text: str = TEXT) -> EncodePanel:
        workspace = Workspace()
        workspaces.append(workspace)
        panel = PANEL.make(workspace, look)
        assert isinstance(panel, EncodePanel)
        qtbot.addWidget(panel)
        panel.resize(900, 240)
        panel.show()
        chosen = corpus or worked_example()
        workspace.open(lambda options, progress, should_stop: chosen, options, "a test")
        qtbot.waitUntil(lambda: workspace.frame is not None and not workspace.is_training)
        workspace.encoder.set_text(text)
        settle(panel, qtbot)
        return panel

    yield make
    for workspace in workspaces:
        workspace.close()


def settle(panel: EncodePanel, qtbot: QtBot, position: int | None = None) -> None:
    """Wait until the panel shows its text encoded, at a position if one is given."""
    workspace = panel.workspace
    if position is not None:
        workspace.seek(position)

    def is_settled() -> bool:
        encoded, frame, spans = workspace.encoder.encoded, workspace.frame, panel.spans
        if encoded is None or frame is None or spans is None:
            return False
        is_there = position is None or (frame.position == position and spans.position == position)
        return is_there and encoded.text == workspace.encoder.text == panel.editor.text and spans.encoded is encoded

    qtbot.waitUntil(is_settled)


def test_a_letter_with_very_many_marks_is_asked_for_once(make_panel, qtbot, monkeypatch):
    panel = make_panel(count_text("a\u0301 a", BYTES.counting), BYTES, "a" + "\u0301" * 20_000)
    asked = []
    real = text_geometry._number
    monkeypatch.setattr(text_geometry, "_number", lambda x: asked.append(x) or real(x))
    painted = []
    draw = BoxCache.draw_box
    monkeypatch.setattr(BoxCache, "draw_box", lambda *arguments: painted.append(arguments) or draw(*arguments))
    panel.grab()
    assert panel.spans is not None
    assert len(panel.spans.index) > 19_000
    assert 0 < len(asked) < 100
    assert 0 < len(painted) < 1000


def tokens(panel: EncodePanel) -> list[str]:
    assert panel.spans is not None
    return [visible(panel.spans.content(span)) for span in range(len(panel.spans.index))]


def in_bytes(make_panel: MakePanel, text: str) -> EncodePanel:
    return make_panel(count_text("low lower lowest " * 3, BYTES.counting), BYTES, text)


def place_of(panel: EncodePanel, code_point: int) -> QPoint:
    """Return the middle of a character in the viewport."""
    cursor = QTextCursor(panel.editor.document())
    cursor.setPosition(panel.editor.content.position(code_point))
    left = panel.editor.cursorRect(cursor)
    cursor.setPosition(panel.editor.content.position(code_point + 1))
    right = panel.editor.cursorRect(cursor)
    return QPoint((left.x() + right.x()) // 2 + 1, left.center().y())


def test_the_worked_example_is_split_as_in_the_design(make_panel: MakePanel, qtbot: QtBot) -> None:
    panel = make_panel()
    settle(panel, qtbot, 3)
    assert tokens(panel) == ["lo", "w", "est", "␣", "n", "e", "w", "e", "r", ",", "␣", "s", "lo", "w", "e", "r"]
    assert panel.totals_label.text == (
        "20 characters · 20 bytes · 13 tokens · 3 unknown characters · 1.31 bytes per token"
    )
    assert panel.split_label.text() == "as split after merge 3"
    assert "13 tokens" in panel.editor.accessibleDescription()


def test_scrubbing_splits_the_text_anew(make_panel: MakePanel, qtbot: QtBot) -> None:
    panel = make_panel()
    settle(panel, qtbot, 5)
    assert tokens(panel)[:2] == ["low", "est"]
    settle(panel, qtbot, 0)
    assert tokens(panel) == list(TEXT.replace(" ", "␣"))
    assert panel.split_label.text() == "before any merge"
    settle(panel, qtbot, 3)
    assert tokens(panel)[:3] == ["lo", "w", "est"]


def test_typing_reaches_the_workspace_and_can_be_undone(make_panel: MakePanel, qtbot: QtBot) -> None:
    panel = make_panel(text="low")
    panel.editor.moveCursor(QTextCursor.MoveOperation.End)
    qtbot.keyClicks(panel.editor, "er  a")
    assert panel.workspace.encoder.text == "lower  a"
    settle(panel, qtbot)
    assert tokens(panel)[-3:] == ["␣", "␣", "a"]
    while panel.editor.document().isUndoAvailable():
        panel.editor.undo()
    assert panel.workspace.encoder.text == "low"
    while panel.editor.document().isRedoAvailable():
        panel.editor.redo()
    assert panel.workspace.encoder.text == "lower  a"


def test_the_old_tokens_around_an_edit_stay_until_the_answer(make_panel: MakePanel, qtbot: QtBot) -> None:
    panel = make_panel()
    settle(panel, qtbot, 3)
    panel.editor.moveCursor(QTextCursor.MoveOperation.End)
    qtbot.keyClicks(panel.editor, "x")
    assert tokens(panel)[:3] == ["lo", "w", "est"]
    assert panel.spans is not None
    assert panel.spans.encoded.text == TEXT


def test_keys_that_type_more_than_a_letter_keep_the_text_exact(make_panel: MakePanel, qtbot: QtBot) -> None:
    panel = make_panel(text="a")
    panel.editor.moveCursor(QTextCursor.MoveOperation.End)
    qtbot.keyClick(panel.editor, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    QTest.sendKeyEvent(
        QTest.KeyAction.Click, panel.editor, Qt.Key.Key_unknown, "\u00a0", Qt.KeyboardModifier.NoModifier
    )
    assert panel.editor.text == "a\n\u00a0"


@pytest.mark.parametrize(
    "text",
    ["a\u00a0b\u2028", "\ufeffa\r\nb\ud83d", "\u0301\u200b\tx", "a א\u05d1 ب", "e\u0301👍🏽"],
    ids=ascii,
)
def test_strange_text_survives_showing_copying_and_pasting(make_panel: MakePanel, qtbot: QtBot, text: str) -> None:
    panel = in_bytes(make_panel, text)
    editor = panel.editor
    assert editor.text == text
    editor.grab()
    editor.selectAll()
    copied = editor.createMimeDataFromSelection()
    assert bytes(copied.data(EXACT_TEXT).data()).decode("utf-8", "surrogatepass") == text
    editor.moveCursor(QTextCursor.MoveOperation.End)
    editor.insertFromMimeData(copied)
    assert panel.workspace.encoder.text == text + text
    editor.undo()
    assert panel.workspace.encoder.text == text


def test_a_paste_that_is_too_long_is_refused_with_a_message(make_panel: MakePanel, qtbot: QtBot) -> None:
    panel = make_panel()
    pasted = QMimeData()
    pasted.setText("a" * (MOST_CHARACTERS + 1))
    with qtbot.waitSignal(panel.workspace.failed) as caught:
        panel.editor.insertFromMimeData(pasted)
    assert "bpe-viz encode --file" in str(caught.args[0])
    assert panel.editor.text == TEXT


def test_a_text_from_elsewhere_that_is_too_long_is_refused(make_panel: MakePanel, qtbot: QtBot) -> None:
    panel = make_panel()
    with qtbot.waitSignal(panel.workspace.failed):
        panel.workspace.encoder.set_text("a" * (MOST_CHARACTERS + 1))
    settle(panel, qtbot)
    assert panel.editor.text == panel.workspace.encoder.text == TEXT


def test_another_corpus_colours_the_text_anew(make_panel: MakePanel, qtbot: QtBot) -> None:
    panel = make_panel()
    corpus = count_text("slow slower", BYTES.counting)
    with qtbot.waitSignal(panel.workspace.encoder.encoding_changed):
        panel.workspace.open(lambda options, progress, should_stop: corpus, BYTES, "another")
    settle(panel, qtbot, 3)
    assert tokens(panel)[-3:] == ["slow", "e", "r"]


def test_a_character_of_several_tokens_is_shared_by_them(make_panel: MakePanel, qtbot: QtBot) -> None:
    panel = in_bytes(make_panel, "a👍🏽é")
    spans = panel.spans
    assert spans is not None
    assert [len(spans.at(place)) for place in range(4)] == [1, 4, 4, 2]
    assert "4 tokens" in panel.editor.describe(spans, 1)
    panel.editor.grab()


def test_hovering_and_clicking_a_token_points_at_its_symbol(make_panel: MakePanel, qtbot: QtBot) -> None:
    panel = make_panel()
    settle(panel, qtbot, 3)
    lo = panel.spans.tokens.ids[0]  # type: ignore[union-attr]
    place = place_of(panel, 1)
    assert panel.editor.span_at(place) == 0
    qtbot.mouseMove(panel.editor.viewport(), place)
    panel.editor.hovered.emit(0)
    assert panel.workspace.pointed_at == Selection(token=int(lo))
    assert panel.editor._outlined.nonzero()[0].tolist() == [0, 12]
    panel.editor.hovered.emit(None)
    qtbot.mouseClick(panel.editor.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert panel.workspace.selection == Selection(token=int(lo))


def test_a_gap_points_at_nothing(make_panel: MakePanel, qtbot: QtBot) -> None:
    panel = make_panel()
    settle(panel, qtbot, 3)
    panel.editor.clicked.emit(3)
    assert panel.workspace.selection is None
    assert "Unknown character" in panel.editor.describe(panel.spans, 6)  # type: ignore[arg-type]


def test_a_pair_pointed_at_elsewhere_outlines_both_of_its_tokens(make_panel: MakePanel, qtbot: QtBot) -> None:
    panel = make_panel()
    settle(panel, qtbot, 3)
    ids = panel.spans.tokens.ids  # type: ignore[union-attr]
    panel.workspace.hover(Selection(pair=Pair(int(ids[0]), int(ids[1]))))
    assert panel.editor._outlined.nonzero()[0].tolist() == [0, 1, 12, 13]


def test_text_from_elsewhere_replaces_the_editors(make_panel: MakePanel, qtbot: QtBot) -> None:
    panel = make_panel()
    panel.workspace.encoder.set_text("low\ud83d")
    assert panel.editor.text == "low\ud83d"
    settle(panel, qtbot)


def test_copy_as_takes_the_selection_or_all(make_panel: MakePanel, qtbot: QtBot) -> None:
    panel = make_panel()
    settle(panel, qtbot, 5)
    assert panel.copy_as("Tokens, one a line").split("\n")[:2] == ["low", "est"]
    assert QGuiApplication.clipboard().text().startswith("low\nest")
    cursor = panel.editor.textCursor()
    cursor.setPosition(3)
    cursor.setPosition(6, QTextCursor.MoveMode.KeepAnchor)
    panel.editor.setTextCursor(cursor)
    assert panel.copy_as("Text") == "est"
    assert {panel.copy_as(form).count(" ") for form in COPY_FORMS} <= {0, 2}


def test_the_menu_tells_about_the_token_behind_the_caret(make_panel: MakePanel, qtbot: QtBot) -> None:
    panel = make_panel()
    settle(panel, qtbot, 3)
    menu = QMenu()
    panel.editor.extend_menu(menu, panel.editor.cursorRect().center())
    assert panel.editor.note_at(panel.editor.cursorRect().center()).startswith("lo\nid ")
    copy_as, about = menu.actions()
    assert about.isEnabled()
    assert [action.text() for action in copy_as.menu().actions()] == ["Text", *COPY_FORMS]  # type: ignore[attr-defined]


def test_every_colouring_paints(make_panel: MakePanel, qtbot: QtBot, look: Look) -> None:
    panel = in_bytes(make_panel, "low <s> é\nlower")
    settle(panel, qtbot, 5)
    menu = panel.colour_button.menu()
    for action in menu.actions():
        action.trigger()
        panel.editor.grab()
        assert panel.colour_button.text() == f"by {action.data()}"
    look.set_theme("dark")
    look.set_zoom(1.5)
    panel.editor.grab()
    assert panel.editor.text == "low <s> é\nlower"


def test_a_marker_of_its_own_and_dropped_text_paint(make_panel: MakePanel, qtbot: QtBot) -> None:
    options = Options(
        CountingOptions(pretokenizer="whitespace"), TrainingOptions(base="characters", end_of_word="separate")
    )
    panel = make_panel(worked_example(), options, "low  lower")
    settle(panel, qtbot, 0)
    assert panel.totals_label.text.startswith("10 characters · 10 bytes · 10 tokens · 2 dropped")
    panel.editor.grab()
    assert panel.editor.describe(panel.spans, 3).startswith("Dropped")  # type: ignore[arg-type]


def test_ids_are_decoded_and_their_text_encoded(make_panel: MakePanel, qtbot: QtBot) -> None:
    panel = make_panel()
    settle(panel, qtbot, 5)
    panel.decode_button.click()
    page = panel.decode_page
    assert panel.pages.currentWidget() is page
    with qtbot.waitSignal(panel.workspace.encoder.decoded):
        page.field.setPlainText("[13, 11, 99, -1]")
    assert [chip.style is ChipStyle.GAP for chip in page.chips.chips] == [False, False, True, True]
    assert "No token has the id 99, -1." in page.message.text()
    assert not page.encode_button.isEnabled()  # the marks are no text
    with qtbot.waitSignal(panel.workspace.encoder.decoded):
        page.field.setPlainText("[13, 11]")
    text = page.text
    page.grab()
    page.encode_button.click()
    assert panel.pages.currentWidget() is not page
    assert panel.editor.text == panel.workspace.encoder.text == text


def test_a_word_that_is_no_id_is_named_beside_the_field(make_panel: MakePanel, qtbot: QtBot) -> None:
    panel = make_panel()
    panel.show_decode_page()
    panel.decode_page.field.setPlainText("1, two, 3")
    panel.decode_page.decode()
    assert "'two'" in panel.decode_page.message.text()
    assert not panel.decode_page.encode_button.isEnabled()


def test_an_id_of_any_size_is_marked_in_short(make_panel: MakePanel, qtbot: QtBot) -> None:
    panel = make_panel()
    panel.show_decode_page()
    with qtbot.waitSignal(panel.workspace.encoder.decoded):
        panel.decode_page.field.setPlainText(f"0, {'9' * 20}, {'8' * 3000}")
    assert not panel.decode_page.encode_button.isEnabled()
    assert panel.decode_page.message.text().endswith(f"No token has the id {'9' * 20}, {'8' * 20}… (3,000 digits).")
    assert [chip.parts[0].text for chip in panel.decode_page.chips.chips][1:] == [
        f"no token {'9' * 20}",
        f"no token {'8' * 20}… (3,000 digits)",
    ]


def test_bytes_that_are_no_character_are_counted(make_panel: MakePanel, qtbot: QtBot) -> None:
    panel = in_bytes(make_panel, "a")
    panel.show_decode_page()
    with qtbot.waitSignal(panel.workspace.encoder.decoded):
        panel.decode_page.field.setPlainText("108 240 159")
    assert panel.decode_page.message.text().endswith("1 place holds bytes that are no whole character.")


def test_the_curve_counts_this_text_and_seeks(make_panel: MakePanel, qtbot: QtBot) -> None:
    panel = make_panel()
    settle(panel, qtbot, 0)
    assert panel.curve.counts[0] == 17
    assert panel.curve.counts[3] == 13
    qtbot.mouseClick(
        panel.curve, Qt.MouseButton.LeftButton, pos=QPoint(panel.curve.width() - 1, panel.curve.height() // 2)
    )
    assert panel.workspace.position == panel.workspace.last_position
    panel.curve.grab()


def test_an_exported_figure_holds_the_text_as_shapes(make_panel: MakePanel, qtbot: QtBot, tmp_path: Path) -> None:
    panel = in_bytes(make_panel, "lower \u200b")
    export_figure(panel.editor, tmp_path / "figure.svg")
    drawn = (tmp_path / "figure.svg").read_text()
    assert ">lower" not in drawn
    assert "200B" in drawn


def test_a_narrow_panel_leaves_out_what_is_less_important(make_panel: MakePanel, qtbot: QtBot) -> None:
    panel = make_panel()
    settle(panel, qtbot, 3)
    assert panel.curve.isVisible()
    panel.resize(500, 240)
    assert not panel.curve.isVisible()
    label = panel.totals_label
    assert [figure.text for figure in label.fitting(label.minimumSizeHint().width())] == ["13 tokens"]
    assert len(label.fitting(label.sizeHint().width())) == 5


def test_tab_leaves_the_editor(make_panel: MakePanel) -> None:
    panel = make_panel()
    assert panel.editor.tabChangesFocus()


def test_the_mark_of_a_separate_end_of_word_lies_below_the_line_and_is_named(
    make_panel: MakePanel, qtbot: QtBot, look: Look
) -> None:
    options = Options(
        CountingOptions(pretokenizer="whitespace"), TrainingOptions(base="characters", end_of_word="separate")
    )
    panel = make_panel(worked_example(), options, "low lower")
    settle(panel, qtbot, 0)
    note = panel.editor.describe(panel.spans, 2)  # type: ignore[arg-type]
    assert "The mark below the line, where the word ends:\n</w>" in note
    assert "is split into" not in note
    boxes = look.shared(BoxCache)
    mark = boxes.tick_box(100, 10)
    assert mark.top() >= 10 + boxes.height - 2, "in the line it would pass for the caret"
    assert mark.width() >= 6


def test_the_selection_leaves_token_colours_visible_and_steps_back_with_the_focus(
    make_panel: MakePanel, qtbot: QtBot
) -> None:
    panel = make_panel(text="low lower")
    settle(panel, qtbot, 0)
    editor = panel.editor
    editor.selectAll()

    def colours() -> list[str]:
        image = editor.viewport().grab().toImage()
        return [image.pixelColor(place_of(panel, at).x(), place_of(panel, 0).y() - 9).name() for at in (0, 1, 2)]

    alphas = []
    for event in (QFocusEvent(QEvent.Type.FocusIn), QFocusEvent(QEvent.Type.FocusOut)):
        QApplication.sendEvent(editor, event)
        assert len(set(colours())) == 3
        alphas.append(editor.palette().color(QPalette.ColorRole.Highlight).alpha())
    assert 0 < alphas[1] < alphas[0] < 128


def test_in_a_low_panel_the_text_has_all_the_room(make_panel: MakePanel, qtbot: QtBot) -> None:
    panel = make_panel()
    settle(panel, qtbot, 5)
    panel.resize(1000, 300)
    assert panel.curve.isVisible()
    panel.layout().setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)  # as docks squeeze it
    panel.setMinimumHeight(0)
    panel.resize(1000, panel.look.px(LEAST_HEIGHT_WITH_CURVE) - 1)
    assert not panel.curve.isVisible()


def test_the_heading_counts_what_is_decoded(make_panel: MakePanel, qtbot: QtBot) -> None:
    panel = make_panel()
    settle(panel, qtbot, 5)
    text_counted = panel.totals_label.text
    panel.show_decode_page()
    assert panel.totals_label.text == ""
    with qtbot.waitSignal(panel.workspace.encoder.decoded):
        panel.decode_page.field.setPlainText("[13, 11, 99, -1]")
    assert panel.totals_label.text.startswith("4 ids · ")
    assert panel.totals_label.text.endswith(" · 2 unknown")
    assert not panel.split_label.isVisible()
    panel.show_decode_page(False)
    assert panel.totals_label.text == text_counted
