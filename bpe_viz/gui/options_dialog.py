"""The options that the corpus bar has no room for."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QVBoxLayout,
    QWidget,
)

from bpe_viz.engine.segments import check_normalizations
from bpe_viz.engine.types import DEFAULT_MERGES, NORMALIZATIONS, Options
from bpe_viz.errors import BpeVizError, OptionError
from bpe_viz.gui.fields import show_fault
from bpe_viz.gui.option_titles import DOCUMENTS, WEIGHTS


class OptionsDialog(QDialog):
    """A form over Options; a value that cannot be is named below the form, and nothing is trained."""

    def __init__(self, options: Options, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Training options")
        self._before = options
        training, counting = options.training, options.counting
        self.target_kind = QComboBox()
        self.target_kind.addItems(["merges", "vocabulary size"])
        by_size = training.vocab_size is not None
        self.target_kind.setCurrentIndex(int(by_size))
        target = training.vocab_size if by_size else training.merges
        self.target = QLineEdit(str(DEFAULT_MERGES if target is None else target))
        self.min_count = QLineEdit(str(training.min_count))
        self.longest = QLineEdit("" if training.max_token_length is None else str(training.max_token_length))
        self.longest.setPlaceholderText("no limit")
        self.weights = QComboBox()
        for name, title in WEIGHTS.items():
            self.weights.addItem(title, name)
        self.weights.setCurrentIndex(self.weights.findData(training.weights))
        self.documents = QComboBox()
        for name, title in DOCUMENTS.items():
            self.documents.addItem(title, name)
        self.documents.setCurrentIndex(self.documents.findData(counting.documents))
        self.unknown = QLineEdit(training.unknown or "")
        self.unknown.setPlaceholderText("none")
        self.marker = QLineEdit(training.marker)
        self.normalize = QLineEdit(" ".join(counting.normalize))
        self.normalize.setPlaceholderText(f"none; or some of {' '.join(NORMALIZATIONS)}")
        self.special_tokens = QPlainTextEdit("\n".join(counting.special_tokens))
        self.special_tokens.setPlaceholderText("One a line, such as <|endoftext|>")
        self.special_tokens.setTabChangesFocus(True)
        self.special_tokens.setFixedHeight(4 * self.fontMetrics().lineSpacing() + 16)
        self._fault = QLabel()
        self._fault.setWordWrap(True)
        self._fault.setTextFormat(Qt.TextFormat.PlainText)
        self._lay_out()

    def _lay_out(self) -> None:
        form = QFormLayout()
        form.addRow("Target", self.target)
        form.addRow("counted in", self.target_kind)
        form.addRow("Least count", self.min_count)
        form.addRow("Longest token, in base symbols", self.longest)
        form.addRow("Weights", self.weights)
        form.addRow("Documents", self.documents)
        form.addRow("Normalization", self.normalize)
        form.addRow("Unknown token", self.unknown)
        form.addRow("End-of-word marker", self.marker)
        form.addRow("Special tokens", self.special_tokens)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        train = buttons.addButton("Train", QDialogButtonBox.ButtonRole.AcceptRole)
        train.setDefault(True)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.addLayout(form)
        column.addWidget(self._fault)
        column.addWidget(buttons)
        self.setMinimumWidth(36 * self.fontMetrics().horizontalAdvance("n"))

    @property
    def fault(self) -> str:
        """What is wrong with the form; empty while nothing is."""
        return self._fault.text()

    def options(self) -> Options:
        """Return what the form says. Raises OptionError that names the value that cannot be."""
        return self._read(lambda field: None)

    def _read(self, reading: Callable[[QLineEdit], None]) -> Options:
        """Read field after field; reading: told which field comes, so that a fault can be shown there."""
        # toPlainText would turn a no-break space into a space.
        typed = self.special_tokens.document().toRawText()
        specials = tuple(line for line in typed.split("\u2029") if line)
        by_size = self.target_kind.currentIndex() == 1
        reading(self.target)
        target = _whole_number("target", self.target.text())
        options = self._before.with_training(
            merges=None if by_size else target,
            vocab_size=target if by_size else None,
            min_count=1,
            max_token_length=None,
            weights=self.weights.currentData(),
        )
        reading(self.min_count)
        options = options.with_training(min_count=_whole_number("least count", self.min_count.text()))
        reading(self.longest)
        longest = self.longest.text().strip()
        options = options.with_training(max_token_length=_whole_number("longest token", longest) if longest else None)
        reading(self.normalize)
        normalize = tuple(_named(word) for word in self.normalize.text().replace(",", " ").split())
        check_normalizations(normalize)
        reading(self.unknown)
        options = options.with_training(unknown=self.unknown.text() or None)
        reading(self.marker)
        options = options.with_training(marker=self.marker.text())
        return options.with_counting(
            normalize=normalize, special_tokens=specials, documents=self.documents.currentData()
        )

    @Slot()
    def accept(self) -> None:
        """Close if the form can be followed, else mark the field that is wrong, say why, and go to it."""
        read: list[QLineEdit] = []
        for field in (self.target, self.min_count, self.longest, self.normalize, self.unknown, self.marker):
            show_fault(field, None, "")
        try:
            self._read(read.append)
        except BpeVizError as error:
            self._fault.setText(str(error))
            show_fault(read[-1], str(error), "")
            read[-1].setFocus(Qt.FocusReason.ShortcutFocusReason)
            read[-1].selectAll()
            return
        super().accept()


def _named(normalization: str) -> str:
    """Return a normalization as it is spelled, whatever the case it was typed in."""
    return next((name for name in NORMALIZATIONS if name.lower() == normalization.lower()), normalization)


def _whole_number(what: str, text: str) -> int:
    cleaned = text.replace(",", "").replace(" ", "").replace("_", "")
    if not cleaned.isascii() or not cleaned.isdigit():
        raise OptionError(f"The {what} is {text!r}, which is no whole number.", "Give one, such as 3,000.")
    return int(cleaned)
