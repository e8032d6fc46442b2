"""Where the panels stand: docks that can be moved, floated, hidden and put back."""

from __future__ import annotations

from itertools import pairwise

from PySide6.QtCore import QPoint, QRectF, Qt, Slot
from PySide6.QtGui import QAction, QPainter, QPaintEvent
from PySide6.QtWidgets import QDockWidget, QMainWindow, QMenu, QVBoxLayout, QWidget

from bpe_viz.gui.look import Look
from bpe_viz.gui.panel import Panel, PanelSpec
from bpe_viz.gui.panels import panels
from bpe_viz.gui.workspace import Workspace

LAYOUT_VERSION = 1
"""Raise it when panels come, go or change places: a remembered layout of another version is forgotten."""

_TOP_SHARE = 62  # percent of the height that the top row takes; the bottom panels share the rest


class Dock(QDockWidget):
    """A panel in its dock: one thin rounded line around heading and body."""

    def __init__(self, panel: Panel, spec: PanelSpec, look: Look, parent: QWidget) -> None:
        super().__init__(spec.title, parent)
        self.setObjectName(spec.name)
        self.panel = panel
        self._look = look
        self._frame = _Frame(panel, look)
        self.setWidget(self._frame)
        self.setFeatures(
            QDockWidget.DockWidgetFeature.DockWidgetMovable
            | QDockWidget.DockWidgetFeature.DockWidgetFloatable
            | QDockWidget.DockWidgetFeature.DockWidgetClosable
        )
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._show_menu)
        # The heading stands inside the frame; the dock's own title bar would draw a second line around it.
        self._bar = QWidget()
        self._bar.setFixedHeight(0)
        self.setTitleBarWidget(self._bar)
        self.topLevelChanged.connect(self._show_system_frame)

    @Slot(bool)
    def _show_system_frame(self, floating: bool) -> None:
        # A floating dock without a title bar could not be moved or closed.
        self.setTitleBarWidget(None if floating else self._bar)  # type: ignore[arg-type]  # None is documented

    @Slot(QPoint)
    def _show_menu(self, place: QPoint) -> None:
        menu = QMenu(self)
        menu.addAction("Dock" if self.isFloating() else "Float").triggered.connect(
            lambda: self.setFloating(not self.isFloating())
        )
        menu.addAction("Hide").triggered.connect(self.hide)
        menu.exec(self.mapToGlobal(place))


class _Frame(QWidget):
    """Draws the line and the fill behind heading and body."""

    def __init__(self, panel: Panel, look: Look) -> None:
        super().__init__()
        self._look = look
        self._panel = panel
        column = QVBoxLayout(self)
        column.setContentsMargins(1, 1, 1, 1)
        column.setSpacing(0)
        if panel.has_heading:
            column.addWidget(panel.heading)
        column.addWidget(panel, 1)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the frame, and the line below the heading."""
        look = self._look
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(look.pen("line"))
        painter.setBrush(look.brush("panel"))
        radius = look.px(6)
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), radius, radius)
        if self._panel.has_heading:
            y = self._panel.heading.geometry().bottom() + 0.5
            painter.drawLine(0, round(y), self.width(), round(y))


class Docks:
    """All panels of one window."""

    def __init__(self, window: QMainWindow, workspace: Workspace, look: Look) -> None:
        self.specs = panels()
        self._window = window
        self._docks: dict[str, Dock] = {}
        window.setDockNestingEnabled(True)
        window.setDockOptions(QMainWindow.DockOption.AllowNestedDocks | QMainWindow.DockOption.AllowTabbedDocks)
        for spec in self.specs:
            self._docks[spec.name] = Dock(spec.make(workspace, look), spec, look, window)
        self._arrange()

    def dock(self, name: str) -> Dock:
        """Return a panel's dock. Raises KeyError."""
        return self._docks[name]

    def panel(self, name: str) -> Panel:
        """Return a panel. Raises KeyError."""
        return self._docks[name].panel

    def focus(self, name: str) -> None:
        """Show a panel and give it the keys."""
        dock = self._docks[name]
        dock.show()
        dock.raise_()
        dock.panel.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def activate(self, name: str) -> None:
        """Show a panel and give the keys to its field: see Panel.activate."""
        dock = self._docks[name]
        dock.show()
        dock.raise_()
        dock.panel.activate()

    def focus_next(self) -> None:
        """Give the keys to the panel after the one that has them, in the order of the layout."""
        shown = [spec.name for spec in self.specs if self._docks[spec.name].isVisible()]
        focused = self._window.focusWidget()
        has_it = next(
            (i for i, name in enumerate(shown) if focused is not None and self._docks[name].isAncestorOf(focused)),
            -1,
        )
        if shown:
            self.focus(shown[(has_it + 1) % len(shown)])

    def toggle_actions(self) -> list[QAction]:
        """Return an action for each panel that shows or hides it."""
        return [self._docks[spec.name].toggleViewAction() for spec in self.specs]

    def restore_default(self) -> None:
        """Put all panels where they stood at first."""
        for dock in self._docks.values():
            self._window.removeDockWidget(dock)
            dock.setFloating(False)
        self._arrange()
        for dock in self._docks.values():
            dock.show()
        self._share_room()

    def _arrange(self) -> None:
        """Top row from left to right, the others below it, one below the other."""
        top = [self._docks[spec.name] for spec in self.specs if spec.place == "top"]
        bottom = [self._docks[spec.name] for spec in self.specs if spec.place == "bottom"]
        above: Dock | None = None
        for dock in (*top[:1], *bottom):
            if above is None:
                self._window.addDockWidget(Qt.DockWidgetArea.TopDockWidgetArea, dock)
            else:
                self._window.splitDockWidget(above, dock, Qt.Orientation.Vertical)
            above = dock
        for left, right in pairwise(top):
            self._window.splitDockWidget(left, right, Qt.Orientation.Horizontal)

    def _share_room(self) -> None:
        top = [spec for spec in self.specs if spec.place == "top"]
        bottom = [spec for spec in self.specs if spec.place == "bottom" and spec.stretch]
        self._window.resizeDocks(
            [self._docks[spec.name] for spec in top],
            [spec.stretch * self._window.width() // 100 for spec in top],
            Qt.Orientation.Horizontal,
        )
        height = self._window.height()
        rest = height * (100 - _TOP_SHARE) // 100
        fixed = sum(
            self._docks[spec.name].sizeHint().height()
            for spec in self.specs
            if spec.place == "bottom" and not spec.stretch
        )
        lower = [self._docks[spec.name] for spec in bottom]
        self._window.resizeDocks(
            [self._docks[top[0].name], *lower],
            [height - rest, *[max(80, rest - fixed)] * len(lower)],
            Qt.Orientation.Vertical,
        )
