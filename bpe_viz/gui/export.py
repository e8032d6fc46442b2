"""Figures: a panel or the whole window, drawn again into a file (never a screenshot)."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from PySide6.QtCore import QMarginsF, QPoint, QRectF, QSizeF
from PySide6.QtGui import QImage, QPageLayout, QPageSize, QPainter, QPdfWriter
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QWidget

from bpe_viz.errors import BpeVizError

SUFFIXES = (".png", ".svg", ".pdf")
_PIXELS_AN_INCH = 96


def figure_filters() -> str:
    """Return the file kinds for a save dialog."""
    return "SVG figure (*.svg);;PNG figure (*.png);;PDF figure (*.pdf)"


def export_figure(widget: QWidget, path: Path, scale: float = 1.0) -> None:
    """Draw a widget into a PNG, SVG or PDF file, as large as it is.

    scale: pixels a device-independent pixel, for PNG
    Raises BpeVizError for another suffix or if the file cannot be written; then nothing is left behind.
    """
    draw = {".png": _draw_png, ".svg": _draw_svg, ".pdf": _draw_pdf}.get(path.suffix.lower())
    if draw is None:
        raise BpeVizError(f"{path.name} is no figure that bpe_viz writes.", f"Name it {', '.join(SUFFIXES)}.")
    try:
        handle, name = tempfile.mkstemp(suffix=path.suffix, dir=path.absolute().parent)
    except OSError as error:
        raise BpeVizError(f"{path} cannot be written: {error.strerror}.", "Choose another folder.") from error
    os.close(handle)
    temporary = Path(name)
    try:
        draw(widget, temporary, scale)
        # mkstemp makes files that only their owner reads; a figure is an ordinary file.
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    except OSError as error:
        raise BpeVizError(f"{path} cannot be written: {error.strerror}.", "Choose another place.") from error
    finally:
        temporary.unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _draw_png(widget: QWidget, path: Path, scale: float) -> None:
    image = QImage(widget.size() * scale, QImage.Format.Format_ARGB32_Premultiplied)
    image.setDevicePixelRatio(scale)
    image.fill(widget.palette().color(widget.backgroundRole()))
    painter = QPainter(image)
    _render(widget, painter)
    painter.end()
    if not image.save(str(path)):
        raise BpeVizError(f"{path} cannot be written.", "Choose another place.")


def _draw_svg(widget: QWidget, path: Path, scale: float) -> None:
    generator = QSvgGenerator()
    generator.setFileName(str(path))
    generator.setSize(widget.size())
    generator.setViewBox(QRectF(QPoint(0, 0), widget.size()))
    generator.setResolution(_PIXELS_AN_INCH)
    generator.setTitle(widget.windowTitle() or "bpe-viz")
    painter = QPainter(generator)
    painter.fillRect(widget.rect(), widget.palette().color(widget.backgroundRole()))
    _render(widget, painter)
    painter.end()


def _draw_pdf(widget: QWidget, path: Path, scale: float) -> None:
    writer = QPdfWriter(str(path))
    writer.setResolution(_PIXELS_AN_INCH)
    points = QSizeF(widget.size()) * (72 / _PIXELS_AN_INCH)
    writer.setPageSize(QPageSize(points, QPageSize.Unit.Point))
    writer.setPageMargins(QMarginsF(0, 0, 0, 0), QPageLayout.Unit.Point)
    writer.setTitle(widget.windowTitle() or "bpe-viz")
    painter = QPainter(writer)
    painter.fillRect(widget.rect(), widget.palette().color(widget.backgroundRole()))
    _render(widget, painter)
    painter.end()


def _render(widget: QWidget, painter: QPainter) -> None:
    flags = QWidget.RenderFlag.DrawWindowBackground | QWidget.RenderFlag.DrawChildren
    widget.render(painter, QPoint(0, 0), renderFlags=flags)

