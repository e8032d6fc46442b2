"""A view of rows of one height that paints what is visible: a hundred million rows scroll like ten."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QRectF, QSignalBlocker, Qt, Slot
from PySide6.QtGui import (
    QFocusEvent,
    QHelpEvent,
    QHideEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QResizeEvent,
    QShowEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QToolTip

from bpe_viz.gui.look import Look
from bpe_viz.gui.theme import Role
from bpe_viz.gui.tooltips import plain_tooltip

MARGIN = 8
ROW_RADIUS = 4
RING = 1.5
ROWS_A_NOTCH = 3
LONGEST_BAR = 1 << 30
"""Qt's scroll bars count to 2**31: beyond this many pixels one step of the bar is more than one pixel."""

_NOTCH = 120

_MOVES: dict[Qt.Key, Callable[[RowView, int], int]] = {
    Qt.Key.Key_Up: lambda view, row: row - 1,
    Qt.Key.Key_Down: lambda view, row: row + 1,
    Qt.Key.Key_PageUp: lambda view, row: row - view.rows_a_page,
    Qt.Key.Key_PageDown: lambda view, row: row + view.rows_a_page,
    Qt.Key.Key_Home: lambda view, row: 0,
    Qt.Key.Key_End: lambda view, row: view.row_count - 1,
}


class RowView(QAbstractScrollArea):
    """Scrolls by pixels, and knows a current row that the keyboard moves. What a row is, its children say.

    own_keys: keys beside the moving ones that a child uses, so that no shortcut of the window takes them
    """

    own_keys: frozenset[Qt.Key] = frozenset({Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space})

    def __init__(self, look: Look) -> None:
        super().__init__()
        self.look = look
        self._n_rows = 0
        self._offset = 0
        self._pixels_a_step = 1
        self._row_height = self.height_of_row()
        self._current: int | None = None
        self._mouse: QPointF | None = None
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setBackgroundRole(QPalette.ColorRole.Base)
        self.setAutoFillBackground(True)
        self.viewport().setMouseTracking(True)
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        look.changed.connect(self._fit_look)

    # --- what a child says ---

    def height_of_row(self) -> int:
        """Return the height of every row for the look as it is."""
        return self.look.row_height

    def paint_row(self, painter: QPainter, row: int, box: QRect) -> None:
        """Paint one row into its box, which is as wide as the view."""

    def empty_text(self) -> str:
        """Return what is said when there is no row."""
        return ""

    def point(self, row: int | None, x: float) -> None:
        """Show everywhere what is under the mouse; row: None where there is none."""

    def press(self, row: int, x: float) -> None:
        """Do what a click there means."""

    def press_current(self) -> None:
        """Do what Enter or Space means at the current row."""

    def tooltip_at(self, row: int, x: float) -> str:
        """Return plain text, empty for no tooltip."""
        return ""

    def current_moved(self) -> None:
        """Follow the keyboard: another row is current."""

    def visible_rows_changed(self) -> None:
        """Follow scrolling, resizing, showing and hiding."""

    # --- rows ---

    @property
    def row_count(self) -> int:
        """How many rows there are."""
        return self._n_rows

    def set_row_count(self, n_rows: int, repaint: bool = True) -> None:
        """Show so many rows; the offset stays where it can."""
        self._n_rows = n_rows
        if self._current is not None and self._current >= n_rows:
            self._current = n_rows - 1 if n_rows else None
        self._fit_bar()
        if repaint:
            self.viewport().update()

    @property
    def offset(self) -> int:
        """How many pixels are scrolled away above the view."""
        return self._offset

    @property
    def rows_a_page(self) -> int:
        """How many whole rows fit."""
        return max(1, (self.viewport().height() - self._margin) // self._row_height)

    @property
    def visible_rows(self) -> range:
        """The rows that are at least partly in view."""
        if not self.isVisible():
            return range(0)
        top = self._offset - self._margin
        first = max(0, top // self._row_height)
        end = -(-(top + self.viewport().height()) // self._row_height)
        return range(min(first, self._n_rows), max(0, min(end, self._n_rows)))

    @property
    def current(self) -> int | None:
        """The row that the keyboard is at."""
        return self._current

    def set_current(self, row: int | None) -> None:
        """Move the keyboard's row and bring it into view."""
        if row is not None:
            self.bring_into_view(row)
        if row != self._current:
            self._current = row
            self.current_moved()
        self.viewport().update()

    def row_box(self, row: int) -> QRect:
        """Return where a row is, in the viewport; far above or below it if it is not visible."""
        y = self._margin + row * self._row_height - self._offset
        y = max(-LONGEST_BAR, min(y, LONGEST_BAR))
        return QRect(0, y, self.viewport().width(), self._row_height)

    def row_at(self, y: float) -> int | None:
        """Return the row at a height of the viewport."""
        row = (int(y) + self._offset - self._margin) // self._row_height
        return row if 0 <= row < self._n_rows else None

    # --- scrolling ---

    def scroll_to(self, offset: int) -> None:
        """Scroll so many pixels away above the view."""
        offset = max(0, min(offset, self._most_offset))
        if offset == self._offset:
            return
        self._offset = offset
        with QSignalBlocker(self.verticalScrollBar()):
            self.verticalScrollBar().setValue(self._bar_value(offset))
        self._scrolled()

    def bring_into_view(self, row: int, spare: int = 0) -> None:
        """Scroll no further than needed to see a row and so many beside it."""
        top = self._margin + row * self._row_height
        above = top - spare * self._row_height - (self._margin if row <= spare else 0)
        below = top + (spare + 1) * self._row_height - self.viewport().height()
        if above < self._offset:
            self.scroll_to(above)
        elif below > self._offset:
            self.scroll_to(below)

    def bring_into_middle(self, row: int) -> None:
        """Scroll so that a row is in the middle third, unless it is there already."""
        middle = self._margin + row * self._row_height + self._row_height // 2
        height = self.viewport().height()
        if not height / 3 <= middle - self._offset <= 2 * height / 3:
            self.scroll_to(middle - height // 2)

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        """Follow the scroll bar."""
        value = self.verticalScrollBar().value()
        if value == self._bar_value(self._offset):
            return
        self._offset = min(value * self._pixels_a_step, self._most_offset)
        self._scrolled()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scroll by pixels where the device tells them, else by rows. Zooming is the window's."""
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            event.ignore()
            return
        pixels = event.pixelDelta().y()
        if not pixels:
            pixels = event.angleDelta().y() * ROWS_A_NOTCH * self._row_height // _NOTCH
        if pixels:
            self.scroll_to(self._offset - pixels)
        event.accept()

    @property
    def _margin(self) -> int:
        return self.look.px(MARGIN)

    @property
    def _most_offset(self) -> int:
        height = self._n_rows * self._row_height + 2 * self._margin
        return max(0, height - self.viewport().height()) if self._n_rows else 0

    def _bar_value(self, offset: int) -> int:
        return -(-offset // self._pixels_a_step)

    def _fit_bar(self) -> None:
        most, bar = self._most_offset, self.verticalScrollBar()
        self._pixels_a_step = most // LONGEST_BAR + 1
        self._offset = min(self._offset, most)
        with QSignalBlocker(bar):
            bar.setRange(0, self._bar_value(most))
            bar.setValue(self._bar_value(self._offset))
        bar.setPageStep(max(1, self.viewport().height() // self._pixels_a_step))
        bar.setSingleStep(max(1, self._row_height // self._pixels_a_step))
        # Blocked signals keep the scroll area from noticing that its bar has come or gone.
        is_needed = most > 0
        policy = Qt.ScrollBarPolicy.ScrollBarAlwaysOn if is_needed else Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        self.setVerticalScrollBarPolicy(policy)
        self.visible_rows_changed()

    def _scrolled(self) -> None:
        self.viewport().update()
        self.visible_rows_changed()
        if self._mouse is not None:
            self._point_at(self._mouse)

    @Slot()
    def _fit_look(self) -> None:
        first_row = self._offset / self._row_height
        self._row_height = self.height_of_row()
        self._offset = round(first_row * self._row_height)
        self._fit_bar()
        self.viewport().update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the offset where it can be kept."""
        super().resizeEvent(event)
        self._fit_bar()

    def showEvent(self, event: QShowEvent) -> None:
        """Ask for the rows in view."""
        super().showEvent(event)
        self._fit_bar()

    def hideEvent(self, event: QHideEvent) -> None:
        """Ask for nothing more."""
        super().hideEvent(event)
        self.visible_rows_changed()

    # --- painting ---

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the rows that are to be painted anew."""
        painter = QPainter(self.viewport())
        # An error in a row must not leave the painter open: Qt would abort the program.
        try:
            # Where a figure is painted into a file, nothing else keeps a row inside.
            painter.setClipRect(self.viewport().rect())
            painter.fillRect(event.rect(), self.look.brush("panel"))
            if self._n_rows == 0:
                self._paint_words(painter, self.empty_text())
            for row in self.visible_rows:
                box = self.row_box(row)
                if box.intersects(event.rect()):
                    self.paint_row(painter, row, box)
        finally:
            painter.end()

    def _paint_words(self, painter: QPainter, text: str) -> None:
        side = self.look.px(16)
        room = self.viewport().rect().adjusted(side, side, -side, -side)
        painter.setFont(self.look.ui_font())
        painter.setPen(self.look.pen("dim"))
        flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
        painter.drawText(room, int(flags), text)

    def paint_ground(self, painter: QPainter, box: QRect, fill: Role | None, ring: bool = False) -> None:
        """Paint what lies behind a row: a fill, and a ring around the row that has the keyboard."""
        half = RING / 2
        side = self.look.px(4)
        ground = QRectF(box).adjusted(side + half, half, -side - half, -half)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(self.look.pen("next", RING) if ring else Qt.PenStyle.NoPen)
        painter.setBrush(self.look.brush(fill) if fill else Qt.BrushStyle.NoBrush)
        radius = self.look.px(ROW_RADIUS)
        painter.drawRoundedRect(ground, radius, radius)
        painter.restore()

    # --- mouse and keyboard ---

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Point at what is under the mouse."""
        self._mouse = event.position()
        self._point_at(event.position())

    def _point_at(self, place: QPointF) -> None:
        self.point(self.row_at(place.y()), place.x())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Do what a click means."""
        row = self.row_at(event.position().y())
        if event.button() != Qt.MouseButton.LeftButton or row is None:
            event.ignore()
            return
        self.set_current(row)
        self.press(row, event.position().x())

    def viewportEvent(self, event: QEvent) -> bool:
        """Show tooltips, and notice when the mouse leaves."""
        if event.type() == QEvent.Type.Leave:
            self._mouse = None
            self.point(None, 0)
        elif isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            self._show_tooltip(event.pos(), event.globalPos())
            return True
        return super().viewportEvent(event)

    def _show_tooltip(self, place: QPoint, on_screen: QPoint) -> None:
        row = self.row_at(place.y())
        text = self.tooltip_at(row, place.x()) if row is not None else ""
        if text:
            QToolTip.showText(on_screen, plain_tooltip(text), self.viewport())
        else:
            QToolTip.hideText()

    def event(self, event: QEvent) -> bool:
        """Keep the keys that this view uses from the window's shortcuts."""
        is_asked = event.type() == QEvent.Type.ShortcutOverride
        if is_asked and isinstance(event, QKeyEvent) and self._uses(event):
            event.accept()
            return True
        return super().event(event)

    def _uses(self, event: QKeyEvent) -> bool:
        is_plain = event.modifiers() in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier)
        return is_plain and (event.key() in _MOVES or event.key() in self.own_keys)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move the current row, or press it; all other keys are the window's."""
        if not self._uses(event):
            event.ignore()
            return
        key = Qt.Key(event.key())
        if key in _MOVES and self._n_rows:
            start = self._current if self._current is not None else self._before_first_key(key)
            self.set_current(max(0, min(_MOVES[key](self, start), self._n_rows - 1)))
        elif key not in _MOVES and self._current is not None:
            self.press_current()

    def _before_first_key(self, key: Qt.Key) -> int:
        first = self.visible_rows.start
        return first - 1 if key == Qt.Key.Key_Down else first

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show the ring around the current row."""
        super().focusInEvent(event)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Hide the ring."""
        super().focusOutEvent(event)
        self.viewport().update()
