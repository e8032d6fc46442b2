"""The Workspace owns the state of the window: corpus, timeline, cursor, rows listed, selection.

It emits past events and knows no widget. Panels call its imperatives and draw what it emits. Counts are read in the
query lane, training runs in the training lane; neither is ever waited for. Subjects of their own have modules of their
own: the player, the text to encode, branches, opening, saving.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, Signal

from bpe_viz.engine.types import Frame, Options, Pair
from bpe_viz.errors import BpeVizError, PairError, Stopped
from bpe_viz.formats import formats
from bpe_viz.gui.branches import Branches, Line, dropped_branches
from bpe_viz.gui.fidelity import FidelityCheck
from bpe_viz.gui.jobs import Job, Lane
from bpe_viz.gui.kernel_choice import KernelChoice
from bpe_viz.gui.opened_tokenizer import OpenedTokenizer, TokenizerSource
from bpe_viz.gui.opening import Change, Opening
from bpe_viz.gui.playing import Player
from bpe_viz.gui.replay import CountFor, Replay
from bpe_viz.gui.row_listing import RowListing
from bpe_viz.gui.saving import Saving
from bpe_viz.gui.shown import Shown
from bpe_viz.gui.shown_state import NO_BRANCH_REMEDY, ShownState
from bpe_viz.gui.text_encoder import TextEncoder
from bpe_viz.gui.training import Activity, CountCorpus, Training


class Workspace(ShownState):
    """The state of one window. Made, used and closed in the GUI thread."""

    frame_changed = Signal(object)
    """Frame: another position is shown, or more of the same one."""
    corpus_changed = Signal(object)
    """Corpus, or None with a tokenizer alone: something else is shown, or other options; the position is 0."""
    timeline_changed = Signal()
    """Another timeline is shown: of another corpus, or another branch of the same one."""
    frontier_changed = Signal(object)
    """int: training got further."""
    activity_changed = Signal(object)
    """Activity or None: long work started, got further, or ended."""
    corpus_wanted = Signal()
    """Somebody pressed a button that asks for a text to replay the tokenizer's merges on."""
    pretokenizer_needed = Signal(object, object)
    """(PretokenizerNeeded, call): a file does not say how text is cut; call takes the CountingOptions that do."""
    failed = Signal(object)
    """BpeVizError: something could not be done; all is as it was."""
    noticed = Signal(str)
    """str: what the user should know, in plain words."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._training_lane = Lane("training", self)
        self._query_lane = Lane("query", self)
        self.kernels = KernelChoice(self)
        self._top = 20
        self._watched: tuple[int, ...] = ()
        self._stopped_by_user = False
        self._change: Change | None = None
        self.player = Player(self, self)
        self.saving = Saving(
            self._query_lane, lambda: self._shown, lambda: self.shown_position, lambda: self._branch_name, self
        )
        self.saving.failed.connect(self.failed)
        self.saving.noticed.connect(self.noticed)
        self.listing = RowListing(self._query_lane, lambda: self._shown, lambda: self.shown_position, self)
        self.listing.failed.connect(self.failed)
        self.encoder = TextEncoder(self._query_lane, lambda: self._shown, self)
        self.encoder.failed.connect(self.failed)
        self.fidelity = FidelityCheck(self.encoder, lambda: self.tokenizer_source, self)
        self.timeline_changed.connect(self.fidelity.follow_source)
        self.branches = Branches(self._training_lane, self._query_lane, self.kernels, self)
        self.branches.line_wanted.connect(self._show_line)
        self.branches.not_made.connect(self._not_done)
        self.branches.activity_changed.connect(self.activity_changed)
        self.branches.noticed.connect(self.noticed)
        self._opening = Opening(self._training_lane, self.kernels, self)
        self._opening.opened.connect(self._opened)
        self._opening.not_opened.connect(self._not_done)
        self._opening.pretokenizer_needed.connect(self.pretokenizer_needed)
        self._opening.activity_changed.connect(self.activity_changed)
        self._opening.noticed.connect(self.noticed)

    # --- what it is ---

    @property
    def wanted_options(self) -> Options:
        """The options of what is being opened, else of what is shown: what the next choice changes."""
        return self._opening.options or self.options

    @property
    def is_training(self) -> bool:
        """Whether the training lane is at work."""
        return any(map(self._training_lane.is_busy, ("open", "branch", "train")))

    @property
    def is_settled(self) -> bool:
        """Whether everything that was asked for is shown."""
        waiting = self.is_training or any(map(self._query_lane.is_busy, ("frame", "rows", "encode", "compare")))
        return not waiting and self.frame is not None and self.frame.position == self._wanted

    # --- opening ---

    def prepare(self) -> None:
        """Get ready in the background what is needed later: compiled kernels, and the readers of tokenizer files."""
        self.kernels.prepare()
        self._query_lane.submit("prepare", lambda job: formats(), lambda _: None, self._quietly)

    def open(self, count: CountCorpus, options: Options, name: str) -> None:
        """Count a corpus and train on it; what is shown stays until that has succeeded.

        count: does the counting, in the training lane; name: of the source, for people
        """
        self._make_way()
        self._opening.open(count, options, name)

    def open_tokenizer(self, source: TokenizerSource) -> None:
        """Read a tokenizer file and step through its merge list; what is shown stays until that has succeeded."""
        self._make_way()
        self._opening.open_tokenizer(source)

    def replay(self, count: CountFor, name: str, source: TokenizerSource | None = None) -> None:
        """Make the merges of a tokenizer again on a corpus, in the order of its list.

        count: does the counting, in the training lane; name: of the corpus, for people
        source: of the tokenizer; None: the one that is shown
        """
        shown = self._shown
        if source is not None:
            self._make_way()
            self._opening.open_replay(source, None, count, name)
        elif isinstance(shown, OpenedTokenizer | Replay):
            self._make_way()
            self._opening.open_replay(shown.source, shown.tokenizer, count, name)

    def change_options(self, options: Options) -> None:
        """Train again with other options, on the same corpus, and say what changed.

        While another corpus is being opened, it is that one which they are meant for.
        """
        if options != self.options:
            self._make_way()
        # What other options change is told against what these made by themselves, without a choice by hand.
        main = self.branches.lines[0].training if self.branches.lines else None
        if self._opening.change_options(main, options, self._wanted):
            self.train_ahead()

    def _make_way(self) -> None:
        self._stopped_by_user = False
        self._training_lane.drop("branch")
        self._training_lane.stop("train")

    def _opened(self, shown: Shown, change: Change | None) -> None:
        self._change = change
        self._shown = shown
        dropped = self.branches.start(shown if isinstance(shown, Training) else None)
        self._wanted = shown.opens_at
        self._watched = ()
        if change is None:
            self.player.forget_breakpoints()
        self._show_another()
        self.corpus_changed.emit(shown.corpus)
        self._after_showing_another()
        for note in _notes(shown):
            self.noticed.emit(note)
        if dropped and change is not None:
            self.noticed.emit(dropped_branches(dropped))
        self.train_ahead()
        if change is not None and change.position:
            self.seek(change.position)

    def _show_another(self) -> None:
        """Forget what belongs to the timeline before."""
        self.player.pause()
        self.selection = self._hovered = None
        self.encoder.forget()
        self.frame = None

    def _after_showing_another(self) -> None:
        self.timeline_changed.emit()
        self.player.fit_breakpoints()
        self.selection_changed.emit(None)
        self.listing.order()
        self._request_frame()

    def _not_done(self, error: BpeVizError) -> None:
        """Go on with what is shown: another corpus or branch could not be had."""
        self._fail(error)
        if self._shown is None:
            return
        if self._stopped_by_user:
            self._trained_until_stop()
        else:
            self.train_ahead()

    # --- branches ---

    def branch(self, pair: Pair) -> None:
        """Merge a pair at the position that is shown, whatever the rule says, and train on from there."""
        frame = self.frame
        if frame is None:
            return
        if self._opening.name is not None:
            opened = f"No pair can be merged by hand while {self._opening.name} is being opened."
            self.failed.emit(PairError(opened, "Wait for it, or press Stop."))
            return
        if self.why_no_branch is not None:
            self.failed.emit(PairError(self.why_no_branch, NO_BRANCH_REMEDY))
            return
        following = frame.next
        if following is not None and (following.left, following.right) == pair:
            self.jump(frame.position + 1)
        else:
            self._stopped_by_user = False
            self.branches.branch(pair, frame.position)

    def _show_line(self, line: Line, position: int) -> None:
        training = line.training
        if training is self._shown or training is None:
            self.jump(position)
            return
        self._training_lane.stop("train")
        self._shown = training
        self._show_another()
        self._wanted = min(position, self.last_position)
        self._after_showing_another()
        if line.is_stopped:
            self.stop_training()
        else:
            self.train_ahead()

    # --- training ---

    def train_ahead(self, position: int | None = None) -> None:
        """Let training run to a position, None: to the target, in the background."""
        shown = self._shown
        if shown is None or shown.merges.stop is not None:
            self._trained_until_stop()
            return
        self._note_stopped(False)
        until = shown.end if position is None else position
        started = time.monotonic()

        def report(fraction: float, text: str) -> None:
            if until - shown.merges.frontier > 1:
                self.activity_changed.emit(Activity.since(started, fraction, text))
            self._follow_frontier()

        work = partial(shown.train, until, self.kernels)
        self._training_lane.submit("train", work, self._trained_until_stop, self._training_failed, report)

    def stop_training(self) -> None:
        """Stop what the training lane does; what is trained stays."""
        self._note_stopped(True)
        self._opening.stop()
        self.branches.stop()
        self._training_lane.stop("train")
        if not self.is_training:
            # What was waiting in the lane is dropped without an answer.
            self._trained_until_stop()

    def _note_stopped(self, is_stopped: bool) -> None:
        self._stopped_by_user = is_stopped
        if self.branches.shown is not None:
            self.branches.shown.is_stopped = is_stopped

    def _trained_until_stop(self, _: object = None) -> None:
        self.activity_changed.emit(None)
        self._follow_frontier()
        if self._wanted > self.frontier:
            if self._stopped_by_user or self._shown is None or self._shown.merges.stop:
                self.jump(self.frontier)
            else:
                self.train_ahead(self._wanted)
        self.player.fit_breakpoints()
        self.encoder.encode_up_to(self.frontier)
        self.branches.compare()
        self._say_what_changed()
        # The frame at the frontier did not know yet whether a merge follows.
        self._request_frame()

    def _training_failed(self, error: BpeVizError) -> None:
        self._fail(error)
        if self._wanted > self.frontier:
            # Nothing trains up to it any more, so it would be waited for without end.
            self.jump(self.frontier)

    def _fail(self, error: BpeVizError) -> None:
        self.activity_changed.emit(None)
        self._quietly(error)

    def _quietly(self, error: BpeVizError) -> None:
        if not isinstance(error, Stopped):
            self.failed.emit(error)

    def _follow_frontier(self) -> None:
        self.frontier_changed.emit(self.frontier)
        if self.frame is None or (self.frame.position != self._wanted and self._wanted <= self.frontier):
            self._request_frame()

    def _say_what_changed(self) -> None:
        main = self.branches.lines[0] if self.branches.lines else None
        if self._change is None or main is None or main.training is None:
            return
        if main.training.timeline.stop is None and not main.is_stopped:
            return  # trained in part, up to a position that was asked for
        change, self._change = self._change, None
        self.branches.tell_change(change)

    # --- the cursor ---

    def seek(self, position: int) -> None:
        """Show a position; beyond the frontier, train up to it first."""
        if self._shown is None:
            return
        self._wanted = max(0, min(position, self.last_position))
        if self._wanted > self.frontier and not self._training_lane.is_busy("train"):
            self.train_ahead(self._wanted)
        if self._wanted <= self.frontier:
            self._request_frame()

    def jump(self, position: int) -> None:
        """Show a position because the user asked for it: playing pauses."""
        self.player.pause()
        self.seek(position)

    def step(self, merges: int = 1) -> None:
        """Go some merges on, or back when negative; playing pauses."""
        self.jump(self._wanted + merges)

    def step_to_occurring(self, forward: bool) -> None:
        """Go to the next entry that merges something in the corpus, or to the one before."""
        timeline = self.timeline
        if timeline is None:
            return
        self._step_among(np.flatnonzero(timeline.published.merged_count[: timeline.frontier]), forward)

    def step_to_departing(self, forward: bool) -> None:
        """Go to the next entry where training on the corpus would have merged something else, or to the one before."""
        if self.merges is not None:
            self._step_among(np.flatnonzero(self.merges.departs()), forward)

    def _step_among(self, ranks: NDArray[np.intp], forward: bool) -> None:
        """Go behind the next of these merges, ascending, or the one before; behind the last of them to the end."""
        at = int(np.searchsorted(ranks + 1, self._wanted, "right" if forward else "left")) - (not forward)
        beyond = self.last_position if forward else 0
        self.jump(int(ranks[at]) + 1 if 0 <= at < len(ranks) else beyond)

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
        shown = self._shown
        if shown is None:
            return
        position = self.shown_position
        order_is_old, is_filtered = self.listing.is_old, self.listing.is_filtered
        # Unfiltered it is quick. Done first, it lets the frame be asked for with the rows then in view.
        if order_is_old and not is_filtered:
            self.listing.order()
        work = partial(_frame, shown, position, self._top, self._watched)
        self._query_lane.submit("frame", work, self._show_frame, self.failed.emit)
        if order_is_old and is_filtered:
            self.listing.order()

    def _show_frame(self, frame: Frame) -> None:
        self.frame = frame
        self.frame_changed.emit(frame)
        # A timeline that was just opened: its text is to be coloured long before training ends.
        self.encoder.encode_up_to(frame.position)

    def request_counts(self, done: Callable[[NDArray[np.int64]], None]) -> None:
        """Ask for the counts of all pairs at the cursor, the highest first."""
        shown = self._shown
        if shown is None:
            return
        position = self.shown_position

        def work(job: Job) -> NDArray[np.int64]:
            return shown.answers.counts(position)

        self._query_lane.submit("counts", work, done, self.failed.emit)

    # --- ends ---

    @property
    def _branch_name(self) -> str:
        line = self.branches.shown
        return line.name if line is not None and line.number else ""

    def close(self) -> None:
        """Stop both lanes and wait for them."""
        self.player.pause()
        self.fidelity.close()
        self._training_lane.close()
        self._query_lane.close()
        self.kernels.close()


def _frame(shown: Shown, position: int, top: int, rows: Sequence[int], job: Job) -> Frame:
    return shown.answers.frame(position, top, rows)


def _notes(shown: Shown) -> tuple[str, ...]:
    """Return what is to be said of a corpus or a tokenizer that was just opened."""
    corpus, tokenizer = shown.corpus, shown.tokenizer
    # Why there are no merges stands in their place already.
    of_tokenizer = () if tokenizer is None else (note for note in tokenizer.notes if note != tokenizer.why_no_merges)
    return (*of_tokenizer, *(() if corpus is None else corpus.notes))
