"""The window keeps its size whatever the zoom, and panels that were moved come back."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel

from bpe_viz.gui.application import make_application, make_window
from bpe_viz.gui.window import Window


@pytest.fixture
def window(qtbot, look, settings):
    """A shown window on the worked example."""
    make_application()
    window = make_window(settings, look)
    qtbot.addWidget(window)
    window.resize(1280, 800)
    window.show()
    window.open_example()
    qtbot.waitUntil(lambda: window.workspace.is_settled and window.workspace.frontier == 7)
    qtbot.wait(50)
    yield window
    window.close()


def sizes(window: Window) -> dict[str, tuple[int, int]]:
    return {spec.name: window.docks.dock(spec.name).size().toTuple() for spec in window.docks.specs}


def zoom_to(qtbot, window: Window, zoom: float) -> None:
    while abs(window.look.zoom - zoom) > 0.01:
        before = window.look.zoom
        window.zoom(1 if window.look.zoom < zoom else -1)
        if (window.look.zoom - zoom) * (before - zoom) < 0:
            break
    qtbot.wait(50)


class TestZoom:
    @pytest.mark.parametrize("size", [(1280, 800), (2560, 1440)])
    def test_the_window_never_grows_and_normal_type_brings_all_sizes_back(self, qtbot, window, size):
        window.resize(*size)
        qtbot.wait(50)
        before = sizes(window)
        for zoom in (0.6, 1.6, 2.5, 3):
            zoom_to(qtbot, window, zoom)
            assert window.size().toTuple() == size
            for spec in window.docks.specs:
                dock = window.docks.dock(spec.name)
                assert window.rect().contains(dock.geometry()), (zoom, spec.name)
        window.actions_table.run("normal")
        qtbot.wait(50)
        assert window.size().toTuple() == size
        assert sizes(window) == before

    @pytest.mark.parametrize("zoom", [1, 1.6, 2.5, 3])
    def test_every_control_of_the_corpus_bar_is_in_sight_below_the_others(self, qtbot, window, zoom):
        zoom_to(qtbot, window, zoom)
        bar = window.bar
        for button in (bar.brand, bar.corpus, bar.pretokenizer, bar.base, bar.end_of_word, bar.rule, bar.more):
            assert bar.rect().contains(button.geometry())
            assert button.width() >= button.sizeHint().width()


class TestDefaultLayout:
    def test_it_brings_back_floating_hidden_tabbed_and_moved_panels(self, qtbot, window):
        docks, before = window.docks, sizes(window)
        docks.dock("merge_list").setFloating(True)
        docks.dock("encode").hide()
        window.tabifyDockWidget(docks.dock("histogram"), docks.dock("word_splits"))
        window.addDockWidget(Qt.DockWidgetArea.BottomDockWidgetArea, docks.dock("timeline"))
        qtbot.wait(50)
        window.actions_table.run("default-layout")
        qtbot.wait(50)
        assert not any(docks.dock(spec.name).isFloating() for spec in docks.specs)
        assert all(docks.dock(spec.name).isVisible() for spec in docks.specs)
        assert not window.tabifiedDockWidgets(docks.dock("histogram"))
        assert sizes(window) == before


class TestFloating:
    def test_plain_keys_step_and_escape_gives_the_keys_back(self, qtbot, window):
        dock = window.docks.dock("histogram")
        dock.setFloating(True)
        qtbot.waitUntil(dock.isVisible)
        dock.panel.setFocus()
        qtbot.keyClick(dock, Qt.Key.Key_Right)
        assert window.workspace.position == 1
        qtbot.keyClick(dock, Qt.Key.Key_Escape)
        assert window.docks.dock("timeline").isAncestorOf(window.focusWidget())

    def test_the_title_is_said_once(self, window):
        dock = window.docks.dock("histogram")
        titles = [label for label in dock.panel.heading.findChildren(QLabel) if label.text() == dock.windowTitle()]
        assert [title.isVisibleTo(dock) for title in titles] == [True]
        dock.setFloating(True)
        assert [title.isVisibleTo(dock) for title in titles] == [False]
        dock.setFloating(False)
        assert [title.isVisibleTo(dock) for title in titles] == [True]


def test_the_first_window_fits_the_screen(window, settings, look, qtbot):
    again = make_window(settings, look)
    qtbot.addWidget(again)
    room = again.screen().availableSize()
    assert again.width() <= 0.95 * room.width()
    assert again.height() <= 0.95 * room.height()
    again.close()


def test_f6_shows_at_every_press_where_the_focus_is(qtbot, window):
    window.actions_table.run("leave")
    seen = []
    for _ in range(2 * len(window.docks.specs)):
        window.actions_table.run("next-panel")
        focused = window.focusWidget()
        ringed = [spec.name for spec in window.docks.specs if window.docks.dock(spec.name).frame.has_ring]
        assert len(ringed) == 1
        assert window.docks.dock(ringed[0]).isAncestorOf(focused)
        seen += ringed
    assert set(seen) == {spec.name for spec in window.docks.specs}
    window.actions_table.run("leave")
    assert not any(
        window.docks.dock(spec.name).frame.has_ring for spec in window.docks.specs if spec.name != "timeline"
    )


def test_panels_are_shown_and_hidden_by_actions(window):
    for spec in window.docks.specs:
        dock = window.docks.dock(spec.name)
        assert window.actions_table.run(f"panel-{spec.name}")
        assert dock.isHidden()
        assert window.actions_table.run(f"panel-{spec.name}")
        assert not dock.isHidden()


def test_qt_says_nothing_of_scripts_without_fonts(window):
    from PySide6.QtCore import QLoggingCategory

    assert isinstance(QApplication.instance(), QApplication)
    assert not QLoggingCategory("qt.text.font.db").isWarningEnabled()


def test_the_key_sheet_needs_no_scrolling(qtbot, window):
    from PySide6.QtWidgets import QScrollArea

    from bpe_viz.gui.action_lists import KeySheet

    sheet = KeySheet(window.actions_table, window)
    qtbot.addWidget(sheet)
    sheet.show()
    area = sheet.findChild(QScrollArea)
    assert sheet.width() <= 1280 * 0.95
    assert sheet.height() <= 800 * 0.95
    assert area.verticalScrollBar().maximum() == area.horizontalScrollBar().maximum() == 0
