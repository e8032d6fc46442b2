"""An editable text whose tokens are coloured: boxes under the text, signs over what has no ink."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QMimeData, QPoint, Qt, Signal, Slot
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QFont,
    QHelpEvent,
    QInputMethodEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QSyntaxHighlighter,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextOption,
    QWheelEvent,
)
from PySide6.QtWidgets import QMenu, QTextEdit, QToolTip

from bpe_viz.errors import BpeVizError
from bpe_viz.gui.document_text import DocumentText, Placeholders
from bpe_viz.gui.look import Look
from bpe_viz.gui.text_geometry import PlacedLine, lines_between
from bpe_viz.gui.token_boxes import SCALE, BoxCache, Canvas, End, is_drawn_by_qt
from bpe_viz.gui.token_spans import TokenSpans

MOST_CHARACTERS = 100_000
MARGIN = 14
EXACT_TEXT = "application/x-bpe-viz-text"
"""Beside plain text on the clipboard: UTF-8 with lone surrogates, which plain text would lose."""

_PLACEHOLDERS = re.compile("[\ue000-\uf8ff\U000f0000-\U000ffffd\U00100000-\U0010fffd]")
_SIGNED = re.compile("[ \u00a0\ue000-\uf8ff\U000f0000-\U000ffffd\U00100000-\U0010fffd]")


class TokenEditor(QTextEdit):
    """Shows and edits one text; its content is exact, whatever the text holds.

    text_edited: str, the user changed the text; refused: BpeVizError, an edit that was too large
    hovered, clicked: a span's number, or None beside the text
    """

    text_edited = Signal(object)
    refused = Signal(object)
    hovered = Signal(object)
    clicked = Signal(object)

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._boxes = look.shared(BoxCache)
        self._placeholders = Placeholders(self._is_covered)
        self.content = DocumentText.of("", "")
        self._spans: TokenSpans | None = None
        self._styles: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._made: NDArray[np.bool_] = np.empty(0, dtype=bool)
        self._outlined: NDArray[np.bool_] = np.empty(0, dtype=bool)
        self._hovered: int | None = None
        self.describe: Callable[[TokenSpans, int], str] = lambda spans, code_point: ""
        self.extend_menu: Callable[[QMenu], None] = lambda menu: None
        self.setAcceptRichText(False)
        self.setTabChangesFocus(True)
        self.setMouseTracking(True)
        self.viewport().setMouseTracking(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        option = self.document().defaultTextOption()
        option.setTextDirection(Qt.LayoutDirection.LeftToRight)
        self.document().setDefaultTextOption(option)
        self.setStyleSheet("QTextEdit, QTextEdit:focus { border: none; background: transparent; }")
        self._widths = _PlaceholderWidths(self.document(), self)
        self.document().contentsChanged.connect(self._read)
        look.changed.connect(self._fit_look)
        self._fit_look()

    # --- the text ---

    @property
    def text(self) -> str:
        """The text that is shown."""
        return self.content.text

    def show_text(self, text: str) -> None:
        """Show another text; the user can undo that, if there was one before."""
        if text == self.text:
            return
        is_undoable = bool(self.text)
        self.setUndoRedoEnabled(is_undoable)
        cursor = QTextCursor(self.document())
        cursor.select(QTextCursor.SelectionType.Document)
        self.blockSignals(True)
        cursor.insertText(self._placeholders.shown(text))
        self.blockSignals(False)
        self.setUndoRedoEnabled(True)
        self.moveCursor(QTextCursor.MoveOperation.Start)

    def insert(self, text: str) -> None:
        """Put a text in place of the selection, as if it had been pasted."""
        cursor = self.textCursor()
        room = MOST_CHARACTERS - len(self.text) + len(self.selected_text())
        if len(text) > room:
            self.refused.emit(
                BpeVizError(
                    f"{len(text):,} characters are too many for this field, which holds {MOST_CHARACTERS:,}.",
                    "Encode a long text with: bpe-viz encode --file FILE",
                )
            )
            return
        before = self.content.shown[: self.content.code_point(cursor.selectionStart())]
        cursor.insertText(self._placeholders.shown(text, before))
        self.setTextCursor(cursor)
        self.ensureCursorVisible()

    @property
    def selection(self) -> tuple[int, int]:
        """The code points that are selected, from start to end."""
        cursor = self.textCursor()
        return self.content.code_point(cursor.selectionStart()), self.content.code_point(cursor.selectionEnd())

    def selected_text(self) -> str:
        """Return the text that is selected, exactly."""
        start, end = self.selection
        return self.text[start:end]

    @Slot()
    def _read(self) -> None:
        shown = self.document().toRawText().replace("\u2029", "\n")
        if shown == self.content.shown:
            return
        text = self._placeholders.text(shown)
        is_other = text != self.text
        self.content = DocumentText.of(text, shown)
        if is_other:
            self._spans = None
            self._hovered = None
            self.text_edited.emit(text)

    def createMimeDataFromSelection(self) -> QMimeData:
        """Copy the characters themselves, not what stands for them."""
        data, text = QMimeData(), self.selected_text()
        data.setText(text)
        data.setData(EXACT_TEXT, text.encode("utf-8", "surrogatepass"))
        return data

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        """Take text; files are for the window."""
        return source.hasFormat(EXACT_TEXT) or (source.hasText() and not source.hasUrls())

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Paste or drop."""
        if source.hasFormat(EXACT_TEXT):
            self.insert(bytes(source.data(EXACT_TEXT).data()).decode("utf-8", "surrogatepass"))
        elif not source.hasUrls():
            self.insert(source.text())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Type; what Qt would store otherwise goes the way of pasted text."""
        command = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.MetaModifier
        typed = "" if event.modifiers() & command else event.text()
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not event.modifiers() & command:
            self.insert("\n")  # Shift+Return would be U+2028
        elif typed and (typed >= " ") and typed != "\x7f" and self._stands_otherwise(typed):
            self.insert(typed)
        else:
            super().keyPressEvent(event)
            return
        event.accept()

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        """Take what an input method wrote, likewise."""
        committed = event.commitString()
        if committed and self._stands_otherwise(committed):
            before = self.content.shown[: self.content.code_point(self.textCursor().selectionStart())]
            mapped = QInputMethodEvent()
            mapped.setCommitString(
                self._placeholders.shown(committed, before), event.replacementStart(), event.replacementLength()
            )
            super().inputMethodEvent(mapped)
            return
        super().inputMethodEvent(event)

    def _stands_otherwise(self, typed: str) -> bool:
        if typed != " " and typed.isascii() and typed.isprintable():
            return False
        before = self.content.shown[: self.content.code_point(self.textCursor().selectionStart())]
        return self._placeholders.shown(typed, before) != typed

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scroll; with Ctrl the window zooms."""
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            event.ignore()
        else:
            super().wheelEvent(event)

    # --- the tokens ---

    def show_spans(
        self, spans: TokenSpans | None, styles: NDArray[np.int64], made: NDArray[np.bool_]
    ) -> None:
        """Colour these tokens; styles: see token_colours.box_styles; made: which the last merge made."""
        self._spans, self._styles, self._made = spans, styles, made
        self._outlined = np.zeros(len(styles), dtype=bool)
        self.viewport().update()

    @property
    def spans(self) -> TokenSpans | None:
        """The tokens that are shown."""
        return self._spans

    def outline(self, outlined: NDArray[np.bool_]) -> None:
        """Outline these spans."""
        if not np.array_equal(outlined, self._outlined):
            self._outlined = outlined
            self.viewport().update()

    def span_at(self, point: QPoint) -> int | None:
        """Return the number of the span under a point of the viewport."""
        found = self._place_at(point)
        if found is None or self._spans is None:
            return None
        code_point, line = found
        x = point.x() + self.horizontalScrollBar().value()
        for span in self._spans.at(code_point).tolist():
            left, right = self._edges(line, span)
            if left <= x < right:
                return int(span)
        return None

    def _place_at(self, point: QPoint) -> tuple[int, PlacedLine] | None:
        y = point.y() + self.verticalScrollBar().value()
        pitch = self._boxes.pitch
        for line in self._lines(y - pitch, y + pitch):
            top = line.baseline - self._boxes.above
            if top <= y < top + self._boxes.height:
                code_point = line.code_point_at(point.x() + self.horizontalScrollBar().value())
                return None if code_point is None else (code_point, line)
        return None

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Tell what is under the mouse."""
        super().mouseMoveEvent(event)
        self._hover(None if event.buttons() else self.span_at(event.position().toPoint()))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Tell what was clicked."""
        super().mouseReleaseEvent(event)
        if event.button() == Qt.MouseButton.LeftButton and not self.textCursor().hasSelection():
            self.clicked.emit(self.span_at(event.position().toPoint()))

    def leaveEvent(self, event: QEvent) -> None:
        """Point at nothing."""
        super().leaveEvent(event)
        self._hover(None)

    def _hover(self, span: int | None) -> None:
        if span != self._hovered:
            self._hovered = span
            self.hovered.emit(span)

    def viewportEvent(self, event: QEvent) -> bool:
        """Show the tooltip of the token under the mouse."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            found = self._place_at(event.pos())
            text = ""
            if found is not None and self._spans is not None:
                text = self.describe(self._spans, found[0])
            QToolTip.showText(event.globalPos(), text, self.viewport())
            return True
        return super().viewportEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer what the text edit offers, and what the panel adds; Qt's own menu inserts raw characters."""
        menu = QMenu(self)
        has_selection = self.textCursor().hasSelection()
        for title, run, enabled in (
            ("Undo", self.undo, self.document().isUndoAvailable()),
            ("Redo", self.redo, self.document().isRedoAvailable()),
            ("Cut", self.cut, has_selection),
            ("Copy", self.copy, has_selection),
            ("Paste", self.paste, self.canPaste()),
            ("Select all", self.selectAll, bool(self.text)),
        ):
            menu.addAction(title, run).setEnabled(enabled)
            if title in ("Redo", "Select all"):
                menu.addSeparator()
        self.extend_menu(menu)
        menu.exec(event.globalPos())
        menu.deleteLater()

    # --- painting ---

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint boxes, then Qt's text and caret, then signs."""
        top = event.rect().top() + self.verticalScrollBar().value()
        lines = list(self._lines(top - self._boxes.height, top + event.rect().height() + self._boxes.height))
        painter = QPainter(self.viewport())
        self._move_to_document(painter)
        if self._spans is not None:
            for line in lines:
                self._paint_boxes(Canvas.of(painter), line, self._spans)
        painter.end()
        super().paintEvent(event)
        painter.begin(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._move_to_document(painter)
        selected = self.selection
        for line in lines:
            self._paint_signs(Canvas.of(painter), line, selected)
        painter.end()

    def _move_to_document(self, painter: QPainter) -> None:
        painter.translate(-self.horizontalScrollBar().value(), -self.verticalScrollBar().value())

    def _lines(self, top: float, bottom: float) -> list[PlacedLine]:
        boxes = self._boxes
        return list(
            lines_between(self.document(), self.content, top, bottom, boxes.cell, boxes.line_end_width)
        )

    def _edges(self, line: PlacedLine, span: int) -> tuple[float, float]:
        assert self._spans is not None  # callers have checked
        left, right = float(self._spans.left[span]), float(self._spans.right[span])
        return line.edges(max(left, line.start), min(right, line.end))

    def _paint_boxes(self, canvas: Canvas, line: PlacedLine, spans: TokenSpans) -> None:
        boxes, top = self._boxes, line.baseline - self._boxes.above
        first = int(np.searchsorted(spans.right, line.start, side="right"))
        last = int(np.searchsorted(spans.left, line.end, side="left"))
        lefts, rights = spans.left[first:last].tolist(), spans.right[first:last].tolist()
        styles, made = self._styles[first:last].tolist(), self._made[first:last].tolist()
        start, end, edges_of = line.start, line.end, line.edges
        for left, right, style, is_made in zip(lefts, rights, styles, made, strict=True):
            if left == right:
                continue
            if line.is_mixed:
                self._paint_mixed(canvas, line, (max(left, start), min(right, end)), style)
                continue
            edges = edges_of(max(left, start), min(right, end))
            ends = (_end(left, left < start), _end(right, right > end))
            boxes.draw_box(canvas, edges, top, style, ends)
            if is_made:
                boxes.underline(canvas.painter, edges, top)

    def _paint_mixed(
        self, canvas: Canvas, line: PlacedLine, place: tuple[float, float], style: int
    ) -> None:
        is_cut = any(side != int(side) for side in place)
        ends = (End.CUT, End.CUT) if is_cut else (End.CLOSED, End.CLOSED)
        for edges in line.stretches(*place):
            self._boxes.draw_box(canvas, edges, line.baseline - self._boxes.above, style, ends)

    def _paint_signs(self, canvas: Canvas, line: PlacedLine, selected: tuple[int, int]) -> None:
        boxes, top = self._boxes, line.baseline - self._boxes.above
        if self._spans is not None:
            self._paint_marks(canvas.painter, line, self._spans, top)
        shown, text = self.content.shown, self.content.text
        places = [found.start() for found in _SIGNED.finditer(shown, line.start, line.text_end)]
        if line.end > line.text_end:
            places.append(line.text_end)
        for place in places:
            is_selected = selected[0] <= place < selected[1]
            edges = line.edges(place, place + 1)
            boxes.draw_sign(canvas, text[place], edges, top, "next_ink" if is_selected else "sign")

    def _paint_marks(self, painter: QPainter, line: PlacedLine, spans: TokenSpans, top: float) -> None:
        boxes = self._boxes
        for start, end in spans.uncovered.tolist():
            if start < line.text_end and end > line.start:
                boxes.veil(painter, line.edges(max(start, line.start), min(end, line.text_end)), top)
        first = int(np.searchsorted(spans.right, line.start, side="left"))
        last = int(np.searchsorted(spans.left, line.end, side="right"))
        is_marker = spans.left[first:last] == spans.right[first:last]
        for span in (first + np.flatnonzero(is_marker & (spans.left[first:last] > line.start))).tolist():
            boxes.tick(painter, line.edges(float(spans.left[span]), float(spans.left[span]))[0], top)
        for span in (first + np.flatnonzero(self._outlined[first:last])).tolist():
            if spans.right[span] > line.start and spans.left[span] < line.end:
                boxes.outline(painter, self._edges(line, span), top)

    # --- the look ---

    def changeEvent(self, event: QEvent) -> None:
        """Keep the document's own font: the style sheet's is smaller, and has ligatures."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._fit_font()

    def _fit_font(self) -> None:
        if hasattr(self, "_boxes") and self.document().defaultFont() != self._boxes.font:
            self.document().setDefaultFont(self._boxes.font)

    @Slot()
    def _fit_look(self) -> None:
        self._boxes = self._look.shared(BoxCache)
        self._fit_font()
        self.document().setDocumentMargin(self._look.px(MARGIN))
        line_format = QTextBlockFormat()
        line_format.setLineHeight(self._boxes.pitch, QTextBlockFormat.LineHeightTypes.FixedHeight.value)
        if self.document().firstBlock().blockFormat().lineHeight() != self._boxes.pitch:
            # Formats are undone like edits; so the history ends where the zoom changes.
            self.setUndoRedoEnabled(False)
            cursor = QTextCursor(self.document())
            cursor.select(QTextCursor.SelectionType.Document)
            cursor.mergeBlockFormat(line_format)
            self.setUndoRedoEnabled(True)
        self._widths.rehighlight()
        self.viewport().update()

    def _is_covered(self, character: str) -> bool:
        return is_drawn_by_qt(character, self._boxes.metrics)

    def placeholder_format(self, placeholder: str) -> QTextCharFormat | None:
        """Return the format that gives a placeholder the room of its sign, and no ink."""
        character = self._placeholders.meaning(placeholder)
        if character is None:
            return None
        width = self._boxes.sign_width(character)
        room = QTextCharFormat()
        room.setForeground(QColor(0, 0, 0, 0))
        room.setFontLetterSpacingType(QFont.SpacingType.AbsoluteSpacing)
        room.setFontLetterSpacing(width - self._look.mono_metrics(SCALE).horizontalAdvance(placeholder))
        return room


def _end(place: float, is_elsewhere: bool) -> End:
    if is_elsewhere:
        return End.OPEN
    return End.CLOSED if place == int(place) else End.CUT


class _PlaceholderWidths(QSyntaxHighlighter):
    """Formats placeholders beside the document: such formats are neither undone nor inherited by what is typed."""

    def __init__(self, document: QTextDocument, editor: TokenEditor) -> None:
        super().__init__(document)
        self._editor = editor

    def highlightBlock(self, text: str) -> None:
        """Give every placeholder of a paragraph the width of its sign."""
        unit = done = 0
        for found in _PLACEHOLDERS.finditer(text):
            between = text[done : found.start()]
            unit += len(between) if between.isascii() else len(between.encode("utf-16-le")) // 2
            width = 1 + (found.group() >= "\U00010000")
            if (room := self._editor.placeholder_format(found.group())) is not None:
                self.setFormat(unit, width, room)
            unit += width
            done = found.end()
