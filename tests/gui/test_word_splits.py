"""The word splits: what the rows show, follow, and do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QKeyEvent, QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from bpe_viz.engine.corpus import Corpus, PretokenCounts, count_words, worked_example
from bpe_viz.engine.types import CountingOptions, Options, Pair, TrainingOptions
from bpe_viz.gui.chips import ChipStyle
from bpe_viz.gui.look import Look
from bpe_viz.gui.panels import word_splits
from bpe_viz.gui.panels.word_splits import WordSplitsPanel
from bpe_viz.gui.row_view import LONGEST_BAR, RowView
from bpe_viz.gui.selection import Selection
from bpe_viz.gui.symbol_texts import characters_around
from bpe_viz.gui.workspace import Workspace

Open = Callable[..., WordSplitsPanel]
T = TypeVar("T")
AT_3 = [5, 2, 6, 3]
"""The counts of the rows at position 3: low and lower were changed."""
PLAIN, NEXT, MADE, SELECTED = ChipStyle.PLAIN, ChipStyle.NEXT, ChipStyle.MADE, ChipStyle.SELECTED


@pytest.fixture
def workspace(qtbot: QtBot) -> Iterator[Workspace]:
    made = Workspace()
    yield made
    made.close()


@pytest.fixture
def open_panel(qtbot: QtBot, workspace: Workspace, look: Look) -> Open:
    def opened(
        corpus: Corpus | None = None, base: str = "characters", merges: int = 7, height: int = 400
    ) -> WordSplitsPanel:
        panel = word_splits.PANEL.make(workspace, look)
        assert isinstance(panel, WordSplitsPanel)
        qtbot.addWidget(panel.heading)
        qtbot.addWidget(panel)
        panel.resize(480, height)
        panel.show()
        open_corpus(workspace, corpus or worked_example(), base, merges)
        qtbot.waitUntil(lambda: workspace.corpus is not None and not workspace.is_training)
        qtbot.waitUntil(lambda: workspace.frame is not None and workspace.frame.position == 0)
        qtbot.waitUntil(lambda: is_ready(panel))
        return panel

    return opened


def open_corpus(workspace: Workspace, corpus: Corpus, base: str, merges: int) -> None:
    options = Options(
        CountingOptions(pretokenizer="none"),
        TrainingOptions(base=base, merges=merges),  # type: ignore[arg-type]
    )
    workspace.open(lambda *_: corpus, options, corpus.name)


def is_ready(panel: WordSplitsPanel) -> bool:
    shown = panel.shown_rows()
    return bool(shown) and all(symbols for _, symbols in shown)


def seek(qtbot: QtBot, panel: WordSplitsPanel, position: int, counts: list[int] | None = None) -> None:
    """Go to a position and wait until these rows are listed, by their counts."""
    workspace = panel.workspace
    workspace.seek(position)
    qtbot.waitUntil(lambda: workspace.frame is not None and workspace.frame.position == position)
    if counts is not None:
        expect(qtbot, lambda: listed(panel), counts)
    qtbot.waitUntil(lambda: is_ready(panel))


def listed(panel: WordSplitsPanel) -> list[int]:
    return [count for count, _ in panel.shown_rows()]


def expect(qtbot: QtBot, read: Callable[[], T], wanted: T) -> None:
    """Wait until something is as wanted; fail with the difference if it never is."""

    def check() -> None:
        assert read() == wanted

    qtbot.waitUntil(check)


def key(panel: WordSplitsPanel, code: Qt.Key) -> None:
    none = Qt.KeyboardModifier.NoModifier
    QApplication.sendEvent(panel.rows_view, QKeyEvent(QEvent.Type.KeyPress, code, none))


def mouse(panel: WordSplitsPanel, kind: QEvent.Type, place: QPoint) -> None:
    left, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    viewport = panel.rows_view.viewport()
    on_screen = QPointF(viewport.mapToGlobal(place))
    QApplication.sendEvent(viewport, QMouseEvent(kind, QPointF(place), on_screen, left, left, none))


def middle_of(panel: WordSplitsPanel, row: int, symbol: int) -> QPoint:
    return panel.rows_view.symbol_box(row, symbol).center()


def count_of(panel: WordSplitsPanel, row: int) -> QPoint:
    return QPoint(20, panel.rows_view.row_box(row).center().y())


def many_words(n: int) -> Corpus:
    """Return n different pre-tokens, "000000" and on, without a Python loop."""
    digits = np.arange(n)[:, None] // 10 ** np.arange(5, -1, -1) % 10 + ord("0")
    data = digits.astype(np.uint8).tobytes()
    pretokens = PretokenCounts(data, np.arange(0, 6 * n + 1, 6, dtype=np.int64), np.arange(n, 0, -1, dtype=np.int64))
    return Corpus("Many", (), CountingOptions(), True, pretokens, 6 * n, 6 * n, n, ())


def test_rows_show_counts_and_symbols_of_the_worked_example(open_panel: Open, qtbot: QtBot) -> None:
    panel = open_panel()
    assert panel.shown_rows() == [
        (6, list("newest")),
        (5, list("low")),
        (3, list("widest")),
        (2, list("lower")),
    ]
    seek(qtbot, panel, 4, AT_3)
    assert panel.shown_rows() == [
        (5, ["low"]),
        (2, ["low", "e", "r"]),
        (6, ["n", "e", "w", "est"]),
        (3, ["w", "i", "d", "est"]),
    ]


def test_what_was_made_and_what_comes_next_is_marked(open_panel: Open, qtbot: QtBot) -> None:
    panel = open_panel()
    seek(qtbot, panel, 3, AT_3)
    view = panel.rows_view
    assert panel.shown_rows()[:2] == [(5, ["lo", "w"]), (2, ["lo", "w", "e", "r"])]
    assert view.shown_styles() == [[MADE, NEXT], [MADE, NEXT, PLAIN, PLAIN], [PLAIN] * 4, [PLAIN] * 4]
    assert view.shown_underlines() == [[(0, 2)], [(0, 2)], [], []]


def test_the_next_merge_takes_runs_from_the_left_without_overlap(open_panel: Open) -> None:
    panel = open_panel(count_words({"aaaaa": 2, "ab": 1}, "Runs"), merges=1)
    assert panel.rows_view.shown_underlines() == [[(0, 2), (2, 4)], []]
    assert panel.rows_view.shown_styles()[0] == [NEXT] * 4 + [PLAIN]


def test_every_order_lists_the_rows_as_it_says(open_panel: Open, qtbot: QtBot) -> None:
    panel = open_panel()
    seek(qtbot, panel, 3, AT_3)
    orders = {"count": [6, 5, 3, 2], "name": [5, 2, 6, 3], "length": [6, 3, 2, 5], "changed": [5, 2, 6, 3]}
    for action in panel.sort_button.menu().actions():
        action.trigger()
        expect(qtbot, lambda: listed(panel), orders[action.data()])
        assert panel.sort_button.text() == action.text()


@pytest.mark.parametrize(
    ("typed", "counts"),
    [("est", [6, 3]), ("[est]", [6, 3]), ("[e][r]", [2]), ("[lo][w]", [5, 2]), ("zzz", [])],
)
def test_filters_keep_texts_symbols_and_pairs(open_panel: Open, qtbot: QtBot, typed: str, counts: list[int]) -> None:
    panel = open_panel()
    seek(qtbot, panel, 3, AT_3)
    panel.filter_field.setText(typed)
    qtbot.waitUntil(lambda: panel.filtered_count.text() == f"{len(counts)} of 4")
    assert listed(panel) == counts
    assert panel.rows_view.empty_text() == f"No pre-token holds {typed} here."
    panel.filter_field.clear()
    qtbot.waitUntil(lambda: panel.filtered_count.text() == "" and len(panel.shown_rows()) == 4)


def test_a_bad_filter_is_shown_at_its_field_and_changes_nothing(open_panel: Open, qtbot: QtBot) -> None:
    panel = open_panel()
    panel.filter_field.setText("[a][b][c]")
    qtbot.waitUntil(lambda: panel.filter_field.property("role") == "error")
    assert "names 3 symbols" in panel.filter_field.toolTip()
    assert len(panel.shown_rows()) == 4
    panel.filter_field.setText("[e]")
    qtbot.waitUntil(lambda: panel.filtered_count.text() == "3 of 4")
    assert panel.filter_field.property("role") == ""


def test_hover_and_click_point_at_symbols_and_rows(open_panel: Open, qtbot: QtBot) -> None:
    panel = open_panel()
    seek(qtbot, panel, 3, AT_3)
    workspace = panel.workspace
    mouse(panel, QEvent.Type.MouseMove, middle_of(panel, 2, 3))
    assert workspace.pointed_at == Selection(token=11)
    assert [styles.count(SELECTED) for styles in panel.rows_view.shown_styles()] == [0, 0, 1, 1]
    QApplication.sendEvent(panel.rows_view.viewport(), QEvent(QEvent.Type.Leave))
    assert workspace.pointed_at is None
    mouse(panel, QEvent.Type.MouseButtonPress, count_of(panel, 2))
    assert workspace.selection == Selection(row=2)
    mouse(panel, QEvent.Type.MouseButtonPress, middle_of(panel, 0, 0))
    assert workspace.selection == Selection(token=12)
    mouse(panel, QEvent.Type.MouseButtonPress, middle_of(panel, 0, 0))
    assert workspace.selection is None


def test_a_pair_that_is_pointed_at_elsewhere_is_shown(open_panel: Open) -> None:
    panel = open_panel()
    panel.workspace.hover(Selection(pair=Pair(9, 1)))
    styles = panel.rows_view.shown_styles()
    assert [[i for i, style in enumerate(row) if style == SELECTED] for row in styles] == [[2, 3], [], [], [2, 3]]


def test_tooltips_name_symbol_id_bytes_and_merge(open_panel: Open, qtbot: QtBot) -> None:
    panel = open_panel()
    seek(qtbot, panel, 3, AT_3)
    view = panel.rows_view
    assert view.tooltip_text(middle_of(panel, 0, 0)) == "lo\nid 12, made by merge 3, rank 2\n2 bytes: 6C 6F"
    assert view.tooltip_text(middle_of(panel, 0, 1)) == "w\nid 9, base symbol\n1 byte: 77"
    assert view.tooltip_text(count_of(panel, 1)) == "lower\noccurs 2 times, split into 4 symbols"
    assert view.tooltip_text(QPoint(400, 20)) == ""


def test_bytes_say_which_character_they_build(open_panel: Open) -> None:
    panel = open_panel(count_words({"é吾": 1}, "Bytes"), base="bytes", merges=1)
    assert panel.shown_rows()[0][1] == ["<C3>", "<A9>", "<E5>", "<90>", "<BE>"]
    assert "part of 吾" in panel.rows_view.tooltip_text(middle_of(panel, 0, 4)).split("\n")
    assert "part of é" in panel.rows_view.tooltip_text(middle_of(panel, 0, 1)).split("\n")


def test_characters_around_a_symbol_are_named_whole() -> None:
    assert characters_around([b"a", b"\xe5", b"\x90\xbe\xe8", b"\xbc", b"\xa9"], 2) == "吾輩"
    assert characters_around([b"a", b"b"], 1) == ""
    assert characters_around([b"\x90"], 0) == ""


def test_the_keyboard_moves_rows_and_symbols(open_panel: Open, qtbot: QtBot) -> None:
    panel = open_panel()
    seek(qtbot, panel, 3, AT_3)
    view, workspace = panel.rows_view, panel.workspace
    key(panel, Qt.Key.Key_Down)
    assert view.current == 0
    key(panel, Qt.Key.Key_End)
    assert view.current == 3
    key(panel, Qt.Key.Key_Up)
    key(panel, Qt.Key.Key_Right)
    key(panel, Qt.Key.Key_Right)
    assert (view.current, view.current_symbol) == (2, 1)
    key(panel, Qt.Key.Key_Space)
    assert workspace.selection == Selection(token=1)
    key(panel, Qt.Key.Key_Left)
    key(panel, Qt.Key.Key_Left)
    assert view.current_symbol is None
    key(panel, Qt.Key.Key_Return)
    assert workspace.selection == Selection(row=2)
    assert "newest" in view.accessibleDescription()


def test_focus_keeps_the_keys_that_the_window_wants_too(open_panel: Open) -> None:
    panel = open_panel()
    none, alt = Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.AltModifier
    for code in (Qt.Key.Key_Right, Qt.Key.Key_Home, Qt.Key.Key_PageDown, Qt.Key.Key_Space):
        for modifiers, is_kept in ((none, True), (alt, False)):
            event = QKeyEvent(QEvent.Type.ShortcutOverride, code, modifiers)
            event.ignore()
            QApplication.sendEvent(panel.rows_view, event)
            assert event.isAccepted() == is_kept


def test_a_word_of_70000_letters_is_painted_and_walked_in_part(open_panel: Open, qtbot: QtBot) -> None:
    panel = open_panel(count_words({"abcdefghij" * 7000: 1, "b": 3}, "Long"), merges=0)
    view = panel.rows_view
    shown = panel.shown_rows()[1][1]
    assert "".join(shown) == ("abcdefghij" * 9)[: len(shown)]
    assert view.more_symbols(1) == (0, 70_000 - len(shown))
    key(panel, Qt.Key.Key_End)
    for _ in range(30):
        key(panel, Qt.Key.Key_Right)
    before, after = view.more_symbols(1)
    assert before > 0
    assert before + after + len(panel.shown_rows()[1][1]) == 70_000
    assert not view.symbol_box(1, 29).isNull()


@pytest.mark.parametrize(
    ("angle", "modifiers", "is_slid", "is_scrolled"),
    [
        (QPoint(-120, 0), Qt.KeyboardModifier.NoModifier, True, False),
        (QPoint(0, -120), Qt.KeyboardModifier.NoModifier, False, True),
        (QPoint(0, -120), Qt.KeyboardModifier.ControlModifier, False, False),
    ],
)
def test_the_wheel_scrolls_and_slides_long_rows_but_leaves_zooming_to_the_window(
    open_panel: Open, angle: QPoint, modifiers: Qt.KeyboardModifier, is_slid: bool, is_scrolled: bool
) -> None:
    words = {"abcdefghij" * 700: 90} | {f"{number:02}": 50 - number for number in range(50)}
    panel = open_panel(count_words(words, "Wheel"), merges=0)
    view = panel.rows_view
    place = QPointF(200, view.row_box(0).center().y())
    phase = Qt.ScrollPhase.NoScrollPhase
    wheel = QWheelEvent(place, place, QPoint(), angle, Qt.MouseButton.NoButton, modifiers, phase, False)
    QApplication.sendEvent(view.viewport(), wheel)
    assert (view.more_symbols(0)[0] > 0, view.offset > 0) == (is_slid, is_scrolled)
    if is_scrolled:
        assert view.offset == 3 * view.height_of_row()


def test_a_million_rows_ask_only_for_those_in_view(open_panel: Open, qtbot: QtBot) -> None:
    panel = open_panel(many_words(1_000_000), base="bytes", merges=0)
    view, workspace = panel.rows_view, panel.workspace
    assert view.row_count == 1_000_000
    for place in (0, 500_000, 999_999):
        view.set_current(place)
        qtbot.waitUntil(lambda: is_ready(panel))
        assert workspace.frame is not None
        assert len(workspace.frame.splits) < 40
        assert place in view.visible_rows
        assert (1_000_000 - place, list(f"{place:06}")) in panel.shown_rows()


def test_rows_beyond_what_a_scroll_bar_counts_can_be_reached(qtbot: QtBot, look: Look) -> None:
    view = RowView(look)
    qtbot.addWidget(view)
    view.resize(200, 300)
    view.show()
    view.set_row_count(500_000_000)
    bar = view.verticalScrollBar()
    assert bar.maximum() <= LONGEST_BAR
    bar.setValue(bar.maximum())
    assert view.visible_rows.stop == 500_000_000
    view.set_current(123_456_789)
    assert 123_456_789 in view.visible_rows
    before = view.row_box(123_456_789).y()
    view.scroll_to(view.offset - 1)
    assert view.row_box(123_456_789).y() == before + 1


def test_stepping_keeps_the_top_unless_the_user_scrolled(open_panel: Open, qtbot: QtBot) -> None:
    words = count_words({f"w{number}xy": 900 - number for number in range(500)} | {"ab": 5000, "abc": 4000}, "W")
    panel = open_panel(words, merges=3)
    view = panel.rows_view
    for position in (1, 2):
        seek(qtbot, panel, position)
        assert view.offset == 0
    view.scroll_to(777)
    seek(qtbot, panel, 3)
    assert view.offset == 777


def test_empty_states_are_said_in_words(open_panel: Open, qtbot: QtBot) -> None:
    panel = open_panel(count_words({"ab": 2}, "One"), merges=5)
    assert panel.shown_note == ""
    panel.workspace.seek(1)
    qtbot.waitUntil(lambda: panel.shown_note == "Every pre-token is one symbol: nothing is left to merge.")
    empty = PretokenCounts(b"", np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int64))
    nothing = Corpus("Nothing", (), CountingOptions(), True, empty, 0, 0, 0, ())
    open_corpus(panel.workspace, nothing, "characters", 1)
    qtbot.waitUntil(lambda: panel.workspace.corpus is nothing and panel.workspace.frame is not None)
    assert panel.shown_rows() == []
    assert panel.rows_view.empty_text() == "There are no pre-tokens: nothing to split."
    assert panel.shown_note == ""


def test_zoom_and_theme_keep_the_first_row(open_panel: Open, look: Look, qtbot: QtBot) -> None:
    panel = open_panel(many_words(5000), base="bytes", merges=0)
    view = panel.rows_view
    view.scroll_to(100 * view.height_of_row())
    first = view.visible_rows.start
    look.set_zoom(2.0)
    look.set_theme("dark")
    assert abs(view.visible_rows.start - first) <= 1
    qtbot.waitUntil(lambda: is_ready(panel))
