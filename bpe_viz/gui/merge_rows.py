"""The rows of the merge list: number, left, right and token as chips, count, replacements and ties."""

from __future__ import annotations

from PySide6.QtCore import QRect, Qt, Slot
from PySide6.QtGui import QFont, QKeyEvent, QPainter, QResizeEvent

from bpe_viz.engine.types import Frame, Merge, Pair
from bpe_viz.engine.visible import text_of
from bpe_viz.gui.chips import Chip, ChipStyle, chip_height, paint_chips
from bpe_viz.gui.fork_mark import WIDTH, paint_fork
from bpe_viz.gui.look import Look
from bpe_viz.gui.merge_chips import ARROW, Placed, arrow_room, place_chips
from bpe_viz.gui.merge_texts import CHOSEN, DEPARTS, MergeTexts, Row
from bpe_viz.gui.opened_tokenizer import why_no_merges
from bpe_viz.gui.row_view import RowView
from bpe_viz.gui.selection import Selection
from bpe_viz.gui.theme import Role
from bpe_viz.gui.workspace import Workspace

NUMBER_LEFT, LEAST_NUMBER_WIDTH, NUMBER_GAP = 12, 28, 10
COUNT_RIGHT, TIES_RIGHT = 52, 12
COUNT_GAP = 8
ROOM_WITH_TIES, ROOM_WITH_PARTS = 150, 110
"""With less room for the chips the notes are left out, then left and right."""

BAR_WIDTH = 3
NEXT_ROWS = 2
"""So many rows after the cursor's stay in view when stepping: what comes is seen before it is merged."""

_REMEMBERED_ROWS = 1 << 12


class MergeRows(RowView):
    """Paints the merges recorded, and after them the one that training would make next."""

    def __init__(self, workspace: Workspace, look: Look) -> None:
        super().__init__(look)
        self.workspace = workspace
        self.texts = MergeTexts(workspace)
        self._position: int | None = None
        self._pointed_rank: int | None = None
        self._hit: int | None = None
        self._placed_rows: dict[int, list[Placed]] = {}
        self._placed_for = (0, 0, 0)
        self._number_width_known = 0
        self._number_width_for = (-1, 0)
        self._is_own_selection = False
        self._is_cursor_in_sight = True
        workspace.timeline_changed.connect(self._start_again)
        workspace.frontier_changed.connect(self._show_frontier)
        workspace.frame_changed.connect(self._show_frame)
        workspace.selection_changed.connect(self._show_selection)
        self._show_frontier(workspace.frontier)
        if workspace.frame is not None:
            self._show_frame(workspace.frame)

    # --- what is shown ---

    def shown_rows(self) -> list[Row]:
        """Return the rows in view, as they are painted."""
        return [self.texts.row(rank) for rank in self.visible_rows]

    @property
    def cursor_row(self) -> int | None:
        """The row of the merge just made; None at position 0."""
        frame = self.workspace.frame
        return frame.position - 1 if frame and frame.position else None

    @property
    def pointed_row(self) -> int | None:
        """The row of what is pointed at: of the merge that made the token or took the pair."""
        return self._pointed_rank

    # --- following the workspace ---

    @Slot()
    def _start_again(self) -> None:
        self._position = None
        self._placed_rows.clear()
        self.set_current(None)
        self.scroll_to(0)
        self._show_frontier(self.workspace.frontier)

    @Slot(object)
    def _show_frontier(self, frontier: int) -> None:
        frame = self.workspace.frame
        has_next = frame is not None and frame.next is not None and frame.next.rank == frontier
        n_rows = frontier + has_next
        if n_rows != self.row_count:
            # Rows are appended far below the view while training runs ahead: nothing in view changes then.
            was_in_view = self.visible_rows.stop == self.row_count
            self.set_row_count(n_rows, repaint=was_in_view)

    @Slot(object)
    def _show_frame(self, frame: Frame) -> None:
        self._show_frontier(self.workspace.frontier)
        if frame.position != self._position:
            before, self._position = self._position, frame.position
            self._keep_cursor_in_sight(before)
            self._is_cursor_in_sight = True
        self._find_pointed()
        self.viewport().update()

    def _keep_cursor_in_sight(self, before: int | None) -> None:
        row = self.cursor_row
        if row is None:
            self.scroll_to(0)
        elif before is not None and abs(row + 1 - before) <= self.rows_a_page // 3:
            self.bring_into_view(row, self._spare_rows)
        else:
            self.bring_into_middle(row)

    @property
    def _spare_rows(self) -> int:
        """How many rows beside the cursor's are kept in view; in a low panel it alone."""
        return min(NEXT_ROWS, (self.rows_a_page - 1) // 2)

    def _scrolled(self) -> None:
        super()._scrolled()
        row = self.cursor_row
        if row is not None:
            box = self.row_box(row)
            self._is_cursor_in_sight = box.top() >= 0 and box.bottom() < self.viewport().height()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the cursor's row in sight, unless the user has scrolled away from it."""
        super().resizeEvent(event)
        self._stay_at_cursor()

    @Slot()
    def _fit_look(self) -> None:
        super()._fit_look()
        self._stay_at_cursor()

    def _stay_at_cursor(self) -> None:
        row = self.cursor_row
        if self._is_cursor_in_sight and row is not None:
            self.bring_into_view(row, self._spare_rows)
            self._is_cursor_in_sight = True

    @Slot(object)
    def _show_selection(self, selection: Selection | None) -> None:
        self._find_pointed()
        is_selected = selection is not None and selection == self.workspace.selection
        if is_selected and self._pointed_rank is not None and not self._is_own_selection:
            self.bring_into_view(self._pointed_rank, 1)
        self.viewport().update()

    def _find_pointed(self) -> None:
        merges, pointed_at = self.workspace.merges, self.workspace.pointed_at
        self._pointed_rank = None
        if merges is None or pointed_at is None:
            return
        if pointed_at.token is not None:
            rank = pointed_at.token - len(merges.base)
            self._pointed_rank = rank if 0 <= rank < self.row_count else None
        elif pointed_at.pair is not None:
            self._pointed_rank = self._rank_of(pointed_at.pair)

    def _rank_of(self, pair: Pair) -> int | None:
        merges, frame = self.workspace.merges, self.workspace.frame
        if merges is None or (rank := merges.rank_of(pair)) is not None:
            return None if merges is None else rank
        following = frame.next if frame else None
        is_next = following is not None and (following.left, following.right) == tuple(pair)
        return following.rank if following is not None and is_next else None

    def show_hit(self, row: int | None) -> None:
        """Mark what a search found, and bring it into view; None: nothing is searched for."""
        self._hit = row
        if row is not None:
            self.bring_into_middle(row)
        self.viewport().update()

    def select_hit(self, row: int) -> None:
        """Mark a row and select the token that it makes."""
        self.show_hit(row)
        self.set_current(row)
        self._select(Selection(token=self.texts.merge(row).token))

    def _select(self, selection: Selection | None) -> None:
        self._is_own_selection = True
        self.workspace.select(selection)
        self._is_own_selection = False

    # --- layout ---

    @property
    def _number_width(self) -> int:
        key = (self.row_count, self.look.generation)
        if key != self._number_width_for:
            width = self.look.ui_metrics().horizontalAdvance(f"{max(1, self.row_count):,}")
            self._number_width_known = max(self.look.px(LEAST_NUMBER_WIDTH), round(width) + 1)
            self._number_width_for = key
        return self._number_width_known

    @property
    def chips_left(self) -> int:
        """Where the chips begin, in the viewport."""
        return self.look.px(NUMBER_LEFT) + self._number_width + self.look.px(NUMBER_GAP)

    def _count_left(self, merge: Merge) -> int:
        look = self.look
        width = look.ui_metrics(bold=True).horizontalAdvance(self.texts.count_text(merge))
        return self._count_right - round(width)

    @property
    def _count_right(self) -> int:
        return self.viewport().width() - self.look.px(COUNT_RIGHT if self.shows_notes else TIES_RIGHT)

    def _most_room(self, right: int) -> int:
        """Return the room for chips beside the highest count, which is the first merge's."""
        highest = self.texts.count_text(self.texts.merge(0)) if self.row_count else ""
        width = self.look.ui_metrics(bold=True).horizontalAdvance(highest)
        return self.viewport().width() - self.look.px(right) - round(width) - self.look.px(COUNT_GAP) - self.chips_left

    @property
    def shows_notes(self) -> bool:
        """Whether there are counts, and room for what stands beside them."""
        return self.texts.is_counted and self._most_room(COUNT_RIGHT) >= self.look.px(ROOM_WITH_TIES)

    @property
    def shows_parts(self) -> bool:
        """Whether there is room for more than the token."""
        return self._most_room(TIES_RIGHT) >= self.look.px(ROOM_WITH_PARTS)

    def shown_chips(self, rank: int) -> list[tuple[str, int, int]]:
        """Return text, left and right edge of the chips of a row, as painted; the token is the last."""
        return [(text_of(one.parts), one.left, one.right) for one in self._placed(self.texts.merge(rank))]

    def chips_right(self, rank: int) -> int:
        """Return where the chips of a row must end."""
        return self._count_left(self.texts.merge(rank)) - self.look.px(COUNT_GAP)

    def _placed(self, merge: Merge) -> list[Placed]:
        """Place the chips: left, right and token, or in a very narrow panel only the token."""
        key = (self.viewport().width(), self.chips_left, self.look.generation)
        if key != self._placed_for or len(self._placed_rows) >= _REMEMBERED_ROWS:
            self._placed_rows.clear()
            self._placed_for = key
        if merge.rank not in self._placed_rows:
            room = self._count_left(merge) - self.look.px(COUNT_GAP) - self.chips_left
            symbols = self.texts.symbols(merge) if self.shows_parts else (merge.token,)
            self._placed_rows[merge.rank] = place_chips(self.look, symbols, self.texts.parts, self.chips_left, room)
        return self._placed_rows[merge.rank]

    # --- painting ---

    def empty_text(self) -> str:
        """Say why there is no row."""
        merges, tokenizer = self.workspace.merges, self.workspace.tokenizer
        if merges is None:
            return "No text is open."
        if tokenizer is not None and merges.frontier == 0:
            return why_no_merges(tokenizer)
        if merges.stop is not None:
            return "There is nothing to merge."
        return "No merge is made yet: press Right."

    def paint_row(self, painter: QPainter, row: int, box: QRect) -> None:
        """Paint one merge; what is after the cursor's row is faint."""
        look, merge = self.look, self.texts.merge(row)
        cursor = self.cursor_row
        is_cursor = row == cursor
        is_later = cursor is None or row > cursor
        self._paint_ground_of(painter, row, box, is_cursor)
        if self.texts.departure(merge) is not None:
            # From here on the list goes another way.
            painter.setPen(look.pen("bar_line", 1.0, dashed=True))
            painter.drawLine(look.px(NUMBER_LEFT), box.y(), box.right() - look.px(TIES_RIGHT), box.y())
        number_box = QRect(look.px(NUMBER_LEFT), box.y(), self._number_width, box.height())
        self._paint_number(painter, number_box, f"{row + 1:,}", "faint" if is_later else "dim")
        chips = self._placed(merge)
        self._paint_chips(painter, merge, chips, box, is_cursor, is_later)
        count_box = QRect(0, box.y(), self._count_right, box.height())
        bold = look.ui_font(bold=True)
        self._paint_number(painter, count_box, self.texts.count_text(merge), "faint" if is_later else "ink", bold)
        if self.shows_notes:
            self._paint_notes(painter, merge, chips[-1].right, box, is_later)

    def _paint_ground_of(self, painter: QPainter, row: int, box: QRect, is_cursor: bool) -> None:
        is_pointed_at = row in (self._pointed_rank, self._hit)
        has_keyboard = row == self.current and self.hasFocus()
        if is_cursor or is_pointed_at or has_keyboard:
            fill: Role = "selection" if is_cursor else "hover"
            self.paint_ground(painter, box, fill, has_keyboard)
        if is_cursor:
            # Beside the fill, so that the row is also told without colour.
            painter.save()
            painter.setClipRect(QRect(self.look.px(4), box.y(), self.look.px(BAR_WIDTH), box.height()))
            self.paint_ground(painter, box, "next")
            painter.restore()

    def _paint_chips(
        self,
        painter: QPainter,
        merge: Merge,
        chips: list[Placed],
        box: QRect,
        is_cursor: bool,
        is_later: bool,
    ) -> None:
        look = self.look
        top = box.y() + (box.height() - chip_height(look)) // 2
        pointed_at = self.workspace.pointed_at
        token = pointed_at.token if pointed_at is not None else None
        plain = ChipStyle.DIM if is_later else ChipStyle.PLAIN
        styled = []
        for chip in chips:
            style = ChipStyle.MADE if is_cursor and chip.symbol == merge.token else plain
            if chip.symbol == token and style != ChipStyle.MADE:
                style = ChipStyle.SELECTED
            styled.append(Chip(chip.parts, style))
        paint_chips(painter, look, chips[0].left, top, styled[:-1])
        paint_chips(painter, look, chips[-1].left, top, styled[-1:])
        painter.setFont(look.ui_font())
        painter.setPen(look.pen("faint" if is_later else "dim"))
        arrow = QRect(chips[-1].left - arrow_room(look), box.y(), arrow_room(look), box.height())
        painter.drawText(arrow, int(Qt.AlignmentFlag.AlignCenter), ARROW)

    def _paint_number(self, painter: QPainter, box: QRect, text: str, role: Role, font: QFont | None = None) -> None:
        painter.setFont(font or self.look.ui_font())
        painter.setPen(self.look.pen(role))
        painter.drawText(box, int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter), text)

    def _paint_notes(self, painter: QPainter, merge: Merge, chips_right: int, box: QRect, is_later: bool) -> None:
        look, small = self.look, self.look.ui_font(0.85)
        role: Role = "faint" if is_later else "dim"
        ties = self.texts.tie_note(merge)
        if ties in (CHOSEN, DEPARTS):
            right = self.viewport().width() - look.px(TIES_RIGHT)
            paint_fork(painter, look, right - look.px(WIDTH), box.center().y() + 0.5, role)
        elif ties:
            ties_box = QRect(0, box.y(), self.viewport().width() - look.px(TIES_RIGHT), box.height())
            self._paint_number(painter, ties_box, ties, role, small)
        if replaced := self.texts.replaced(merge):
            right = self._count_left(merge) - look.px(8)
            width = look.ui_metrics(0.85).horizontalAdvance(replaced)
            # In a narrow panel there is room for the chips only; the tooltip still says it.
            if right - width > chips_right + look.px(8):
                self._paint_number(painter, QRect(0, box.y(), right, box.height()), replaced, role, small)

    # --- pointing ---

    def _symbol_at(self, row: int, x: float) -> int:
        merge = self.texts.merge(row)
        under = (chip.symbol for chip in self._placed(merge) if chip.left <= x < chip.right)
        return next(under, merge.token)

    def point(self, row: int | None, x: float) -> None:
        """Point at the symbol under the mouse, beside the chips at the token."""
        self.workspace.hover(None if row is None else Selection(token=self._symbol_at(row, x)))

    def press(self, row: int, x: float) -> None:
        """Jump to the position that follows this merge."""
        self.workspace.jump(row + 1)

    def press_current(self) -> None:
        """Jump to the position that follows the current row's merge."""
        if self.current is not None:
            self.press(self.current, 0)

    def current_moved(self) -> None:
        """Say the keyboard's row to who listens."""
        if self.current is not None:
            self.setAccessibleDescription(self.tooltip_at(self.current, 0))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Select what the keyboard moved to."""
        before = self.current
        super().keyPressEvent(event)
        if self.current is not None and self.current != before:
            self._select(Selection(token=self.texts.merge(self.current).token))

    def tooltip_at(self, row: int, x: float) -> str:
        """Describe the merge."""
        return self.texts.describe(row)
