"""The one object that panels are given to draw with: theme, fonts, zoom, and what is cached for them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeVar

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtGui import QBrush, QColor, QFont, QFontMetricsF, QGuiApplication, QPen

from bpe_viz.gui.theme import SYSTEM_THEME, Role, Theme, load_theme

UI_FAMILIES = ("Inter", "SF Pro Text", "Segoe UI", "Cantarell", "Ubuntu", "Noto Sans", "DejaVu Sans")
MONO_FAMILIES = (
    "JetBrains Mono",
    "SF Mono",
    "Cascadia Mono",
    "Menlo",
    "Consolas",
    "Noto Sans Mono",
    "DejaVu Sans Mono",
)

# A point is 4/3 pixels at normal scale, but one pixel on macOS, where type would be a quarter smaller.
_POINT = 4 / 3 if sys.platform == "darwin" else 1.0
UI_POINTS = 10.0 * _POINT
MONO_POINTS = 10.5 * _POINT

GRID = 8
ROW = 24
LEAST_ZOOM, MOST_ZOOM = 0.6, 4.0
DASHES = (3.0, 2.0)

Face = Literal["ui", "mono"]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Fonts:
    """The two faces at one zoom: one for labels and numbers, one of fixed width for symbols."""

    zoom: float = 1.0

    def ui(self, scale: float = 1.0, bold: bool = False) -> QFont:
        """Return the face for labels; its figures are all of one width."""
        font = _font(UI_FAMILIES, UI_POINTS * self.zoom * scale, QFont.StyleHint.SansSerif)
        font.setFeature(QFont.Tag("tnum"), 1)
        if bold:
            font.setWeight(QFont.Weight.DemiBold)
        return font

    def mono(self, scale: float = 1.0) -> QFont:
        """Return the fixed-width face for symbols, without ligatures: each character is its own."""
        font = _font(MONO_FAMILIES, MONO_POINTS * self.zoom * scale, QFont.StyleHint.Monospace)
        font.setFixedPitch(True)
        for ligatures in ("liga", "calt"):
            font.setFeature(QFont.Tag(ligatures), 0)
        return font


def _font(families: tuple[str, ...], points: float, hint: QFont.StyleHint) -> QFont:
    font = QFont(list(families))
    font.setStyleHint(hint)
    font.setPointSizeF(points)
    return font


class Look(QObject):
    """Theme and zoom, and the fonts, brushes and pens that follow from them.

    changed is emitted after a change of either; whoever caches a size or a colour drops it then.
    Fonts, brushes, pens and metrics are shared: copy one before changing it.
    """

    changed = Signal()

    def __init__(self, theme: str = SYSTEM_THEME, zoom: float = 1.0, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme_choice = theme
        self._theme = load_theme(theme)
        self._zoom = _allowed(zoom)
        self._generation = 0
        self._fonts: dict[tuple[Face, float, bool], QFont] = {}
        self._metrics: dict[tuple[Face, float, bool], QFontMetricsF] = {}
        self._brushes: dict[int, QBrush] = {}
        self._pens: dict[tuple[int, float, bool], QPen] = {}
        self._shared: dict[object, object] = {}
        QGuiApplication.styleHints().colorSchemeChanged.connect(self._follow_system)

    @property
    def theme(self) -> Theme:
        """The colours."""
        return self._theme

    @property
    def theme_choice(self) -> str:
        """What was asked for: a theme's name or SYSTEM_THEME."""
        return self._theme_choice

    def set_theme(self, name: str) -> None:
        """Show the colours of this theme; SYSTEM_THEME follows the system.

        Raises BpeVizError if there is no such theme; the old one stays.
        """
        theme = load_theme(name)
        self._theme_choice = name
        if theme != self._theme:
            self._theme = theme
            self._renew()

    @property
    def zoom(self) -> float:
        """How much larger than normal everything is; 1.0 is normal."""
        return self._zoom

    def set_zoom(self, zoom: float) -> None:
        """Show everything larger or smaller, between LEAST_ZOOM and MOST_ZOOM."""
        zoom = _allowed(zoom)
        if zoom != self._zoom:
            self._zoom = zoom
            self._renew()

    @property
    def generation(self) -> int:
        """Counts the changes: a key for caches kept elsewhere."""
        return self._generation

    def px(self, pixels: float) -> int:
        """Scale a positive length drawn for zoom 1 to whole device-independent pixels, 1 at least."""
        return max(1, round(pixels * self._zoom))

    @property
    def grid(self) -> int:
        """The unit of all distances: 8 pixels at zoom 1."""
        return self.px(GRID)

    @property
    def row_height(self) -> int:
        """The height of a row: 24 pixels at zoom 1, more where the system's fonts are larger."""
        return max(self.px(ROW), round(self.mono_metrics().height()) + self.px(6))

    def ui_font(self, scale: float = 1.0, bold: bool = False) -> QFont:
        """Return the font for labels and numbers."""
        return self._font("ui", scale, bold)

    def mono_font(self, scale: float = 1.0) -> QFont:
        """Return the fixed-width font for symbols."""
        return self._font("mono", scale, False)

    def ui_metrics(self, scale: float = 1.0, bold: bool = False) -> QFontMetricsF:
        """Return the measures of ui_font."""
        return self._measures("ui", scale, bold)

    def mono_metrics(self, scale: float = 1.0) -> QFontMetricsF:
        """Return the measures of mono_font."""
        return self._measures("mono", scale, False)

    def colour(self, role: Role) -> QColor:
        """Return the theme's colour for a role."""
        return self._theme.colour(role)

    def brush(self, colour: Role | QColor) -> QBrush:
        """Return a solid brush."""
        value = self._value(colour)
        key = value.rgba()
        if key not in self._brushes:
            self._brushes[key] = QBrush(value)
        return self._brushes[key]

    def pen(self, colour: Role | QColor, width: float = 1.0, dashed: bool = False) -> QPen:
        """Return a pen; width in device-independent pixels."""
        value = self._value(colour)
        key = (value.rgba(), width, dashed)
        if key not in self._pens:
            pen = QPen(value, width)
            if dashed:
                pen.setDashPattern(DASHES)
            self._pens[key] = pen
        return self._pens[key]

    def shared(self, make: Callable[[Look], T]) -> T:
        """Return make(self), the same one at every call until the look changes.

        For what is dear to make and follows from the look alone, such as painted chips.
        """
        if make not in self._shared:
            self._shared[make] = make(self)
        return self._shared[make]  # type: ignore[return-value]  # stored under the function that made it

    def _value(self, colour: Role | QColor) -> QColor:
        return colour if isinstance(colour, QColor) else self._theme.colour(colour)

    def _font(self, face: Face, scale: float, bold: bool) -> QFont:
        key = (face, scale, bold)
        if key not in self._fonts:
            fonts = Fonts(self._zoom)
            self._fonts[key] = fonts.ui(scale, bold) if face == "ui" else fonts.mono(scale)
        return self._fonts[key]

    def _measures(self, face: Face, scale: float, bold: bool) -> QFontMetricsF:
        key = (face, scale, bold)
        if key not in self._metrics:
            self._metrics[key] = QFontMetricsF(self._font(face, scale, bold))
        return self._metrics[key]

    @Slot()
    def _follow_system(self) -> None:
        if self._theme_choice == SYSTEM_THEME:
            self.set_theme(SYSTEM_THEME)

    def _renew(self) -> None:
        self._generation += 1
        for cache in (self._fonts, self._metrics, self._brushes, self._pens, self._shared):
            cache.clear()
        self.changed.emit()


def _allowed(zoom: float) -> float:
    return min(max(zoom, LEAST_ZOOM), MOST_ZOOM)
