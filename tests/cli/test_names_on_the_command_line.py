"""Tokenizers by name in every command that takes a tokenizer."""

from __future__ import annotations

import json

import pytest

MODEL = {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": [["a", "b"]]}
FILE = json.dumps({"version": "1.0", "added_tokens": [], "decoder": {"type": "Fuse"}, "model": MODEL}).encode()
NAME = "hf:org/model"


@pytest.fixture
def model(hub):
    hub.add("org/model", "tokenizer.json", FILE)
    return hub


def test_every_command_takes_a_name(run, model, tmp_path):
    ran = run("encode", NAME, "abb")
    assert (ran.status, ran.out) == (0, "2 1\n")
    assert "org/model of the Hugging Face hub, main, commit 0123456789ab." in ran.err
    assert run("encode", f"{NAME}@main", "abb", "--output", "count").out == "2\n"
    assert run("decode", NAME, 2, 1).out == "abb\n"
    assert json.loads(run("explain", NAME, "ab", "--json").out)[0]["ids"] == [2]
    assert run("convert", NAME, tmp_path / "own.json").status == 0
    assert run("encode", tmp_path / "own.json", "abb").out == "2 1\n"
    told = json.loads(run("info", NAME, "--json").out)
    assert (told["name"], told["title"], told["format"]) == (NAME, "org/model", "tokenizer.json")
    assert told["notes"][0].startswith("org/model of the Hugging Face hub")
    assert f"name: {NAME}\ntitle: org/model\n" in run("info", NAME).out


def test_verify_of_a_name(run, model):
    pytest.importorskip("tokenizers")
    ran = run("encode", NAME, "abb", "--verify")
    assert ran.status == 0
    assert "the same ids" in ran.err


@pytest.mark.parametrize(
    "command", [("encode", "a"), ("decode", "1"), ("explain", "a"), ("info",), ("convert", "x.json")]
)
def test_what_cannot_be_had_is_one_line(run, hub, gone, command):
    for name, said in (
        (NAME, "cannot be reached"),
        ("hf:a b", "no name of a model"),
        ("tiktoken:gpt-4", "cl100k_base"),
    ):
        ran = run(command[0], name, *command[1:])
        assert (ran.status, ran.out) == (2, "")
        assert said in ran.err
        assert ran.err.count("\n") == 1


def test_a_model_whose_file_is_no_tokenizer(run, hub):
    hub.add("org/model", "tokenizer.json", b"version https://git-lfs.github.com/spec/v1\n")
    for command in (("encode", NAME, "a"), ("info", NAME)):
        ran = run(*command)
        assert ran.status == 2
        assert "tokenizer.json" in ran.err


def test_a_name_that_the_window_cannot_open_is_told_before_it_opens(run, hub):
    ran = run("tiktoken:cl100k")
    assert ran.status == 2
    assert "Did you mean tiktoken:cl100k_base?" in ran.err
