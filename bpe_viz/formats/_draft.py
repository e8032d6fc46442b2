"""A tokenizer in the words of a format, complete but not written: what would be lost is known before it is lost."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from bpe_viz.engine.pretokenize import pretokenizer_for
from bpe_viz.engine.types import CountingOptions
from bpe_viz.errors import FormatError
from bpe_viz.whole_file import whole_file


@dataclass(frozen=True, slots=True)
class Draft:
    """What saving would write.

    path: that was named; title: of the format
    files: what is to be written, by path
    losses: what the format cannot hold, or its library does otherwise, in plain words
    notes: what else is worth knowing
    """

    path: Path
    title: str
    files: Mapping[Path, bytes]
    losses: tuple[str, ...]
    notes: tuple[str, ...]

    def write(self) -> None:
        """Write it; a file that is there is replaced. Raises FormatError if a file cannot be written."""
        with ExitStack() as all_files:
            # All are complete under other names before the first takes its place.
            for path, content in self.files.items():
                all_files.enter_context(whole_file(path, FormatError)).write(content)


def as_option(counting: CountingOptions) -> str:
    """Return the option that says how text is cut where a file does not, as it is typed in a shell."""
    if counting.pattern is not None:
        return f"--pattern {shlex.quote(counting.pattern)}"
    return f"--pretokenizer {pretokenizer_for(counting).name}"
