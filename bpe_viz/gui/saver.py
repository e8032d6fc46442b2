"""What the window asks before it saves: where to, and whether to go on where a format cannot hold everything."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QFileDialog, QWidget

from bpe_viz.formats import Draft, formats
from bpe_viz.gui.choice_dialog import Answer, ChoiceDialog
from bpe_viz.gui.look import Look
from bpe_viz.gui.settings import Settings
from bpe_viz.gui.workspace import Workspace

_MOST_CHARACTERS = 400
"""Of one loss: a list of special tokens may be long."""


class Saver(QObject):
    """Saves what a workspace shows, and asks over a window what only its user can say."""

    def __init__(self, workspace: Workspace, look: Look, settings: Settings, window: QWidget) -> None:
        super().__init__(window)
        self._workspace = workspace
        self._look = look
        self._settings = settings
        self._window = window
        workspace.saving.losses_found.connect(self.ask_about_losses)

    @Slot()
    def ask_where(self) -> None:
        """Ask where, and save the tokenizer as it is at the cursor."""
        able = [one for one in formats() if one.contents is not None]
        filters = ";;".join(f"{one.title} (*{one.suffixes[0]})" for one in able)
        if name := self._file_name("Save tokenizer", "tokenizer.json", filters):
            self._workspace.saving.save_tokenizer(Path(name))

    @Slot()
    def ask_where_counts(self) -> None:
        """Ask where, and save the pre-tokens of the corpus with their counts as a table."""
        if name := self._file_name("Save word counts", "counts.tsv", "Word-count table (*.tsv *.csv *.parquet)"):
            self._workspace.saving.save_word_counts(Path(name))

    @Slot(object, object)
    def ask_about_losses(self, draft: Draft, write: Callable[[], None]) -> None:
        """Say what a file would not hold, before it is written, and ask whether to go on."""
        name = draft.path.name
        answers = [
            Answer("Save in another format…", "Choose another name: its ending tells the format", self.ask_where),
            Answer(f"Save {name} anyway", _what_is_replaced(draft), write),
        ]
        said = "\n\n".join(f"•  {_shortened(loss)}" for loss in draft.losses)
        question = (
            f"Some of this tokenizer would be lost in {name}, as {draft.title}. Nothing is written yet.\n\n{said}"
        )
        ChoiceDialog(self._look, f"Save {name}", question, answers, self._window).open()

    def _file_name(self, title: str, name: str, filters: str) -> str:
        folder = self._settings.last_folder or Path.home()
        return QFileDialog.getSaveFileName(self._window, title, str(folder / name), filters)[0]


def _what_is_replaced(draft: Draft) -> str:
    there = " and ".join(path.name for path in draft.files if path.exists())
    return f"Replaces {there}, without what is said above" if there else "Without what is said above"


def _shortened(text: str) -> str:
    return text if len(text) <= _MOST_CHARACTERS else text[:_MOST_CHARACTERS] + "…"
