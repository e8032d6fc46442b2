"""What the window asks before and while it opens a tokenizer: which file, how text is cut, and on what to replay."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QFileDialog, QWidget

from bpe_viz.engine.corpus import Corpus
from bpe_viz.engine.types import CountingOptions
from bpe_viz.errors import BpeVizError
from bpe_viz.gui.choice_dialog import Answer, ChoiceDialog
from bpe_viz.gui.look import Look
from bpe_viz.gui.open_tokenizer_dialog import OpenTokenizerDialog
from bpe_viz.gui.opened_tokenizer import TokenizerSource
from bpe_viz.gui.pretokenizer_dialog import PretokenizerDialog
from bpe_viz.gui.replay import CountFor
from bpe_viz.gui.settings import Settings
from bpe_viz.gui.sources import Source, file_source
from bpe_viz.gui.workspace import Workspace


class TokenizerOpener(QObject):
    """Opens tokenizers in a workspace, and asks over a window what only its user can say."""

    def __init__(self, workspace: Workspace, look: Look, settings: Settings, window: QWidget) -> None:
        super().__init__(window)
        self._workspace = workspace
        self._look = look
        self._settings = settings
        self._window = window
        self.last_corpus: Source | None = None
        """The text that was opened last, None for the worked example: what a tokenizer may be replayed on."""
        self.coming: Source | None = None
        """The text that is being opened; it may fail."""
        workspace.corpus_wanted.connect(self.ask_replay_text)
        workspace.pretokenizer_needed.connect(self.ask_pretokenizer)

    def open(self, source: TokenizerSource, corpus: Source | None = None) -> None:
        """Open a tokenizer; corpus: what its merges are replayed on, None: it is opened alone."""
        if corpus is None:
            self._workspace.open_tokenizer(source)
        else:
            self.coming = corpus
            self._workspace.replay(self._counting(corpus), corpus.name, source)

    def replay(self, corpus: Source) -> None:
        """Replay the merges of the tokenizer that is open on a corpus."""
        self.coming = corpus
        self._workspace.replay(self._counting(corpus), corpus.name)

    def note_opened(self, corpus: Corpus | None) -> None:
        """Remember the text that is open now, if it is the one that was being opened."""
        coming = self.coming
        if corpus is not None and coming is not None and tuple(map(str, coming.paths)) == corpus.sources:
            self.last_corpus, self.coming = (coming if coming.is_own else None), None

    @Slot(object)
    def ask_on_what(self, source: TokenizerSource) -> None:
        """A tokenizer is opened while a text is: ask whether it is opened alone, or replayed on the text."""
        corpus = self.last_corpus
        if corpus is None or self._workspace.corpus is None:
            self.open(source)
            return
        answers = [
            Answer(
                "Open it alone", "Step through its merge list, and see how it splits a text", partial(self.open, source)
            ),
            Answer(
                f"Replay it on {corpus.name}",
                "Its merges, in the order of their list, with the counts that they have in this text",
                partial(self.open, source, corpus),
            ),
        ]
        ChoiceDialog(self._look, f"Open {source.name}", f"{corpus.name} is open.", answers, self._window).open()

    @Slot()
    def ask_tokenizer(self) -> None:
        """Ask for a tokenizer by name or file, and open it."""
        folder = self._settings.last_folder or Path.home()
        dialog = OpenTokenizerDialog(self._look, self._settings.recent_tokenizers, folder, self._window)
        dialog.chosen.connect(self.ask_on_what)
        dialog.open()

    def _counting(self, corpus: Source) -> CountFor:
        return partial(corpus.count_for, kernels_for=self._workspace.kernels.for_bytes)

    @Slot()
    def ask_replay_text(self) -> None:
        """Ask for texts or tables, and replay the merges of the open tokenizer on them."""
        folder = str(self._settings.last_folder or Path.home())
        names, _ = QFileDialog.getOpenFileNames(self._window, "Replay the merges on texts or word tables", folder)
        if names:
            self.replay(file_source([Path(name) for name in names]))

    def ask_what_for(self, corpus: Source, train: Callable[[], None]) -> None:
        """A corpus is opened while a tokenizer is: ask whether to replay the one on the other, or to train anew."""
        tokenizer = self._workspace.tokenizer
        if tokenizer is None or self._workspace.why_no_replay is not None:
            train()
            return
        answers = [
            Answer(
                f"Replay {tokenizer.name} on it",
                "Its merges, in the order of their list, with the counts that they have in this text",
                partial(self.replay, corpus),
            ),
            Answer("Train a new tokenizer on it", f"{tokenizer.name} is closed", train),
        ]
        question = f"{tokenizer.name} is open. What is {corpus.name} for?"
        ChoiceDialog(self._look, f"Open {corpus.name}", question, answers, self._window).open()

    @Slot(object, object)
    def ask_pretokenizer(self, error: BpeVizError, retry: Callable[[CountingOptions], None]) -> None:
        """Ask how a tokenizer cuts text, and open it so."""
        dialog = PretokenizerDialog(error.message, self._window)
        dialog.accepted.connect(lambda: retry(dialog.counting()))
        dialog.open()
