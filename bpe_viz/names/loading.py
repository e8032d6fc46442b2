"""Load a large tokenizer file in a process of its own: parsing it takes a second for 100,000 tokens."""

from __future__ import annotations

from bpe_viz.engine.apart import run_apart
from bpe_viz.engine.tokenizer import Tokenizer
from bpe_viz.engine.types import CountingOptions, Progress, StopRequested, never_stop, no_progress
from bpe_viz.names import Located

LARGE = 1_000_000
"""Bytes of a file from which on a process of its own is worth its start; of a packed one a quarter."""

_SECONDS_A_BYTE = 6e-8


def load_apart(
    located: Located,
    given: CountingOptions | None = None,
    progress: Progress = no_progress,
    should_stop: StopRequested = never_stop,
) -> Tokenizer:
    """Load a tokenizer as Located.load does, that of a large file in another process.

    Raises FormatError and PretokenizerNeeded as that does, Stopped when should_stop() says so.
    """
    path = located.path
    size = path.stat().st_size if path.is_file() else 0
    if size < (LARGE // 4 if path.suffix == ".gz" else LARGE):
        return located.load(given)
    expected = size * _SECONDS_A_BYTE
    arguments = located, given
    return run_apart(_load_indexed, arguments, f"Reading {located.title}", expected, progress, should_stop)


def _load_indexed(located: Located, given: CountingOptions | None) -> Tokenizer:
    tokenizer = located.load(given)
    tokenizer.index_ids()
    return tokenizer
