"""Where the panels stand: docks that can be moved, floated, hidden and put back."""

from __future__ import annotations

from itertools import pairwise

from PySide6.QtCore import QByteArray, QCoreApplication, QEvent, QObject, QPoint, QRectF, QSize, Qt, Slot
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QDockWidget, QMainWindow, QMenu, QVBoxLayout, QWidget

from bpe_viz.gui.look import Look
from bpe_viz.gui.panel import Panel, PanelSpec
from bpe_viz.gui.panels import panels
from bpe_viz.gui.workspace import Workspace

LAYOUT_VERSION = 1
"""Raise it when panels come, go or change places: a remembered layout of another version is forgotten."""

_TOP_SHARE = 56  # percent of the height that the top row takes; the bottom panels share the rest
_LEAST_WIDTH = 64  # of a panel, at every zoom
_MOST_SHARE, _LEAST_SHARE = 18, 10  # percent of the window's height that a panel insists on, at most


class Dock(QDockWidget):
    """A panel in its dock: one thin rounded line around heading and body."""

    def __init__(self, panel: Panel, spec: PanelSpec, look: Look, parent: QWidget) -> None:
        super().__init__(spec.title, parent)
        self.setObjectName(spec.name)
        self.panel = panel
        self._window = parent
        self.frame = Frame(panel, look, parent, keeps_height=spec.place == "bottom" and not spec.stretch)
        self.setWidget(self.frame)
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
        # A floating dock without a title bar could not be moved or closed; it says the title, so the heading need not.
        self.setTitleBarWidget(None if floating else self._bar)  # type: ignore[arg-type]  # None is documented
        self.panel.heading.show_title(not floating)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Hand keys that nothing in a floating panel used to the window, as a docked panel does by itself."""
        super().keyPressEvent(event)
        if self.isFloating() and not event.isAccepted():
            QCoreApplication.sendEvent(self._window, event)

    @Slot(QPoint)
    def _show_menu(self, place: QPoint) -> None:
        menu = QMenu(self)
        menu.addAction("Dock" if self.isFloating() else "Float").triggered.connect(
            lambda: self.setFloating(not self.isFloating())
        )
        menu.addAction("Hide").triggered.connect(self.hide)
        menu.exec(self.mapToGlobal(place))


class Frame(QWidget):
    """Draws the line and the fill behind heading and body, and asks for little room, so that no zoom moves the window.

    keeps_height: the panel is as high as its content
    """

    def __init__(self, panel: Panel, look: Look, window: QWidget, *, keeps_height: bool) -> None:
        super().__init__()
        self._look = look
        self._panel = panel
        self._window = window
        self._keeps_height = keeps_height
        self._has_ring = False
        column = QVBoxLayout(self)
        column.setContentsMargins(1, 1, 1, 1)
        column.setSpacing(0)
        if panel.has_heading:
            column.addWidget(panel.heading)
        column.addWidget(panel, 1)
        self.fit_window()

    @property
    def has_ring(self) -> bool:
        """Whether the line shows that the panel has the keys."""
        return self._has_ring

    def show_ring(self, shown: bool) -> None:
        """Draw the line in the colour of the focus, or as always."""
        self._has_ring = shown
        self.update()

    def minimumSizeHint(self) -> QSize:
        """Ask for a heading and a row, or the whole of a panel that keeps its height, while the window has the room."""
        if self._keeps_height:
            return QSize(_LEAST_WIDTH, min(self._height(), self._window.height() * _MOST_SHARE // 100))
        heading = self._panel.heading.height() if self._panel.has_heading else 0
        wanted = heading + 2 * self._look.row_height
        return QSize(_LEAST_WIDTH, min(wanted, self._window.height() * _LEAST_SHARE // 100))

    def fit_window(self) -> None:
        """Ask anew for room: the window or the content has another height."""
        if self._keeps_height:
            self.setMaximumHeight(self._height())
        self.updateGeometry()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The heading may have room for two rows, or no longer."""
        super().resizeEvent(event)
        self._panel.heading.fit_look()

    def event(self, event: QEvent) -> bool:
        """The content may have another height."""
        done = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest and self._keeps_height and self.maximumHeight() != self._height():
            self.fit_window()
        return done

    def _height(self) -> int:
        return self._panel.sizeHint().height() + 2

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the frame, and the line below the heading."""
        look = self._look
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(look.pen("next" if self._has_ring else "line"))
        painter.setBrush(look.brush("panel"))
        radius = look.px(6)
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), radius, radius)
        if self._panel.has_heading:
            painter.setPen(look.pen("line"))
            y = self._panel.heading.geometry().bottom() + 0.5
            painter.drawLine(0, round(y), self.width(), round(y))


class Docks(QObject):
    """All panels of one window."""

    def __init__(self, window: QMainWindow, workspace: Workspace, look: Look) -> None:
        super().__init__(window)
        self.specs = panels()
        self._window = window
        self._docks: dict[str, Dock] = {}
        window.setDockNestingEnabled(True)
        window.setDockOptions(QMainWindow.DockOption.AllowNestedDocks | QMainWindow.DockOption.AllowTabbedDocks)
        for spec in self.specs:
            self._docks[spec.name] = Dock(spec.make(workspace, look), spec, look, window)
        self._arrange()
        self._ringed: Dock | None = None
        self._shares: QByteArray | None = None
        for dock in self._docks.values():
            for signal in (dock.topLevelChanged, dock.dockLocationChanged):
                signal.connect(self.forget_shares)
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.focusChanged.connect(self._follow_focus)

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
        if not dock.isActiveWindow():
            dock.activateWindow()
        dock.panel.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def activate(self, name: str) -> None:
        """Show a panel and give the keys to its field: see Panel.activate."""
        dock = self._docks[name]
        dock.show()
        dock.raise_()
        if not dock.isActiveWindow():
            dock.activateWindow()
        dock.panel.activate()

    def focus_next(self) -> None:
        """Give the keys to the panel after the one that has them, in the order of the layout, and show which it is."""
        shown = [spec.name for spec in self.specs if self._docks[spec.name].isVisible()]
        focused = QApplication.focusWidget() or self._window.focusWidget()
        has_it = next(
            (i for i, name in enumerate(shown) if focused is not None and self._docks[name].isAncestorOf(focused)),
            -1,
        )
        if shown:
            name = shown[(has_it + 1) % len(shown)]
            self.focus(name)
            self._show_ring(self._docks[name])

    def toggle(self, name: str) -> None:
        """Show a panel, or hide it."""
        dock = self._docks[name]
        dock.setVisible(dock.isHidden())
        self.forget_shares()
        if not dock.isHidden():
            dock.raise_()

    def restore_default(self) -> None:
        """Put all panels where they stood at first."""
        for dock in self._docks.values():
            # First: a dock that was removed while it floated would float on.
            dock.setFloating(False)
            self._window.removeDockWidget(dock)
        self._arrange()
        for dock in self._docks.values():
            dock.show()
        self._share_room()
        self.forget_shares()

    # --- room ---

    def fit_window(self) -> None:
        """Let every panel ask anew for room: the window has another height."""
        for dock in self._docks.values():
            dock.frame.fit_window()

    def keep_shares(self) -> None:
        """Remember how the panels share the window, before the zoom squeezes some of them."""
        if self._shares is None:
            self._shares = self._window.saveState()

    def give_shares(self) -> None:
        """Share the window as remembered, as far as the zoom allows it."""
        shares = self._shares
        if shares is None:
            return
        for _ in range(2):  # a heading that breaks into two rows asks for room a second time
            QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest.value)  # None: to all
            self._window.restoreState(shares)
        self._shares = shares

    @Slot()
    def forget_shares(self) -> None:
        """The user has moved something: from now on that is how the panels share the window."""
        self._shares = None

    # --- focus ---

    @Slot(QWidget, QWidget)
    def _follow_focus(self, _: QWidget | None, focused: QWidget | None) -> None:
        if self._ringed is not None and focused is not None and not self._ringed.isAncestorOf(focused):
            self._show_ring(None)

    def _show_ring(self, dock: Dock | None) -> None:
        if self._ringed is not None:
            self._ringed.frame.show_ring(False)
        self._ringed = dock
        if dock is not None:
            dock.frame.show_ring(True)

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
