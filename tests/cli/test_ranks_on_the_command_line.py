"""Files of ranks in every command, and large files that are encoded part by part."""

from __future__ import annotations

import json

import pytest

from bpe_viz.cli import streaming


@pytest.fixture(scope="module")
def ranks(shared):
    return shared / "data" / "tok" / "cl100k_base.tiktoken.gz"


@pytest.fixture(scope="module")
def three_way(shared):
    return shared / "cases" / "files" / "ranks_three_way.tiktoken"


def test_a_known_encoding_needs_nothing_and_says_whose_it_is(run, ranks):
    ran = run("encode", ranks, "Hello\nmy love!<|endoftext|>")
    assert ran.out == "9906 198 2465 3021 0 100257\n"
    assert "the ranks of cl100k_base" in ran.err
    assert run("encode", ranks, "hello", "--position", 0, "--output", "count").out == "5\n"
    assert run("decode", ranks, 9906, 100256).out == "Hello<no token 100256>\n"
    told = json.loads(run("info", ranks, "--json").out)
    assert (told["format"], told["merges"], told["largest_id"]) == ("tiktoken", 100_000, 100_276)
    for command in (("encode", ranks, "a"), ("explain", ranks, "a"), ("info", ranks)):
        ran = run(*command, "--pretokenizer", "gpt2")
        assert ran.status == 2
        assert "has its own pretokenizer" in ran.err


def test_others_need_a_pretokenizer_but_for_decoding(run, three_way):
    for command in (("encode", three_way, "xy"), ("explain", three_way, "xy"), ("info", three_way)):
        ran = run(*command)
        assert ran.status == 2
        assert "Give --pretokenizer or --pattern." in ran.err
        assert run(*command, "--pretokenizer", "none").status == 0
        assert run(*command, "--pattern", ".+").status == 0
        assert run(*command, "--pattern", ".+", "--pretokenizer", "none").status == 2
        assert run(*command, "--pretokenizer", "nonsense").status == 2
    assert run("decode", three_way, 258).out == "xyxy\n"


def test_explain_tells_a_token_that_is_taken_whole(run, three_way):
    (value,) = json.loads(run("explain", three_way, "xyxy", "--pretokenizer", "none", "--json").out)
    assert (value["whole"], value["merges"], value["tokens"], value["ids"]) == (True, [], ["xyxy"], [258])
    assert "taken whole" in run("explain", three_way, "xyxy", "--pretokenizer", "none").out
    (value,) = json.loads(run("explain", three_way, "zxyxy", "--pretokenizer", "none", "--json").out)
    assert (value["whole"], value["ids"]) == (False, [122, 120, 256, 121])


def test_verify_asks_tiktoken(run, ranks, three_way):
    pytest.importorskip("tiktoken")
    for special_text in ("allow", "text"):
        ran = run("encode", ranks, "é 字 <|endoftext|> a\n ", "--verify", "--special-text", special_text)
        assert (ran.status, "tiktoken library gives the same ids" in ran.err) == (0, True)
    assert run("encode", three_way, "zxyxy", "--verify", "--pretokenizer", "none").status == 0


def test_ranks_are_written_by_train(run, table, tmp_path):
    out = tmp_path / "t.tiktoken"
    ran = run("train", table, "--merges", 5, "--special", "<s>", "-o", out)
    assert ran.status == 0
    assert "give --pretokenizer gpt2" in ran.err
    assert "Ranks do not hold special tokens: <s> 261." in ran.err
    run("train", table, "--merges", 5, "-o", tmp_path / "t.json")
    expected = run("encode", tmp_path / "t.json", "lowest newest").out
    assert run("encode", out, "lowest newest", "--pretokenizer", "gpt2").out == expected


def test_a_large_file_is_encoded_part_by_part(run, ranks, tmp_path, monkeypatch):
    path = tmp_path / "large.txt"
    path.write_bytes("The lowest of the low: 字 é<|endoftext|>\n".encode() * 3000 + b"\xff end")
    small = run("encode", ranks, "--file", path)
    monkeypatch.setattr(streaming, "LARGE_BYTES", 1)
    for compiled_bytes in (1, 10**9):
        monkeypatch.setattr(streaming, "COMPILED_BYTES", compiled_bytes)
        large = run("encode", ranks, "--file", path)
        assert large.out == small.out
        assert "not valid UTF-8" in large.err
        assert run("encode", ranks, "--file", path, "--output", "count").out == f"{len(small.out.split())}\n"
        as_text = run("encode", ranks, "--file", path, "--special-text", "text").out
        assert as_text != small.out
