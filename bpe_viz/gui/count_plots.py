"""Two plots of all pair counts: by rank, and how many pairs have which count. Both axes are logarithmic.

Imports pyqtgraph, so import this module only when a plot is first opened.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QVBoxLayout, QWidget

from bpe_viz.gui.look import Look

MOST_POINTS = 600
"""More than a plot has pixels across cannot be seen."""

SHORT_AXIS = 1.7
"""Decades below which the decades alone would be too few labels."""

LINE_WIDTH = 2.0
DOT = 6


class _PlainAxis(pg.AxisItem):  # type: ignore[misc]  # pyqtgraph ships no type information
    """A logarithmic axis that labels its decades 1, 10, 100, 1,000, and a short one 2 and 5 as well."""

    def tickValues(self, least: float, most: float, size: float) -> list[tuple[float, list[float]]]:
        first, last = math.floor(least), math.ceil(most)
        decades = [float(power) for power in range(first, last + 1) if least <= power <= most]
        between = [
            power + math.log10(digit)
            for power in range(first, last + 1)
            for digit in range(2, 10)
            if least <= power + math.log10(digit) <= most
        ]
        return [(1.0, decades), (0.1, between)]

    def tickStrings(self, values: Sequence[float], scale: float, spacing: float) -> list[str]:
        numbers = [round(10**value) for value in values]
        is_short = self.range[1] - self.range[0] < SHORT_AXIS
        is_labelled = [spacing >= 1.0 or (is_short and str(number)[0] in "25") for number in numbers]
        return [f"{number:,}" if yes else "" for number, yes in zip(numbers, is_labelled, strict=True)]


class CountPlot(QWidget):
    """One plot of counts; what it shows is a curve or dots in the colour of "next"."""

    def __init__(self, look: Look, name: str, x_title: str, y_title: str, *, is_curve: bool) -> None:
        super().__init__()
        self._look = look
        self._titles = (x_title, y_title)
        self._points: tuple[NDArray[np.float64], NDArray[np.float64]] = (np.empty(0), np.empty(0))
        self._is_curve = is_curve
        axes = {side: _PlainAxis(side) for side in ("bottom", "left")}
        self._plot = pg.PlotWidget(axisItems=axes)
        self._plot.setMenuEnabled(False)
        self._plot.hideButtons()
        self._plot.setRange(xRange=(0.0, 1.0), yRange=(0.0, 1.0), padding=0.02)
        self._plot.setMouseEnabled(False, False)
        self._plot.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._plot.setFrameShape(self._plot.Shape.NoFrame)
        self._item = pg.PlotDataItem()
        self._plot.addItem(self._item)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(name)
        self._layout = QVBoxLayout(self)
        self._layout.addWidget(self._plot)
        look.changed.connect(self._fit_look)
        self._fit_look()

    def points(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return what is drawn: x and y, not yet as logarithms."""
        return self._points

    def show_points(self, x: NDArray[np.float64], y: NDArray[np.float64], description: str) -> None:
        """Draw other points; description: what they show, in words."""
        self._points = (x, y)
        self.setAccessibleDescription(description)
        self._item.setData(np.log10(x), np.log10(y))
        if len(x):
            self._plot.setXRange(0.0, _decade_above(x), padding=0.02)
            self._plot.setYRange(0.0, _decade_above(y), padding=0.03)

    @Slot()
    def _fit_look(self) -> None:
        look = self._look
        self._layout.setContentsMargins(look.grid, look.grid, look.px(16), look.px(4))
        self._plot.setBackground(look.colour("panel"))
        ink, next_colour = look.colour("dim"), look.colour("next")
        for side, title in zip(("bottom", "left"), self._titles, strict=True):
            axis = self._plot.getAxis(side)
            axis.setPen(pg.mkPen(look.colour("line")))
            axis.setTextPen(pg.mkPen(ink))
            axis.setTickFont(look.ui_font(0.9))
            axis.setStyle(tickLength=-look.px(5), tickTextOffset=look.px(6), hideOverlappingLabels=True)
            axis.enableAutoSIPrefix(False)
            axis.setLabel(title, **{"color": ink.name(), "font-size": f"{look.ui_font(0.9).pointSizeF()}pt"})
        if self._is_curve:
            self._item.setPen(pg.mkPen(next_colour, width=LINE_WIDTH * look.zoom))
        else:
            self._item.setPen(None)
            self._item.setSymbol("o")
            self._item.setSymbolSize(look.px(DOT))
            self._item.setSymbolPen(pg.mkPen(look.colour("panel"), width=0.5))
            self._item.setSymbolBrush(pg.mkBrush(next_colour))


class RankPlot(CountPlot):
    """Every pair by its rank: how steeply the counts fall."""

    def __init__(self, look: Look) -> None:
        super().__init__(look, "All pairs by rank", "Rank of the pair", "Times counted", is_curve=True)

    def show_counts(self, counts: NDArray[np.int64]) -> None:
        """Draw counts, (pairs,) int64, the highest first."""
        ranks = _spread_ranks(len(counts))
        said = "No pairs."
        if len(counts):
            said = f"{len(counts):,} pairs; the first is counted {counts[0]:,} times, the last {counts[-1]:,}"
        self.show_points((ranks + 1).astype(np.float64), counts[ranks].astype(np.float64), said)


class SpreadPlot(CountPlot):
    """How many pairs have which count: most are rare, few are frequent."""

    def __init__(self, look: Look) -> None:
        super().__init__(look, "How many pairs have which count", "Times counted", "Pairs", is_curve=False)

    def show_counts(self, counts: NDArray[np.int64]) -> None:
        """Draw counts, (pairs,) int64, the highest first."""
        # Equal counts stand together: where the count changes, a run ends.
        ends = np.concatenate((np.flatnonzero(np.diff(counts)) + 1, [len(counts)]))[: len(counts)]
        how_many = np.diff(ends, prepend=0)
        values = counts[ends - 1]
        said = "No pairs."
        if len(counts):
            rare = int(how_many[-1])
            said = (
                f"{len(values):,} different counts; {rare:,} of {len(counts):,} pairs have the lowest, {values[-1]:,}."
            )
        self.show_points(values.astype(np.float64), how_many.astype(np.float64), said)


def _spread_ranks(n: int) -> NDArray[np.int64]:
    """Return at most MOST_POINTS places in n counts, evenly spread on a log axis, both ends included."""
    if n <= MOST_POINTS:
        return np.arange(n)
    spread = np.geomspace(1, n, MOST_POINTS).round().astype(np.int64) - 1
    return np.unique(spread)


def _decade_above(values: NDArray[np.float64]) -> float:
    """Return the exponent up to which an axis reaches, so that it moves seldom."""
    return max(0.5, math.ceil(2 * math.log10(float(values.max())) + 0.1) / 2)
