"""Each format in each command that reads a tokenizer."""

from __future__ import annotations

import json
from importlib.util import find_spec

import pytest

from bpe_viz.formats._stand_ins import LETTER_OF_BYTE
from tests.formats.gguf_files import CONTROL, bpe_fields, gguf
from tests.formats.ranks import BYTES, b64

TEXT = "low lower"


@pytest.fixture
def files(run, table, tmp_path):
    """A file of each format, and the options that opening it takes."""
    bytes_json = tmp_path / "b.json"
    assert run("train", table, "--merges", "12", "-o", bytes_json).status == 0
    glued = ("--base", "characters", "--end-of-word", "glued")
    ranks = [*BYTES, b"lo", b"low", b"er"]
    rank_json = {"pat_str": r"\S+|\s", "special_tokens": {"<s>": 300}, "bpe_ranks": "! 0 " + " ".join(map(b64, ranks))}
    tekken = {
        "config": {"pattern": r"\S+|\s+$|\s", "default_vocab_size": 260, "default_num_special_tokens": 1},
        "vocab": [{"rank": rank, "token_bytes": b64(token)} for rank, token in enumerate(ranks)],
    }
    (tmp_path / "r.json").write_text(json.dumps(rank_json))
    (tmp_path / "tekken.json").write_text(json.dumps(tekken))
    for name in ("x.model", "merges.txt", "x.tiktoken"):
        assert run("convert", bytes_json, tmp_path / name).status == 0
    assert run("train", table, *glued, "--merges", "12", "-o", tmp_path / "x.codes").status == 0
    merges = ["l o", "lo w", "e r"]
    model = bpe_fields([*LETTER_OF_BYTE, "lo", "low", "er", "<s>"], merges, types={"<s>": CONTROL})
    (tmp_path / "x.gguf").write_bytes(gguf(model))
    given = ("--pretokenizer", "gpt2")
    return {
        "minbpe": (tmp_path / "x.model", ()),
        "gpt2": (tmp_path / "merges.txt", given),
        "tiktoken": (tmp_path / "x.tiktoken", given),
        "subword-nmt": (tmp_path / "x.codes", ()),
        "rank-json": (tmp_path / "r.json", ()),
        "tekken": (tmp_path / "tekken.json", ()),
        "gguf": (tmp_path / "x.gguf", ()),
    }


def test_every_command_takes_every_format(run, files):
    for name, (path, given) in files.items():
        told = json.loads(run("info", path, *given, "--json").out)
        assert told["format"] == name
        assert told["merges"] > 0
        ids = run("encode", path, TEXT, *given).out.split()
        assert 2 <= len(ids) < len(TEXT), name
        decoded = run("decode", path, *ids).out
        assert decoded == f"{TEXT}\n", name
        explained = json.loads(run("explain", path, TEXT, *given, "--json").out)
        assert [str(number) for one in explained for number in one["ids"]] == ids, name
        tokens = run("encode", path, TEXT, *given, "--output", "tokens").out.split("\n")[:-1]
        assert len(tokens) == len(ids)
        first = run("encode", path, TEXT, *given, "--position", 0, "--output", "count").out
        assert int(first) > len(ids), name


def test_verify_where_there_is_a_library(run, files):
    libraries = {"gpt2": "tokenizers", "subword-nmt": "subword-nmt"} | dict.fromkeys(
        ("rank-json", "tekken", "tiktoken"), "tiktoken"
    )
    for package in ("tiktoken", "tokenizers", "subword_nmt"):
        pytest.importorskip(package)
    del files["gguf"]
    for name, (path, given) in files.items():
        ran = run("encode", path, "low lower<s>  ", *given, "--verify")
        if name in libraries:
            assert (ran.status, f"{libraries[name]} library gives the same ids" in ran.err) == (0, True), ran.err
        else:
            assert ran.status == 2
            assert "No library that can be asked reads minbpe" in ran.err
            assert "bpe-viz convert" in ran.err


@pytest.mark.skipif(find_spec("llama_cpp") is not None, reason="llama-cpp-python is installed")
def test_verify_names_the_library_that_is_missing(run, files):
    ran = run("encode", files["gguf"][0], "low", "--verify")
    assert ran.status == 2
    assert "The llama-cpp-python library, which would be asked, is not installed" in ran.err
    assert "pip install llama-cpp-python" in ran.err


def test_a_pretokenizer_that_is_known_by_no_name_is_asked_for(run, tmp_path):
    path = tmp_path / "x.gguf"
    path.write_bytes(gguf(bpe_fields([*LETTER_OF_BYTE, "lo"], ["l o"], "of-tomorrow")))
    ran = run("encode", path, "lo lo")
    assert ran.status == 2
    assert "'of-tomorrow', which bpe-viz does not know" in ran.err
    assert "--pretokenizer" in ran.err
    assert len(run("encode", path, "lo lo", "--pretokenizer", "gpt2").out.split()) == 3


def test_what_is_no_tokenizer_names_what_is_read(run, tmp_path):
    path = tmp_path / "x.txt"
    path.write_text("just a text\n")
    ran = run("encode", path, "a")
    assert ran.status == 2
    for title in ("subword-nmt codes", "minbpe model", "JSON with ranks", "Mistral tekken.json", "GPT-2 vocab.json"):
        assert title in ran.err
