"""What stands beside GPT-2's two files and changes what a text becomes: flags of tokens, and tokens around a text."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from bpe_viz.engine.tokenizer import Tokenizer
from bpe_viz.errors import FormatError
from bpe_viz.formats import load_tokenizer, save_tokenizer
from bpe_viz.formats._stand_ins import LETTER_OF_BYTE
from bpe_viz.names import locate
from bpe_viz.verification import verify

END = "<|endoftext|>"
VOCABULARY = {text: number for number, text in enumerate((*LETTER_OF_BYTE, "ab", "Ġab", END, "<s>", "</s>", "<m>"))}
AB, SPACE_AB, END_ID, BEGIN, CLOSE, MASK = range(256, 262)
SPACE = ord(" ")


def flagged(text: str, **flags: bool) -> dict[str, Any]:
    plain = dict.fromkeys(("lstrip", "rstrip", "normalized", "single_word"), False)
    return {"content": text, "special": True, **plain, **flags}


def opened(folder: Path, config: dict[str, Any], **beside: Any) -> Tokenizer:
    """Write the two files with a tokenizer_config.json, and open them."""
    (folder / "vocab.json").write_text(json.dumps(VOCABULARY))
    (folder / "merges.txt").write_text("#version: 0.2\na b\nĠ ab\n")
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "GPT2Tokenizer", **config}))
    for name, value in beside.items():
        (folder / f"{name}.json").write_text(json.dumps(value))
    return load_tokenizer(folder / "merges.txt")


def decoder(*tokens: dict[str, Any]) -> dict[str, Any]:
    return {"added_tokens_decoder": {str(VOCABULARY.get(token["content"], 262)): token for token in tokens}}


# The ids are those of transformers 5.24.
CASES = {
    "a token that the class names": ({}, f"ab{END}", [AB, END_ID]),
    "named otherwise": (dict.fromkeys(("bos_token", "eos_token", "unk_token"), "<s>"), END, list(END.encode())),
    "bos of the class": ({"add_bos_token": True}, "ab", [END_ID, AB]),
    "bos and eos of the file": (
        {"add_bos_token": True, "add_eos_token": True, "bos_token": "<s>", "eos_token": "</s>"},
        "ab ab",
        [BEGIN, AB, SPACE_AB, CLOSE],
    ),
    "no bos": ({"add_bos_token": True, "bos_token": None}, "ab", [AB]),
    "a space first": ({"add_prefix_space": True}, "ab ab", [SPACE_AB, SPACE_AB]),
    "white space on the left": (decoder(flagged("<m>", lstrip=True)), "ab  <m> ab", [AB, MASK, SPACE_AB]),
    "white space on the right": (decoder(flagged("<m>", rstrip=True)), "ab <m>  ab", [AB, SPACE, MASK, AB]),
    "single words": (decoder(flagged("<m>", single_word=True)), "a<m> <m>", [97, *b"<m>", SPACE, MASK]),
    "not in the vocabulary": (decoder(flagged("<x>", lstrip=True)), "ab <x>", [AB, 262]),
    "flags that a class forgets": (
        {"tokenizer_class": "Qwen2Tokenizer", "pad_token": "<m>", **decoder(flagged("<m>", rstrip=True))},
        "<m> ab",
        [MASK, SPACE_AB],
    ),
    "a space before every piece": (
        {"tokenizer_class": "Qwen2Tokenizer", "add_prefix_space": True},
        "ab,ab",
        [SPACE_AB, SPACE, ord(","), AB],
    ),
    "CodeGen": ({"tokenizer_class": "CodeGenTokenizerFast", "add_eos_token": True}, "ab", [AB, END_ID]),
}


@pytest.mark.parametrize(("config", "text", "ids"), CASES.values(), ids=CASES)
def test_a_text_becomes_what_the_library_makes_of_it(config, text, ids, tmp_path):
    loaded = opened(tmp_path, config)
    assert loaded.encode(text).ids == ids
    assert pickle.loads(pickle.dumps(loaded)).encode(text).ids == ids
    assert verify(locate(str(tmp_path / "merges.txt")), loaded.lay_out(text)).is_same
    save_tokenizer(loaded, tmp_path / "tokenizer.json")
    assert load_tokenizer(tmp_path / "tokenizer.json").encode(text).ids == ids


@pytest.mark.parametrize("name", ["GPT2Tokenizer", "CodeGenTokenizer", "Qwen2TokenizerFast"])
def test_lower_case_is_not_made_where_the_class_does_not_heed_it(name, tmp_path):
    """Asked of transformers 5.24 and 4.57."""
    loaded = opened(tmp_path, {"tokenizer_class": name, "do_lower_case": True})
    assert loaded.encode("ABab").ids == [65, 66, AB]
    assert any("says do_lower_case, which a" in note for note in loaded.notes)


def test_lower_case_is_refused_where_it_is_not_known_what_the_class_does(tmp_path):
    with pytest.raises(FormatError, match="do_lower_case is true, and bpe-viz does not know what a FSMTTokenizer does"):
        opened(tmp_path, {"tokenizer_class": "FSMTTokenizer", "do_lower_case": True})


@pytest.mark.parametrize(("text", "ids"), [("e\u0301\u0898\u0300", None), ("e\u0301b", [*"é".encode(), 98])])
def test_text_is_composed_by_the_librarys_unicode(text, ids, tmp_path):
    loaded = opened(tmp_path, {"tokenizer_class": "Qwen2Tokenizer"})
    library = pytest.importorskip("tokenizers").normalizers.NFC()
    expected = list(library.normalize_str(text).encode())
    # The vocabulary numbers bytes by themselves.
    assert loaded.encode_ids(text) == expected
    assert loaded.encode(text).ids == expected
    assert ids in (None, expected)


def test_a_token_named_in_the_map_has_its_flags(tmp_path):
    mask = flagged("<m>", lstrip=True, normalized=True)
    del mask["special"]
    loaded = opened(tmp_path, {}, special_tokens_map={"mask_token": mask})
    assert loaded.encode("ab <m> ab").ids == [AB, MASK, SPACE_AB]


def test_tokens_around_a_text_may_be_left_out_and_merges_are_stepped(tmp_path):
    loaded = opened(tmp_path, {"add_bos_token": True})
    assert loaded.lay_out("ab ab", "allow", around=False).at(2).ids.tolist() == [AB, SPACE_AB]
    assert loaded.n_merges == 2
    assert loaded.at(1).encode("ab ab").ids == [END_ID, AB, SPACE, AB]
    assert any("tokenizer_config.json" in note for note in loaded.notes)


def test_other_formats_refuse_what_they_cannot_say(tmp_path):
    loaded = opened(tmp_path, {"add_bos_token": True})
    (tmp_path / "other").mkdir()
    for name in ("x.tiktoken", "x.model", "merges.txt"):
        with pytest.raises(FormatError, match="would encode otherwise"):
            save_tokenizer(loaded, tmp_path / "other" / name)


def test_a_token_that_is_put_around_a_text_must_have_an_id(tmp_path):
    with pytest.raises(FormatError, match="'<bos>' is named, but neither"):
        opened(tmp_path, {"add_bos_token": True, "bos_token": "<bos>"})
