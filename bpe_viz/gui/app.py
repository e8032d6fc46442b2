"""Starts the window: first says what is missing for it, then loads Qt."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bpe_viz.errors import CorpusError
from bpe_viz.gui.startup import check_qt_libraries, check_screen
from bpe_viz.names import check_name, is_name


def run(sources: Sequence[str]) -> int:
    """Open the window on the sources, or on the worked example; returns the exit status.

    sources: texts, folders, word-count tables, a tokenizer file or the name of one
    Raises BpeVizError if a source is missing or a name can be none, there is no screen, or a system library is missing.
    """
    for source in sources:
        if is_name(source):
            check_name(source)
        elif source != "-" and not Path(source).exists():
            raise CorpusError(f"There is no file or folder {source}.", "Check the name.")
    check_qt_libraries()
    check_screen()
    from bpe_viz.gui.application import start

    return start(sources)
