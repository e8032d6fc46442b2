"""Boxes under and signs over running text, painted once into pixmaps and copied from there."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPaintEngine, QPainter, QPainterPath, QPixmap

from bpe_viz.engine.visible import DOTTED_CIRCLE, SIGNS
from bpe_viz.gui.chips import RADIUS, chip_height
from bpe_viz.gui.document_text import is_mark
from bpe_viz.gui.glyphs import drawn_sign, is_covered
from bpe_viz.gui.look import Look
from bpe_viz.gui.theme import Role
from bpe_viz.gui.token_colours import BoxStyle, box_styles

SCALE = 1.2
LINE_GAP = 6
TICK_WIDTH = 9
_CODE_SCALE = 0.68
_CODE_PADDING = 3
_CODE_EDGE = 0.5
_TAB_CELLS = 3
_MOST_CACHED = 4096


class End(IntEnum):
    """How a box ends on one side: the token ends, goes on in another line, or ends inside of a character."""

    CLOSED = 0
    OPEN = 1
    CUT = 2


class Canvas(NamedTuple):
    """A painter, and its device's pixels per unit; None for vector devices and turned painters."""

    painter: QPainter
    pixels: float | None

    @classmethod
    def of(cls, painter: QPainter) -> Canvas:
        """Ask the device once for a whole paint."""
        if painter.paintEngine().type() != QPaintEngine.Type.Raster:
            return cls(painter, None)
        transform = painter.deviceTransform()
        is_plain = not transform.isRotating() and transform.m11() == transform.m22() > 0
        return cls(painter, transform.m11() if is_plain else None)


class BoxCache:
    """Draws token boxes and signs for one state of a look."""

    def __init__(self, look: Look) -> None:
        self._look = look
        self.font = look.mono_font(SCALE)
        self.metrics = look.mono_metrics(SCALE)
        self.cell = self.metrics.horizontalAdvance(" ")
        self.height = chip_height(look, SCALE)
        self.line_end_width = round(self.metrics.horizontalAdvance(SIGNS["\n"])) + look.px(2)
        ascent, descent = self.metrics.ascent(), self.metrics.descent()
        self.above = round((self.height - ascent - descent) / 2 + ascent)
        self.pitch = self.height + look.px(LINE_GAP)
        self._styles = box_styles(look)
        self._boxes: dict[tuple[int, int, End, End, float], QPixmap] = {}
        self._sign_widths: dict[str, float] = {}
        self._signs: dict[tuple[str, Role, float], QPixmap] = {}

    # --- boxes ---

    def draw_box(
        self, canvas: Canvas, edges: tuple[float, float], top: float, style: int, ends: tuple[End, End]
    ) -> None:
        """Draw one token's box; ends: how it ends on the left and on the right."""
        painter, pixels = canvas
        if pixels is None:
            width = edges[1] - edges[0]
            painter.save()
            painter.translate(edges[0], top)
            self._paint_box(painter, self._styles[style], width, ends, 1.0)
            painter.restore()
            return
        left, right = round(edges[0] * pixels), round(edges[1] * pixels)
        if right - left < 1:
            right = left + 1
        key = (style, right - left, *ends, pixels)
        pixmap = self._boxes.get(key)
        if pixmap is None:
            if len(self._boxes) >= _MOST_CACHED:
                self._boxes.clear()
            pixmap = self._boxes[key] = _transparent(right - left, round(self.height * pixels), pixels)
            inside = QPainter(pixmap)
            self._paint_box(inside, self._styles[style], (right - left) / pixels, ends, pixels)
            inside.end()
        painter.drawPixmap(QPointF(left / pixels, round(top * pixels) / pixels), pixmap)

    def _paint_box(
        self, painter: QPainter, style: BoxStyle, width: float, ends: tuple[End, End], pixels: float
    ) -> None:
        line = max(1, round(style.line_width * pixels)) / pixels
        radius = min(RADIUS * self._look.zoom, width / 2)
        # An open end lies outside of what is painted, so neither its line nor its corners are seen.
        beyond, half = 2 * radius + line, line / 2
        inside = QRectF(
            -beyond if ends[0] else half,
            half,
            width - line + (beyond + half if ends[0] else 0) + (beyond + half if ends[1] else 0),
            self.height - line,
        )
        # Parts of one character are told apart by a hair of what lies below.
        visible_width = width - 1 / pixels if ends[1] == End.CUT and width > 2 else width
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setClipRect(QRectF(0, 0, visible_width, self.height))
        painter.setBrush(self._look.brush(style.fill))
        painter.setPen(self._look.pen(style.line, line, style.dashed))
        painter.drawRoundedRect(inside, radius, radius)

    def outline(self, painter: QPainter, edges: tuple[float, float], top: float) -> None:
        """Draw the outline of what is pointed at."""
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(self._look.pen("ink", 2.0 * self._look.zoom))
        radius = RADIUS * self._look.zoom
        painter.drawRoundedRect(QRectF(edges[0], top, edges[1] - edges[0], self.height), radius, radius)

    def underline(self, painter: QPainter, edges: tuple[float, float], top: float) -> None:
        """Draw the mark of what the last merge made."""
        look = self._look
        height = look.px(2)
        line = QRectF(edges[0] + 1, top + self.height + look.px(1), edges[1] - edges[0] - 2, height)
        painter.fillRect(line, look.brush("made"))

    def tick_box(self, x: float, top: float) -> QRectF:
        """Return where the mark of an end-of-word token is, that stands at x."""
        width = self._look.px(TICK_WIDTH)
        return QRectF(x - width / 2, top + self.height - self._look.px(1), width, self._look.px(LINE_GAP))

    def tick(
        self, painter: QPainter, x: float, top: float, style: int, is_outlined: bool = False, is_made: bool = False
    ) -> None:
        """Draw an end-of-word marker that is a token of its own: a small chip below the line.

        Something upright in the line would pass for the caret.
        """
        look, colours = self._look, self._styles[style]
        line = look.colour("ink") if is_outlined else look.colour("made") if is_made else colours.line
        width = 2.0 if is_outlined else 1.0
        painter.setBrush(look.brush(colours.fill))
        painter.setPen(look.pen(line, width))
        half = width / 2
        box = self.tick_box(round(x), top).adjusted(half, half, -half, -half)
        painter.drawRoundedRect(box, look.px(2), look.px(2))

    def veil(self, painter: QPainter, edges: tuple[float, float], top: float) -> None:
        """Dim the ink of what is no token."""
        colour = self._look.colour("panel").toRgb()
        colour.setAlphaF(0.5)
        painter.fillRect(QRectF(edges[0], top, edges[1] - edges[0], self.height), colour)

    # --- signs ---

    def draw_sign(
        self, canvas: Canvas, character: str, edges: tuple[float, float], top: float, ink: Role = "sign"
    ) -> None:
        """Draw what stands for a character without ink, in the middle of its place."""
        painter, pixels = canvas
        width = self.sign_width(character)
        x = (edges[0] + edges[1] - width) / 2
        if pixels is None:
            painter.save()
            painter.translate(x, top)
            self._paint_sign(painter, character, ink)
            painter.restore()
            return
        key = (character, ink, pixels)
        pixmap = self._signs.get(key)
        if pixmap is None:
            if len(self._signs) >= _MOST_CACHED:
                self._signs.clear()
            pixmap = self._signs[key] = _transparent(round(width * pixels) + 1, round(self.height * pixels), pixels)
            inside = QPainter(pixmap)
            self._paint_sign(inside, character, ink)
            inside.end()
        painter.drawPixmap(QPointF(round(x * pixels) / pixels, round(top * pixels) / pixels), pixmap)

    def sign_width(self, character: str) -> float:
        """Return how much room the sign of a character takes."""
        width = self._sign_widths.get(character)
        if width is None:
            width = self._sign_widths[character] = self._measured(character)
        return width

    def _measured(self, character: str) -> float:
        sign = self._sign(character)
        if sign is None:
            return self._code_metrics.horizontalAdvance(_code(character)) + 2 * self._look.px(_CODE_PADDING)
        cells = _TAB_CELLS if character == "\t" else 1
        return max(cells * self.cell, self.metrics.horizontalAdvance(sign))

    def _sign(self, character: str) -> str | None:
        """Return the sign that is drawn as text, None for a code point in a chip of its own."""
        sign = SIGNS.get(character)
        if sign is None and is_mark(character) and self.metrics.inFontUcs4(ord(character)):
            sign = DOTTED_CIRCLE + character
        return None if sign is None else drawn_sign(sign, self.metrics)

    @property
    def _code_font(self) -> QFont:
        return self._look.mono_font(SCALE * _CODE_SCALE)

    @property
    def _code_metrics(self) -> QFontMetricsF:
        return self._look.mono_metrics(SCALE * _CODE_SCALE)

    def _paint_sign(self, painter: QPainter, character: str, ink: Role) -> None:
        sign, look = self._sign(character), self._look
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(look.pen(ink))
        if sign is not None:
            painter.setFont(self.font)
            x = (self.sign_width(character) - self.metrics.horizontalAdvance(sign)) / 2
            painter.drawText(QPointF(x, self.above), sign)
            return
        metrics = self._code_metrics
        height = metrics.ascent() + look.px(3)
        frame = QPainterPath()
        frame.addRoundedRect(
            QRectF(1, (self.height - height) / 2, self.sign_width(character) - 2, height), look.px(2), look.px(2)
        )
        edge = look.colour(ink).toRgb()
        edge.setAlphaF(_CODE_EDGE)
        painter.setPen(edge)
        painter.drawPath(frame)
        painter.setPen(look.pen(ink))
        painter.setFont(self._code_font)
        baseline = (self.height + metrics.capHeight()) / 2
        painter.drawText(QPointF(look.px(_CODE_PADDING), baseline), _code(character))


def is_drawn_by_qt(character: str, metrics: QFontMetricsF) -> bool:
    """Tell whether some font has a character."""
    return is_covered(character, metrics)


def _code(character: str) -> str:
    return f"{ord(character):04X}"


def _transparent(width: int, height: int, pixels: float) -> QPixmap:
    pixmap = QPixmap(width, height)
    pixmap.setDevicePixelRatio(pixels)
    pixmap.fill(Qt.GlobalColor.transparent)
    return pixmap
