"""The merge list: what the rows show, follow, find, and do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPixmap
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from bpe_viz.engine.corpus import Corpus, count_text, count_words, worked_example
from bpe_viz.engine.types import CountingOptions, Options, Pair, TrainingOptions
from bpe_viz.engine.visible import text_of
from bpe_viz.gui.glyphs import drawable
from bpe_viz.gui.look import Look
from bpe_viz.gui.merge_rows import Row
from bpe_viz.gui.panels import merge_list
from bpe_viz.gui.panels.merge_list import MergeListPanel
from bpe_viz.gui.selection import Selection
from bpe_viz.gui.workspace import Workspace

Open = Callable[..., MergeListPanel]

WORKED = [
    Row(1, ("e", "s", "es"), 9, ("= 2",)),
    Row(2, ("es", "t", "est"), 9, ()),
    Row(3, ("l", "o", "lo"), 7, ("= 2",)),
    Row(4, ("lo", "w", "low"), 7, ()),
    Row(5, ("e", "w", "ew"), 6, ("= 3",)),
    Row(6, ("ew", "est", "ewest"), 6, ("= 2",)),
    Row(7, ("n", "ewest", "newest"), 6, ()),
]


@pytest.fixture
def workspace(qtbot: QtBot) -> Iterator[Workspace]:
    made = Workspace()
    yield made
    made.close()


@pytest.fixture
def open_panel(qtbot: QtBot, workspace: Workspace, look: Look) -> Open:
    def opened(corpus: Corpus | None = None, base: str = "characters", merges: int = 7) -> MergeListPanel:
        panel = merge_list.PANEL.make(workspace, look)
        assert isinstance(panel, MergeListPanel)
        qtbot.addWidget(panel.heading)
        qtbot.addWidget(panel)
        panel.resize(360, 400)
        panel.show()
        wanted = corpus or worked_example()
        options = Options(
            CountingOptions(pretokenizer="none"),
            TrainingOptions(base=base, merges=merges),  # type: ignore[arg-type]
        )
        workspace.open(lambda *_: wanted, options, wanted.name)
        qtbot.waitUntil(lambda: workspace.corpus is wanted and not workspace.is_training, timeout=20_000)
        qtbot.waitUntil(lambda: workspace.frame is not None and workspace.frontier == workspace.last_position)
        return panel

    return opened


@pytest.fixture
def open_alice(open_panel: Open, shared: Path) -> MergeListPanel:
    text = (shared / "data" / "text" / "en_alice29.txt").read_text(encoding="utf-8")
    return open_panel(count_text(text, CountingOptions(), "Alice"), "bytes", 1500)


def seek(qtbot: QtBot, panel: MergeListPanel, position: int) -> None:
    workspace = panel.workspace
    workspace.seek(position)
    qtbot.waitUntil(lambda: workspace.frame is not None and workspace.frame.position == position)


def key(panel: MergeListPanel, code: Qt.Key) -> None:
    none = Qt.KeyboardModifier.NoModifier
    QApplication.sendEvent(panel.rows_view, QKeyEvent(QEvent.Type.KeyPress, code, none))


def mouse(panel: MergeListPanel, kind: QEvent.Type, row: int, x: int) -> None:
    left, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    viewport = panel.rows_view.viewport()
    place = QPoint(x, panel.rows_view.row_box(row).center().y())
    on_screen = QPointF(viewport.mapToGlobal(place))
    QApplication.sendEvent(viewport, QMouseEvent(kind, QPointF(place), on_screen, left, left, none))


def test_rows_are_the_merges_of_the_worked_example(open_panel: Open, qtbot: QtBot) -> None:
    panel = open_panel()
    assert panel.shown_rows() == WORKED
    assert panel.rows_view.cursor_row is None
    seek(qtbot, panel, 3)
    assert panel.rows_view.cursor_row == 2


def test_replacements_stand_where_they_differ_from_the_count(open_panel: Open) -> None:
    panel = open_panel(count_words({"aaaa": 1}, "Run"), merges=1)
    assert panel.shown_rows()[0] == Row(1, ("a", "a", "aa"), 3, ("2 replaced",))
    tooltip = panel.rows_view.tooltip_at(0, 0).split("\n")
    assert tooltip[:2] == ["merge 1, rank 0: a + a → aa", "counted 3 times, replaced 2 times"]
    assert tooltip[-1] == "id 1, 2 bytes: 61 61"


def test_the_merge_that_training_would_make_next_is_the_last_row(open_panel: Open, qtbot: QtBot) -> None:
    panel = open_panel(merges=2)
    workspace = panel.workspace
    assert panel.shown_rows() == WORKED[:2]
    assert workspace.timeline is not None
    workspace.timeline.publish(workspace.timeline.published, None)
    workspace.seek(2)
    qtbot.waitUntil(lambda: workspace.frame is not None and workspace.frame.next is not None)
    qtbot.waitUntil(lambda: panel.shown_rows() == WORKED[:3])
    panel.rows_view.viewport().grab()
    assert "counted 7 times\n" in panel.rows_view.tooltip_at(2, 0)
    seek(qtbot, panel, 1)
    assert panel.shown_rows() == WORKED[:2]


def test_a_click_jumps_and_pauses(open_panel: Open, qtbot: QtBot) -> None:
    panel = open_panel()
    workspace = panel.workspace
    workspace.player.play()
    mouse(panel, QEvent.Type.MouseButtonPress, 4, 300)
    assert not workspace.player.is_playing
    qtbot.waitUntil(lambda: panel.rows_view.cursor_row == 4)
    assert workspace.position == 5


def test_hover_points_at_the_symbol_or_the_token(open_panel: Open) -> None:
    panel = open_panel()
    workspace = panel.workspace
    mouse(panel, QEvent.Type.MouseMove, 2, 300)
    assert workspace.pointed_at == Selection(token=12)
    mouse(panel, QEvent.Type.MouseMove, 2, panel.rows_view.chips_left + 2)
    assert workspace.pointed_at == Selection(token=3)
    QApplication.sendEvent(panel.rows_view.viewport(), QEvent(QEvent.Type.Leave))
    assert workspace.pointed_at is None


@pytest.mark.parametrize(
    ("selection", "row"),
    [
        (Selection(token=13), 3),
        (Selection(token=0), None),
        (Selection(pair=Pair(14, 11)), 5),
        (Selection(pair=Pair(0, 1)), None),
        (Selection(row=1), None),
    ],
)
def test_what_is_pointed_at_elsewhere_is_shown(open_panel: Open, selection: Selection, row: int | None) -> None:
    panel = open_panel()
    panel.workspace.hover(selection)
    assert panel.rows_view.pointed_row == row
    panel.workspace.hover(None)
    assert panel.rows_view.pointed_row is None


def test_the_keyboard_moves_selects_and_jumps(open_panel: Open, qtbot: QtBot) -> None:
    panel = open_panel()
    key(panel, Qt.Key.Key_End)
    key(panel, Qt.Key.Key_Up)
    assert panel.rows_view.current == 5
    assert panel.workspace.selection == Selection(token=15)
    key(panel, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: panel.rows_view.cursor_row == 5)


def test_find_goes_through_the_hits_and_round(open_panel: Open, qtbot: QtBot) -> None:
    panel = open_panel()
    field = panel.find_field
    panel.focus_find()
    qtbot.keyClicks(field, "est")
    qtbot.waitUntil(lambda: panel.hits == (1, 5, 6) and not panel.is_searching)
    assert panel.found_label.text() == "1 of 3"
    seen = []
    for modifiers in [Qt.KeyboardModifier.NoModifier] * 4 + [Qt.KeyboardModifier.ShiftModifier] * 2:
        qtbot.keyClick(field, Qt.Key.Key_Return, modifiers)
        assert panel.workspace.selection is not None
        seen.append((panel.workspace.selection.token, panel.found_label.text()))
    first, second, last = (11, "1 of 3"), (15, "2 of 3"), (16, "3 of 3")
    assert seen == [first, second, last, first, last, second]


@pytest.mark.parametrize(
    ("typed", "hits", "said"), [("0x6573", (0, 1, 5, 6), "1 of 4"), ("zz", (), "none"), ("", (), "")]
)
def test_find_takes_hex_and_says_when_there_is_none(
    open_panel: Open, qtbot: QtBot, typed: str, hits: tuple[int, ...], said: str
) -> None:
    panel = open_panel()
    panel.find_field.setText("x")
    panel.find_field.setText(typed)
    qtbot.waitUntil(lambda: panel.hits == hits and panel.found_label.text() == said)


def test_the_cursor_is_kept_in_sight_in_the_middle_when_it_jumps(open_alice: MergeListPanel, qtbot: QtBot) -> None:
    panel, view = open_alice, open_alice.rows_view
    assert panel.workspace.frontier == 1500
    seek(qtbot, panel, 800)
    height = view.viewport().height()
    assert height / 3 <= view.row_box(799).center().y() <= 2 * height / 3
    for position in range(801, 812):
        before = view.offset
        seek(qtbot, panel, position)
        assert 0 <= view.offset - before <= view.height_of_row()
        assert view.viewport().rect().contains(view.row_box(position - 1))
    seek(qtbot, panel, 0)
    assert view.offset == 0
    seek(qtbot, panel, 1500)
    assert view.viewport().rect().contains(view.row_box(1499))


def test_only_rows_in_view_are_painted(open_alice: MergeListPanel, qtbot: QtBot) -> None:
    view = open_alice.rows_view
    seek(qtbot, open_alice, 1000)
    assert len(open_alice.shown_rows()) <= 18
    painted = []
    paint_row = view.paint_row
    view.paint_row = lambda painter, row, top: (painted.append(row), paint_row(painter, row, top))
    view.viewport().render(QPixmap(view.viewport().size()))
    assert set(painted) <= set(range(990, 1020))
    assert len(painted) <= 20


def test_rows_found_while_training_goes_on_join_the_hits(qtbot: QtBot, workspace: Workspace, look: Look) -> None:
    panel = merge_list.PANEL.make(workspace, look)
    assert isinstance(panel, MergeListPanel)
    qtbot.addWidget(panel.heading)
    qtbot.addWidget(panel)
    panel.show()
    panel.find_field.setText("est")
    options = Options(CountingOptions(pretokenizer="none"), TrainingOptions(base="characters", merges=7))
    workspace.open(lambda *_: worked_example(), options, "Worked example")
    qtbot.waitUntil(lambda: panel.hits == (1, 5, 6))


def test_nothing_to_merge_is_said_in_words(open_panel: Open, qtbot: QtBot) -> None:
    panel = open_panel(count_words({"a": 3}, "One letter"))
    assert panel.shown_rows() == []
    assert panel.rows_view.empty_text() == "There is nothing to merge."


LONG = {"\r\n\r\n\r\n": 900, "日本語の文章です": 800, "abcdefghijklmnopqrstuvwxyz" * 3: 700, "👍🏽👩‍👩‍👧‍👦": 600}


@pytest.mark.parametrize("width", [150, 220, 300, 360, 700])
@pytest.mark.parametrize("zoom", [1.0, 1.3, 1.6])
@pytest.mark.parametrize("base", ["bytes", "characters"])
def test_the_token_is_always_in_sight_and_cut_only_with_an_ellipsis(
    open_panel: Open, look: Look, width: int, zoom: float, base: str
) -> None:
    look.set_zoom(zoom)
    panel = open_panel(count_words(LONG, "Long"), base, 90)
    panel.resize(width, 400)
    rows = panel.rows_view
    for rank in range(rows.row_count):
        chips = rows.shown_chips(rank)
        merge = rows.texts.merge(rank)
        symbols = (merge.left, merge.right, merge.token)[-len(chips) :]
        assert len(chips) == (3 if rows.shows_parts else 1)
        assert chips[-1][2] <= max(rows.chips_right(rank), chips[-1][1] + look.px(18))
        for (text, _, _), symbol in zip(chips, symbols, strict=True):
            whole = rows.texts.parts(symbol, 10_000)
            assert text in (text_of(whole), text_of(drawable(whole, look.mono_metrics()))) or "…" in text
        if len(chips) == 3:
            widths = [right - left for _, left, right in chips]
            is_cut = "…" in chips[2][0]
            assert not is_cut or widths[2] >= max(widths[:2]) - look.px(18)


def test_notes_go_first_and_then_the_parts(open_panel: Open) -> None:
    panel = open_panel()
    shown = []
    for width in (360, 230, 170):
        panel.resize(width, 400)
        shown.append((panel.rows_view.shows_notes, panel.rows_view.shows_parts))
    assert shown == [(True, True), (False, True), (False, False)]


def test_the_cursor_stays_in_sight_when_the_panel_gets_lower(open_alice: MergeListPanel, qtbot: QtBot) -> None:
    rows = open_alice.rows_view
    seek(qtbot, open_alice, open_alice.workspace.last_position)
    for height in (400, 200, 120, 60):
        open_alice.resize(360, height)
        row = rows.cursor_row
        assert row is not None
        box = rows.row_box(row)
        assert box.top() >= 0
        assert box.bottom() < rows.viewport().height()
    open_alice.resize(360, 400)
    rows.scroll_to(0)
    open_alice.resize(360, 300)
    assert rows.offset == 0, "who has scrolled away stays there"


def test_a_tooltip_says_once_of_a_count_of_one(open_panel: Open) -> None:
    panel = open_panel(count_words({"ab": 1}, "One"))
    assert "counted once, replaced once" in panel.rows_view.tooltip_at(0, 0)
