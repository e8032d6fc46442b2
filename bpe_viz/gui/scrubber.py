"""The scrubber: the whole training as a curve, with the cursor to drag and the breakpoints below."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSize, Qt, Slot
from PySide6.QtGui import (
    QFocusEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPaintEngine,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPixmap,
    QPolygonF,
    QResizeEvent,
)
from PySide6.QtWidgets import QApplication, QSizePolicy, QToolTip, QWidget

from bpe_viz.engine.merge_list import MergeList
from bpe_viz.engine.narration import ARROW, LONGEST_SYMBOL
from bpe_viz.engine.types import Merge
from bpe_viz.gui.focus_ring import came_by_keys, paint_focus_ring
from bpe_viz.gui.fork_mark import WIDTH as FORK_WIDTH
from bpe_viz.gui.fork_mark import paint_fork
from bpe_viz.gui.look import Look
from bpe_viz.gui.symbol_texts import text_of_symbol
from bpe_viz.gui.tooltips import plain_tooltip
from bpe_viz.gui.workspace import Workspace

SIDE, KNOB, TICK = 6, 5, 8
CURVE_WIDTH = 2.0
LONG_STEP = 10
DEPARTURES = 3
_LEAST_WIDTH = 64  # at every zoom: large type must not push the window wider
_CATCH = 5  # a click so many pixels beside a tick still means that tick


def first_departures(merges: MergeList) -> tuple[int, ...]:
    """Return where a timeline goes another way: merges chosen by hand, or where a replayed list first departs."""
    departs = merges.departs()
    return tuple(merges.departures) or ((int(departs.argmax()),) if departs.any() else ())


class Scrubber(QWidget):
    """Shows where the cursor is in the training, and moves it by mouse and keys."""

    def __init__(self, workspace: Workspace, look: Look) -> None:
        super().__init__()
        self._workspace = workspace
        self._look = look
        self._background: tuple[tuple[object, ...], QPixmap] | None = None
        self._hovered_tick: int | None = None
        self._drags = False
        self._shows_focus = False
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("Timeline: position in the training")
        for signal in (
            workspace.frame_changed,
            workspace.frontier_changed,
            workspace.player.breakpoints_changed,
            workspace.encoder.encoding_changed,
        ):
            signal.connect(self.follow)
        look.changed.connect(self.follow)

    # --- what is shown ---

    @property
    def shown_position(self) -> int:
        """Where the cursor is drawn."""
        return self._workspace.position

    @property
    def shade_end(self) -> float:
        """How much of the track is shaded as trained, 0 to 1."""
        last = self._workspace.last_position
        return self._workspace.frontier / last if last else 0.0

    def curve(self) -> list[QPointF]:
        """Return the corners of the curve, in pixels of this widget; at most one a pixel."""
        tokens, fewest = self._tokens()
        if not len(tokens):
            return []
        track = self._track()
        last = max(self._workspace.last_position, len(tokens) - 1, 1)
        columns = max(2, min(len(tokens), round(track.width() * (len(tokens) - 1) / last) + 1))
        positions = np.unique(np.linspace(0, len(tokens) - 1, columns).round().astype(np.int64))
        heights = (tokens[positions] - fewest) / max(1, int(tokens[0]) - fewest)
        inset = CURVE_WIDTH
        x = track.left() + positions / last * track.width()
        y = track.bottom() - inset - heights * (track.height() - 2 * inset)
        return [QPointF(a, b) for a, b in zip(x.tolist(), y.tolist(), strict=True)]

    def _tokens(self) -> tuple[NDArray[np.int64], int]:
        """Return how many tokens there are at each position, and the number that stands at the bottom.

        They are those of the corpus; of a tokenizer alone those of the text to encode.
        """
        timeline, corpus, encoded = self._workspace.timeline, self._workspace.corpus, self._workspace.encoder.encoded
        if timeline is not None and corpus is not None:
            # The bottom is where every pre-token would be one token: it stays while training goes on.
            return timeline.tokens_curve(), corpus.n_pretokens
        if timeline is not None or encoded is None:
            return np.empty(0, dtype=np.int64), 0
        counts = encoded.counts(encoded.known)
        return counts, int(counts[-1])

    def x_of(self, position: int) -> float:
        """Return where a position is, in pixels of this widget."""
        track, last = self._track(), self._workspace.last_position
        return track.left() + (track.width() * position / last if last else 0.0)

    def position_at(self, x: float) -> int:
        """Return the position nearest to x."""
        track, last = self._track(), self._workspace.last_position
        part = (x - track.left()) / max(1.0, track.width())
        return round(max(0.0, min(part, 1.0)) * last)

    def tooltip_at(self, point: QPoint) -> str:
        """Return what the place under the mouse says, as plain text."""
        if self._workspace.merges is None:
            return ""
        if self._is_on_ticks(point.y()):
            tick = self._tick_at(point.x())
            is_set = tick in self._workspace.player.breakpoints
            return f"Click: {'take away the' if is_set else 'set a'} breakpoint at merge {tick:,}"
        return self._about(self.position_at(point.x()))

    def _about(self, position: int) -> str:
        merges, timeline = self._workspace.merges, self._workspace.timeline
        assert merges is not None
        if position > merges.frontier:
            return f"merge {position:,}: not trained yet"
        said = "start" if position == 0 else self._about_merge(merges, merges.merge(position - 1))
        if timeline is None:
            return said
        tokens = int(timeline.published.tokens_after[position - 1]) if position else timeline.first_tokens
        return f"{said}\n{tokens:,} token{'' if tokens == 1 else 's'} in the corpus"

    @staticmethod
    def _about_merge(merges: MergeList, merge: Merge) -> str:
        symbols = merges.symbols
        made = text_of_symbol(symbols, merge.token, LONGEST_SYMBOL)
        if merge.pair is None:
            return f"merge {merge.rank + 1:,}: {made}"
        left, right = (text_of_symbol(symbols, symbol, LONGEST_SYMBOL) for symbol in merge.pair)
        chosen = ", chosen by hand" if merge.rank in merges.departures else ""
        return f"merge {merge.rank + 1:,}: {left} + {right} {ARROW} {made}{chosen}"

    # --- events ---

    def sizeHint(self) -> QSize:
        """Ask for a broad strip."""
        return QSize(self._look.px(400), self._look.px(56))

    def minimumSizeHint(self) -> QSize:
        """Stay large enough to be dragged."""
        return QSize(_LEAST_WIDTH, self._look.px(28))

    def event(self, event: QEvent) -> bool:
        """Show tooltips."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            self._show_note(event.globalPos(), self.tooltip_at(event.pos()))
            return True
        return super().event(event)

    def _show_note(self, on_screen: QPoint, text: str) -> None:
        """Show a tooltip above the scrubber: below, it would lie over the sentence on the merge."""
        QToolTip.showText(on_screen, plain_tooltip(text), self)
        top = self.mapToGlobal(QPoint(0, 0)).y()
        for shown in QApplication.topLevelWidgets():
            # Qt has no way to say on which side of the mouse a tooltip goes.
            if shown.metaObject().className() == "QTipLabel" and shown.isVisible():
                shown.move(shown.x(), max(0, top - shown.height() - self._look.px(4)))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move the cursor; all other keys are the window's."""
        workspace = self._workspace
        steps = LONG_STEP if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1
        match event.key():
            case Qt.Key.Key_Right:
                workspace.step(steps)
            case Qt.Key.Key_Left:
                workspace.step(-steps)
            case Qt.Key.Key_Home:
                self._go(0)
            case Qt.Key.Key_End:
                self._go(workspace.last_position)
            case Qt.Key.Key_PageDown:
                workspace.player.seek_breakpoint(forward=True)
            case Qt.Key.Key_PageUp:
                workspace.player.seek_breakpoint(forward=False)
            case Qt.Key.Key_B:
                workspace.player.toggle_breakpoint()
            case Qt.Key.Key_Space:
                workspace.player.toggle()
            case _:
                event.ignore()
                return
        self.follow()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Take hold of the cursor, or toggle a breakpoint below the track."""
        if event.button() != Qt.MouseButton.LeftButton or self._workspace.merges is None:
            return
        point = event.position().toPoint()
        if self._is_on_ticks(point.y()):
            self._workspace.player.toggle_breakpoint(self._tick_at(point.x()))
            return
        self._drags = True
        self._go(self.position_at(event.position().x()))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Drag the cursor, or show where a breakpoint would be set."""
        point = event.position().toPoint()
        if self._drags:
            self._go(self.position_at(event.position().x()))
            self._show_note(event.globalPosition().toPoint(), self._about(self._workspace.position))
            return
        on_ticks = self._is_on_ticks(point.y()) and self._workspace.merges is not None
        hovered = self._tick_at(point.x()) if on_ticks else None
        if hovered != self._hovered_tick:
            self._hovered_tick = hovered
            self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Let go of the cursor."""
        self._drags = False

    def leaveEvent(self, event: QEvent) -> None:
        """Forget where the mouse was."""
        self._hovered_tick = None
        self.update()

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show a ring if keys brought the focus here."""
        self._shows_focus = came_by_keys(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Take the ring away."""
        self._shows_focus = False
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Paint the track anew."""
        self._background = None

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the track from the cache, and ticks and cursor over it."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if painter.paintEngine().type() == QPaintEngine.Type.Raster:
            painter.drawPixmap(0, 0, self._painted_track())
        else:  # an exported figure keeps its lines
            painter.save()
            self._paint_track(painter)
            painter.restore()
        self._paint_forks(painter)
        self._paint_ticks(painter)
        if self._workspace.merges is not None:
            self._paint_cursor(painter)
        if self._shows_focus:
            paint_focus_ring(painter, self._look, self._track().adjusted(-3, -3, 3, 3))
        painter.end()

    # --- painting ---

    def _track(self) -> QRectF:
        look = self._look
        side, above, below = look.px(SIDE), look.px(KNOB) + 1, look.px(TICK) + 2
        return QRectF(side, above, max(1, self.width() - 2 * side), max(1, self.height() - above - below))

    def _painted_track(self) -> QPixmap:
        workspace, pixels = self._workspace, self.devicePixelRatioF()
        key = (
            self.width(),
            self.height(),
            pixels,
            self._look.generation,
            workspace.merges,
            None if workspace.timeline is not None else workspace.encoder.encoded,
            workspace.frontier,
            workspace.last_position,
        )
        if self._background is None or self._background[0] != key:
            pixmap = QPixmap(round(self.width() * pixels), round(self.height() * pixels))
            pixmap.setDevicePixelRatio(pixels)
            pixmap.fill(Qt.GlobalColor.transparent)
            painter = QPainter(pixmap)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._paint_track(painter)
            painter.end()
            self._background = (key, pixmap)
        return self._background[1]

    def _paint_track(self, painter: QPainter) -> None:
        look, track = self._look, self._track()
        outline = QPainterPath()
        outline.addRoundedRect(track, look.px(4), look.px(4))
        painter.setClipPath(outline)
        painter.fillRect(track, look.brush("background"))
        trained = QRectF(track)
        trained.setWidth(track.width() * min(1.0, self.shade_end))
        painter.fillRect(trained, look.brush("next_soft"))
        self._paint_departures(painter)
        painter.setPen(look.pen("next", CURVE_WIDTH * look.zoom))
        painter.drawPolyline(self.curve())

    def _paint_departures(self, painter: QPainter) -> None:
        """Shade below the curve where a list that is replayed departs from what training would have done."""
        look, track = self._look, self._track()
        height = look.px(DEPARTURES)
        colour = look.colour("dim").toRgb()
        for left, right, share in self.departing():
            colour.setAlphaF(share)
            painter.fillRect(QRectF(left, track.bottom() - height, right - left, height), colour)

    def departing(self) -> list[tuple[float, float, float]]:
        """Return (left, right, share) of stretches in which some entries depart, in pixels of this widget."""
        merges, last = self._workspace.merges, self._workspace.last_position
        if merges is None or self._workspace.tokenizer is None or not last:
            return []
        departs, track = merges.departs(), self._track()
        if not departs.any():
            return []
        columns = max(1, min(len(departs), round(track.width() * len(departs) / last)))
        edges = np.linspace(0, len(departs), columns + 1).round().astype(np.int64)
        before = np.concatenate(([0], np.cumsum(departs)))
        shares = (before[edges[1:]] - before[edges[:-1]]) / np.maximum(1, np.diff(edges))
        return [
            (self.x_of(int(edges[i])), self.x_of(int(edges[i + 1])), float(shares[i])) for i in np.flatnonzero(shares)
        ]

    def _paint_cursor(self, painter: QPainter) -> None:
        look, track = self._look, self._track()
        x, radius = self.x_of(self.shown_position), look.px(KNOB)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(look.brush("made"))
        width = max(2.0, 2.0 * look.zoom)
        painter.drawRect(QRectF(x - width / 2, track.top(), width, track.height() + 2))
        painter.drawEllipse(QPointF(x, track.top()), radius, radius)

    def _paint_forks(self, painter: QPainter) -> None:
        """Mark where the timeline goes another way than the rule would."""
        merges, look, track = self._workspace.merges, self._look, self._track()
        for rank in first_departures(merges) if merges is not None else ():
            x = self.x_of(rank + 1)
            painter.setPen(look.pen("dim", 1.0, dashed=True))
            painter.drawLine(QPointF(x, track.top()), QPointF(x, track.bottom()))
            # On the side that has room.
            left = x + look.px(3) if x + look.px(FORK_WIDTH + 4) < track.right() else x - look.px(FORK_WIDTH + 3)
            paint_fork(painter, look, left, track.top() + look.px(10), "dim")

    def _paint_ticks(self, painter: QPainter) -> None:
        look = self._look
        painter.setPen(Qt.PenStyle.NoPen)
        for position in self._workspace.player.breakpoints:
            painter.setBrush(look.brush("ink"))
            painter.drawPolygon(self._tick_shape(position))
        if self._hovered_tick is not None:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(look.pen("dim"))
            painter.drawPolygon(self._tick_shape(self._hovered_tick))

    def _tick_shape(self, position: int) -> QPolygonF:
        """Return a small house below the track that points at the position."""
        x, top, size = self.x_of(position), self._track().bottom() + 1.5, self._look.px(TICK)
        half = size * 0.45
        return QPolygonF(
            [
                QPointF(x, top),
                QPointF(x + half, top + half),
                QPointF(x + half, top + size),
                QPointF(x - half, top + size),
                QPointF(x - half, top + half),
            ]
        )

    # --- moves ---

    def _is_on_ticks(self, y: int) -> bool:
        return y > self._track().bottom()

    def _tick_at(self, x: float) -> int:
        """Return the breakpoint under the mouse, else the position where one would be set."""
        near = min(self._workspace.player.breakpoints, key=lambda stop: abs(self.x_of(stop) - x), default=None)
        is_caught = near is not None and abs(self.x_of(near) - x) <= self._look.px(_CATCH)
        return near if is_caught and near is not None else self.position_at(x)

    def _go(self, position: int) -> None:
        self._workspace.jump(position)
        self.follow()

    @Slot()
    def follow(self, _: object = None) -> None:
        """Draw the cursor, the shade and the ticks where they are now."""
        workspace = self._workspace
        said = f"{self.shown_position:,} of {workspace.last_position:,} merges"
        if workspace.frontier < workspace.last_position:
            said += f", {workspace.frontier:,} trained"
        if workspace.player.breakpoints:
            said += ", breakpoints at " + ", ".join(f"{stop:,}" for stop in workspace.player.breakpoints)
        self.setAccessibleDescription(said)
        self.update()
