"""One line of figures that leaves out the less important ones where it has no room."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QPointF, QSize, Slot
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from bpe_viz.gui.look import Look

BETWEEN = " · "


class Figure(NamedTuple):
    """One piece of the line; the least important ones, those of the highest number, go first."""

    text: str
    goes: int
    bold: bool = False


class TotalsLabel(QWidget):
    """Draws figures, right-aligned."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._figures: tuple[Figure, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Expanding)
        look.changed.connect(self._fit_look)

    def show_figures(self, figures: Sequence[Figure]) -> None:
        """Show other figures."""
        if tuple(figures) == self._figures:
            return
        self._figures = tuple(figures)
        self.setToolTip(self.text)
        self.setAccessibleName(self.text)
        self._fit_look()

    @property
    def text(self) -> str:
        """All of it."""
        return BETWEEN.join(figure.text for figure in self._figures)

    def sizeHint(self) -> QSize:
        """Room for all."""
        return QSize(round(self._width(self._figures)) + 2, self._look.row_height)

    def minimumSizeHint(self) -> QSize:
        """Room for the most important one."""
        most = [figure for figure in self._figures if figure.goes == 0]
        return QSize(round(self._width(most)) + 2, self._look.row_height)

    def fitting(self, width: float) -> list[Figure]:
        """Return the figures that have room."""
        kept = list(self._figures)
        for figure in sorted(self._figures, key=lambda figure: -figure.goes):
            if self._width(kept) <= width or figure.goes == 0:
                break
            kept.remove(figure)
        return kept

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw what has room."""
        painter, look = QPainter(self), self._look
        figures = self.fitting(self.width())
        x = self.width() - self._width(figures)
        metrics = look.ui_metrics()
        baseline = (self.height() + metrics.ascent() - metrics.descent()) / 2
        for number, figure in enumerate(figures):
            for text, bold in ((BETWEEN if number else "", False), (figure.text, figure.bold)):
                painter.setFont(look.ui_font(bold=bold))
                painter.setPen(look.pen("ink" if bold else "dim"))
                painter.drawText(QPointF(x, baseline), text)
                x += look.ui_metrics(bold=bold).horizontalAdvance(text)

    def _width(self, figures: Sequence[Figure]) -> float:
        look = self._look
        between = look.ui_metrics().horizontalAdvance(BETWEEN) * max(0, len(figures) - 1)
        return between + sum(look.ui_metrics(bold=f.bold).horizontalAdvance(f.text) for f in figures)

    @Slot()
    def _fit_look(self) -> None:
        self.updateGeometry()
        self.update()
