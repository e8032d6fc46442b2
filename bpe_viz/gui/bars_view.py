"""The bars: the most frequent pairs, each with its count, what changed, and what is merged next."""

from __future__ import annotations

import time
from functools import partial

from PySide6.QtCore import QAbstractAnimation, QEasingCurve, QEvent, QRect, QRectF, QSize, Qt, QVariantAnimation, Slot
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QMenu, QToolTip, QWidget

from bpe_viz.engine.types import Frame, Pair
from bpe_viz.gui.bar_painter import BarPainter, Place
from bpe_viz.gui.bar_rows import BarRow, bar_rows, describe, describe_tie, is_pointed_at, why_empty, words_with
from bpe_viz.gui.focus_ring import came_by_keys, paint_focus_ring
from bpe_viz.gui.look import Look
from bpe_viz.gui.selection import Selection
from bpe_viz.gui.shown_state import NO_BRANCH_REMEDY
from bpe_viz.gui.tooltips import plain_tooltip
from bpe_viz.gui.workspace import Workspace

SLIDE_MILLISECONDS = 120
FASTEST_SLIDE = 4.0
"""Merges a second above which rows do not slide: they would never arrive."""

DEFAULT_TOP = 20
ROWS_AT_ONCE = 10  # rows are asked for in so many, so that dragging the panel's edge asks seldom

_OWN_KEYS = frozenset(
    {
        Qt.Key.Key_Up,
        Qt.Key.Key_Down,
        Qt.Key.Key_Home,
        Qt.Key.Key_End,
        Qt.Key.Key_PageUp,
        Qt.Key.Key_PageDown,
    }
)


class BarsView(QAbstractScrollArea):
    """Draws the frame's top pairs as bars; up and down select a pair, so does a click; a double click merges it."""

    def __init__(self, workspace: Workspace, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._look = look
        self._frame: Frame | None = None
        self._rows: tuple[BarRow, ...] = ()
        self._row_of: dict[Pair, int] = {}
        self._came_from: dict[Pair, Place] = {}
        self._last_frame_at = 0.0
        self._shows_focus = False
        self._top = DEFAULT_TOP
        self._painter = BarPainter(look)
        self._slide = QVariantAnimation(self)
        self._slide.setStartValue(0.0)
        self._slide.setEndValue(1.0)
        self._slide.setDuration(SLIDE_MILLISECONDS)
        self._slide.setEasingCurve(QEasingCurve.Type.OutCubic)
        self._slide.valueChanged.connect(self._repaint)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Pair counts as bars")
        self.viewport().setMouseTracking(True)
        workspace.selection_changed.connect(self._show_selection)
        workspace.corpus_changed.connect(self._forget)
        look.changed.connect(self._fit_look)

    # --- what is shown ---

    def rows(self) -> tuple[BarRow, ...]:
        """Return what the bars show, best first."""
        return self._rows

    @property
    def top(self) -> int:
        """How many pairs the user wants at least; as many as fit are always shown."""
        return self._top

    def set_top(self, top: int) -> None:
        """Show so many pairs, or as many as fit if that is more."""
        self._top = top
        self._watch()

    @property
    def is_sliding(self) -> bool:
        """Whether rows are on their way to their new places."""
        return self._slide.state() is QAbstractAnimation.State.Running

    @property
    def selected_pair(self) -> Pair | None:
        """The selected pair, if a pair is selected."""
        return self._workspace.selection.pair if self._workspace.selection else None

    def show_frame(self, frame: Frame) -> None:
        """Draw another frame; rows slide to their new places if the one before was shown long enough."""
        now = time.monotonic()
        slides = self._may_slide(frame, now - self._last_frame_at)
        self._came_from = self._places() if slides else {}
        self._slide.stop()
        self._last_frame_at = now
        self._frame = frame
        self._rows = bar_rows(frame)
        self._row_of = {row.pair: i for i, row in enumerate(self._rows)}
        self._painter.measure(self._rows)
        if slides:
            self._slide.start()
        self._fit_scroll_bar()
        self._describe()
        self.viewport().update()

    def row_rect(self, pair: Pair) -> QRect | None:
        """Return where a pair's row is in the viewport once it has arrived; None if it is not shown."""
        if pair not in self._row_of:
            return None
        height = self._painter.row_height
        y = self._painter.top_margin + self._row_of[pair] * height - self.verticalScrollBar().value()
        return QRect(0, y, self.viewport().width(), height)

    def label_edges(self, row: BarRow) -> tuple[float, float, str]:
        """Return where a row's label begins and ends, and what it shows."""
        return self._painter.label_edges(row)

    def tooltip(self, row: BarRow) -> str:
        """Return what a row says when the mouse rests on it, as plain text."""
        lines = describe(row).split("; ")
        if self._frame is not None and row.mark != "plain":
            lines += filter(None, [describe_tie(self._frame, self._workspace.options.training)])
        corpus = self._workspace.corpus
        if self._frame is not None and corpus is not None:
            words = words_with(row.pair, self._frame, corpus)
            lines += ["In: " + ",  ".join(words)] if words else []
        if row.mark != "next":
            lines.append(self._workspace.why_no_branch or "Double click, or M: merge it instead")
        return "\n".join(lines)

    # --- events ---

    def sizeHint(self) -> QSize:
        """Ask for room for some rows."""
        return QSize(self._look.px(360), self._painter.row_height * 12)

    def event(self, event: QEvent) -> bool:
        """Keep the keys that move the selection from the window's shortcuts."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and _is_own(event):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move the selection; all other keys are the window's."""
        if not _is_own(event) or not self._rows:
            event.ignore()
            return
        page = max(1, self.viewport().height() // self._painter.row_height - 1)
        last = len(self._rows) - 1
        selected = self.selected_pair
        at = self._row_of.get(selected, -1) if selected is not None else -1
        target = {
            Qt.Key.Key_Up: at - 1,
            Qt.Key.Key_Down: at + 1,
            Qt.Key.Key_PageUp: at - page,
            Qt.Key.Key_PageDown: at + page,
            Qt.Key.Key_Home: 0,
            Qt.Key.Key_End: last,
        }[Qt.Key(event.key())]
        row = self._rows[max(0, min(target, last))]
        self._workspace.select(Selection(pair=row.pair))
        self._keep_in_sight(row.pair)

    def viewportEvent(self, event: QEvent) -> bool:
        """Show tooltips, and point at nothing when the mouse has left."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            row = self._row_at(event.pos().y())
            if row is None:
                QToolTip.hideText()
            else:
                area = self.row_rect(row.pair) or QRect()
                QToolTip.showText(event.globalPos(), plain_tooltip(self.tooltip(row)), self.viewport(), area)
            return True
        if event.type() == QEvent.Type.Leave:
            self._workspace.hover(None)
        return super().viewportEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Point at the pair under the mouse."""
        row = self._row_at(round(event.position().y()))
        self._workspace.hover(Selection(pair=row.pair) if row else None)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Select the pair under the mouse; a click beside the bars selects nothing."""
        if event.button() == Qt.MouseButton.LeftButton:
            row = self._row_at(round(event.position().y()))
            self._workspace.select(Selection(pair=row.pair) if row else None)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Merge the pair under the mouse, whatever the rule says."""
        row = self._row_at(round(event.position().y()))
        if event.button() == Qt.MouseButton.LeftButton and row is not None:
            self._workspace.branch(row.pair)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer to merge the pair under the mouse; by keyboard, the selected one."""
        by_mouse = event.reason() == QContextMenuEvent.Reason.Mouse
        selected = self._row_of.get(self.selected_pair) if self.selected_pair is not None else None
        row = self._row_at(event.pos().y()) if by_mouse else None if selected is None else self._rows[selected]
        if row is None:
            return
        menu = self.menu_of(row)
        area = self.row_rect(row.pair) or QRect()
        menu.popup(event.globalPos() if by_mouse else self.viewport().mapToGlobal(area.center()))

    def menu_of(self, row: BarRow) -> QMenu:
        """Return the context menu of a row, which deletes itself when it closes."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        label = row.label.replace("&", "&&")
        title = f"Merge {label}" if row.mark == "next" else f"Merge {label} instead"
        action = menu.addAction(title, partial(self._workspace.branch, row.pair))
        why_not = None if row.mark == "next" else self._workspace.why_no_branch
        if why_not is not None:
            action.setEnabled(False)
            action.setToolTip(plain_tooltip(f"{why_not} {NO_BRANCH_REMEDY}"))
            menu.setToolTipsVisible(True)
        return menu

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show a ring if keys brought the focus here."""
        self._shows_focus = came_by_keys(event)
        super().focusInEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Take the ring away."""
        self._shows_focus = False
        super().focusOutEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Ask for as many rows as fit."""
        super().resizeEvent(event)
        self._fit_scroll_bar()
        self._watch()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scroll; with Ctrl the window zooms."""
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            event.ignore()
        else:
            super().wheelEvent(event)

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        """Paint anew: what is outside is never drawn."""
        self.viewport().update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the rows in sight."""
        painter, area = QPainter(self.viewport()), self.viewport().rect()
        # Where a figure is painted into a file, nothing else keeps a row inside.
        painter.setClipRect(area)
        painter.fillRect(area, self._look.brush("panel"))
        if not self._rows:
            self._painter.paint_note(painter, area, why_empty(self._frame, self._workspace.options.training))
        else:
            self._paint_rows(painter)
        if self._shows_focus:
            paint_focus_ring(painter, self._look, QRectF(area))
        painter.end()

    def _paint_rows(self, painter: QPainter) -> None:
        frame, bottom = self._frame, self.viewport().height()
        assert frame is not None  # there are rows only with a frame
        pointed_at, selected = self._workspace.pointed_at, self.selected_pair
        self._painter.begin(painter, self.viewport().width())
        for row, place in zip(self._rows, self._places().values(), strict=True):
            if -self._painter.row_height < place.y < bottom:
                shade = is_pointed_at(row.pair, pointed_at, frame) or row.pair == selected
                self._painter.paint_row(painter, row, place, is_shaded=shade)

    # --- places ---

    def _places(self) -> dict[Pair, Place]:
        """Return where each row is now, on its way or arrived."""
        height, y = self._painter.row_height, self._painter.top_margin - self.verticalScrollBar().value()
        done = float(self._slide.currentValue()) if self.is_sliding else 1.0
        places = {}
        for row in self._rows:
            goal = Place(y, self._painter.share(row.count), 1.0)
            places[row.pair] = goal if done == 1.0 else self._on_the_way(row.pair, goal, done)
            y += height
        return places

    def _on_the_way(self, pair: Pair, goal: Place, done: float) -> Place:
        start = self._came_from.get(pair, Place(goal.y, 0.0, 0.0))
        return Place(*(a + (b - a) * done for a, b in zip(start, goal, strict=True)))

    def _may_slide(self, frame: Frame, shown_for: float) -> bool:
        before = self._frame
        is_fast = self._workspace.player.is_playing and self._workspace.player.speed > FASTEST_SLIDE
        return (
            before is not None
            and self.isVisible()
            and before.symbols.base is frame.symbols.base
            and abs(frame.position - before.position) == 1
            and shown_for > 1 / FASTEST_SLIDE - 0.03
            and not is_fast
        )

    def _row_at(self, y: int) -> BarRow | None:
        at = y + self.verticalScrollBar().value() - self._painter.top_margin
        number = at // self._painter.row_height
        return self._rows[number] if 0 <= number < len(self._rows) else None

    def _keep_in_sight(self, pair: Pair) -> None:
        area = self.row_rect(pair)
        if area is None:
            return
        bar, margin = self.verticalScrollBar(), self._painter.top_margin
        if area.top() < margin:
            bar.setValue(bar.value() + area.top() - margin)
        elif area.bottom() > self.viewport().height() - margin:
            bar.setValue(bar.value() + area.bottom() - self.viewport().height() + margin)

    def _fit_scroll_bar(self) -> None:
        height, bar = self.viewport().height(), self.verticalScrollBar()
        content = len(self._rows) * self._painter.row_height + 2 * self._painter.top_margin
        bar.setPageStep(height)
        bar.setSingleStep(self._painter.row_height)
        bar.setRange(0, max(0, content - height))

    def _watch(self) -> None:
        fitting = -(-self.viewport().height() // self._painter.row_height)
        self._workspace.watch_pairs(max(self._top, -(-fitting // ROWS_AT_ONCE) * ROWS_AT_ONCE))

    # --- changes from outside ---

    @Slot()
    def _repaint(self) -> None:
        self.viewport().update()

    @Slot(object)
    def _show_selection(self, _: Selection | None) -> None:
        self._describe()
        self.viewport().update()

    @Slot(object)
    def _forget(self, _: object) -> None:
        self._frame, self._rows, self._row_of = None, (), {}
        self._painter.forget()
        self._fit_scroll_bar()
        self.viewport().update()

    @Slot()
    def _fit_look(self) -> None:
        self._painter = BarPainter(self._look)
        self._painter.measure(self._rows)
        self._fit_scroll_bar()
        self._watch()
        self.viewport().update()

    def _describe(self) -> None:
        """Say for a screen reader what is selected, and what the marks show."""
        selected = self.selected_pair
        said: list[str] = []
        if selected in self._row_of:
            said.append("Selected: " + describe(self._rows[self._row_of[selected]]))
        said += [describe(row) for row in self._rows if row.mark == "next"]
        if tied := sum(row.mark == "tied" for row in self._rows):
            said.append(f"Tied with it, but not the winner: {tied:,} of the pairs shown")
        if not self._rows:
            said = [why_empty(self._frame, self._workspace.options.training)]
        self.setAccessibleDescription(". ".join(said))


def _is_own(event: QKeyEvent) -> bool:
    plain = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier == Qt.KeyboardModifier.NoModifier
    return plain and event.key() in _OWN_KEYS
