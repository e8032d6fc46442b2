"""`bpe-viz convert`: from format to format, or a reason why not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bpe_viz.errors import FormatError
from bpe_viz.formats import Draft, format_to_save

TEXT = "the lowest newest café 字\n"


@pytest.fixture
def bytes_json(run, table, tmp_path):
    path = tmp_path / "b.json"
    assert run("train", table, "--merges", "12", "--special", "<s>", "-o", path).status == 0
    return path


@pytest.mark.parametrize("name", ["b.model", "merges.txt", "vocab.json", "b-vocab.bpe", "b.tiktoken", "c.json"])
def test_there_and_back_encodes_the_same(run, bytes_json, tmp_path, name):
    expected = run("encode", bytes_json, TEXT).out
    there = tmp_path / "there" / name
    there.parent.mkdir()
    ran = run("convert", bytes_json, there)
    assert (ran.status, ran.out) == (0, "")
    assert f"{there}: 12 merges" in ran.err
    given = () if name in ("b.model", "c.json") else ("--pretokenizer", "gpt2")
    if given:
        assert "give --pretokenizer gpt2" in ran.err
        assert run("encode", there, TEXT).status == 2
    assert run("encode", there, TEXT, *given).out == expected
    back = tmp_path / "back.json"
    ran = run("convert", there, back, *given)
    assert ran.status == 0
    assert run("encode", back, TEXT).out == expected
    assert run("decode", there, *expected.split()).out == f"{TEXT}\n"


def test_a_format_is_named_when_the_file_is_not(run, bytes_json, tmp_path):
    assert run("convert", bytes_json, tmp_path / "x", "--format", "minbpe").status == 0
    assert (tmp_path / "x").read_text().startswith("minbpe v1\n")
    ran = run("convert", bytes_json, tmp_path / "y")
    assert (ran.status, "no format for a file named y" in ran.err) == (2, True)
    ran = run("convert", bytes_json, tmp_path / "y", "--format", "tekken")
    assert (ran.status, "no format named 'tekken'" in ran.err) == (2, True)


@pytest.mark.parametrize(
    ("name", "format_name"),
    [
        ("vocab.json", "gpt2"),
        ("novel-vocab.json", "gpt2"),
        ("novel.merges.txt", "gpt2"),
        ("novel_vocab.json", "tokenizer.json"),
        ("x.json", "tokenizer.json"),
        ("x.bpe", "subword-nmt"),
        ("vocab.bpe", "gpt2"),
    ],
)
def test_the_name_of_a_file_tells_the_format(name, format_name):
    assert format_to_save(Path(name)).name == format_name


def test_why_a_format_cannot_hold_a_tokenizer_is_told(run, bytes_json, tmp_path):
    document = json.loads(bytes_json.read_text())
    document["normalizer"] = {"type": "Replace", "pattern": {"String": "x"}, "content": "y"}
    (tmp_path / "z.json").write_text(json.dumps(document))
    ran = run("convert", tmp_path / "z.json", tmp_path / "z.tiktoken")
    assert ran.status == 2
    assert ran.err.endswith(
        "A text goes through the steps of the file, run by the tokenizers library, for which there is no place. "
        "Save as tokenizer.json.\n"
    )


def test_what_a_format_cannot_hold_is_told_in_one_line_and_nothing_is_written(run, bytes_json, worked, tmp_path):
    for source, name in ((bytes_json, "x.codes"), (worked, "x.model"), (worked, "x.tiktoken")):
        ran = run("convert", source, tmp_path / name)
        assert ran.status == 2
        assert ran.err.count("\n") == 1
        assert not (tmp_path / name).exists()


@pytest.mark.parametrize("command", ["convert", "train"])
def test_what_is_lost_is_said_before_anything_is_replaced(run, bytes_json, table, tmp_path, monkeypatch, command):
    path = tmp_path / "x.tiktoken"
    path.write_text("before")

    def fail(draft):
        raise FormatError("The disk is full.", "")

    monkeypatch.setattr(Draft, "write", fail)
    arguments = ("convert", bytes_json, path) if command == "convert" else ("train", table, "-o", path)
    ran = run(*arguments)
    lines = ran.err.splitlines()
    assert ran.status == 2
    assert any("Ranks do not hold how text is cut" in line for line in lines[:-1])
    assert "The disk is full." in lines[-1]
    assert path.read_text() == "before"


def test_a_file_that_is_needed_is_not_written_over(run, bytes_json, tmp_path):
    ran = run("convert", bytes_json, bytes_json)
    assert (ran.status, "would write over what is needed" in ran.err) == (2, True)
    vocabulary = tmp_path / "vocab.json"
    bytes_json.rename(vocabulary)
    (tmp_path / "merges.txt").write_text("mine")
    ran = run("convert", vocabulary, tmp_path / "merges.txt")
    assert (ran.status, "vocab.json, which belongs to OUT: " in ran.err) == (2, True)
    assert (tmp_path / "merges.txt").read_text() == "mine"
    assert run("convert", vocabulary, "-").status == 2


def test_training_does_not_write_over_its_corpus_as_the_other_file(run, tmp_path):
    corpus = tmp_path / "merges.txt"
    corpus.write_text("low lower")
    (tmp_path / "vocab.json").write_text("{}")
    ran = run("train", corpus, "--merges", "1", "-o", tmp_path / "vocab.json")
    assert (ran.status, "merges.txt, which belongs to -o: " in ran.err) == (2, True)
    assert corpus.read_text() == "low lower"
