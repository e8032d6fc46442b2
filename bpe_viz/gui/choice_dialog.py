"""A question with a few answers, each a button of its own with a line that says what it does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCommandLinkButton, QDialog, QDialogButtonBox, QLabel, QVBoxLayout, QWidget

LEAST_WIDTH = 44
"""In letters."""


class Answer(NamedTuple):
    """One answer; the first of a question is what Enter chooses."""

    title: str
    meaning: str
    run: Callable[[], None]


class ChoiceDialog(QDialog):
    """Asks, and runs what was chosen; Escape chooses nothing."""

    def __init__(self, title: str, question: str, answers: Sequence[Answer], parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(title)
        said = QLabel(question)
        said.setTextFormat(Qt.TextFormat.PlainText)
        said.setWordWrap(True)
        column = QVBoxLayout(self)
        column.addWidget(said)
        self.buttons = [self._button(answer) for answer in answers]
        for button in self.buttons:
            column.addWidget(button)
        self.buttons[0].setDefault(True)
        self.buttons[0].setFocus()
        cancel = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        cancel.rejected.connect(self.reject)
        column.addWidget(cancel)
        self.setMinimumWidth(LEAST_WIDTH * self.fontMetrics().averageCharWidth())

    def _button(self, answer: Answer) -> QCommandLinkButton:
        button = QCommandLinkButton(answer.title.replace("&", "&&"), answer.meaning)
        button.clicked.connect(self.accept)
        button.clicked.connect(answer.run)
        return button
