"""Word tables: compressed, in folders, with large counts and long rows."""

from __future__ import annotations

import gzip
import importlib.util

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_viz.engine.corpus import count_paths, is_word_table
from bpe_viz.engine.pretoken_counts import PretokenCounts
from bpe_viz.engine.types import CountingOptions
from bpe_viz.engine.word_tables import SUFFIXES, check_table_name, read_word_table, table_content
from bpe_viz.errors import CorpusError


def counted(*paths, **options):
    corpus = count_paths(paths, CountingOptions(**options))
    rows = corpus.pretokens
    return {rows.content(row).decode(): int(rows.counts[row]) for row in range(len(rows))}, corpus


@pytest.mark.parametrize(("name", "text"), [("w.tsv.gz", "low\t5\nnew\t6\n"), ("W.CSV.GZ", "low,5\nnew,6\n")])
def test_a_compressed_table_is_a_table(tmp_path, name, text):
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()))
    assert is_word_table(path)
    counts, corpus = counted(path)
    assert counts == {"low": 5, "new": 6}
    assert corpus.is_table


def test_a_table_inside_a_folder_is_text_and_that_is_said(tmp_path):
    for name in ("a.tsv", "b.csv.gz"):
        (tmp_path / name).write_bytes(gzip.compress(b"low,5\n") if name.endswith("gz") else b"low\t5\n")
    _, corpus = counted(tmp_path)
    assert not corpus.is_table
    assert any("read as text" in note and note.endswith(": 2.") for note in corpus.notes)


def test_options_that_change_no_table_are_said(tmp_path):
    path = tmp_path / "w.tsv"
    path.write_text("Low\t5\n")
    counts, corpus = counted(path, normalize=("lowercase",), special_tokens=("<s>",))
    assert counts == {"Low": 5}
    assert "normalization and special tokens will be used for encoding only" in corpus.notes[0]
    assert counted(path)[1].notes == ()


def test_a_field_of_csv_may_be_of_any_length(tmp_path):
    path = tmp_path / "w.csv"
    path.write_text("a" * 200_000 + ",5\n")
    assert counted(path)[0] == {"a" * 200_000: 5}


def test_csv_lines_may_end_in_a_carriage_return(tmp_path):
    path = tmp_path / "w.csv"
    path.write_bytes(b'low,5\r"a\rb",6\r')
    assert counted(path)[0] == {"low": 5, "a\rb": 6}


@pytest.mark.parametrize("written", ["9223372036854775807", "0009223372036854775807", "1000000000000000000"])
def test_every_count_that_is_kept_is_read(tmp_path, written):
    path = tmp_path / "w.tsv"
    path.write_text(f"low\t{written}\n")
    assert counted(path)[0] == {"low": int(written)}


@pytest.mark.parametrize("written", ["9223372036854775808", "9" * 19, "9" * 20, "9" * 9000, "0" * 9000])
def test_a_count_too_large_says_how_large_it_may_be(tmp_path, written):
    path = tmp_path / "w.tsv"
    path.write_text(f"{'x' * 5000}\t{written}\n")
    with pytest.raises(CorpusError, match=r"line 1: .*from 1 to 2\*\*63 - 1") as raised:
        counted(path)
    assert len(str(raised.value)) < 400


@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8),
                       st.integers(1, 2**63 - 1), min_size=1, max_size=8))  # fmt: skip
def test_a_table_that_is_written_reads_as_it_was(tmp_path_factory, words):
    folder = tmp_path_factory.mktemp("tables")
    for suffix in SUFFIXES if importlib.util.find_spec("pyarrow") else (".tsv", ".csv"):
        path = folder / f"words{suffix}"
        check_table_name(path)
        path.write_bytes(b"".join(table_content(PretokenCounts.from_counter(words), path)))
        read, _ = read_word_table(path)
        assert list(read.items()) == list(words.items())
