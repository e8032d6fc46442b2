"""What a tokenizer's own library says, asked here and in a process of its own."""

from __future__ import annotations

import gzip
import hashlib
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from bpe_viz.engine.types import CountingOptions
from bpe_viz.errors import BpeVizError, FormatError, OptionError, Stopped
from bpe_viz.formats import OwnLibrary
from bpe_viz.formats.openai_encodings import encoding_named
from bpe_viz.names import locate
from bpe_viz.verification import Difference, Verifier, _own, library_of, verify
from tests.formats.ranks import BYTES, b64

TEXT = "low lower lowest 字 é\n\n  <s> newest\ud800 low"
FLAGS = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
PATTERN = r"[^\s]+|\s"


def whole_json(folder: Path) -> Path:
    letters = sorted({*TEXT.replace("\ud800", "\ufffd"), "a", "b"})
    vocabulary = {text: number for number, text in enumerate([*letters, "ab", "lo", "low", "<s>"])}
    model = {"type": "BPE", "vocab": vocabulary, "merges": [["a", "b"], ["l", "o"], ["lo", "w"]]}
    added = [{"id": vocabulary["<s>"], "content": "<s>", "special": True, **FLAGS}]
    path = folder / "tokenizer.json"
    path.write_text(json.dumps({"version": "1.0", "added_tokens": added, "model": model}))
    return path


def ranks(folder: Path) -> Path:
    path = folder / "x.tiktoken"
    path.write_text("".join(f"{b64(token)} {rank}\n" for rank, token in enumerate([*BYTES, b"lo", b"low"])))
    return path


def rank_json(folder: Path) -> Path:
    path = folder / "r.json"
    listed = "! 0 " + " ".join(map(b64, [*BYTES, b"lo", b"low"]))
    path.write_text(json.dumps({"pat_str": PATTERN, "special_tokens": {"<s>": 300}, "bpe_ranks": listed}))
    return path


def tekken(folder: Path) -> Path:
    path = folder / "tekken.json"
    entries = [{"rank": rank, "token_bytes": b64(token)} for rank, token in enumerate([*BYTES, b"lo", b"low"])]
    config = {"pattern": PATTERN, "default_vocab_size": 259, "default_num_special_tokens": 1}
    path.write_text(json.dumps({"config": config, "vocab": entries}))
    return path


def two_files(folder: Path) -> Path:
    from bpe_viz.formats._stand_ins import LETTER_OF_BYTE

    vocabulary = {text: number for number, text in enumerate([*LETTER_OF_BYTE, "lo", "low", "<s>"])}
    (folder / "vocab.json").write_text(json.dumps(vocabulary))
    (folder / "added_tokens.json").write_text('{"<s>": 258}')
    path = folder / "merges.txt"
    path.write_text("#version: 0.2\nl o\nlo w\n")
    return path


def codes(version: str, count: str = ""):
    def write(folder: Path) -> Path:
        path = folder / "x.codes"
        path.write_text("".join(f"{line}\n" for line in (version, *(f"{m}{count}" for m in CODES[version])) if line))
        return path

    return write


def pieces(folder: Path) -> Path:
    trainer = pytest.importorskip("sentencepiece").SentencePieceTrainer
    path = folder / "m.model"
    lines = iter(["low lower lowest newest", "low low newest 字 é"] * 9)
    with path.open("wb") as file:
        trainer.train(sentence_iterator=lines, model_writer=file, vocab_size=30, model_type="bpe", minloglevel=2)
    return path


def bert(folder: Path) -> Path:
    path = folder / "vocab.txt"
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "low", "##er", "##est", "new", "字", "e", "<", "s", ">"]
    path.write_text("".join(f"{word}\n" for word in words))
    return path


CODES = {
    "": ["l o", "lo w</w>", "e r</w>", "e s"],
    "#version: 0.1": ["l o", "lo w", "low </w>", "e s"],
    "#version: 0.2": ["l o", "lo w</w>", "e r</w>", "e s"],
}

KINDS = [
    pytest.param(whole_json, None, "tokenizers", id="tokenizer.json"),
    pytest.param(ranks, CountingOptions("gpt2"), "tiktoken", id="tiktoken"),
    pytest.param(rank_json, None, "tiktoken", id="rank-json"),
    pytest.param(tekken, None, "tiktoken", id="tekken"),
    pytest.param(two_files, CountingOptions("gpt2"), "tokenizers", id="gpt2"),
    pytest.param(pieces, None, "sentencepiece", id="sentencepiece"),
    pytest.param(bert, None, "tokenizers", id="bert"),
    pytest.param(codes("#version: 0.1"), None, "subword-nmt", id="codes-0.1"),
    pytest.param(codes("#version: 0.2"), None, "subword-nmt", id="codes-0.2"),
    pytest.param(codes("", " 7"), None, "subword-nmt", id="codes-fastbpe"),
]


@pytest.mark.parametrize(("make", "given", "library"), KINDS)
def test_the_library_of_each_kind_says_the_same(tmp_path, make, given, library):
    pytest.importorskip(library.replace("-", "_"))
    from importlib.metadata import version

    located = locate(str(make(tmp_path)))
    tokenizer = located.load(given)
    verifier = Verifier(located, given)
    assert verifier.library == library
    for special_text, around in (("allow", True), ("text", True), ("allow", False)):
        encoded = tokenizer.lay_out(TEXT, special_text, around)
        found = verify(located, encoded, special_text, around)
        assert found.is_same, found.describe()
        assert (found.library, found.version) == (library, version(library))
        assert found.n_tokens > 10
        assert found.describe() == f"The {library} library gives the same ids (version {found.version})."
        assert verifier.verify(encoded, special_text, around) == found
    verifier.close()


@pytest.mark.parametrize("make", [whole_json, two_files, codes("#version: 0.2")], ids=["json", "two", "codes"])
def test_the_library_gets_packed_files_unpacked(tmp_path, make):
    for package in ("tokenizers", "subword_nmt"):
        pytest.importorskip(package)
    path = make(tmp_path)
    for plain in (path, path.with_name("vocab.json")):
        if plain.exists():
            plain.with_name(f"{plain.name}.gz").write_bytes(gzip.compress(plain.read_bytes()))
            plain.unlink()
    located = locate(f"{path}.gz")
    tokenizer = located.load(CountingOptions("gpt2") if make is two_files else None)
    assert verify(located, tokenizer.lay_out(TEXT)).is_same


def test_an_encoding_by_name(hub, shared, tmp_path):
    pytest.importorskip("tiktoken")
    encoding = encoding_named("cl100k_base")
    path = tmp_path / "tiktoken" / hashlib.sha1(encoding.address.encode()).hexdigest()
    path.parent.mkdir()
    path.write_bytes(gzip.decompress((shared / "data" / "tok" / "cl100k_base.tiktoken.gz").read_bytes()))
    located = locate("tiktoken:cl100k_base")
    verifier = Verifier(located)
    encoded = located.load().lay_out("Hello<|endoftext|> wörld 12345")
    assert verifier.verify(encoded) == verify(located, encoded)
    assert verify(located, encoded).is_same
    verifier.close()


def answering(monkeypatch, answer) -> None:
    """Let the library of every file answer so: answer gets the right ids."""

    def open_it(path, tokenizer):
        return lambda text, special_text, around: answer(tokenizer.encode(text).ids)

    monkeypatch.setattr(_own, "library_of", lambda path: OwnLibrary("pytest", open_it))


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda ids: ids[:2], Difference(2, 3, 173, None, r"173 ('\\xad')", "no more")),
        (lambda ids: [*ids, 258], Difference(5, 5, None, 258, "no more", "258")),
        (lambda ids: [ids[0], 108, *ids[2:]], Difference(1, 3, 229, 108, r"229 ('\\xe5')", "108 ('l')")),
    ],
    ids=["fewer", "more", "another"],
)
def test_the_first_difference(tmp_path, monkeypatch, change, expected):
    answering(monkeypatch, change)
    located = locate(str(ranks(tmp_path)))
    encoded = located.load(CountingOptions("none")).lay_out("low字d")
    assert encoded.at(2).ids.tolist() == [257, 229, 173, 151, 100]
    found = verify(located, encoded)
    assert (found.difference, found.n_tokens, found.is_same) == (expected, 5, False)
    assert found.describe() == (
        f"Token {expected.number + 1} differs: bpe-viz gives {expected.our_text}, the pytest library "
        f"{pytest.__version__} {expected.their_text}, at character {expected.place + 1} of the text."
    )


HOLE = {"version": "1.0", "added_tokens": [
    {"id": 10, "content": "<eot>", "special": True, **FLAGS}, {"id": 7, "content": "<pad>", "special": True, **FLAGS}
], "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}}  # fmt: skip
"""As in case IM-13: the library numbers both tokens anew, 3 and 4."""


@pytest.mark.parametrize(
    ("change", "renumbered", "number"),
    [
        (lambda ids: [2, 3, 2, 4], 2, 1),
        (lambda ids: [2, 3, 1, 4], 0, 2),
        (lambda ids: [2, 3, 2, 3], 0, 3),
        (lambda ids: [2, 3, 2], 0, 3),
        (lambda ids: [2, 3, 2, 4, 0], 0, 4),
    ],
    ids=["as known", "another token too", "the wrong new id", "fewer", "more"],
)
def test_a_known_renumbering_is_told_from_a_difference(tmp_path, monkeypatch, change, renumbered, number):
    answering(monkeypatch, change)
    path = tmp_path / "hole.json"
    path.write_text(json.dumps(HOLE))
    located = locate(str(path))
    found = verify(located, located.load().lay_out("ab<eot>ab<pad>"))
    assert (found.difference.renumbered, found.difference.number, found.is_same) == (renumbered, number, False)
    assert ("numbers anew" in found.describe()) == bool(renumbered)


# It adds those of a tokenizer.json in their order there, and transformers those beside two files in that of their ids.
@pytest.mark.parametrize(("name", "theirs"), [("hole.json", 3), ("merges.txt", 4)])
def test_the_library_itself_renumbers_what_leaves_a_hole(tmp_path, name, theirs, case):
    pytest.importorskip("tokenizers")
    given = case("IM-13")
    (tmp_path / "hole.json").write_text(json.dumps(HOLE))
    (tmp_path / "vocab.json").write_text(json.dumps(HOLE["model"]["vocab"]))
    (tmp_path / "merges.txt").write_text("a b\n")
    (tmp_path / "added_tokens.json").write_text(json.dumps(given["input"]["declared"]))
    located = locate(str(tmp_path / name))
    encoded = located.load(None if name == "hole.json" else CountingOptions("none")).lay_out(given["input"]["text"])
    assert encoded.at(1).ids.tolist() == given["expected"]["HF_in_vocab"]
    found = verify(located, encoded)
    assert found.difference.renumbered == 2
    assert (found.difference.ours, found.difference.theirs) == (10, theirs)
    assert name != "hole.json" or theirs == given["expected"]["HF_not_in_vocab"][1]


def test_a_long_token_is_shortened(tmp_path, monkeypatch):
    answering(monkeypatch, lambda ids: [])
    path = tmp_path / "x.codes"
    path.write_text("#version: 0.2\n" + "".join(f"{'a' * n} {'a' * n}\n" for n in (1, 2, 4, 8, 16, 32)) + "b b\n")
    located = locate(str(path))
    found = verify(located, located.load().lay_out("a" * 65))
    assert len(found.difference.our_text) < 80


def test_there_is_no_library_for_some_kinds(tmp_path):
    path = tmp_path / "x.model"
    path.write_text("minbpe v1\n\n0\n97 98\n")
    for act in (lambda: library_of(path), lambda: Verifier(locate(str(path)))):
        with pytest.raises(OptionError, match=r"No library that can be asked reads minbpe.* bpe-viz convert"):
            act()


class Panic(BaseException):
    """What Rust's panics are to Python."""


@pytest.mark.parametrize(
    "error", [Exception("bad"), SystemExit("bad"), Panic("bad")], ids=lambda one: type(one).__name__
)
def test_what_a_library_raises_is_told_in_a_line(tmp_path, monkeypatch, error):
    def fail(*arguments):
        raise error

    located = locate(str(whole_json(tmp_path)))
    encoded = located.load().lay_out("ab")
    monkeypatch.setattr(_own, "library_of", lambda path: OwnLibrary("pytest", fail))
    with pytest.raises(FormatError, match=r"The pytest library cannot read .*tokenizer\.json: bad\."):
        verify(located, encoded)
    monkeypatch.setattr(_own, "library_of", lambda path: OwnLibrary("pytest", lambda path, tokenizer: fail))
    with pytest.raises(FormatError, match=r"The pytest library fails on this text with .*: bad\."):
        verify(located, encoded)


def test_a_library_that_is_not_installed_is_named(tmp_path, monkeypatch):
    def open_it(path, tokenizer):
        raise ImportError("no such module")

    monkeypatch.setattr(_own, "library_of", lambda path: OwnLibrary("some-library", open_it))
    located = locate(str(whole_json(tmp_path)))
    with pytest.raises(OptionError, match=r"some-library library.* not installed\. Run: pip install some-library"):
        verify(located, located.load().lay_out("ab"))


def test_only_all_merges_can_be_asked_about(tmp_path):
    located = locate(str(whole_json(tmp_path)))
    encoded = located.load().at(0).lay_out("ab")
    for act in (lambda: verify(located, encoded), lambda: Verifier(located).verify(encoded)):
        with pytest.raises(OptionError, match="all merges only"):
            act()


def test_stop_ends_the_child_and_the_next_question_starts_another(tmp_path):
    pytest.importorskip("tokenizers")
    located = locate(str(whole_json(tmp_path)))
    encoded = located.load().lay_out("ab" * 1000)
    verifier = Verifier(located)
    assert verifier.verify(encoded).is_same
    child = verifier._child._process
    with pytest.raises(Stopped):
        verifier.verify(encoded, should_stop=lambda: True)
    assert child.poll() is not None
    assert verifier.verify(encoded).is_same
    verifier._child._process.kill()
    with pytest.raises(FormatError, match="ended while it was asked"):
        verifier.verify(encoded)
    assert verifier.verify(encoded).is_same
    child = verifier._child._process
    verifier.close()
    assert child.poll() is not None
    verifier.close()


def test_what_the_child_cannot_read_is_told(tmp_path):
    path = whole_json(tmp_path)
    located = locate(str(path))
    encoded = located.load().lay_out("ab")
    path.write_text("{}")
    with pytest.raises(BpeVizError, match=r"tokenizer\.json"):
        Verifier(located).verify(encoded)


def test_several_threads_may_ask(tmp_path):
    pytest.importorskip("tokenizers")
    located = locate(str(whole_json(tmp_path)))
    tokenizer = located.load()
    texts = [tokenizer.lay_out("ab" * n) for n in range(1, 9)]
    verifier = Verifier(located)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(verifier.verify, texts))
    verifier.close()
    assert [(one.is_same, one.n_tokens) for one in found] == [(True, n) for n in range(1, 9)]
