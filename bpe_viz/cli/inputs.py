"""What the commands read: tokenizer files and text."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bpe_viz.cli.terminal import say_all
from bpe_viz.errors import OptionError

if TYPE_CHECKING:
    from bpe_viz.engine.tokenizer import Tokenizer
    from bpe_viz.engine.types import CountingOptions
    from bpe_viz.names import Located

STDIN = "-"


def refuse_absent(source: str) -> None:
    """Raise OptionError, with the name that may have been meant, for what is neither a name nor a file or folder."""
    from bpe_viz.names import is_name
    from bpe_viz.names.paths import suggested_name

    if not is_name(source) and not os.path.lexists(source):
        raise OptionError(f"There is no file {source}.", suggested_name(source) or "Check its name and folder.")


def locate_tokenizer(written: str) -> Located:
    """Return where a tokenizer is that the user named by path, tiktoken:NAME or hf:ORG/NAME; fetching shows progress.

    Raises BpeVizError for a name that is unknown or cannot be fetched.
    """
    from bpe_viz.cli.terminal import ProgressLine
    from bpe_viz.names import locate

    with ProgressLine() as progress:
        return locate(written, progress.report)


def open_tokenizer(
    located: Located, position: int | None = None, pretokenizer: str | None = None, pattern: str | None = None
) -> Tokenizer:
    """Read a tokenizer file and say its notes.

    position: how many of its merges apply; None: all
    pretokenizer, pattern: as the user gave them, for files that have none of their own
    Raises BpeVizError, also if a pretokenizer is given for a file that says its own; UsageError if both are given.
    """
    tokenizer = located.load(given_counting(pretokenizer, pattern))
    say_all(tokenizer.notes)
    if position is None:
        return tokenizer
    if not 0 <= position <= tokenizer.n_merges:
        raise OptionError(f"Position {position:,} is outside the merge list.", f"Give 0 to {tokenizer.n_merges:,}.")
    return tokenizer.at(position)


def open_vocabulary(located: Located) -> Tokenizer:
    """Read a tokenizer file for decoding, which needs no pretokenizer. Raises BpeVizError."""
    from bpe_viz.engine.types import CountingOptions
    from bpe_viz.formats import PretokenizerNeeded

    try:
        tokenizer = located.load()
    except PretokenizerNeeded:
        tokenizer = located.load(CountingOptions())
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
    from bpe_viz.engine.documents import read_any_text

    read, notes = read_any_text(Path(STDIN) if file is None else file)
    say_all(notes)
    return read


def refuse_same_files(inputs: Iterable[str | Path], outputs: Mapping[str, Path | None]) -> None:
    """Refuse to write a file that is read, or one file twice.

    outputs: path by the option that names it
    Raises UsageError before anything is read or written.
    """
    known = [(f"{path} is an input.", _identity(Path(path))) for given in inputs for path in _files_of(given)]
    for option, path in outputs.items():
        identity = None if path is None else _identity(path)
        if identity is None:
            continue
        if said := next((said for said, other in known if other == identity), None):
            raise click.UsageError(f"{option} {path} would write over what is needed: {said} Give another name.")
        known.append((f"{path} is {option} as well.", identity))


def _files_of(given: str | Path) -> Iterator[str | Path]:
    yield given
    if os.path.isdir(given):
        for folder, _, names in os.walk(given):
            yield from (os.path.join(folder, name) for name in names if not name.startswith("."))


def _identity(path: Path) -> tuple[int, int] | str | None:
    """Return what two names of one file have in common; None for what may be written again and again."""
    if str(path) == STDIN:
        return None
    try:
        found = path.stat()
    except (OSError, ValueError):
        return os.path.realpath(path)
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else None
