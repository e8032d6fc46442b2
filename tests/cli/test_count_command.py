"""`bpe-viz count`: a corpus as a word-count table."""

from __future__ import annotations

import sys

import pytest

CORPUS = 'low low\tlower \\ newest\n\nnew, "new" 字 naïve\r\n  x'


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_bytes(CORPUS.encode())
    return path


@pytest.mark.parametrize("suffix", [".tsv", ".csv", ".parquet"])
@pytest.mark.parametrize("rule", ["textbook", "first-seen"])
def test_training_on_the_table_gives_the_same_merges(run, corpus, tmp_path, suffix, rule):
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
    table = tmp_path / f"counts{suffix}"
    ran = run("count", corpus, "-o", table, "--pretokenizer", "cl100k")
    assert (ran.status, ran.out) == (0, "")
    assert "distinct pre-tokens" in ran.err
    train = ("--log", "-", "--merges", 15, "--rule", rule)
    assert run("train", table, *train).out == run("train", corpus, "--pretokenizer", "cl100k", *train).out
    again = tmp_path / f"again{suffix}"
    assert run("count", table, "-o", again).status == 0
    assert again.read_bytes() == table.read_bytes()


def test_a_table_is_as_the_manual_says(run, tmp_path):
    corpus = tmp_path / "x.txt"
    corpus.write_text("a\tb a\\n")
    table = tmp_path / "x.tsv"
    assert run("count", corpus, "-o", table, "--pattern", r"\S+|\s").status == 0
    assert table.read_text() == "pretoken\tcount\na\t1\n\\t\t1\nb\t1\n \t1\na\\\\n\t1\n"


def test_mistakes_are_told_in_one_line_before_the_work(run, corpus, tmp_path, monkeypatch):
    for arguments, what in (
        (("-o", tmp_path / "x.txt"), "no name of a word-count table"),
        (("-o", "-"), "-o - names no file"),
        (("-o", tmp_path / "absent" / "x.tsv"), "there is no folder"),
        (("-o", tmp_path / "x.tsv", "--pretokenizer", "nonsense"), "no pretokenizer named"),
        ((), "Missing option"),
    ):
        ran = run("count", corpus, *arguments)
        assert (ran.status, ran.err.count("\n"), what in ran.err) == (2, 1, True), ran.err
    table = tmp_path / "x.tsv"
    table.write_text("low\t5\n")
    ran = run("count", table, "-o", table)
    assert (ran.status, "would write over" in ran.err) == (2, True)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    ran = run("count", corpus, "-o", tmp_path / "x.parquet")
    assert (ran.status, "pip install pyarrow" in ran.err) == (2, True)
    assert not (tmp_path / "x.parquet").exists()
