"""The word splits: every pre-token with its count, and how it is split at the cursor."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Slot
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QLabel, QLineEdit, QMenu, QStackedWidget, QToolButton, QVBoxLayout, QWidget

from bpe_viz.engine.row_order import SortBy, parse_filter
from bpe_viz.engine.types import Frame
from bpe_viz.engine.visible import visible
from bpe_viz.errors import OptionError
from bpe_viz.gui.fields import LEAST_FIELD, MOST_FIELD, show_fault
from bpe_viz.gui.look import Look
from bpe_viz.gui.no_corpus_page import NoCorpusPage
from bpe_viz.gui.panel import Panel, PanelSpec
from bpe_viz.gui.row_listing import Rows
from bpe_viz.gui.shrinking_button import ShrinkingButton
from bpe_viz.gui.word_rows import DIFFERS, WordRows
from bpe_viz.gui.workspace import Workspace

TITLE = "Word splits"
FILTER_DELAY = 150
"""Milliseconds without a key after which the filter is used."""

SORTS: dict[SortBy, str] = {
    "changed": "changed first",
    "count": "by count",
    "length": "by length",
    "name": "by name",
}

FILTER_HINT = "Filter: e [e] [e][s]"
FILTER_HELP = """Show only the pre-tokens that hold
est        this text
[est]      this symbol, as split now
[w][est]   this pair of symbols, side by side
[≠] [!=]   the mark ≠: split otherwise at the end of a replay"""

LONGEST_EXAMPLE = 24
ALL_ONE = "Every pre-token is one symbol: nothing is left to merge."


class WordSplitsPanel(Panel):
    """Rows of pre-tokens below a heading that sorts and filters them."""

    def __init__(self, workspace: Workspace, look: Look) -> None:
        self.sort_button = ShrinkingButton()
        self.filter_field = QLineEdit()
        self.filtered_count = QLabel()
        super().__init__(workspace, look, TITLE)
        self.rows_view = WordRows(workspace, look)
        self.rows_view.setAccessibleName(TITLE)
        self._note = QLabel(ALL_ONE)
        self._note.setProperty("role", "dim")
        self._note.setWordWrap(True)
        self._note.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._note.hide()
        self._fit_note()
        self.no_corpus = NoCorpusPage(workspace, look, "word splits")
        self._filter_timer = QTimer(self)
        self._filter_timer.setSingleShot(True)
        self._filter_timer.setInterval(FILTER_DELAY)
        self._filter_timer.timeout.connect(self._use_filter)
        self._fill_heading()
        self._fill_body()
        workspace.listing.rows_changed.connect(self._show_count)
        workspace.frame_changed.connect(self._show_note)
        workspace.corpus_changed.connect(self._show_corpus)
        self.sort_by("changed")

    def _fill_heading(self) -> None:
        self.filtered_count.setProperty("role", "dim")
        self.sort_button.setProperty("role", "flat")
        self.sort_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.sort_button.setToolTip("In which order the pre-tokens are listed")
        self.sort_button.setAccessibleName("Order of the pre-tokens")
        menu, group = QMenu(self.sort_button), QActionGroup(self)
        for sort, title in SORTS.items():
            action = menu.addAction(title)
            action.setCheckable(True)
            action.setData(sort)
            group.addAction(action)
        group.triggered.connect(self._sort_chosen)
        self._sort_actions = group
        self.sort_button.setMenu(menu)
        self.filter_field.setPlaceholderText(FILTER_HINT)
        self.filter_field.setAccessibleName("Filter the pre-tokens")
        self.filter_field.setClearButtonEnabled(True)
        self.filter_field.textChanged.connect(self._filter_timer.start)
        self.filter_field.returnPressed.connect(self._use_filter)
        show_fault(self.filter_field, None, FILTER_HELP)
        for widget in (self.filtered_count, self.sort_button, self.filter_field):
            self.add_to_heading(widget)

    def _fill_body(self) -> None:
        body = QWidget()
        column = QVBoxLayout(body)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.rows_view, 1)
        column.addWidget(self._note)
        body.setFocusProxy(self.rows_view)
        self._pages = QStackedWidget()
        self._pages.addWidget(body)
        self._pages.addWidget(self.no_corpus)
        self.set_body(self._pages)

    # --- read by tests and by whoever exports ---

    def shown_rows(self) -> list[tuple[int, list[str]]]:
        """Return count and symbols of the rows in view."""
        return self.rows_view.shown_rows()

    @property
    def shown_note(self) -> str:
        """What is said below the rows."""
        return self._note.text() if self._note.isVisibleTo(self) else ""

    # --- sorting and filtering ---

    def activate(self) -> None:
        """Put the keyboard into the filter."""
        self.filter_field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.filter_field.selectAll()

    def sort_by(self, sort: SortBy) -> None:
        """List the pre-tokens in this order, from the top."""
        for action in self._sort_actions.actions():
            action.setChecked(action.data() == sort)
        self.sort_button.show_text(SORTS[sort])
        self.rows_view.scroll_to(0)
        self.workspace.listing.list_rows(sort=sort)

    @Slot(QAction)
    def _sort_chosen(self, action: QAction) -> None:
        self.sort_by(action.data())

    @Slot()
    def _use_filter(self) -> None:
        self._filter_timer.stop()
        typed = self.filter_field.text()
        try:
            # In the workspace a filter that cannot be read would fail again at every step.
            parse_filter(typed)
        except OptionError as error:
            show_fault(self.filter_field, str(error), FILTER_HELP)
            return
        show_fault(self.filter_field, None, FILTER_HELP)
        self.rows_view.filter_text = typed
        self.rows_view.scroll_to(0)
        self.workspace.listing.list_rows(typed_filter=typed)

    @Slot(object)
    def _show_corpus(self, _: object) -> None:
        self.no_corpus.follow()
        is_empty = self.no_corpus.is_wanted
        self._pages.setCurrentIndex(1 if is_empty else 0)
        for widget in (self.filtered_count, self.sort_button, self.filter_field):
            widget.setVisible(not is_empty)

    @Slot(object)
    def _show_count(self, rows: Rows) -> None:
        is_filtered = bool(self.rows_view.filter_text)
        self.filtered_count.setText(f"{len(rows.order):,} of {rows.total:,}" if is_filtered else "")

    @Slot(object)
    def _show_note(self, frame: Frame) -> None:
        corpus, timeline = self.workspace.corpus, self.workspace.timeline
        if corpus is None or timeline is None:
            return
        differing = timeline.differing
        if differing:
            example = visible(corpus.pretokens.content(next(iter(differing))), limit=LONGEST_EXAMPLE)
            self._note.setText(
                f"{DIFFERS} In {len(differing):,} of {len(corpus.pretokens):,} pre-tokens, such as {example}, the list "
                "made step by step ends in another split than its own library gives, which merges lowest rank first. "
                "The filter [≠] shows them alone."
            )
        else:
            self._note.setText(ALL_ONE)
        self._note.setVisible(bool(differing) or (frame.pairs == 0 and len(corpus.pretokens) > 0))

    @Slot()
    def _fit_look(self) -> None:
        super()._fit_look()
        self.filter_field.setMinimumWidth(self.look.px(LEAST_FIELD))
        self.filter_field.setMaximumWidth(self.look.px(MOST_FIELD))
        if hasattr(self, "_note"):
            self._fit_note()

    def _fit_note(self) -> None:
        side = self.look.px(16)
        self._note.setContentsMargins(side, self.look.grid, side, side)


PANEL = PanelSpec("word_splits", TITLE, WordSplitsPanel, "top", 1, 37)
