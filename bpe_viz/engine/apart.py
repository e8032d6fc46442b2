"""Run a function in a process of its own, which can be stopped at any moment.

What runs in a thread and is plain Python, or a library that keeps Python's lock, stops the window from painting for as
long as it takes; in another process it does not. Arguments and answer are sent as pickles.
"""

from __future__ import annotations

import gc
import os
import pickle
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from tempfile import TemporaryFile
from typing import Any, TypeVar

from bpe_viz.engine.interrupts import leave_to_parent
from bpe_viz.engine.types import Progress, StopRequested, never_stop, no_progress
from bpe_viz.errors import BpeVizError, Stopped

SECONDS_TO_START = 0.6
_SECONDS_A_LOOK = 0.03
_MOST_SHOWN = 0.97
_READ, _REFUSED, _FAILED = "read", "refused", "failed"

_Answer = TypeVar("_Answer")


def run_apart(
    function: Callable[..., _Answer],
    arguments: Sequence[Any],
    doing: str,
    expected: float,
    progress: Progress = no_progress,
    should_stop: StopRequested = never_stop,
) -> _Answer:
    """Return what a function of a module returns, called in another process.

    doing: in plain words, for progress, which is shown against `expected` seconds
    Raises the BpeVizError that the function raises; Stopped when should_stop() says so; RuntimeError for a bug.
    """
    command = [sys.executable, "-c", "from bpe_viz.engine.apart import serve; serve()"]
    # In files, for a pipe would have to be written while the answer is waited for, and an answer that was read from one
    # would be in memory twice when it is unpacked.
    with TemporaryFile() as question, TemporaryFile() as answer:
        pickle.dump((function, tuple(arguments)), question, protocol=5)
        question.seek(0)
        with subprocess.Popen(command, stdin=question, stdout=answer, env=_environment()) as process:
            try:
                _wait(process, doing, SECONDS_TO_START + expected, progress, should_stop)
            except BaseException:
                process.kill()  # or it would go on alone
                raise
        if process.returncode:
            raise RuntimeError(f"the process for {doing!r} ended with status {process.returncode} and no answer")
        answer.seek(0)
        kind, value = pickle.load(answer)  # written by our own process
    if kind == _REFUSED:
        raise value
    if kind == _FAILED:
        raise RuntimeError(value)
    return value  # type: ignore[no-any-return]  # what the function returned


def _environment() -> dict[str, str]:
    """Return this process's environment, with the folders it imports from: it may run from a checkout."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}


def _wait(
    process: subprocess.Popen[bytes],
    doing: str,
    expected: float,
    progress: Progress,
    should_stop: StopRequested,
) -> None:
    started = time.monotonic()
    while True:
        try:
            process.wait(timeout=_SECONDS_A_LOOK)
        except subprocess.TimeoutExpired:
            progress(min(_MOST_SHOWN, (time.monotonic() - started) / expected), doing)
        else:
            return
        if should_stop():
            raise Stopped


def serve() -> None:
    """Read the question from standard input, and write the answer to standard output: the other process."""
    leave_to_parent()
    gc.disable()  # nothing here lives long, and looking for rings would take a third of the time
    answers = os.dup(1)
    os.dup2(2, 1)  # what a library prints is no part of the answer
    function, arguments = pickle.load(sys.stdin.buffer)  # written by our own process
    answer: tuple[str, Any]
    try:
        answer = (_READ, function(*arguments))
    except BpeVizError as error:
        answer = (_REFUSED, error)
    except Exception:  # noqa: BLE001  # a bug is told in the process that shows it
        answer = (_FAILED, traceback.format_exc())
    with os.fdopen(answers, "wb") as output:
        pickle.dump(answer, output, protocol=5)
    os._exit(0)  # giving back a million objects one by one would keep the answer waiting
