"""Asks for a tokenizer: one opened before, a well-known one by name, or a file; fetches what is not here yet."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QProgressBar,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from bpe_viz.errors import BpeVizError, Stopped
from bpe_viz.gui.jobs import Job, Lane
from bpe_viz.gui.look import Look
from bpe_viz.gui.opened_tokenizer import TokenizerSource
from bpe_viz.gui.suggestion_list import SuggestionList
from bpe_viz.names import Located, check_written, is_name, locate
from bpe_viz.names.suggestions import matching

WIDTH, LIST_HEIGHT = 560, 320

_PARTS = 1000
_HELP = "A name such as tiktoken:cl100k_base or hf:ORG/NAME, or a file"


class OpenTokenizerDialog(QDialog):
    """A field with suggestions below it. Progress, Stop and what goes wrong are shown inside.

    chosen: TokenizerSource, whose file is here
    """

    chosen = Signal(object)

    def __init__(self, look: Look, recent: Sequence[str], folder: Path, parent: QWidget) -> None:
        """recent: paths and names opened before, newest first; folder: where files are looked for first"""
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Open tokenizer")
        self._recent = tuple(recent)
        self._folder = folder
        # Fetching may take minutes, and no question of the window may wait behind it.
        self._lane = Lane("fetch", self)
        self.field = _Field()
        self.field.setPlaceholderText(_HELP)
        self.field.setAccessibleName("Tokenizer to open")
        self.field.setClearButtonEnabled(True)
        self.list = SuggestionList(look)
        self.list.setAccessibleName("Suggested tokenizers")
        self.message = QLabel()
        self.message.setTextFormat(Qt.TextFormat.PlainText)
        self.message.setWordWrap(True)
        self.bar = QProgressBar()
        self.bar.setRange(0, _PARTS)
        self.bar.setTextVisible(False)
        self.stop_button = QPushButton("Stop")
        self._lay_out(look)
        self._connect()
        self._suggest()
        self._show_busy(False)

    def _lay_out(self, look: Look) -> None:
        self._buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self._buttons.button(QDialogButtonBox.StandardButton.Cancel).setAutoDefault(False)
        self.open_button = self._buttons.addButton("Open", QDialogButtonBox.ButtonRole.AcceptRole)
        self.open_button.setDefault(True)
        self.file_button = self._buttons.addButton("Choose a file…", QDialogButtonBox.ButtonRole.ActionRole)
        self.file_button.setAutoDefault(False)
        self._progress = QWidget()
        row = QHBoxLayout(self._progress)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.bar, 1)
        row.addWidget(self.stop_button)
        column = QVBoxLayout(self)
        for widget in (self.field, self.list, self.message, self._progress, self._buttons):
            column.addWidget(widget)
        column.setSpacing(look.grid)
        self.list.setMinimumHeight(look.px(LIST_HEIGHT))
        self.setMinimumWidth(look.px(WIDTH))

    def _connect(self) -> None:
        self.field.textChanged.connect(self._suggest)
        self.field.moved.connect(self._move)
        self.list.currentItemChanged.connect(self._take)
        self.list.itemActivated.connect(self.open_written)
        self.file_button.clicked.connect(self._choose_file)
        self.stop_button.clicked.connect(lambda: self._lane.stop("fetch"))
        self._buttons.accepted.connect(self.open_written)
        self._buttons.rejected.connect(self.reject)
        self.finished.connect(self._close_lane)

    @property
    def written(self) -> str:
        """What is asked for: the chosen suggestion, else what was typed."""
        return self.list.chosen or self.field.text().strip()

    @property
    def is_busy(self) -> bool:
        """Whether something is being fetched."""
        return self._lane.is_busy("fetch")

    # --- suggesting ---

    @Slot()
    def _suggest(self) -> None:
        self.list.show_suggestions(matching(self.field.text(), self._recent))
        self._say("" if self.list.count() else f"No suggestion is called so; Open looks for {self.written}.")

    @Slot(int)
    def _move(self, step: int) -> None:
        row = self.list.currentRow() + step
        if 0 <= row < self.list.count():
            self.list.setCurrentRow(row)

    @Slot()
    def _take(self) -> None:
        self._say("")

    # --- opening ---

    @Slot()
    def open_written(self) -> None:
        """Fetch what is asked for if it is not here, and hand it on."""
        written = self.written
        if not written:
            self._say("Type a name or a file, or choose one of the list.", is_error=True)
            return
        try:
            check_written(written)
        except BpeVizError as error:
            self._say(str(error), is_error=True)
            return
        self._show_busy(True)
        self._say(f"Looking for {written}")

        def work(job: Job) -> Located:
            return locate(written, job.report, job.should_stop)

        self._lane.submit("fetch", work, self._found, self._failed, self._report)

    def _found(self, located: Located) -> None:
        self.accept()
        written = located.written if is_name(located.written) else str(located.path.absolute())
        self.chosen.emit(TokenizerSource(written, located=located))

    def _failed(self, error: BpeVizError) -> None:
        self._show_busy(False)
        self.field.setFocus()
        self._say("Stopped." if isinstance(error, Stopped) else str(error), is_error=not isinstance(error, Stopped))

    def _report(self, fraction: float, text: str) -> None:
        self.bar.setValue(round(fraction * _PARTS))
        self._say(text)

    @Slot()
    def _choose_file(self) -> None:
        name, _ = QFileDialog.getOpenFileName(self, "Open a tokenizer file", str(self._folder))
        if name:
            self.field.setText(name)
            self.open_written()

    def _show_busy(self, is_busy: bool) -> None:
        self._progress.setVisible(is_busy)
        self.bar.setValue(0)
        for widget in (self.field, self.list, self.open_button, self.file_button):
            widget.setEnabled(not is_busy)

    def _say(self, text: str, is_error: bool = False) -> None:
        self.message.setText(text)
        self.message.setProperty("role", "error" if is_error else "dim")
        self.message.style().unpolish(self.message)
        self.message.style().polish(self.message)
        self.field.setAccessibleDescription(text or _HELP)

    @Slot()
    def _close_lane(self) -> None:
        """Stop fetching, and wait for it."""
        self._lane.close()


class _Field(QLineEdit):
    """Moves through the suggestions with the arrows.

    moved: 1 for the next one, -1 for the one before
    """

    moved = Signal(int)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Leave the arrows to the list."""
        match event.key():
            case Qt.Key.Key_Down:
                self.moved.emit(1)
            case Qt.Key.Key_Up:
                self.moved.emit(-1)
            case _:
                super().keyPressEvent(event)
