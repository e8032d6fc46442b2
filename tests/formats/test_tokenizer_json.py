"""tokenizer.json against the library that it belongs to."""

from __future__ import annotations

import gzip
import json

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from bpe_viz.engine.corpus import count_text
from bpe_viz.engine.tokenizer import Tokenizer
from bpe_viz.engine.trainer import Trainer
from bpe_viz.engine.types import NORMALIZATIONS, CountingOptions, Options, TrainingOptions
from bpe_viz.errors import CorpusError, FormatError, PatternError
from bpe_viz.formats import _split_patterns, draft_tokenizer, load_tokenizer, save_tokenizer
from bpe_viz.formats._tokenizer_json_writing import document_of

tokenizers = pytest.importorskip("tokenizers")

LETTERS = [*"aabbcé字😀ßΣ1２'.,_-/<w>Ġ ", " ", " ", "\n", "\r", "\t", "\0", "\u0301", "\u00a0", "\u2028", "\x85"]
TEXTS = st.text(st.sampled_from(LETTERS), max_size=40)
CORPORA = st.text(st.sampled_from(LETTERS), min_size=1, max_size=60)
PRETOKENIZERS = st.sampled_from(["none", "whitespace", "gpt2", "cl100k", "o200k"])
PATTERNS = st.sampled_from([None, None, None, r"\w+", r"[\s\S]+", r"\S", r"[a-z]+|[^a-z]+", r" ?\p{L}+"])
SPECIALS = st.lists(st.sampled_from(["<s>", "a", "ab", "é", "Ġ", "a b", "b\n", "<s>a", "_w"]), max_size=2)

COUNTING = st.builds(
    CountingOptions,
    pretokenizer=PRETOKENIZERS,
    pattern=PATTERNS,
    # Python and the library lowercase a final sigma differently; the note says so.
    normalize=st.lists(st.sampled_from(NORMALIZATIONS), max_size=2, unique=True).map(tuple),
    special_tokens=SPECIALS.map(tuple),
)
TRAINING = st.builds(
    TrainingOptions,
    base=st.sampled_from(["bytes", "characters"]),
    end_of_word=st.sampled_from(["none", "none", "glued"]),
    marker=st.sampled_from(["</w>", "_", "é", "Ġ"]),
    unknown=st.sampled_from([None, "<unk>", "?", "a"]),
    merges=st.integers(0, 25),
)


def trained(text: str, counting: CountingOptions, training: TrainingOptions) -> Tokenizer:
    corpus = count_text(text, counting)
    trainer = Trainer(corpus.pretokens, training, len(set(counting.special_tokens)))
    trainer.train_to()
    return Tokenizer.from_timeline(trainer.timeline, counting)


def in_library(document: object) -> tokenizers.Tokenizer:
    return tokenizers.Tokenizer.from_str(json.dumps(document))


def is_exact(tokenizer: Tokenizer, text: str) -> bool:
    """Tell whether the notes of a saved file promise equal ids for this text."""
    if "lowercase" in tokenizer.counting.normalize and "Σ" in text:
        return False
    base = tokenizer.base
    has_gaps = base.base == "characters" and base.end_of_word == "glued" and tokenizer.unknown is None
    return not has_gaps or not tokenizer.encode(text).gaps


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(corpus=CORPORA, counting=COUNTING, training=TRAINING, texts=st.lists(TEXTS, min_size=1, max_size=4),
       position=st.integers(0, 25))  # fmt: skip
def test_the_library_gives_the_same_ids(corpus, counting, training, texts, position):
    try:
        tokenizer = trained(corpus, counting, training)
    except (CorpusError, PatternError):
        assume(False)
    tokenizer = tokenizer.at(min(position, tokenizer.n_merges))
    try:
        document = document_of(tokenizer)
    except FormatError:
        assume(False)
    library = in_library(document)
    for text in [corpus, *texts]:
        if is_exact(tokenizer, text):
            assert library.encode(text).ids == tokenizer.encode(text).ids


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(corpus=CORPORA, counting=COUNTING, training=TRAINING, texts=st.lists(TEXTS, min_size=1, max_size=4))
def test_a_saved_file_is_read_as_it_was(tmp_path_factory, corpus, counting, training, texts):
    path = tmp_path_factory.getbasetemp() / "round_trip.json"
    try:
        tokenizer = trained(corpus, counting, training)
        save_tokenizer(tokenizer, path)
    except (CorpusError, PatternError, FormatError):
        assume(False)
    loaded = load_tokenizer(path)
    assert loaded.pairs == tokenizer.pairs
    assert loaded.base.content == tokenizer.base.content
    assert loaded.base.ends_word == tokenizer.base.ends_word
    assert loaded.special_ids == tokenizer.special_ids
    for text in [corpus, *texts]:
        if not is_exact(tokenizer, text):
            continue
        for position in {0, tokenizer.n_merges // 2, tokenizer.n_merges}:
            here = tokenizer.at(position).encode(text)
            there = loaded.at(position).encode(text)
            assert there.ids == here.ids
            assert [token.content for token in there.tokens if token.id is not None] == [
                token.content for token in here.tokens if token.id is not None
            ]
    ids = tokenizer.encode(corpus).ids
    # The library's own decoders do not take an empty list.
    assert not ids or loaded.decode(ids).text == in_library(json.loads(path.read_text())).decode(
        ids, skip_special_tokens=False
    )


@pytest.mark.parametrize("pretokenizer", ["whitespace", "gpt2"])
@pytest.mark.parametrize("base", ["bytes", "characters"])
@pytest.mark.parametrize("end_of_word", ["none", "glued"])
def test_the_library_decodes_alike(pretokenizer, base, end_of_word):
    text = "low  lower naïve 字\nnewest"
    tokenizer = trained(
        text * 2,
        CountingOptions(pretokenizer=pretokenizer),
        TrainingOptions(base=base, end_of_word=end_of_word, merges=20),
    )
    ids = tokenizer.encode(text).ids
    assert in_library(document_of(tokenizer)).decode(ids) == tokenizer.decode(ids).text


@pytest.mark.parametrize("name", ["none", "whitespace", "gpt2", "cl100k", "o200k"])
def test_named_patterns_cut_alike_in_the_library(name, shared):
    tokenizer = trained("a", CountingOptions(pretokenizer=name), TrainingOptions(merges=0))
    library = in_library(document_of(tokenizer))
    for path in sorted((shared / "data" / "text").rglob("*.txt")):
        text = path.read_bytes().decode("utf-8", "replace")
        assert library.encode(text).ids == tokenizer.encode(text).ids, path.name


def test_a_separate_marker_is_refused_with_the_reason():
    tokenizer = trained("low", CountingOptions(), TrainingOptions(end_of_word="separate"))
    with pytest.raises(FormatError, match=r"symbol of its own.*--end-of-word glued"):
        document_of(tokenizer)


@pytest.mark.parametrize("corpus", ["a_b a_c a_d a", "a_b a_c a_d"])
def test_a_marker_that_the_text_imitates_is_refused(corpus):
    tokenizer = trained(
        corpus,
        CountingOptions(pretokenizer="whitespace"),
        TrainingOptions(base="characters", end_of_word="glued", marker="_"),
    )
    with pytest.raises(FormatError, match=r"--marker"):
        document_of(tokenizer)


@pytest.mark.parametrize("pattern", [r"\p{N}{1,3}+|\D+", r"(?s:.+)", r"(?V1)[a-z--b]+"])
def test_a_pattern_that_cuts_otherwise_there_is_refused(pattern):
    tokenizer = trained("12345678 ab", CountingOptions(pattern=pattern), TrainingOptions(merges=0))
    with pytest.raises(FormatError, match=r"would cut text differently"):
        document_of(tokenizer)


def test_a_position_keeps_the_final_ids_and_says_so(tmp_path):
    tokenizer = trained("low low lower", CountingOptions(special_tokens=("<s>",)), TrainingOptions(merges=4)).at(1)
    document = document_of(tokenizer)
    assert in_library(document).encode("low<s>").ids == tokenizer.encode("low<s>").ids
    draft = draft_tokenizer(tokenizer, tmp_path / "x.json")
    assert (draft.losses, "first 1 of 4 merges" in draft.notes[0]) == ((), True)


CASES = {"a": 0, "b": 1, "c": 2, "ab": 3, "bc": 4}


def write(path, **changes):
    model = {"type": "BPE", "vocab": CASES, "merges": [["a", "b"]], **changes.pop("model", {})}
    path.write_text(json.dumps({"version": "1.0", "added_tokens": [], "model": model, **changes}))
    return path


REFUSED = {
    "model: Expected `object | array`": {"model": {"type": "WordPiece", "vocab": 3}},
    "model.merges[0] makes 'ac'": {"model": {"merges": ["a c"]}},
    "model.merges[0] names 'z'": {"model": {"merges": ["a z"]}},
    "model.merges[0] is 'abc'": {"model": {"merges": ["abc"]}},
    "invalid type: integer `3`": {"pre_tokenizer": {"type": "Sequence", "pretokenizers": 3}},
    "missing field `replacement`": {"pre_tokenizer": {"type": "Metaspace"}},
    "Expected `int`": {"added_tokens": [{"id": "9", "content": "ab"}]},
}


@pytest.mark.parametrize("said", REFUSED)
def test_what_is_no_tokenizer_is_refused_by_place(said, tmp_path):
    with pytest.raises(FormatError) as caught:
        load_tokenizer(write(tmp_path / "x.json", **REFUSED[said]))
    assert str(tmp_path / "x.json") in str(caught.value)
    assert said.split(":")[-1] in str(caught.value)
    assert "\n" not in str(caught.value)


ACCEPTED = {
    "merges as strings": {"model": {"merges": ["a b", "b c"]}},
    "old file without type": {"model": {"type": None}},
    "unknown token": {"model": {"unk_token": "c"}},
    "lowercase": {"normalizer": {"type": "Sequence", "normalizers": [{"type": "NFD"}, {"type": "Lowercase"}]}},
    "white space": {"pre_tokenizer": {"type": "WhitespaceSplit"}},
    "isolated": {
        "pre_tokenizer": {"type": "Split", "pattern": {"Regex": r"\d"}, "behavior": "Isolated", "invert": False}
    },
    "removed": {"pre_tokenizer": {"type": "Split", "pattern": {"String": "."}, "behavior": "Removed", "invert": False}},
    "kept": {"pre_tokenizer": {"type": "Split", "pattern": {"Regex": "[a-z]+"}, "behavior": "Removed", "invert": True}},
    "added": {"added_tokens": [{"id": 5, "content": "<s>", "special": False}]},
    "suffix": {"model": {"end_of_word_suffix": "c", "vocab": {**CASES, "ac": 5, "cc": 6, "abc": 7}}},
}


@pytest.mark.parametrize("name", ACCEPTED)
@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
@given(text=st.lists(st.sampled_from([*"aabbccAé1. \n", "<s>"]), max_size=20).map("".join))
def test_what_is_accepted_encodes_as_there(tmp_path_factory, name, text):
    path = write(tmp_path_factory.getbasetemp() / "accepted.json", **json.loads(json.dumps(ACCEPTED[name])))
    full = json.loads(path.read_text())
    for token in full["added_tokens"]:
        token |= {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    full["model"] = {key: value for key, value in full["model"].items() if value is not None}
    path.write_text(json.dumps(full))
    loaded = load_tokenizer(path)
    try:
        encoding = loaded.encode(text)
    except FormatError as error:
        encoding, said = None, str(error)
    if encoding is None:
        assert "has no unknown token" in said
    elif not encoding.gaps:
        assert tokenizers.Tokenizer.from_file(str(path)).encode(text).ids == encoding.ids


def test_byte_level_with_ids_in_another_order(tmp_path, shared):
    vocabulary = json.loads(gzip.decompress((shared / "data/tok/gpt2/encoder.json.gz").read_bytes()))
    lines = gzip.decompress((shared / "data/tok/gpt2/vocab.bpe.gz").read_bytes()).decode().split("\n")[1:-1]
    path = write(
        tmp_path / "gpt2.json",
        model={"vocab": vocabulary, "merges": lines},
        pre_tokenizer={"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True},
        post_processor={"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False},
        decoder={"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True},
        added_tokens=[{
            "id": 50256, "content": "<|endoftext|>", "single_word": False, "lstrip": False, "rstrip": False,
            "normalized": False, "special": True,
        }],
    )  # fmt: skip
    loaded = load_tokenizer(path)
    assert loaded.encode("The cat sat on the mat.").ids == [464, 3797, 3332, 319, 262, 2603, 13]
    assert loaded.counting.pretokenizer == "gpt2"
    library = tokenizers.Tokenizer.from_file(str(path))
    for name in ("en_alice29.txt", "ja_wagahai_120k.txt", "code_argparse.py", "emoji_sample.txt"):
        text = (shared / "data/text" / name).read_bytes().decode() + "<|endoftext|>"
        ids = loaded.encode(text).ids
        assert ids == library.encode(text).ids
        assert loaded.decode(ids).text == text
    again = tmp_path / "again.json"
    save_tokenizer(loaded, again)
    assert tokenizers.Tokenizer.from_file(str(again)).encode("Hello, how").ids == loaded.encode("Hello, how").ids


def test_cases_of_the_library(case, shared):
    files = shared / "cases" / "files"
    assert load_tokenizer(files / "hf_two_derivations.json").encode("abc").ids == [5]
    assert load_tokenizer(files / "hf_hole.json").encode("ab").ids == case("IM-12")["expected"]["hole"]["encode_ab"]
    assert load_tokenizer(files / "hf_dup_ids.json").encode("ab").ids == [0, 0]
    duplicate = load_tokenizer(files / "hf_dup_merge.json")
    assert [duplicate.label(i).decode() for i in duplicate.encode("abc").ids] == case("EN-03")["expected"]["HF"]
    assert "listed again" in " ".join(duplicate.notes)
    text = case("IM-13")["input"]["text"]
    hole = load_tokenizer(files / "hf_added_hole.json")
    assert hole.encode(text).ids == [2, 10, 7]
    assert "'<eot>' is 10 here and 3 there, '<pad>' is 7 here and 4 there" in " ".join(hole.notes)
    assert hole.decode([10, 7]).text == "<eot> <pad>"
    in_vocabulary = load_tokenizer(files / "hf_added_hole_in_vocab.json")
    assert in_vocabulary.encode(text).ids == case("IM-13")["expected"]["HF_in_vocab"]
    for name in ("hf_two_derivations.json", "hf_dup_merge.json", "hf_added_hole_in_vocab.json"):
        # The library leaves x out and joins a and b.
        tokenizer = load_tokenizer(files / name)
        assert tokenizer.encode("axb").ids == tokenizer.encode("ab").ids
        assert "lacks 1 characters" in " ".join(tokenizer.lay_out("axb").notes)
    two = load_tokenizer(files / "hf_two_derivations.json")
    assert two.n_merges == case("TR-36")["expected"]["merges"]
    fallback = load_tokenizer(files / "hf_byte_fallback.json")
    expected = case("EN-07")["expected"]
    text = case("EN-07")["input"]["text"]
    tokens = fallback.lay_out(text).at(fallback.position)
    assert tokens.ids.tolist() == expected["ids"]
    assert [fallback.label(number).decode() for number in expected["ids"]] == expected["tokens"]
    assert [list(one) for one in zip(tokens.start.tolist(), tokens.end.tolist(), strict=True)] == expected["offsets"]
    assert fallback.decode(expected["ids"]).text == expected["decode"]
    ignoring = load_tokenizer(files / "hf_ignore_merges.json")
    library = tokenizers.Tokenizer.from_file(str(files / "hf_ignore_merges.json"))
    for text in ("abc", "ab", "bc", "cab"):
        assert ignoring.encode(text).ids == library.encode(text).ids


def test_repeated_letters_merge_from_the_left(case, tmp_path):
    for number, expected in case("EN-02")["expected"].items():
        merges = case("EN-02")["input"][f"merges_{number}"]
        vocab = {text: i for i, text in enumerate(dict.fromkeys(["a", *(m.replace(" ", "") for m in merges)]))}
        tokenizer = load_tokenizer(write(tmp_path / "x.json", model={"vocab": vocab, "merges": merges}))
        for text, tokens in zip(case("EN-02")["input"]["texts"], expected, strict=True):
            assert [tokenizer.label(one).decode() for one in tokenizer.encode(text).ids] == tokens
    given = case("EN-01")["input"]
    vocab = {text: number for number, text in enumerate(given["vocab"])}
    tokenizer = load_tokenizer(write(tmp_path / "x.json", model={"vocab": vocab, "merges": given["merges"]}))
    tokens = [tokenizer.label(one).decode() for one in tokenizer.encode(given["text"]).ids]
    assert tokens == case("EN-01")["expected"]["tokens"]


@pytest.fixture(scope="module")
def whole_file(tmp_path_factory) -> bytes:
    tokenizer = trained("low low lower", CountingOptions(special_tokens=("<s>",)),
                        TrainingOptions(base="characters", unknown="<unk>", merges=4))  # fmt: skip
    path = tmp_path_factory.mktemp("whole") / "whole.json"
    save_tokenizer(tokenizer, path)
    return path.read_bytes()


def check_damaged(path, data):
    """A damaged file is refused, or means the same as to the library, or it is said that ids differ there [IM-13]."""
    path.write_bytes(data)
    try:
        loaded = load_tokenizer(path)
    except FormatError:
        return
    try:
        library = tokenizers.Tokenizer.from_file(str(path))
    except BaseException as error:  # the library raises bare Exception, and a panic is none
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        return  # it is stricter, about fields that do not matter here
    # Added tokens that leave a hole keep the ids that the file declares, and that is said: case IM-13.
    keeps_its_own_ids = any("other ids" in note for note in loaded.notes)
    for text in ("low lower" if keeps_its_own_ids else "low lower<s>", "", "x low\n"):
        try:
            encoding = loaded.encode(text)
        except FormatError:
            continue
        if not encoding.gaps:
            assert library.encode(text).ids == encoding.ids


def test_an_added_token_with_the_id_of_another_gets_that_of_the_library(whole_file, tmp_path):
    document = json.loads(whole_file)
    number = document["model"]["vocab"].pop("<s>")
    path = tmp_path / "taken.json"
    path.write_text(json.dumps(document))
    assert load_tokenizer(path).special_ids["<s>"] == number
    check_damaged(path, path.read_bytes())
    document["model"]["vocab"]["<q>"] = number
    path.write_text(json.dumps(document))
    loaded = load_tokenizer(path)
    theirs = tokenizers.Tokenizer.from_file(str(path)).encode("low<s>").ids
    assert loaded.encode("low<s>").ids == theirs
    assert f"'<s>' is {theirs[-1]}, not {number}" in " ".join(loaded.notes)


def test_an_added_token_that_is_listed_twice_counts_once(whole_file, tmp_path):
    document = json.loads(whole_file)
    number = document["model"]["vocab"].pop("<s>")
    special = document["added_tokens"][0]
    document["added_tokens"] = [special, special, special | {"id": number + 1, "content": "<t>"}]
    path = tmp_path / "twice.json"
    path.write_text(json.dumps(document))
    loaded = load_tokenizer(path)
    assert "other ids" not in " ".join(loaded.notes)
    assert loaded.encode("low<s><t>").ids == tokenizers.Tokenizer.from_file(str(path)).encode("low<s><t>").ids


def test_every_truncation_is_refused(whole_file, tmp_path):
    path = tmp_path / "cut.json"
    for end in range(len(whole_file)):
        path.write_bytes(whole_file[:end])
        with pytest.raises(FormatError):
            load_tokenizer(path)


@settings(max_examples=500, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_every_damage_is_refused_or_harmless(tmp_path_factory, whole_file, data):
    damaged = bytearray(whole_file)
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(damaged) - 1))
        end = data.draw(st.integers(start, min(len(damaged), start + 20)))
        damaged[start:end] = data.draw(
            st.one_of(st.binary(max_size=3), st.sampled_from([b"null", b"0", b'""', b"[]", b"{}", b"-1", b"true"]))
        )
    check_damaged(tmp_path_factory.getbasetemp() / "damaged.json", bytes(damaged))


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_every_changed_value_is_refused_or_harmless(tmp_path_factory, whole_file, data):
    document = json.loads(whole_file)
    place = document
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = data.draw(st.sampled_from(keys))
        if not isinstance(place[key], dict | list) or not place[key] or data.draw(st.integers(0, 3)) == 0:
            break
        place = place[key]
    values = st.sampled_from([None, 0, -1, 2**40, 1.5, True, "", "a", "l", "<s>", [], {}, [["l", "o"]], {"a": 0}])
    place[key] = data.draw(values)
    check_damaged(tmp_path_factory.getbasetemp() / "changed.json", json.dumps(document).encode())


def test_options_are_not_needed_to_open_it_again(tmp_path):
    options = Options().with_counting(pattern=r"\w+", normalize=("NFC",)).with_training(merges=3)
    tokenizer = trained("low low lower", options.counting, options.training)
    save_tokenizer(tokenizer, tmp_path / "t.json")
    assert load_tokenizer(tmp_path / "t.json").counting == options.counting


def test_without_the_library_only_patterns_that_mean_the_same_are_written(monkeypatch):
    monkeypatch.setattr(_split_patterns, "library_is_installed", lambda: False)
    _split_patterns.why_not_alike.cache_clear()
    for pattern in (r"\w+| ?\W", r"[a-z]+(?!x)", r" ?\p{L}+|\s+"):
        assert _split_patterns.why_not_alike(pattern) == ""
    for pattern in (r"\p{N}{1,3}+", r"(?s:.+)", r"\h+", r"(?V1)[a-z--b]+"):
        assert "may mean something else" in _split_patterns.why_not_alike(pattern)
    _split_patterns.why_not_alike.cache_clear()


def test_word_characters_are_translated_to_and_fro():
    for pattern in (r"\w+", r"[^\w\s]+|\W", r"\\w"):
        assert _split_patterns.from_library(_split_patterns.for_library(pattern)) == pattern
    tokenizer = trained("a\u200db ½ x", CountingOptions(pattern=r"\w+|[^\w\s]|\W"), TrainingOptions(merges=0))
    text = "a\u200db½²_é3 \u200c !"
    assert in_library(document_of(tokenizer)).encode(text).ids == tokenizer.encode(text).ids
