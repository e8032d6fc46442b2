from __future__ import annotations

import json

import pytest


def test_the_worked_example_encodes_as_by_hand(run, worked):
    assert run("encode", worked, "lowest").out == "13 11\n"
    assert run("encode", worked, "newer", "--position", 5, "--output", "tokens").out == '"n"\n"ew"\n"e"\n"r"\n'
    assert run("encode", worked, "lowest", "--position", 0, "--output", "count").out == "6\n"


def test_json_has_offsets_and_bytes(run, worked):
    (token, *_) = json.loads(run("encode", worked, "lowest", "--output", "json").out)
    assert token == {"id": 13, "token": "low", "bytes": "6c6f77", "start": 0, "end": 3}


def test_a_character_that_the_base_lacks(run, worked, table, tmp_path):
    ran = run("encode", worked, "lowéx", "--output", "json")
    assert [token["id"] for token in json.loads(ran.out)] == [13, None, None]
    assert "the base vocabulary lacks, which have no token: 2." in ran.err
    assert run("encode", worked, "lowéx").out == "13\n"
    out = tmp_path / "unknown.json"
    assert run("train", table, "--base", "characters", "--unknown", "<unk>", "--merges", 7, "-o", out).status == 0
    ran = run("encode", out, "lowéx")
    assert ran.out == "13 17 17\n"
    assert "encoded as <unk>: 2." in ran.err


def test_a_token_that_is_no_whole_character_is_a_lone_surrogate(run, table, tmp_path):
    out = tmp_path / "bytes.json"
    run("train", table, "-o", out)
    ran = run("encode", out, "é", "--output", "tokens")
    assert ran.out == '"\\udcc3"\n"\\udca9"\n'
    tokens = json.loads(run("encode", out, "é", "--output", "json").out)
    assert [(token["start"], token["end"]) for token in tokens] == [(0, None), (None, 1)]


def test_text_from_a_file_and_from_standard_input(run, worked, tmp_path):
    (tmp_path / "in.txt").write_text("lowest")
    assert run("encode", worked, "--file", tmp_path / "in.txt").out == "13 11\n"
    assert run("encode", worked, "-", stdin=b"lowest").out == "13 11\n"
    assert run("encode", worked, "--file", "-", stdin=b"lowest").out == "13 11\n"
    assert run("encode", worked, "").out == "\n"


def test_html_is_escaped_and_stands_alone(run, tmp_path):
    (tmp_path / "c.txt").write_text("<b>&")
    run("train", tmp_path / "c.txt", "--merges", 0, "-o", tmp_path / "t.json")
    page = run("encode", tmp_path / "t.json", '<b>&"\n', "--output", "html").out
    assert page.startswith("<!DOCTYPE html>")
    assert "&lt;</span>" in page
    assert "&amp;</span>" in page
    assert "<b>" not in page
    assert "src=" not in page
    assert "http" not in page
    assert page.count('<span class="t') == 6


def test_ansi_goes_through_and_shows_no_control_character(run, tmp_path, table):
    run("train", table, "--merges", 0, "-o", tmp_path / "t.json")
    out = run("encode", tmp_path / "t.json", "a\x1b[2Jb", "--output", "ansi").out
    assert "\x1b[48;2;" in out or ";48;2;" in out
    assert "\x1b[2J" not in out


@pytest.fixture
def with_special(run, table, tmp_path):
    path = tmp_path / "special.json"
    assert run("train", table, "--special", "<s>", "--merges", 3, "-o", path).status == 0
    return path


def test_special_text(run, with_special):
    assert run("encode", with_special, "low<s>").out.split()[-1] == "259"
    assert "259" not in run("encode", with_special, "low<s>", "--special-text", "text").out.split()
    ran = run("encode", with_special, "low<s>", "--special-text", "error")
    assert ran.status == 2
    assert "<s>" in ran.err
    assert run("encode", with_special, "low<s>", "--no-bos-eos").status == 0


def test_verify(run, with_special, tmp_path):
    pytest.importorskip("tokenizers")
    for special_text in ("allow", "text"):
        ran = run("encode", with_special, "low<s> newest é", "--verify", "--special-text", special_text)
        assert ran.status == 0
        assert "the same ids" in ran.err
    ran = run("encode", with_special, "low", "--verify", "--position", 1)
    assert ran.status == 2


def test_verify_says_where_the_library_is_known_to_number_tokens_anew(run, tmp_path):
    pytest.importorskip("tokenizers")
    model = {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": [["a", "b"]]}
    path = tmp_path / "t.json"
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized", "special"), False)
    added = [{"id": 10, "content": "<s>", **flags}]
    path.write_text(json.dumps({"version": "1.0", "added_tokens": added, "model": model}))
    ran = run("encode", path, "ab<s>", "--verify")  # the library numbers added tokens anew
    assert ran.status == 1
    assert "All tokens are the same, but 1 that the tokenizers library" in ran.err
    assert "numbers anew, as the ids that the file declares leave a hole" in ran.err
    assert "The first is token 2: 10 ('<s>') here, 3 there, at character 3." in ran.err


def test_dropped_text_is_said(run, table, tmp_path):
    run("train", table, "--pretokenizer", "whitespace", "-o", tmp_path / "t.json")
    assert "drops 2 of 5 characters" in run("encode", tmp_path / "t.json", "a  bc").err


def test_a_pretokenizer_for_a_file_that_has_one_is_an_error(run, worked):
    for arguments in (("--pretokenizer", "gpt2"), ("--pattern", ".")):
        for command in ("encode", "explain"):
            ran = run(command, worked, "low", *arguments)
            assert ran.status == 2
            assert "has its own pretokenizer" in ran.err
        assert run("info", worked, *arguments).status == 2


def test_decode(run, worked):
    assert run("decode", worked, 13, 11).out == "lowest\n"
    ran = run("decode", worked, 13, -1, 999, 11)
    assert ran.status == 0
    assert ran.out == "low<no token -1><no token 999>est\n"
    assert "-1, 999" in ran.err
    assert run("decode", worked, -13).out == "<no token -13>\n"
    assert run("decode", worked, "-", stdin=b"13 11\n").out == "lowest\n"
    for wrong in ("x", "1_0", "1.5", "--nonsense", "", "[]"):
        ran = run("decode", worked, wrong)
        assert ran.status == 2
        assert "whole numbers" in ran.err


@pytest.mark.parametrize("written", [["[13, 11]"], ["[13,", "11]"], ["13,11"], ["13 11"]])
def test_ids_are_decoded_as_programs_print_them(run, worked, written):
    assert run("decode", worked, *written).out == "lowest\n"
    assert run("decode", worked, "-", stdin=" ".join(written).encode()).out == "lowest\n"


def test_a_place_with_several_bytes_of_no_character_is_counted_once(run, table, tmp_path):
    run("train", table, "--merges", 0, "-o", tmp_path / "t.json")
    half, whole = (
        run("encode", tmp_path / "t.json", "\U0001f600é").out.split()[:3],
        run("encode", tmp_path / "t.json", "é").out.split(),
    )
    ran = run("decode", tmp_path / "t.json", *half, *whole, *half[:2])
    assert ran.out == "\ufffdé\ufffd\n"
    assert "Places with bytes that are no whole character, shown as U+FFFD: 2." in ran.err


def test_decode_prints_the_bytes_of_a_text_as_they_are(run, table, tmp_path):
    run("train", table, "--merges", 0, "-o", tmp_path / "t.json")
    ids = run("encode", tmp_path / "t.json", "\x1b[1mé").out.split()
    assert run("decode", tmp_path / "t.json", *ids).out == "\x1b[1mé\n"
    ran = run("decode", tmp_path / "t.json", 195)
    assert ran.out == "\ufffd\n"
    assert "shown as U+FFFD: 1." in ran.err


def test_explain(run, worked):
    lines = run("explain", worked, "lowest").out.splitlines()
    assert [line.split()[:2] for line in lines[2:]] == [["rank", "0"], ["rank", "1"], ["rank", "2"], ["rank", "3"]]
    assert lines[0] == "lowest  ids 13 11"
    assert lines[1].split() == ["start", *"lowest"]
    assert lines[-1].endswith("low est")
    (value,) = json.loads(run("explain", worked, "lowest", "--json").out)
    assert value["ids"] == [13, 11]
    assert value["first"] == list("lowest")
    assert value["merges"][2] == {
        "rank": 2, "left": "l", "right": "o", "token": "lo", "symbols": ["lo", "w", "est"], "at": 0
    }  # fmt: skip
    (value,) = json.loads(run("explain", worked, "lowest", "--position", 1, "--json").out)
    assert value["tokens"] == ["l", "o", "w", "es", "t"]
    assert "(not in the base)" in run("explain", worked, "xlow").out


@pytest.mark.parametrize(("text", "sign"), [("a" * 100_000, "a"), (" " * 100_000, "space"), ("\n" * 100_000, "newline"),
                                           ("^" * 1_000_000, "^")])  # fmt: skip
def test_long_runs_have_the_ids_of_tiktoken(run, shared, case, tmp_path, text, sign):
    (tmp_path / "run.txt").write_text(text)
    ranks = shared / "data" / "tok" / "cl100k_base.tiktoken.gz"
    ran = run("encode", ranks, "--file", tmp_path / "run.txt", "--output", "count")
    assert int(ran.out) == case("EN-19")["expected"]["counts"][sign]["cl100k"]
    if len(text) <= 100_000:
        explained = run("explain", ranks, "-", stdin=text.encode())
        assert len(explained.out.splitlines()) < 20
        assert len(explained.out.splitlines()[0].split(" ids ")[1].split()) == int(ran.out)


def test_explain_of_a_long_run_shows_what_is_near_each_merge(run, tmp_path):
    (tmp_path / "run.txt").write_text("a" * 3000)
    tokenizer = tmp_path / "run.json"
    run("train", tmp_path / "run.txt", "--merges", 4, "-o", tokenizer)
    out = run("explain", tokenizer, "a" * 1999).out
    lines = out.splitlines()
    assert len(lines[0].split(" ids ")[1].split()) == 1999 // 16 + 4
    assert "(1,999 base symbols)" in lines[1]
    assert [" ".join(line.split()) for line in lines[2:]] == [
        "rank 0 a + a aa a a a a … (and 998 more places)",
        "rank 1 aa + aa aaaa aa aa aa aa … (and 498 more places)",
        "rank 2 aaaa + aaaa aaaaaaaa aaaa aaaa aaaa aaaa … (and 248 more places)",
        "rank 3 aaaaaaaa + aaaaaaaa aaaaaa…aaaaaa (16) aaaaaaaa aaaaaaaa aaaaaaaa aaaaaaaa … (and 123 more places)",
    ]
    (value,) = json.loads(run("explain", tokenizer, "a" * 1999, "--json").out)
    assert len(value["merges"]) == 999 + 499 + 249 + 124
    assert value["merges"][-1] == {
        "rank": 3, "left": "a" * 8, "right": "a" * 8, "token": "a" * 16, "symbols": None, "at": None
    }  # fmt: skip
    assert value["tokens"] == ["a" * 16] * 124 + ["a" * 8, "aaaa", "aa", "a"]


def test_explain_shows_special_tokens(run, with_special):
    assert "special token 259" in run("explain", with_special, "<s>").out
    assert json.loads(run("explain", with_special, "<s>", "--json").out)[0]["special_id"] == 259


def test_info_of_each_kind_of_source(run, worked, table, tmp_path):
    told = json.loads(run("info", worked, "--json").out)
    assert (told["kind"], told["merges"], told["vocab_size"], told["largest_id"]) == ("tokenizer", 7, 17, 16)
    assert "None" not in run("info", table).out
    told = json.loads(run("info", table, "--json").out)
    assert (told["kind"], told["pretokens"], told["distinct_pretokens"]) == ("table", 16, 4)
    assert told["most_frequent"][0] == ["newest", 6]
    (tmp_path / "c.txt").write_text("a b b\n")
    told = json.loads(run("info", tmp_path / "c.txt", "--json", "--pretokenizer", "whitespace").out)
    assert (told["kind"], told["bytes"], told["pretokens"]) == ("text", 6, 3)
    for source in (worked, table, tmp_path / "c.txt"):
        ran = run("info", source)
        assert ran.status == 0
        assert "{" not in ran.out


def test_an_empty_text_has_no_tokens(run, worked, tmp_path):
    empty = tmp_path / "empty.txt"
    empty.touch()
    for text in (("",), ("-",), ("--file", empty)):
        assert run("encode", worked, *text) == (0, "\n", "")
        assert run("encode", worked, *text, "--output", "tokens") == (0, "", "")
        assert run("encode", worked, *text, "--output", "count") == (0, "0\n", "")


def test_ids_of_any_size_are_marked(run, worked):
    huge = "9" * 4000
    status, out, err = run("decode", worked, "9" * 25, huge)
    assert status == 0
    assert out == f"<no token {'9' * 25}><no token {huge}>\n"
    assert err.startswith("Ids that no token has")


@pytest.mark.parametrize(
    ("content", "said"), [(b"", "it is empty"), (b"[1]", "it begins with '[1]'"), (b"\xff\xfe{\0", "UTF-16")]
)
def test_why_a_file_is_no_tokenizer_is_told(run, tmp_path, content, said):
    (tmp_path / "t.json").write_bytes(content)
    status, _, err = run("encode", tmp_path / "t.json", "x")
    assert (status, len(err.splitlines())) == (2, 1)
    assert said in err
