"""A text of a gigabyte, trained by a whole process; and how soon such a process ends when it is interrupted."""

from __future__ import annotations

import json
import os
import pty
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from bpe_viz.cli.terminal import INTERRUPTED, STOPPED
from tests.benchmarks.measuring import (
    ROOT,
    Goal,
    RefusedError,
    Row,
    UnavailableError,
    at_most,
    column,
    row_or_reason,
    run,
    wait,
)
from tests.benchmarks.plan import Plan, repeat_text
from tests.benchmarks.trainers import command

TITLE = "the text again and again, trained by a whole process; and the same interrupted"

MOST_GIGABYTES = 4.0
PROMPTLY = 1.0
"""Seconds."""


@dataclass(frozen=True, kw_only=True)
class LargeRow(Row):
    megabytes: float | None = column("MB", ",.0f")
    merges: int | None = column("merges", ",")
    seconds: float | None = column("s")
    gigabytes: float | None = column("peak GB")


def rows(plan: Plan) -> list[LargeRow]:
    """Train on the text and on the large one: the same merges, every count as many times greater."""
    large = plan.folder / "large.txt"

    def train() -> LargeRow:
        if shutil.disk_usage(plan.folder).free < 2 * plan.large_bytes:
            raise UnavailableError(f"there is no room in {plan.folder}: choose another folder with --temp")
        return train_large(plan, large)

    found = [row_or_reason(LargeRow, "trained", train)]
    if found[0].seconds is not None:
        stopped = command(plan, large, "huggingface", "file", plan.folder / "stopped.jsonl")
        found += [stop_row(stopped, "Counting"), stop_row(stopped, "Training")]
    large.unlink(missing_ok=True)
    return found


def train_large(plan: Plan, large: Path) -> LargeRow:
    """Compare the counts of all merges with those of the text once, and say what the large one took."""
    once = plan.folder / "once.txt"
    log_once, log_large = plan.folder / "once.jsonl", plan.folder / "large.jsonl"
    repeat_text(plan.file, 0, once)
    times = repeat_text(plan.file, plan.large_bytes, large)
    run(command(plan, once, "huggingface", "file", log_once))
    used = run(command(plan, large, "huggingface", "file", log_large))
    merges = check_multiplied(log_once, log_large, times)
    gigabytes = used.mebibytes * (1 << 20) / 1e9
    return LargeRow(
        what=f"trained, {times} times the text",
        megabytes=large.stat().st_size / 1e6,
        merges=merges,
        seconds=used.seconds,
        gigabytes=gigabytes,
        goals=(at_most(gigabytes, MOST_GIGABYTES, "peak"),),
    )


def check_multiplied(once: Path, large: Path, times: int) -> int:
    """Raise RefusedError unless all merges are the same, each counted so many times; returns how many there are."""
    expected = [(token, times * n) for token, n in read_log(once)]
    found = read_log(large)
    if not found or expected != found:
        raise RefusedError(f"the merges of the text {times} times are not those of the text")
    return len(found)


def read_log(log: Path) -> list[tuple[str, int]]:
    """Return the token in hex and the count of every merge."""
    merges = map(json.loads, log.read_text().splitlines())
    return [(merge["token"], merge["count"]) for merge in merges]


class Interrupted(NamedTuple):
    """How a process ended. seconds: from the interrupt on. said: what its terminal showed last."""

    seconds: float
    status: int
    said: str


def stop_row(stopped: Sequence[str], during: str) -> LargeRow:
    """Interrupt a process while it says that it does something; a row with whether it ended as it should."""
    ended = interrupt(stopped, during)
    told = ended.said == STOPPED and ended.status == INTERRUPTED
    note = "" if told else f"exit status {ended.status}, said {ended.said!r}"
    goals = (at_most(ended.seconds, PROMPTLY, "ended within seconds,"), Goal(f"said {STOPPED!r}", told))
    return LargeRow(what=f"interrupted while {during.lower()}", seconds=ended.seconds, goals=goals, note=note)


def interrupt(process_command: Sequence[str], during: str) -> Interrupted:
    """Send SIGINT as soon as a process shows a text on its terminal."""
    ours, theirs = pty.openpty()
    # What a shell starts in the background ignores the signal, and so would its children.
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    process = subprocess.Popen(process_command, stdout=subprocess.DEVNULL, stderr=theirs, cwd=ROOT)
    signal.signal(signal.SIGINT, handler)
    os.close(theirs)
    shown = b""
    began = 0.0
    while part := _read(ours):
        shown += part
        if not began and during.encode() in shown:
            began = time.perf_counter()
            process.send_signal(signal.SIGINT)
    status, _ = wait(process)
    os.close(ours)
    if not began:
        raise RefusedError(f"it ended before it said {during!r}")
    last = shown.decode(errors="replace").replace("\r", "\n").split("\n")
    return Interrupted(
        time.perf_counter() - began, status, next((line.strip() for line in last[::-1] if line.strip()), "")
    )


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # Linux has this for an end: the other side is closed
        return b""
