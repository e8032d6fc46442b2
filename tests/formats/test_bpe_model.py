"""BPE models of any kind in a tokenizer.json, held to the library: ids, offsets and text, at every position."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bpe_viz.errors import FormatError
from bpe_viz.formats import load_tokenizer, save_tokenizer
from bpe_viz.formats._stand_ins import LETTER_OF_BYTE
from tests.formats.library_oracle import check_alike, library_of

LETTERS = "abcé▁"
TEXTS = st.text(st.sampled_from([*"aaabbbccé▁", " ", "€", "x", "<", "\n"]), max_size=14)
BYTE_TOKENS = [f"<0x{byte:02X}>" for byte in range(256)]
BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": True}


@st.composite
def models(draw: st.DrawFn) -> dict[str, object]:
    """A model with repeated lines and results, holes, bytes to fall back on, prefixes and suffixes."""
    prefix = draw(st.sampled_from([None, None, None, "##", ""]))
    suffix = draw(st.sampled_from([None, None, None, "</w>", ""]))
    letters = draw(st.lists(st.sampled_from(LETTERS), min_size=1, max_size=5, unique=True))
    tokens = [letter for letter in letters if draw(st.integers(0, 6)) > 0]
    tokens += [f"{prefix}{letter}" for letter in letters if prefix and draw(st.booleans())]
    tokens += [f"{letter}{suffix}" for letter in letters if suffix and draw(st.booleans())]
    tokens += [f"{prefix}{letter}{suffix}" for letter in letters if suffix and prefix and draw(st.booleans())]
    unknown = draw(st.sampled_from([None, None, "<unk>", "a", "zz"]))
    if unknown == "<unk>":
        tokens.append(unknown)
    falls_back = draw(st.booleans())
    if falls_back:
        tokens += draw(st.sampled_from([BYTE_TOKENS, BYTE_TOKENS, BYTE_TOKENS[:200], []]))
    merges = []
    for _ in range(draw(st.integers(0, 8)) if tokens else 0):
        short = [token for token in tokens if token not in BYTE_TOKENS or draw(st.integers(0, 20)) == 0]
        if not short:
            break
        left = draw(st.sampled_from(short))
        right = draw(st.sampled_from([one for one in short if one.startswith(prefix or "")] or [""]))
        if right:
            merges.append([left, right])
            tokens.append(left + right[len(prefix or "") :])
    if merges and draw(st.booleans()):
        merges.insert(draw(st.integers(0, len(merges))), draw(st.sampled_from(merges)))
    tokens = list(dict.fromkeys(tokens)) + draw(st.lists(st.sampled_from(["abc", "aé", "xx", "x▁"]), max_size=2))
    tokens = list(dict.fromkeys(tokens))
    step = draw(st.sampled_from([1, 1, 3]))
    numbers = draw(st.permutations(range(len(tokens)))) if len(tokens) < 40 else range(len(tokens))
    vocab = {token: step * number for token, number in zip(tokens, numbers, strict=True)}
    if len(vocab) > 1 and draw(st.integers(0, 4)) == 0:
        vocab[draw(st.sampled_from(tokens[:6]))] = vocab[tokens[-1]]
    return {
        "type": "BPE",
        "dropout": None,
        "unk_token": unknown,
        "continuing_subword_prefix": prefix,
        "end_of_word_suffix": suffix,
        "fuse_unk": draw(st.booleans()),
        "byte_fallback": falls_back,
        "ignore_merges": draw(st.integers(0, 3)) == 0,
        "vocab": vocab,
        "merges": merges,
    }


def document_of(model: dict[str, object], **parts: object) -> dict[str, object]:
    empty = dict.fromkeys(("truncation", "padding", "normalizer", "pre_tokenizer", "post_processor", "decoder"))
    return {"version": "1.0", "added_tokens": [], **empty, **parts, "model": model}


def opened(document: dict[str, object], path):
    path.write_text(json.dumps(document))
    return load_tokenizer(path)


WORDS = {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithNext", "invert": False}


@settings(max_examples=600, deadline=None, suppress_health_check=list(HealthCheck))
@given(model=models(), texts=st.lists(TEXTS, min_size=1, max_size=4), steps=st.sampled_from([None, WORDS]))
def test_any_model_encodes_as_in_the_library(tmp_path_factory, model, texts, steps):
    document = document_of(model, pre_tokenizer=steps)
    tokenizer = opened(document, tmp_path_factory.getbasetemp() / "model.json")
    library = library_of(document)
    # The library counts the bytes of a prefix and a suffix that fall apart as if they were of the text.
    has_more_bytes = model["byte_fallback"] and (model["continuing_subword_prefix"] or model["end_of_word_suffix"])
    for text in texts:
        if len(set(model["vocab"].values())) == len(model["vocab"]):
            check_alike(tokenizer, library, text, offsets=not has_more_bytes)
        else:  # an id decodes to one of several tokens
            encoded = tokenizer.lay_out(text) if _is_encoded(library, text) else None
            assert encoded is None or encoded.at(tokenizer.position).ids.tolist() == library.encode(text).ids


def _is_encoded(library, text: str) -> bool:
    try:
        library.encode(text)
    except Exception:  # noqa: BLE001  # the library raises bare Exception
        return False
    return True


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(model=models(), texts=st.lists(TEXTS, min_size=1, max_size=3), data=st.data())
def test_every_position_encodes_as_the_library_with_the_first_merges(tmp_path_factory, model, texts, data):
    document = document_of(model)
    tokenizer = opened(document, tmp_path_factory.getbasetemp() / "positions.json")
    position = data.draw(st.integers(0, tokenizer.n_merges))
    path = tmp_path_factory.getbasetemp() / "position.json"
    save_tokenizer(tokenizer.at(position), path)
    library = library_of(json.loads(path.read_text()))
    for text in texts:
        if not _is_encoded(library, text):
            continue
        ids = library.encode(text).ids
        assert tokenizer.at(position).encode(text).ids == ids
        whole = tokenizer.lay_out(text)
        assert whole.at(position).ids.tolist() == ids
        assert whole.counts(tokenizer.n_merges)[position] == len(ids)


def test_a_file_that_is_saved_again_is_the_same(tmp_path):
    model = {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"], "other": [1.50]}
    path = tmp_path / "x.json"
    tokenizer = opened(document_of(model, normalizer={"type": "NFC"}), path)
    save_tokenizer(tokenizer, tmp_path / "y.json")
    assert (tmp_path / "y.json").read_bytes() == path.read_bytes()


def test_a_line_of_the_file_is_a_merge_and_a_token_names_the_line_that_made_it(tmp_path):
    vocab = {text: number for number, text in enumerate(["a", "b", "c", "ab", "bc", "abc", "abca"])}
    merges = [["a", "b"], ["b", "c"], ["ab", "c"], ["a", "bc"], ["abc", "a"]]
    tokenizer = opened(document_of({"type": "BPE", "vocab": vocab, "merges": merges}), tmp_path / "x.json")
    assert tokenizer.n_merges == 5
    assert tokenizer.lay_out("abca").at(3).ranks.tolist() == [2, -1]
    assert tokenizer.encode("abca").ids == [6]
    assert [tokenizer.at(k).encode("abca").ids for k in range(6)] == [
        [0, 1, 2, 0],
        [3, 2, 0],
        [3, 2, 0],
        [5, 0],
        [5, 0],
        [6],
    ]
    assert tokenizer.token(5).rank == 2
    assert tokenizer.vocab_size == 7
    assert "makes" in " ".join(tokenizer.notes) or "make a token" in " ".join(tokenizer.notes)


@pytest.mark.parametrize(
    ("merges", "said"),
    [
        (["a c"], "makes 'ac', which model.vocab lacks"),
        (["a z"], "names 'z'"),
        (["ab"], "is 'ab', which is no pair"),
        (["a b c"], "is 'a b c', which is no pair"),
        ([["a", ""]], "which is no pair"),
        ([["a", "b", "c"]], "model.merges is no whole tokenizer.json"),
    ],
)
def test_a_merge_list_that_the_library_refuses_is_refused_by_line(merges, said, tmp_path):
    document = document_of({"type": "BPE", "vocab": {"a": 0, "b": 1, "c": 2, "ab": 3, "": 4}, "merges": merges})
    if merges != [["a", ""]]:
        with pytest.raises(Exception):  # noqa: B017, PT011  # what the library raises
            library_of(document)
    with pytest.raises(FormatError) as caught:
        opened(document, tmp_path / "x.json")
    assert said in str(caught.value)
    assert str(tmp_path / "x.json") in str(caught.value)


def test_lines_as_text_and_as_pairs_may_be_mixed_and_a_header_is_no_merge(tmp_path):
    vocab = {"a": 0, "b": 1, "ab": 2, "aba": 3}
    document = document_of({"type": None, "vocab": vocab, "merges": ["#version: 0.2", "a b", ["ab", "a"]]})
    del document["model"]["type"]
    tokenizer = opened(document, tmp_path / "x.json")
    assert tokenizer.n_merges == 2
    assert tokenizer.encode("aba").ids == [3]


def test_merges_are_not_left_out_at_random_and_that_is_said(tmp_path):
    document = document_of({"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"], "dropout": 0.9})
    tokenizer = opened(document, tmp_path / "x.json")
    assert tokenizer.encode("ab" * 50).ids == [2] * 50
    assert "0.9" in " ".join(tokenizer.notes)
    shared = document_of({"type": "BPE", "vocab": {"a": 0, "b": 0, "ab": 2}, "merges": ["a b"], "dropout": 0.9})
    tokenizer = opened(shared, tmp_path / "y.json")
    assert tokenizer.encode("ab" * 50).ids == [2] * 50


def test_merges_of_tokens_that_share_an_id_are_not_stepped(tmp_path):
    document = document_of({"type": "BPE", "vocab": {"a": 0, "b": 0, "c": 1, "ac": 2}, "merges": ["a c"]})
    tokenizer = opened(document, tmp_path / "x.json")
    assert (tokenizer.n_merges, tokenizer.kind) == (0, "BPE")
    assert "'a' and 'b'" in tokenizer.why_no_merges
    assert tokenizer.encode("bcac").ids == library_of(document).encode("bcac").ids == [2, 2]
    with pytest.raises(FormatError, match="would encode otherwise"):
        save_tokenizer(tokenizer, tmp_path / "x.tiktoken")


def test_a_byte_that_no_character_falls_apart_into_may_be_lacking(tmp_path):
    """As in Gemma's files, whose <0x09> is written as the tabulator that it stands for."""
    tokens = ["<unk>", "a", "\t", "\ta", *BYTE_TOKENS]
    tokens.remove("<0x09>")
    tokens.remove("<0xC0>")  # no byte of UTF-8
    model = {
        "type": "BPE", "unk_token": "<unk>", "fuse_unk": True, "byte_fallback": True,
        "vocab": {text: number for number, text in enumerate(tokens)}, "merges": [["\t", "a"]],
    }  # fmt: skip
    tokenizer = opened(document_of(model), tmp_path / "x.json")
    assert (tokenizer.n_merges, tokenizer.why_no_merges) == (1, "")
    library = library_of(document_of(model))
    for text in ("\ta\t€\ta", "\x00\t\U0010ffff", "€€\t", "zzaz"):
        check_alike(tokenizer, library, text)


@pytest.mark.parametrize(("lacking", "text"), [("<0x7A>", "a€z€a"), ("<0xE2>", "z€a")])
def test_where_an_unknown_token_may_stand_behind_bytes_the_library_encodes(lacking, text, tmp_path):
    tokens = [token for token in ["<unk>", "a", *BYTE_TOKENS] if token != lacking]
    model = {
        "type": "BPE", "unk_token": "<unk>", "byte_fallback": True,
        "vocab": {token: number for number, token in enumerate(tokens)}, "merges": [],
    }  # fmt: skip
    tokenizer = opened(document_of(model), tmp_path / "x.json")
    assert "only 255 of the 256 bytes" in tokenizer.why_no_merges
    check_alike(tokenizer, library_of(document_of(model)), text)


@pytest.mark.parametrize("unknown", [None, "<unk>"])
def test_letters_that_stand_for_bytes_fall_apart_as_letters(unknown, tmp_path):
    """The library takes `Ā`, which stands for the byte 0, for the bytes of `Ā` itself, of which there are two."""
    letters = [letter for byte, letter in enumerate(LETTER_OF_BYTE) if byte not in (0, 0xE2)]
    model = {
        "type": "BPE", "unk_token": unknown, "byte_fallback": True, "merges": [],
        "vocab": {text: number for number, text in enumerate(["<unk>", *letters, *BYTE_TOKENS])},
    }  # fmt: skip
    document = document_of(model, pre_tokenizer=BYTE_LEVEL, decoder=BYTE_LEVEL)
    tokenizer = opened(document, tmp_path / "x.json")
    assert "fall apart into bytes of their own" in tokenizer.why_no_merges
    for text in ("a\x00b", "€", "\x00\x00"):
        check_alike(tokenizer, library_of(document), text, offsets=False)
