"""Symbols as chips: a rounded box with an edge, text of fixed width, signs in dim ink.

A chip is painted once into a pixmap and copied from there: 1,500 chips then take 3 ms, painted one by
one 30 ms. Vector devices (SVG, PDF) get lines and text instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPaintEngine, QPainter, QPixmap, QTransform

from bpe_viz.engine.visible import Parts
from bpe_viz.gui.glyphs import drawable
from bpe_viz.gui.look import Look
from bpe_viz.gui.theme import TOKEN_COLOURS, Role

HEIGHT = 20
RADIUS = 3.5
PADDING = 5
TOKEN_PADDING = 2
LEAST_WIDTH = 18
LEAST_TOKEN_WIDTH = 8
GAP = 4
UNDERLINE = 2
HATCH_PERIOD = 8
CACHED_PIXMAPS = 4096

# The hatching's tile is drawn so much finer than shown, so that it is sharp on every screen scale.
_HATCH_DETAIL = 4


class ChipStyle(Enum):
    """What a chip says beside its text.

    NEXT: is taken by the next merge; MADE: the last merge made it; SELECTED: pointed at in some panel
    DIM: still to come; GAP: a character without a token; TOKEN_1...: one of the token colours
    """

    PLAIN = 0
    NEXT = 1
    MADE = 2
    SELECTED = 3
    DIM = 4
    GAP = 5
    TOKEN_1 = 10
    TOKEN_2 = 11
    TOKEN_3 = 12
    TOKEN_4 = 13
    TOKEN_5 = 14
    TOKEN_6 = 15
    TOKEN_7 = 16
    TOKEN_8 = 17

    @property
    def token_colour(self) -> int | None:
        """The place in Theme.tokens, None for the other styles."""
        place = self.value - ChipStyle.TOKEN_1.value
        return place if place >= 0 else None

    @property
    def hugs_text(self) -> bool:
        """Whether the chip stands in running text and has hardly any padding."""
        return self.value >= ChipStyle.GAP.value


def token_style(number: int) -> ChipStyle:
    """Return the style of token colour number, counted from 0 and starting again after the last."""
    return ChipStyle(ChipStyle.TOKEN_1.value + number % TOKEN_COLOURS)


class Chip(NamedTuple):
    """One symbol to paint."""

    parts: Parts
    style: ChipStyle = ChipStyle.PLAIN


def chip_height(look: Look, scale: float = 1.0) -> int:
    """Return the height of chips whose type is scale times the normal."""
    return max(look.px(HEIGHT * scale), round(look.mono_metrics(scale).height()) + look.px(2))


def chip_width(look: Look, parts: Parts, style: ChipStyle = ChipStyle.PLAIN, scale: float = 1.0) -> int:
    """Return the width of a chip; it is the same for all styles but the tokens and GAP, which hug."""
    return look.shared(_ChipCache).layout(parts, style.hugs_text, scale).width


def paint_chip(
    painter: QPainter,
    look: Look,
    x: float,
    y: float,
    parts: Parts,
    style: ChipStyle = ChipStyle.PLAIN,
    *,
    underline: bool = False,
    scale: float = 1.0,
) -> int:
    """Paint one chip with its upper left corner at x, y, and return its width.

    underline: marks what the next merge takes, beside the colour; drawn just below the chip
    scale: of the type, 1.0 being normal
    """
    underlined = ((0, 1),) if underline else ()
    right = paint_chips(painter, look, x, y, (Chip(parts, style),), underlined=underlined, scale=scale)
    return round(right - x)


def paint_chips(
    painter: QPainter,
    look: Look,
    x: float,
    y: float,
    chips: Sequence[Chip],
    *,
    underlined: Sequence[tuple[int, int]] = (),
    gap: float = GAP,
    scale: float = 1.0,
) -> float:
    """Paint chips in a row from x, y on, and return the right edge of the last.

    underlined: ranges [first, end) of chips that one line joins: the pairs that are merged next
    gap: between two chips at zoom 1
    """
    cache = look.shared(_ChipCache)
    pixels = _device_pixels(painter)
    edges = chip_edges(look, chips, x, gap=gap, scale=scale)
    for (left, _), chip in zip(edges, chips, strict=True):
        if pixels is None:
            cache.paint(painter, QPointF(left, y), chip, scale, 1.0)
        else:
            place = QPointF(round(left * pixels) / pixels, round(y * pixels) / pixels)
            painter.drawPixmap(place, cache.pixmap(chip, scale, pixels))
    for first, end in underlined:
        bottom = y + chip_height(look, scale) + look.px(1)
        width = edges[end - 1][1] - edges[first][0]
        painter.fillRect(QRectF(edges[first][0], bottom, width, look.px(UNDERLINE)), look.brush("next"))
    return edges[-1][1] if edges else x


def chip_edges(
    look: Look, chips: Sequence[Chip], x: float = 0.0, *, gap: float = GAP, scale: float = 1.0
) -> list[tuple[float, float]]:
    """Return the left and right edge of every chip of a row that starts at x."""
    layout = look.shared(_ChipCache).layout
    space = look.px(gap) if gap > 0 else 0
    edges = []
    for parts, style in chips:
        right = x + layout(parts, style.hugs_text, scale).width
        edges.append((x, right))
        x = right + space
    return edges


def hatch_brush(look: Look, role: Role = "next") -> QBrush:
    """Return diagonal stripes on the panel's colour: the mark of a tie beside its colour."""
    side = HATCH_PERIOD * _HATCH_DETAIL
    tile = QPixmap(side, side)
    tile.fill(look.colour("panel"))
    painter = QPainter(tile)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    # Half a period along the axes, measured across the stripe.
    painter.setPen(look.pen(role, side / 2**1.5))
    for offset in (-side, 0, side):
        painter.drawLine(QPointF(offset - side, -side), QPointF(offset + 2 * side, 2 * side))
    painter.end()
    brush = QBrush(tile)
    shrink = look.zoom / _HATCH_DETAIL
    brush.setTransform(QTransform.fromScale(shrink, shrink))
    return brush


def _device_pixels(painter: QPainter) -> float | None:
    """Return the device's pixels per unit, or None where copying pixels would lose sharpness."""
    if painter.paintEngine().type() != QPaintEngine.Type.Raster:
        return None
    transform = painter.deviceTransform()
    is_plain = not transform.isRotating() and transform.m11() == transform.m22() > 0
    return transform.m11() if is_plain else None


@dataclass(frozen=True, slots=True)
class _Layout:
    """Where the pieces of a chip's text stand.

    pieces: offset from the left edge, text, whether it is a sign
    """

    pieces: tuple[tuple[float, str, bool], ...]
    width: int


@dataclass(frozen=True, slots=True)
class _Colours:
    fill: QColor
    line: QColor
    ink: QColor
    sign: QColor
    line_width: float = 1.0
    dashed: bool = False


class _ChipCache:
    """The measures and pixmaps of chips for one state of a look."""

    def __init__(self, look: Look) -> None:
        self._look = look
        self._layouts: dict[tuple[Parts, bool, float], _Layout] = {}
        self._pixmaps: dict[tuple[Chip, float, float], QPixmap] = {}
        self._colours = {style: _colours(look, style) for style in ChipStyle}

    def layout(self, parts: Parts, hugs: bool, scale: float) -> _Layout:
        key = (parts, hugs, scale)
        if (found := self._layouts.get(key)) is not None:
            return found
        if len(self._layouts) >= 8 * CACHED_PIXMAPS:
            self._layouts.clear()
        metrics = self._look.mono_metrics(scale)
        pieces = [(part.text, part.kind != "text") for part in drawable(parts, metrics)]
        advances = [metrics.horizontalAdvance(text) for text, _ in pieces]
        padding = self._look.px(TOKEN_PADDING if hugs else PADDING)
        least = self._look.px((LEAST_TOKEN_WIDTH if hugs else LEAST_WIDTH) * scale)
        # Whole pixels keep the edges of a row of chips sharp.
        width = max(round(sum(advances)) + 2 * padding, least)
        offset = (width - sum(advances)) / 2
        placed = []
        for (text, is_sign), advance in zip(pieces, advances, strict=True):
            placed.append((offset, text, is_sign))
            offset += advance
        self._layouts[key] = _Layout(tuple(placed), width)
        return self._layouts[key]

    def pixmap(self, chip: Chip, scale: float, pixels: float) -> QPixmap:
        """Return the chip painted for a device with that many pixels per unit."""
        key = (chip, scale, pixels)
        if (found := self._pixmaps.get(key)) is not None:
            return found
        if len(self._pixmaps) >= CACHED_PIXMAPS:
            self._pixmaps.clear()
        width = self.layout(chip.parts, chip.style.hugs_text, scale).width
        pixmap = QPixmap(round(width * pixels), round(chip_height(self._look, scale) * pixels))
        pixmap.setDevicePixelRatio(pixels)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        self.paint(painter, QPointF(0, 0), chip, scale, pixels)
        painter.end()
        self._pixmaps[key] = pixmap
        return pixmap

    def paint(self, painter: QPainter, corner: QPointF, chip: Chip, scale: float, pixels: float) -> None:
        """Paint a chip as shapes and text."""
        look, colours = self._look, self._colours[chip.style]
        layout = self.layout(chip.parts, chip.style.hugs_text, scale)
        height = chip_height(look, scale)
        # A line of whole device pixels, its middle half a line inside, covers its pixels exactly.
        line = max(1, round(colours.line_width * pixels)) / pixels
        box = QRectF(corner.x(), corner.y(), layout.width, height)
        inside = box.adjusted(line / 2, line / 2, -line / 2, -line / 2)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(look.brush(colours.fill))
        painter.setPen(look.pen(colours.line, line, colours.dashed))
        painter.drawRoundedRect(inside, RADIUS * look.zoom, RADIUS * look.zoom)
        metrics = look.mono_metrics(scale)
        middle = (height - metrics.ascent() - metrics.descent()) / 2
        baseline = corner.y() + round(middle + metrics.ascent())
        painter.setFont(look.mono_font(scale))
        for offset, text, is_sign in layout.pieces:
            painter.setPen(look.pen(colours.sign if is_sign else colours.ink))
            painter.drawText(QPointF(corner.x() + offset, baseline), text)
        painter.restore()


def _colours(look: Look, style: ChipStyle) -> _Colours:
    theme = look.theme
    place = style.token_colour
    if place is not None:
        return _Colours(theme.tokens[place], theme.token_lines[place], theme.ink, theme.sign)
    match style:
        case ChipStyle.NEXT:
            return _Colours(theme.next_soft, theme.next, theme.ink, theme.sign)
        case ChipStyle.MADE:
            return _Colours(theme.made_soft, theme.made, theme.ink, theme.sign)
        case ChipStyle.SELECTED:
            return _Colours(theme.chip, theme.ink, theme.ink, theme.sign, line_width=2.0)
        case ChipStyle.DIM:
            return _Colours(theme.panel, theme.line, theme.faint, theme.faint)
        case ChipStyle.GAP:
            return _Colours(theme.panel, theme.dim, theme.dim, theme.dim, dashed=True)
        case _:
            return _Colours(theme.chip, theme.chip_line, theme.ink, theme.sign)
