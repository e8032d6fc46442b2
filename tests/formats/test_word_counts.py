"""A table is written whole, or not at all."""

from __future__ import annotations

import pytest

from bpe_viz.engine.corpus import worked_example
from bpe_viz.engine.word_tables import read_word_table
from bpe_viz.errors import CorpusError
from bpe_viz.formats.word_counts import check_table, save_word_counts


def test_the_worked_example_is_written_and_read(tmp_path):
    path = tmp_path / "w.csv"
    save_word_counts(worked_example().pretokens, path)
    assert read_word_table(path)[0] == {"low": 5, "lower": 2, "newest": 6, "widest": 3}


def test_what_cannot_be_written_is_told(tmp_path):
    for path, what in ((tmp_path / "w.txt", "no name of a word-count table"), (tmp_path / "no" / "w.tsv", "no folder")):
        with pytest.raises(CorpusError, match=what):
            check_table(path)
        with pytest.raises(CorpusError, match=rf"{what}|cannot be written"):
            save_word_counts(worked_example().pretokens, path)
    assert not list(tmp_path.iterdir())
