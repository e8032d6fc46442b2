"""The Workspace owns the state of the window: corpus, timeline, cursor, text to encode, selection.

It emits past events and knows no widget. Panels call its imperatives and draw what it emits. Counts are read in the
query lane, training runs in the training lane; neither is ever waited for.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, QTimer, Signal, Slot

from bpe_viz.engine.compiled import Kernels
from bpe_viz.engine.corpus import Corpus
from bpe_viz.engine.layout import EncodedText
from bpe_viz.engine.row_order import SortBy
from bpe_viz.engine.timeline import Timeline
from bpe_viz.engine.tokenizer import Decoding, Tokenizer
from bpe_viz.engine.trainer import Trainer
from bpe_viz.engine.types import Frame, Options, Progress, StopRequested
from bpe_viz.errors import BpeVizError, Stopped
from bpe_viz.formats import save_tokenizer
from bpe_viz.formats.word_counts import save_word_counts
from bpe_viz.gui.answers import Answers
from bpe_viz.gui.jobs import Job, Lane
from bpe_viz.gui.kernel_choice import KernelChoice
from bpe_viz.gui.selection import Selection
from bpe_viz.gui.speeds import SPEEDS
from bpe_viz.gui.training_changes import describe_change, first_difference

_FRAME_MILLISECONDS = 16

CountCorpus = Callable[[Options, Progress, StopRequested], Corpus]
"""Counts the pre-tokens of one source with these options; runs in the training lane."""


@dataclass(frozen=True, slots=True)
class Activity:
    """Long work that goes on.

    fraction: the part done, 0 to 1
    seconds_left: None while it cannot be told
    """

    text: str
    fraction: float
    seconds_left: float | None


@dataclass(frozen=True, slots=True)
class Rows:
    """Which pre-tokens are listed, in order.

    order: (rows,) int32, rows in the corpus
    total: how many the corpus has
    """

    order: NDArray[np.int32]
    total: int


@dataclass(frozen=True, slots=True)
class _Training:
    """A corpus with its training; swapped as one."""

    corpus: Corpus
    options: Options
    count: CountCorpus
    trainer: Trainer
    answers: Answers

    @property
    def timeline(self) -> Timeline:
        return self.trainer.timeline


@dataclass(frozen=True, slots=True)
class _Change:
    """A change of options.

    before: the training that is shown; sentences: on each option that differs; position: where the cursor was
    """

    before: _Training
    sentences: list[str]
    position: int


@dataclass(frozen=True, slots=True)
class _Opening:
    """What is being opened, so that it can be opened with other options."""

    count: CountCorpus
    options: Options
    name: str
    changed: _Change | None


class Workspace(QObject):
    """The state of one window. Made, used and closed in the GUI thread."""

    frame_changed = Signal(object)
    """Frame: another position is shown, or more of the same one."""
    corpus_changed = Signal(object)
    """Corpus: another corpus or other options; the position is 0."""
    frontier_changed = Signal(object)
    """int: training got further."""
    rows_changed = Signal(object)
    """Rows: the word splits are listed in another order or filtered."""
    encoding_changed = Signal(object)
    """EncodedText: the text to encode was encoded anew."""
    selection_changed = Signal(object)
    """Selection or None: something else is pointed at."""
    activity_changed = Signal(object)
    """Activity or None: long work started, got further, or ended."""
    playing_changed = Signal(bool)
    speed_changed = Signal(float)
    """Merges a second."""
    breakpoints_changed = Signal(object)
    """tuple of positions, ascending."""
    text_set = Signal(object)
    """str, as an object, because Signal(str) loses lone surrogates: somebody else than its editor replaced the text."""
    decoded = Signal(object)
    """Decoding: the answer to decode()."""
    failed = Signal(object)
    """BpeVizError: something could not be done; all is as it was."""
    noticed = Signal(str)
    """str: what the user should know, in plain words."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._training_lane = Lane("training", self)
        self._query_lane = Lane("query", self)
        self._kernels = KernelChoice(self)
        self._training: _Training | None = None
        self.frame: Frame | None = None
        self.rows = Rows(np.empty(0, dtype=np.int32), 0)
        self.encoded: EncodedText | None = None
        self.selection: Selection | None = None
        self.breakpoints: tuple[int, ...] = ()
        self.text = ""
        self._text_is_own = False
        self._hovered: Selection | None = None
        self._wanted = 0
        self._top = 20
        self._watched: tuple[int, ...] = ()
        self._sort: SortBy = "count"
        self._filter = ""
        self._rows_ordered_at = 0
        self._speed = 1.0
        self._owed = 0.0
        self._last_tick = 0.0
        self._stopped_by_user = False
        self._change: _Change | None = None
        self._opening: _Opening | None = None
        self._play_timer = QTimer(self)
        self._play_timer.timeout.connect(self._play_on)

    # --- what it is ---

    @property
    def corpus(self) -> Corpus | None:
        """The corpus that is trained on."""
        return self._training.corpus if self._training else None

    @property
    def options(self) -> Options:
        """The options that the shown training was made with."""
        return self._training.options if self._training else Options()

    @property
    def wanted_options(self) -> Options:
        """The options of what is being opened, else of what is shown: what the next choice changes."""
        return self.options if self._opening is None else self._opening.options

    @property
    def timeline(self) -> Timeline | None:
        """The recorded training."""
        return self._training.timeline if self._training else None

    @property
    def position(self) -> int:
        """The cursor: the position asked for last, which is shown in a moment."""
        return self._wanted

    @property
    def frontier(self) -> int:
        """How many merges are trained."""
        return self._training.timeline.frontier if self._training else 0

    @property
    def last_position(self) -> int:
        """Where the timeline ends: the target, or where training ran out of pairs."""
        if self._training is None:
            return 0
        return self.frontier if self._training.timeline.stop else self._training.trainer.target

    @property
    def is_playing(self) -> bool:
        """Whether merges are played."""
        return self._play_timer.isActive()

    @property
    def is_training(self) -> bool:
        """Whether the training lane is at work."""
        return self._training_lane.is_busy("open") or self._training_lane.is_busy("train")

    @property
    def is_settled(self) -> bool:
        """Whether everything that was asked for is shown."""
        waiting = self.is_training or any(map(self._query_lane.is_busy, ("frame", "rows", "encode")))
        return not waiting and self.frame is not None and self.frame.position == self._wanted

    @property
    def speed(self) -> float:
        """Merges a second when playing."""
        return self._speed

    # --- opening ---

    def open(self, count: CountCorpus, options: Options, name: str) -> None:
        """Count a corpus and train on it; what is shown stays until that has succeeded.

        count: does the counting, in the training lane; name: of the source, for people
        """
        self._open(count, options, name, None)

    def _open(self, count: CountCorpus, options: Options, name: str, changed: _Change | None) -> None:
        """changed: what the user changed of the training that is shown, to be said once the next one is trained."""
        self._stopped_by_user = False
        self._opening = _Opening(count, options, name, changed)
        started = time.monotonic()

        def work(job: Job) -> _Training:
            job.report(0.0, f"Reading {name}")
            corpus = count(options, job.report, job.should_stop)
            return self._trained(corpus, options, count, job)

        def report(fraction: float, text: str) -> None:
            self._show_activity(fraction, text, started)

        def done(training: _Training) -> None:
            self._opening = None
            self._change = changed
            self._opened(training)
            if changed is not None and changed.position:
                self.seek(changed.position)

        self._training_lane.stop("train")
        self._training_lane.submit("open", work, done, self._not_opened, report)
        self._show_activity(0.0, f"Reading {name}", started)

    def change_options(self, options: Options) -> None:
        """Train again with other options, on the same corpus, and say what changed.

        While another corpus is being opened, it is that one which they are meant for.
        """
        training, opening = self._training, self._opening
        if opening is not None and opening.changed is None:
            if options != opening.options:
                change = describe_change(opening.options, options)
                self._open(opening.count, options, opening.name, None)
                self.noticed.emit(" ".join((f"{opening.name} is opened anew.", *change)))
            return
        if training is None:
            return
        if options == training.options:
            self._take_change_back()
            return
        changed = _Change(training, describe_change(training.options, options), self._wanted)
        if options.counting == training.options.counting or training.corpus.is_table:
            corpus = training.corpus
            self._open(_keep(corpus, training.count), options, corpus.name, changed)
        else:
            self._open(training.count, options, training.corpus.name, changed)

    def _take_change_back(self) -> None:
        """The options are to be as they were before a change that is under way."""
        if self._opening is not None:
            self._training_lane.drop("open")
            self._opening = None
            self.activity_changed.emit(None)
            self.train_ahead()

    def stop_training(self) -> None:
        """Stop what the training lane does; what is trained stays."""
        self._stopped_by_user = True
        self._training_lane.stop("open")
        self._training_lane.stop("train")
        if not self._training_lane.is_busy("open"):
            self._opening = None
        if not self.is_training:
            # What was waiting in the lane is dropped without an answer.
            self._trained_until_stop()

    def _trained(self, corpus: Corpus, options: Options, count: CountCorpus, job: Job) -> _Training:
        """Runs in the training lane: count the first pairs."""
        job.report(1.0, "Counting the first pairs")
        n_special = len(set(options.counting.special_tokens))
        kernels = self._kernels.for_size(len(corpus.pretokens.data), job)
        trainer = Trainer(corpus.pretokens, options.training, n_special, kernels)
        return _Training(corpus, options, count, trainer, Answers(trainer, options.counting, self._kernels))

    def _opened(self, training: _Training) -> None:
        self.pause()
        self._training = training
        self.selection = self._hovered = None
        self.breakpoints = ()
        self.encoded = None
        self._watched = ()
        self._wanted = 0
        self.frame = None
        self.corpus_changed.emit(training.corpus)
        self.breakpoints_changed.emit(())
        self.selection_changed.emit(None)
        self._order_rows()
        self._request_frame()
        for note in training.corpus.notes:
            self.noticed.emit(note)
        self.train_ahead()

    def _not_opened(self, error: BpeVizError) -> None:
        self._opening = None
        self.activity_changed.emit(None)
        if not isinstance(error, Stopped):
            self.failed.emit(error)
        if self._training is None:
            return
        if self._stopped_by_user:
            self._trained_until_stop()
        else:
            self.train_ahead()

    # --- training ---

    def train_ahead(self, position: int | None = None) -> None:
        """Let training run to a position, None: to the target, in the background."""
        training = self._training
        if training is None or training.timeline.stop is not None:
            self._trained_until_stop()
            return
        self._stopped_by_user = False
        until = training.trainer.target if position is None else position
        started = time.monotonic()

        def work(job: Job) -> None:
            training.trainer.use(self._kernels.for_size(training.trainer.n_symbols, job))
            training.trainer.train_to(until, job.report, job.should_stop)

        def report(fraction: float, text: str) -> None:
            if until - training.timeline.frontier > 1:
                self._show_activity(fraction, text, started)
            self._follow_frontier()

        self._training_lane.submit("train", work, self._trained_until_stop, self._training_failed, report)

    def _trained_until_stop(self, _: object = None) -> None:
        self.activity_changed.emit(None)
        self._follow_frontier()
        if self._wanted > self.frontier:
            if self._stopped_by_user or self._training is None or self._training.timeline.stop:
                self.jump(self.frontier)
            else:
                self.train_ahead(self._wanted)
        if self.encoded is None or self.encoded.known < self.frontier:
            self._encode()
        self._say_what_changed()
        # The frame at the frontier did not know yet whether a merge follows.
        self._request_frame()

    def _training_failed(self, error: BpeVizError) -> None:
        self.activity_changed.emit(None)
        if not isinstance(error, Stopped):
            self.failed.emit(error)
        if self._wanted > self.frontier:
            # Nothing trains up to it any more, so it would be waited for without end.
            self.jump(self.frontier)

    def _follow_frontier(self) -> None:
        self.frontier_changed.emit(self.frontier)
        if self.frame is None or (self.frame.position != self._wanted and self._wanted <= self.frontier):
            self._request_frame()

    def _say_what_changed(self) -> None:
        if self._change is None or self._training is None:
            return
        change, after = self._change, self._training
        if after.timeline.stop is None and not self._stopped_by_user:
            return  # trained in part, up to a position that was asked for
        before = change.before
        self._change = None

        def work(job: Job) -> str:
            # Here and not in the window: 30,000 equal merges take 0.15 s to compare.
            return first_difference(before.timeline, after.timeline)

        def done(difference: str) -> None:
            parts = [*change.sentences, *([difference] if difference else [])]
            if after.timeline.frontier < change.position:
                parts.append(f"The new training has no merge {change.position:,}: its last one is shown.")
            if before.corpus.pretokens is not after.corpus.pretokens:
                parts.append(
                    f"{len(before.corpus.pretokens):,} distinct pre-tokens became {len(after.corpus.pretokens):,}."
                )
            if after is self._training:
                self.noticed.emit(" ".join(parts))

        self._query_lane.submit("difference", work, done, self.failed.emit)

    def _show_activity(self, fraction: float, text: str, started: float) -> None:
        elapsed = time.monotonic() - started
        left = elapsed * (1 - fraction) / fraction if fraction > 0.02 and elapsed > 0.5 else None
        self.activity_changed.emit(Activity(text, fraction, left))

    # --- the cursor ---

    def seek(self, position: int) -> None:
        """Show a position; beyond the frontier, train up to it first."""
        if self._training is None:
            return
        self._wanted = max(0, min(position, self.last_position))
        if self._wanted > self.frontier and not self._training_lane.is_busy("train"):
            self.train_ahead(self._wanted)
        if self._wanted <= self.frontier:
            self._request_frame()

    def jump(self, position: int) -> None:
        """Show a position because the user asked for it: playing pauses."""
        self.pause()
        self.seek(position)

    def step(self, merges: int = 1) -> None:
        """Go some merges on, or back when negative; playing pauses."""
        self.jump(self._wanted + merges)

    def play(self) -> None:
        """Go on by itself, `speed` merges a second; at the end, start again."""
        if self._training is None or self.last_position == 0:
            return
        if self._wanted >= self.last_position:
            self.seek(0)
        self._owed = 0.0
        self._last_tick = time.monotonic()
        self._play_timer.start(_FRAME_MILLISECONDS)
        self.playing_changed.emit(True)

    def pause(self) -> None:
        """Stop playing."""
        if self.is_playing:
            self._play_timer.stop()
            self.playing_changed.emit(False)

    def toggle_playing(self) -> None:
        """Play, or pause."""
        if self.is_playing:
            self.pause()
        else:
            self.play()

    def set_speed(self, merges_a_second: float) -> None:
        """Set how fast merges are played."""
        self._speed = max(SPEEDS[0], min(merges_a_second, SPEEDS[-1]))
        self.speed_changed.emit(self._speed)

    @Slot()
    def _play_on(self) -> None:
        now = time.monotonic()
        self._owed += self._speed * (now - self._last_tick)
        self._last_tick = now
        due = int(self._owed)
        if due == 0 or (self.frame is not None and self.frame.position != self._wanted):
            return  # the frame asked for last is not shown yet: merges still owed come with the next one
        self._owed -= due
        stops = [stop for stop in self.breakpoints if self._wanted < stop <= self._wanted + due]
        self.seek(min(stops, default=self._wanted + due))
        if stops or self._wanted >= self.last_position:
            self.pause()

    def toggle_breakpoint(self, position: int | None = None) -> None:
        """Set or take away a breakpoint, at the cursor if no position is given."""
        where = self._wanted if position is None else position
        self.breakpoints = tuple(sorted({*self.breakpoints} ^ {where}))
        self.breakpoints_changed.emit(self.breakpoints)

    def seek_breakpoint(self, forward: bool) -> None:
        """Go to the next or the previous breakpoint; without one, to the end or the start."""
        if forward:
            self.jump(min((b for b in self.breakpoints if b > self._wanted), default=self.last_position))
        else:
            self.jump(max((b for b in self.breakpoints if b < self._wanted), default=0))

    # --- frames ---

    def watch_pairs(self, top: int) -> None:
        """Ask for this many of the most frequent pairs in every frame."""
        if top != self._top:
            self._top = top
            self._request_frame()

    def watch_rows(self, rows: Sequence[int]) -> None:
        """Ask for the splits of these pre-tokens in every frame."""
        rows = tuple(rows)
        if rows != self._watched:
            self._watched = rows
            self._request_frame()

    def _request_frame(self) -> None:
        training = self._training
        if training is None:
            return
        position, top, rows = min(self._wanted, self.frontier), self._top, self._watched

        def work(job: Job) -> Frame:
            return training.answers.frame(position, top, rows)

        order_depends = self._sort == "changed" or self._filter.startswith("[")
        order_is_old = order_depends and position != self._rows_ordered_at
        # Unfiltered it is quick. Done first, it lets the frame be asked for with the rows then in view.
        if order_is_old and not self._filter:
            self._order_rows()
        self._query_lane.submit("frame", work, self._show_frame, self.failed.emit)
        if order_is_old and self._filter:
            self._order_rows()

    def _show_frame(self, frame: Frame) -> None:
        self.frame = frame
        self.frame_changed.emit(frame)
        # None: a corpus was just opened, and its text is to be coloured long before training ends.
        if self.encoded is None or self.encoded.known < frame.position:
            self._encode()

    def request_counts(self, done: Callable[[NDArray[np.int64]], None]) -> None:
        """Ask for the counts of all pairs at the cursor, the highest first."""
        training = self._training
        if training is None:
            return
        position = min(self._wanted, self.frontier)

        def work(job: Job) -> NDArray[np.int64]:
            return training.answers.counts(position)

        self._query_lane.submit("counts", work, done, self.failed.emit)

    def list_rows(self, sort: SortBy | None = None, typed_filter: str | None = None) -> None:
        """List the pre-tokens in another order, or filter them; see row_order.parse_filter."""
        self._sort = self._sort if sort is None else sort
        self._filter = self._filter if typed_filter is None else typed_filter
        self._order_rows()

    def _order_rows(self) -> None:
        training = self._training
        if training is None:
            return
        sort, typed, position = self._sort, self._filter, min(self._wanted, self.frontier)
        self._rows_ordered_at = position

        def work(job: Job) -> Rows:
            order = training.answers.rows(sort, typed, position, job.should_stop)
            return Rows(order, len(training.corpus.pretokens))

        self._query_lane.submit("rows", work, self._show_rows, self._quietly)

    def _show_rows(self, rows: Rows) -> None:
        self.rows = rows
        self.rows_changed.emit(rows)

    def _quietly(self, error: BpeVizError) -> None:
        if not isinstance(error, Stopped):
            self.failed.emit(error)

    # --- selection ---

    def select(self, selection: Selection | None) -> None:
        """Point at something until something else is selected."""
        self.selection = selection
        self.selection_changed.emit(self.pointed_at)

    def hover(self, selection: Selection | None) -> None:
        """Point at something while the mouse is over it."""
        if selection != self._hovered:
            self._hovered = selection
            self.selection_changed.emit(self.pointed_at)

    @property
    def pointed_at(self) -> Selection | None:
        """What is under the mouse, else what is selected."""
        return self._hovered or self.selection

    # --- text to encode ---

    def set_text(self, text: str, from_editor: bool = False) -> None:
        """Encode another text; from_editor: its editor shows it already."""
        self._text_is_own = True
        self._take_text(text, from_editor)

    def suggest_text(self, text: str) -> None:
        """Encode this text unless the user has chosen one."""
        if not self._text_is_own:
            self._take_text(text, from_editor=False)

    def _take_text(self, text: str, from_editor: bool) -> None:
        self.text = text
        if not from_editor:
            self.text_set.emit(text)
        self._encode()

    def _encode(self) -> None:
        training, text = self._training, self.text
        if training is None:
            return

        def work(job: Job) -> EncodedText:
            return training.answers.encode(text)

        def show(encoded: EncodedText) -> None:
            # Another corpus may have been opened meanwhile; its first frame asks for the text to be encoded anew.
            if training is self._training:
                self.encoded = encoded
                self.encoding_changed.emit(encoded)

        self._query_lane.submit("encode", work, show, self._quietly)

    def decode(self, ids: Sequence[int]) -> None:
        """Decode ids with the tokenizer trained so far; `decoded` brings the answer."""
        training = self._training
        if training is None:
            return

        def work(job: Job) -> Decoding:
            return training.answers.decode(ids)

        self._query_lane.submit("decode", work, self.decoded.emit, self.failed.emit)

    def save_tokenizer(self, path: Path) -> None:
        """Write the tokenizer as it is at the cursor to a file."""
        training = self._training
        if training is None:
            return
        position = min(self._wanted, self.frontier)

        def work(job: Job) -> tuple[str, ...]:
            tokenizer = Tokenizer.from_timeline(training.timeline, training.options.counting)
            return save_tokenizer(tokenizer.at(position), path)

        def done(notes: tuple[str, ...]) -> None:
            self.noticed.emit(" ".join((f"Saved {path.name} with {position:,} merges.", *notes)))

        self._query_lane.submit("save", work, done, self.failed.emit)

    def save_word_counts(self, path: Path) -> None:
        """Write the pre-tokens of the corpus with their counts to a table."""
        corpus = self.corpus
        if corpus is None:
            return

        def work(job: Job) -> int:
            save_word_counts(corpus.pretokens, path)
            return len(corpus.pretokens)

        def done(n: int) -> None:
            self.noticed.emit(f"Saved {path.name} with {n:,} distinct pre-tokens.")

        self._query_lane.submit("save-counts", work, done, self.failed.emit)

    def kernels_to_count(self, n_bytes: int, progress: Progress, should_stop: StopRequested) -> Kernels:
        """Return the kernels to count so many bytes with. Runs in the training lane; may wait for them."""
        return self._kernels.for_bytes(n_bytes, progress, should_stop)

    def prepare_kernels(self) -> None:
        """Have the kernels compiled in another process, unless that was done before."""
        self._kernels.prepare()

    def close(self) -> None:
        """Stop both lanes and wait for them."""
        self._play_timer.stop()
        self._training_lane.close()
        self._query_lane.close()
        self._kernels.close()


def _keep(corpus: Corpus, count: CountCorpus) -> CountCorpus:
    """Count as before, but take the counts that are there for the options they were made with."""

    def counted(wanted: Options, progress: Progress, should_stop: StopRequested) -> Corpus:
        unchanged = wanted.counting == corpus.counting or corpus.is_table
        return corpus if unchanged else count(wanted, progress, should_stop)

    return counted
