"""Files of real tokenizers in each command that reads one."""

from __future__ import annotations

import gzip
import json

import pytest

TEXT = "Hello, naïve world <s>!"
FILES = {
    "clip": ("clip.tokenizer.json.gz", "tokenizer.json", "BPE", 48_894),
    "mistral": ("mistral01.tokenizer.json.gz", "tokenizer.json", "BPE", 58_980),
    "sentencepiece": ("mistral-v1.model.gz", "sentencepiece", "BPE", 28_446),
    "unigram": ("sp_unigram_1000.model", "sentencepiece", "Unigram", 0),
    "bert": ("bert_base_uncased_vocab.txt.gz", "bert", "WordPiece", 0),
    "rwkv": ("rwkv_vocab_v20230424.txt.gz", "rwkv", "longest match", 0),
}


@pytest.fixture(params=FILES)
def real(request, shared):
    name, *facts = FILES[request.param]
    return shared / "data" / "tok" / name, *facts


def test_every_command_takes_it(run, real):
    path, format_name, model, merges = real
    told = json.loads(run("info", path, "--json").out)
    assert (told["format"], told["model"], told["merges"]) == (format_name, model, merges)
    assert any("not BPE" in note for note in told["notes"]) == (model != "BPE")
    ran = run("encode", path, TEXT)
    ids = ran.out.split()
    assert ("not BPE" in ran.err) == (model != "BPE")
    explained = json.loads(run("explain", path, TEXT, "--json").out)
    numbers = [one["ids"] if one["special_id"] is None else [one["special_id"]] for one in explained]
    assert [str(number) for some in numbers for number in some] == ids
    tokens = json.loads(run("encode", path, TEXT, "--output", "json").out)
    assert [str(token["id"]) for token in tokens] == ids
    assert all(token["start"] <= token["end"] for token in tokens if None not in (token["start"], token["end"]))
    assert "world" in run("decode", path, *ids).out
    assert len(run("encode", path, TEXT, "--output", "tokens").out.split("\n")) == len(ids) + 1
    if merges:
        assert int(run("encode", path, TEXT, "--position", 10, "--output", "count").out) > len(ids)
    else:
        assert "outside the merge list" in run("encode", path, TEXT, "--position", 1).err


def test_its_own_library_gives_the_same_ids(run, real):
    path, *_, model, _ = real
    for options in ((), ("--special-text", "text"), ("--no-bos-eos",)):
        ran = run("encode", path, TEXT, "--verify", *options)
        if model == "longest match":
            assert (ran.status, "No library that can be asked reads RWKV" in ran.err) == (2, True)
            assert "convert" not in ran.err
        else:
            assert (ran.status, "library gives the same ids" in ran.err) == (0, True), ran.err


def test_what_the_file_puts_around_a_text_can_be_left_out(run, shared):
    folder = shared / "data" / "tok"
    for name, around in (("clip.tokenizer.json.gz", (49406, 49407)), ("bert_base_uncased_vocab.txt.gz", (101, 102))):
        ids = run("encode", folder / name, "hello").out.split()
        inner = run("encode", folder / name, "hello", "--no-bos-eos").out.split()
        assert [str(around[0]), *inner, str(around[1])] == ids
    assert run("encode", folder / "mistral01.tokenizer.json.gz", "Hello").out == "1 22557\n"
    assert run("encode", folder / "mistral01.tokenizer.json.gz", "Hello", "--no-bos-eos").out == "22557\n"


def test_ids_that_no_token_has_and_parts_of_characters_are_marked(run, real):
    path, *_ = real
    ran = run("decode", path, "5", "-1", "9999999")
    assert ran.status == 0
    assert "<no token -1>" in ran.out
    assert "<no token 9999999>" in ran.out
    assert "Ids that no token has: -1, 9999999." in ran.err


def test_a_part_of_a_character_is_marked(run, shared):
    folder = shared / "data" / "tok"
    ids = run("encode", folder / "mistral01.tokenizer.json.gz", "\U0001faf1", "--no-bos-eos").out.split()
    assert len(ids) == 5
    ran = run("decode", folder / "mistral01.tokenizer.json.gz", *ids[:3])
    assert "\ufffd" in ran.out
    assert "no whole character" in ran.err


def test_special_text_is_refused_if_it_is_to_be_an_error(run, shared):
    path = shared / "data" / "tok" / "mistral01.tokenizer.json.gz"
    ran = run("encode", path, "a</s>", "--special-text", "error")
    assert (ran.status, ran.out) == (2, "")
    assert "holds the special token '</s>' at character 2" in ran.err


def test_a_large_file_is_encoded_as_a_text_is(run, shared, tmp_path):
    path = shared / "data" / "tok" / "clip.tokenizer.json.gz"
    file = tmp_path / "x.txt"
    text = (shared / "data" / "text" / "en_alice29.txt").read_text(encoding="utf-8") * 8
    file.write_text(text, encoding="utf-8")
    ids = run("encode", path, "--file", file).out.split()
    library = pytest.importorskip("tokenizers").Tokenizer.from_str(gzip.decompress(path.read_bytes()).decode())
    assert ids == [str(number) for number in library.encode(text).ids]


def test_conversion_keeps_a_whole_file_and_refuses_what_would_lose_it(run, shared, tmp_path):
    path = shared / "data" / "tok" / "mistral01.tokenizer.json.gz"
    assert run("convert", path, tmp_path / "same.json").status == 0
    assert (tmp_path / "same.json").read_bytes() == gzip.decompress(path.read_bytes())
    for name in ("x.tiktoken", "x.model", "merges.txt", "x.codes"):
        ran = run("convert", path, tmp_path / name)
        assert (ran.status, "cannot hold mistral01.tokenizer.json.gz" in ran.err) == (2, True), ran.err
    assert [one.name for one in tmp_path.iterdir()] == ["same.json"]
