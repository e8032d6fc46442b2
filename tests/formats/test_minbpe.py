"""minbpe's model, against its algorithm as its source has it."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe_viz.engine.pretokenize import LINES, WHOLE_TEXT, pretokenizer_for
from bpe_viz.engine.tokenizer import Tokenizer
from bpe_viz.engine.types import CountingOptions, Options, Pair, TrainingOptions
from bpe_viz.errors import FormatError
from bpe_viz.formats import check_before_training, detect_format, load_tokenizer, save_tokenizer
from tests.formats.training import CORPORA, TEXTS, trained


class MinBpe:
    """What minbpe does, read from a file line by line. Source: karpathy/minbpe, minbpe/base.py and minbpe/regex.py."""

    def __init__(self, path: Path) -> None:
        lines = path.read_text(encoding="utf-8").split("\n")
        assert lines[0] == "minbpe v1"
        self.pattern = lines[1]
        n_special = int(lines[2])
        self.special = {}
        for line in lines[3 : 3 + n_special]:
            text, number = line.strip().split()
            self.special[text] = int(number)
        self.merges = {}
        for number, line in enumerate(filter(None, lines[3 + n_special :]), start=256):
            left, right = map(int, line.split())
            self.merges[left, right] = number

    def encode(self, text: str) -> list[int]:
        if not self.pattern:
            return self._encode_bytes(text.encode())
        ids: list[int] = []
        parts = [text]
        if self.special:
            parts = regex.split("(" + "|".join(map(regex.escape, self.special)) + ")", text)
        for part in parts:
            if part in self.special:
                ids.append(self.special[part])
            else:
                for chunk in regex.findall(self.pattern, part):
                    ids += self._encode_bytes(chunk.encode())
        return ids

    def _encode_bytes(self, chunk: bytes) -> list[int]:
        ids = list(chunk)
        while len(ids) >= 2:
            pair = min(pairwise(ids), key=lambda pair: self.merges.get(pair, float("inf")))
            if pair not in self.merges:
                break
            merged, i = [], 0
            while i < len(ids):
                if tuple(ids[i : i + 2]) == pair:
                    merged.append(self.merges[pair])
                    i += 2
                else:
                    merged.append(ids[i])
                    i += 1
            ids = merged
        return ids


def write(folder: Path, *lines: str) -> Path:
    path = folder / "x.model"
    path.write_bytes("".join(f"{line}\n" for line in lines).encode())
    return path


@pytest.mark.parametrize("name", ["basic", "regex"])
def test_its_own_models(name, shared):
    path = shared / "data" / "tok" / "minbpe" / f"{name}.model"
    assert detect_format(path).name == "minbpe"
    loaded, theirs = load_tokenizer(path), MinBpe(path)
    assert loaded.n_merges == 256
    for file in ("en_alice29.txt", "stress_blns.txt"):
        text = (shared / "data" / "text" / file).read_text(encoding="utf-8")[:6000]
        assert loaded.encode(text).ids == theirs.encode(text)
    if name == "regex":
        assert loaded.encode("a<|endoftext|>").ids == [97, 512]


@pytest.mark.parametrize("name", ["basic", "regex"])
def test_its_own_vocabulary(name, shared):
    folder = shared / "data" / "tok" / "minbpe"
    loaded = load_tokenizer(folder / f"{name}.model")
    shown = {}
    for line in (folder / f"{name}.vocab").read_text(encoding="utf-8").split("\n"):
        if found := regex.fullmatch(r"(?:\[.*\]\[.*\] -> )?\[(.*)\] ([0-9]+)", line):
            shown[int(found[2])] = found[1]
    for token_id, text in shown.items():
        content = loaded.token(token_id).content.decode(errors="replace")
        visible = "".join(f"\\u{ord(c):04x}" if regex.match(r"\p{C}", c) else c for c in content)
        assert visible == text, token_id
    assert len(shown) >= 512


def test_a_space_at_the_start_of_the_pattern_is_kept(shared, case):
    path = shared / "cases" / "files" / "minbpe_leading_space.model"
    expected = case("PT-06")["expected"]
    loaded = load_tokenizer(path)
    assert loaded.counting.pattern == expected["right"]
    assert pretokenizer_for(loaded.counting).split("aa bb") == expected['right_pieces_of "aa bb"']
    assert any("loses the space" in note for note in loaded.notes)


def test_the_pattern_of_the_file_is_used(shared, case):
    loaded = load_tokenizer(shared / "cases" / "files" / "minbpe_ok.model")
    given_case = case("IM-16")
    path_pattern = given_case["input"]["pattern"]
    assert loaded.counting.pattern == path_pattern
    assert any("goes on with GPT-4's pattern" in note for note in loaded.notes)


def test_the_case_of_loading(tmp_path, case):
    given_case = case("IM-16")
    counting = CountingOptions(pattern=given_case["input"]["pattern"])
    tokenizer = trained(given_case["input"]["train"], counting, TrainingOptions(merges=3, rule="first-seen"))
    save_tokenizer(tokenizer, tmp_path / "x.model")
    loaded = load_tokenizer(tmp_path / "x.model")
    expected = given_case["expected"]
    assert loaded.encode(given_case["input"]["encode"]).ids == expected["right_after_load"] == expected["before_save"]


@pytest.mark.parametrize(
    ("lines", "what"),
    [
        (["minbpe v2", "", "0"], "line 1 is not 'minbpe v1'"),
        (["minbpe v1"], "ends before its pattern"),
        (["minbpe v1", "", "x"], "line 3 is not the number of special tokens"),
        (["minbpe v1", "", "-1"], "line 3 is not the number of special tokens"),
        (["minbpe v1", "", "9999999999"], "ends before its 9,999,999,999 special tokens"),
        (["minbpe v1", "", "1", "<s>"], "line 4 is not a special token and its id"),
        (["minbpe v1", "", "1", "<| |> 300"], "line 4 is not a special token and its id"),
        (["minbpe v1", "", "1", "<s> 5000000000"], "line 4 is not a special token and its id"),
        (["minbpe v1", "", "2", "<s> 300", "<s> 301"], "line 5 lists a special token again"),
        (["minbpe v1", "", "2", "<s> 300", "<s>a 301"], "line 5 lists a special token behind '<s>'"),
        (["minbpe v1", "", "1", "<s> 256", "97 98"], "'<s>' has the id 256 of another token"),
        (["minbpe v1", "", "0", "97 256"], "line 4 names the id 256, which no line before it makes"),
        (["minbpe v1", "", "0", "97 98", "97 98"], "line 5 lists the pair of line 4 again"),
        (["minbpe v1", "", "0", "97  98"], "line 4 is not a pair of ids"),
        (["minbpe v1", "", "0", "97 98 "], "line 4 is not a pair of ids"),
        (["minbpe v1", "", "0", "", "97 98"], "line 4 is not a pair of ids"),
        (["minbpe v1", "(", "0"], "line 2: The pattern '\\(' does not compile"),
        (["minbpe v1", "(a|b)", "0"], "has a group"),
    ],
)
def test_damage_is_named(lines, what, tmp_path):
    with pytest.raises(FormatError, match=what) as caught:
        load_tokenizer(write(tmp_path, *lines))
    assert caught.value.remedy
    assert "x.model" in caught.value.message


def test_a_special_token_of_a_whole_text_is_only_decoded(tmp_path):
    loaded = load_tokenizer(write(tmp_path, "minbpe v1", "", "1", "<s> 300", "97 98"))
    assert loaded.encode("ab<s>").ids == [256, *b"<s>"]
    assert loaded.decode([300, 256]).text == "<s>ab"


def test_two_special_tokens_with_one_id(tmp_path, case):
    # DE-05
    special = case("DE-05")["input"]["special_tokens"]
    lines = [f"{text} {number}" for text, number in special.items()]
    loaded = load_tokenizer(write(tmp_path, "minbpe v1", r"\S+", "2", *lines))
    (number,) = set(special.values())
    assert [loaded.encode(text).ids for text in special] == [[number], [number]]
    assert loaded.decode([number]).text == next(iter(special))
    assert any("share an id" in note for note in loaded.notes)


COUNTING = st.builds(
    CountingOptions,
    pretokenizer=st.sampled_from(["none", "whitespace", "gpt2", "cl100k"]),
    pattern=st.sampled_from([None, None, WHOLE_TEXT, r" ?\w+|\s", r"\S"]),
    special_tokens=st.lists(st.sampled_from(["<s>", "a", "<s>a", "é", "\t"]), max_size=3).map(tuple),
)


@settings(max_examples=300)
@given(corpus=CORPORA, counting=COUNTING, merges=st.integers(0, 25), texts=st.lists(TEXTS, min_size=1, max_size=4),
       position=st.integers(0, 25))  # fmt: skip
def test_what_is_saved_encodes_alike_here_and_there(tmp_path_factory, corpus, counting, merges, texts, position):
    tokenizer = trained(corpus, counting, TrainingOptions(merges=merges))
    tokenizer = tokenizer.at(min(position, tokenizer.n_merges))
    path = tmp_path_factory.mktemp("saved") / "x.model"
    try:
        save_tokenizer(tokenizer, path)
    except FormatError as error:
        assert "special token" in error.message  # noqa: PT017  # most examples are saved
        assert not path.exists()
        return
    loaded, theirs = load_tokenizer(path), MinBpe(path)
    for text in texts:
        expected = tokenizer.encode(text).ids
        assert loaded.encode(text).ids == expected
        assert theirs.encode(text) == expected
    assert (loaded.counting.pretokenizer, loaded.counting.pattern) in (
        (counting.pretokenizer, counting.pattern),
        ("gpt2", counting.pattern),
    )
    again = path.with_name("again.model")
    save_tokenizer(loaded, again)
    assert again.read_bytes() == path.read_bytes()


def test_what_a_model_cannot_hold_is_refused(tmp_path, case):
    path = tmp_path / "x.model"
    spaced = next(iter(case("EX-05")["input"]["special_tokens"]))
    for counting, training, what in (
        (CountingOptions(), {"base": "characters"}, "merges of bytes"),
        (CountingOptions(), {"end_of_word": "glued"}, "end-of-word"),
        (CountingOptions(normalize=("NFC",)), {}, "normalized"),
        (CountingOptions(special_tokens=(spaced,)), {}, "holds white space"),
        (CountingOptions(pattern="a\n|\\S"), {}, "holds a line end"),
        (CountingOptions(pattern=r"(\S)"), {}, "has a group"),
        (CountingOptions(), {"rule": "huggingface"}, "0 to 255 in order"),
    ):
        options = Options(counting, TrainingOptions(**training))
        with pytest.raises(FormatError, match=what):
            check_before_training(options, path)
        with pytest.raises(FormatError, match=what):
            save_tokenizer(trained("low lower", counting, options.training), path)
    base = trained("ab", CountingOptions(), TrainingOptions(merges=0)).base
    twice = Tokenizer.from_merges(base, [Pair(97, 98), Pair(97, 98)], CountingOptions())
    with pytest.raises(FormatError, match="join the same pair"):
        save_tokenizer(twice, path)
    assert not path.exists()


def test_ranks_of_gpt4_do_not_fit(cl100k, tmp_path):
    # EX-02: its bytes are in another order.
    with pytest.raises(FormatError, match="numbers the bytes 0 to 255 in order"):
        save_tokenizer(cl100k, tmp_path / "x.model")
    assert not list(tmp_path.iterdir())


def test_lines_are_a_named_pretokenizer():
    assert pretokenizer_for(CountingOptions("none")).pattern is None
    assert LINES == r"[^\n]*\n|[^\n]+"
