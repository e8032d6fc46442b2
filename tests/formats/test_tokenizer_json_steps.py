"""The steps around a model in a tokenizer.json, held to the library, and real files held to their vectors."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bpe_viz.engine.alike_characters import ALIKE
from bpe_viz.engine.encoder import Encoder
from bpe_viz.engine.pretokenize import PRETOKENIZERS
from bpe_viz.errors import FormatError, OptionError
from bpe_viz.formats import load_tokenizer, save_tokenizer
from bpe_viz.formats._stand_ins import LETTER_OF_BYTE
from tests.formats.library_oracle import check_alike, library_of
from tests.formats.vectors import kitoken_cases, llama_cpp_cases

BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
LETTERS_ONLY = {**BYTE_LEVEL, "use_regex": False}
METASPACE = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": False}


def split(pattern: dict[str, str], behavior: str, invert: bool = False) -> dict[str, Any]:
    return {"type": "Split", "pattern": pattern, "behavior": behavior, "invert": invert}


def sequence(kind: str, *steps: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Sequence", kind: list(steps)}


NORMALIZERS = [
    None,
    None,
    {"type": "NFC"},
    {"type": "NFKD"},
    {"type": "Lowercase"},
    {"type": "StripAccents"},
    {"type": "Strip", "strip_left": True, "strip_right": True},
    {"type": "Prepend", "prepend": "▁"},
    {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
    {"type": "Replace", "pattern": {"Regex": r"\s+"}, "content": " "},
    {"type": "Nmt"},
    {"type": "ByteLevel"},
    {
        "type": "BertNormalizer",
        "clean_text": True,
        "handle_chinese_chars": True,
        "strip_accents": None,
        "lowercase": True,
    },
    sequence(
        "normalizers",
        {"type": "Prepend", "prepend": "▁"},
        {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
    ),
    sequence("normalizers", {"type": "NFD"}, {"type": "StripAccents"}, {"type": "Lowercase"}),
]
PRE_TOKENIZERS = [
    None,
    BYTE_LEVEL,
    {**BYTE_LEVEL, "add_prefix_space": True},
    METASPACE,
    {**METASPACE, "prepend_scheme": "always", "split": True},
    {**METASPACE, "prepend_scheme": "never"},
    {"type": "Whitespace"},
    {"type": "WhitespaceSplit"},
    {"type": "Punctuation", "behavior": "Isolated"},
    {"type": "Digits", "individual_digits": True},
    {"type": "BertPreTokenizer"},
    {"type": "CharDelimiterSplit", "delimiter": "a"},
    {"type": "UnicodeScripts"},
    split({"String": " "}, "MergedWithPrevious"),
    split({"Regex": r"\d{1,3}"}, "Contiguous"),
    split({"Regex": r"[a-z]+"}, "Removed", invert=True),
    sequence("pretokenizers", split({"Regex": PRETOKENIZERS["cl100k"].pattern}, "Isolated"), LETTERS_ONLY),
    sequence("pretokenizers", split({"Regex": PRETOKENIZERS["o200k"].pattern}, "Isolated"), LETTERS_ONLY),
    sequence("pretokenizers", {"type": "Digits", "individual_digits": True}, BYTE_LEVEL),
    sequence("pretokenizers", {**BYTE_LEVEL, "use_regex": False}, {"type": "Digits", "individual_digits": False}),
]  # fmt: skip
AROUND = {
    "type": "TemplateProcessing",
    "single": [
        {"SpecialToken": {"id": "<s>", "type_id": 0}},
        {"Sequence": {"id": "A", "type_id": 0}},
        {"SpecialToken": {"id": "</s>", "type_id": 0}},
    ],
    "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
    "special_tokens": {
        "<s>": {"id": "<s>", "ids": [2], "tokens": ["<s>"]},
        "</s>": {"id": "</s>", "ids": [900, 3], "tokens": ["</s>", "<e>"]},
    },
}
POST_PROCESSORS = [
    None,
    AROUND,
    {"type": "BertProcessing", "sep": ["</s>", 3], "cls": ["<s>", 2]},
    {
        "type": "RobertaProcessing",
        "sep": ["</s>", 3],
        "cls": ["<s>", 2],
        "trim_offsets": True,
        "add_prefix_space": True,
    },
    {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
    sequence(
        "processors", {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False, "use_regex": True}, AROUND
    ),
]
DECODERS = [
    None,
    {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
    {"type": "Fuse"},
    METASPACE,
    {"type": "BPEDecoder", "suffix": "</w>"},
    {"type": "WordPiece", "prefix": "##", "cleanup": True},
    sequence("decoders", {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}, {"type": "ByteFallback"},
             {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}),
]  # fmt: skip
ADDED = st.builds(
    dict,
    content=st.sampled_from(["<s>", "</s>", "<mask>", "ab", "a b", "é", " ", "Ab", "<s>x", "▁", "12"]),
    single_word=st.booleans(),
    lstrip=st.booleans(),
    rstrip=st.booleans(),
    normalized=st.booleans(),
    special=st.booleans(),
)
LETTERS = [
    *"aabbAcé▁ĠÄ12,.'_-<>字😀ßΣ",
    "<s>",
    "</s>",
    "<mask>",
    "a b",
    " ",
    "  ",
    "\n",
    "\t",
    "\0",
    "\u0301",
    "\u00a0",
    "½",
    "ﬁ",
    "ſ",
]
TEXTS = st.lists(st.sampled_from(LETTERS), max_size=16).map("".join)


def small_model() -> dict[str, Any]:
    """A model of every byte's letter, some others, and bytes to fall back on."""
    texts = ["<unk>", "<pad>", "<s>", "</s>", *LETTER_OF_BYTE, "▁"]
    texts += [f"<0x{byte:02X}>" for byte in range(256)]
    merges = [["a", "b"], ["Ġ", "a"], ["▁", "a"], ["▁a", "b"], ["Ġa", "b"], ["Ã", "©"], ["1", "2"], ["Ġ", "Ġ"]]
    return {
        "type": "BPE", "dropout": None, "unk_token": "<unk>", "continuing_subword_prefix": None,
        "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": True, "ignore_merges": False,
        "vocab": {text: number for number, text in enumerate([*texts, *map("".join, merges)])}, "merges": merges,
    }  # fmt: skip


SMALL = small_model()


@settings(max_examples=1000, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    normalizer=st.sampled_from(NORMALIZERS),
    pre_tokenizer=st.sampled_from(PRE_TOKENIZERS),
    post_processor=st.sampled_from(POST_PROCESSORS),
    decoder=st.sampled_from(DECODERS),
    added=st.lists(ADDED, max_size=3),
    special_text=st.sampled_from(["allow", "allow", "text"]),
    around=st.booleans(),
    texts=st.lists(TEXTS, min_size=1, max_size=3),
)
def test_any_steps_give_the_ids_offsets_and_text_of_the_library(
    tmp_path_factory, normalizer, pre_tokenizer, post_processor, decoder, added, special_text, around, texts
):
    first = len(SMALL["vocab"])
    # The ids that the library gives: those in the vocabulary, or the next.
    number = first
    listed = []
    for token in {one["content"]: one for one in added}.values():
        known = SMALL["vocab"].get(token["content"])
        listed.append({**token, "id": number if known is None else known})
        number += known is None
    document = {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": listed, "normalizer": normalizer,
        "pre_tokenizer": pre_tokenizer, "post_processor": post_processor, "decoder": decoder, "model": SMALL,
    }  # fmt: skip
    path = tmp_path_factory.getbasetemp() / "steps.json"
    path.write_text(json.dumps(document))
    tokenizer = load_tokenizer(path)
    library = library_of(document)
    for text in texts:
        check_alike(tokenizer, library, text, special_text, around)


def test_text_of_a_special_token_may_be_an_error_and_that_of_another_added_token_is_not(tmp_path):
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    added = [
        {"id": 2, "content": "<s>", "special": True, **flags},
        {"id": len(SMALL["vocab"]), "content": "<tool>", "special": False, **flags},
    ]
    for pre_tokenizer in (BYTE_LEVEL, METASPACE):
        path = tmp_path / "x.json"
        path.write_text(json.dumps({"added_tokens": added, "pre_tokenizer": pre_tokenizer, "model": SMALL}))
        tokenizer = load_tokenizer(path)
        with pytest.raises(OptionError, match="holds the special token '<s>' at character 2"):
            tokenizer.lay_out("a<s>", "error")
        tool = len(SMALL["vocab"])
        for mode in ("error", "allow", "text"):
            assert tool in tokenizer.lay_out("a<tool>", mode).at(tokenizer.position).ids
        assert 2 not in tokenizer.lay_out("a<s>", "text").at(tokenizer.position).ids


@pytest.mark.parametrize("scheme", ["always", "first", "never"])
def test_a_metaspace_around_a_special_token(scheme, case, tmp_path):
    vocab = {text: number for number, text in enumerate(["<s>", "a", "b", "▁", "▁a", "▁b"])}
    special = {"id": 0, "content": "<s>", "special": True, "single_word": False, "lstrip": False, "rstrip": False}
    document = {
        "added_tokens": [{**special, "normalized": False}],
        "pre_tokenizer": {**METASPACE, "prepend_scheme": scheme, "split": True},
        "model": {"type": "BPE", "vocab": vocab, "merges": [["▁", "a"], ["▁", "b"]]},
    }
    path = tmp_path / "x.json"
    path.write_text(json.dumps(document))
    tokenizer = load_tokenizer(path)
    for text, tokens in case("EN-24")["expected"][scheme].items():
        assert [tokenizer.label(number).decode() for number in tokenizer.encode(text).ids] == tokens


# Real files.


def gpt2_document(shared: Path) -> dict[str, Any]:
    folder = shared / "data" / "tok" / "gpt2"
    special = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    return {
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": [{"id": 50256, "content": "<|endoftext|>", "special": True, **special}],
        "normalizer": None, "pre_tokenizer": BYTE_LEVEL, "post_processor": {**BYTE_LEVEL, "trim_offsets": False},
        "decoder": BYTE_LEVEL,
        "model": {
            "type": "BPE",
            "vocab": json.loads(gzip.decompress((folder / "encoder.json.gz").read_bytes())),
            "merges": gzip.decompress((folder / "vocab.bpe.gz").read_bytes()).decode().split("\n")[1:-1],
        },
    }  # fmt: skip


@pytest.fixture(scope="module")
def real(shared, tmp_path_factory) -> dict[str, tuple[Path, dict[str, Any]]]:
    """Real files, by name: their paths and contents."""
    folder = tmp_path_factory.mktemp("real")
    found = {}
    for name in ("clip", "mistral01"):
        path = shared / "data" / "tok" / f"{name}.tokenizer.json.gz"
        found[name] = path, json.loads(gzip.decompress(path.read_bytes()))
    documents = {"gpt2": gpt2_document(shared)}
    # A converter's list: every cut of a token into two tokens, and pre-tokens that are taken whole, as Llama 3's file.
    model = documents["gpt2"]["model"]
    vocab = model["vocab"]
    rank = {"".join(line.split(" ")): number for number, line in enumerate(model["merges"])}
    cuts = [
        [token[:cut], token[cut:]]
        for token in sorted(rank, key=rank.__getitem__)
        for cut in range(1, len(token))
        if token[:cut] in vocab and token[cut:] in vocab
    ]
    documents["converted"] = {**documents["gpt2"], "model": {**model, "merges": cuts, "ignore_merges": True}}
    for name, document in documents.items():
        path = folder / f"{name}.json"
        path.write_text(json.dumps(document))
        found[name] = path, document
    return found


REAL = ("gpt2", "clip", "mistral01", "converted")


@pytest.mark.parametrize(
    ("name", "vectors"),
    [
        ("gpt2", "tokenizers/small_tokens_gpt2.txt"),
        ("clip", "tokenizers/small_tokens_clip_base.txt"),
        ("mistral01", "tokenizers/small_tokens_mistral01.txt"),
    ],
)
def test_real_files_have_the_expected_ids(name, vectors, real, shared):
    tokenizer = load_tokenizer(real[name][0])
    cases = kitoken_cases(shared, vectors)
    assert len(cases) == 20
    for text, ids in cases:
        assert tokenizer.lay_out(text, around=False).at(tokenizer.position).ids.tolist() == ids, text


def test_clip_decodes_as_expected(real, shared):
    tokenizer = load_tokenizer(real["clip"][0])
    folder = shared / "data" / "vectors" / "kitoken" / "tokenizers"
    tokens = (folder / "small_tokens_clip_base.txt").read_text().removesuffix("\n").split("\n")
    library = library_of(real["clip"][1])
    for line in tokens:
        ids = [int(number) for number in line.split(",") if number.strip()]
        assert tokenizer.decode(ids).text == library.decode(ids, skip_special_tokens=False)


def test_gpt2_has_the_ids_of_llama_cpp(real, shared):
    tokenizer = load_tokenizer(real["gpt2"][0])
    for text, ids in llama_cpp_cases(shared, "ggml-vocab-gpt-2.gguf"):
        assert tokenizer.encode(text).ids == ids, text


def random_texts(seed: int, number: int) -> list[str]:
    """Return texts of any characters that have UTF-8, some of one block, some with spaces and special tokens."""
    chance = random.Random(seed)
    blocks = [(0x20, 0x7F), (0, 0x250), (0x300, 0x600), (0x900, 0xE80), (0x2000, 0x2C00), (0x3000, 0xD7FF),
              (0xE000, 0x10000), (0x1F000, 0x1FB00), (0x10000, 0x110000)]  # fmt: skip
    words = [" ", " ", "\n", "\r\n", "\t", "'s", "'LL", "the", " of", "12345", "<s>", "</s>", "<|endoftext|>", "▁", "Ġ"]
    texts = []
    for _ in range(number):
        low, high = chance.choice(blocks)
        parts = [
            chance.choice(words) if chance.random() < 0.4 else chr(chance.randrange(low, high))
            for _ in range(chance.randrange(24))
        ]
        texts.append("".join(part for part in parts if not "\ud800" <= part <= "\udfff"))
    return texts


@pytest.mark.parametrize("name", REAL)
def test_two_thousand_random_texts_are_as_in_the_library(name, real):
    path, document = real[name]
    tokenizer, library = load_tokenizer(path), library_of(document)
    for text in random_texts(len(name), 2000):
        check_alike(tokenizer, library, text)


@pytest.mark.parametrize("name", REAL)
def test_real_texts_are_as_in_the_library(name, real, shared):
    path, document = real[name]
    tokenizer, library = load_tokenizer(path), library_of(document)
    for file in sorted((shared / "data" / "text").glob("*.*")):
        text = file.read_bytes().decode()[:20_000]
        assert tokenizer.encode(text).ids == library.encode(text).ids, file.name


@pytest.mark.parametrize("name", REAL)
def test_positions_of_real_files_are_those_of_the_library_with_the_first_merges(name, real, tmp_path):
    path, _ = real[name]
    tokenizer = load_tokenizer(path)
    texts = ["Hello, how are you?  it's 1234 ﬁne naïve", *random_texts(5, 20)]
    for position in (0, 1, tokenizer.n_merges // 3, tokenizer.n_merges - 1):
        save_tokenizer(tokenizer.at(position), tmp_path / "at.json")
        library = library_of(json.loads((tmp_path / "at.json").read_text()))
        for text in texts:
            ids = library.encode(text).ids
            assert tokenizer.at(position).encode(text).ids == ids
            assert tokenizer.lay_out(text).at(position).ids.tolist() == ids


def test_characters_of_a_newer_unicode_are_cut_as_the_library_cuts_them(real):
    path, document = real["gpt2"]
    tokenizer, library = load_tokenizer(path), library_of(document)
    newer = [
        chr(code) for code in range(0x80, 0x110000, 7) if not 0xD800 <= code < 0xE000 and not ALIKE.holds(chr(code))
    ]
    for character in newer[::40]:
        text = f"a{character}b {character}1 {character}\n"
        assert not tokenizer.pipeline.is_plain_for(text)
        assert tokenizer.encode(text).ids == library.encode(text).ids
        assert tokenizer.lay_out(text).at(tokenizer.position).ids.tolist() == library.encode(text).ids
    assert tokenizer.pipeline.is_plain_for("naïve 字 😀 ½")


def test_nfc_before_a_known_pattern_is_the_librarys(shared, tmp_path):
    """What is in it and of old letters is cut here, by scanners; anything else by the library's own steps."""
    document = {**gpt2_document(shared), "normalizer": {"type": "NFC"}}
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(document))
    tokenizer, library = load_tokenizer(path), library_of(document)
    texts = [
        "naïve Straße 字",
        "e\u0301 a\u0323\u0301",
        "\u212b \u2126 가 \u1100\u1161",
        "\u0898\u0301e\u0898\u0301",
        "\u1c89b",
        "ʕa",
    ]
    assert [tokenizer.pipeline.is_plain_for(text) for text in texts] == [True, *(False,) * 5]
    for text in [*texts, " ".join(texts)]:
        check_alike(tokenizer, library, text)
        assert Encoder(tokenizer).encode_bytes(text.encode()).tolist() == library.encode(text).ids


def test_an_old_and_a_damaged_step_are_refused_with_what_the_library_says(tmp_path):
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"pre_tokenizer": {"type": "Metaspace"}, "model": SMALL}))
    with pytest.raises(FormatError, match=r"does not read .*x\.json: missing field `replacement`"):
        load_tokenizer(path)
    path.write_text(json.dumps({"normalizer": {"type": "Precompiled", "precompiled_charsmap": "!"}, "model": SMALL}))
    with pytest.raises(FormatError, match=r"does not read .*x\.json"):
        load_tokenizer(path)
