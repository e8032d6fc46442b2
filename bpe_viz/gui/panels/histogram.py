"""The pair counts: bars of the most frequent pairs, and two plots of all of them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QSize, QTimer, Slot
from PySide6.QtGui import QActionGroup, QResizeEvent
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QMenu, QSizePolicy, QStackedWidget, QToolButton, QWidget

from bpe_viz.engine.types import Frame
from bpe_viz.gui.bars_view import DEFAULT_TOP, BarsView
from bpe_viz.gui.look import Look
from bpe_viz.gui.no_corpus_page import NoCorpusPage
from bpe_viz.gui.panel import Panel, PanelSpec
from bpe_viz.gui.shrinking_button import ShrinkingButton
from bpe_viz.gui.workspace import Workspace

if TYPE_CHECKING:
    from bpe_viz.gui.count_plots import RankPlot, SpreadPlot

TITLE = "Pair counts"
HEADING_SCALE = 0.95
HOW_MANY = (DEFAULT_TOP, 50, 100, 200, 500)
MILLISECONDS_BETWEEN_PLOTS = 60
NO_PAIRS = ("no pairs", "none")
_LATEST_ANSWER_SECONDS = 1.0

View = Literal["bars", "all pairs", "spread"]

_VIEWS: dict[View, tuple[str, str]] = {
    "bars": ("Bars", "The most frequent pairs, and what the last merge changed"),
    "all pairs": ("All pairs", "The count of every pair by its rank"),
    "spread": ("Spread", "How many pairs have which count"),
}


class HistogramPanel(Panel):
    """Switches between the bars and the plots, and says how many pairs there are."""

    def __init__(self, workspace: Workspace, look: Look) -> None:
        super().__init__(workspace, look, TITLE)
        self.bars = BarsView(workspace, look)
        self.plots: dict[View, RankPlot | SpreadPlot] = {}
        self._view: View = "bars"
        self._views = QStackedWidget()
        self._views.addWidget(self.bars)
        self.no_corpus = NoCorpusPage(workspace, look, "pair counts")
        self._views.addWidget(self.no_corpus)
        self.set_body(self._views)
        self._views.setFocusProxy(self.bars)
        self._switch = QWidget()
        self._tabs = self._make_tabs()
        self.how_many = self._make_how_many()
        self._asked_at: float | None = None
        self._is_plot_old = False
        self._plot_timer = QTimer(self)
        self._plot_timer.setSingleShot(True)
        self._plot_timer.setInterval(MILLISECONDS_BETWEEN_PLOTS)
        self._plot_timer.timeout.connect(self._ask_for_counts)
        look.changed.connect(self._fit_heading)
        self._fit_heading()
        workspace.corpus_changed.connect(self._show_corpus)
        workspace.frame_changed.connect(self.show_frame)
        if workspace.frame is not None:
            self.show_frame(workspace.frame)

    @property
    def view(self) -> View:
        """Which view is shown."""
        return self._view

    def show_view(self, view: View) -> None:
        """Show the bars or one of the plots."""
        self._view = view
        self._tabs[view].setChecked(True)
        self._show_page()
        self._plot_later()

    def _show_page(self) -> None:
        is_empty = self.no_corpus.is_wanted
        shown = self.no_corpus if is_empty else self.figure()
        self._views.setCurrentWidget(shown)
        self._views.setFocusProxy(shown)
        self._switch.setVisible(not is_empty)
        self.how_many.setVisible(self._view == "bars" and not is_empty)

    def figure(self) -> QWidget:
        """Return the view that is shown."""
        return self.bars if self._view == "bars" else self._plot(self._view)

    @Slot(object)
    def _show_corpus(self, _: object) -> None:
        self.no_corpus.follow()
        self._show_page()

    @Slot(object)
    def show_frame(self, frame: Frame) -> None:
        """Draw another frame."""
        self.bars.show_frame(frame)
        self.how_many.say(len(frame.top), frame.pairs)
        self._plot_later()

    def _make_tabs(self) -> dict[View, ShrinkingButton]:
        group = QButtonGroup(self)
        row = QHBoxLayout(self._switch)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        tabs: dict[View, ShrinkingButton] = {}
        for view, (title, meaning) in _VIEWS.items():
            tab = ShrinkingButton()
            tab.show_text(title)
            tab.setToolTip(meaning)
            tab.setAccessibleName(f"{title}: {meaning}")
            tab.setCheckable(True)
            tab.setProperty("role", "flat")
            tab.clicked.connect(lambda _=False, view=view: self.show_view(view))
            group.addButton(tab)
            row.addWidget(tab)
            tabs[view] = tab
        tabs["bars"].setChecked(True)
        self.add_to_heading(self._switch, after_stretch=False)
        return tabs

    def _make_how_many(self) -> _HowMany:
        button, menu = _HowMany(self.look), QMenu(self)
        choices = QActionGroup(menu)
        for top in HOW_MANY:
            choice = menu.addAction(f"Top {top}")
            choice.setCheckable(True)
            choice.setChecked(top == self.bars.top)
            choice.triggered.connect(lambda _=False, top=top: self.bars.set_top(top))
            choices.addAction(choice)
        button.setMenu(menu)
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        button.setProperty("role", "flat")
        button.say(0, 0)
        button.setToolTip("How many of the most frequent pairs are shown; as many as fit always are")
        self.add_to_heading(button)
        return button

    @Slot()
    def _fit_heading(self) -> None:
        """Set the controls a little smaller and closer than buttons, so that all fit beside the title."""
        look = self.look
        small = f"font-size: {look.ui_font(HEADING_SCALE).pointSizeF():.2f}pt; padding: {look.px(2)}px"
        for tab in self._tabs.values():
            tab.setStyleSheet(f"QToolButton {{ {small} {look.px(5)}px; }}")
            # Qt would leave room for an icon that there is not; checked, the text is bolder.
            text = look.ui_metrics(HEADING_SCALE, bold=True).horizontalAdvance(tab.full_text)
            tab.setMaximumWidth(round(text) + look.px(14))
        self._fit_tabs()
        dim = look.colour("dim").name()
        padding = f"{small} {look.px(20)}px {look.px(2)}px {look.px(4)}px"
        self.how_many.setStyleSheet(f"QToolButton {{ {padding}; color: {dim}; }}")

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the tabs to the heading, which is as wide."""
        super().resizeEvent(event)
        self._fit_tabs()

    def _fit_tabs(self) -> None:
        """Let tabs shorten only where not even they alone have room."""
        tabs = self._tabs.values()
        has_room = sum(tab.maximumWidth() for tab in tabs) + self.look.px(28) <= self.width()
        for tab in tabs:
            tab.setMinimumWidth(tab.maximumWidth() if has_room else self.look.px(40))

    def _plot(self, view: View) -> RankPlot | SpreadPlot:
        if view not in self.plots:
            # pyqtgraph takes a third of a second to import, and most people look at the bars.
            from bpe_viz.gui.count_plots import RankPlot, SpreadPlot

            self.plots[view] = RankPlot(self.look) if view == "all pairs" else SpreadPlot(self.look)
            self._views.addWidget(self.plots[view])
        return self.plots[view]

    # --- the plots follow the frame, but not every one of them ---

    def _plot_later(self) -> None:
        self._is_plot_old = self._view != "bars" and not self.no_corpus.is_wanted
        if self._is_plot_old and not self._plot_timer.isActive():
            self._plot_timer.start()

    @Slot()
    def _ask_for_counts(self) -> None:
        """Ask for the counts, unless an answer is on its way: a newer question would drop it."""
        now = time.monotonic()
        if self._asked_at is not None and now - self._asked_at < _LATEST_ANSWER_SECONDS:
            self._plot_timer.start()
            return
        self._asked_at = now
        self._is_plot_old = False
        self.workspace.request_counts(self._show_counts)

    def _show_counts(self, counts: NDArray[np.int64]) -> None:
        self._asked_at = None
        self._plot_timer.stop()
        if self._view in self.plots:
            self.plots[self._view].show_counts(counts)
        if self._is_plot_old:
            self._plot_later()


class _HowMany(QToolButton):
    """Says how many pairs are shown, in fewer words where there is little room.

    Its text grows with the counts: it must not push the panel wider while merges play.
    """

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._texts: tuple[str, ...] = NO_PAIRS
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)

    def say(self, shown: int, total: int) -> None:
        """Say how many of how many."""
        self._texts = (f"top {shown:,} of {total:,}", f"{shown:,} of {total:,}", f"{shown:,}") if total else NO_PAIRS
        self.setAccessibleName(f"{self._texts[0]} pairs" if total else "no pairs")
        self.updateGeometry()
        self._fit()

    def sizeHint(self) -> QSize:
        """Ask for room for all words and the arrow."""
        return QSize(self._width(self._texts[0]), super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        """Do with a part of the text."""
        return QSize(min(self._width(self._texts[-1]), self._look.px(64)), super().sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Choose the words that fit."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        fitting = (text for text in self._texts if self._width(text) <= self.width())
        self.setText(next(fitting, self._texts[-1]))

    def _width(self, text: str) -> int:
        advance = self._look.ui_metrics(HEADING_SCALE).horizontalAdvance(text)
        return round(advance) + self._look.px(34)


PANEL = PanelSpec("histogram", TITLE, HistogramPanel, "top", 0, 34)
