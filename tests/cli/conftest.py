"""A command line that runs in this process, as a user would see it."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from bpe_viz.cli import main


class Ran(NamedTuple):
    """What a command came to."""

    status: int
    out: str
    err: str


Run = Callable[..., Ran]


@pytest.fixture
def run(capfdbinary, monkeypatch) -> Run:
    """Return a function that runs a command line and returns its status and what it printed."""

    def run_command(*arguments: object, stdin: bytes = b"") -> Ran:
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
            status = main([str(argument) for argument in arguments])
        sys.stdout.flush()
        sys.stderr.flush()
        out, err = capfdbinary.readouterr()
        return Ran(status, out.decode(), err.decode())

    return run_command


WORDS = {"low": 5, "lower": 2, "newest": 6, "widest": 3}


@pytest.fixture
def table(tmp_path) -> Path:
    """The corpus of the worked example."""
    path = tmp_path / "words.tsv"
    path.write_text("".join(f"{word}\t{count}\n" for word, count in WORDS.items()))
    return path


@pytest.fixture
def worked(run, table, tmp_path) -> Path:
    """The tokenizer of the worked example: seven merges of characters."""
    path = tmp_path / "worked.json"
    assert run("train", table, "--base", "characters", "--merges", "7", "-o", path).status == 0
    return path
