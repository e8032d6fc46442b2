"""Chips: measured as they are painted, and sharp on every device."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QBuffer, QIODevice, QPointF, QRect
from PySide6.QtGui import QColor, QFontMetricsF, QImage, QPainter
from PySide6.QtSvg import QSvgGenerator

from bpe_viz.engine.visible import Part, text_of, visible_parts
from bpe_viz.gui.chips import (
    LEAST_WIDTH,
    Chip,
    ChipStyle,
    chip_edges,
    chip_height,
    chip_width,
    hatch_brush,
    paint_chip,
    paint_chips,
    token_style,
)
from bpe_viz.gui.glyphs import drawable, drawable_text, drawn_sign
from bpe_viz.gui.look import Look

LOW = visible_parts(b"low")
SPACE_THE = visible_parts(b" the")
UNASSIGNED_TO_ANY_FONT = "\U000e0080"


def canvas(look: Look, pixels: float = 1.0) -> QImage:
    image = QImage(round(200 * pixels), round(40 * pixels), QImage.Format.Format_ARGB32_Premultiplied)
    image.setDevicePixelRatio(pixels)
    image.fill(look.theme.panel)
    return image


def colours_in(image: QImage, area: QRect | None = None) -> set[str]:
    area = area or image.rect()
    columns = range(area.left(), area.right() + 1)
    return {image.pixelColor(x, y).name() for x in columns for y in range(area.top(), area.bottom() + 1)}


@pytest.mark.parametrize("style", list(ChipStyle))
@pytest.mark.parametrize("pixels", [1.0, 1.5, 2.0])
def test_a_chip_fills_exactly_its_width(look: Look, style: ChipStyle, pixels: float) -> None:
    image = canvas(look, pixels)
    painter = QPainter(image)
    width = paint_chip(painter, look, 10, 4, LOW, style)
    painter.end()
    assert width == chip_width(look, LOW, style)
    middle = round((4 + chip_height(look) / 2) * pixels)
    painted = [x for x in range(image.width()) if image.pixelColor(x, middle) != look.theme.panel]
    if style is ChipStyle.GAP:  # the middle of a dashed edge may fall between two dashes
        assert painted[0] >= 10 * pixels - 1
    else:
        assert painted[0] == pytest.approx(10 * pixels, abs=1)
        assert painted[-1] == pytest.approx((10 + width) * pixels - 1, abs=1)


@pytest.mark.parametrize("pixels", [1.0, 2.0])
def test_edges_are_sharp(look: Look, pixels: float) -> None:
    image = canvas(look, pixels)
    painter = QPainter(image)
    paint_chip(painter, look, 10, 4, LOW, ChipStyle.NEXT)
    painter.end()
    middle = round((4 + chip_height(look) / 2) * pixels)
    edge = [image.pixelColor(round(10 * pixels) + step, middle) for step in range(-1, round(pixels) + 1)]
    assert edge[0] == look.theme.panel
    assert edge[-1] == look.theme.next_soft
    assert set(map(QColor.name, edge[1:-1])) == {look.theme.next.name()}


def test_a_short_symbol_has_the_least_width(look: Look) -> None:
    assert chip_width(look, visible_parts(b"i")) == LEAST_WIDTH
    assert chip_width(look, ()) == LEAST_WIDTH
    assert chip_width(look, visible_parts("\u0301".encode())) >= LEAST_WIDTH


def test_a_row_returns_the_edge_that_was_measured(look: Look) -> None:
    chips = [Chip(LOW), Chip(SPACE_THE, ChipStyle.MADE), Chip(LOW, token_style(3))]
    painter = QPainter(image := canvas(look))
    right = paint_chips(painter, look, 5, 5, chips)
    painter.end()
    edges = chip_edges(look, chips, 5)
    assert right == edges[-1][1]
    assert [one[1] + 4 for one in edges[:-1]] == [other[0] for other in edges[1:]]
    assert image.width() > right


def test_an_empty_row_paints_nothing(look: Look) -> None:
    painter = QPainter(image := canvas(look))
    assert paint_chips(painter, look, 5, 5, []) == 5
    painter.end()
    assert colours_in(image) == {look.theme.panel.name()}


def test_the_underline_joins_the_pair(look: Look) -> None:
    chips = [Chip(LOW), Chip(LOW), Chip(LOW)]
    painter = QPainter(image := canvas(look))
    paint_chips(painter, look, 0, 4, chips, underlined=[(0, 2)])
    painter.end()
    edges = chip_edges(look, chips)
    below = 4 + chip_height(look) + 1
    assert colours_in(image, QRect(0, below, int(edges[1][1]), 2)) == {look.theme.next.name()}
    assert image.pixelColor(int(edges[1][1]) + 1, below) == look.theme.panel


def test_signs_are_drawn_in_their_own_ink(look: Look) -> None:
    def painted(content: bytes) -> QImage:
        painter = QPainter(image := canvas(look))
        paint_chip(painter, look, 0, 0, visible_parts(content), scale=1.5)
        painter.end()
        return image

    assert painted(b" ") != painted("␣".encode())


def test_token_colours_start_again_after_the_last() -> None:
    assert token_style(8) is token_style(0) is ChipStyle.TOKEN_1
    assert {token_style(number).token_colour for number in range(8)} == set(range(8))
    assert ChipStyle.PLAIN.token_colour is None


def test_a_character_without_a_glyph_shows_its_code_point(look: Look) -> None:
    parts = drawable((Part(f"a{UNASSIGNED_TO_ANY_FONT}b", "text"),), look.mono_metrics())
    assert parts == (Part("a", "text"), Part("<U+E0080>", "invisible"), Part("b", "text"))


def test_covered_text_is_left_alone(look: Look) -> None:
    assert drawable(LOW, look.mono_metrics()) == LOW


def test_chips_follow_theme_and_zoom(look: Look) -> None:
    width = chip_width(look, LOW)
    look.set_zoom(2.0)
    assert chip_width(look, LOW) > 1.8 * width
    look.set_theme("dark")
    painter = QPainter(image := canvas(look))
    paint_chip(painter, look, 0, 0, LOW, ChipStyle.MADE)
    painter.end()
    assert look.theme.made_soft.name() in colours_in(image)


def test_a_vector_device_gets_text(look: Look) -> None:
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    generator = QSvgGenerator()
    generator.setOutputDevice(buffer)
    painter = QPainter(generator)
    paint_chips(painter, look, 0, 0, [Chip(LOW), Chip(SPACE_THE)])
    painter.end()
    svg = bytes(buffer.data().data()).decode()
    assert "low" in svg
    assert "<image" not in svg


def test_hatching_alternates_with_the_panel(look: Look) -> None:
    painter = QPainter(image := canvas(look))
    painter.setBrushOrigin(QPointF(0, 0))
    painter.fillRect(image.rect(), hatch_brush(look))
    painter.end()
    row = [image.pixelColor(x, 20).name() for x in range(64)]
    assert row[:8] == row[8:16]
    assert {look.theme.next.name(), look.theme.panel.name()} <= set(row)


def test_a_control_whose_picture_no_font_has_is_named_in_small_capitals(look: Look) -> None:
    class Bare(QFontMetricsF):
        """A font without control pictures."""

        def inFontUcs4(self, ucs4: int) -> bool:  # noqa: N802  # Qt names it
            return not 0x2400 <= ucs4 <= 0x2421

    bare = Bare(look.mono_font())
    assert text_of(drawable(visible_parts(b"a\r\n"), bare)) == "aᴄʀ⏎"
    assert drawable_text("ends in ␍⏎", bare) == "ends in ᴄʀ⏎"
    assert drawable_text("ends in ␍⏎", look.ui_metrics()) in ("ends in ␍⏎", "ends in ᴄʀ⏎")
    assert drawn_sign("␍", bare) == "ᴄʀ"
    assert drawn_sign("⏎", bare) == "⏎"
