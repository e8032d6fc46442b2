"""GPT-2's two files against their libraries and the expected ids of others."""

from __future__ import annotations

import gzip
import json
import pickle
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe_viz.engine.symbols import stand_in_order
from bpe_viz.engine.tokenizer import Tokenizer
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
from bpe_viz.formats._stand_ins import LETTER_OF_BYTE
from tests.engine.test_replay import agrees_with_naive
from tests.formats.ranks import NEWER_TEXTS, NEWER_TOKENS
from tests.formats.training import CORPORA, TEXTS, merges_of_tokens, trained
from tests.formats.vectors import kitoken_cases, llama_cpp_cases

GIVEN = CountingOptions("gpt2")


@pytest.fixture(scope="module")
def gpt2(shared) -> Tokenizer:
    return load_tokenizer(shared / "data" / "tok" / "gpt2" / "vocab.bpe.gz")


def write(folder: Path, vocabulary: object, merges: str, **beside: object) -> Path:
    """Write the two files, and JSON beside them by name; returns the path of the merges."""
    (folder / "vocab.json").write_text(json.dumps(vocabulary), encoding="utf-8")
    (folder / "merges.txt").write_bytes(merges.encode())
    for name, value in beside.items():
        (folder / f"{name}.json").write_text(json.dumps(value), encoding="utf-8")
    return folder / "merges.txt"


def of_bytes(*tokens: str) -> dict[str, int]:
    return {text: number for number, text in enumerate((*LETTER_OF_BYTE, *tokens))}


def test_gpt2_is_known_by_its_content(gpt2, shared):
    assert (gpt2.name, gpt2.counting.pretokenizer, gpt2.special_ids) == ("GPT-2", "gpt2", {"<|endoftext|>": 50256})
    assert "those of GPT-2" in gpt2.notes[0]
    folder = shared / "data" / "tok" / "gpt2"
    assert detect_format(folder / "encoder.json.gz").name == detect_format(folder / "vocab.bpe.gz").name == "gpt2"
    assert load_tokenizer(folder / "encoder.json.gz").encode("Hello world").ids == [15496, 995]
    with pytest.raises(FormatError, match="has its own pretokenizer"):
        load_tokenizer(folder / "encoder.json.gz", GIVEN)


def test_the_expected_ids_of_gpt2(gpt2, shared):
    for text, ids in kitoken_cases(shared, "tokenizers/small_tokens_gpt2.txt"):
        assert gpt2.encode(text).ids == ids, text
    for text, ids in llama_cpp_cases(shared, "ggml-vocab-gpt-2.gguf"):
        assert gpt2.encode(text).ids == ids, text


def test_the_tokenizers_library_reads_gpt2_the_same(gpt2, shared, tmp_path):
    tokenizers = pytest.importorskip("tokenizers")
    for name in ("encoder.json", "vocab.bpe"):
        packed = shared / "data" / "tok" / "gpt2" / f"{name}.gz"
        (tmp_path / name).write_bytes(gzip.decompress(packed.read_bytes()))
    library = tokenizers.ByteLevelBPETokenizer(str(tmp_path / "encoder.json"), str(tmp_path / "vocab.bpe"))
    for name in ("en_alice29.txt", "code_argparse.py", "stress_blns.txt", "emoji_sample.txt"):
        text = (shared / "data" / "text" / name).read_text(encoding="utf-8")
        assert gpt2.encode(text).ids == library.encode(text).ids, name


@pytest.mark.parametrize("text", NEWER_TEXTS)
def test_letters_are_those_of_the_unicode_that_the_library_knows(text, tmp_path):
    tokenizers = pytest.importorskip("tokenizers")
    pairs = [[LETTER_OF_BYTE[byte] for byte in token] for token in NEWER_TOKENS]
    vocabulary = of_bytes(*map("".join, pairs))
    merges = write(tmp_path, vocabulary, "\n".join(map(" ".join, pairs)))
    library = tokenizers.ByteLevelBPETokenizer(vocabulary, [tuple(pair) for pair in pairs])
    loaded = load_tokenizer(merges, CountingOptions("gpt2"))
    assert loaded.encode_ids(text) == library.encode(text).ids


def test_letters_for_bytes_are_those_of_the_case(case):
    expected = case("IM-17")["expected"]
    for byte in case("IM-17")["input"]["bytes"]:
        assert f"U+{ord(LETTER_OF_BYTE[int(byte, 16)]):04X}" == expected[byte]
    assert len(set(LETTER_OF_BYTE)) == expected["distinct"]
    printable = (*range(33, 127), *range(161, 173), *range(174, 256))
    assert stand_in_order() == (*printable, *range(33), *range(127, 161), 173)


def test_a_typed_stand_in_is_no_space(gpt2, case):
    encoding = gpt2.encode(case("EN-21")["input"]["text"])
    assert [_printed(gpt2, number) for number in encoding.ids] == case("EN-21")["expected"]["gpt2_printable_tokens"]
    assert b"".join(token.content for token in encoding.tokens).hex() == case("EN-21")["expected"]["utf8_hex"]


def _printed(tokenizer: Tokenizer, token_id: int) -> str:
    return "".join(LETTER_OF_BYTE[byte] for byte in tokenizer.token(token_id).content)


def test_header_line_ends_and_blank_lines(shared, case):
    files = shared / "cases" / "files"
    expected = case("IM-01")["expected"]
    for name in case("IM-01")["input"]["files"]:
        assert merges_of(files / name) == expected[name], name
    assert merges_of(files / case("IM-02")["input"]["file"]) == case("IM-02")["expected"]["right"]
    for name, line in (("merges_blank_line.txt", 3), ("merges_trailing_blank.txt", 4)):
        loaded = load_tokenizer(files / name, GIVEN)
        assert merges_of(files / name) == [["a", "b"], ["ab", "c"]]
        assert any(
            f"blank lines are passed over, which other programs refuse: {line}." in note for note in loaded.notes
        )
    with pytest.raises(FormatError, match=r"merges_double_space\.txt, line 2 .* a space too many: 'a  b'"):
        load_tokenizer(files / "merges_double_space.txt", GIVEN)


def merges_of(path: Path) -> list[list[str]]:
    loaded = load_tokenizer(path, GIVEN)
    return [[loaded.symbols.label(symbol).decode() for symbol in pair] for pair in loaded.pairs]


def test_a_vocabulary_with_several_merges_beside_it_asks_for_one(shared):
    with pytest.raises(FormatError, match=r"several files may hold its merges: merges_blank_line\.txt"):
        load_tokenizer(shared / "cases" / "files" / "toy_vocab.json", GIVEN)


def test_the_last_place_of_a_repeated_merge_counts(tmp_path, case):
    path = write(tmp_path, {"a": 0, "b": 1, "c": 2, "ab": 3, "bc": 4}, "a b\nb c\na b\n")
    loaded = load_tokenizer(path, GIVEN)
    assert [token.content.decode() for token in loaded.encode("abc").tokens] == case("EN-03")["expected"]["HF"]
    assert any("whose last place counts: 1, first on line 3" in note for note in loaded.notes)


def test_merge_order_is_by_rank(tmp_path, case):
    given_case = case("EN-01")["input"]
    vocabulary = {token: number for number, token in enumerate(given_case["vocab"])}
    path = write(tmp_path, vocabulary, "\n".join(given_case["merges"]))
    tokens = load_tokenizer(path, GIVEN).encode(given_case["text"]).tokens
    assert [token.content.decode() for token in tokens] == case("EN-01")["expected"]["tokens"]


def test_runs_of_one_letter(tmp_path, case):
    for number, expected in case("EN-02")["expected"].items():
        path = write(tmp_path, {"a": 0, "aa": 1, "aaa": 2, "aaaa": 3},
                     "\n".join(case("EN-02")["input"][f"merges_{number}"]))  # fmt: skip
        loaded = load_tokenizer(path, GIVEN)
        for text, tokens in zip(case("EN-02")["input"]["texts"], expected, strict=True):
            assert [token.content.decode() for token in loaded.encode(text).tokens] == tokens


@settings(max_examples=300, deadline=None)
@given(lines=merges_of_tokens(), texts=st.lists(st.text("abc", max_size=14), min_size=1, max_size=6), data=st.data())
def test_tokens_that_several_merges_make_go_on_as_in_the_library(tmp_path_factory, lines, texts, data):
    tokenizers = pytest.importorskip("tokenizers")
    folder = tmp_path_factory.mktemp("again")
    vocabulary = of_bytes(*dict.fromkeys(map("".join, lines)))
    path = write(folder, vocabulary, "".join(f"{left} {right}\n" for left, right in lines))
    loaded = load_tokenizer(path, GIVEN)
    assert loaded.n_merges == len(lines)
    last = {line: number for number, line in enumerate(lines)}
    for position in (len(lines), data.draw(st.integers(0, len(lines)))):
        applied = [line for number, line in enumerate(lines[:position]) if last[line] == number]
        library = tokenizers.Tokenizer(tokenizers.models.BPE(vocabulary, applied))
        for text in texts:
            assert loaded.at(position).encode(text).ids == library.encode(text).ids
    sent = pickle.loads(pickle.dumps(loaded))
    assert [sent.encode(text).ids for text in texts] == [loaded.encode(text).ids for text in texts]
    for name in ("merges.txt", "x.json"):
        (folder / "again").mkdir(exist_ok=True)
        save_tokenizer(loaded, folder / "again" / name)
        again = load_tokenizer(folder / "again" / name, None if name == "x.json" else GIVEN)
        assert [again.encode(text).ids for text in texts] == [loaded.encode(text).ids for text in texts]


def test_a_merge_that_goes_on_from_what_two_merges_make_is_stepped_and_replayed(tmp_path):
    path = write(tmp_path, of_bytes("ab", "abc", "bc", "abcd"), "a b\nb c\nab c\nabc d\na bc\n")
    loaded = load_tokenizer(path, GIVEN)
    assert [loaded.at(position).encode("abcd").ids for position in (2, 3, 4)] == [[256, 99, 100], [257, 100], [259]]
    assert any("several merges make, and that others go on from: 1." in note for note in loaded.notes)
    agrees_with_naive(loaded, {"abcd": 3, "bcabcd": 2, "aabcd": 1})


def test_shared_and_missing_ids_are_kept_and_said(tmp_path):
    # IM-12: one id for two tokens, and a hole.
    loaded = load_tokenizer(write(tmp_path, {"a": 0, "b": 0, "c": 5}, "#version: 0.2\n"), GIVEN)
    assert loaded.encode("abc").ids == [0, 0, 5]
    assert loaded.vocab_size == 2
    assert any("share an id with another" in note for note in loaded.notes)


def test_a_token_that_two_merges_make_is_one_token(shared, tmp_path, case):
    # TR-36, as the two files hold it.
    expected = case("TR-36")["expected"]
    vocabulary = {"a": 0, "b": 1, "c": 2, "ab": 3, "bc": 4, "abc": 5}
    path = write(tmp_path, vocabulary, "#version: 0.2\na b\nb c\nab c\na bc\n")
    loaded = load_tokenizer(path, GIVEN)
    assert loaded.n_merges == expected["merges"]
    assert [token.content.decode() for token in loaded.encode("abc").tokens] == expected["encode_abc"]
    assert loaded.encode("abc").ids == [5]
    (tmp_path / "again").mkdir()
    save_tokenizer(loaded, tmp_path / "again" / "merges.txt")
    assert (tmp_path / "again" / "merges.txt").read_bytes() == path.read_bytes()
    assert json.loads((tmp_path / "again" / "vocab.json").read_bytes()) == vocabulary


def test_a_header_stands_on_the_first_line_only(tmp_path):
    vocabulary = {letter: number for number, letter in enumerate("#:abcdeinorsv 0.2")}
    word = ""
    merges = []
    for letter in "#version:":
        if word:
            merges.append(f"{word} {letter}")
            vocabulary[word + letter] = len(vocabulary)
        word += letter
    vocabulary["#version:a"] = len(vocabulary)
    path = write(tmp_path, vocabulary, "\n".join(["#version: 0.2", *merges, "#version: a"]))
    loaded = load_tokenizer(path, GIVEN)
    assert loaded.n_merges == len(merges) + 1
    assert any(f"line {len(merges) + 2} begins like a header and is a merge here" in note for note in loaded.notes)


CLIP_CONFIG = {
    "tokenizer_class": "CLIPTokenizer",
    "bos_token": {"content": "<|startoftext|>", "normalized": True},
    "eos_token": "<|endoftext|>",
    "unk_token": "<|endoftext|>",
}


def test_clip_gives_the_ids_of_its_class(clip_model, shared, tmp_path):
    merges = "\n".join(clip_model["merges"])
    path = write(tmp_path, clip_model["vocab"], f"#version: 0.2\n{merges}\n", tokenizer_config=CLIP_CONFIG)
    loaded = load_tokenizer(path)
    assert loaded.special_ids == {"<|startoftext|>": 49406, "<|endoftext|>": 49407}
    assert loaded.vocab_size == 49408
    for text, ids in kitoken_cases(shared, "tokenizers/small_tokens_clip_base.txt"):
        assert loaded.encode(text).ids == ids, text
    assert any("around a text; here they are left out" in note for note in loaded.notes)


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("ΑΣ Σ", [138, 109, 139, 481, 139, 481]),  # every capital sigma becomes σ
        ("a <|STARTOFTEXT|>", [320, 49406]),  # it is looked for behind all steps
        ("a <|ENDOFTEXT|>", [320, 27, 347, 40786, 4160, 91, 285]),  # it before them
        ("\u1c89 \ua7cb", [157, 110, 488, 133, 353]),  # letters of Unicode 16
    ],
)
def test_clips_class_makes_lower_case_as_its_library(text, ids, clip_model, tmp_path):
    """transformers 5.24, CLIPTokenizer."""
    merges = "\n".join(clip_model["merges"])
    path = write(tmp_path, clip_model["vocab"], f"#version: 0.2\n{merges}\n", tokenizer_config=CLIP_CONFIG)
    assert load_tokenizer(path).encode(text).ids == ids


def test_clip_decodes_as_its_library(clip_model, shared, tmp_path):
    path = write(tmp_path, clip_model["vocab"], "\n".join(["#version: 0.2", *clip_model["merges"]]),
                 tokenizer_config={"tokenizer_class": "CLIPTokenizerFast"})  # fmt: skip
    loaded = load_tokenizer(path)
    output = (shared / "data" / "vectors" / "kitoken" / "tokenizers" / "small_output_clip_base.txt").read_text("utf-8")
    written = output.split("\n")[:2]
    cases = kitoken_cases(shared, "tokenizers/small_tokens_clip_base.txt")[:2]
    for (_, ids), expected in zip(cases, written, strict=True):
        assert loaded.decode(ids).text == expected.replace("</w>", " ").rstrip(" ")


def test_classes_say_how_text_is_cut(tmp_path):
    vocabulary = of_bytes("ab", "<|im_end|>")
    decoder = {"257": {"content": "<|im_end|>", "special": True, "normalized": False}}
    config = {"tokenizer_class": "Qwen2Tokenizer", "added_tokens_decoder": decoder}
    path = write(tmp_path, vocabulary, "a b\n", tokenizer_config=config)
    loaded = load_tokenizer(path)
    assert loaded.counting == CountingOptions("qwen2", normalize=("NFC",), special_tokens=("<|im_end|>",))
    assert loaded.encode("ab12<|im_end|>").ids == [256, ord("1"), ord("2"), 257]
    config["tokenizer_class"] = "MyTokenizer"
    write(tmp_path, vocabulary, "a b\n", tokenizer_config=config)
    with pytest.raises(PretokenizerNeeded, match="does not know how a MyTokenizer cuts it"):
        load_tokenizer(path)
    assert load_tokenizer(path, GIVEN).special_ids == {"<|im_end|>": 257}
    config["tokenizer_class"] = "GPT2Tokenizer"
    write(tmp_path, vocabulary, "a b\n", tokenizer_config=config)
    assert load_tokenizer(path).counting.pretokenizer == "gpt2"
    # The library would take this one, which may cut otherwise.
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(
        PretokenizerNeeded, match=r"while tokenizer\.json beside it does\. Open tokenizer\.json, or give"
    ):
        load_tokenizer(path)
    assert load_tokenizer(path, GIVEN).encode("ab").ids == [256]


def test_special_tokens_come_from_every_file_beside_it(tmp_path):
    vocabulary = of_bytes("ab", "<s>")
    path = write(tmp_path, vocabulary, "a b\n", added_tokens={"<x>": 300}, special_tokens_map={
        "bos_token": "<s>", "additional_special_tokens": [{"content": "<x>", "normalized": False}]})  # fmt: skip
    loaded = load_tokenizer(path, GIVEN)
    assert loaded.special_ids == {"<x>": 300, "<s>": 257}
    assert loaded.encode("<s>ab<x>").ids == [257, 256, 300]
    assert any("added_tokens.json, special_tokens_map.json" in note for note in loaded.notes)


@pytest.mark.parametrize(
    ("beside", "what"),
    [
        ({"added_tokens": {"<s>": 1, "ab": 2}}, "'ab' has the id 2, but the vocabulary says 256"),
        ({"added_tokens": {"<s>": -1}}, "the id of '<s>' is -1"),
        ({"added_tokens": {"<s>": True}}, "the id of '<s>' is true"),
        ({"added_tokens": {"": 400}}, "no text"),
        ({"special_tokens_map": {"pad_token": "<pad>"}}, "'<pad>' is named, but neither"),
        ({"special_tokens_map": {"pad_token": 5}}, "pad_token is no token"),
        ({"special_tokens_map": []}, "no whole special_tokens_map.json"),
        ({"tokenizer_config": {"add_prefix_space": True}}, "does not know where a tokenizer of no named class puts"),
        ({"tokenizer_config": {"do_lower_case": True}}, "do_lower_case is true"),
        ({"tokenizer_config": {"added_tokens_decoder": {"x": "<s>"}}}, "added_tokens_decoder.x is no id"),
        ({"tokenizer_config": {"additional_special_tokens": "x"}}, "no list"),
        ({"added_tokens": {"<s>": 300}, "tokenizer_config": {"added_tokens_decoder": {"301": "<s>"}}}, "elsewhere 300"),
    ],
)
def test_what_stands_beside_is_checked(beside, what, tmp_path):
    path = write(tmp_path, of_bytes("ab"), "a b\n", **beside)
    with pytest.raises(FormatError, match=re.escape(what)) as caught:
        load_tokenizer(path, GIVEN)
    assert str(tmp_path) in caught.value.message


def test_an_unknown_token_stands_for_unknown_letters(tmp_path):
    vocabulary = {"<unk>": 0, "a": 1, "b": 2, "ab": 3}
    path = write(tmp_path, vocabulary, "a b\n", special_tokens_map={"unk_token": "<unk>"})
    assert load_tokenizer(path, GIVEN).encode("abxab").ids == [3, 0, 3]
    path.with_name("special_tokens_map.json").unlink()
    with pytest.raises(FormatError, match="lacks 'x' at character 3, and it has no unknown token"):
        load_tokenizer(path, GIVEN).encode("abxab")


@pytest.mark.parametrize(
    ("vocabulary", "merges", "what"),
    [
        (of_bytes(), "a b\n", "line 1 makes 'ab', which .*vocab.json lacks"),
        (of_bytes("ab"), "a b\nab字 c\n", "line 2 names 'ab字', which is no letter and which no line before it makes"),
        (of_bytes("ab"), "#version: 0.2\na b c\n", "line 2 is not two tokens"),
        ({"Ġ": 0, "t": 1, "Ġt": 2}, "Ġ t\n", "lacks 254 of the 256 letters"),
        ({}, "a b\n", "holds no token"),
        ({"a": "b"}, "a b\n", "the id of 'a' is \"b\""),
        ({"a": 1.5}, "a b\n", "the id of 'a' is 1.5"),
        ({"a": 2**31}, "a b\n", "the id of 'a' is 2147483648"),
    ],
)
def test_damage_is_named(vocabulary, merges, what, tmp_path):
    path = write(tmp_path, vocabulary, merges)
    with pytest.raises(FormatError, match=what) as caught:
        load_tokenizer(path, GIVEN)
    assert caught.value.remedy
    assert len(str(caught.value)) < 600


def test_a_file_that_is_no_utf8_is_named_with_its_line(tmp_path):
    path = write(tmp_path, of_bytes("ab"), "a b\n")
    path.write_bytes(b"#version: 0.2\na b\n\xff c\n")
    with pytest.raises(FormatError, match="line 3 is not UTF-8 at byte 18: 0xff"):
        load_tokenizer(path, GIVEN)


def test_either_file_asks_for_the_other(tmp_path):
    (tmp_path / "vocab.json").write_text('{"a": 0}')
    with pytest.raises(FormatError, match=r"its merges are in another file.*merges\.txt or vocab\.bpe"):
        load_tokenizer(tmp_path / "vocab.json", GIVEN)
    folder = tmp_path / "merges"
    folder.mkdir()
    (folder / "m.txt").write_text("#version: 0.2\nĠ t\nh e\n", encoding="utf-8")
    with pytest.raises(FormatError, match=r"its vocabulary are in another|its vocabulary"):
        load_tokenizer(folder / "m.txt", GIVEN)


def test_files_with_a_prefix_find_each_other(tmp_path):
    path = write(tmp_path, of_bytes("ab"), "a b\n")
    for name in ("vocab.json", "merges.txt"):
        (tmp_path / name).rename(tmp_path / f"novel-{name}")
    for name in ("novel-vocab.json", "novel-merges.txt"):
        assert load_tokenizer(path.with_name(name), GIVEN).encode("ab").ids == [256]


def test_ordinary_json_is_not_taken_for_a_vocabulary(tmp_path):
    for name, content in (("a.json", '{"id": 5, "text": "x"}'), ("b.jsonl", '{"id": 5}\n{"id": 6}\n')):
        (tmp_path / name).write_text(content)
        assert detect_format(tmp_path / name) is None


COUNTING = st.builds(
    CountingOptions,
    pretokenizer=st.sampled_from(["none", "whitespace", "gpt2", "cl100k"]),
    special_tokens=st.lists(st.sampled_from(["<s>", "a", "ab", "é", "Ġ", "a b"]), max_size=2).map(tuple),
)
TRAINING = st.builds(
    TrainingOptions,
    base=st.sampled_from(["bytes", "characters"]),
    end_of_word=st.sampled_from(["none", "none", "glued", "separate"]),
    rule=st.sampled_from(["textbook", "huggingface"]),
    unknown=st.sampled_from([None, None, "<unk>"]),
    merges=st.integers(0, 25),
)


def test_a_tokenizer_without_a_token_is_refused(tmp_path):
    empty = trained(" ", CountingOptions("whitespace"), TrainingOptions(base="characters"))
    with pytest.raises(FormatError, match="has no token"):
        save_tokenizer(empty, tmp_path / "merges.txt")
    assert not list(tmp_path.iterdir())


@settings(max_examples=300)
@given(corpus=CORPORA, counting=COUNTING, training=TRAINING, texts=st.lists(TEXTS, min_size=1, max_size=4),
       position=st.integers(0, 25))  # fmt: skip
def test_what_is_saved_encodes_alike_here_and_in_the_library(
    tmp_path_factory, corpus, counting, training, texts, position
):
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer = trained(corpus, counting, training)
    tokenizer = tokenizer.at(min(position, tokenizer.n_merges))
    path = tmp_path_factory.mktemp("saved") / "merges.txt"
    try:
        save_tokenizer(tokenizer, path)
    except FormatError:
        assert not list(path.parent.iterdir())
        return
    loaded = load_tokenizer(path, CountingOptions(counting.pretokenizer))
    suffix = "</w>" if training.end_of_word == "glued" else None
    library = tokenizers.models.BPE.from_file(
        str(path.with_name("vocab.json")), str(path), **({"end_of_word_suffix": suffix} if suffix else {})
    )
    for text in texts:
        encoding = tokenizer.encode(text, "text")
        if encoding.gaps:
            continue
        assert loaded.encode(text).ids == encoding.ids
        theirs = [
            token.id
            for pretoken in pretokens(tokenizer, text)
            for token in library.tokenize(as_written(pretoken, training.base))
        ]
        assert theirs == encoding.ids
    again = path.with_name("again-merges.txt")
    save_tokenizer(loaded, again)
    assert again.read_bytes() == path.read_bytes()


def pretokens(tokenizer: Tokenizer, text: str) -> list[str]:
    from bpe_viz.engine.pretokenize import pretokenizer_for

    return pretokenizer_for(tokenizer.counting).split(text)


def as_written(pretoken: str, base: str) -> str:
    return "".join(LETTER_OF_BYTE[byte] for byte in pretoken.encode()) if base == "bytes" else pretoken


def test_what_the_two_files_cannot_hold_is_refused(tmp_path):
    path = tmp_path / "merges.txt"
    for counting, training, what in (
        (CountingOptions(), {"end_of_word": "separate"}, "symbol of its own"),
        (CountingOptions(), {"end_of_word": "glued", "marker": "_"}, "marker of the two files is </w>"),
        (CountingOptions(normalize=("NFC",)), {}, "normalized"),
        (CountingOptions(), {"base": "characters", "unknown": "<unk>"}, "unknown letters"),
    ):
        options = Options(counting, TrainingOptions(**training))
        with pytest.raises(FormatError, match=what):
            check_before_training(options, path)
        with pytest.raises(FormatError, match=what):
            save_tokenizer(trained("low lower", counting, options.training), path)
    spaced = trained("a b a b", CountingOptions("none"), TrainingOptions(base="characters", merges=1))
    with pytest.raises(FormatError, match="holds white space"):
        save_tokenizer(spaced, path)
    like_bytes = trained("\u01201", CountingOptions("none"), TrainingOptions(base="characters", merges=1))
    with pytest.raises(FormatError, match=r"'\u0120 1' would be taken for one of bytes"):
        save_tokenizer(like_bytes, path)
    base = trained("abc", CountingOptions(), TrainingOptions(merges=0)).base
    a, b, c = b"abc"
    twice = Tokenizer.from_merges(base, [Pair(a, b), Pair(b, c), Pair(256, c), Pair(a, 257)], CountingOptions())
    with pytest.raises(FormatError, match="Two merges make the token 'abc'"):
        save_tokenizer(twice, path)
    special = trained("low", CountingOptions(special_tokens=("Ġ",)), TrainingOptions(merges=0))
    with pytest.raises(FormatError, match="written like the ordinary token"):
        save_tokenizer(special, path)
    assert not list(tmp_path.iterdir())


def test_the_other_file_is_not_written_over_unasked(tmp_path):
    tokenizer = trained("low lower", CountingOptions(), TrainingOptions(merges=2))
    (tmp_path / "vocab.json").write_text("mine")
    with pytest.raises(FormatError, match=r"vocab\.json is there already"):
        save_tokenizer(tokenizer, tmp_path / "merges.txt")
    with pytest.raises(FormatError, match=r"vocab\.json is there already"):
        check_before_training(Options(), tmp_path / "merges.txt")
    assert (tmp_path / "vocab.json").read_text() == "mine"
    with pytest.raises(FormatError, match="does not end with the name"):
        save_tokenizer(tokenizer, tmp_path / "x.txt", "gpt2")
    draft = draft_tokenizer(tokenizer, tmp_path / "vocab.json")
    draft.write()
    assert load_tokenizer(tmp_path / "merges.txt", GIVEN).encode("lower").ids == tokenizer.encode("lower").ids
    assert "keep the two files together" in draft.notes[0]
    assert "--pretokenizer gpt2" in draft.losses[0]
