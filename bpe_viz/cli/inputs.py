"""What the commands read: tokenizer files and text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from bpe_viz.cli.terminal import say_all
from bpe_viz.errors import OptionError

if TYPE_CHECKING:
    from bpe_viz.engine.tokenizer import Tokenizer
    from bpe_viz.engine.types import CountingOptions

STDIN = "-"


def open_tokenizer(
    path: Path, position: int | None = None, pretokenizer: str | None = None, pattern: str | None = None
) -> Tokenizer:
    """Read a tokenizer file and say its notes.

    position: how many of its merges apply; None: all
    pretokenizer, pattern: as the user gave them, for files that have none of their own
    Raises BpeVizError, also if a pretokenizer is given for a file that says its own; UsageError if both are given.
    """
    from bpe_viz.formats import load_tokenizer

    tokenizer = load_tokenizer(path, given_counting(pretokenizer, pattern))
    say_all(tokenizer.notes)
    if position is None:
        return tokenizer
    if not 0 <= position <= tokenizer.n_merges:
        raise OptionError(f"Position {position:,} is outside the merge list.", f"Give 0 to {tokenizer.n_merges:,}.")
    return tokenizer.at(position)


def open_vocabulary(path: Path) -> Tokenizer:
    """Read a tokenizer file for decoding, which needs no pretokenizer. Raises BpeVizError."""
    from bpe_viz.engine.types import CountingOptions
    from bpe_viz.formats import PretokenizerNeeded, load_tokenizer

    try:
        tokenizer = load_tokenizer(path)
    except PretokenizerNeeded:
        tokenizer = load_tokenizer(path, CountingOptions())
    say_all(tokenizer.notes)
    return tokenizer


def given_counting(pretokenizer: str | None, pattern: str | None) -> CountingOptions | None:
    """Return the pretokenizer that the user gave, if any. Raises UsageError if two are given, OptionError."""
    from bpe_viz.engine.pretokenize import pretokenizer_for
    from bpe_viz.engine.types import CountingOptions

    if pretokenizer is not None and pattern is not None:
        raise click.UsageError("Both --pretokenizer and --pattern were given. Give one.")
    if pretokenizer is None and pattern is None:
        return None
    given = CountingOptions(pretokenizer or "gpt2", pattern)
    pretokenizer_for(given)
    return given


def read_input(text: str | None, file: Path | None) -> str:
    """Return the text of an argument, a file or standard input, notes said. Raises CorpusError or UsageError."""
    if (text is None) == (file is None):
        what = "Neither TEXT nor --file was given." if text is None else "Both TEXT and --file were given."
        raise click.UsageError(f"{what} Give one; - is standard input.")
    if text is not None and text != STDIN:
        from bpe_viz.engine.text_decoding import repair_surrogates, surrogate_notes

        repaired, joined, replaced = repair_surrogates(text)
        say_all(surrogate_notes(joined, replaced))
        return repaired
    if file is None or str(file) == STDIN:
        return _read_stdin()
    from bpe_viz.engine.documents import read_text

    read, notes = read_text(file)
    say_all(notes)
    return read


def _read_stdin() -> str:
    from bpe_viz.engine.documents import ReadingLog, find_sources, read_source

    log = ReadingLog()
    sources, _ = find_sources([STDIN])
    text = "".join(piece.text for source in sources for piece in read_source(source, log))
    say_all(log.notes)
    return text
