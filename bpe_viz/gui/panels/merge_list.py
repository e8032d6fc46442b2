"""The merge list: every merge in order, the cursor's in sight, and a search over the tokens."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QLabel, QLineEdit

from bpe_viz.engine.label_search import parse_wanted, symbols_holding
from bpe_viz.gui.branch_strip import BranchStrip, LineButton
from bpe_viz.gui.departure_button import DepartureButton
from bpe_viz.gui.fields import LEAST_FIELD, MOST_FIELD, show_fault
from bpe_viz.gui.look import Look
from bpe_viz.gui.merge_rows import MergeRows
from bpe_viz.gui.merge_texts import Row
from bpe_viz.gui.panel import Panel, PanelSpec
from bpe_viz.gui.workspace import Workspace

TITLE = "Merge list"
SYMBOLS_A_SLICE = 50_000
"""So many labels are searched at once: about 5 ms."""

FIND_HELP = """Find tokens that hold
est       this text; a space is a space
0x6573    these bytes
Enter goes to the next one, Shift+Enter to the one before."""


class FindField(QLineEdit):
    """A line edit that asks for the next or the previous hit."""

    asked = Signal(int)
    """1 for the next hit, -1 for the previous one."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go to hits with Enter and the arrows."""
        is_back = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        match event.key():
            case Qt.Key.Key_Return | Qt.Key.Key_Enter:
                self.asked.emit(-1 if is_back else 1)
            case Qt.Key.Key_Down:
                self.asked.emit(1)
            case Qt.Key.Key_Up:
                self.asked.emit(-1)
            case _:
                super().keyPressEvent(event)


class MergeListPanel(Panel):
    """The merges below a heading with the search."""

    def __init__(self, workspace: Workspace, look: Look) -> None:
        self.find_field = FindField()
        self.found_label = QLabel()
        super().__init__(workspace, look, TITLE)
        self.rows_view = MergeRows(workspace, look)
        self.rows_view.setAccessibleName(TITLE)
        self.line_button = LineButton(workspace)
        self.departures = DepartureButton(workspace, look)
        self.strip = BranchStrip(workspace, look)
        self._wanted = b""
        self._hits: list[int] = []
        self._hit: int | None = None
        self._is_hit_selected = False
        self._searched = 0
        self._search_timer = QTimer(self)
        self._search_timer.setInterval(0)
        self._search_timer.timeout.connect(self._search_slice)
        self.found_label.setProperty("role", "dim")
        self.find_field.setPlaceholderText("Find")
        self.find_field.setAccessibleName("Find a token in the merge list")
        self.find_field.setClearButtonEnabled(True)
        self.find_field.textChanged.connect(self._search_again)
        self.find_field.asked.connect(self.go_to_hit)
        show_fault(self.find_field, None, FIND_HELP)
        self.add_to_heading(self.line_button, after_stretch=False)
        self.add_to_heading(self.departures, after_stretch=False)
        self.add_to_heading(self.found_label)
        self.add_to_heading(self.find_field)
        self.set_body(self.strip)
        self.set_body(self.rows_view)
        workspace.timeline_changed.connect(self._search_again)
        workspace.frontier_changed.connect(self._search_on)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Share the height between what differs and the list."""
        super().resizeEvent(event)
        self.strip.fit_panel(self.height())

    # --- read by tests and by whoever exports ---

    def shown_rows(self) -> list[Row]:
        """Return the rows in view."""
        return self.rows_view.shown_rows()

    @property
    def hits(self) -> tuple[int, ...]:
        """The ranks of the merges found so far, in order."""
        return tuple(self._hits)

    @property
    def is_searching(self) -> bool:
        """Whether labels are still to be searched."""
        return self._search_timer.isActive()

    # --- searching ---

    def focus_find(self) -> None:
        """Put the keyboard into the search."""
        self.find_field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.find_field.selectAll()

    def activate(self) -> None:
        """Put the keyboard into the search."""
        self.focus_find()

    @Slot()
    def _search_again(self) -> None:
        self._wanted = parse_wanted(self.find_field.text())
        self._hits = []
        self._hit, self._is_hit_selected = None, False
        self.rows_view.show_hit(None)
        merges = self.workspace.merges
        self._searched = len(merges.base) if merges else 0
        self._search_timer.stop()
        self._search_on()
        self._show_found()

    @Slot()
    def _search_on(self) -> None:
        """Search the labels that were not searched yet; more of them come while training runs ahead."""
        merges = self.workspace.merges
        if self._wanted and merges is not None and self._searched < len(merges.base) + merges.frontier:
            self._search_timer.start()

    @Slot()
    def _search_slice(self) -> None:
        merges = self.workspace.merges
        known = len(merges.base) + merges.frontier if merges else 0
        if merges is None or self._searched >= known:
            self._search_timer.stop()
            self._show_found()
            return
        end = min(self._searched + SYMBOLS_A_SLICE, known)
        found = symbols_holding(merges.symbols, self._wanted, self._searched, end)
        self._searched = end
        self._hits += (found - len(merges.base)).tolist()
        if self._hit is None and self._hits:
            self._hit = 0
            self.rows_view.show_hit(self._hits[0])
        self._show_found()

    @Slot(int)
    def go_to_hit(self, step: int) -> None:
        """Select the next hit (1) or the previous one (-1); after the last comes the first."""
        if not self._hits:
            return
        if self._hit is None:
            self._hit = 0
        elif self._is_hit_selected or step < 0:
            self._hit = (self._hit + step) % len(self._hits)
        self._is_hit_selected = True
        self.rows_view.select_hit(self._hits[self._hit])
        self._show_found()

    def _show_found(self) -> None:
        if not self._wanted:
            self.found_label.setText("")
        elif self._hits and self._hit is not None:
            self.found_label.setText(f"{self._hit + 1:,} of {len(self._hits):,}")
        else:
            self.found_label.setText("" if self.is_searching else "none")

    @Slot()
    def _fit_look(self) -> None:
        super()._fit_look()
        self.find_field.setMinimumWidth(self.look.px(LEAST_FIELD))
        self.find_field.setMaximumWidth(self.look.px(MOST_FIELD))


PANEL = PanelSpec("merge_list", TITLE, MergeListPanel, "top", 2, 29)
