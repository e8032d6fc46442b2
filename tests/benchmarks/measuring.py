"""What every subject shares: things measured in turn, whole processes among them, and rows that say what came out."""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

ROOT = Path(__file__).resolve().parents[2]

T = TypeVar("T")
R = TypeVar("R", bound="Row")


class UnavailableError(Exception):
    """What a comparison needs is not here: a library, a file, room on the disk."""


class RefusedError(Exception):
    """Results that should be equal differ, or there are none: nothing is timed."""


class Goal(NamedTuple):
    """What a figure has to reach, in words, and whether it does."""

    text: str
    is_met: bool


def at_most(figure: float, limit: float, what: str = "") -> Goal:
    """Return the goal that a figure is not above a limit."""
    return Goal(f"{what} at most {limit:g}".strip(), figure <= limit)


def at_least(figure: float, limit: float, what: str = "") -> Goal:
    """Return the goal that a figure is not below a limit."""
    return Goal(f"{what} at least {limit:g}".strip(), figure >= limit)


def column(heading: str, form: str = ".2f") -> Any:
    """Return the field of a row that is a column of the table. None is shown as nothing."""
    return field(default=None, metadata={"heading": heading, "form": form})


@dataclass(frozen=True, kw_only=True)
class Row:
    """One line of a table; a subject adds its columns.

    what: is measured, or compared with
    is_refused: results differ, and the note says how
    """

    what: str
    goals: tuple[Goal, ...] = ()
    note: str = ""
    is_refused: bool = False


def row_or_reason(kind: type[R], what: str, measure: Callable[[], R]) -> R:
    """Return the row that is measured, or one that says why there is none; standard error tells what is under way."""
    print(f"... {what}", file=sys.stderr, flush=True)
    try:
        return measure()
    except UnavailableError as error:
        return kind(what=what, note=str(error))
    except RefusedError as error:
        return kind(what=what, note=f"refused: {error}", is_refused=True)


def library(name: str) -> Any:
    """Import a module of a peer. Raises UnavailableError if the peer is not installed."""
    if importlib.util.find_spec(name.partition(".")[0]) is None:
        raise UnavailableError("not installed")
    return importlib.import_module(name)


class Used(NamedTuple):
    """What a whole process took."""

    seconds: float
    mebibytes: float


def run(command: Sequence[str]) -> Used:
    """Run a whole process; returns its wall time and its peak memory. Raises RefusedError if it fails."""
    with tempfile.TemporaryFile() as said:
        began = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=said, cwd=ROOT)
        status, peak = wait(process)
        seconds = time.perf_counter() - began
        said.seek(0)
        last = said.read().decode(errors="replace").strip().rpartition("\n")[2]
    if status != 0:
        raise RefusedError(f"{' '.join(command[1:4])} ended with {status}: {last}")
    return Used(seconds, peak)


def wait(process: subprocess.Popen[bytes]) -> tuple[int, float]:
    """Wait for a process; returns its exit status and its peak memory in MiB."""
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, used.ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def seconds_of(act: Callable[[], object]) -> float:
    """Do something; returns how long it took."""
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


def in_turn(ours: Callable[[], T], theirs: Callable[[], T], pairs: int) -> list[tuple[T, T]]:
    """Measure two things in turn, so that what slows the machine slows both."""
    return [(ours(), theirs()) for _ in range(pairs)]


class Compared(NamedTuple):
    """Medians of pairs of figures. The ratio is that of the pairs, not of the other two."""

    ours: float
    theirs: float
    ratio: float


def compared(pairs: Iterable[tuple[float, float]]) -> Compared:
    """Return the medians of pairs of figures, ours first."""
    ours, theirs = zip(*(pairs := list(pairs)), strict=True)
    return Compared(statistics.median(ours), statistics.median(theirs), statistics.median(a / b for a, b in pairs))


def table(rows: Sequence[Row]) -> str:
    """Return rows as a table; rows of another kind begin another one."""
    return "\n\n".join("\n".join(_lines(list(alike))) for _, alike in groupby(rows, type))


def _lines(rows: list[Row]) -> Iterable[str]:
    columns = [one for one in dataclasses.fields(rows[0]) if "heading" in one.metadata]
    cells = [["", *(one.metadata["heading"] for one in columns)]]
    for row in rows:
        values = [(getattr(row, one.name), one.metadata["form"]) for one in columns]
        cells.append([row.what, *("" if value is None else format(value, form) for value, form in values)])
    widths = [max(map(len, texts)) for texts in zip(*cells, strict=True)]
    remarks = ["", *map(_remark, rows)]
    for (first, *others), remark in zip(cells, remarks, strict=True):
        aligned = (text.rjust(width) for text, width in zip(others, widths[1:], strict=True))
        yield "  ".join((first.ljust(widths[0]), *aligned, remark)).rstrip()


def _remark(row: Row) -> str:
    goals = (f"{goal.text}: {'yes' if goal.is_met else 'NO'}" for goal in row.goals)
    return "; ".join((*goals, row.note) if row.note else goals)


def as_values(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return rows as values for JSON."""
    return [{**dataclasses.asdict(row), "goals": [goal._asdict() for goal in row.goals]} for row in rows]
