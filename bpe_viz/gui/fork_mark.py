"""The mark of a merge that was chosen by hand: a line that forks."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPainterPath

from bpe_viz.gui.look import Look
from bpe_viz.gui.theme import Role

WIDTH, HEIGHT = 9, 13
_DOT = 1.8


def paint_fork(painter: QPainter, look: Look, left: float, middle: float, role: Role) -> None:
    """Draw the mark, its left edge and the middle of its height given in pixels."""
    zoom = look.zoom
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.translate(left, middle - HEIGHT * zoom / 2)
    painter.scale(zoom, zoom)
    trunk, branch = _DOT, WIDTH - _DOT
    path = QPainterPath(QPointF(trunk, _DOT))
    path.lineTo(trunk, HEIGHT - _DOT)
    path.moveTo(trunk, HEIGHT * 0.72)
    path.cubicTo(trunk, HEIGHT * 0.45, branch, HEIGHT * 0.6, branch, _DOT + 2)
    painter.setPen(look.pen(role, 1.3))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawPath(path)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(look.brush(role))
    for x, y in ((trunk, _DOT), (trunk, HEIGHT - _DOT), (branch, _DOT + 1)):
        painter.drawEllipse(QRectF(x - _DOT, y - _DOT, 2 * _DOT, 2 * _DOT))
    painter.restore()
