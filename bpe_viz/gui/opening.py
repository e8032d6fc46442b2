"""Opening: a corpus is counted, or a tokenizer is read, while what is shown stays until that has succeeded."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, Signal

from bpe_viz.engine.tokenizer import Tokenizer
from bpe_viz.engine.types import CountingOptions, Options
from bpe_viz.errors import BpeVizError, FormatError
from bpe_viz.formats import PretokenizerNeeded
from bpe_viz.gui.jobs import Job, Lane
from bpe_viz.gui.kernel_choice import KernelChoice
from bpe_viz.gui.opened_tokenizer import OpenedTokenizer, TokenizerSource, why_no_replay
from bpe_viz.gui.replay import CountFor, Replay, begin_replay
from bpe_viz.gui.shown import Shown
from bpe_viz.gui.training import Activity, CountCorpus, Training, begin_training, keep_counts
from bpe_viz.gui.training_changes import Comparison, describe_change


@dataclass(frozen=True, slots=True)
class Change:
    """A change of options.

    before: the training that is shown; sentences: on each option that differs; position: where the cursor was
    """

    before: Training
    sentences: list[str]
    position: int

    def describe(self, after: Training, comparison: Comparison) -> str:
        """Say what it changed; comparison: of the training before with the one after."""
        parts = [*self.sentences, *filter(None, [comparison.sentence])]
        if after.timeline.frontier < self.position:
            parts.append(f"The new training has no merge {self.position:,}: its last one is shown.")
        before, now = self.before.corpus.pretokens, after.corpus.pretokens
        if before is not now:
            parts.append(f"{len(before):,} distinct pre-tokens became {len(now):,}.")
        return " ".join(parts)


@dataclass(frozen=True, slots=True)
class _Source:
    """A corpus that is being opened, so that it can be opened with other options."""

    count: CountCorpus
    options: Options
    name: str
    change: Change | None


class Opening(QObject):
    """Opens one thing at a time in the training lane; another one, or other options, replace it."""

    opened = Signal(object, object)
    """(Shown, Change or None): it can be shown now."""
    not_opened = Signal(object)
    """BpeVizError: it failed or was stopped."""
    pretokenizer_needed = Signal(object, object)
    """(PretokenizerNeeded, call): a file does not say how text is cut; call takes the CountingOptions that do."""
    activity_changed = Signal(object)
    """Activity or None."""
    noticed = Signal(str)
    """str: what the user should know."""

    def __init__(self, lane: Lane, kernels: KernelChoice, parent: QObject) -> None:
        super().__init__(parent)
        self._lane = lane
        self._kernels = kernels
        self._source: _Source | TokenizerSource | None = None

    @property
    def options(self) -> Options | None:
        """The options of the corpus that is being opened; None if none is."""
        return self._source.options if isinstance(self._source, _Source) else None

    @property
    def name(self) -> str | None:
        """What is being opened, for people; None if nothing is."""
        return None if self._source is None else self._source.name

    def open(self, count: CountCorpus, options: Options, name: str, change: Change | None = None) -> None:
        """Count a corpus and its first pairs.

        count: does the counting, in the training lane; name: of the source, for people
        change: what the user changed of the training that is shown, to be said once the next one is trained
        """

        def work(job: Job) -> Training:
            corpus = count(options, job.report, job.should_stop)
            return begin_training(corpus, options, count, self._kernels, job)

        self._start(_Source(count, options, name, change), work, change)

    def open_tokenizer(self, source: TokenizerSource) -> None:
        """Read a tokenizer file."""

        def work(job: Job) -> OpenedTokenizer:
            tokenizer, located = source.load(job)
            return OpenedTokenizer(tokenizer, replace(source, located=located))

        self._start(source, work, None, lambda given: self.open_tokenizer(replace(source, given=given)))

    def open_replay(self, source: TokenizerSource, tokenizer: Tokenizer | None, count: CountFor, name: str) -> None:
        """Count a corpus, and the first pairs that a tokenizer's merges are to be made on.

        tokenizer: that of the source, None if it is still to be read; name: of the corpus, for people
        """

        def work(job: Job) -> Replay:
            read, located = (tokenizer, source.located) if tokenizer is not None else source.load(job)
            if (reason := why_no_replay(read)) is not None:
                raise FormatError(reason, "Open it alone.")
            return begin_replay(read, replace(source, located=located), count, self._kernels, job)

        def retry(given: CountingOptions) -> None:
            self.open_replay(replace(source, given=given), tokenizer, count, name)

        self._start(source, work, None, retry, name)

    def _start(
        self,
        source: _Source | TokenizerSource,
        work: Callable[[Job], Shown],
        change: Change | None,
        retry: Callable[[CountingOptions], None] | None = None,
        name: str | None = None,
    ) -> None:
        self._source = source
        started = time.monotonic()

        def report(fraction: float, text: str) -> None:
            self.activity_changed.emit(Activity.since(started, fraction, text))

        def done(shown: Shown) -> None:
            self._source = None
            self.opened.emit(shown, change)

        def fail(error: BpeVizError) -> None:
            self._source = None
            self.activity_changed.emit(None)
            if isinstance(error, PretokenizerNeeded) and retry is not None:
                self.pretokenizer_needed.emit(error, retry)
            else:
                self.not_opened.emit(error)

        self._lane.submit("open", work, done, fail, report)
        report(0.0, f"Reading {name or source.name}")

    def change_options(self, shown: Training | None, options: Options, position: int) -> bool:
        """Open what is shown with other options, or what is being opened; tells whether training is to go on instead.

        position: where the cursor is
        """
        source = self._source
        if isinstance(source, _Source) and source.change is None:
            if options != source.options:
                sentences = describe_change(source.options, options)
                self.open(source.count, options, source.name)
                self.noticed.emit(" ".join((f"{source.name} is opened anew.", *sentences)))
            return False
        if shown is None:
            return False
        if options == shown.options:
            return self._take_back()
        corpus, count = shown.corpus, shown.count
        if options.counting == shown.options.counting or corpus.is_table:
            count = keep_counts(corpus, count)
        change = Change(shown, describe_change(shown.options, options), position)
        self.open(count, options, corpus.name, change)
        return False

    def _take_back(self) -> bool:
        """The options are to be as they were before a change that is under way."""
        if self._source is None:
            return False
        self._lane.drop("open")
        self._source = None
        self.activity_changed.emit(None)
        return True

    def stop(self) -> None:
        """Stop at once; the answer of a job that runs still arrives."""
        self._lane.stop("open")
        if not self._lane.is_busy("open"):
            self._source = None
