"""What the commands print: results on standard output; notes, warnings and progress on standard error."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable

import click

from bpe_viz.errors import BpeVizError

_SECONDS_BETWEEN_LINES = 0.1
_WIDTH = 78


def print_result(text: str, ends_line: bool = True) -> None:
    """Print a result just as it is: click would take escape sequences out of what goes to a file.

    ends_line: a line end follows
    Raises BpeVizError if standard output cannot be written.
    """
    try:
        click.echo(text, nl=ends_line, color=True)
    except BrokenPipeError:
        raise
    except OSError as error:
        forget_output()
        raise BpeVizError(f"Standard output cannot be written: {error.strerror}.", "Send it elsewhere.") from error


def forget_output() -> None:
    """Let what is still buffered go nowhere, or Python would complain of it on its way out."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def say(text: str) -> None:
    """Tell the user something, on a line of its own."""
    click.echo(" ".join(text.split()), err=True)


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
        click.echo(f"\r{f'{fraction:4.0%}  {text}'[:_WIDTH]:{_WIDTH}}", err=True, nl=False)

    def clear(self) -> None:
        """Wipe the line."""
        if self._is_shown:
            click.echo(f"\r{'':{_WIDTH}}\r", err=True, nl=False)
            self._is_shown = False
