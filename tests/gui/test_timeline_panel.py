"""The timeline shows where the cursor is, moves it, and says how far long work is."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QHelpEvent, QMouseEvent
from PySide6.QtWidgets import QApplication, QToolTip
from pytestqt.qtbot import QtBot

from bpe_viz.engine.corpus import Corpus, count_words, worked_example
from bpe_viz.engine.types import Options, Progress, StopRequested, TrainingOptions
from bpe_viz.gui.activity_row import time_left
from bpe_viz.gui.go_to_popup import position_in
from bpe_viz.gui.look import Look
from bpe_viz.gui.panels.timeline import TimelinePanel
from bpe_viz.gui.speeds import SPEEDS, faster, slower, speed_text
from bpe_viz.gui.training import Activity
from bpe_viz.gui.workspace import Workspace
from tests.gui.worked import open_workspace, seek

# What the offscreen platform lacks for tooltips and popups.
without_popups = pytest.mark.qt_log_ignore("This plugin does not support")


@pytest.fixture
def workspace(qtbot: QtBot) -> Iterator[Workspace]:
    with open_workspace(qtbot) as workspace:
        yield workspace


@pytest.fixture
def panel(qtbot: QtBot, workspace: Workspace, look: Look) -> TimelinePanel:
    return shown(qtbot, workspace, look)


def shown(qtbot: QtBot, workspace: Workspace, look: Look) -> TimelinePanel:
    panel = TimelinePanel(workspace, look)
    qtbot.addWidget(panel)
    panel.resize(1200, panel.height())
    panel.show()
    return panel


def track_point(panel: TimelinePanel, position: int) -> QPoint:
    return QPoint(round(panel.scrubber.x_of(position)), panel.scrubber.height() // 2)


def tick_point(panel: TimelinePanel, position: int) -> QPoint:
    return QPoint(round(panel.scrubber.x_of(position)), panel.scrubber.height() - 2)


def click(qtbot: QtBot, panel: TimelinePanel, point: QPoint) -> None:
    qtbot.mouseClick(panel.scrubber, Qt.MouseButton.LeftButton, pos=point)


def test_buttons_move_the_cursor(qtbot: QtBot, workspace: Workspace, panel: TimelinePanel) -> None:
    for button, expected in [(panel.on, 1), (panel.on, 2), (panel.back, 1), (panel.last, 7), (panel.first, 0)]:
        button.click()
        qtbot.waitUntil(lambda: workspace.frame is not None and workspace.frame.position == workspace.position)
        assert panel.text == f"{expected} of 7"


def test_at_the_ends_buttons_say_why_they_are_off(qtbot: QtBot, workspace: Workspace, panel: TimelinePanel) -> None:
    assert not panel.first.isEnabled()
    assert panel.back.toolTip() == "This is the start: no merge has been made"
    assert panel.on.isEnabled()
    seek(qtbot, workspace, 7)
    assert panel.back.isEnabled()
    assert not panel.on.isEnabled()
    assert panel.on.toolTip() == panel.last.toolTip() == "The target of 7 merges is reached."
    assert panel.play.isEnabled()
    assert panel.play.accessibleName() == "Play from the start"


def test_a_workspace_without_corpus_offers_nothing(qtbot: QtBot, look: Look) -> None:
    workspace = Workspace()
    panel = shown(qtbot, workspace, look)
    for button in (panel.first, panel.back, panel.play, panel.on, panel.last):
        assert not button.isEnabled()
        assert button.toolTip() == "Nothing is open yet"
    panel.scrubber.grab()
    click(qtbot, panel, QPoint(100, 20))
    workspace.close()


def test_playing_shows_the_pause_sign(qtbot: QtBot, workspace: Workspace, panel: TimelinePanel) -> None:
    workspace.player.set_speed(200)
    panel.play.click()
    assert panel.play.sign == "pause"
    qtbot.waitUntil(lambda: panel.text == "7 of 7" and not workspace.player.is_playing)
    assert panel.play.sign == "play"


@without_popups
def test_dragging_scrubs(qtbot: QtBot, workspace: Workspace, panel: TimelinePanel) -> None:
    qtbot.mousePress(panel.scrubber, Qt.MouseButton.LeftButton, pos=track_point(panel, 2))
    assert workspace.position == 2
    qtbot.mouseMove(panel.scrubber, track_point(panel, 5))
    assert workspace.position == 5
    qtbot.mouseRelease(panel.scrubber, Qt.MouseButton.LeftButton, pos=track_point(panel, 5))
    qtbot.mouseMove(panel.scrubber, track_point(panel, 1))
    assert workspace.position == panel.scrubber.shown_position == 5


def test_keys_step_seek_and_set_breakpoints(qtbot: QtBot, workspace: Workspace, panel: TimelinePanel) -> None:
    def press(key: Qt.Key) -> int:
        qtbot.keyClick(panel.scrubber, key)
        return workspace.position

    assert press(Qt.Key.Key_Right) == 1
    assert press(Qt.Key.Key_End) == 7
    assert press(Qt.Key.Key_Left) == 6
    press(Qt.Key.Key_B)
    assert workspace.player.breakpoints == (6,)
    assert press(Qt.Key.Key_Home) == 0
    assert press(Qt.Key.Key_PageDown) == 6
    assert press(Qt.Key.Key_PageUp) == 0
    assert "breakpoints at 6" in panel.scrubber.accessibleDescription()


def test_a_click_below_the_track_toggles_a_breakpoint(qtbot: QtBot, workspace: Workspace, panel: TimelinePanel) -> None:
    click(qtbot, panel, tick_point(panel, 4))
    assert workspace.player.breakpoints == (4,)
    assert workspace.position == 0
    assert panel.scrubber.tooltip_at(tick_point(panel, 4)) == "Click: take away the breakpoint at merge 4"
    click(qtbot, panel, tick_point(panel, 4) + QPoint(3, 0))
    assert workspace.player.breakpoints == ()


def test_hovering_tells_the_merge_and_the_tokens(panel: TimelinePanel) -> None:
    # low x5, lower x2, newest x6, widest x3: 79 characters; e·s is replaced 9 times.
    assert panel.scrubber.tooltip_at(track_point(panel, 0)) == "start\n79 tokens in the corpus"
    assert panel.scrubber.tooltip_at(track_point(panel, 1)) == "merge 1: e + s → es\n70 tokens in the corpus"
    assert panel.scrubber.tooltip_at(track_point(panel, 4)).startswith("merge 4: lo + w → low\n")


def test_the_curve_falls_and_is_no_finer_than_pixels(workspace: Workspace, panel: TimelinePanel) -> None:
    curve = panel.scrubber.curve()
    assert len(curve) == 8
    heights = [point.y() for point in curve]
    assert heights == sorted(heights)
    assert panel.scrubber.shade_end == 1.0
    panel.scrubber.resize(16, 40)
    assert len(panel.scrubber.curve()) <= 6


def test_the_menu_sets_the_speed(qtbot: QtBot, workspace: Workspace, panel: TimelinePanel) -> None:
    assert panel.speed.text() == "1 merge / s"
    chosen = next(choice for choice in panel.speed.menu().actions() if choice.text() == "200 merges / s")
    chosen.trigger()
    assert workspace.player.speed == 200
    assert panel.speed.text() == "200 merges / s"
    workspace.player.set_speed(4)  # a speed that the menu does not have
    assert panel.speed.text() == "4 merges / s"
    assert not any(choice.isChecked() for choice in panel.speed.menu().actions())


def test_speeds_are_named_and_have_neighbours() -> None:
    assert [speed_text(speed) for speed in SPEEDS[:3]] == ["1 merge / 2 s", "1 merge / s", "2 merges / s"]
    assert speed_text(5000) == "5,000 merges / s"
    assert (faster(1), slower(1), faster(5000), slower(0.5), faster(4)) == (2, 0.5, 5000, 0.5, 5)


@without_popups
def test_go_to_takes_a_number_and_refuses_others(qtbot: QtBot, workspace: Workspace, panel: TimelinePanel) -> None:
    panel.ask_position()
    popup = panel.popup
    assert popup is not None
    qtbot.keyClicks(popup.field, "8")
    qtbot.keyClick(popup.field, Qt.Key.Key_Return)
    assert workspace.position == 0
    assert popup.note.text() == "Type a number from 0 to 7."
    popup.field.clear()
    qtbot.keyClicks(popup.field, "6")
    assert popup.note.isHidden()
    qtbot.keyClick(popup.field, Qt.Key.Key_Return)
    assert workspace.position == 6


@pytest.mark.parametrize(
    ("text", "expected"), [("1,204", 1204), (" 7 ", 7), ("1.204", 1204), ("", None), ("x", None), ("-3", None)]
)
def test_numbers_are_read_with_thousands_marks(text: str, expected: int | None) -> None:
    assert position_in(text) == expected


def test_progress_is_shown_only_when_work_lasts(qtbot: QtBot, panel: TimelinePanel) -> None:
    height = panel.height()
    panel.show_activity(Activity("Training: merge 10 of 20", 0.5, 11.2))
    assert panel.activity.isHidden()
    panel.show_activity(None)
    panel.show_activity(Activity("Training: merge 10 of 20", 0.5, 11.2))
    qtbot.waitUntil(panel.activity.isVisible)
    assert panel.activity.text == "Training: merge 10 of 20 about 12 s left"
    assert panel.height() == height
    panel.show_activity(None)
    assert panel.activity.isHidden()


def test_time_left_is_rounded_for_people() -> None:
    assert [time_left(seconds) for seconds in (None, 0.1, 11.2, 200)] == [
        "", "about 1 s left", "about 12 s left", "about 3 min left",
    ]  # fmt: skip


def test_stop_stops_counting_at_once(qtbot: QtBot, look: Look) -> None:
    workspace, stopped = Workspace(), threading.Event()
    panel = shown(qtbot, workspace, look)

    def count(options: Options, progress: Progress, should_stop: StopRequested) -> Corpus:
        while not should_stop():
            stopped.wait(0.001)
        stopped.set()
        return worked_example()

    workspace.open(count, Options(), "Endless")
    qtbot.waitUntil(panel.activity.isVisible)
    assert panel.activity.text == "Reading Endless"
    panel.activity.stop_button.click()
    qtbot.waitUntil(stopped.is_set)
    workspace.close()


def test_a_stopped_training_can_go_on(qtbot: QtBot, look: Look) -> None:
    words = {f"{chr(0x4E00 + i)}{chr(0x5E00 + i)}": 1 for i in range(3000)}
    workspace = Workspace()
    panel = shown(qtbot, workspace, look)

    def count(options: Options, progress: Progress, should_stop: StopRequested) -> Corpus:
        return count_words(words, "Words")

    workspace.corpus_changed.connect(workspace.stop_training, Qt.ConnectionType.QueuedConnection)
    workspace.open(count, Options(training=TrainingOptions(base="characters")), "Words")
    qtbot.waitUntil(lambda: workspace.timeline is not None and not workspace.is_training)
    assert workspace.frontier < 3000
    qtbot.waitUntil(panel.stopped.isVisible)
    panel.stopped.train_on.click()
    qtbot.waitUntil(lambda: workspace.frontier == 3000, timeout=10_000)
    assert panel.stopped.isHidden()
    workspace.close()


@pytest.mark.parametrize("drags", [False, True])
def test_a_tooltip_lies_above_the_scrubber(
    qtbot: QtBot, workspace: Workspace, panel: TimelinePanel, drags: bool
) -> None:
    panel.move(40, 300)
    point = track_point(panel, 3)
    if drags:
        click_at = QPointF(point)
        for kind in (QEvent.Type.MouseButtonPress, QEvent.Type.MouseMove):
            place = QPointF(panel.scrubber.mapToGlobal(point))
            left = Qt.MouseButton.LeftButton
            none = Qt.KeyboardModifier.NoModifier
            QApplication.sendEvent(panel.scrubber, QMouseEvent(kind, click_at, place, left, left, none))
    else:
        on_screen = panel.scrubber.mapToGlobal(point)
        QApplication.sendEvent(panel.scrubber, QHelpEvent(QEvent.Type.ToolTip, point, on_screen))
    tips = [w for w in QApplication.topLevelWidgets() if w.metaObject().className() == "QTipLabel" and w.isVisible()]
    assert tips
    assert all(tip.geometry().bottom() < panel.scrubber.mapToGlobal(QPoint(0, 0)).y() for tip in tips)
    QToolTip.hideText()
