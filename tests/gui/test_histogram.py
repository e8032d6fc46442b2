"""The bars show what facts/worked_examples.md counts by hand; the plots show all pairs."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QImage, QKeyEvent, QPainter, QPicture, QRegion
from PySide6.QtWidgets import QToolButton, QWidget
from pytestqt.qtbot import QtBot

from bpe_viz.engine.types import Pair, TrainingOptions
from bpe_viz.gui.bar_rows import BarRow
from bpe_viz.gui.look import Look
from bpe_viz.gui.panels.histogram import HistogramPanel
from bpe_viz.gui.selection import Selection
from bpe_viz.gui.workspace import Workspace
from tests.gui.worked import open_workspace, seek


@pytest.fixture
def workspace(qtbot: QtBot) -> Iterator[Workspace]:
    with open_workspace(qtbot) as workspace:
        yield workspace


@pytest.fixture
def panel(qtbot: QtBot, workspace: Workspace, look: Look) -> HistogramPanel:
    return shown(qtbot, workspace, look)


def shown(qtbot: QtBot, workspace: Workspace, look: Look) -> HistogramPanel:
    panel = HistogramPanel(workspace, look)
    qtbot.addWidget(panel)
    qtbot.addWidget(panel.heading)
    panel.resize(440, 400)
    panel.show()
    return panel


def labels(panel: HistogramPanel) -> list[tuple[str, int]]:
    return [(row.label, row.count) for row in panel.bars.rows()]


def row_of(panel: HistogramPanel, label: str) -> BarRow:
    return next(row for row in panel.bars.rows() if row.label == label)


def middle(panel: HistogramPanel, row: BarRow) -> QPoint:
    area = panel.bars.row_rect(row.pair)
    assert area is not None
    return area.center()


def test_the_first_counts_are_those_of_the_worked_example(panel: HistogramPanel) -> None:
    assert labels(panel)[:7] == [
        ("e · s", 9), ("s · t", 9), ("w · e", 8), ("l · o", 7), ("o · w", 7), ("e · w", 6), ("n · e", 6),
    ]  # fmt: skip
    assert [row.mark for row in panel.bars.rows()[:3]] == ["next", "tied", "plain"]
    assert panel.how_many.accessibleName() == "top 11 of 11 pairs"


def test_a_merge_takes_from_its_neighbours_and_makes_new_pairs(
    qtbot: QtBot, workspace: Workspace, panel: HistogramPanel
) -> None:
    seek(qtbot, workspace, 1)
    # e s is merged in newest x6 and widest x3: w·e was there in lower as well, and keeps 2 of 8.
    fell, new = row_of(panel, "w · e"), row_of(panel, "es · t")
    assert (fell.before, fell.count, fell.change_text) == (8, 2, "−6")
    assert (new.count, new.is_new, new.change_text, new.mark) == (9, True, "new", "next")
    assert row_of(panel, "l · o").change_text == ""


def test_marks_are_said_in_words_too(qtbot: QtBot, workspace: Workspace, panel: HistogramPanel) -> None:
    assert "merged next" in panel.bars.tooltip(row_of(panel, "e · s"))
    assert "tied with the pair that is merged next" in panel.bars.tooltip(row_of(panel, "s · t"))
    for label in ("e · s", "s · t"):
        tie = "2 pairs tie, and textbook takes the first in order, before s + t"
        assert tie in panel.bars.tooltip(row_of(panel, label))
    assert "pairs tie" not in panel.bars.tooltip(row_of(panel, "w · e"))
    assert "e · s: counted 9 times; merged next" in panel.bars.accessibleDescription()
    assert "Tied with it, but not the winner: 1 " in panel.bars.accessibleDescription()


def test_the_tooltip_names_the_words_in_sight(qtbot: QtBot, workspace: Workspace, panel: HistogramPanel) -> None:
    with qtbot.waitSignal(workspace.frame_changed, check_params_cb=lambda frame: len(frame.splits) == 4):
        workspace.watch_rows(range(4))
    assert (
        panel.bars.tooltip(row_of(panel, "l · o"))
        == "l · o: counted 7 times\nIn: low  5,  lower  2\nDouble click, or M: merge it instead"
    )


def test_at_the_target_no_pair_is_marked(qtbot: QtBot, workspace: Workspace, panel: HistogramPanel) -> None:
    seek(qtbot, workspace, 7)
    assert {row.mark for row in panel.bars.rows()} == {"plain"}


def test_when_no_pair_is_left_it_says_so(qtbot: QtBot, look: Look) -> None:
    with open_workspace(qtbot, TrainingOptions(base="characters"), {"ab": 2}) as workspace:
        panel = shown(qtbot, workspace, look)
        seek(qtbot, workspace, 1)
        assert panel.bars.rows() == ()
        assert panel.bars.accessibleDescription() == "No pairs are left: every pre-token is one token."


def test_overlap_is_told_of_the_next_pair(qtbot: QtBot, look: Look) -> None:
    with open_workspace(qtbot, TrainingOptions(base="characters"), {"aaaa": 1}) as workspace:
        panel = shown(qtbot, workspace, look)
        row = panel.bars.rows()[0]
        assert (row.count, row.replacements) == (3, 2)
        assert "replaced 2 times" in panel.bars.tooltip(row)


def test_mouse_points_and_selects(qtbot: QtBot, workspace: Workspace, panel: HistogramPanel) -> None:
    row, view = row_of(panel, "l · o"), panel.bars.viewport()
    qtbot.mouseMove(view, middle(panel, row))
    assert workspace.pointed_at == Selection(pair=row.pair)
    qtbot.mouseClick(view, Qt.MouseButton.LeftButton, pos=middle(panel, row))
    assert workspace.selection == Selection(pair=row.pair)
    assert "Selected: l · o" in panel.bars.accessibleDescription()
    panel.bars.viewportEvent(QEvent(QEvent.Type.Leave))
    qtbot.mouseClick(view, Qt.MouseButton.LeftButton, pos=QPoint(50, view.height() - 5))
    assert workspace.selection is None


def test_keys_move_the_selection(qtbot: QtBot, workspace: Workspace, panel: HistogramPanel) -> None:
    rows = panel.bars.rows()
    for key, expected in [
        (Qt.Key.Key_Down, 0),
        (Qt.Key.Key_Down, 1),
        (Qt.Key.Key_End, 10),
        (Qt.Key.Key_Down, 10),
        (Qt.Key.Key_Up, 9),
        (Qt.Key.Key_Home, 0),
        (Qt.Key.Key_PageDown, 10),
    ]:
        qtbot.keyClick(panel.bars, key)
        assert panel.bars.selected_pair == rows[expected].pair


def test_its_keys_are_kept_from_shortcuts_and_others_are_not(panel: HistogramPanel) -> None:
    def is_kept(key: Qt.Key) -> bool:
        event = QKeyEvent(QEvent.Type.ShortcutOverride, key, Qt.KeyboardModifier.NoModifier)
        event.ignore()
        panel.bars.event(event)
        return event.isAccepted()

    assert is_kept(Qt.Key.Key_Home)
    assert not is_kept(Qt.Key.Key_Right)


def test_a_step_slides_rows_and_a_jump_does_not(qtbot: QtBot, workspace: Workspace, panel: HistogramPanel) -> None:
    panel.bars._last_frame_at = 0.0  # as if the frame had been looked at for long
    seek(qtbot, workspace, 1)
    assert panel.bars.is_sliding
    seek(qtbot, workspace, 2)  # at once: the rows go on from where they should be
    assert not panel.bars.is_sliding
    panel.bars._last_frame_at = 0.0
    seek(qtbot, workspace, 7)
    assert not panel.bars.is_sliding


def test_what_is_pointed_at_elsewhere_is_shaded(
    qtbot: QtBot, workspace: Workspace, panel: HistogramPanel, look: Look
) -> None:
    def shaded() -> list[str]:
        image = QImage(panel.bars.viewport().size(), QImage.Format.Format_RGB32)
        panel.bars.viewport().render(image, QPoint())
        selection = look.colour("selection")
        return [
            row.label for row in panel.bars.rows()
            if image.pixelColor(8, middle(panel, row).y()) == selection
        ]  # fmt: skip

    assert shaded() == []
    workspace.hover(Selection(token=4))  # n
    assert shaded() == ["n · e"]
    workspace.hover(Selection(pair=Pair(3, 5)))
    assert shaded() == ["l · o"]


def test_more_pairs_are_asked_for_by_the_menu(qtbot: QtBot, look: Look) -> None:
    words = {f"{chr(97 + i)}{chr(97 + j)}": 1 for i in range(8) for j in range(8)}
    with open_workspace(qtbot, TrainingOptions(base="characters", merges=2), words) as workspace:
        panel = shown(qtbot, workspace, look)
        qtbot.waitUntil(lambda: panel.how_many.accessibleName() == "top 20 of 64 pairs")
        with qtbot.waitSignal(workspace.frame_changed, check_params_cb=lambda frame: len(frame.top) == 50):
            panel.how_many.menu().actions()[1].trigger()
        assert len(panel.bars.rows()) == 50
        assert panel.how_many.accessibleName() == "top 50 of 64 pairs"


def test_the_heading_takes_fewer_words_where_there_is_little_room(qtbot: QtBot, panel: HistogramPanel) -> None:
    panel.heading.show()
    panel.heading.resize(600, panel.heading.height())
    qtbot.waitUntil(lambda: panel.how_many.text() == "top 11 of 11")
    panel.heading.resize(panel.heading.sizeHint().width() - 20, panel.heading.height())
    qtbot.waitUntil(lambda: panel.how_many.text() == "11 of 11")


def test_plots_are_made_when_first_opened_and_follow(qtbot: QtBot, workspace: Workspace, panel: HistogramPanel) -> None:
    assert panel.plots == {}
    tabs = {tab.text(): tab for tab in panel.heading.findChildren(QToolButton)}
    tabs["All pairs"].click()
    plot = panel.plots["all pairs"]
    qtbot.waitUntil(lambda: len(plot.points()[0]) == 11)
    assert plot.points()[1].tolist()[:7] == [9, 9, 8, 7, 7, 6, 6]
    assert plot.accessibleDescription().startswith("11 pairs; the first is counted 9 times")
    assert not panel.how_many.isVisibleTo(panel.heading)
    seek(qtbot, workspace, 3)
    qtbot.waitUntil(lambda: len(plot.points()[0]) == 9)

    tabs["Spread"].click()
    spread = panel.plots["spread"]
    qtbot.waitUntil(lambda: len(spread.points()[0]) > 0)
    # After three merges: 7; 6 three times; 3 three times; 2 twice.
    assert [values.tolist() for values in spread.points()] == [[7, 6, 3, 2], [1, 3, 3, 2]]
    assert panel.figure() is spread
    tabs["Bars"].click()
    assert panel.figure() is panel.bars


def test_a_plot_of_no_pairs_is_empty(qtbot: QtBot, look: Look) -> None:
    with open_workspace(qtbot, TrainingOptions(base="characters"), {"ab": 2}) as workspace:
        panel = shown(qtbot, workspace, look)
        panel.show_view("spread")
        plot = panel.plots["spread"]
        qtbot.waitUntil(lambda: plot.accessibleDescription().startswith("1 different"))
        seek(qtbot, workspace, 1)
        qtbot.waitUntil(lambda: plot.accessibleDescription() == "No pairs.")


@pytest.mark.parametrize("zoom", [1.0, 1.6])
@pytest.mark.parametrize("width", [260, 440, 900])
def test_labels_are_cut_with_an_ellipsis_and_keep_clear_of_the_marker(
    qtbot: QtBot, look: Look, width: int, zoom: float
) -> None:
    look.set_zoom(zoom)
    words = {"abcdefghijklmnop" * 4: 90, "\r\n\r\n\u200b\u200b": 80, "日本語の文章です": 70}
    with open_workspace(qtbot, TrainingOptions(base="characters", merges=40), words) as workspace:
        panel = shown(qtbot, workspace, look)
        panel.resize(width, 400)
        for position in (1, 14, 26):
            seek(qtbot, workspace, position)
            panel.bars.grab()
            for row in panel.bars.rows():
                left, right, text = panel.bars.label_edges(row)
                assert left >= look.px(12) + look.px(8), "the marker stands before it"
                assert right <= 0.45 * panel.bars.viewport().width() + 1
                assert "…" in text or len(text) >= len(row.label.replace(" · ", "·").replace("␍", "C"))


def test_a_pair_of_very_long_symbols_is_painted_at_once(qtbot: QtBot, look: Look) -> None:
    words = {"a" * 400_000: 1}
    with open_workspace(qtbot, TrainingOptions(base="bytes", merges=17), words) as workspace:
        panel = shown(qtbot, workspace, look)
        seek(qtbot, workspace, 17)
        began = time.process_time()
        panel.bars.grab()
        assert time.process_time() - began < 0.5


def test_no_pairs_are_said_in_words(qtbot: QtBot, look: Look) -> None:
    with open_workspace(qtbot, TrainingOptions(base="characters"), {"ab": 1}) as workspace:
        panel = shown(qtbot, workspace, look)
        seek(qtbot, workspace, 1)
        assert panel.how_many.text() == "no pairs"


def test_a_figure_keeps_rows_inside_its_view(qtbot: QtBot, workspace: Workspace, panel: HistogramPanel) -> None:
    panel.resize(440, 160)
    bars = panel.bars
    bars.verticalScrollBar().setValue(bars._painter.row_height // 2 + bars._painter.top_margin)
    # A vector device knows of no other clipping than what is painted into it.
    drawn = QPicture()
    bars.viewport().render(drawn, QPoint(0, 0), QRegion(), QWidget.RenderFlag.DrawChildren)
    image = QImage(bars.width(), bars.height() + 60, QImage.Format.Format_RGB32)
    image.fill(0xFF00FF00)
    painter = QPainter(image)
    painter.drawPicture(0, 60, drawn)
    painter.end()
    assert all(image.pixelColor(x, y).name() == "#00ff00" for x in range(0, bars.width(), 3) for y in range(59))


def test_tabs_shorten_in_a_narrow_heading(qtbot: QtBot, panel: HistogramPanel) -> None:
    tab = panel._tabs["all pairs"]
    tab.resize(tab.maximumWidth(), 24)
    tab._fit()
    assert tab.text() == "All pairs"
    assert tab.minimumWidth() == tab.maximumWidth(), "there is room in this heading"
    panel.resize(120, 400)  # with the narrowest face too
    assert tab.minimumWidth() < tab.maximumWidth()
    tab.resize(tab.minimumWidth() + 24, 24)
    tab._fit()
    assert tab.text().endswith("…")
