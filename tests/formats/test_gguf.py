"""GGUF files as llama.cpp reads them."""

from __future__ import annotations

import gzip
import json
import os
import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from bpe_viz.engine.tokenizer import BYTES, SpecialText, Tokenizer
from bpe_viz.engine.types import CountingOptions
from bpe_viz.errors import FormatError, OptionError
from bpe_viz.formats import PretokenizerNeeded, detect_format, load_tokenizer, save_tokenizer
from bpe_viz.formats._gguf_vocabulary import read_vocabulary
from bpe_viz.formats._sentencepiece_proto import read_model
from bpe_viz.formats._stand_ins import LETTER_OF_BYTE
from bpe_viz.names import locate
from bpe_viz.verification import verify
from tests.formats.gguf_files import (
    CONTROL,
    GGML,
    NORMAL,
    UNUSED,
    USER_DEFINED,
    bpe_fields,
    character_fields,
    gguf,
    piece_fields,
)
from tests.formats.vectors import llama_cpp_cases

END = "<|endoftext|>"
LETTERS = list(LETTER_OF_BYTE)
LOW = [*LETTERS, "lo", "low", "Ġlow", END]
MERGES = ["l o", "lo w", "Ġ low"]
PIECES = [("▁", -9.0), ("l", -9.0), ("o", -9.0), ("w", -9.0), ("lo", -1.0), ("ow", -2.0), ("▁lo", -3.0), ("low", -4.0)]
"""Their ids begin behind three special tokens and the bytes."""
FIRST_PIECE = 3 + 256


@pytest.fixture
def opened(tmp_path):
    """Return what opens a file of some metadata."""

    def opened(fields: dict[str, Any], given: CountingOptions | None = None) -> Tokenizer:
        path = tmp_path / "model.gguf"
        path.write_bytes(gguf(fields))
        return load_tokenizer(path, given)

    return opened


def ids(tokenizer: Tokenizer, text: str, special_text: SpecialText = "allow", around: bool = True) -> list[int]:
    found = tokenizer.lay_out(text, special_text, around).at(tokenizer.position).ids
    return found[found >= 0].tolist()


def texts(tokenizer: Tokenizer, text: str, special_text: SpecialText = "allow", around: bool = True) -> list[str]:
    return [tokenizer.label(number).decode() for number in ids(tokenizer, text, special_text, around)]


def gpt2_fields(shared: Path, pre: str = "gpt-2") -> dict[str, Any]:
    folder = shared / "data" / "tok" / "gpt2"
    vocabulary = json.loads(gzip.decompress((folder / "encoder.json.gz").read_bytes()))
    merges = gzip.decompress((folder / "vocab.bpe.gz").read_bytes()).decode().split("\n")[1:-1]
    return bpe_fields(sorted(vocabulary, key=vocabulary.__getitem__), merges, pre, {END: CONTROL})


def test_ids_that_llama_cpp_published(shared, opened):
    tokenizer = opened(gpt2_fields(shared))
    assert (tokenizer.kind, tokenizer.n_merges, tokenizer.vocab_size) == ("BPE", 50_000, 50_257)
    for text, expected in llama_cpp_cases(shared, "ggml-vocab-gpt-2.gguf"):
        assert ids(tokenizer, text, "text", around=False) == expected
        assert ids(tokenizer, text) == tokenizer.encode_ids(text)
        assert tokenizer.decode(expected).text == text


@pytest.mark.skipif(
    "BPE_VIZ_GGUF_VOCABS" not in os.environ, reason="BPE_VIZ_GGUF_VOCABS names no folder of vocabularies"
)
def test_every_vocabulary_that_llama_cpp_published():
    """The folder models/ of llama.cpp, or one like it: files of metadata, and beside them texts and their ids."""
    folder = Path(os.environ["BPE_VIZ_GGUF_VOCABS"])
    checked = []
    for path in sorted(folder.glob("*.gguf")):
        cases, expected = path.with_suffix(".gguf.inp"), path.with_suffix(".gguf.out")
        if not cases.exists() or read_vocabulary(path).model not in ("gpt2", "gemma4", "llama"):
            continue
        tokenizer = load_tokenizer(path)
        parts = cases.read_text(encoding="utf-8").split("\n__ggml_vocab_test__\n")
        for text, line in zip(parts, expected.read_text(encoding="utf-8").split("\n"), strict=False):
            assert ids(tokenizer, text, "text", around=False) == [int(number) for number in line.split()], path.name
        checked.append(path.name)
    assert checked


def test_pieces_of_a_real_model_are_those_of_sentencepiece(shared, opened):
    sentencepiece = pytest.importorskip("sentencepiece")
    data = gzip.decompress((shared / "data" / "tok" / "mistral-v1.model.gz").read_bytes())
    model = read_model(data)
    fields = {
        f"{GGML}model": "llama",
        f"{GGML}tokens": [piece.text for piece in model.pieces],
        f"{GGML}scores": ("float32", [piece.score for piece in model.pieces]),
        f"{GGML}token_type": ("int32", [piece.type for piece in model.pieces]),
    }
    tokenizer = opened(fields)
    library = sentencepiece.SentencePieceProcessor(model_proto=data)
    for name in ("en_alice29.txt", "ja_wagahai_120k.txt", "code_argparse.py", "stress_blns.txt"):
        text = (shared / "data" / "text" / name).read_text(encoding="utf-8")[:20_000]
        assert ids(tokenizer, text, "text", around=False) == library.encode(text), name
    found = ids(tokenizer, "Hello  wörld")
    assert found == [1, *library.encode("Hello  wörld")]
    assert tokenizer.decode(found[1:]).text == "Hello  wörld"


def test_merges_step(opened):
    tokenizer = opened(bpe_fields(LOW, MERGES, types={END: CONTROL}))
    assert texts(tokenizer, "low low") == ["low", " low"]
    assert [texts(tokenizer.at(k), "low low") for k in (0, 1, 2)] == [
        ["l", "o", "w", " ", "l", "o", "w"],
        ["lo", "w", " ", "lo", "w"],
        ["low", " ", "low"],
    ]
    assert texts(tokenizer, f"low{END}") == ["low", END]
    assert texts(tokenizer, f"low{END}", "text")[-1] == ">"
    assert tokenizer.name == "model.gguf"


def test_of_a_pair_that_is_listed_twice_the_first_place_counts(opened):
    tokenizer = opened(bpe_fields([*LETTERS, "ab", "bc"], ["a b", "b c", "a b"]))
    assert texts(tokenizer, "abc") == ["ab", "c"]
    assert tokenizer.n_merges == 2


def test_a_letter_that_is_no_token_is_left_out_and_joins_nobody(opened):
    tokens = [letter for letter in LETTERS if letter != "x"]
    tokenizer = opened(bpe_fields([*tokens, "ab"], ["a b"]))
    assert texts(tokenizer, "axb ab") == ["a", "b", " ", "ab"]


def test_whole_pretokens_where_llama_cpp_takes_them(opened):
    tokens, merges = [*LETTERS, "ab", "abc", "<s>"], ["b c", "a b"]
    assert "bc" not in tokens
    with pytest.raises(FormatError, match=r"tokenizer\.ggml\.merges\[0\] makes 'bc'"):
        opened(bpe_fields(tokens, merges))
    tokens.append("bc")
    assert texts(opened(bpe_fields(tokens, merges)), "abc") == ["a", "bc"]
    tokenizer = opened(bpe_fields(tokens, merges, "llama-bpe", {"<s>": CONTROL}, bos_token_id=258))
    assert texts(tokenizer, "abc") == ["<s>", "abc"]
    assert texts(tokenizer.at(1), "abc") == ["<s>", "a", "bc"]


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"add_bos_token": True}, ["<s>", "a"]),
        ({"add_bos_token": True, "add_eos_token": True}, ["<s>", "a", "</s>"]),
        ({"add_bos_token": False}, ["a"]),
        ({}, ["a"]),
    ],
)
def test_tokens_around_a_text(opened, more, expected):
    fields = bpe_fields([*LETTERS, "<s>", "</s>"], [], bos_token_id=256, eos_token_id=257, **more)
    tokenizer = opened(fields)
    assert texts(tokenizer, "a") == expected
    assert texts(tokenizer, "a", around=False) == ["a"]
    assert any("llama.cpp puts '<s>' before" in note for note in tokenizer.notes) == ("<s>" in expected)


def test_a_token_around_a_text_must_be_there(opened):
    fields = bpe_fields(LETTERS[:10], [], "chatglm-bpe", add_bos_token=True)
    with pytest.raises(FormatError, match=r"add_bos_token is set, and tokenizer\.ggml\.bos_token_id names no token"):
        opened(fields)


def test_a_file_without_a_pretokenizer_is_cut_by_the_default_one(opened):
    tokenizer = opened(bpe_fields([*LETTERS, "12"], ["1 2"], None))
    assert texts(tokenizer, "a12!") == ["a", "12", "!"]
    assert any("names no pre-tokenizer" in note for note in tokenizer.notes)


def test_a_pretokenizer_that_is_not_known_is_to_be_given(opened):
    fields = bpe_fields(LOW, MERGES, "of-tomorrow", {END: CONTROL})
    with pytest.raises(PretokenizerNeeded, match="names the pre-tokenizer 'of-tomorrow', which bpe-viz does not know"):
        opened(fields)
    tokenizer = opened(fields, CountingOptions(pattern=r"\w+|\s"))
    assert texts(tokenizer, f"low low{END}") == ["low", " ", "low", END]
    assert "not llama.cpp's where that cuts otherwise" in tokenizer.notes[0]
    with pytest.raises(FormatError, match="has its own pretokenizer"):
        opened(bpe_fields(LOW, MERGES), CountingOptions("gpt2"))


@pytest.mark.parametrize("model", ["bert", "t5", "of-tomorrow"])
def test_other_models_are_refused_by_name(opened, model):
    fields = bpe_fields(LOW, MERGES) | {f"{GGML}model": model}
    with pytest.raises(
        FormatError, match=rf"tokenizer\.ggml\.model is '{model}', which is .*not encode as llama\.cpp does"
    ):
        opened(fields)


def test_a_part_of_a_model_has_no_vocabulary(opened):
    for fields in ({"general.name": "x"}, {f"{GGML}model": "gpt2"}, {f"{GGML}model": "no_vocab"}):
        with pytest.raises(FormatError, match="holds no vocabulary") as refused:
            opened(fields)
        assert "open the first" in refused.value.remedy


def test_types_that_llama_cpp_tells_by_the_texts_of_tokens(opened):
    named = ["<|im_end|>", "<|channel|>", "<fim_prefix>", "<tool>", "<pad>"]
    types = {"<|channel|>": CONTROL, "<tool>": USER_DEFINED, "<pad>": UNUSED}
    tokenizer = opened(bpe_fields([*LETTERS, *named], [], types=types))
    assert texts(tokenizer, "".join(named)) == [*named[:4], *"<pad>"]
    as_text = texts(tokenizer, "".join(named), "text")
    assert "<|channel|>" in as_text
    assert "<tool>" in as_text
    assert "<|im_end|>" not in as_text
    with pytest.raises(OptionError, match="<fim_prefix>"):
        ids(tokenizer, "a<fim_prefix>", "error")


def test_of_several_tokens_that_fill_in_the_middle_chance_takes_one(opened):
    tokenizer = opened(bpe_fields([*LETTERS, "<PRE>", "<fim_prefix>"], []))
    assert any("'<PRE>'" in note and "left to chance" in note for note in tokenizer.notes)
    named = opened(bpe_fields([*LETTERS, "<PRE>", "<fim_prefix>"], [], fim_pre_token_id=256))
    assert not any("left to chance" in note for note in named.notes)
    assert len(ids(named, "<PRE>")) == 5


def test_white_space_that_goes_with_special_tokens_of_phi_3(opened):
    fields = bpe_fields([*LETTERS, "<|user|>", "<s>"], [], types={"<|user|>": CONTROL, "<s>": CONTROL})
    assert texts(opened(fields), "<|user|> \na<s> ") == ["<|user|>", " ", "\n", "a", "<s>", " "]
    tokenizer = opened(fields | {"general.name": "Phi-3 mini"})
    assert texts(tokenizer, "<|user|> \na<s> ") == ["<|user|>", "a", "<s>", " "]


def test_a_special_token_in_letters_for_bytes_stands_for_its_text(opened):
    tokenizer = opened(bpe_fields([*LETTERS, "éĠ"], [], types={"éĠ": USER_DEFINED}))
    assert tokenizer.decode(ids(tokenizer, "éĠ")).text == "éĠ"


def test_merges_of_characters_in_lines(opened):
    tokens = ["▁", "l", "o", "w", "\n", "\n\n", "▁l", "lo", "▁lo", "low"]
    tokenizer = opened(character_fields(tokens, ["▁ l", "l o", "▁l o", "lo w"], add_bos_token=False))
    assert texts(tokenizer, "low low") == ["<bos>", "low", "▁lo", "w"]
    assert texts(tokenizer, "low\n\nlow\n", around=False) == ["low", "\n\n", "low", "\n"]
    assert texts(tokenizer, "\n\n\n", around=False) == ["\n"] * 3
    assert ids(tokenizer, "é<bos>", around=False) == [1 + 0xC3, 1 + 0xA9, 0]
    assert tokenizer.decode(ids(tokenizer, "é low\n\n", around=False)).text == "é low\n\n"
    assert texts(tokenizer.at(0), " lo", around=False) == ["▁", "l", "o"]
    assert not any("no merge makes" in note for note in tokenizer.notes)


def test_other_merges_of_characters(opened):
    tokens = ["a", "\n", "\n\n", "aa"]
    fields = character_fields(tokens, ["a a"], "gpt2", pre="sarvam-moe")
    tokenizer = opened(fields)
    assert texts(tokenizer, "aa\n\n") == ["aa", "\n", "\n"]
    assert texts(opened(fields | {f"{GGML}pre": "granite-embed-multi-311m"}), "aa\n\n") == ["<bos>", "aa", "\n\n"]
    with pytest.raises(FormatError, match="as its merges join <0x41>, which is a byte"):
        opened(character_fields(["a", "<0x41>a"], ["<0x41> a"]))
    with pytest.raises(FormatError, match="lacks 1 of the tokens of the 256 bytes"):
        opened({**fields, f"{GGML}tokens": [text.replace("<0x0A>", "x") for text in fields[f"{GGML}tokens"]]})


def escaped(tokens: Iterable[bytes]) -> list[str]:
    return [repr(token)[2:-1] for token in tokens]


def rwkv_fields(tokens: list[str]) -> dict[str, Any]:
    types = ("int32", [CONTROL, *[NORMAL] * len(tokens)])
    return {f"{GGML}model": "rwkv", f"{GGML}tokens": ["<s>", *tokens], f"{GGML}token_type": types}


def test_rwkv_in_a_model_is_what_its_own_file_says(shared, opened):
    own = load_tokenizer(shared / "data" / "tok" / "rwkv_vocab_v20230424.txt.gz")
    tokens = [token.content for token in own.vocabulary()]
    tokenizer = opened(rwkv_fields(escaped(tokens)))
    assert (tokenizer.kind, tokenizer.n_merges) == (own.kind, 0)
    for name in ("en_alice29.txt", "ja_wagahai_120k.txt", "stress_blns.txt"):
        text = (shared / "data" / "text" / name).read_text(encoding="utf-8")[:20_000]
        assert ids(tokenizer, text) == own.encode_ids(text)
        assert tokenizer.decode(ids(tokenizer, text)).text == text
    assert ids(tokenizer, "<s>a")[0] == 0


def test_bytes_of_rwkv_that_are_damaged(opened):
    tokens = escaped(BYTES)
    assert texts(opened(rwkv_fields(tokens)), "a\n<s>") == ["a", "\n", "<s>"]
    with pytest.raises(FormatError, match="1 of the 256 bytes are no token, 0x00 for one"):
        opened(rwkv_fields(tokens[1:]))
    for written in ("\\xg0", "\\xAB", "\\", "\\x1"):
        with pytest.raises(FormatError, match=r"tokens\[257\] is .*, which is not escaped as bytes are"):
            opened(rwkv_fields([*tokens, written]))


def test_scores_decide(opened):
    tokenizer = opened(piece_fields(PIECES))
    assert texts(tokenizer, "low") == ["<s>", "▁lo", "w"]
    assert texts(tokenizer, "wlow", around=False) == ["▁", "w", "low"]
    assert tokenizer.decode(ids(tokenizer, "low low", around=False)).text == "low low"
    assert ids(tokenizer, "é", around=False) == [FIRST_PIECE, 3 + 0xC3, 3 + 0xA9]
    assert tokenizer.decode(ids(tokenizer, "é low")).text == "<s> é low"
    assert [texts(tokenizer.at(k), "low", around=False) for k in (0, 1)] == [["▁", "l", "o", "w"], ["▁", "lo", "w"]]


def test_pieces_without_a_space_before_a_text(opened):
    tokenizer = opened(piece_fields(PIECES, add_space_prefix=False, add_bos_token=False, add_eos_token=True))
    assert texts(tokenizer, "low</s>low") == ["low", "</s>", "low", "</s>"]
    assert tokenizer.decode(ids(tokenizer, " low", around=False)).text == " low"


def test_whatever_two_neighbours_make_is_a_token_whatever_its_type(opened):
    """Llama.cpp looks the joined text up among all tokens."""
    extra = [("<", -9.0), ("u", -9.0), (">", -9.0), ("<u", -1.0), ("<u>", 0.0), ("wlo", 0.0)]
    tokenizer = opened(piece_fields([*PIECES, *extra], {"<u>": CONTROL, "wlo": UNUSED}))
    assert texts(tokenizer, "<u>", "text", around=False) == ["▁", "<u>"]
    assert texts(tokenizer, "wlo", around=False) == ["▁", "wlo"]
    alone = opened(piece_fields([*PIECES, ("<v>", 0.0)], {"<v>": CONTROL}))
    assert texts(alone, "<v>", around=False) == ["<v>"]
    assert "<v>" not in texts(alone, "<v>", "text")


def test_pieces_of_letters_that_are_no_tokens(opened):
    with pytest.raises(FormatError, match="pieces hold 'x', which is no piece by itself"):
        opened(piece_fields([*PIECES, ("lox", 0.0)]))
    tokenizer = opened(piece_fields([*PIECES, ("lo\tx", 0.0)], {"lo\tx": USER_DEFINED}))
    assert texts(tokenizer, "lo\tx") == ["<s>", "lo\tx"]


def test_all_bytes_must_be_pieces(opened):
    fields = piece_fields(PIECES)
    fields[f"{GGML}tokens"] = [text.replace("<0x0A>", "<0x0a>") for text in fields[f"{GGML}tokens"]]
    with pytest.raises(FormatError, match="lacks 1 of the tokens of the 256 bytes, <0x0A> for one"):
        opened(fields)


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        ({"tokens": [*LOW, "lo"]}, "lists 'lo' twice, as 256 and 260"),
        ({"tokens": LOW[:-2]}, r"token_type has 3 entries for 258 tokens"),
        ({"token_type": ("float32", [1.0])}, "token_type is a list of float32 instead of a list of int32"),
        ({"scores": ("float32", [1.0])}, "scores has 1 entries for 260 tokens"),
        ({"merges": ["lo"]}, r"merges\[0\] is 'lo', which is no pair"),
        ({"merges": ["l o", "lo "]}, r"merges\[1\] is 'lo ', which is no pair"),
        ({"merges": ["x y"]}, r"merges\[0\] makes 'xy'"),
        ({"pre": 5}, r"tokenizer\.ggml\.pre is a uint32 instead of a string"),
        ({"add_bos_token": 1}, "add_bos_token is a uint32 instead of a bool"),
    ],
)
def test_damage_is_named(opened, changed, what):
    fields = bpe_fields(LOW, MERGES) | {GGML + name: value for name, value in changed.items()}
    if "tokens" in changed:
        fields[f"{GGML}token_type"] = ("int32", [NORMAL] * (3 if len(changed["tokens"]) == 258 else 300))
    with pytest.raises(FormatError, match=rf"model\.gguf: .*{what}"):
        opened(fields)


def test_merges_must_be_there(opened):
    fields = bpe_fields(LOW, MERGES)
    del fields[f"{GGML}merges"]
    with pytest.raises(FormatError, match=r"holds no tokenizer\.ggml\.merges"):
        opened(fields)


def test_an_empty_token_has_a_name_of_its_own(opened):
    tokenizer = opened(bpe_fields([*LETTERS, ""], []))
    assert tokenizer.label(256) == b"[EMPTY_256]"


def test_what_options_tell_is_saved_in_other_formats_and_the_rest_is_refused(opened, tmp_path):
    plain = opened(bpe_fields(LOW, MERGES, types={END: CONTROL}))
    save_tokenizer(plain, tmp_path / "t.json")
    saved = load_tokenizer(tmp_path / "t.json")
    chance = random.Random("saved")
    for _ in range(200):
        text = "".join(chance.choices([*"low é1!\n", END, " low"], k=12))
        assert saved.encode_ids(text) == plain.encode_ids(text) == ids(plain, text)
    for fields in (
        bpe_fields(LOW, MERGES, add_bos_token=True),
        bpe_fields(LOW, MERGES, "falcon"),
        bpe_fields(LOW, MERGES, types={END: USER_DEFINED, "low": CONTROL}),
        piece_fields(PIECES),
    ):
        with pytest.raises(FormatError, match="it would encode otherwise"):
            save_tokenizer(opened(fields), tmp_path / "u.json")


def test_letters_that_unicode_had_not_yet_are_cut_alike_on_the_quick_way(opened):
    letter = "\u1c8a"  # in bytes E1 B2 8A
    tokenizer = opened(bpe_fields([*LETTERS, "aá"], ["a á"]))
    assert tokenizer.pipeline.is_plain_for("ab")
    assert ids(tokenizer, f"a{letter}") == tokenizer.encode_ids(f"a{letter}") == [LETTERS.index(one) for one in "aá²Ĭ"]
    assert len(ids(tokenizer, "a\u1c80")) == 3  # a letter of Unicode 9 begins with the same bytes


def test_the_file_is_detected_by_its_content(tmp_path):
    path = tmp_path / "sha256-0123"  # as Ollama names it
    path.write_bytes(gguf(bpe_fields(LOW, MERGES)))
    assert detect_format(path).name == "gguf"


@pytest.mark.parametrize(
    "fields",
    [
        bpe_fields(LOW, MERGES, bos_token_id=259),
        piece_fields(PIECES),
        character_fields(["▁", "l", "o", "lo", "\n"], ["l o"]),
    ],
)
def test_llama_cpp_itself_gives_the_same_ids(tmp_path, fields):
    pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed")
    path = tmp_path / "model.gguf"
    path.write_bytes(gguf(fields))
    located = locate(str(path))
    for special_text in ("allow", "text"):
        for around in (True, False):
            encoded = located.load().lay_out("low  lowé</s>\n x", special_text, around)
            assert verify(located, encoded, special_text, around).is_same


def test_what_llama_cpp_itself_does_not_read(tmp_path):
    pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed")
    path = tmp_path / "model.gguf.gz"
    path.write_bytes(gzip.compress(gguf(bpe_fields(LOW, MERGES))))
    located = locate(str(path))
    with pytest.raises(FormatError, match=r"llama\.cpp itself does not read .*model\.gguf\.gz"):
        verify(located, located.load().lay_out("low"))
