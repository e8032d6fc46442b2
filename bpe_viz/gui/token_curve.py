"""A small curve: how many tokens one text has after every merge."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from bpe_viz.gui.look import Look

WIDTH = 190
_LABEL_SCALE = 0.85


class TokenCurve(QWidget):
    """Draws the counts, and the cursor in them; a click or a drag asks for a position.

    position_chosen: int
    """

    position_chosen = Signal(object)

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._counts: NDArray[np.int64] = np.zeros(1, dtype=np.int64)
        self._low = self._high = 0
        self._drawn: tuple[QRectF, QPolygonF] | None = None
        self._position = 0
        self.setAccessibleName("Tokens of this text after every merge")
        self.setToolTip("Tokens of this text after every merge. Click: go there.")
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Expanding)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        look.changed.connect(self._fit_look)

    def show_counts(self, counts: NDArray[np.int64]) -> None:
        """Show another curve: (positions + 1,) int64."""
        self._counts = counts
        self._low, self._high = int(counts.min()), int(counts.max())
        self._drawn = None
        self._describe()

    def clear(self) -> None:
        """Show nothing: the text is not encoded."""
        self.show_counts(np.zeros(1, dtype=np.int64))

    def show_position(self, position: int) -> None:
        """Move the cursor."""
        self._position = position
        self._describe()

    @property
    def counts(self) -> NDArray[np.int64]:
        """What is drawn."""
        return self._counts

    def sizeHint(self) -> QSize:
        """Narrow, so that the text keeps its room."""
        return QSize(self._look.px(WIDTH), self._look.px(64))

    def position_at(self, x: float) -> int:
        """Return the position at a place of the widget."""
        plot = self._plot()
        part = (x - plot.left()) / max(1.0, plot.width())
        return round(min(max(part, 0.0), 1.0) * (len(self._counts) - 1))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Go to where was clicked."""
        if event.button() == Qt.MouseButton.LeftButton:
            self.position_chosen.emit(self.position_at(event.position().x()))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Scrub."""
        if event.buttons() & Qt.MouseButton.LeftButton:
            self.position_chosen.emit(self.position_at(event.position().x()))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the shade, the curve, the cursor and the ends in figures."""
        if len(self._counts) < 2:
            return
        look, plot = self._look, self._plot()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(look.brush("next_soft"))
        painter.drawRoundedRect(plot, look.px(3), look.px(3))
        painter.setPen(look.pen("next", 2.0 * look.zoom))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPolyline(self._polygon(plot))
        position = min(self._position, len(self._counts) - 1)
        here = self._point(plot, position)
        painter.setPen(look.pen("made", 2.0 * look.zoom))
        painter.drawLine(QPointF(here.x(), plot.top()), QPointF(here.x(), plot.bottom()))
        painter.setBrush(look.brush("made"))
        painter.drawEllipse(here, look.px(3), look.px(3))
        self._paint_figures(painter, plot)

    def _paint_figures(self, painter: QPainter, plot: QRectF) -> None:
        look = self._look
        painter.setFont(look.ui_font(_LABEL_SCALE))
        painter.setPen(look.pen("dim"))
        height = look.ui_metrics(_LABEL_SCALE).height()
        below = QRectF(plot.left(), plot.bottom() + look.px(4), plot.width(), height)
        first, last = int(self._counts[0]), int(self._counts[-1])
        painter.drawText(below, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, f"{first:,}")
        painter.drawText(below, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, f"{last:,} tokens")

    def _plot(self) -> QRectF:
        look = self._look
        label = look.ui_metrics(_LABEL_SCALE).height() + look.px(4)
        whole = QRectF(self.rect())
        room = whole.adjusted(look.px(4), look.px(14), -look.px(14), -label - look.px(6))
        if room.height() > look.px(96):
            room.setHeight(look.px(96))
        return room

    def _polygon(self, plot: QRectF) -> QPolygonF:
        """Return the curve; it is worked out anew only for other counts or another size."""
        if self._drawn is None or self._drawn[0] != plot:
            self._drawn = (plot, QPolygonF(self._points(plot)))
        return self._drawn[1]

    def _points(self, plot: QRectF) -> list[QPointF]:
        last = len(self._counts) - 1
        # A point a pixel is all that can be seen of any training.
        positions = np.unique(np.linspace(0, last, min(last + 1, int(plot.width()) + 1)).astype(np.int64))
        return [self._point(plot, position) for position in positions.tolist()]

    def _point(self, plot: QRectF, position: int) -> QPointF:
        part = (int(self._counts[position]) - self._low) / max(1, self._high - self._low)
        inset = self._look.px(5)
        height = plot.height() - 2 * inset
        x = plot.left() + plot.width() * position / (len(self._counts) - 1)
        return QPointF(x, plot.bottom() - inset - height * part)

    def _describe(self) -> None:
        position = min(self._position, len(self._counts) - 1)
        self.setAccessibleDescription(
            f"{int(self._counts[position]):,} tokens after {position:,} merges, "
            f"{int(self._counts[0]):,} before any and {int(self._counts[-1]):,} at the end"
        )
        self.update()

    @Slot()
    def _fit_look(self) -> None:
        self.updateGeometry()
        self.update()
