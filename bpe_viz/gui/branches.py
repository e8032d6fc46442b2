"""Branches: timelines that go another way from some position on, because another pair was merged there by hand.

The main timeline and its branches are lines. One line is shown; undo takes the branch made last away, redo brings it
back. A line keeps its trainer as long as all of them together stay within a budget: making the first merges again
costs about a second for a corpus of 20 MB, its arrays 150 MB.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from PySide6.QtCore import QObject, Signal

from bpe_viz.engine.narration import pair_text
from bpe_viz.engine.published import Beginning
from bpe_viz.engine.types import Departure, Merge, Pair
from bpe_viz.errors import BpeVizError
from bpe_viz.gui.jobs import Done, Job, Lane
from bpe_viz.gui.kernel_choice import KernelChoice
from bpe_viz.gui.opening import Change
from bpe_viz.gui.training import Activity, Training, begin_again
from bpe_viz.gui.training_changes import Comparison, compare

MOST_BYTES = 512 * 1024 * 1024
"""What the trainers of all lines may take; the one that is shown and the main one are always kept."""


@dataclass(eq=False, slots=True)
class Line:
    """A timeline that can be shown.

    number: of a branch, from 1 in the order made; 0: the main timeline
    parent: the line that it departs from; None for the main timeline
    chosen: the merge made by hand where it departs, and departure: what the rule would have done; None for main
    pair_text: the chosen pair as plain text
    beginning: the merges up to the chosen one, to train the line again when its trainer was let go
    training: None when it was let go
    comparison: with the parent, or of the main timeline with the training before the options were changed
    is_stopped: the user stopped its training
    """

    training: Training | None
    number: int = 0
    parent: Line | None = None
    chosen: Merge | None = None
    departure: Departure | None = None
    pair_text: str = ""
    beginning: Beginning | None = None
    comparison: Comparison | None = None
    is_stopped: bool = False
    shown_at: float = field(default_factory=time.monotonic)

    @property
    def name(self) -> str:
        """What it is called: main timeline, branch 2."""
        return f"branch {self.number}" if self.number else "main timeline"

    @property
    def title(self) -> str:
        """The name and what was chosen: Branch 2: merge 7 is e + r."""
        if self.chosen is None or self.parent is None:
            return "Main timeline"
        of = f" of branch {self.parent.number}" if self.parent.number else ""
        return f"Branch {self.number}{of}: merge {self.chosen.rank + 1:,} is {self.pair_text}"


@dataclass(frozen=True, slots=True)
class _Made:
    """A branch that was made, and where: it is taken back to there."""

    line: Line
    came_from: Line
    position: int


class Branches(QObject):
    """The lines of one corpus and one choice of options."""

    changed = Signal()
    """There are other lines, another one is shown, or a comparison has arrived."""
    line_wanted = Signal(object, object)
    """(Line, position): it has a training and is to be shown."""
    not_made = Signal(object)
    """BpeVizError: a branch could not be made, or was stopped; all is as it was."""
    activity_changed = Signal(object)
    """Activity or None."""
    noticed = Signal(str)
    """str: what the user should know."""

    def __init__(self, training_lane: Lane, query_lane: Lane, kernels: KernelChoice, parent: QObject) -> None:
        super().__init__(parent)
        self._training_lane = training_lane
        self._query_lane = query_lane
        self._kernels = kernels
        self._lines: list[Line] = []
        self._shown: Line | None = None
        self._made: list[_Made] = []
        self._undone: list[_Made] = []
        self._n_made = 0

    # --- what there is ---

    @property
    def lines(self) -> tuple[Line, ...]:
        """The main timeline, then the branches in the order made; empty before a corpus is opened."""
        return tuple(self._lines)

    @property
    def shown(self) -> Line | None:
        """The line that is shown."""
        return self._shown

    @property
    def undo_title(self) -> str | None:
        """What undo would do: merge 'e r' instead; None if there is nothing to undo."""
        return _change_title(self._made[-1].line) if self._made else None

    @property
    def redo_title(self) -> str | None:
        """What redo would do."""
        return _change_title(self._undone[-1].line) if self._undone else None

    @property
    def is_busy(self) -> bool:
        """Whether a branch is being made."""
        return self._training_lane.is_busy("branch")

    # --- making ---

    def start(self, training: Training | None) -> int:
        """Begin with a main timeline, or with none where nothing is trained; return how many branches are dropped."""
        dropped = max(0, len(self._lines) - 1)
        self._training_lane.drop("branch")
        self._lines = [] if training is None else [Line(training)]
        self._shown = self._lines[0] if self._lines else None
        self._made, self._undone = [], []
        self._n_made = 0
        self.changed.emit()
        return dropped

    def branch(self, pair: Pair, position: int) -> None:
        """Merge a pair at a position of the shown line, whatever the rule says, and go on from there by the rule.

        A line that has just these merges already is shown instead.
        """
        shown = self._shown
        training = shown.training if shown is not None else None
        if shown is None or training is None:
            return
        there = self._line_that_merges(pair, training, position)
        if there is not None:
            self._want(there, position + 1)
            return
        beginning = training.timeline.beginning(position)

        def work(job: Job) -> tuple[Training, Merge]:
            made = begin_again(training, beginning, self._kernels, job)
            return made, made.trainer.merge_pair(pair)

        def done(answer: tuple[Training, Merge]) -> None:
            made, chosen = answer
            timeline = made.timeline
            line = Line(
                made,
                number=self._n_made + 1,
                parent=shown,
                chosen=chosen,
                departure=timeline.departures.get(position),
                pair_text=pair_text(pair, timeline.symbols),
                beginning=timeline.beginning(position + 1),
            )
            self._n_made += 1
            self._undone = []
            self._put(_Made(line, shown, position))
            self._want(line, position + 1)

        self._start_job(work, done, f"Making {position:,} merges again")

    def _start_job(self, work: Callable[[Job], Any], done: Done, text: str) -> None:
        started = time.monotonic()

        def report(fraction: float, said: str) -> None:
            self.activity_changed.emit(Activity.since(started, fraction, said))

        self._training_lane.stop("train")
        self._training_lane.submit("branch", work, done, self._fail, report)
        report(0.0, text)

    def _line_that_merges(self, pair: Pair, training: Training, position: int) -> Line | None:
        """Return the line that has the shown merges up to a position, then this pair, and then follows the rule."""
        beginning = training.timeline.beginning(position).slots
        for line in self._lines:
            if line.training is None or line.training.timeline.frontier <= position:
                continue
            timeline = line.training.timeline
            merge = timeline.merge(position)
            is_same = np.array_equal(timeline.beginning(position).slots, beginning)
            if is_same and (merge.left, merge.right) == pair and max(timeline.departures, default=0) <= position:
                return line
        return None

    def stop(self) -> None:
        """Stop making a branch."""
        self._training_lane.stop("branch")

    def _fail(self, error: BpeVizError) -> None:
        self.activity_changed.emit(None)
        self.not_made.emit(error)

    # --- showing ---

    def show(self, line: Line, position: int, begin: Callable[[], None] = lambda: None) -> None:
        """Show a line at a position; one whose trainer was let go is trained again first.

        begin: is called when it can be shown, right before it is
        """
        beginning, main = line.beginning, self._lines[0].training
        if line.training is not None:
            begin()
            self._want(line, position)
        elif beginning is not None and main is not None:

            def work(job: Job) -> Training:
                return begin_again(main, beginning, self._kernels, job)

            def done(training: Training) -> None:
                line.training = training
                begin()
                self._want(line, position)

            self._start_job(work, done, f"Training {line.name} again")

    def show_next(self, position: int) -> None:
        """Show the line after the one that is shown; after the last comes the main timeline."""
        if self._shown is not None and len(self._lines) > 1:
            self.show(self._lines[(self._lines.index(self._shown) + 1) % len(self._lines)], position)

    def _want(self, line: Line, position: int) -> None:
        self._training_lane.drop("branch")  # one that is still being made was wished for before this
        self._shown = line
        line.shown_at = time.monotonic()
        self._let_go()
        self.changed.emit()
        self.line_wanted.emit(line, position)
        self.compare()

    def _let_go(self) -> None:
        """Let the trainers go that were not shown for longest, until the rest is within the budget."""
        every = [*self._lines, *(made.line for made in self._undone)]
        kept = [line for line in every if line.training is not None]
        used = sum(line.training.trainer.n_bytes for line in kept if line.training is not None)
        for line in sorted(kept, key=lambda line: line.shown_at):
            if used <= MOST_BYTES:
                return
            if line.training is not None and line.number and line is not self._shown:
                used -= line.training.trainer.n_bytes
                line.training = None

    # --- undo and redo ---

    def undo(self) -> None:
        """Take the branch made last away, and go back to where it was made."""
        if self._made:
            made = self._made[-1]
            self.show(made.came_from, made.position, partial(self._take_away, made))

    def redo(self) -> None:
        """Bring the branch taken away last back, and show it."""
        if self._undone:
            made = self._undone[-1]
            self.show(made.line, made.position + 1, partial(self._bring_back, made))

    def _take_away(self, made: _Made) -> None:
        self._made.remove(made)
        self._lines.remove(made.line)
        self._undone.append(made)

    def _bring_back(self, made: _Made) -> None:
        self._undone.remove(made)
        self._put(made)

    def _put(self, made: _Made) -> None:
        self._made.append(made)
        self._lines.append(made.line)

    # --- comparing ---

    def compare(self) -> None:
        """Compare the shown line with the one that it departs from, as far as both are trained."""
        line = self._shown
        parent = line.parent if line is not None else None
        if line is None or line.training is None or parent is None or parent.training is None:
            return
        before, after = parent.training.timeline, line.training.timeline

        def work(job: Job) -> Comparison:
            return compare(before, after)

        self._query_lane.submit("compare", work, partial(self._note, line), self._fail)

    def tell_change(self, change: Change) -> None:
        """Compare the main timeline with the one before a change of options, and say what changed."""
        line, after = self._lines[0], self._lines[0].training
        if after is None:
            return
        before = change.before.timeline

        def work(job: Job) -> Comparison:
            return compare(before, after.timeline)

        def done(comparison: Comparison) -> None:
            if line in self._lines:
                self._note(line, comparison)
                self.noticed.emit(change.describe(after, comparison))

        self._query_lane.submit("difference", work, done, self._fail)

    def _note(self, line: Line, comparison: Comparison) -> None:
        line.comparison = comparison
        self.changed.emit()


def dropped_branches(n: int) -> str:
    """Say that branches went with the training that they belonged to."""
    which = "The branch" if n == 1 else f"The {n:,} branches"
    return f"{which} of the training before {'is' if n == 1 else 'are'} dropped."


def _change_title(line: Line) -> str:
    return f"merge '{line.pair_text.replace(' + ', ' ')}' instead"
