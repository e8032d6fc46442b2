"""Files of ranks: read exactly or refused with the line; written only where nothing changes."""

from __future__ import annotations

import binascii
import gzip
import pickle
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_viz.engine.compiled import PLAIN
from bpe_viz.engine.corpus import count_text
from bpe_viz.engine.encoder import Encoder
from bpe_viz.engine.pretokenize import PRETOKENIZERS
from bpe_viz.engine.tokenizer import BYTES, Tokenizer
from bpe_viz.engine.trainer import Trainer
from bpe_viz.engine.types import CountingOptions, Options, Pair, TrainingOptions
from bpe_viz.errors import FormatError
from bpe_viz.formats import (
    PretokenizerNeeded,
    check_before_training,
    detect_format,
    draft_tokenizer,
    load_tokenizer,
    save_tokenizer,
)
from tests.formats.ranks import NEWER_TEXTS, NEWER_TOKENS, in_tiktoken

GIVEN = CountingOptions("gpt2")


def written(tokens, order=None) -> bytes:
    ranks = {content: rank for rank, content in enumerate((*BYTES, *tokens))}
    lines = [binascii.b2a_base64(content, newline=False) + b" %d\n" % rank for content, rank in ranks.items()]
    return b"".join(lines)


def test_a_known_file_gets_pattern_and_special_tokens_and_says_so(cl100k, case):
    assert (cl100k.name, cl100k.counting.pretokenizer, cl100k.n_merges) == ("cl100k_base", "cl100k", 100_000)
    assert "the ranks of cl100k_base: its pattern and special tokens are used" in cl100k.notes[0]
    assert cl100k.special_ids["<|endofprompt|>"] == 100_276
    assert cl100k.token(0).content == b"!"  # base bytes in any order
    given_case = case("DE-04")
    decoding = cl100k.decode(given_case["input"]["ids"])
    assert decoding.unknown == tuple(given_case["input"]["ids"])


def test_published_ranks_lose_nothing_that_their_hash_does_not_tell(cl100k, tmp_path):
    draft = draft_tokenizer(cl100k, tmp_path / "x.tiktoken")
    assert draft.losses == ()
    draft.write()
    again = load_tokenizer(tmp_path / "x.tiktoken")
    assert (again.counting, again.special_ids) == (cl100k.counting, cl100k.special_ids)
    at_first = draft_tokenizer(cl100k.at(1000), tmp_path / "y.tiktoken")
    assert [loss.partition(":")[0] for loss in at_first.losses] == [
        "Ranks do not hold how text is cut",
        "Ranks do not hold special tokens",
    ]


def test_ids_that_are_not_in_use_are_said_where_there_are_some(cl100k, tmp_path):
    at_first = draft_tokenizer(cl100k.at(1000), tmp_path / "y.json")
    assert at_first.notes[-1].endswith("are saved; ids keep their places, so some are not in use.")
    (tmp_path / "x.tiktoken").write_bytes(written([b"ab", b"abab"]))
    plain = load_tokenizer(tmp_path / "x.tiktoken", GIVEN).at(1)
    assert draft_tokenizer(plain, tmp_path / "y.json").notes == ("Only the first 1 of 2 merges are saved.",)


def test_a_pattern_is_told_as_it_is_typed_in_a_shell(tmp_path):
    pattern = r"'s| ?\w+|\s"
    (tmp_path / "x.tiktoken").write_bytes(written([b"ab"]))
    tokenizer = load_tokenizer(tmp_path / "x.tiktoken", CountingOptions(pattern=pattern))
    for name in ("y.tiktoken", "merges.txt"):
        said = draft_tokenizer(tokenizer, tmp_path / name).losses[0]
        typed = said.partition("give ")[2].partition(" when opening")[0]
        assert shlex.split(typed) == ["--pattern", pattern]


def test_cases_of_cl100k(cl100k, case):
    for text, expected in case("EN-18")["expected"].items():
        assert cl100k.encode(text).ids == expected["ids"]["cl100k"]
        assert [t.content.hex() for t in cl100k.encode(text).tokens] == expected["token_bytes_hex"]["cl100k"]
    assert cl100k.encode(case("EN-21")["input"]["text"]).ids == case("EN-21")["expected"]["ids"]["cl100k"]
    assert cl100k.encode(case("PT-14")["input"]["text"]).ids == case("PT-14")["expected"]["ids"]["cl100k"]
    assert cl100k.encode(case("PT-01")["input"]["text"]).ids == case("PT-01")["expected"]["ids_both"]
    assert cl100k.encode("\ud83d").ids == case("EN-13")["expected"]["tiktoken"]["lone"]


def test_every_token_of_cl100k_comes_back_from_its_own_text(cl100k):
    # EN-20: twelve of o200k do not, none of cl100k.
    for token in cl100k.vocabulary():
        if token.kind == "merge":
            assert cl100k.encode_pretoken(token.content) == [token.id]


def test_a_pretokenizer_is_needed_and_not_guessed(shared, tmp_path):
    path = shared / "cases" / "files" / "ranks_three_way.tiktoken"
    with pytest.raises(PretokenizerNeeded, match=r"holds ranks and no pattern.*--pretokenizer or --pattern"):
        load_tokenizer(path)
    loaded = load_tokenizer(path, GIVEN)
    assert loaded.encode("zxyxy").ids == [122, 120, 256, 121]
    with pytest.raises(FormatError, match="has its own pretokenizer"):
        load_tokenizer(shared / "data" / "tok" / "cl100k_base.tiktoken.gz", GIVEN)


def test_the_name_does_not_matter_nor_the_line_ends(tmp_path):
    for name, data in {
        "tokenizer.model": written([b"ab"]),
        "x.tiktoken": b"\xef\xbb\xbf" + written([b"ab"]).replace(b"\n", b"\r\n"),
        "y.gz": gzip.compress(written([b"ab"])),
        "z.tiktoken": b"\n" + written([b"ab"]).rstrip(b"\n"),
    }.items():
        path = tmp_path / name
        path.write_bytes(data)
        assert detect_format(path).name == "tiktoken", name
        assert load_tokenizer(path, GIVEN).encode("xab").ids == [ord("x"), 256]


def test_an_empty_token_is_said_and_no_text_becomes_it(tmp_path):
    """As in Whisper's multilingual.tiktoken, whose last line is `= 50256`."""
    pytest.importorskip("tiktoken")
    path = tmp_path / "x.tiktoken"
    path.write_bytes(written([b"ab"]) + b"= 257\n")
    tokenizer = load_tokenizer(path, GIVEN)
    assert "The token of rank 257 is empty" in " ".join(tokenizer.notes)
    ranks = {token: rank for rank, token in enumerate((*BYTES, b"ab", b""))}
    for text in ("", "abba", "= ="):
        assert tokenizer.encode_ids(text) == in_tiktoken(ranks, PRETOKENIZERS["gpt2"].pattern).encode(text)
    assert tokenizer.decode([256, 257]).unknown == (257,)
    path.write_bytes(written([b"ab"]) + b"= 257\n= 258\n")
    with pytest.raises(FormatError, match="line 259 lists a token again that has rank 257"):
        load_tokenizer(path, GIVEN)


@pytest.mark.parametrize("name", ["gpt2", "cl100k", "o200k", "llama3", "qwen2"])
@pytest.mark.parametrize("text", NEWER_TEXTS)
def test_letters_are_those_of_the_unicode_that_tiktoken_knows(name, text, tmp_path):
    pytest.importorskip("tiktoken")
    path = tmp_path / "x.tiktoken"
    path.write_bytes(written(NEWER_TOKENS))
    tokenizer = load_tokenizer(path, CountingOptions(name))
    pattern = PRETOKENIZERS[name].pattern.replace(r"\Z", "$")
    ranks = {token: rank for rank, token in enumerate((*BYTES, *NEWER_TOKENS))}
    expected = in_tiktoken(ranks, pattern).encode(text)
    assert tokenizer.encode_ids(text) == expected
    laid_out = tokenizer.lay_out(text).at(tokenizer.position)
    assert laid_out.ids.tolist() == expected
    assert laid_out.end[-1] == len(text)
    assert pickle.loads(pickle.dumps(tokenizer)).encode_ids(text) == expected
    for kernel_set in (None, PLAIN):
        for allow_special in (True, False):
            assert Encoder(tokenizer, kernel_set).encode_bytes(text.encode(), allow_special).tolist() == expected


@pytest.mark.parametrize(
    "data", [b"low 5\nlower 2\n", b"abcd 5\nefgh 3\nijkl 2\n", b"YQ== 0\n", b'{"a": 1}', b"\x1f\x8b\0"]
)
def test_what_only_looks_alike_is_not_detected(data, tmp_path):
    path = tmp_path / "file.txt"
    path.write_bytes(data)
    assert detect_format(path) is None


@pytest.mark.parametrize(
    ("line", "what"),
    [
        (b"YWI 300", "token in base64"),
        (b"YWI=", "has no rank"),
        (b" 5", "token in base64"),
        (b"YWI= 1_0", "has no rank"),
        (b"YWI= -1", "has no rank"),
        (b"YWI=  300", "has no rank"),
        (b"YWI= 300 ", "has no rank"),
        (b"YWI=\t300", "token in base64"),
        (b"YWJ= 300", "token in base64"),
        (b"YQ== 300", "lists a token again that has rank 97"),
        (b"YWI= 97", r"gives a rank again that the token b'a' has"),
        (b"YWI= 99999999999", "rank above"),
        (b"YWI= " + b"9" * 10_000, "rank above"),
        (b"!!! 0", "token in base64"),
    ],
)
def test_a_damaged_line_is_named(line, what, tmp_path):
    path = tmp_path / "x.tiktoken"
    path.write_bytes(written([]) + line + b"\n")
    with pytest.raises(FormatError, match=rf"x\.tiktoken, line 257.*{what}") as caught:
        load_tokenizer(path, GIVEN)
    assert caught.value.remedy
    assert len(str(caught.value)) < 400


def test_the_cases_of_damage(shared):
    for name, number in (("ranks_bad_base64", 1), ("ranks_dup_token", 2)):
        with pytest.raises(FormatError, match=f"line {number}"):
            load_tokenizer(shared / "cases" / "files" / f"{name}.tiktoken", GIVEN)


@given(st.data())
def test_every_damage_is_refused_or_read_as_it_stands(tmp_path_factory, data):
    whole = written([b"ab", b"bc", b"abc", b"\xff\xfe"])
    at = data.draw(st.integers(0, len(whole)))
    length = data.draw(st.integers(0, 12))
    damaged = whole[:at] + data.draw(st.binary(max_size=6)) + whole[at + length :]
    path = tmp_path_factory.mktemp("damaged") / "x.tiktoken"
    path.write_bytes(damaged)
    try:
        loaded = load_tokenizer(path, GIVEN)
    except FormatError as error:
        assert str(path) in error.message  # noqa: PT017  # most examples raise
        return
    expected = {}
    for line in damaged.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        if line.strip(b"\r"):
            token, rank = line.removesuffix(b"\r").split(b" ")
            expected[binascii.a2b_base64(token)] = int(rank)
    assert {token.content: token.id for token in loaded.vocabulary()} == expected


@given(st.text("ab c", max_size=30), st.text("ab cd", max_size=30), st.integers(0, 20))
def test_what_is_saved_encodes_alike_at_every_position(tmp_path_factory, corpus, text, position):
    counting = CountingOptions(special_tokens=("<s>",))
    trainer = Trainer(count_text(corpus + "x", counting).pretokens, TrainingOptions(merges=20), 1)
    trainer.train_to()
    tokenizer = Tokenizer.from_timeline(trainer.timeline, counting)
    tokenizer = tokenizer.at(min(position, tokenizer.n_merges))
    path = tmp_path_factory.mktemp("saved") / "x.tiktoken"
    draft = draft_tokenizer(tokenizer, path)
    assert "--pretokenizer gpt2" in draft.losses[0]
    assert "<s>" in draft.losses[1]
    draft.write()
    loaded = load_tokenizer(path, GIVEN)
    for now in range(tokenizer.position + 1):
        assert loaded.at(now).encode(text).ids == tokenizer.at(now).encode(text).ids
    again = path.with_name("again.tiktoken")
    save_tokenizer(loaded, again)
    assert again.read_bytes() == path.read_bytes()


def test_what_would_change_is_not_saved(tmp_path):
    path = tmp_path / "x.tiktoken"

    def trained(**options):
        counting = CountingOptions(normalize=options.pop("normalize", ()))
        trainer = Trainer(count_text("low lower", counting).pretokens, TrainingOptions(**options))
        trainer.train_to()
        return Tokenizer.from_timeline(trainer.timeline, counting)

    for options, what in (
        ({"base": "characters"}, "tokens of bytes"),
        ({"end_of_word": "glued"}, "end-of-word"),
        ({"normalize": ("NFC",)}, "normalized"),
    ):
        counting = CountingOptions(normalize=options.get("normalize", ()))
        training = TrainingOptions(**{name: value for name, value in options.items() if name != "normalize"})
        with pytest.raises(FormatError, match=what):
            check_before_training(Options(counting, training), path)
        with pytest.raises(FormatError, match=what):
            save_tokenizer(trained(**options), path)
    check_before_training(Options(), path)
    base = trained(merges=0).base
    a, b, c = b"abc"
    # "abc" is b+c joined to a, and merging its bytes takes a+b first.
    odd = Tokenizer.from_merges(base, [Pair(a, b), Pair(b, c), Pair(a, 257)], CountingOptions())
    with pytest.raises(FormatError, match="not what its bytes merge to"):
        save_tokenizer(odd, path)
    twice = Tokenizer.from_merges(base, [Pair(a, b), Pair(b, c), Pair(256, c), Pair(a, 257)], CountingOptions())
    with pytest.raises(FormatError, match="the same token"):
        save_tokenizer(twice, path)
    assert not path.exists()
