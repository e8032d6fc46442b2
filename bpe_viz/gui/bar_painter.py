"""Paints one row of the bars: label, bar, outline of the count before, count, change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPolygonF

from bpe_viz.engine.visible import Parts, shortened
from bpe_viz.gui.bar_rows import DOT, BarRow
from bpe_viz.gui.chips import hatch_brush
from bpe_viz.gui.glyphs import drawable
from bpe_viz.gui.look import Look
from bpe_viz.gui.symbol_fit import MOST_CHARACTERS, fair_shares, fitted
from bpe_viz.gui.symbol_texts import LONGEST_CHIP

ROW, BAR, TOP_MARGIN, SIDE_MARGIN = 26, 15, 10, 12
RADIUS = 2.0
POINTER_ROOM = 8
LEAST_BAR = 56
LEAST_CUT_LABEL = 5  # characters: two ellipses and the dot between
LEAST_LABEL_CHARACTERS = 9
MOST_OF_WIDTH_FOR_LABEL = 0.45
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
        self._wanted_widths: dict[tuple[Parts, Parts], float] = {}
        self._columns = _Columns(0, 0, 0, 0, 0)
        self._highest = 1
        self._hatching = hatch_brush(look)
        self.forget()

    def forget(self) -> None:
        """Take the least widths for the columns again, for another corpus."""
        self._count_width = self._look.ui_metrics(bold=True).horizontalAdvance("999")
        self._change_width = self._look.ui_metrics(CHANGE_SCALE).horizontalAdvance("+999")
        self._label_width = self._look.mono_metrics().horizontalAdvance("0") * LEAST_LABEL_CHARACTERS

    def measure(self, rows: Sequence[BarRow]) -> None:
        """Fit scale and columns; columns only grow, so that bars do not jump from merge to merge."""
        self._highest = max((max(row.count, row.before) for row in rows), default=1)
        counts, changes = self._look.ui_metrics(bold=True), self._look.ui_metrics(CHANGE_SCALE)
        widest = max((f"{row.count:,}" for row in rows), key=len, default="")
        longest = max((row.change_text for row in rows), key=len, default="")
        self._count_width = max(self._count_width, counts.horizontalAdvance(widest))
        self._change_width = max(self._change_width, changes.horizontalAdvance(longest))
        self._label_width = max([self._label_width, *map(self._wanted_width, rows)])

    def share(self, count: int) -> float:
        """Return a count's part of the longest bar."""
        return count / self._highest

    def begin(self, painter: QPainter, width: int) -> None:
        """Prepare for rows of this width."""
        look = self._look
        change_left = width - look.px(SIDE_MARGIN) - round(self._change_width)
        count_right = change_left - look.grid
        bars_end = count_right - round(self._count_width) - look.px(12)
        least = self._label_left + look.mono_metrics().horizontalAdvance("0") * LEAST_CUT_LABEL
        most = min(width * MOST_OF_WIDTH_FOR_LABEL, max(least, bars_end - look.grid - look.px(LEAST_BAR)))
        label_right = round(min(self._label_left + self._label_width, most))
        bar_left = label_right + look.grid
        bar_right = max(bar_left + look.grid, bars_end)
        self._columns = _Columns(label_right, bar_left, bar_right, count_right, change_left)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)

    @property
    def _label_left(self) -> int:
        """Where the longest label may begin: right of the pointer to the next pair."""
        return self._look.px(SIDE_MARGIN) + self._look.px(POINTER_ROOM)

    def label_edges(self, row: BarRow) -> tuple[float, float, str]:
        """Return where a row's label begins and ends since the last call of begin, and what it shows."""
        label, right = self._label(row), self._columns.label_right
        return right - label.width, right, "".join(text for _, text, _ in label.pieces)

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
        flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
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
        x = round(right) - 3 * half
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
        room = round(self._columns.label_right - self._label_left)
        key = (row.left, row.right, room)
        if key not in self._labels:
            if len(self._labels) >= CACHED_LABELS:
                self._labels.clear()
            self._labels[key] = self._lay_out(row.left, row.right, room)
        return self._labels[key]

    def _wanted_width(self, row: BarRow) -> float:
        """Return how wide a label would be that is not cut, or nearly so."""
        key = (row.left, row.right)
        if key not in self._wanted_widths:
            if len(self._wanted_widths) >= CACHED_LABELS:
                self._wanted_widths.clear()
            shown = (shortened(parts, LONGEST_CHIP) for parts in key)
            self._wanted_widths[key] = sum(map(self._width_of, shown)) + self._dot_width
        return self._wanted_widths[key]

    def _width_of(self, parts: Parts) -> float:
        metrics = self._look.mono_metrics()
        return sum(metrics.horizontalAdvance(part.text) for part in drawable(parts, metrics))

    @property
    def _dot_gap(self) -> float:
        return self._look.mono_metrics().horizontalAdvance("0") / 2

    @property
    def _dot_width(self) -> float:
        return self._look.mono_metrics().horizontalAdvance(DOT) + 2 * self._dot_gap

    def _lay_out(self, left: Parts, right: Parts, room: float) -> _Label:
        metrics, gap = self._look.mono_metrics(), self._dot_gap
        both = (left, right)
        wanted = [self._width_of(shortened(parts, MOST_CHARACTERS)) for parts in both]
        shares = fair_shares(wanted, room - self._dot_width, (1, 1))
        shown = [
            fitted(drawable(parts, metrics), share, self._width_of) for parts, share in zip(both, shares, strict=True)
        ]
        pieces = [
            *((part.text, part.kind != "text") for part in drawable(shown[0], metrics)),
            (DOT, True),
            *((part.text, part.kind != "text") for part in drawable(shown[1], metrics)),
        ]
        width = sum(metrics.horizontalAdvance(text) for text, _ in pieces) + 2 * gap
        placed, offset = [], width
        for text, is_quiet in pieces:
            offset -= gap if text == DOT and is_quiet else 0
            placed.append((offset, text, is_quiet))
            offset -= metrics.horizontalAdvance(text) + (gap if text == DOT and is_quiet else 0)
        return _Label(tuple(placed), width)
