"""Load a large tokenizer file in a process of its own.

Parsing one in a thread would hold the interpreter, and with it the window, for as long as it takes: a second for
a vocabulary of 100,000 tokens. The other process sends the tokenizer over as one pickle, which is read in a moment.
"""

from __future__ import annotations

import gc
import os
import pickle
import subprocess
import sys
import time
import traceback
from pathlib import Path

from bpe_viz.engine.tokenizer import Tokenizer
from bpe_viz.engine.types import CountingOptions, Progress, StopRequested, never_stop, no_progress
from bpe_viz.errors import BpeVizError, Stopped
from bpe_viz.formats import load_tokenizer

LARGE = 1_000_000
"""Bytes of a file from which on a process of its own is worth its start; such a file may be packed."""

_PACKED_LARGE = LARGE // 4
_SECONDS_A_LOOK = 0.03
_SECONDS_TO_START, _SECONDS_A_BYTE = 0.6, 1.4e-7  # what progress is shown against
_MOST_SHOWN = 0.97


def load_apart(
    path: Path,
    given: CountingOptions | None = None,
    progress: Progress = no_progress,
    should_stop: StopRequested = never_stop,
) -> Tokenizer:
    """Load a tokenizer file as load_tokenizer does, a large one in another process.

    Raises FormatError and PretokenizerNeeded as that does, Stopped when should_stop() says so.
    """
    size = path.stat().st_size if path.is_file() else 0
    if size < (_PACKED_LARGE if path.suffix == ".gz" else LARGE):
        return load_tokenizer(path, given)
    command = [sys.executable, "-c", "from bpe_viz.formats.loading import serve; serve()"]
    question = pickle.dumps((path, given))
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=_environment()) as process:
        answer = _wait(process, question, path.name, size, progress, should_stop)
    if not answer:
        raise RuntimeError(f"the process that reads {path} ended with status {process.returncode} and no answer")
    kind, value = pickle.loads(answer)  # written by our own process
    if kind == "read":
        return value  # type: ignore[no-any-return]  # a tokenizer
    raise value if isinstance(value, BpeVizError) else RuntimeError(value)


def _environment() -> dict[str, str]:
    """Return this process's environment, with the folders it imports from: it may run from a checkout."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}


def _wait(
    process: subprocess.Popen[bytes],
    question: bytes,
    name: str,
    size: int,
    progress: Progress,
    should_stop: StopRequested,
) -> bytes:
    started = time.monotonic()
    asked: bytes | None = question
    expected = _SECONDS_TO_START + size * _SECONDS_A_BYTE
    while True:
        try:
            return process.communicate(asked, timeout=_SECONDS_A_LOOK)[0]
        except subprocess.TimeoutExpired:
            asked = None  # it may be given once only
            progress(min(_MOST_SHOWN, (time.monotonic() - started) / expected), f"Reading {name}")
        if should_stop():
            process.kill()
            raise Stopped


def serve() -> None:
    """Read the question from standard input, and write the answer to standard output: the other process."""
    gc.disable()  # nothing here lives long, and looking for rings would take a third of the time
    answers = os.dup(1)
    os.dup2(2, 1)  # what a library prints is no part of the answer
    path, given = pickle.load(sys.stdin.buffer)  # written by our own process
    try:
        answer = ("read", load_tokenizer(path, given))
    except BpeVizError as error:
        answer = ("failed", error)  # type: ignore[assignment]  # what goes wrong is an answer, too
    except Exception:  # noqa: BLE001  # a bug is told in the process that shows it
        answer = ("failed", traceback.format_exc())  # type: ignore[assignment]  # likewise
    with os.fdopen(answers, "wb") as output:
        pickle.dump(answer, output, protocol=5)
