"""Asks how a tokenizer cuts text, for a file that does not say it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QComboBox, QDialog, QDialogButtonBox, QFormLayout, QLabel, QLineEdit, QVBoxLayout, QWidget

from bpe_viz.engine.pretokenize import PRETOKENIZERS, pretokenizer_for
from bpe_viz.engine.types import CountingOptions
from bpe_viz.errors import BpeVizError
from bpe_viz.gui.fields import show_fault

_OWN = "own"
_LEAST_CHARACTERS = 44
_HELP = "A regular expression in the syntax of the Python module regex; each match is one pre-token."


class PretokenizerDialog(QDialog):
    """A named pretokenizer, or a pattern of one's own; a pattern that cannot be is refused in place."""

    def __init__(self, reason: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("How is text cut?")
        said = QLabel(reason)
        said.setTextFormat(Qt.TextFormat.PlainText)
        said.setWordWrap(True)
        self.choice = QComboBox()
        for name, pretokenizer in PRETOKENIZERS.items():
            self.choice.addItem(f"{pretokenizer.title}: {pretokenizer.description}", name)
        self.choice.addItem("A pattern of your own", _OWN)
        # Nothing is chosen beforehand: another cut than the tokenizer's own gives other ids.
        self.choice.setPlaceholderText("Choose how the tokenizer's own library cuts text")
        self.choice.setCurrentIndex(-1)
        self.choice.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.choice.setMinimumContentsLength(_LEAST_CHARACTERS)
        self.pattern = QLineEdit()
        self.pattern.setPlaceholderText("Pattern")
        show_fault(self.pattern, None, _HELP)
        self.fault = QLabel()
        self.fault.setTextFormat(Qt.TextFormat.PlainText)
        self.fault.setWordWrap(True)
        form = QFormLayout()
        form.addRow("Pretokenizer", self.choice)
        form.addRow("Pattern", self.pattern)
        self._form = form
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self.open_button = buttons.addButton("Open", QDialogButtonBox.ButtonRole.AcceptRole)
        self.open_button.setDefault(True)
        buttons.accepted.connect(self._accept)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        for widget in (said, self.fault, buttons):
            column.addWidget(widget)
        column.insertLayout(1, form)
        self.choice.currentIndexChanged.connect(self._show_pattern)
        self._show_pattern()
        self.setMinimumWidth(52 * self.fontMetrics().averageCharWidth())

    def counting(self) -> CountingOptions:
        """Return what was chosen. Raises OptionError for a pattern that cannot be."""
        name = self.choice.currentData()
        chosen = CountingOptions(pattern=self.pattern.text()) if name == _OWN else CountingOptions(pretokenizer=name)
        pretokenizer_for(chosen)
        return chosen

    @Slot()
    def _show_pattern(self) -> None:
        self._form.setRowVisible(self.pattern, self.choice.currentData() == _OWN)
        self.open_button.setEnabled(self.choice.currentIndex() >= 0)
        self.fault.setText("")

    @Slot()
    def _accept(self) -> None:
        try:
            self.counting()
        except BpeVizError as error:
            self.fault.setText(str(error))
            show_fault(self.pattern, str(error), _HELP)
        else:
            self.accept()
