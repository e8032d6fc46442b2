"""What the commands print: results on standard output; notes, warnings and progress on standard error."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterable, Iterator
from typing import TextIO

import click

from bpe_viz.errors import BpeVizError

INTERRUPTED = 130
STOPPED = "bpe-viz: stopped."

_SECONDS_BETWEEN_LINES = 0.1
_WIDTH = 78


def print_result(text: str, ends_line: bool = True) -> None:
    """Print a result just as it is: click would take escape sequences out of what goes to a file.

    ends_line: a line end follows
    Raises BpeVizError if standard output cannot be written.
    """
    with _output():
        click.echo(text, nl=ends_line, color=True)


def flush_output() -> None:
    """Write what is still buffered. Raises BpeVizError if standard output cannot be written."""
    with _output():
        sys.stdout.flush()


@contextlib.contextmanager
def _output() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise unwritable_output(error) from error


def unwritable_output(error: OSError) -> BpeVizError:
    """Return what to say of standard output that cannot be written; what is buffered is given up."""
    forget_output()
    return BpeVizError(f"Standard output cannot be written: {error.strerror}.", "Send it elsewhere.")


def forget_output() -> None:
    """Let what is still buffered go nowhere, or Python would complain of it on its way out."""
    _forget(sys.stdout)


def _forget(stream: TextIO) -> None:
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def open_closed_streams() -> None:
    """Give standard streams that are closed something behind them.

    Otherwise the next file that is opened gets their number, and what is meant for the user goes into it. Reading
    and writing fail as on a closed stream, but what is said on standard error is lost in silence.
    """
    for name, mode, flags in (
        ("stdin", "r", os.O_WRONLY), ("stdout", "w", os.O_RDONLY), ("stderr", "w", os.O_WRONLY)
    ):  # fmt: skip
        if getattr(sys, name) is None:
            number = os.open(os.devnull, flags)
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115  # for good


def say(text: str) -> None:
    """Tell the user something, on a line of its own."""
    tell(" ".join(text.split()))


def tell(text: str, newline: bool = True) -> None:
    """Write to standard error; if that cannot be written, there is nobody to tell it to."""
    try:
        click.echo(text, err=True, nl=newline)
    except OSError:
        _forget(sys.stderr)


def say_all(notes: Iterable[str]) -> None:
    """Tell every note once."""
    for note in dict.fromkeys(notes):
        say(note)


class ProgressLine:
    """One line that is written over and over, on a terminal only; a context that wipes it at its end."""

    def __init__(self) -> None:
        self._is_terminal = sys.stderr.isatty()
        self._next = 0.0
        self._is_shown = False

    def __enter__(self) -> ProgressLine:
        return self

    def __exit__(self, *reason: object) -> None:
        self.clear()

    def report(self, fraction: float, text: str) -> None:
        """Show how far it is; an engine's Progress."""
        now = time.monotonic()
        if not self._is_terminal or now < self._next:
            return
        self._next = now + _SECONDS_BETWEEN_LINES
        self._is_shown = True
        tell(f"\r{f'{fraction:4.0%}  {text}'[:_WIDTH]:{_WIDTH}}", newline=False)

    def clear(self) -> None:
        """Wipe the line."""
        if self._is_shown:
            tell(f"\r{'':{_WIDTH}}\r", newline=False)
            self._is_shown = False
