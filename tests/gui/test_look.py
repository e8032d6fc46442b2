"""Theme, fonts and zoom follow one object."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QComboBox, QLabel, QLineEdit, QPushButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from bpe_viz.errors import BpeVizError
from bpe_viz.gui.look import LEAST_ZOOM, MOST_ZOOM, Look
from bpe_viz.gui.style_sheet import palette, style_sheet
from bpe_viz.gui.theme import SYSTEM_THEME, theme_names


def test_zoom_scales_fonts_grid_and_rows(look: Look, qtbot: QtBot) -> None:
    points, row = look.mono_font().pointSizeF(), look.row_height
    with qtbot.waitSignal(look.changed):
        look.set_zoom(2.0)
    assert look.mono_font().pointSizeF() == pytest.approx(2 * points)
    assert look.grid == 16
    assert look.row_height >= 2 * row - 4


def test_zoom_stays_within_its_limits(look: Look) -> None:
    look.set_zoom(99)
    assert look.zoom == MOST_ZOOM
    look.set_zoom(0)
    assert look.zoom == LEAST_ZOOM


def test_what_is_unchanged_is_not_announced(look: Look, qtbot: QtBot) -> None:
    with qtbot.assertNotEmitted(look.changed):
        look.set_zoom(1.0)
        look.set_theme("light")


def test_an_unknown_theme_leaves_the_old_one(look: Look) -> None:
    before = look.theme
    with pytest.raises(BpeVizError):
        look.set_theme("pink")
    assert look.theme == before
    assert look.theme_choice == "light"


def test_the_system_theme_is_light_or_dark(look: Look) -> None:
    look.set_theme(SYSTEM_THEME)
    assert look.theme.name in {"light", "dark"}
    assert look.theme_choice == SYSTEM_THEME


def test_pens_and_brushes_take_the_new_theme(look: Look) -> None:
    before = look.brush("panel").color()
    assert look.brush("panel") is look.brush("panel")
    look.set_theme("dark")
    assert look.brush("panel").color() == look.theme.panel != before
    assert look.pen("line").color() == look.theme.line


def test_shared_things_are_made_once_a_change(look: Look) -> None:
    made: list[float] = []

    def make(look: Look) -> float:
        made.append(look.zoom)
        return look.zoom

    assert look.shared(make) == look.shared(make) == 1.0
    look.set_zoom(1.5)
    assert look.shared(make) == 1.5
    assert made == [1.0, 1.5]


@pytest.mark.parametrize("theme", theme_names())
@pytest.mark.parametrize("zoom", [LEAST_ZOOM, 1.0, 2.5])
def test_the_style_sheet_parses_and_dresses_widgets(qtbot: QtBot, theme: str, zoom: float) -> None:
    look = Look(theme, zoom)
    window = QWidget()
    qtbot.addWidget(window)
    layout = QVBoxLayout(window)
    for widget in (QLabel("R&&D"), QPushButton("Save"), QLineEdit("filter"), QComboBox()):
        layout.addWidget(widget)
    window.setPalette(palette(look))
    window.setStyleSheet(style_sheet(look))
    window.show()
    window.grab()
    assert "$" not in style_sheet(look)


def test_the_style_sheet_follows_the_zoom(qtbot: QtBot, look: Look) -> None:
    button = QPushButton("Save")
    qtbot.addWidget(button)
    button.setStyleSheet(style_sheet(look))
    height = button.sizeHint().height()
    look.set_zoom(2.0)
    button.setStyleSheet(style_sheet(look))
    assert button.sizeHint().height() > 1.5 * height


def test_disabled_text_is_faint(look: Look) -> None:
    colours = palette(look)
    disabled = colours.color(QPalette.ColorGroup.Disabled, QPalette.ColorRole.Text)
    assert disabled == look.theme.faint
