"""Single merges: by the trainer at the frontier, and by a reader behind it."""

from __future__ import annotations

import random
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from bpe_viz.engine.reader import Reader
from bpe_viz.engine.trainer import Trainer
from tests.benchmarks.measuring import RefusedError, Row, at_most, column, compared, row_or_reason, seconds_of
from tests.benchmarks.plan import Plan
from tests.benchmarks.training import count, time_against_recount, time_steps, trainer_of

TITLE = "microseconds of one merge"

FIRST_MERGES = 1000


@dataclass(frozen=True, kw_only=True)
class StepRow(Row):
    """peer: mean of a training that counts everything anew for each merge."""

    steps: int | None = column("steps", ",")
    median: float | None = column("median µs", ",.1f")
    worst: float | None = column("worst µs", ",.0f")
    peer: float | None = column("recount µs", ",.0f")
    ratio: float | None = column("ratio", ".5f")


def rows(plan: Plan) -> list[StepRow]:
    """Time steps, after the merges are compared with those made in one go and with those of a recount."""
    found = [row_or_reason(StepRow, "on a sample", lambda: on_sample(plan))]
    if found[0].is_refused:
        return found
    pretokens = count(plan.file, plan.kernels)
    at_once = trainer_of(pretokens, plan)
    at_once.train_to()
    found.append(row_or_reason(StepRow, "at the frontier", lambda: at_frontier(trainer_of(pretokens, plan), at_once)))
    return found + behind_frontier(Reader(at_once.timeline, plan.kernels), plan.repeats)


def on_sample(plan: Plan) -> StepRow:
    """Compare with a recount of everything. Raises RefusedError if the merges differ."""
    ours, theirs = time_against_recount(plan)
    if not ours:
        raise RefusedError("no merge was made")
    row = spread(f"on the first {plan.sample_bytes / 1000:,.0f} KB", ours)
    return replace(row, peer=1e6 * statistics.mean(theirs), ratio=compared(zip(ours, theirs, strict=True)).ratio)


def at_frontier(trainer: Trainer, at_once: Trainer) -> StepRow:
    """Time the steps behind the first thousand. Raises RefusedError if the merges differ from those made in one go."""
    last = at_once.frontier
    first = min(FIRST_MERGES, last // 2)
    trainer.train_to(first)
    taken = time_steps(trainer, last)
    if list(trainer.timeline.merges()) != list(at_once.timeline.merges()):
        raise RefusedError("one at a time other merges are made than in one go")
    return spread(f"at the frontier, merges {first:,} to {last:,}", taken, most=50)


def behind_frontier(reader: Reader, repeats: int) -> list[StepRow]:
    """Time a reader's step from random positions, forth and back, with and without what is to be seen there."""
    draw = random.Random(5)
    reader.frame(0)  # loads the kernels
    found = []
    for what, step in (("counts", reader.seek), ("counts and the 20 best pairs", reader.frame)):
        taken = []
        for _ in range(repeats):
            position = draw.randrange(1, reader.timeline.frontier)
            reader.frame(position)
            taken.append(seconds_of(partial(step, position + draw.choice((-1, 1)))))
        found.append(spread(f"behind it: {what}", taken))
    return found


def spread(what: str, taken: Sequence[float], most: float | None = None) -> StepRow:
    """Return the row of many steps. taken: seconds. most: microseconds that the median has to reach."""
    median = 1e6 * statistics.median(taken)
    goals = () if most is None else (at_most(median, most, "median"),)
    return StepRow(what=what, steps=len(taken), median=median, worst=1e6 * max(taken), goals=goals)
