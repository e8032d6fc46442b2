"""A question with a few answers, each a button of its own with a line that says what it does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QDialog, QDialogButtonBox, QLabel, QVBoxLayout, QWidget

from bpe_viz.gui.look import Look

WIDTH = 420
_PADDING, _RADIUS = 14, 6


class Answer(NamedTuple):
    """One answer; the first of a question has the keyboard."""

    title: str
    meaning: str
    run: Callable[[], None]


class ChoiceDialog(QDialog):
    """Asks, and runs what was chosen; Escape chooses nothing."""

    def __init__(self, look: Look, title: str, question: str, answers: Sequence[Answer], parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(title)
        said = QLabel(question)
        said.setTextFormat(Qt.TextFormat.PlainText)
        said.setWordWrap(True)
        column = QVBoxLayout(self)
        column.setSpacing(look.grid)
        column.addWidget(said)
        self.buttons = [AnswerButton(look, answer) for answer in answers]
        for button, answer in zip(self.buttons, answers, strict=True):
            button.clicked.connect(self.accept)
            button.clicked.connect(answer.run)
            column.addWidget(button)
        cancel = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        cancel.button(QDialogButtonBox.StandardButton.Cancel).setAutoDefault(False)
        cancel.rejected.connect(self.reject)
        column.addWidget(cancel)
        # A dialog takes the height of wrapped text for a width that it is not going to have.
        said.ensurePolished()
        said.setMinimumHeight(said.heightForWidth(look.px(WIDTH)))
        self.buttons[0].setFocus()


class AnswerButton(QAbstractButton):
    """A title, and below it what the answer means."""

    def __init__(self, look: Look, answer: Answer) -> None:
        super().__init__()
        self._look = look
        self._answer = answer
        self.setText(answer.title)
        self.setAccessibleName(answer.title)
        self.setAccessibleDescription(answer.meaning)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def sizeHint(self) -> QSize:
        """As high as the meaning takes."""
        look = self._look
        inside = look.px(WIDTH) - 2 * look.px(_PADDING)
        wanted = look.ui_metrics().boundingRect(
            QRectF(0, 0, inside, 1000), int(Qt.TextFlag.TextWordWrap), self._answer.meaning
        )
        height = look.ui_metrics(bold=True).height() + wanted.height() + 2 * look.px(_PADDING) - look.px(4)
        return QSize(look.px(WIDTH), round(height))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter chooses, as Space does."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw frame, title and meaning."""
        look, painter = self._look, QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        width = 2.0 if self.hasFocus() else 1.0
        painter.setPen(look.pen("next" if self.hasFocus() else "line", width))
        painter.setBrush(look.brush("hover" if self.underMouse() or self.isDown() else "panel"))
        frame = QRectF(self.rect()).adjusted(width / 2, width / 2, -width / 2, -width / 2)
        painter.drawRoundedRect(frame, look.px(_RADIUS), look.px(_RADIUS))
        padding, line = look.px(_PADDING), round(look.ui_metrics(bold=True).height())
        top = look.px(_PADDING) - look.px(4)
        painter.setPen(look.pen("ink"))
        painter.setFont(look.ui_font(bold=True))
        box = QRect(padding, top, self.width() - 2 * padding, line)
        title = painter.fontMetrics().elidedText(self._answer.title, Qt.TextElideMode.ElideMiddle, box.width())
        painter.drawText(box, Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine, title)
        painter.setPen(look.pen("dim"))
        painter.setFont(look.ui_font())
        below = box.adjusted(0, line + look.px(2), 0, self.height())
        painter.drawText(below, int(Qt.TextFlag.TextWordWrap), self._answer.meaning)
        painter.end()
