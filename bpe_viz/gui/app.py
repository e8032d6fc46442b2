"""Starts the window: first says what is missing for it, then loads Qt."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bpe_viz.errors import CorpusError
from bpe_viz.gui.startup import check_qt_libraries, check_screen


def run(sources: Sequence[str]) -> int:
    """Open the window on the sources, or on the worked example; returns the exit status.

    Raises BpeVizError if a source is missing, there is no screen, or a system library is missing.
    """
    paths = [Path(source) for source in sources]
    for source in sources:
        if source.startswith(("hf:", "tiktoken:")):
            raise CorpusError(f"{source} names a tokenizer elsewhere; this version opens files.", "Give a file.")
        if source != "-" and not Path(source).exists():
            raise CorpusError(f"There is no file or folder {source}.", "Check the name.")
    check_qt_libraries()
    check_screen()
    from bpe_viz.gui.application import start

    return start(paths)
