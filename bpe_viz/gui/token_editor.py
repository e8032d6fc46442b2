"""An editable text whose tokens are coloured: boxes under the text, signs over what has no ink."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPoint, Qt, Signal
from PySide6.QtGui import QHelpEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QToolTip

from bpe_viz.gui.document_text import HELD_SPACE
from bpe_viz.gui.exact_text_edit import PLACEHOLDERS, ExactTextEdit
from bpe_viz.gui.look import Look
from bpe_viz.gui.text_geometry import PlacedLine, lines_between, paint_outlines
from bpe_viz.gui.token_boxes import Canvas, End
from bpe_viz.gui.token_spans import TokenSpans
from bpe_viz.gui.tooltips import plain_tooltip

# Pixels: of boxes that share so little only the first is painted. One letter may carry a hundred thousand marks.
_TOO_NARROW = 0.1

_SIGNED = re.compile(f" |{HELD_SPACE}|{PLACEHOLDERS.pattern}")


class TokenEditor(ExactTextEdit):
    """Shows and edits one text with its tokens.

    hovered, clicked: a span's number, or None beside the text
    describe: called with the spans and a code point, gives the text of its tooltip
    """

    hovered = Signal(object)
    clicked = Signal(object)

    def __init__(self, look: Look) -> None:
        self._spans: TokenSpans | None = None
        self._styles: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._made: NDArray[np.bool_] = np.empty(0, dtype=bool)
        self._outlined: NDArray[np.bool_] = np.empty(0, dtype=bool)
        self._hovered: int | None = None
        self.describe: Callable[[TokenSpans, int], str] = lambda spans, code_point: ""
        super().__init__(look)
        self.setMouseTracking(True)
        self.viewport().setMouseTracking(True)

    def show_spans(self, spans: TokenSpans | None, styles: NDArray[np.int64], made: NDArray[np.bool_]) -> None:
        """Colour these tokens; styles: see token_colours.box_styles; made: which the last merge made."""
        self._spans, self._styles, self._made = spans, styles, made
        self._outlined = np.zeros(len(styles), dtype=bool)
        self.viewport().update()

    @property
    def spans(self) -> TokenSpans | None:
        """The tokens that are shown."""
        return self._spans

    def outline(self, outlined: NDArray[np.bool_]) -> None:
        """Outline these spans."""
        if not np.array_equal(outlined, self._outlined):
            self._outlined = outlined
            self.viewport().update()

    def span_at(self, point: QPoint) -> int | None:
        """Return the number of the span under a point of the viewport."""
        found = self._place_at(point)
        if found is None or self._spans is None:
            return None
        code_point, line = found
        x = point.x() + self.horizontalScrollBar().value()
        for span in self._spans.at(code_point).tolist():
            left, right = self._edges(line, span)
            if left <= x < right:
                return int(span)
        return None

    def _place_at(self, point: QPoint) -> tuple[int, PlacedLine] | None:
        y = point.y() + self.verticalScrollBar().value()
        pitch = self._boxes.pitch
        for line in self._lines(y - pitch, y + pitch):
            top = line.baseline - self._boxes.above
            if top <= y < top + self._boxes.height:
                code_point = line.code_point_at(point.x() + self.horizontalScrollBar().value())
                return None if code_point is None else (code_point, line)
        return None

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Tell what is under the mouse."""
        super().mouseMoveEvent(event)
        self._hover(None if event.buttons() else self.span_at(event.position().toPoint()))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Tell what was clicked."""
        super().mouseReleaseEvent(event)
        if event.button() == Qt.MouseButton.LeftButton and not self.textCursor().hasSelection():
            self.clicked.emit(self.span_at(event.position().toPoint()))

    def leaveEvent(self, event: QEvent) -> None:
        """Point at nothing."""
        super().leaveEvent(event)
        self._hover(None)

    def _hover(self, span: int | None) -> None:
        if span != self._hovered:
            self._hovered = span
            self.hovered.emit(span)

    def viewportEvent(self, event: QEvent) -> bool:
        """Show the tooltip of the token under the mouse."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            self.show_note(event.pos())
            return True
        return super().viewportEvent(event)

    def note_at(self, point: QPoint) -> str:
        """Return what there is to say of the tokens at a point of the viewport, or nothing."""
        found = self._place_at(point)
        return "" if found is None or self._spans is None else self.describe(self._spans, found[0])

    def show_note(self, point: QPoint) -> None:
        """Show that beside the point."""
        QToolTip.showText(self.viewport().mapToGlobal(point), plain_tooltip(self.note_at(point)), self.viewport())

    def _forget(self) -> None:
        self._spans = None
        self._hovered = None

    # --- painting ---

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint boxes, then Qt's text and caret, then signs."""
        top = event.rect().top() + self.verticalScrollBar().value()
        lines = list(self._lines(top - self._boxes.height, top + event.rect().height() + self._boxes.height))
        painter = QPainter(self.viewport())
        self._move_to_document(painter)
        if self._spans is not None:
            for line in lines:
                self._paint_boxes(Canvas.of(painter), line, self._spans)
        if Canvas.of(painter).pixels is None:
            # A vector file would name a font that its reader may lack, and lines of text would drift from their boxes.
            paint_outlines(painter, lines, self._look.colour("ink"))
        else:
            painter.end()
            super().paintEvent(event)
            painter.begin(self.viewport())
            self._move_to_document(painter)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for line in lines:
            self._paint_signs(Canvas.of(painter), line)
        painter.end()

    def _move_to_document(self, painter: QPainter) -> None:
        painter.translate(-self.horizontalScrollBar().value(), -self.verticalScrollBar().value())

    def _lines(self, top: float, bottom: float) -> list[PlacedLine]:
        boxes = self._boxes
        return list(lines_between(self.document(), self.content, top, bottom, boxes.cell, boxes.line_end_width))

    def _edges(self, line: PlacedLine, span: int) -> tuple[float, float]:
        assert self._spans is not None  # callers have checked
        left, right = float(self._spans.left[span]), float(self._spans.right[span])
        return line.edges(max(left, line.start), min(right, line.end))

    def _paint_boxes(self, canvas: Canvas, line: PlacedLine, spans: TokenSpans) -> None:
        boxes, top = self._boxes, line.baseline - self._boxes.above
        first = int(np.searchsorted(spans.right, line.start, side="right"))
        last = int(np.searchsorted(spans.left, line.end, side="left"))
        lefts, rights = spans.left[first:last].tolist(), spans.right[first:last].tolist()
        styles, made = self._styles[first:last].tolist(), self._made[first:last].tolist()
        start, end, edges_of = line.start, line.end, line.edges
        painted_to = -1.0
        for left, right, style, is_made in zip(lefts, rights, styles, made, strict=True):
            if left == right:
                continue
            if line.is_mixed:
                self._paint_mixed(canvas, line, (max(left, start), min(right, end)), style)
                continue
            edges = edges_of(max(left, start), min(right, end))
            if max(edges[1] - painted_to, edges[1] - edges[0]) < _TOO_NARROW:
                continue
            painted_to = edges[1]
            ends = (_end(left, left < start), _end(right, right > end))
            boxes.draw_box(canvas, edges, top, style, ends)
            if is_made:
                boxes.underline(canvas.painter, edges, top)

    def _paint_mixed(self, canvas: Canvas, line: PlacedLine, place: tuple[float, float], style: int) -> None:
        is_cut = any(side != int(side) for side in place)
        ends = (End.CUT, End.CUT) if is_cut else (End.CLOSED, End.CLOSED)
        for edges in line.stretches(*place):
            self._boxes.draw_box(canvas, edges, line.baseline - self._boxes.above, style, ends)

    def _paint_signs(self, canvas: Canvas, line: PlacedLine) -> None:
        boxes, top = self._boxes, line.baseline - self._boxes.above
        if self._spans is not None:
            self._paint_marks(canvas.painter, line, self._spans, top)
        shown, text = self.content.shown, self.content.text
        places = [found.start() for found in _SIGNED.finditer(shown, line.start, line.text_end)]
        if line.end > line.text_end:
            places.append(line.text_end)
        for place in places:
            boxes.draw_sign(canvas, text[place], line.edges(place, place + 1), top)

    def _paint_marks(self, painter: QPainter, line: PlacedLine, spans: TokenSpans, top: float) -> None:
        boxes = self._boxes
        for start, end in spans.uncovered.tolist():
            if start < line.text_end and end > line.start:
                boxes.veil(painter, line.edges(max(start, line.start), min(end, line.text_end)), top)
        first = int(np.searchsorted(spans.right, line.start, side="left"))
        last = int(np.searchsorted(spans.left, line.end, side="right"))
        is_marker = spans.left[first:last] == spans.right[first:last]
        for span in (first + np.flatnonzero(is_marker & (spans.left[first:last] > line.start))).tolist():
            x = line.edges(float(spans.left[span]), float(spans.left[span]))[0]
            boxes.tick(painter, x, top, int(self._styles[span]), bool(self._outlined[span]), bool(self._made[span]))
        for span in (first + np.flatnonzero(self._outlined[first:last])).tolist():
            if spans.left[span] == spans.right[span]:
                continue
            if spans.right[span] > line.start and spans.left[span] < line.end:
                boxes.outline(painter, self._edges(line, span), top)


def _end(place: float, is_elsewhere: bool) -> End:
    if is_elsewhere:
        return End.OPEN
    return End.CLOSED if place == int(place) else End.CUT
