"""A text edit whose content is exact: what Qt would change or lose is held by placeholders and drawn as signs."""

from __future__ import annotations

import re
from collections.abc import Callable

from PySide6.QtCore import QEvent, QMimeData, QPoint, Qt, Signal, Slot
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QFocusEvent,
    QFont,
    QInputMethodEvent,
    QKeyEvent,
    QSyntaxHighlighter,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextOption,
    QWheelEvent,
)
from PySide6.QtWidgets import QMenu, QTextEdit

from bpe_viz.errors import BpeVizError
from bpe_viz.gui.document_text import DocumentText, Placeholders
from bpe_viz.gui.look import Look
from bpe_viz.gui.token_boxes import SCALE, BoxCache, is_drawn_by_qt

MOST_CHARACTERS = 100_000
MARGIN = 12
SELECTED, SELECTED_ELSEWHERE = 90, 36
"""How opaque the selection is while the keys go here, and while they do not."""

EXACT_TEXT = "application/x-bpe-viz-text"
"""Beside plain text on the clipboard: UTF-8 with lone surrogates, which plain text would lose."""

PLACEHOLDERS = re.compile("[\ue000-\uf8ff\U000f0000-\U000ffffd\U00100000-\U0010fffd]")


def too_long(n_characters: int) -> BpeVizError:
    """Say that a text does not fit. One paragraph of MOST_CHARACTERS is laid out in 60 ms, and at every key."""
    return BpeVizError(
        f"{n_characters:,} characters are too many for this field, which holds {MOST_CHARACTERS:,}.",
        "Encode a long text with: bpe-viz encode --file FILE",
    )


class ExactTextEdit(QTextEdit):
    """Edits one text of at most MOST_CHARACTERS; gives placeholders the room that their signs need.

    text_edited: str, the user changed the text; refused: BpeVizError, an edit that was too large
    extend_menu: adds to the context menu; called with it and where it was asked for, in the viewport
    """

    text_edited = Signal(object)
    refused = Signal(object)

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._boxes = look.shared(BoxCache)
        self._placeholders = Placeholders(self._is_covered)
        self.content = DocumentText.of("", "")
        self.extend_menu: Callable[[QMenu, QPoint], None] = lambda menu, point: None
        self.setAcceptRichText(False)
        self.setTabChangesFocus(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        option = self.document().defaultTextOption()
        option.setTextDirection(Qt.LayoutDirection.LeftToRight)
        self.document().setDefaultTextOption(option)
        self._widths = _PlaceholderWidths(self.document(), self)
        self.document().contentsChanged.connect(self._read)
        look.changed.connect(self._fit_look)
        self._fit_look()

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
            self.refused.emit(too_long(len(text)))
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

    def select(self, start: int, end: int) -> None:
        """Select code points, and bring them into view."""
        cursor = QTextCursor(self.document())
        cursor.setPosition(self.content.position(start))
        cursor.setPosition(self.content.position(end), QTextCursor.MoveMode.KeepAnchor)
        self.setTextCursor(cursor)
        self.ensureCursorVisible()

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
            self._forget()
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
        if event.key() == Qt.Key.Key_Tab:
            # It comes here where no other field takes the focus; with Ctrl too Qt would write it as it is.
            typed = "\t"
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not event.modifiers() & command:
            self.insert("\n")  # Shift+Return would be U+2028
        elif typed and (typed >= " " or typed == "\t") and typed != "\x7f" and self._stands_otherwise(typed):
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

    def _forget(self) -> None:
        """Drop what was true of the old text; for heirs."""

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
        asked_by_mouse = event.reason() == QContextMenuEvent.Reason.Mouse
        # The caret stands between two characters; the one behind it is meant.
        behind_caret = self.cursorRect().center() + QPoint(round(self._boxes.cell / 4), 0)
        self.extend_menu(menu, event.pos() if asked_by_mouse else behind_caret)
        menu.exec(event.globalPos())
        menu.deleteLater()

    # --- the look ---

    def changeEvent(self, event: QEvent) -> None:
        """Keep the document's own font: the style sheet's is smaller, and has ligatures."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._fit_font()

    def _fit_font(self) -> None:
        if hasattr(self, "_boxes") and self.document().defaultFont() != self._boxes.font:
            self.document().setDefaultFont(self._boxes.font)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show what is selected."""
        super().focusInEvent(event)
        self._fit_selection(SELECTED)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Let what is selected step back, but not behind the menu that copies it."""
        super().focusOutEvent(event)
        if event.reason() != Qt.FocusReason.PopupFocusReason:
            self._fit_selection(SELECTED_ELSEWHERE)

    def _fit_selection(self, alpha: int) -> None:
        """Paint what is selected so that colours below it stay visible; a style sheet would paint it solid."""
        blue, ink = self._look.colour("next"), self._look.colour("ink").name()
        selection = f"rgba({blue.red()}, {blue.green()}, {blue.blue()}, {alpha})"
        self.setStyleSheet(
            "QTextEdit, QTextEdit:focus { border: none; background: transparent;"
            f" selection-background-color: {selection}; selection-color: {ink}; }}"
        )

    @Slot()
    def _fit_look(self) -> None:
        self._fit_selection(SELECTED if self.hasFocus() else SELECTED_ELSEWHERE)
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


class _PlaceholderWidths(QSyntaxHighlighter):
    """Formats placeholders beside the document: such formats are neither undone nor inherited by what is typed."""

    def __init__(self, document: QTextDocument, editor: ExactTextEdit) -> None:
        super().__init__(document)
        self._editor = editor

    def highlightBlock(self, text: str) -> None:
        """Give every placeholder of a paragraph the width of its sign."""
        unit = done = 0
        for found in PLACEHOLDERS.finditer(text):
            between = text[done : found.start()]
            unit += len(between) if between.isascii() else len(between.encode("utf-16-le")) // 2
            width = 1 + (found.group() >= "\U00010000")
            if (room := self._editor.placeholder_format(found.group())) is not None:
                self.setFormat(unit, width, room)
            unit += width
            done = found.end()
