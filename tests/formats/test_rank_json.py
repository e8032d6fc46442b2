"""Ranks in JSON against tiktoken, which the npm packages are compiled from."""

from __future__ import annotations

import gzip
import hashlib
import json
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_viz.engine import encoder
from bpe_viz.engine.encoder import Encoder
from bpe_viz.engine.types import CountingOptions
from bpe_viz.errors import FormatError, OptionError
from bpe_viz.formats import detect_format, format_to_save, load_tokenizer, rank_json
from tests.formats.ranks import BYTES, NEWER_TEXTS, NEWER_TOKENS, TOKENS, b64, in_tiktoken

pytest.importorskip("tiktoken")

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


def document(tokens: list[bytes], **changes: object) -> dict[str, object]:
    """Return a file in the notation with offsets; special tokens first, as in Claude's."""
    return {
        "explicit_n_vocab": 2 + 256 + len(tokens),
        "pat_str": GPT2,
        "special_tokens": {"<s>": 0, "<t>": 1},
        "bpe_ranks": "! 2 " + " ".join(map(b64, [*BYTES, *tokens])),
        **changes,
    }


def write(folder: Path, content: object) -> Path:
    path = folder / "x.json"
    path.write_text(json.dumps(content))
    return path


@pytest.fixture(scope="module")
def claude(shared):
    return load_tokenizer(shared / "data" / "tok" / "claude-old-npm.json.gz")


@pytest.fixture(scope="module")
def claude_in_tiktoken(shared):
    content = json.loads(gzip.decompress((shared / "data" / "tok" / "claude-old-npm.json.gz").read_bytes()))
    _, offset, *tokens = content["bpe_ranks"].split(" ")
    import base64

    ranks = {base64.b64decode(token): int(offset) + number for number, token in enumerate(tokens)}
    return in_tiktoken(ranks, content["pat_str"], content["special_tokens"])


def test_an_empty_token_in_lines_of_ranks_is_said(tmp_path):
    lines = [f"{b64(byte)} {number}" for number, byte in enumerate(BYTES)]
    content = document([], bpe_ranks="\n".join([*lines, "= 256"]), special_tokens={}, explicit_n_vocab=257)
    (note,) = load_tokenizer(write(tmp_path, content)).notes
    assert "The token of rank 256 is empty" in note


@pytest.mark.parametrize("text", [*NEWER_TEXTS, "<s>".join(NEWER_TEXTS)])
def test_letters_are_those_of_the_unicode_that_tiktoken_knows(text, tmp_path):
    loaded = load_tokenizer(write(tmp_path, document(NEWER_TOKENS)))
    ranks = {token: 2 + number for number, token in enumerate([*BYTES, *NEWER_TOKENS])}
    library = in_tiktoken(ranks, GPT2, {"<s>": 0, "<t>": 1})
    assert loaded.encode_ids(text) == library.encode(text, allowed_special="all")
    assert loaded.encode_ids(text, "text") == library.encode(text, disallowed_special=())


def test_a_letter_that_normalizing_makes_is_one_of_theirs(tmp_path, monkeypatch):
    """U+02E4 becomes ʕ by NFKC, which is a small letter there and none of either case here."""
    content = document(NEWER_TOKENS, pat_str=r"\p{Ll}+|[\p{Lo}\p{Lu}]+")
    key = hashlib.sha256(content["bpe_ranks"].encode()).hexdigest()
    monkeypatch.setitem(rank_json.NORMALIZATIONS, key, ("NFKC",))
    loaded = load_tokenizer(write(tmp_path, content))
    ranks = {token: 2 + n for n, token in enumerate([*BYTES, *NEWER_TOKENS])}
    assert loaded.encode_ids("\u02e4B") == in_tiktoken(ranks, content["pat_str"]).encode("ʕB")


def test_claude_gives_the_ids_of_its_package(claude, claude_in_tiktoken, shared):
    assert claude.special_ids == {"<EOT>": 0, "<META>": 1, "<META_START>": 2, "<META_END>": 3, "<SOS>": 4}
    assert claude.vocab_size == 65_000
    texts = ["ﬁne ½ ＡＢ　Å<EOT>x", "", "Hello, how are you?  ①", "a<SOS><META_START>\u0301e\u0301"]
    for name in ("en_alice29.txt", "ja_wagahai_120k.txt", "zh_tang300.txt", "code_argparse.py"):
        texts.append((shared / "data" / "text" / name).read_text(encoding="utf-8"))
    for text in texts:
        expected = claude_in_tiktoken.encode(unicodedata.normalize("NFKC", text), allowed_special="all")
        assert claude.encode(text).ids == expected
        assert Encoder(claude).encode_bytes(text.encode()).tolist() == expected
    assert any("normalizes text first: NFKC" in note for note in claude.notes)
    assert any("explicit_n_vocab is 64,739, but there are 65,000" in note for note in claude.notes)


@pytest.mark.parametrize("text", ["＜EOT＞", "<EOT>\u0338", "x ＜SOS> y", "ﬁ<EOT>\U0001fc00<E", "<EOT>a\u0323\u0301"])
def test_special_tokens_are_looked_for_in_normalized_text(claude, claude_in_tiktoken, text):
    normalized = unicodedata.normalize("NFKC", text)
    expected = claude_in_tiktoken.encode(normalized, allowed_special="all")
    encoded = claude.lay_out(text)
    assert claude.encode_ids(text) == encoded.at(claude.position).ids.tolist() == expected
    assert Encoder(claude).encode_bytes(text.encode()).tolist() == expected
    assert encoded.dropped == 0
    assert claude.encode(text, "text").ids == claude_in_tiktoken.encode(normalized, disallowed_special=())


def test_tokens_keep_their_places_where_normalizing_makes_a_special_token(claude):
    tokens = claude.encode("x ＜SOS> y").tokens
    assert [(token.start, token.end) for token in tokens] == [(0, 1), (1, 2), (2, 7), (7, 9)]
    with pytest.raises(OptionError, match=r"holds the special token '<SOS>' at character 3"):
        claude.encode("x ＜SOS> y", "error")


def test_letters_newer_than_pythons_normalization_are_told(claude, monkeypatch):
    text = "a\u1c89"
    if unicodedata.category("\u1c89") == "Cn":  # of Unicode 16
        assert any("leaves newer characters as they are" in note for note in claude.lay_out(text).notes)
    monkeypatch.setattr(unicodedata, "category", lambda one: "Cn" if one == "\u1c89" else "Ll")
    (note,) = claude.lay_out(text).notes
    assert f"Unicode {unicodedata.unidata_version} and leaves newer characters as they are: 1 of this text" in note
    assert claude.lay_out("a\u0561").notes == ()


def test_no_piece_hides_a_special_token_that_normalizing_makes(tmp_path, monkeypatch):
    monkeypatch.setattr(encoder, "PIECE_BYTES", 4)
    content = document([], special_tokens={"<a b>": 0})
    key = hashlib.sha256(content["bpe_ranks"].encode()).hexdigest()
    monkeypatch.setitem(rank_json.NORMALIZATIONS, key, ("NFKC",))
    loaded = load_tokenizer(write(tmp_path, content))
    ids = [2 + ord("x"), 2 + ord(" "), 0, 2 + ord(" "), 2 + ord("y")]
    for text in ("x <a b> y", "x ＜a b＞ y"):
        assert Encoder(loaded).encode_bytes(text.encode()).tolist() == loaded.encode(text).ids == ids
    assert Encoder(loaded).encode_bytes(b"").tolist() == []


@given(TOKENS, st.text("ab c<s>", max_size=30))
def test_both_notations_give_the_ids_of_tiktoken(tmp_path_factory, tokens, text):
    folder = tmp_path_factory.mktemp("ranks")
    ranks = {token: rank for rank, token in enumerate([*BYTES, *tokens], start=2)}
    library = in_tiktoken(ranks, GPT2, {"<s>": 0, "<t>": 1})
    lines = "\n".join(f"{b64(token)} {rank}" for token, rank in ranks.items())
    for content in (document(tokens), document(tokens, bpe_ranks=lines + "\n")):
        path = write(folder, content)
        assert detect_format(path).name == "rank-json"
        loaded = load_tokenizer(path)
        assert loaded.notes == ()
        assert loaded.counting.pretokenizer == "gpt2"
        assert loaded.counting.pattern is None
        assert loaded.encode(text).ids == library.encode(text, allowed_special="all")


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"pat_str": 5}, r"Expected `str`, got `int` - at `\$\.pat_str`"),
        ({"special_tokens": {"<s>": -1}}, r"special_tokens"),
        ({"special_tokens": {"<s>": 5}}, "gives '<s>' the id 5, which the token"),
        ({"special_tokens": {"": 0}}, "an empty text"),
        ({"bpe_ranks": "! 9 YQ=="}, "255 of the 256 bytes are no token"),
        ({"bpe_ranks": "! 9 YQ== YQ=="}, r"bpe_ranks, line 1 lists the token b'a' again, which has rank 9"),
        ({"bpe_ranks": "! 0 YQ=="[:-1]}, "holds 'YQ=', which is no token in base64"),
        ({"bpe_ranks": "! x YQ=="}, "does not begin with ! and an offset"),
        ({"bpe_ranks": "! 0 YQ==\n! 0 Yg=="}, "line 2 gives b'b' the rank 0, which is taken"),
        ({"bpe_ranks": "! 2147483647 YQ== Yg=="}, "taken or too large"),
        ({"bpe_ranks": "YQ== 0\nYQ== 1"}, "bpe_ranks, line 2 lists a token again"),
        ({"pat_str": "("}, "pat_str: The pattern"),
        ({"pat_str": r"[a&&b]"}, "holds '&&', which may mean something else here than to tiktoken"),
    ],
)
def test_damage_is_named(changes, what, tmp_path):
    path = write(tmp_path, document([], **changes))
    with pytest.raises(FormatError, match=what) as caught:
        load_tokenizer(path)
    assert str(path) in caught.value.message
    assert caught.value.remedy


def test_it_has_its_own_pretokenizer_and_is_not_saved(tmp_path):
    with pytest.raises(FormatError, match="has its own pretokenizer"):
        load_tokenizer(write(tmp_path, document([])), CountingOptions())
    with pytest.raises(FormatError, match="no format named 'rank-json' that bpe-viz can save"):
        format_to_save(tmp_path / "y.json", "rank-json")
