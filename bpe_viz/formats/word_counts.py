"""A corpus as a word-count table. `engine/word_tables.py` knows how one is laid out, and reads it."""

from __future__ import annotations

from pathlib import Path

from bpe_viz.engine.pretoken_counts import PretokenCounts
from bpe_viz.engine.word_tables import check_table_name, table_content
from bpe_viz.errors import CorpusError
from bpe_viz.whole_file import check_writable, whole_file


def check_table(path: Path) -> None:
    """Raise CorpusError if it is known already that no table can be written under this name."""
    check_table_name(path)
    check_writable(path, CorpusError)


def save_word_counts(pretokens: PretokenCounts, path: Path) -> None:
    """Write pre-tokens and their counts; the suffix .tsv, .csv or .parquet says how. Raises CorpusError."""
    check_table_name(path)
    with whole_file(path, CorpusError) as file:
        for part in table_content(pretokens, path):
            file.write(part)
