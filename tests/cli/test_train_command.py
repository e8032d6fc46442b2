from __future__ import annotations

import json
import os
import stat
import unicodedata
from collections import Counter, defaultdict
from functools import partial
from itertools import pairwise

import pytest

from bpe_viz.engine import reference, text_counting
from bpe_viz.engine.pretokenize import PRETOKENIZERS, pretokenizer_for
from bpe_viz.engine.types import Options
from bpe_viz.errors import FormatError
from bpe_viz.formats import check_before_training, load_tokenizer


def read_log(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def text_of(hexadecimal):
    return bytes.fromhex(hexadecimal).decode()


# facts/worked_examples.md
WORKED = [
    ("e", "s", 9, 2),
    ("es", "t", 9, 1),
    ("l", "o", 7, 2),
    ("lo", "w", 7, 1),
    ("e", "w", 6, 3),
    ("ew", "est", 6, 2),
    ("n", "ewest", 6, 1),
]
SEPARATE = [
    ("e", "s", 9, 3), ("es", "t", 9, 2), ("est", "</w>", 9, 1), ("l", "o", 7, 2), ("lo", "w", 7, 1), ("e", "w", 6, 3),
    ("ew", "est</w>", 6, 2), ("n", "ewest</w>", 6, 1), ("low", "</w>", 5, 1), ("d", "est</w>", 3, 3),
    ("i", "dest</w>", 3, 2), ("w", "idest</w>", 3, 1),
]  # fmt: skip


def rows(log):
    return [(text_of(m["left"]), text_of(m["right"]), m["count"], m["ties"]) for m in log]


def test_the_worked_example(run, table, tmp_path):
    log = tmp_path / "log.jsonl"
    assert run("train", table, "--base", "characters", "--merges", 7, "--log", log).status == 0
    merges = read_log(log)
    assert rows(merges) == WORKED
    assert [m["rank"] for m in merges] == list(range(7))
    assert all(m["token"] == m["left"] + m["right"] for m in merges)
    assert list(merges[0]) == ["rank", "left", "right", "token", "count", "replacements", "ties"]
    first = log.read_text().splitlines()[0]
    assert first == (
        '{"rank": 0, "left": "65", "right": "73", "token": "6573", "count": 9, "replacements": 9, "ties": 2}'
    )


def test_a_separate_marker_is_logged_as_its_text(run, table, tmp_path):
    log = tmp_path / "log.jsonl"
    arguments = ("--base", "characters", "--end-of-word", "separate", "--merges", 12, "--log", log)
    assert run("train", table, *arguments).status == 0
    assert rows(read_log(log)) == SEPARATE


def test_each_word_counted_once_is_the_classic_mistake(run, table, tmp_path):
    log = tmp_path / "log.jsonl"
    assert run("train", table, "--base", "characters", "--weights", "types", "--log", log, "--merges", 5).status == 0
    merges = rows(read_log(log))
    assert [(left, right) for left, right, *_ in merges[:4]] == [(m[0], m[1]) for m in WORKED[:4]]
    assert merges[4][:3] == ("d", "est", 1)


def test_text_that_looks_like_the_marker_is_told_apart(run, tmp_path):
    (tmp_path / "c.txt").write_text("a_b a_c a_d a")
    log = tmp_path / "log.jsonl"
    status, *_ = run(
        "train", tmp_path / "c.txt", "--pretokenizer", "whitespace", "--base", "characters", "--end-of-word", "glued",
        "--marker", "_", "--merges", 1, "--log", log,
    )  # fmt: skip
    assert status == 0
    assert read_log(log)[0]["unmarked"] == ["right", "token"]


def test_count_and_replacements_differ_on_runs(run, case, tmp_path):
    wanted = case("TR-01")
    (tmp_path / "runs.txt").write_text(wanted["input"]["text"])
    log = tmp_path / "log.jsonl"
    assert run("train", tmp_path / "runs.txt", "--pattern", r"\S+", "--merges", 3, "--log", log).status == 0
    found = [
        {"token": text_of(m["token"]), "count": m["count"], "replacements": m["replacements"]} for m in read_log(log)
    ]
    assert found == next(iter(wanted["expected"].values()))


def test_a_word_of_seventy_thousand_letters(run, case, tmp_path):
    (tmp_path / "run.txt").write_text("a" * 70_000)
    log = tmp_path / "log.jsonl"
    assert run("train", tmp_path / "run.txt", "--merges", 6, "--log", log).status == 0
    assert [[text_of(m["token"]), m["count"]] for m in read_log(log)] == case("TR-34")["expected"]["counts"]


def test_a_long_line_counts_as_any_other(run, tmp_path):
    (tmp_path / "lines.txt").write_text("a" * 5000 + "\nb b\n")
    log = tmp_path / "log.jsonl"
    assert run("train", tmp_path / "lines.txt", "--merges", 3, "--log", log).status == 0
    assert [(text_of(m["token"]), m["count"]) for m in read_log(log)] == [
        ("aa", 4999),
        ("a" * 4, 2499),
        ("a" * 8, 1249),
    ]


LONG_TEXTS = {
    "letters": "a" * 300_000,
    "spaces": " " * 300_000,
    "line ends": "\n" * 300_000,
    "pairs of line ends": "\r\n" * 150_000,
    "NUL": "\0" * 300_000,
    "marks": "a" + "\u0301" * 150_000,
    "joined people": "\u200d".join(["👩"] * 40_000),
    "two letters": "ab" * 150_000,
}


@pytest.mark.parametrize("text", LONG_TEXTS.values(), ids=LONG_TEXTS)
@pytest.mark.parametrize("options", [(), ("--pretokenizer", "o200k", "--normalize", "NFC")], ids=["gpt2", "o200k NFC"])
def test_monsters_are_trained_on_encoded_and_decoded(run, tmp_path, text, options):
    (tmp_path / "text.txt").write_bytes(text.encode())
    tokenizer = tmp_path / "t.json"
    assert run("train", tmp_path / "text.txt", "--merges", 12, "-o", tokenizer, *options).status == 0
    ids = run("encode", tokenizer, "--file", tmp_path / "text.txt")
    assert ids.status == 0
    assert len(ids.out.split()) < len(text.encode()) / 2
    (tmp_path / "ids.txt").write_text(ids.out)
    decoded = run("decode", tokenizer, "-", stdin=ids.out.encode())
    assert decoded.out == unicodedata.normalize("NFC", text) + "\n" if options else text + "\n"
    assert run("info", tmp_path / "text.txt", *options).status == 0


def test_a_million_different_words_of_one_letter(run, tmp_path):
    letters = [chr(n) for n in range(0x100, 0x110000) if not 0xD800 <= n < 0xE000 and not chr(n).isspace()]
    (tmp_path / "words.txt").write_text(" ".join(letters), encoding="utf-8")
    told = json.loads(run("info", tmp_path / "words.txt", "--pretokenizer", "whitespace", "--json").out)
    assert told["distinct_pretokens"] == told["pretokens"] == len(letters) > 1_000_000


def test_the_file_is_named_with_a_pattern_that_never_ends(run, tmp_path, monkeypatch):
    monkeypatch.setattr(text_counting, "pretokenizer_for", partial(pretokenizer_for, timeout=0.05))
    (tmp_path / "good.txt").write_text("b b b\n")
    (tmp_path / "bad.txt").write_text("b " * 5000 + "a" * 40 + "c\n")
    status, out, err = run(
        "train", tmp_path / "good.txt", tmp_path / "bad.txt", "--pattern", r"(?:a|a)+$|b", "--log", tmp_path / "log"
    )
    assert (status, out) == (2, "")
    (line,) = err.splitlines()
    for part in ("bad.txt", "(?:a|a)+$|b", "never ends", "Try one without a repetition inside a repetition."):
        assert part in line
    assert not (tmp_path / "log").exists()


def test_the_longest_token_may_be_just_as_long(run, case, tmp_path):
    (tmp_path / "c.txt").write_text(case("TR-16")["input"]["text"])
    log = tmp_path / "log.jsonl"
    ran = run("train", tmp_path / "c.txt", "--pretokenizer", "whitespace", "--max-token-length", 4, "--log", log)
    assert ran.status == 0
    assert text_of(read_log(log)[-1]["token"]) == "abcd"
    ran = run("train", tmp_path / "c.txt", "--pretokenizer", "whitespace", "--max-token-length", 2, "--log", log)
    assert {len(text_of(m["token"])) for m in read_log(log)} == {2}
    assert "at most 2" in ran.err


@pytest.mark.parametrize(("min_count", "made"), [(1, ["ab", "cd", "ef"]), (2, ["ab", "cd"]), (3, ["ab"])])
def test_min_count_stops_and_says_so(run, case, tmp_path, min_count, made):
    (tmp_path / "c.txt").write_text(case("TR-15")["input"]["text"])
    log = tmp_path / "log.jsonl"
    arguments = ("--pretokenizer", "whitespace", "--min-count", min_count, "--log", log)
    ran = run("train", tmp_path / "c.txt", *arguments)
    assert ran.status == 0
    assert [text_of(m["token"]) for m in read_log(log)] == made
    assert ("no pair is left" if min_count == 1 else f"counts less than {min_count}") in ran.err


def test_no_pair_at_all_is_no_error(run, tmp_path):
    (tmp_path / "c.txt").write_text("a b c")
    ran = run("train", tmp_path / "c.txt", "--pretokenizer", "whitespace", "--log", tmp_path / "log")
    assert ran.status == 0
    assert "no pair is left" in ran.err
    assert "White space between words was dropped" in ran.err
    assert (tmp_path / "log").read_bytes() == b""
    assert ran.out == ""


def test_vocab_size_counts_base_unknown_and_special_tokens(run, table, tmp_path):
    out = tmp_path / "t.json"
    ran = run(
        "train", table, "--base", "characters", "--unknown", "<unk>", "--special", "<s>", "--special", "</s>",
        "--vocab-size", 17, "-o", out,
    )  # fmt: skip
    assert ran.status == 0
    loaded = load_tokenizer(out)
    assert (loaded.n_merges, loaded.vocab_size) == (4, 17)
    assert loaded.special_ids == {"<unk>": 14, "<s>": 15, "</s>": 16}
    assert run("train", table, "--base", "characters", "--vocab-size", 9, "--log", tmp_path / "x").status == 2


def test_standard_input_folders_and_normalization(run, tmp_path):
    log = tmp_path / "log.jsonl"
    assert run("train", "-", "--normalize", "lowercase", "--log", log, stdin=b"AB ab Ab").status == 0
    assert read_log(log)[0]["count"] == 3
    (tmp_path / "folder").mkdir()
    for name in ("a", "b"):
        (tmp_path / "folder" / f"{name}.txt").write_text("xy\n")
    assert run("train", tmp_path / "folder", "--documents", "line", "--log", log).status == 0
    assert read_log(log)[0]["count"] == 2


def test_written_files_keep_their_mode(run, table, tmp_path):
    log = tmp_path / "log.jsonl"
    log.touch(0o600)
    log.chmod(0o640)
    assert run("train", table, "--log", log, "--threads", 2).status == 0
    assert stat.S_IMODE(log.stat().st_mode) == 0o640


def quick_recount(counts, merges):
    """Yield (pair, its count) of the textbook rule: recount only the words that hold the pair."""
    words = [[bytes([byte]) for byte in word.encode()] for word in counts]
    weights = list(counts.values())
    pairs, where = Counter(), defaultdict(set)
    for row, word in enumerate(words):
        for pair in pairwise(word):
            pairs[pair] += weights[row]
            where[pair].add(row)
    for _ in range(merges):
        highest = max(pairs.values())
        best = min(pair for pair, count in pairs.items() if count == highest)
        yield best, highest, sum(count == highest for count in pairs.values())
        for row in where.pop(best):
            word = words[row]
            for pair in pairwise(word):
                pairs[pair] -= weights[row]
            words[row] = word = list(reference.merge_word(tuple(word), best))
            for pair in pairwise(word):
                pairs[pair] += weights[row]
                where[pair].add(row)
        pairs = Counter({pair: count for pair, count in pairs.items() if count})


def test_a_novel_agrees_with_recounts_and_the_library(run, shared, tmp_path):
    tokenizers = pytest.importorskip("tokenizers")
    source = shared / "data" / "text" / "en_alice29.txt"
    out, log = tmp_path / "t.json", tmp_path / "m.jsonl"
    ran = run("train", source, "--pretokenizer", "gpt2", "--merges", 3000, "-o", out, "--log", log)
    assert ran.status == 0
    learned = [(bytes.fromhex(m["left"]), bytes.fromhex(m["right"])) for m in read_log(log)]
    counts = Counter(PRETOKENIZERS["gpt2"].split(source.read_bytes().decode()))

    words = Counter()
    for word, count in counts.items():
        words[tuple(chr(byte) for byte in word.encode())] += count
    expected = reference.train(words, 60)
    assert [((a.encode("latin-1"), b.encode("latin-1"))) for (a, b), _ in expected] == learned[:60]

    for merge, pair, (best, count, ties) in zip(read_log(log), learned, quick_recount(counts, 3000), strict=True):
        assert (pair, merge["count"], merge["ties"]) == (best, count, ties)

    library, ours = tokenizers.Tokenizer.from_file(str(out)), load_tokenizer(out)
    for path in sorted((shared / "data" / "text").rglob("*.*")):
        text = path.read_bytes().decode("utf-8", "replace")
        assert library.encode(text).ids == ours.encode(text).ids, path.name


UNSAVABLE = {
    "a marker of its own": ("--end-of-word separate -o TMP/t.json", "glued"),
    "a special token like a byte": ("--special é -o TMP/t.json", "ordinary token"),
    "a special token like a marked byte": ("--end-of-word glued --special x</w> -o TMP/t.json", "ordinary token"),
    "a special token like the marker": ("--end-of-word glued --special </w> -o TMP/t.json", "marker as well"),
    "an unknown token like the marker": (
        "--base characters --end-of-word glued --unknown </w> -o TMP/t.json",
        "marker",
    ),
    "a pattern that cuts otherwise": (r"--pattern \X -o TMP/t.json", "differently"),
    "no folder": ("-o TMP/absent/t.json", "there is no folder"),
    "a folder": ("-o TMP/folder.json", "Is a directory"),
    "no folder for the log": ("--log TMP/absent/log", "there is no folder"),
    "a folder as log": ("-o TMP/t.json --log TMP/folder.json", "Is a directory"),
    "below a file": ("-o TMP/words.tsv/t.json", "Not a directory"),
}


@pytest.mark.parametrize("name", UNSAVABLE)
def test_what_cannot_be_saved_is_said_before_training(run, table, tmp_path, monkeypatch, name):
    def count(*_):
        raise AssertionError("counted")

    monkeypatch.setattr("bpe_viz.engine.corpus.count_paths", count)
    (tmp_path / "folder.json").mkdir()
    options, said = UNSAVABLE[name]
    status, _, err = run("train", table, *options.replace("TMP", str(tmp_path)).split())
    assert (status, len(err.splitlines())) == (2, 1)
    assert said in err


def test_a_folder_that_may_not_be_written_is_said_before_training(tmp_path, monkeypatch):
    real = os.access
    # Root may write anywhere.
    monkeypatch.setattr(os, "access", lambda path, mode: os.fspath(path) != str(tmp_path) and real(path, mode))
    with pytest.raises(FormatError, match="Permission denied"):
        check_before_training(Options(), tmp_path / "t.json")


def test_the_log_is_written_even_if_the_tokenizer_cannot_be_saved(run, tmp_path):
    (tmp_path / "c.tsv").write_text("xya\t5\nxyb\t4\nx\t1\n")
    log, out = tmp_path / "log", tmp_path / "t.json"
    arguments = ("--base", "characters", "--end-of-word", "glued", "--marker", "y", "--log", log, "-o", out)
    status, _, err = run("train", tmp_path / "c.tsv", *arguments)
    assert status == 2
    assert "ends like the end-of-word marker" in err
    assert len(read_log(log)) == 3
    assert not out.exists()


@pytest.mark.parametrize(
    "rows", ["ab\t9223372036854775807\ncb\t1\n", "abcd\t4611686018427387904\n", "ab\t4000000000000000000\n" * 2]
)
def test_counts_beyond_what_is_kept_are_one_line(run, tmp_path, rows):
    (tmp_path / "c.tsv").write_text(rows)
    status, out, err = run("train", tmp_path / "c.tsv", "--log", tmp_path / "log")
    assert (status, out) == (2, "")
    assert "2**6" in err.splitlines()[-1]
    assert not (tmp_path / "log").exists()
