"""The rows of the word splits: the count of a pre-token and its symbols as chips."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, QRect, QRectF, Qt, Slot
from PySide6.QtGui import QFocusEvent, QKeyEvent, QPainter, QWheelEvent

from bpe_viz.engine.row_order import DIFFERING
from bpe_viz.engine.types import Frame
from bpe_viz.engine.visible import Part, Parts, text_of, visible, visible_parts
from bpe_viz.gui.chips import GAP, Chip, ChipStyle, chip_height, chip_width, paint_chips
from bpe_viz.gui.lacking_characters import LackingCharacters
from bpe_viz.gui.look import Look
from bpe_viz.gui.row_listing import Rows
from bpe_viz.gui.row_view import RING, RowView
from bpe_viz.gui.selection import Selection
from bpe_viz.gui.symbol_texts import (
    LONGEST_IN_TOOLTIP,
    characters_around,
    describe_symbol,
    parts_of_symbol,
)
from bpe_viz.gui.theme import Role
from bpe_viz.gui.word_layout import NOTE_SCALE, Marks, PlacedSymbol, RowLayout, edges_that_fit, note_width, said_of_rest
from bpe_viz.gui.workspace import Workspace

COUNT_LEFT, LEAST_COUNT_WIDTH, COUNT_GAP = 12, 40, 16
DIFFERS = "≠"
SPARE_ROWS = 8
"""So many rows above and below the view are split as well, so that scrolling finds them ready."""

_PLAIN_BYTES = 400
_NOT_KNOWN: Parts = (Part("?", "invisible"),)
_LACKING = "Unknown character: the base lacks it, and no merge has it"
_REMEMBERED_SYMBOLS = 1 << 14


class WordRows(RowView):
    """Paints pre-tokens from the frame; asks the workspace for the splits of the rows in view."""

    own_keys = RowView.own_keys | {Qt.Key.Key_Left, Qt.Key.Key_Right}

    def __init__(self, workspace: Workspace, look: Look) -> None:
        super().__init__(look)
        self.workspace = workspace
        self.filter_text = ""
        self._symbol: int | None = None
        self._first_of_current = 0
        self._parts: dict[int, Parts] = {}
        self._lacking: LackingCharacters | None = None
        self._largest = 0
        workspace.corpus_changed.connect(self._start_again)
        # Another branch gives ids to other tokens.
        workspace.timeline_changed.connect(self._parts.clear)
        workspace.listing.rows_changed.connect(self._show_rows)
        workspace.frame_changed.connect(self._show_frame)
        workspace.selection_changed.connect(self._show_selection)
        if workspace.corpus is not None:
            self._start_again(workspace.corpus)
            self._show_rows(workspace.listing.rows)

    # --- what is shown ---

    def shown_rows(self) -> list[tuple[int, list[str]]]:
        """Return count and symbols of the rows in view, as painted; no symbols where none are known yet."""
        frame = self.workspace.frame
        shown = []
        for place in self.visible_rows:
            layout = self._layout(place)
            symbols = [text_of(self._parts_at(place, one.place, frame)) for one in layout.places] if frame else []
            shown.append((self._count(self._corpus_row(place)), symbols))
        return shown

    def shown_styles(self) -> list[list[ChipStyle]]:
        """Return the styles of the chips in view; SELECTED stands for all that are pointed at."""
        return [
            [ChipStyle.SELECTED if one.is_pointed_at else one.style for one in self._layout(place).places]
            for place in self.visible_rows
        ]

    def shown_underlines(self) -> list[list[tuple[int, int]]]:
        """Return for the rows in view which ranges of symbols are underlined: the next merge takes them."""
        layouts = [self._layout(place) for place in self.visible_rows]
        return [
            [(first + layout.before, end + layout.before) for first, end in layout.underlined] for layout in layouts
        ]

    def more_symbols(self, place: int) -> tuple[int, int]:
        """Return how many symbols of a row are left out before and after those in view."""
        layout = self._layout(place)
        return layout.before, layout.after

    @property
    def current_symbol(self) -> int | None:
        """The place of the keyboard's symbol in the current row; None: the row as a whole."""
        return self._symbol

    def symbol_box(self, place: int, index: int) -> QRect:
        """Return where a symbol is painted, in the viewport; empty if it is not."""
        box, top = self.row_box(place), self._chip_top
        for one in self._layout(place).places:
            if one.place == index:
                return QRect(one.left, box.y() + top, one.right - one.left, chip_height(self.look))
        return QRect()

    # --- following the workspace ---

    @Slot(object)
    def _start_again(self, corpus: object) -> None:
        self._parts.clear()
        corpus = self.workspace.corpus
        self._largest = int(corpus.pretokens.counts.max(initial=0)) if corpus else 0
        self.set_current(None)
        self.scroll_to(0)
        # The rows listed so far are those of the corpus before.
        self.set_row_count(0)

    @Slot(object)
    def _show_rows(self, rows: Rows) -> None:
        self.set_row_count(len(rows.order), repaint=False)
        # Rows that the frame lacks are on their way with the next one: painting now would only flicker.
        if all(self._split(place) is not None for place in self.visible_rows):
            self.viewport().update()

    @Slot(object)
    def _show_frame(self, frame: Frame) -> None:
        corpus = self.workspace.corpus
        self._lacking = None if corpus is None else LackingCharacters(corpus.pretokens, frame.symbols)
        self._clamp_symbol()
        self.viewport().update()

    @Slot(object)
    def _show_selection(self, selection: Selection | None) -> None:
        self.viewport().update()

    def visible_rows_changed(self) -> None:
        """Ask for the splits of the rows in view and some more."""
        order, seen = self.workspace.listing.rows.order, self.visible_rows
        first = max(0, seen.start - SPARE_ROWS) if seen else 0
        end = seen.stop + SPARE_ROWS if seen else 0
        self.workspace.watch_rows(tuple(order[first:end].tolist()))

    def _corpus_row(self, place: int) -> int:
        return int(self.workspace.listing.rows.order[place])

    def _count(self, row: int) -> int:
        corpus = self.workspace.corpus
        return int(corpus.pretokens.counts[row]) if corpus else 0

    def _split(self, place: int) -> Sequence[int] | None:
        frame = self.workspace.frame
        return frame.splits.get(self._corpus_row(place)) if frame else None

    # --- layout ---

    def height_of_row(self) -> int:
        """Leave room for the line below a chip."""
        return self.look.row_height + self.look.px(4)

    @property
    def _chip_top(self) -> int:
        return (self.height_of_row() - chip_height(self.look)) // 2

    @property
    def _count_width(self) -> int:
        width = self.look.ui_metrics().horizontalAdvance(f"{self._largest:,}")
        return max(self.look.px(LEAST_COUNT_WIDTH), round(width) + 1)

    @property
    def _chips_left(self) -> int:
        return self.look.px(COUNT_LEFT) + self._count_width + self.look.px(COUNT_GAP)

    def _chip_parts(self, symbol: int, frame: Frame) -> Parts:
        if symbol not in self._parts:
            if len(self._parts) >= _REMEMBERED_SYMBOLS:
                self._parts.clear()
            self._parts[symbol] = parts_of_symbol(frame.symbols, symbol)
        return self._parts[symbol]

    def _parts_at(self, place: int, index: int, frame: Frame) -> Parts:
        """Return what a chip shows; of a character that the base lacks the character, or a question mark."""
        split = self._split(place) or ()
        if split[index] >= 0:
            return self._chip_parts(split[index], frame)
        lacking = b"" if self._lacking is None else self._lacking.at(self._corpus_row(place), split, index)
        return visible_parts(lacking) if lacking else _NOT_KNOWN

    def _width(self, place: int, index: int, frame: Frame, is_gap: bool) -> int:
        style = ChipStyle.GAP if is_gap else ChipStyle.PLAIN
        return chip_width(self.look, self._parts_at(place, index, frame), style)

    def _layout(self, place: int) -> RowLayout:
        """Place the symbols of a row that fit: the rest of a long one is neither measured nor painted."""
        split, frame = self._split(place), self.workspace.frame
        if split is None or frame is None:
            return RowLayout((), (), 0, 0)
        first = min(self._first_of_current, len(split) - 1) if place == self.current else 0
        x = self._chips_left + (note_width(self.look, f"{first:,} …") if first else 0)
        room = self.viewport().width() - self.look.px(8)

        def width_of(index: int) -> int:
            return self._width(place, index, frame, split[index] < 0)

        fitting = edges_that_fit(self.look, len(split), first, x, room, width_of)
        marks = Marks(frame, self.workspace.pointed_at, split, first, first + len(fitting))
        is_changed = self._corpus_row(place) in frame.changed
        places = []
        for index, (left, right) in enumerate(fitting, first):
            style = marks.style(index, is_changed)
            places.append(PlacedSymbol(index, split[index], style, left, right, index in marks.pointed_at))
        underlined = tuple(
            (index - first, index - first + 2)
            for index in marks.next_starts
            if index >= first and index + 2 - first <= len(places)
        )
        return RowLayout(tuple(places), underlined, first, len(split) - first - len(fitting))

    # --- painting ---

    def empty_text(self) -> str:
        """Say why there is no row."""
        corpus = self.workspace.corpus
        if corpus is None:
            return "No text is open."
        if len(corpus.pretokens) == 0:
            return "There are no pre-tokens: nothing to split."
        if self.filter_text and self.workspace.listing.rows.total == len(corpus.pretokens):
            timeline = self.workspace.timeline
            if self.filter_text in DIFFERING and timeline is not None and timeline.differing is not None:
                return "Every pre-token ends in the split that the tokenizer's own library gives."
            return f"No pre-token holds {self.filter_text} here."
        return ""

    def paint_row(self, painter: QPainter, row: int, box: QRect) -> None:
        """Paint count and chips, or the plain text where the split is still to come."""
        self._paint_ground(painter, row, box)
        look, corpus_row = self.look, self._corpus_row(row)
        painter.setFont(look.ui_font())
        painter.setPen(look.pen("dim"))
        count_box = QRect(look.px(COUNT_LEFT), box.y(), self._count_width, box.height())
        right = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        painter.drawText(count_box, right, f"{self._count(corpus_row):,}")
        frame = self.workspace.frame
        layout = self._layout(row)
        if frame is None or not layout.places:
            self._paint_plain(painter, corpus_row, box)
            return
        if layout.before:
            self._paint_note(painter, self._chips_left, f"{layout.before:,} …", box)
        top = box.y() + self._chip_top
        chips = [Chip(self._parts_at(row, one.place, frame), one.style) for one in layout.places]
        paint_chips(painter, look, layout.places[0].left, top, chips, underlined=layout.underlined)
        for one in layout.places:
            if one.is_pointed_at and one.style != ChipStyle.SELECTED:
                chip = QRect(one.left, top, one.right - one.left, chip_height(look))
                self._paint_ring(painter, chip, "ink", 0)
        if layout.after:
            x = layout.places[-1].right + look.px(GAP)
            self._paint_note(painter, x, said_of_rest(layout.after), box)
        if self._differs(corpus_row):
            width = note_width(look, DIFFERS)
            self._paint_note(painter, self.viewport().width() - width - look.px(8), DIFFERS, box)
        if row == self.current and self._symbol is not None and self.hasFocus():
            self._paint_ring(painter, self.symbol_box(row, self._symbol), "next", look.px(2))

    def _differs(self, row: int) -> bool:
        """Tell whether the tokenizer's own library splits a pre-token otherwise than its replayed list."""
        timeline = self.workspace.timeline
        return timeline is not None and timeline.differing is not None and row in timeline.differing

    def _paint_ground(self, painter: QPainter, row: int, box: QRect) -> None:
        pointed_at = self.workspace.pointed_at
        is_pointed_at = pointed_at is not None and pointed_at.row == self._corpus_row(row)
        has_keyboard = row == self.current and self.hasFocus()
        if is_pointed_at or has_keyboard:
            fill: Role = "selection" if is_pointed_at else "hover"
            self.paint_ground(painter, box, fill, has_keyboard and self._symbol is None)

    def _paint_plain(self, painter: QPainter, row: int, box: QRect) -> None:
        painter.setFont(self.look.mono_font())
        painter.setPen(self.look.pen("faint"))
        text = visible(self._start_of(row), limit=LONGEST_IN_TOOLTIP)
        painter.drawText(box.adjusted(self._chips_left, 0, 0, 0), int(Qt.AlignmentFlag.AlignVCenter), text)

    def _start_of(self, row: int) -> bytes:
        corpus = self.workspace.corpus
        if corpus is None:
            return b""
        pretokens = corpus.pretokens
        start, end = int(pretokens.offsets[row]), int(pretokens.offsets[row + 1])
        # The cut may fall inside a character.
        return pretokens.data[start : min(end, start + _PLAIN_BYTES)].decode(errors="ignore").encode()

    def _paint_note(self, painter: QPainter, x: int, note: str, box: QRect) -> None:
        painter.setFont(self.look.ui_font(NOTE_SCALE))
        painter.setPen(self.look.pen("dim"))
        painter.drawText(box.adjusted(x, 0, 0, 0), int(Qt.AlignmentFlag.AlignVCenter), note)

    def _paint_ring(self, painter: QPainter, box: QRect, role: Role, outside: int) -> None:
        ring = QRectF(box).adjusted(-outside, -outside, outside, outside)
        inset = RING / 2
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(self.look.pen(role, RING))
        radius = self.look.px(4)
        painter.drawRoundedRect(ring.adjusted(inset, inset, -inset, -inset), radius, radius)
        painter.restore()

    # --- pointing ---

    def _symbol_at(self, place: int, x: float) -> PlacedSymbol | None:
        return next((one for one in self._layout(place).places if one.left <= x < one.right), None)

    def _meant(self, place: int, x: float) -> Selection | None:
        symbol = self._symbol_at(place, x)
        if symbol is not None and symbol.symbol >= 0:
            return Selection(token=symbol.symbol)
        if symbol is not None:
            return None
        return Selection(row=self._corpus_row(place)) if x < self._chips_left else None

    def point(self, row: int | None, x: float) -> None:
        """Point at the symbol or, over the count, at the row."""
        self.workspace.hover(None if row is None else self._meant(row, x))

    def press(self, row: int, x: float) -> None:
        """Select the symbol or the row; select nothing if it is selected already."""
        symbol, meant = self._symbol_at(row, x), self._meant(row, x)
        self._symbol = symbol.place if symbol is not None else None
        self.workspace.select(None if meant == self.workspace.selection else meant)
        self.point(row, x)

    def press_current(self) -> None:
        """Select what the keyboard is at."""
        meant = self._meant_by_keyboard()
        self.workspace.select(None if meant == self.workspace.selection else meant)

    def current_moved(self) -> None:
        """Point at the keyboard's row."""
        self._symbol, self._first_of_current = None, 0
        if self.current is not None:
            self._point_by_keyboard()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move the current symbol with Left and Right."""
        split = self._split(self.current) if self.current is not None else None
        steps = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
        step = steps.get(Qt.Key(event.key())) if self._uses(event) else None
        if step is None:
            super().keyPressEvent(event)
        elif self.current is None:
            self.set_current(self.visible_rows.start if self.visible_rows else None)
        elif split:
            before_first = -1 if self._symbol is None else self._symbol
            index = min(before_first + step, len(split) - 1)
            self._symbol = index if index >= 0 else None
            self._slide_to(index)
            self._point_by_keyboard()
            self.viewport().update()

    def _point_by_keyboard(self) -> None:
        if self.hasFocus():
            self.workspace.hover(self._meant_by_keyboard())
        self.setAccessibleDescription(self._said_of_current())

    def _meant_by_keyboard(self) -> Selection | None:
        if self.current is None:
            return None
        split = self._split(self.current)
        if self._symbol is not None and split is not None and self._symbol < len(split):
            return Selection(token=split[self._symbol]) if split[self._symbol] >= 0 else None
        return Selection(row=self._corpus_row(self.current))

    def _said_of_current(self) -> str:
        if self.current is None:
            return ""
        symbol = self.symbol_box(self.current, self._symbol) if self._symbol is not None else QRect()
        return self.tooltip_at(self.current, symbol.center().x() if not symbol.isNull() else 0)

    def _slide_to(self, index: int) -> None:
        """Let the current row begin where the symbol is in view."""
        if index <= self._first_of_current:
            self._first_of_current = max(0, index)
            return
        while self.current is not None and self._first_of_current < index:
            last = self._layout(self.current).places[-1].place
            if index <= last:
                return
            self._first_of_current += max(1, index - last)

    def _clamp_symbol(self) -> None:
        split = self._split(self.current) if self.current is not None else None
        if split is not None and self._symbol is not None and self._symbol >= len(split):
            self._symbol = len(split) - 1
            self._first_of_current = min(self._first_of_current, self._symbol)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scroll; sideways, slide the row under the mouse if it is longer than the view."""
        sideways = event.pixelDelta().x() or event.angleDelta().x() // 4
        row = self.row_at(event.position().y())
        is_slid = row is not None and any(self.more_symbols(row))
        if not sideways or row is None or not is_slid:
            super().wheelEvent(event)
            return
        if row != self.current:
            self.set_current(row)
        split = self._split(row) or ()
        steps = -sideways // self.look.px(20) or (1 if sideways < 0 else -1)
        self._first_of_current = max(0, min(self._first_of_current + steps, len(split) - 1))
        self.viewport().update()
        event.accept()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Point no longer at what the keyboard is at."""
        super().focusOutEvent(event)
        if not self.viewport().underMouse():
            self.workspace.hover(None)

    def tooltip_at(self, row: int, x: float) -> str:
        """Describe the symbol, or the row where its count is."""
        frame, corpus_row = self.workspace.frame, self._corpus_row(row)
        split, symbol = self._split(row), self._symbol_at(row, x)
        if frame is None or split is None:
            return ""
        if symbol is not None and symbol.symbol < 0:
            return f"{text_of(self._parts_at(row, symbol.place, frame))}\n{_LACKING}"
        if symbol is not None:
            lines = describe_symbol(frame.symbols, symbol.symbol)
            start = max(0, symbol.place - 3)
            around = [b"" if one < 0 else frame.symbols.content(one) for one in split[start : symbol.place + 4]]
            if built := characters_around(around, symbol.place - start):
                lines.insert(1, f"part of {built}")
            return "\n".join(lines)
        if x >= self._chips_left:
            return ""
        count = self._count(corpus_row)
        text = visible(self._start_of(corpus_row), limit=LONGEST_IN_TOOLTIP)
        times = "once" if count == 1 else f"{count:,} times"
        size = "1 symbol" if len(split) == 1 else f"{len(split):,} symbols"
        said = f"{text}\noccurs {times}, split into {size}"
        if self._differs(corpus_row):
            said += f"\n{DIFFERS} At the end of the list its own library splits it otherwise"
        return said

    def tooltip_text(self, place: QPoint) -> str:
        """Return what a tooltip says at a point of the viewport."""
        row = self.row_at(place.y())
        return self.tooltip_at(row, place.x()) if row is not None else ""
