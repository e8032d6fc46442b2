"""A sentence of words and chips, painted in as many lines as it needs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from PySide6.QtCore import QPointF, QSize, Qt, Slot
from PySide6.QtGui import (
    QContextMenuEvent,
    QGuiApplication,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QMenu, QSizePolicy, QWidget

from bpe_viz.engine.narration import LONGEST_SYMBOL, Piece, Words, sentence
from bpe_viz.engine.symbols import SymbolTable
from bpe_viz.engine.visible import Parts
from bpe_viz.gui.chips import ChipStyle, chip_height, chip_width, paint_chip
from bpe_viz.gui.look import Look
from bpe_viz.gui.symbol_texts import parts_of_symbol

TYPE = 1.15
"""How much larger than normal the words are set."""

MARGIN, LINE_GAP = 12, 6
LEAST_LINES = 2

_STYLES = {"taken": ChipStyle.PLAIN, "made": ChipStyle.MADE, "next": ChipStyle.NEXT}


class _Item(NamedTuple):
    """A stretch of words or a chip, with its width and where it is painted."""

    content: Words | Parts
    style: ChipStyle
    width: float
    x: float = 0.0
    line: int = 0


class SentenceView(QWidget):
    """Shows a sentence; its whole text is its accessible name, and a menu copies it.

    It has room for two lines, which is enough for almost every sentence, so that what stands around it does not jump
    from one sentence to the next. For more it grows, and does not shrink until its width changes.
    """

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._pieces: tuple[Piece, ...] = ()
        self._symbols: SymbolTable | None = None
        self._placed: list[_Item] = []
        self._lines = LEAST_LINES
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        look.changed.connect(self.forget_lines)
        self.forget_lines()

    def show_sentence(self, pieces: Sequence[Piece], symbols: SymbolTable) -> None:
        """Show another sentence; symbols: knows those named in it."""
        self._pieces, self._symbols = tuple(pieces), symbols
        self.setAccessibleName(self.text)
        self._place()

    @property
    def text(self) -> str:
        """The whole sentence as plain text."""
        return "" if self._symbols is None else sentence(self._pieces, self._symbols)

    @property
    def lines(self) -> int:
        """How many lines there is room for."""
        return self._lines

    @Slot()
    def copy_text(self) -> None:
        """Put the sentence on the clipboard."""
        QGuiApplication.clipboard().setText(self.text)

    def sizeHint(self) -> QSize:
        """Ask for little width and just the height that is needed."""
        return QSize(self._look.px(480), self._lines * self._line_height() + 2 * self._look.px(4))

    def minimumSizeHint(self) -> QSize:
        """All lines; only a window with no room for them gives less."""
        return QSize(0, self.sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Break the lines anew for another width."""
        if event.size().width() != event.oldSize().width():
            self.forget_lines()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer to copy the sentence."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction("Copy the sentence", QKeySequence(), self.copy_text)
        menu.popup(event.globalPos())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the lines, in the middle of the height."""
        look, painter, metrics = self._look, QPainter(self), self._look.ui_metrics(TYPE)
        height = self._line_height()
        used = 1 + max((item.line for item in self._placed), default=0)
        top = max(0, (self.height() - used * height) // 2)
        to_baseline = round((height + metrics.ascent() - metrics.descent()) / 2)
        to_chip = (height - chip_height(look)) // 2
        for item in self._placed:
            x, y = look.px(MARGIN) + item.x, top + item.line * height
            if isinstance(item.content, Words):
                painter.setFont(look.ui_font(TYPE, bold=item.content.tone == "strong"))
                painter.setPen(look.pen("dim" if item.content.tone == "quiet" else "ink"))
                painter.drawText(QPointF(x, y + to_baseline), item.content.text)
            else:
                paint_chip(painter, look, x, y + to_chip, item.content, item.style)
        painter.end()

    @Slot()
    def forget_lines(self, _: object = None) -> None:
        """Take no more lines than the sentence needs now, but two at least."""
        self._lines = LEAST_LINES
        self._place()

    def _line_height(self) -> int:
        return chip_height(self._look) + self._look.px(LINE_GAP)

    def _place(self) -> None:
        """Break the sentence into lines at its spaces."""
        room = self.width() - 2 * self._look.px(MARGIN)
        self._placed = []
        x, line = 0.0, 0
        for space, unit in self._units():
            width = sum(item.width for item in unit)
            if x > 0 and x + space + width > room:
                x, line = 0.0, line + 1
            elif x > 0:
                x += space
            for item in unit:
                self._placed.append(item._replace(x=x, line=line))
                x += item.width
        self._lines = max(self._lines, line + 1)
        if self.maximumHeight() != self.sizeHint().height():
            self.setMaximumHeight(self.sizeHint().height())
            self.updateGeometry()
        self.update()

    def _units(self) -> Iterator[tuple[float, list[_Item]]]:
        """Yield what must stay on one line, with the space before it."""
        space, unit = 0.0, list[_Item]()
        for piece in self._pieces:
            if not isinstance(piece, Words):
                unit.append(self._chip(piece.symbol, _STYLES[piece.role]))
                continue
            metrics = self._look.ui_metrics(TYPE, bold=piece.tone == "strong")
            if piece.text.strip() == "+":  # a pair stays together
                unit.append(_Item(piece, ChipStyle.PLAIN, metrics.horizontalAdvance(piece.text)))
                continue
            for text in re.findall(r"\s+|\S+", piece.text):
                width = metrics.horizontalAdvance(text)
                if not text.isspace():
                    unit.append(_Item(piece._replace(text=text), ChipStyle.PLAIN, width))
                    continue
                if unit:
                    yield space, unit
                    space, unit = 0.0, []
                space += width
        if unit:
            yield space, unit

    def _chip(self, symbol: int, style: ChipStyle) -> _Item:
        assert self._symbols is not None  # a sentence comes with its symbols
        parts = parts_of_symbol(self._symbols, symbol, LONGEST_SYMBOL)
        return _Item(parts, style, chip_width(self._look, parts, style))
