"""Ctrl+C while something is done that it must not cut apart."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator


def leave_to_parent() -> None:
    """Ignore Ctrl+C in a process that serves another: a terminal sends it to both, and that other one ends this."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextlib.contextmanager
def held_back() -> Iterator[None]:
    """Hold Ctrl+C back until the end, and raise KeyboardInterrupt then.

    A library that calls Python back from C prints an exception that is raised there, and goes on: Ctrl+C would show a
    traceback and stop nothing. Only the main thread gets signals; where something else handles them, that is let be.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    came: list[int] = []
    signal.signal(signal.SIGINT, lambda number, frame: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if came:
        raise KeyboardInterrupt
