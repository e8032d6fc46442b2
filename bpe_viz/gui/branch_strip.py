"""Branches above the merge list: a button that switches between timelines, and the merges that first differ."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRect, QSize, Qt, Signal, Slot
from PySide6.QtGui import QActionGroup, QIcon, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QMenu, QToolButton, QVBoxLayout, QWidget

from bpe_viz.assets import resource
from bpe_viz.engine.visible import Parts, visible_parts
from bpe_viz.gui.branches import Line
from bpe_viz.gui.chips import GAP, Chip, chip_height, chip_width, paint_chips
from bpe_viz.gui.elided_label import ElidedLabel
from bpe_viz.gui.glyphs import drawable
from bpe_viz.gui.look import Look
from bpe_viz.gui.shrinking_button import ShrinkingButton
from bpe_viz.gui.symbol_fit import fair_shares, fitted
from bpe_viz.gui.training_changes import Comparison, Difference, Text
from bpe_viz.gui.workspace import Workspace

LEFT, COLUMN_GAP, SMALL = 12, 12, 0.9
LONGEST_SHARE = 0.5
"""Of the panel's height, at the most: what is below is the merge list."""


class LineButton(ShrinkingButton):
    """Names the timeline that is shown, and lists all; there only while there are branches."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self._workspace = workspace
        menu = QMenu(self)
        menu.aboutToShow.connect(self._fill)
        self.setMenu(menu)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setProperty("role", "flat")
        workspace.branches.changed.connect(self.follow)
        self.follow()

    @Slot()
    def follow(self) -> None:
        """Name the line that is shown."""
        branches = self._workspace.branches
        self.setVisible(len(branches.lines) > 1)
        if branches.shown is not None:
            self.show_text(_capital(branches.shown.name) if branches.shown.number else "Main")
            self.setToolTip(f"{branches.shown.title}\nThe next timeline: Ctrl+B")
            self.setAccessibleName(f"Timeline: {branches.shown.title}")

    @Slot()
    def _fill(self) -> None:
        menu, workspace = self.menu(), self._workspace
        menu.clear()
        choices = QActionGroup(menu)
        for line in workspace.branches.lines:
            choice = menu.addAction(line.title.replace("&", "&&"))
            choice.setCheckable(True)
            choice.setChecked(line is workspace.branches.shown)
            choice.triggered.connect(lambda _=False, line=line: self._show(line))
            choices.addAction(choice)

    def _show(self, line: Line) -> None:
        # The same position on the other timeline is what one wants to compare.
        self._workspace.branches.show(line, self._workspace.position)


class BranchStrip(QWidget):
    """Says where the shown timeline departs, and from which; shows the first merges that differ side by side."""

    def __init__(self, workspace: Workspace, look: Look) -> None:
        super().__init__()
        self._workspace = workspace
        self._look = look
        self._dismissed: Line | None = None
        self._has_room = True
        self._title = ElidedLabel()
        self._close = QToolButton()
        self._close.setIcon(QIcon(str(resource("icons", "close.svg"))))
        self._close.setAccessibleName("Close")
        self._close.setProperty("role", "flat")
        self._close.setToolTip("Hide what differs; the merge list keeps its mark")
        self._close.clicked.connect(self._dismiss)
        self.rows = DifferenceRows(look)
        self.rows.position_chosen.connect(workspace.jump)
        top = QHBoxLayout()
        top.setContentsMargins(0, 0, 0, 0)
        top.addWidget(self._title, 1)
        top.addWidget(self._close)
        self._column = QVBoxLayout(self)
        self._column.addLayout(top)
        self._column.addWidget(self.rows)
        self._column.setSpacing(0)
        workspace.branches.changed.connect(self.follow)
        look.changed.connect(self._fit_look)
        self._fit_look()
        self.follow()

    @property
    def text(self) -> str:
        """What it says, as plain text; empty while it is hidden."""
        return "" if self.isHidden() else ". ".join(filter(None, (self._title.text(), self.rows.summary)))

    def fit_panel(self, height: int) -> None:
        """Show as many rows as a panel of this height has room for; nothing if that is none."""
        room = round(LONGEST_SHARE * height) - self._look.px(36)
        most = room // self.rows.row_height - 2
        self._has_room = most > 0
        self.rows.set_most_rows(max(1, most))
        self.follow()

    @Slot()
    def follow(self) -> None:
        """Show what is to be said of the line that is shown."""
        line = self._workspace.branches.shown
        comparison = line.comparison if line is not None else None
        is_wanted = line is not None and line is not self._dismissed and _is_worth_saying(line)
        self.setVisible(is_wanted and self._has_room)
        if line is None:
            return
        self._title.setText(_title(line))
        parent = _capital(line.parent.name) if line.parent is not None else "Before"
        self.rows.show_comparison(comparison, parent, _capital(line.name) if line.number else "Now")
        self.setAccessibleName(self.text)

    @Slot()
    def _dismiss(self) -> None:
        self._dismissed = self._workspace.branches.shown
        self.follow()

    @Slot()
    def _fit_look(self) -> None:
        look = self._look
        self._close.setIconSize(QSize(look.px(12), look.px(12)))
        self._column.setContentsMargins(look.px(LEFT), look.px(4), look.px(4), look.px(6))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw a quiet ground, and the line below."""
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._look.brush("hover"))
        painter.setPen(self._look.pen("line"))
        painter.drawLine(0, self.height() - 1, self.width(), self.height() - 1)
        painter.end()


class DifferenceRows(QWidget):
    """The first merges that differ: number, one merge list's pair, the other's. A click goes to the merge."""

    position_chosen = Signal(int)
    """The position that follows the merge that was clicked."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._comparison: Comparison | None = None
        self._titles = ("", "")
        self._most = 4
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        look.changed.connect(self.updateGeometry)

    def show_comparison(self, comparison: Comparison | None, was: str, now: str) -> None:
        """Show another comparison; was, now: what the two sides are called. None: it is not known yet."""
        self._comparison, self._titles = comparison, (was, now)
        self.setVisible(bool(self.differences))
        self.updateGeometry()
        self.update()

    def set_most_rows(self, most: int) -> None:
        """Show so many differences at the most."""
        if most != self._most:
            self._most = most
            self.setVisible(bool(self.differences))
            self.updateGeometry()

    @property
    def differences(self) -> Sequence[Difference]:
        """Those that are shown."""
        return self._comparison.differences[: self._most] if self._comparison is not None else ()

    @property
    def summary(self) -> str:
        """How much is the same all in all: both make 2,996 of 3,000 tokens."""
        compared = self._comparison
        if compared is None or not compared.differences:
            return ""
        if compared.made_by_both == compared.compared:
            return f"Both make the same {compared.compared:,} tokens"
        return f"Both make {compared.made_by_both:,} of {compared.compared:,} tokens"

    @property
    def row_height(self) -> int:
        """The height of a row."""
        return chip_height(self._look) + self._look.px(4)

    def sizeHint(self) -> QSize:
        """Ask for a heading, the rows and the summary."""
        return QSize(self._look.px(200), (len(self.differences) + 2) * self.row_height)

    def minimumSizeHint(self) -> QSize:
        """All rows, in any width."""
        return QSize(0, self.sizeHint().height())

    def row_box(self, row: int) -> QRect:
        """Return where a difference is."""
        return QRect(0, (row + 1) * self.row_height, self.width(), self.row_height)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Go to the merge that was clicked."""
        for row, difference in enumerate(self.differences):
            if self.row_box(row).contains(event.position().toPoint()):
                self.position_chosen.emit(difference.rank + 1)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint heading, rows and summary."""
        look, painter = self._look, QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        height, columns = self.row_height, self._columns()
        painter.setFont(look.ui_font(SMALL))
        painter.setPen(look.pen("dim"))
        for (left, width), title in zip(columns, self._titles, strict=True):
            cut = painter.fontMetrics().elidedText(title, Qt.TextElideMode.ElideRight, width)
            painter.drawText(QRect(left, 0, width, height), Qt.AlignmentFlag.AlignVCenter, cut)
        for row, difference in enumerate(self.differences):
            box = self.row_box(row)
            painter.setFont(look.ui_font())
            painter.setPen(look.pen("dim"))
            number = QRect(0, box.y(), columns[0][0] - look.px(COLUMN_GAP), height)
            right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            painter.drawText(number, int(right), f"{difference.rank + 1:,}")
            for (left, width), side in zip(columns, (difference.was, difference.now), strict=True):
                top = box.y() + (height - chip_height(look)) // 2
                paint_chips(painter, look, left, top, self._chips(side, width))
        painter.setFont(look.ui_font(SMALL))
        painter.setPen(look.pen("dim"))
        below = QRect(0, (len(self.differences) + 1) * height, self.width(), height)
        cut = painter.fontMetrics().elidedText(self.summary, Qt.TextElideMode.ElideRight, self.width())
        painter.drawText(below, Qt.AlignmentFlag.AlignVCenter, cut)
        painter.end()

    def _columns(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """Return left edge and width of both sides."""
        look, gap = self._look, self._look.px(COLUMN_GAP)
        longest = max((f"{one.rank + 1:,}" for one in self.differences), key=len, default="")
        first = max(look.px(16), round(look.ui_metrics().horizontalAdvance(longest)) + 1) + gap
        width = max(look.px(16), (self.width() - first - gap) // 2)
        return (first, width), (first + width + gap, width)

    def _chips(self, side: tuple[Text, Text], width: int) -> list[Chip]:
        """Return left and right, cut to the width."""
        metrics, room = self._look.mono_metrics(), width - self._look.px(GAP)
        whole = [drawable(visible_parts(*text), metrics) for text in side]
        shares = fair_shares([self._width_of(parts) for parts in whole], room, (1, 1))
        return [Chip(fitted(parts, share, self._width_of)) for parts, share in zip(whole, shares, strict=True)]

    def _width_of(self, parts: Parts) -> float:
        return chip_width(self._look, parts)


def _is_worth_saying(line: Line) -> bool:
    return line.number > 0 or (line.comparison is not None and bool(line.comparison.differences))


def _title(line: Line) -> str:
    if line.parent is not None and line.chosen is not None:
        return f"{_capital(line.name)} departs at merge {line.chosen.rank + 1:,}"
    differences = line.comparison.differences if line.comparison is not None else ()
    return f"First to differ: merge {differences[0].rank + 1:,}" if differences else ""


def _capital(name: str) -> str:
    return f"{name[:1].upper()}{name[1:]}"
