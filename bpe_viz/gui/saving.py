"""Saving: the tokenizer at the cursor, or the counts of the corpus, are written in the query lane."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from bpe_viz.formats import Draft
from bpe_viz.formats.word_counts import save_word_counts
from bpe_viz.gui.jobs import Job, Lane
from bpe_viz.gui.shown import Shown


class Saving(QObject):
    """Saves what is shown; what a file would not hold is asked about before anything is replaced."""

    losses_found = Signal(object, object)
    """(Draft, call): the format cannot hold all of the tokenizer, and nothing is written yet; call writes it anyway."""
    failed = Signal(object)
    """BpeVizError: nothing was saved."""
    noticed = Signal(str)
    """str: what was saved."""

    def __init__(
        self,
        lane: Lane,
        shown: Callable[[], Shown | None],
        position: Callable[[], int],
        line_name: Callable[[], str],
        parent: QObject,
    ) -> None:
        """Put it together; line_name: of the branch that is shown, "" for the main timeline."""
        super().__init__(parent)
        self._lane = lane
        self._shown = shown
        self._position = position
        self._line_name = line_name

    def save_tokenizer(self, path: Path) -> None:
        """Write the tokenizer as it is at the cursor of the shown timeline to a file."""
        shown, position, name = self._shown(), self._position(), self._line_name()
        if shown is None:
            return
        said = f"Saved {path.name} with {position:,} merges{f' of {name}' if name else ''}."

        def drafted(draft: Draft) -> None:
            if draft.losses:
                self.losses_found.emit(draft, partial(self._write, draft, said))
            else:
                self._write(draft, said)

        self._lane.submit("save", partial(shown.draft, position, path), drafted, self.failed.emit)

    def _write(self, draft: Draft, said: str) -> None:
        def done(_: None) -> None:
            self.noticed.emit(" ".join((said, *draft.notes)))

        self._lane.submit("save", lambda job: draft.write(), done, self.failed.emit)

    def save_word_counts(self, path: Path) -> None:
        """Write the pre-tokens of the corpus with their counts to a table."""
        shown = self._shown()
        corpus = None if shown is None else shown.corpus
        if corpus is None:
            return

        def work(job: Job) -> int:
            save_word_counts(corpus.pretokens, path)
            return len(corpus.pretokens)

        def done(n: int) -> None:
            self.noticed.emit(f"Saved {path.name} with {n:,} distinct pre-tokens.")

        self._lane.submit("save-counts", work, done, self.failed.emit)
