"""The transport buttons: to the start, back, play or pause, on, to the end. Their signs are drawn."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Slot
from PySide6.QtGui import QPainter, QPainterPath, QPaintEvent, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QToolButton

from bpe_viz.gui.look import Look
from bpe_viz.gui.theme import Role

Sign = Literal["first", "back", "play", "pause", "on", "last"]

SIDE = 32
_CELL = 16.0
"""Signs are drawn on a square of so many units."""


def sign_path(sign: Sign) -> QPainterPath:
    """Return the shape of a sign on a square of 16 units."""
    path = QPainterPath()
    match sign:
        case "play":
            _add_triangle(path, 4.5, 13.5)
        case "pause":
            path.addRoundedRect(QRectF(3.5, 2.5, 3.2, 11), 0.8, 0.8)
            path.addRoundedRect(QRectF(9.3, 2.5, 3.2, 11), 0.8, 0.8)
        case "on":
            _add_triangle(path, 3.0, 10.5)
            path.addRoundedRect(QRectF(11.2, 3, 2, 10), 0.6, 0.6)
        case "back":
            _add_triangle(path, 13.0, 5.5)
            path.addRoundedRect(QRectF(2.8, 3, 2, 10), 0.6, 0.6)
        case "last":
            _add_triangle(path, 1.5, 7.0)
            _add_triangle(path, 7.0, 12.5)
            path.addRoundedRect(QRectF(12.6, 3, 2, 10), 0.6, 0.6)
        case "first":
            _add_triangle(path, 14.5, 9.0)
            _add_triangle(path, 9.0, 3.5)
            path.addRoundedRect(QRectF(1.4, 3, 2, 10), 0.6, 0.6)
    return path


def _add_triangle(path: QPainterPath, base: float, tip: float) -> None:
    """Add a triangle that points from its base at one x to its tip at another."""
    corners = [QPointF(base, 3.0), QPointF(tip, 8.0), QPointF(base, 13.0), QPointF(base, 3.0)]
    path.addPolygon(QPolygonF(corners))


class TransportButton(QToolButton):
    """A button with a drawn sign; the frame around it is the style sheet's."""

    def __init__(self, look: Look, sign: Sign, *, is_primary: bool = False) -> None:
        super().__init__()
        self._look = look
        self._sign: Sign = sign
        if is_primary:
            self.setProperty("role", "primary")
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        look.changed.connect(self._fit_look)
        self._fit_look()

    @property
    def sign(self) -> Sign:
        """What is drawn on it."""
        return self._sign

    def set_sign(self, sign: Sign) -> None:
        """Draw another sign."""
        if sign != self._sign:
            self._sign = sign
            self.update()

    def explain(self, title: str, keys: str, why_disabled: str | None) -> None:
        """Name the button; why_disabled: the reason why it cannot be pressed now, None if it can."""
        self.setEnabled(why_disabled is None)
        self.setAccessibleName(title)
        self.setAccessibleDescription(why_disabled or "")
        self.setToolTip(f"{title}  ({keys})" if why_disabled is None else why_disabled)

    def sizeHint(self) -> QSize:
        """Ask for a square."""
        side = self._look.px(SIDE)
        return QSize(side, side)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the sign over the button."""
        super().paintEvent(event)
        is_primary = self.property("role") == "primary"
        role: Role = "faint" if not self.isEnabled() else "next_ink" if is_primary else "ink"
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._look.brush(role))
        scale = self._look.px(14) / _CELL
        side = _CELL * scale
        painter.translate((self.width() - side) / 2, (self.height() - side) / 2)
        painter.scale(scale, scale)
        painter.drawPath(sign_path(self._sign))
        painter.end()

    @Slot()
    def _fit_look(self) -> None:
        self.setFixedSize(self.sizeHint())
        self.update()
