"""Mistral's tekken.json against what mistral-common does: tiktoken, and ids moved behind the special tokens."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_viz.engine.types import CountingOptions
from bpe_viz.errors import FormatError
from bpe_viz.formats import detect_format, draft_tokenizer, load_tokenizer
from tests.formats.ranks import BYTES, NEWER_TEXTS, NEWER_TOKENS, TOKENS, b64, in_tiktoken

pytest.importorskip("tiktoken")

# Source: Mistral Nemo, tekken.json.
PATTERN = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
    r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
N_SPECIAL = 25


def document(tokens: list[bytes], in_use: int | None = None, **config: object) -> dict:
    everything = [*BYTES, *tokens]
    in_use = len(everything) if in_use is None else in_use
    return {
        "config": {
            "pattern": PATTERN,
            "num_vocab_tokens": len(everything),
            "default_vocab_size": in_use + N_SPECIAL,
            "default_num_special_tokens": N_SPECIAL,
            "version": "v3",
            **config,
        },
        "vocab": [
            {"rank": rank, "token_bytes": b64(token), "token_str": None} for rank, token in enumerate(everything)
        ],
        "multimodal": {"image_patch_size": 16},
    }


def write(folder: Path, content: object) -> Path:
    path = folder / "tekken.json"
    path.write_text(json.dumps(content))
    return path


@given(TOKENS, st.text("ab cAé<s>\n", max_size=30), st.integers(0, 12))
def test_ids_are_ranks_behind_the_special_tokens(tmp_path_factory, tokens, text, left_out):
    in_use = 256 + max(0, len(tokens) - left_out)
    path = write(tmp_path_factory.mktemp("tekken"), document(tokens, in_use))
    assert detect_format(path).name == "tekken"
    loaded = load_tokenizer(path)
    library = in_tiktoken({token: rank for rank, token in enumerate([*BYTES, *tokens][:in_use])}, PATTERN)
    expected = [number + N_SPECIAL for number in library.encode(text)]
    assert loaded.encode(text).ids == expected
    assert loaded.decode(expected).text == text
    assert loaded.vocab_size == in_use + N_SPECIAL
    assert (in_use < 256 + len(tokens)) == any("in use, as its config says" in note for note in loaded.notes)


@pytest.mark.parametrize("text", NEWER_TEXTS)
def test_letters_are_those_of_the_unicode_that_tiktoken_knows(text, tmp_path):
    loaded = load_tokenizer(write(tmp_path, document(NEWER_TOKENS)))
    library = in_tiktoken({token: rank for rank, token in enumerate([*BYTES, *NEWER_TOKENS])}, PATTERN)
    assert loaded.encode_ids(text) == [number + N_SPECIAL for number in library.encode(text)]


def test_special_tokens_are_named_and_only_decoded(tmp_path):
    loaded = load_tokenizer(write(tmp_path, document([])))
    assert loaded.decode([0, 1, 2, 19, 20, 24]).text == "<unk><s></s>[TOOL_CONTENT]<SPECIAL_20><SPECIAL_24>"
    assert loaded.encode("<s>").ids == [N_SPECIAL + byte for byte in b"<s>"]
    assert any("never taken for a special token" in note for note in loaded.notes)
    content = document([], version="v11")
    content["special_tokens"] = [{"rank": 0, "token_str": "<unk>", "is_control": True}]
    loaded = load_tokenizer(write(tmp_path, content))
    assert loaded.decode([0, 1]).text == "<unk><SPECIAL_1>"


def test_it_is_saved_as_a_tokenizer_json_with_the_same_ids(tmp_path):
    tokenizers = pytest.importorskip("tokenizers")
    loaded = load_tokenizer(write(tmp_path, document([b"ab", b"abab", b" ab"])))
    draft = draft_tokenizer(loaded, tmp_path / "tokenizer.json")
    assert draft.losses == ()
    draft.write()
    library = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    for text in ("abab ab <s>[INST] x", "字 abababab\n\n"):
        assert library.encode(text).ids == loaded.encode(text).ids
    assert library.decode([0, 1, 24], skip_special_tokens=False) == "<unk><s><SPECIAL_24>"


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda d: d["config"].pop("pattern"), "missing required field `pattern`"),
        (lambda d: d["config"].update(default_vocab_size=9999), "default_vocab_size is 9,999 and vocab holds 257"),
        (lambda d: d["config"].update(default_vocab_size=3), "does not go with 25 special tokens"),
        (lambda d: d["config"].update(default_num_special_tokens=-1), "default_num_special_tokens"),
        (lambda d: d["config"].update(default_num_special_tokens=2**31 - 1), "does not go with"),
        (lambda d: d["config"].update(pattern="("), "config.pattern: The pattern"),
        (lambda d: d["vocab"][5].update(rank=6), r"vocab\[5\] has the rank 6"),
        (lambda d: d["vocab"][5].update(token_bytes="YQ=="), r"vocab\[5\] is b'a' instead of the byte 0x05"),
        (lambda d: d["vocab"][256].update(token_bytes="!"), r"vocab\[256\].token_bytes is '!'"),
        (lambda d: d["vocab"][256].update(token_bytes="é"), r"vocab\[256\].token_bytes is 'é'"),
        (
            lambda d: d["vocab"][256].update(token_bytes="YQ=="),
            r"vocab\[256\] lists the token b'a' of vocab\[97\] again",
        ),
        (lambda d: d.update(special_tokens=[{"rank": 1, "token_str": "x"}]), r"special_tokens\[0\] has the rank 1"),
        (lambda d: d.update(special_tokens=[{"rank": 0, "token_str": "<SPECIAL_1>"}]), "a text twice"),
    ],
)
def test_damage_is_named(change, what, tmp_path):
    content = document([b"ab"])
    change(content)
    path = write(tmp_path, content)
    with pytest.raises(FormatError, match=what) as caught:
        load_tokenizer(path)
    assert str(path) in caught.value.message
    assert caught.value.remedy


def test_it_has_its_own_pretokenizer(tmp_path):
    with pytest.raises(FormatError, match="has its own pretokenizer"):
        load_tokenizer(write(tmp_path, document([])), CountingOptions())
