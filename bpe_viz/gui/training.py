"""One corpus with its training, which are swapped as one; and how long work on it is told."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bpe_viz.engine.corpus import Corpus
from bpe_viz.engine.merge_list import MergeList
from bpe_viz.engine.narration import Piece, narrate, why_no_next
from bpe_viz.engine.published import Beginning
from bpe_viz.engine.timeline import Timeline
from bpe_viz.engine.tokenizer import Tokenizer
from bpe_viz.engine.trainer import Trainer
from bpe_viz.engine.types import Frame, Options, Progress, StopRequested
from bpe_viz.formats import Draft, draft_tokenizer
from bpe_viz.gui.answers import Answers
from bpe_viz.gui.jobs import Job
from bpe_viz.gui.kernel_choice import KernelChoice

CountCorpus = Callable[[Options, Progress, StopRequested], Corpus]
"""Counts the pre-tokens of one source with these options; runs in the training lane."""


@dataclass(frozen=True, slots=True)
class Training:
    """A corpus with one training on it."""

    corpus: Corpus
    options: Options
    count: CountCorpus
    trainer: Trainer
    answers: Answers

    @property
    def timeline(self) -> Timeline:
        """The recorded training."""
        return self.trainer.timeline

    @property
    def merges(self) -> MergeList:
        """The merge list, which is that training."""
        return self.trainer.timeline

    @property
    def tokenizer(self) -> Tokenizer | None:
        """None: it is trained here."""
        return None

    @property
    def end(self) -> int:
        """Where the timeline ends: the target, or where training ran out of pairs."""
        return self.timeline.frontier if self.timeline.stop else self.trainer.target

    @property
    def opens_at(self) -> int:
        """The start."""
        return 0

    def train(self, until: int, kernels: KernelChoice, job: Job) -> None:
        """Make merges up to a position, or until the job is stopped. Runs in the training lane."""
        self.trainer.use(kernels.for_size(self.trainer.n_symbols, job))
        self.trainer.train_to(until, job.report, job.should_stop)

    def draft(self, position: int, path: Path, job: Job) -> Draft:
        """Return what saving the tokenizer as it is at a position would write. Runs in the query lane."""
        tokenizer = Tokenizer.from_timeline(self.timeline, self.options.counting)
        return draft_tokenizer(tokenizer.at(position), path)

    def narrate(self, frame: Frame) -> tuple[Piece, ...]:
        """Return the sentence on a frame."""
        return narrate(frame, self.options.training)

    def why_no_next(self, frame: Frame) -> str | None:
        """Say in one short sentence why no merge can follow this frame; None if one can."""
        return why_no_next(frame, self.options.training)


def begin_training(corpus: Corpus, options: Options, count: CountCorpus, kernels: KernelChoice, job: Job) -> Training:
    """Count the first pairs. Runs in the training lane."""
    job.report(1.0, "Counting the first pairs")
    n_special = len(set(options.counting.special_tokens))
    trainer = Trainer(corpus.pretokens, options.training, n_special, kernels.for_size(len(corpus.pretokens.data), job))
    return Training(corpus, options, count, trainer, Answers(trainer, options.counting, kernels))


def begin_again(training: Training, beginning: Beginning, kernels: KernelChoice, job: Job) -> Training:
    """Train on the same corpus up to the end of a beginning. Runs in the training lane. Raises Stopped."""
    again = begin_training(training.corpus, training.options, training.count, kernels, job)
    again.trainer.use(kernels.for_size(again.trainer.n_symbols, job))
    again.trainer.repeat(beginning, job.report, job.should_stop)
    return again


def keep_counts(corpus: Corpus, count: CountCorpus) -> CountCorpus:
    """Count as before, but take the counts that are there for the options they were made with."""

    def counted(wanted: Options, progress: Progress, should_stop: StopRequested) -> Corpus:
        unchanged = wanted.counting == corpus.counting or corpus.is_table
        return corpus if unchanged else count(wanted, progress, should_stop)

    return counted


@dataclass(frozen=True, slots=True)
class Activity:
    """Long work that goes on.

    fraction: the part done, 0 to 1
    seconds_left: None while it cannot be told
    """

    text: str
    fraction: float
    seconds_left: float | None

    @classmethod
    def since(cls, started: float, fraction: float, text: str) -> Activity:
        """Tell how far work is that was started at this time.monotonic()."""
        elapsed = time.monotonic() - started
        left = elapsed * (1 - fraction) / fraction if fraction > 0.02 and elapsed > 0.5 else None
        return cls(text, fraction, left)
