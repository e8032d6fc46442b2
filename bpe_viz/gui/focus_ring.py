"""When a painted widget shows that it has the focus: when keys brought it there, not a click or the start."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFocusEvent, QPainter

from bpe_viz.gui.look import Look

_BY_KEYS = frozenset(
    {
        Qt.FocusReason.TabFocusReason,
        Qt.FocusReason.BacktabFocusReason,
        Qt.FocusReason.ShortcutFocusReason,
    }
)


def came_by_keys(event: QFocusEvent) -> bool:
    """Tell whether the focus was moved by the keyboard."""
    return event.reason() in _BY_KEYS


def paint_focus_ring(painter: QPainter, look: Look, area: QRectF) -> None:
    """Draw the ring just inside an area."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(look.pen("next"))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    radius = look.px(4)
    painter.drawRoundedRect(area.adjusted(0.5, 0.5, -0.5, -0.5), radius, radius)
