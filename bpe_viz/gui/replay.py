"""A tokenizer's merges replayed on a corpus: its list with the counts that they have there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bpe_viz.engine.corpus import Corpus
from bpe_viz.engine.id_decoding import Decoding
from bpe_viz.engine.layout import EncodedText
from bpe_viz.engine.list_narration import END
from bpe_viz.engine.narration import Piece
from bpe_viz.engine.replay import Replayer
from bpe_viz.engine.replay_narration import narrate_replay
from bpe_viz.engine.replayed_timeline import ReplayedTimeline
from bpe_viz.engine.tokenizer import SpecialText, Tokenizer
from bpe_viz.engine.types import Frame, Options, Progress, StopRequested
from bpe_viz.formats import Draft, draft_tokenizer
from bpe_viz.gui.answers import CountAnswers
from bpe_viz.gui.jobs import Job
from bpe_viz.gui.kernel_choice import KernelChoice
from bpe_viz.gui.opened_tokenizer import TokenizerSource, options_of

CountFor = Callable[[Tokenizer, Progress, StopRequested], Corpus]
"""Counts one source as a tokenizer cuts text; runs in the training lane."""


class ReplayAnswers(CountAnswers):
    """Answers about a replay: counts of its timeline, encodings of the tokenizer itself."""

    def __init__(self, timeline: ReplayedTimeline, tokenizer: Tokenizer, n_cells: int, kernels: KernelChoice) -> None:
        super().__init__(timeline, n_cells, kernels)
        self._tokenizer = tokenizer

    def encode(self, text: str, special_text: SpecialText) -> EncodedText:
        """Encode a text for every position of the list. Raises BpeVizError."""
        return self._tokenizer.lay_out(text, special_text)

    def decode(self, ids: Sequence[int]) -> Decoding:
        """Decode ids."""
        return self._tokenizer.decode(ids)


@dataclass(frozen=True, slots=True)
class Replay:
    """A corpus, and the merges of a tokenizer made on it in the order of their list."""

    corpus: Corpus
    tokenizer: Tokenizer
    source: TokenizerSource
    options: Options
    replayer: Replayer
    answers: ReplayAnswers

    @property
    def timeline(self) -> ReplayedTimeline:
        """The recorded counts."""
        return self.replayer.timeline

    @property
    def merges(self) -> ReplayedTimeline:
        """The merge list, as far as it is replayed."""
        return self.replayer.timeline

    @property
    def end(self) -> int:
        """Where the list ends."""
        return self.replayer.target

    @property
    def opens_at(self) -> int:
        """The start."""
        return 0

    def train(self, until: int, kernels: KernelChoice, job: Job) -> None:
        """Replay up to a position, or until the job is stopped. Runs in the training lane."""
        self.replayer.use(kernels.for_size(self.replayer.n_symbols, job))
        self.replayer.train_to(until, job.report, job.should_stop)

    def draft(self, position: int, path: Path, job: Job) -> Draft:
        """Return what saving the first entries would write. Runs in the query lane. Raises FormatError."""
        return draft_tokenizer(self.tokenizer.at(position), path)

    def narrate(self, frame: Frame) -> tuple[Piece, ...]:
        """Return the sentence on an entry."""
        return narrate_replay(frame, self.timeline)

    def why_no_next(self, frame: Frame) -> str | None:
        """Say that the list ends, where it does."""
        return None if frame.next is not None else f"{END[0].upper()}{END[1:]}."


def begin_replay(
    tokenizer: Tokenizer, source: TokenizerSource, count: CountFor, kernels: KernelChoice, job: Job
) -> Replay:
    """Count a corpus as the tokenizer cuts text, and its first pairs. Runs in the training lane. Raises BpeVizError."""
    options = options_of(tokenizer)
    corpus = count(tokenizer, job.report, job.should_stop)
    kernel_set = kernels.for_size(len(corpus.pretokens.data), job)
    replayer = Replayer(corpus.pretokens, tokenizer, options.training, kernel_set, job.report, job.should_stop)
    answers = ReplayAnswers(replayer.timeline, tokenizer, replayer.n_symbols, kernels)
    return Replay(corpus, tokenizer, source, options, replayer, answers)
