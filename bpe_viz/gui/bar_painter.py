"""Paints one row of the bars: label, bar, outline of the count before, count, change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPolygonF

from bpe_viz.engine.visible import Parts, shortened, text_of
from bpe_viz.gui.bar_rows import DOT, BarRow
from bpe_viz.gui.chips import hatch_brush
from bpe_viz.gui.glyphs import drawable
from bpe_viz.gui.look import Look

ROW, BAR, TOP_MARGIN, SIDE_MARGIN = 26, 15, 10, 12
RADIUS = 2.0
LABEL_CHARACTERS = 15
MOST_OF_WIDTH_FOR_LABEL = 0.32
LEAST_SYMBOL = 3
CHANGE_SCALE = 0.9
CACHED_LABELS = 4096


class Place(NamedTuple):
    """Where a row is: its upper edge, its bar's part of the longest, and how opaque it is."""

    y: float
    share: float
    opacity: float


class _Label(NamedTuple):
    """The pieces of a label from its right edge: offset, text, whether it is quiet."""

    pieces: tuple[tuple[float, str, bool], ...]
    width: float


class _Columns(NamedTuple):
    """The edges of the columns: labels end, bars start and end, counts end, changes start."""

    label_right: float
    bar_left: float
    bar_right: float
    count_right: float
    change_left: float


class BarPainter:
    """Knows the sizes of the rows for one state of a look."""

    def __init__(self, look: Look) -> None:
        self._look = look
        self.row_height = max(look.px(ROW), look.row_height)
        self.top_margin = look.px(TOP_MARGIN)
        self._labels: dict[tuple[Parts, Parts, int], _Label] = {}
        self._columns = _Columns(0, 0, 0, 0, 0)
        self._highest = 1
        self._hatching = hatch_brush(look)
        self.forget()

    def forget(self) -> None:
        """Take the least widths for the columns again, for another corpus."""
        self._count_width = self._look.ui_metrics(bold=True).horizontalAdvance("999")
        self._change_width = self._look.ui_metrics(CHANGE_SCALE).horizontalAdvance("+999")

    def measure(self, rows: Sequence[BarRow]) -> None:
        """Fit scale and columns; columns only grow, so that bars do not jump from merge to merge."""
        self._highest = max((max(row.count, row.before) for row in rows), default=1)
        counts, changes = self._look.ui_metrics(bold=True), self._look.ui_metrics(CHANGE_SCALE)
        widest = max((f"{row.count:,}" for row in rows), key=len, default="")
        longest = max((row.change_text for row in rows), key=len, default="")
        self._count_width = max(self._count_width, counts.horizontalAdvance(widest))
        self._change_width = max(self._change_width, changes.horizontalAdvance(longest))

    def share(self, count: int) -> float:
        """Return a count's part of the longest bar."""
        return count / self._highest

    def begin(self, painter: QPainter, width: int) -> None:
        """Prepare for rows of this width."""
        look = self._look
        label_width = min(
            look.mono_metrics().horizontalAdvance("0") * LABEL_CHARACTERS, width * MOST_OF_WIDTH_FOR_LABEL
        )
        label_right = look.px(SIDE_MARGIN) + round(label_width)
        change_left = width - look.px(SIDE_MARGIN) - round(self._change_width)
        count_right = change_left - look.grid
        bar_left = label_right + look.grid
        bar_right = max(bar_left + look.grid, count_right - round(self._count_width) - look.px(12))
        self._columns = _Columns(label_right, bar_left, bar_right, count_right, change_left)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)

    def paint_row(self, painter: QPainter, row: BarRow, place: Place, *, is_shaded: bool) -> None:
        """Paint a row; is_shaded: it is selected or pointed at."""
        painter.setOpacity(place.opacity)
        if is_shaded:
            self._paint_shade(painter, place.y)
        self._paint_label(painter, row, place.y)
        self._paint_bar(painter, row, place)
        self._paint_numbers(painter, row, place.y)
        painter.setOpacity(1.0)

    def paint_note(self, painter: QPainter, area: QRect, text: str) -> None:
        """Say in words why there is nothing to paint."""
        margin = self._look.px(24)
        painter.setFont(self._look.ui_font())
        painter.setPen(self._look.pen("dim"))
        flags = Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop | Qt.TextFlag.TextWordWrap
        painter.drawText(area.adjusted(margin, margin, -margin, -margin), flags, text)

    def _paint_shade(self, painter: QPainter, y: float) -> None:
        look = self._look
        right = self._columns.change_left + self._change_width + look.px(6)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(look.brush("selection"))
        left = look.px(4)
        painter.drawRoundedRect(QRectF(left, y, right - left, self.row_height), look.px(4), look.px(4))

    def _paint_label(self, painter: QPainter, row: BarRow, y: float) -> None:
        look, metrics = self._look, self._look.mono_metrics()
        label = self._label(row)
        if row.mark == "next":
            self._paint_pointer(painter, self._columns.label_right - label.width, y)
        painter.setFont(look.mono_font())
        baseline = round(y + (self.row_height + metrics.ascent() - metrics.descent()) / 2)
        right = self._columns.label_right
        for offset, text, is_quiet in label.pieces:
            painter.setPen(look.pen("dim" if is_quiet else "ink"))
            painter.drawText(QPointF(right - offset, baseline), text)

    def _paint_pointer(self, painter: QPainter, right: float, y: float) -> None:
        """Point at the next pair from its left, so that it is told without its colour."""
        half = self._look.px(4)
        x = max(self._look.px(5), round(right) - 3 * half)
        middle = round(y + self.row_height / 2)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._look.brush("next"))
        corners = [QPointF(x, middle - half), QPointF(x + half + 1, middle), QPointF(x, middle + half)]
        painter.drawPolygon(QPolygonF(corners))

    def _paint_bar(self, painter: QPainter, row: BarRow, place: Place) -> None:
        look, columns = self._look, self._columns
        room = columns.bar_right - columns.bar_left
        height = look.px(BAR)
        y = place.y + (self.row_height - height) // 2
        bar = QRectF(columns.bar_left, y, max(2.0, room * place.share), height)
        painter.setPen(Qt.PenStyle.NoPen)
        if row.mark == "tied":
            painter.setBrushOrigin(bar.topLeft())
            painter.setBrush(self._hatching)
            painter.setPen(look.pen("next"))
            painter.drawRoundedRect(bar.adjusted(0.5, 0.5, -0.5, -0.5), RADIUS, RADIUS)
        else:
            painter.setBrush(look.brush("next" if row.mark == "next" else "bar"))
            painter.drawRoundedRect(bar, RADIUS, RADIUS)
        if row.change and not row.is_new:
            self._paint_before(painter, row, bar, room * self.share(row.before))

    def _paint_before(self, painter: QPainter, row: BarRow, bar: QRectF, width: float) -> None:
        """Outline the count before the last merge: beyond the bar if it fell, inside it if it rose."""
        look = self._look
        painter.setBrush(Qt.BrushStyle.NoBrush)
        on_solid = row.mark == "next" and row.change > 0
        painter.setPen(look.pen("next_ink" if on_solid else "bar_line", 1.0, dashed=True))
        outline = QPainterPath(QPointF(bar.left() + min(width, bar.width()), bar.top() + 0.5))
        right = round(bar.left() + max(2.0, width)) - 0.5
        if row.change < 0:
            outline.lineTo(right, bar.top() + 0.5)
            outline.lineTo(right, bar.bottom() - 0.5)
            outline.lineTo(bar.right(), bar.bottom() - 0.5)
        else:
            outline = QPainterPath()
            outline.addRect(QRectF(bar.left() + 0.5, bar.top() + 0.5, right - bar.left(), bar.height() - 1))
        painter.drawPath(outline)

    def _paint_numbers(self, painter: QPainter, row: BarRow, y: float) -> None:
        look, columns = self._look, self._columns
        count, metrics = f"{row.count:,}", look.ui_metrics(bold=True)
        baseline = round(y + (self.row_height + metrics.ascent() - metrics.descent()) / 2)
        painter.setFont(look.ui_font(bold=True))
        painter.setPen(look.pen("ink"))
        painter.drawText(QPointF(columns.count_right - metrics.horizontalAdvance(count), baseline), count)
        if row.change_text:
            painter.setFont(look.ui_font(CHANGE_SCALE, bold=row.is_new))
            painter.setPen(look.pen("made" if row.is_new else "dim"))
            painter.drawText(QPointF(columns.change_left, baseline), row.change_text)

    def _label(self, row: BarRow) -> _Label:
        room = round(self._columns.label_right - self._look.px(SIDE_MARGIN))
        key = (row.left, row.right, room)
        if key not in self._labels:
            if len(self._labels) >= CACHED_LABELS:
                self._labels.clear()
            self._labels[key] = self._lay_out(row.left, row.right, room)
        return self._labels[key]

    def _lay_out(self, left: Parts, right: Parts, room: float) -> _Label:
        metrics = self._look.mono_metrics()
        gap = metrics.horizontalAdvance("0") / 2
        sizes = [0 if _is_whole(parts) else len(text_of(parts)) for parts in (left, right)]
        while True:
            shown = [_cut(parts, size) for parts, size in zip((left, right), sizes, strict=True)]
            pieces = [
                *((part.text, part.kind != "text") for part in drawable(shown[0], metrics)),
                (DOT, True),
                *((part.text, part.kind != "text") for part in drawable(shown[1], metrics)),
            ]
            width = sum(metrics.horizontalAdvance(text) for text, _ in pieces) + 2 * gap
            if width <= room or max(sizes) <= LEAST_SYMBOL:
                break
            sizes[sizes[0] < sizes[1]] -= 1
        placed, offset = [], width
        for text, is_quiet in pieces:
            offset -= gap if text == DOT and is_quiet else 0
            placed.append((offset, text, is_quiet))
            offset -= metrics.horizontalAdvance(text) + (gap if text == DOT and is_quiet else 0)
        return _Label(tuple(placed), width)


def _cut(parts: Parts, limit: int) -> Parts:
    """Shorten without saying how long it was, which the tooltip does; at the least, keep the first character."""
    if _is_whole(parts):
        return parts
    if limit <= LEAST_SYMBOL < len(text_of(parts)):
        return shortened(parts, 2)[:2]
    cut = shortened(parts, max(LEAST_SYMBOL, limit))
    return parts if cut is parts else cut[:-1]


def _is_whole(parts: Parts) -> bool:
    """Tell whether there is nothing to cut: a sign or a single character."""
    return len(parts) < 2 and all(part.kind != "text" or len(part.text) < 2 for part in parts)
