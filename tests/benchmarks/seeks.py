"""Jumps to any position of a finished training."""

from __future__ import annotations

import random
import statistics
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from bpe_viz.engine.reader import Reader
from tests.benchmarks.measuring import Row, at_most, column, row_or_reason, seconds_of
from tests.benchmarks.plan import Plan
from tests.benchmarks.training import check_counts, count, trainer_of

TITLE = "milliseconds from a jump to the counts and the 20 best pairs there"

CHECKED_POSITIONS = 3
FARTHEST_JUMPS = 20


@dataclass(frozen=True, kw_only=True)
class SeekRow(Row):
    jumps: int | None = column("jumps", ",")
    median: float | None = column("median ms")
    worst: float | None = column("worst ms")


def rows(plan: Plan) -> list[SeekRow]:
    """Train, compare counts at a few positions with a recount, then jump."""
    trainer = trainer_of(count(plan.file, plan.kernels), plan)
    trainer.train_to()
    last = trainer.frontier
    reader = Reader(trainer.timeline, plan.kernels)
    draw = random.Random(7)

    def jump_at_random() -> SeekRow:
        for _ in range(CHECKED_POSITIONS):
            reader.frame(draw.randrange(last + 1))
            check_counts(reader)
        positions = [draw.randrange(last + 1) for _ in range(plan.repeats)]
        return jumps(reader, f"random, among {last:,} merges", positions)

    found = [row_or_reason(SeekRow, "random", jump_at_random)]
    if not found[0].is_refused:
        reader.frame(0)
        found.append(jumps(reader, "from end to end", [last, 0] * (FARTHEST_JUMPS // 2)))
    return [*found, SeekRow(what="other visualizers", note="none jumps: they train again, or go merge by merge")]


def jumps(reader: Reader, what: str, positions: Iterable[int]) -> SeekRow:
    """Jump from position to position."""
    taken = [1000 * seconds_of(partial(reader.frame, position)) for position in positions]
    median, worst = statistics.median(taken), max(taken)
    goals = (at_most(median, 20, "median"), at_most(worst, 100, "worst"))
    return SeekRow(what=what, jumps=len(taken), median=median, worst=worst, goals=goals)
