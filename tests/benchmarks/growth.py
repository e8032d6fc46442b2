"""How the time of training grows with the text."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tests.benchmarks.measuring import Row, at_most, column, row_or_reason, seconds_of
from tests.benchmarks.plan import Plan, beginning_of
from tests.benchmarks.training import count, time_against_recount, trainer_of

TITLE = "training in process, the text doubled four times; n: symbols in distinct pre-tokens"

PARTS = (16, 8, 4, 2, 1)
MOST_GROWTH = 1.1
"""Of time / (n log n) from one text to the next: none, and a tenth for what the machine does besides."""


@dataclass(frozen=True, kw_only=True)
class GrowthRow(Row):
    symbols: int | None = column("n", ",")
    merges: int | None = column("merges", ",")
    seconds: float | None = column("s", ".3f")
    nanoseconds: float | None = column("ns/(n log2 n)")


def rows(plan: Plan) -> list[GrowthRow]:
    """Compare merges with those of a recount on a sample, then train on more and more of the text."""

    def smallest() -> GrowthRow:
        time_against_recount(plan)
        return train(plan, PARTS[0], None)

    found = [row_or_reason(GrowthRow, f"1/{PARTS[0]}", smallest)]
    if not found[0].is_refused:
        for part in PARTS[1:]:
            found.append(train(plan, part, found[-1].nanoseconds))
    return found


def train(plan: Plan, part: int, before: float | None) -> GrowthRow:
    """Train on a part of the text. before: nanoseconds of the part before, None if there is none."""
    size = plan.file.stat().st_size // part
    pretokens = count(beginning_of(plan.file, size, plan.folder / "part.txt"), plan.kernels)
    trainers = []

    def work() -> None:
        trainers.append(trainer_of(pretokens, plan))
        trainers[-1].train_to()

    # The least: what the machine does besides only adds.
    seconds = min(seconds_of(work) for _ in range(plan.pairs))
    n = trainers[-1].n_symbols
    nanoseconds = 1e9 * seconds / (n * math.log2(n))
    goals = () if before is None else (at_most(nanoseconds / before, MOST_GROWTH, "x the one before:"),)
    return GrowthRow(
        what=f"1/{part}: {size / 1e6:.1f} MB",
        symbols=n,
        merges=trainers[-1].frontier,
        seconds=seconds,
        nanoseconds=nanoseconds,
        goals=goals,
    )
