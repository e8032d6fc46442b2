"""Texts counted as the steps of a file cut them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from bpe_viz.engine import pipeline_counting
from bpe_viz.engine.corpus import count_paths, count_text
from bpe_viz.engine.pipeline import PlainPipeline
from bpe_viz.engine.pipeline_counting import count_prepared
from bpe_viz.engine.types import CountingOptions
from bpe_viz.errors import CorpusError
from bpe_viz.formats import load_tokenizer

COUNTING = CountingOptions("gpt2")
PLAIN = PlainPipeline(COUNTING, {})
TEXT = "the cat sat on the mat;\r\nthat cat, naïve 東京\n\n  the end"


def counts(corpus) -> dict[bytes, int]:
    return {corpus.pretokens.content(row): int(n) for row, n in enumerate(corpus.pretokens.counts)}


def test_a_plain_pipeline_counts_as_the_options_do():
    counted, expected = count_prepared(PLAIN, COUNTING, "Text", (), TEXT), count_text(TEXT, COUNTING)
    assert counts(counted) == counts(expected)
    for field in ("n_bytes", "n_characters", "n_pretokens", "excerpt"):
        assert getattr(counted, field) == getattr(expected, field)


def test_files_are_counted_each_as_a_whole(tmp_path):
    paths = [tmp_path / "a.txt", tmp_path / "b.txt"]
    paths[0].write_text("the cat", encoding="utf-16")
    paths[1].write_text("the mat")
    counted = count_prepared(PLAIN, COUNTING, "2 files", paths)
    assert counts(counted) == counts(count_paths(paths, COUNTING))
    assert any("UTF-16" in note for note in counted.notes)


def test_the_steps_of_a_file_are_run_by_its_library(tmp_path: Path):
    tokenizers = pytest.importorskip("tokenizers")
    library = tokenizers.Tokenizer(
        tokenizers.models.BPE({"▁": 0, "a": 1, "b": 2, "▁a": 3}, [("▁", "a")], unk_token=None)
    )
    library.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
    library.save(str(tmp_path / "t.json"))
    tokenizer = load_tokenizer(tmp_path / "t.json")
    counted = count_prepared(tokenizer.pipeline, tokenizer.counting, "Text", (), "a b a")
    expected = Counter(word for word, _ in library.pre_tokenizer.pre_tokenize_str("a b a"))
    assert counts(counted) == {word.encode(): n for word, n in expected.items()}


def test_of_a_tokenizer_that_cuts_nothing_each_line_is_a_pretoken(tmp_path: Path):
    tokenizers = pytest.importorskip("tokenizers")
    vocabulary = {"▁": 0, "a": 1, "b": 2, "▁a": 3, "\n": 4}
    library = tokenizers.Tokenizer(tokenizers.models.BPE(vocabulary, [("▁", "a")], unk_token=None))
    prepend, replace = tokenizers.normalizers.Prepend("▁"), tokenizers.normalizers.Replace(" ", "▁")
    library.normalizer = tokenizers.normalizers.Sequence([prepend, replace])
    library.save(str(tmp_path / "t.json"))
    tokenizer = load_tokenizer(tmp_path / "t.json")
    counted = count_prepared(tokenizer.pipeline, tokenizer.counting, "Text", (), "a b\n\nb\na b\n")
    assert counts(counted) == {"▁a▁b\n".encode(): 2, "▁\n".encode(): 1, "▁b\n".encode(): 1}
    assert (counted.n_pretokens, counted.n_characters) == (4, 11)
    assert "each line is taken for itself" in counted.notes[-1]


def test_a_large_text_is_taken_line_by_line_where_nothing_is_cut(shared):
    tokenizer = load_tokenizer(shared / "data" / "tok" / "mistral-v1.model.gz")
    text = shared / "data" / "text" / "en_alice29.txt"
    counted = count_prepared(tokenizer.pipeline, tokenizer.counting, "Alice", [text])
    lines = text.read_bytes().split(b"\n")
    assert (counted.n_pretokens, lines[-1] != b"") == (len(lines), True)
    assert counts(counted)["▁\r\n".encode()] == lines.count(b"\r")


@pytest.mark.parametrize(("text", "said"), [("", "holds no pre-token"), ("x" * 11, "a document of 11 characters")])
def test_what_cannot_be_counted_is_said(monkeypatch, text, said):
    monkeypatch.setattr(pipeline_counting, "MOST_CHARACTERS", 10)
    with pytest.raises(CorpusError, match=said):
        count_prepared(PLAIN, COUNTING, "Text", (), text)
