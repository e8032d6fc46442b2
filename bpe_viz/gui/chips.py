"""Symbols as chips: a rounded box with an edge, text of fixed width, signs in dim ink.

Box and text are painted once into pixmaps and copied from there: 1,500 chips then take 5 ms, and 45 ms
the first time. Vector devices (SVG, PDF) get lines and text instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
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
CACHED_CHIPS = 8192

# The hatching's tile is drawn so much finer than shown, so that it is sharp on every screen scale.
_HATCH_DETAIL = 4


class ChipStyle(IntEnum):
    """What a chip says beside its text.

    NEXT: is taken by the next merge; MADE: the last merge made it; SELECTED: pointed at in some panel
    DIM: still to come; GAP: a character without a token; SPECIAL: a special token; TOKEN_1...: one of the token colours
    """

    PLAIN = 0
    NEXT = 1
    MADE = 2
    SELECTED = 3
    DIM = 4
    GAP = 5
    SPECIAL = 6
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
    return look.shared(_ChipCache).painted(scale, None)[Chip(parts, style)].width


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
    right, edges = x, []
    pixels = _device_pixels(painter)
    painted = look.shared(_ChipCache).painted(scale, pixels)
    space = look.px(gap) if gap > 0 else 0
    for chip in chips:
        layers, width = painted[chip]
        if pixels is None:
            painted.paint(painter, QPointF(x, y), chip)
        else:
            # Pixmaps between two device pixels would be smeared over both.
            place = QPointF(round(x * pixels) / pixels, round(y * pixels) / pixels)
            for layer in layers:
                painter.drawPixmap(place, layer)
        right = x + width
        edges.append((x, right))
        x = right + space
    for first, end in underlined:
        bottom = y + chip_height(look, scale) + look.px(1)
        line = QRectF(edges[first][0], bottom, edges[end - 1][1] - edges[first][0], look.px(UNDERLINE))
        painter.fillRect(line, look.brush("next"))
    return right


def chip_edges(
    look: Look, chips: Sequence[Chip], x: float = 0.0, *, gap: float = GAP, scale: float = 1.0
) -> list[tuple[float, float]]:
    """Return the left and right edge of every chip of a row that starts at x."""
    painted = look.shared(_ChipCache).painted(scale, None)
    space = look.px(gap) if gap > 0 else 0
    edges = []
    for chip in chips:
        right = x + painted[chip].width
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


class _Painted(NamedTuple):
    """A chip ready to be copied: box and text, or no layer for a vector device."""

    layers: tuple[QPixmap, ...]
    width: int


class _Layout(NamedTuple):
    """Where the pieces of a chip's text stand.

    pieces: offset from the left edge, text, whether it is a sign
    """

    pieces: tuple[tuple[float, str, bool], ...]
    width: int


class _Inks(NamedTuple):
    text: Role
    sign: Role


_FULL_INKS = _Inks("ink", "sign")


@dataclass(frozen=True, slots=True)
class _Colours:
    fill: QColor
    line: QColor
    inks: _Inks = _FULL_INKS
    line_width: float = 1.0
    dashed: bool = False


class _ChipCache:
    """What is painted of chips for one state of a look, by size of type and device pixels."""

    def __init__(self, look: Look) -> None:
        self._look = look
        self._sizes: dict[tuple[float, float | None], _ChipsOfOneSize] = {}

    def painted(self, scale: float, pixels: float | None) -> _ChipsOfOneSize:
        key = (scale, pixels)
        if key not in self._sizes:
            self._sizes[key] = _ChipsOfOneSize(self._look, scale, pixels)
        return self._sizes[key]


class _ChipsOfOneSize(dict[Chip, _Painted]):
    """Chips by value, made when first asked for.

    Box and text are layers of their own: while a training is scrubbed the same text comes in ever
    other colours, and text is what takes the time.
    """

    def __init__(self, look: Look, scale: float, pixels: float | None) -> None:
        super().__init__()
        self._look = look
        self._font = look.mono_font(scale)
        self._metrics = look.mono_metrics(scale)
        self._scale = scale
        self._pixels = pixels
        self._height = chip_height(look, scale)
        self._colours = {style: _colours(look, style) for style in ChipStyle}
        self._layouts: dict[tuple[Parts, bool], _Layout] = {}
        self._boxes: dict[tuple[int, ChipStyle], QPixmap] = {}
        self._texts: dict[tuple[Parts, bool, _Inks], QPixmap] = {}

    def __missing__(self, chip: Chip) -> _Painted:
        if len(self) >= CACHED_CHIPS:
            for cache in (self, self._layouts, self._boxes, self._texts):
                cache.clear()
        layout = self._layout(chip)
        layers = () if self._pixels is None else (self._box(chip, layout.width), self._text(chip))
        painted = _Painted(layers, layout.width)
        self[chip] = painted
        return painted

    def paint(self, painter: QPainter, corner: QPointF, chip: Chip) -> None:
        """Paint a chip as shapes and text."""
        painter.save()
        painter.translate(corner)
        self._paint_box(painter, chip.style, self._layout(chip).width)
        self._paint_text(painter, chip)
        painter.restore()

    def _layout(self, chip: Chip) -> _Layout:
        hugs = chip.style.hugs_text
        key = (chip.parts, hugs)
        if (found := self._layouts.get(key)) is not None:
            return found
        pieces = [(part.text, part.kind != "text") for part in drawable(chip.parts, self._metrics)]
        advances = [self._metrics.horizontalAdvance(text) for text, _ in pieces]
        padding = self._look.px(TOKEN_PADDING if hugs else PADDING)
        least = self._look.px((LEAST_TOKEN_WIDTH if hugs else LEAST_WIDTH) * self._scale)
        # Whole pixels keep the edges of a row of chips sharp.
        width = max(round(sum(advances)) + 2 * padding, least)
        offset = (width - sum(advances)) / 2
        placed = []
        for (text, is_sign), advance in zip(pieces, advances, strict=True):
            placed.append((offset, text, is_sign))
            offset += advance
        self._layouts[key] = _Layout(tuple(placed), width)
        return self._layouts[key]

    def _box(self, chip: Chip, width: int) -> QPixmap:
        key = (width, chip.style)
        if key not in self._boxes:
            self._boxes[key] = self._pixmap(width)
            painter = QPainter(self._boxes[key])
            self._paint_box(painter, chip.style, width)
            painter.end()
        return self._boxes[key]

    def _text(self, chip: Chip) -> QPixmap:
        key = (chip.parts, chip.style.hugs_text, self._colours[chip.style].inks)
        if key not in self._texts:
            self._texts[key] = self._pixmap(self._layout(chip).width)
            painter = QPainter(self._texts[key])
            self._paint_text(painter, chip)
            painter.end()
        return self._texts[key]

    def _pixmap(self, width: int) -> QPixmap:
        pixels = self._pixels or 1.0
        pixmap = QPixmap(round(width * pixels), round(self._height * pixels))
        pixmap.setDevicePixelRatio(pixels)
        pixmap.fill(Qt.GlobalColor.transparent)
        return pixmap

    def _paint_box(self, painter: QPainter, style: ChipStyle, width: int) -> None:
        colours, pixels = self._colours[style], self._pixels or 1.0
        # A line of whole device pixels, its middle half a line inside, covers its pixels exactly.
        line = max(1, round(colours.line_width * pixels)) / pixels
        inside = QRectF(0, 0, width, self._height).adjusted(line / 2, line / 2, -line / 2, -line / 2)
        radius = RADIUS * self._look.zoom
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(self._look.brush(colours.fill))
        painter.setPen(self._look.pen(colours.line, line, colours.dashed))
        painter.drawRoundedRect(inside, radius, radius)

    def _paint_text(self, painter: QPainter, chip: Chip) -> None:
        inks = self._colours[chip.style].inks
        ascent, descent = self._metrics.ascent(), self._metrics.descent()
        baseline = round((self._height - ascent - descent) / 2 + ascent)
        painter.setFont(self._font)
        for offset, text, is_sign in self._layout(chip).pieces:
            painter.setPen(self._look.pen(inks.sign if is_sign else inks.text))
            painter.drawText(QPointF(offset, baseline), text)


def _colours(look: Look, style: ChipStyle) -> _Colours:
    theme = look.theme
    place = style.token_colour
    if place is not None:
        return _Colours(theme.tokens[place], theme.token_lines[place])
    match style:
        case ChipStyle.NEXT:
            return _Colours(theme.next_soft, theme.next)
        case ChipStyle.MADE:
            return _Colours(theme.made_soft, theme.made)
        case ChipStyle.SELECTED:
            return _Colours(theme.chip, theme.ink, line_width=2.0)
        case ChipStyle.SPECIAL:
            return _Colours(theme.chip, theme.ink, line_width=2.0)
        case ChipStyle.DIM:
            return _Colours(theme.panel, theme.line, _Inks("faint", "faint"))
        case ChipStyle.GAP:
            return _Colours(theme.panel, theme.dim, _Inks("dim", "dim"), dashed=True)
        case _:
            return _Colours(theme.chip, theme.chip_line)
