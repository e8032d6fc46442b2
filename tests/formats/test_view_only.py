"""Models of a tokenizer.json that are not BPE: their tokens are those of the library, and no merges are shown."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bpe_viz.engine.explain import explain
from bpe_viz.errors import FormatError, OptionError
from bpe_viz.formats import load_tokenizer, save_tokenizer
from tests.formats.library_oracle import check_alike, library_of
from tests.formats.test_tokenizer_json_steps import BYTE_LEVEL, METASPACE, TEXTS

BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
WORDS = ["[UNK]", "a", "b", "##b", "##a", "ab", "▁a", "▁", "é", "12", ",", "Ġa"]
MODELS = {
    "WordPiece": {
        "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 6,
        "vocab": {text: 2 * number for number, text in enumerate(WORDS)},
    },
    "WordLevel": {"type": "WordLevel", "unk_token": "[UNK]", "vocab": {text: n for n, text in enumerate(WORDS)}},
    "Unigram": {
        "type": "Unigram", "unk_id": 0, "byte_fallback": False,
        "vocab": [[text, -1.0 - len(text) / 7] for text in WORDS],
    },
    "Unigram of bytes": {
        "type": "Unigram", "unk_id": 0, "byte_fallback": True,
        "vocab": [[text, -1.0 - len(text) / 7] for text in [*WORDS, *BYTES]],
    },
}  # fmt: skip
AROUND = {"type": "BertProcessing", "sep": ["a", 2], "cls": ["[UNK]", 0]}
STEPS = [None, {"type": "Whitespace"}, METASPACE, BYTE_LEVEL, {"type": "BertPreTokenizer"}]
TRUNCATION = {"max_length": 2, "strategy": "LongestFirst", "stride": 0, "direction": "Right"}
FLAGS = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)


def document_of(model: str, pre_tokenizer=None, post_processor=None, added=()):
    return {
        "version": "1.0", "truncation": TRUNCATION, "padding": None,
        "added_tokens": list(added), "normalizer": {"type": "NFKC"}, "pre_tokenizer": pre_tokenizer,
        "post_processor": post_processor, "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": False},
        "model": MODELS[model],
    }  # fmt: skip


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    model=st.sampled_from(list(MODELS)),
    pre_tokenizer=st.sampled_from(STEPS),
    post_processor=st.sampled_from([None, AROUND]),
    special_text=st.sampled_from(["allow", "text"]),
    around=st.booleans(),
    texts=st.lists(TEXTS, min_size=1, max_size=3),
)
def test_ids_offsets_and_text_are_those_of_the_library(
    tmp_path_factory, model, pre_tokenizer, post_processor, special_text, around, texts
):
    added = [{"id": 2 * len(WORDS) if model == "WordPiece" else 300, "content": "<s>", "special": True, **FLAGS}]
    if model != "WordPiece":
        added[0]["id"] = len(MODELS[model]["vocab"])
    else:
        added[0]["id"] = len(WORDS)
        added[0]["content"] = "ab"  # of the vocabulary
    document = document_of(model, pre_tokenizer, post_processor, added)
    path = tmp_path_factory.getbasetemp() / "view.json"
    path.write_text(json.dumps(document))
    tokenizer = load_tokenizer(path)
    library = library_of(document)
    for text in texts:
        check_alike(tokenizer, library, text, special_text, around)


@pytest.mark.parametrize("name", MODELS)
def test_what_it_is_is_said_and_nothing_is_stepped(name, tmp_path):
    path = tmp_path / "x.json"
    path.write_text(json.dumps(document_of(name, {"type": "WhitespaceSplit"})))
    tokenizer = load_tokenizer(path)
    kind = name.split(" ")[0]
    assert (tokenizer.kind, tokenizer.n_merges, tokenizer.position) == (kind, 0, 0)
    assert f"not BPE but {kind}" in tokenizer.notes[0]
    assert "truncation" in " ".join(tokenizer.notes)
    encoded = tokenizer.lay_out("a b ab")
    assert encoded.at(0).ids.tolist() == tokenizer.encode("a b ab").ids
    assert (encoded.at(0).ranks == -1).all()
    assert encoded.counts(0).tolist() == [len(encoded.at(0))]
    assert [one.special_id for one in explain(tokenizer, "a ab")] == tokenizer.encode("a ab").ids
    with pytest.raises(FormatError, match=f"It is {kind}, which has no merges"):
        save_tokenizer(tokenizer, tmp_path / "x.tiktoken")
    save_tokenizer(tokenizer, tmp_path / "y.json")
    assert (tmp_path / "y.json").read_bytes() == path.read_bytes()


def test_bytes_and_unknown_characters_stand_for_what_is_in_the_text(tmp_path):
    path = tmp_path / "x.json"
    path.write_text(json.dumps(document_of("Unigram of bytes")))
    tokens = load_tokenizer(path).encode("a€").tokens
    assert [token.content for token in tokens] == [b"a", b"\xe2", b"\x82", b"\xac"]
    assert [(token.start, token.end) for token in tokens] == [(0, 1), (1, None), (None, None), (None, 2)]
    path.write_text(json.dumps(document_of("WordPiece", {"type": "WhitespaceSplit"})))
    tokens = load_tokenizer(path).encode("ab zz aba").tokens
    assert [token.content for token in tokens] == [b"ab", b"zz", b"ab", b"a"]
    assert [token.id for token in tokens] == [10, 0, 10, 8]


def test_special_text_may_be_an_error(tmp_path):
    path = tmp_path / "x.json"
    added = [{"id": len(WORDS), "content": "<s>", "special": True, **FLAGS}]
    path.write_text(json.dumps(document_of("WordLevel", {"type": "Whitespace"}, AROUND, added)))
    tokenizer = load_tokenizer(path)
    with pytest.raises(OptionError, match="holds the special token '<s>' at character 3"):
        tokenizer.lay_out("a <s>", "error")
    assert len(WORDS) in tokenizer.lay_out("a <s>").at(0).ids


def test_a_model_that_is_none_is_refused(tmp_path):
    path = tmp_path / "x.json"
    for model in (
        {"type": "Bigram", "vocab": {}},
        {"type": "Unigram", "unk_id": 9, "vocab": [["a", 0.0]]},
        {"type": "WordPiece", "vocab": [3]},
    ):
        path.write_text(json.dumps({"added_tokens": [], "model": model}))
        with pytest.raises(FormatError, match=r"x\.json"):
            load_tokenizer(path)
