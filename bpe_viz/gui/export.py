"""Figures: a panel or the whole window, drawn again into a file (never a screenshot)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QMarginsF, QPoint, QRectF, QSizeF
from PySide6.QtGui import QImage, QPageLayout, QPageSize, QPainter, QPdfWriter
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QWidget

from bpe_viz.errors import BpeVizError
from bpe_viz.whole_file import whole_file

_PIXELS_AN_INCH = 96
_POINTS_AN_INCH = 72


def figure_filters() -> str:
    """Return the file kinds for a save dialog."""
    return "SVG figure (*.svg);;PNG figure (*.png);;PDF figure (*.pdf)"


def export_figure(widget: QWidget, path: Path, scale: float = 1.0) -> None:
    """Draw a widget into a PNG, SVG or PDF file, as large as it is.

    scale: pixels a device-independent pixel, for PNG
    Raises BpeVizError for another suffix or if the file cannot be written; then nothing is left behind.
    """
    draw = _KINDS.get(path.suffix.lower())
    if draw is None:
        raise BpeVizError(f"{path.name} is no figure that bpe-viz writes.", f"Name it {', '.join(_KINDS)}.")
    drawn = QByteArray()
    buffer = QBuffer(drawn)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    draw(widget, buffer, scale)
    buffer.close()
    with whole_file(path) as file:
        file.write(drawn.data())


def _draw_png(widget: QWidget, device: QIODevice, scale: float) -> None:
    image = QImage(widget.size() * scale, QImage.Format.Format_ARGB32_Premultiplied)
    image.setDevicePixelRatio(scale)
    painter = QPainter(image)
    _render(widget, painter)
    painter.end()
    image.save(device, "PNG")  # type: ignore[call-overload]  # takes str too; the stubs ask for bytes


def _draw_svg(widget: QWidget, device: QIODevice, scale: float) -> None:
    generator = QSvgGenerator()
    generator.setOutputDevice(device)
    generator.setSize(widget.size())
    generator.setViewBox(QRectF(QPoint(0, 0), widget.size()))
    generator.setResolution(_PIXELS_AN_INCH)
    generator.setTitle(widget.windowTitle())
    painter = QPainter(generator)
    _render(widget, painter)
    painter.end()


def _draw_pdf(widget: QWidget, device: QIODevice, scale: float) -> None:
    writer = QPdfWriter(device)
    writer.setResolution(_PIXELS_AN_INCH)
    points = QSizeF(widget.size()) * (_POINTS_AN_INCH / _PIXELS_AN_INCH)
    writer.setPageSize(QPageSize(points, QPageSize.Unit.Point))
    writer.setPageMargins(QMarginsF(0, 0, 0, 0), QPageLayout.Unit.Point)
    writer.setTitle(widget.windowTitle())
    painter = QPainter(writer)
    _render(widget, painter)
    painter.end()


def _render(widget: QWidget, painter: QPainter) -> None:
    painter.fillRect(widget.rect(), widget.palette().color(widget.backgroundRole()))
    flags = QWidget.RenderFlag.DrawWindowBackground | QWidget.RenderFlag.DrawChildren
    widget.render(painter, QPoint(0, 0), renderFlags=flags)


_KINDS: dict[str, Callable[[QWidget, QIODevice, float], None]] = {
    ".png": _draw_png,
    ".svg": _draw_svg,
    ".pdf": _draw_pdf,
}
