"""SentencePiece models, held to the library that they belong to: ids, offsets and text, at every position."""

from __future__ import annotations

import gzip
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bpe_viz.engine.boundaries import LONG
from bpe_viz.engine.compiled import load
from bpe_viz.engine.explain import explain
from bpe_viz.engine.pretoken_counts import PretokenCounts
from bpe_viz.engine.replay import Replayer
from bpe_viz.engine.tokenizer import Tokenizer
from bpe_viz.engine.types import TrainingOptions
from bpe_viz.errors import FormatError
from bpe_viz.formats import detect_format, load_tokenizer, save_tokenizer
from bpe_viz.formats._sentencepiece_proto import (
    BYTE,
    CONTROL,
    NORMAL,
    UNKNOWN,
    UNUSED,
    USER_DEFINED,
    WireError,
    looks_like_sentencepiece,
    read_model,
)
from tests.formats.test_tokenizer_json_steps import random_texts
from tests.formats.vectors import kitoken_cases

sentencepiece = pytest.importorskip("sentencepiece")

TEXTS = st.text(st.sampled_from([*"aaabbc▁é€x", " ", " ", "\n", "<", "ﬁ"]), max_size=14)

Pieces = Sequence[tuple[str, float, int]]


def varint(value: int) -> bytes:
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


def block(number: int, content: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(content)) + content


def switch(number: int, value: int) -> bytes:
    return varint(number << 3) + varint(value)


def model_of(
    pieces: Pieces, kind: int = 2, byte_fallback: bool = False, prefix: bool = True, extra: bool = True
) -> bytes:
    """Return a model file."""
    data = b"".join(
        block(1, block(1, text.encode()) + b"\x15" + struct.pack("<f", score) + switch(3, type_))
        for text, score, type_ in pieces
    )
    data += block(2, switch(3, kind) + switch(35, int(byte_fallback)))
    return data + block(3, switch(3, int(prefix)) + switch(4, int(extra)))


@st.composite
def models(draw: st.DrawFn) -> tuple[Pieces, dict[str, bool]]:
    letters = draw(st.lists(st.sampled_from("abc▁é"), min_size=1, max_size=5, unique=True))
    longer = draw(st.lists(st.text(st.sampled_from(letters), min_size=2, max_size=5), max_size=9, unique=True))
    own = draw(st.lists(st.sampled_from(["ab", "▁a", "c", "xx", "<"]), max_size=2, unique=True))
    kind = st.sampled_from([NORMAL] * draw(st.sampled_from([1, 3, 12])) + [UNUSED])
    of_letter = st.sampled_from([NORMAL] * 40 + [UNUSED])
    scores = st.integers(-6, 0).map(float)
    pieces = [("<unk>", 0.0, UNKNOWN), ("<s>", 0.0, CONTROL)]
    pieces += [
        (text, draw(scores), draw(kind if len(text) > 1 else of_letter))
        for text in [*letters, *longer]
        if text not in own
    ]
    pieces += [(text, 0.0, USER_DEFINED) for text in own]
    falls_back = draw(st.booleans())
    if falls_back:
        pieces += [(f"<0x{byte:02X}>", 0.0, BYTE) for byte in range(256)]
    return pieces, {"byte_fallback": falls_back, "prefix": draw(st.booleans()), "extra": draw(st.booleans())}


def opened(data: bytes, path: Path) -> Tokenizer:
    path.write_bytes(data)
    return load_tokenizer(path)


def check_alike(tokenizer: Tokenizer, library: Any, text: str) -> None:
    """Hold ids, offsets and decoding of a text to the library."""
    expected = library.EncodeAsOffsetMapping(text)
    tokens = tokenizer.lay_out(text).at(tokenizer.position)
    assert tokens.ids.tolist() == expected["ids"], text
    assert tokenizer.encode_ids(text) == expected["ids"], text
    ours = zip(tokens.start.tolist(), tokens.end.tolist(), expected["ids"], strict=True)
    # The library gives the code points of a character that falls apart to the last of its bytes only.
    assert [(start, end) for start, end, number in ours if not library.is_byte(number)] == [
        place for place, number in zip(expected["offsets"], expected["ids"], strict=True) if not library.is_byte(number)
    ], text
    assert tokenizer.decode(expected["ids"]).text == library.decode(expected["ids"]), text


@settings(max_examples=600, deadline=None, suppress_health_check=list(HealthCheck))
@given(model=models(), texts=st.lists(TEXTS, min_size=1, max_size=4))
def test_any_model_encodes_as_in_the_library(tmp_path_factory, model, texts):
    data = model_of(model[0], **model[1])
    tokenizer = opened(data, tmp_path_factory.getbasetemp() / "any.model")
    library = sentencepiece.SentencePieceProcessor(model_proto=data)
    for text in texts:
        check_alike(tokenizer, library, text)


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(model=models(), texts=st.lists(TEXTS, min_size=1, max_size=3), data=st.data())
def test_every_position_is_the_library_without_the_later_pieces(tmp_path_factory, model, texts, data):
    pieces, options = model
    tokenizer = opened(model_of(pieces, **options), tmp_path_factory.getbasetemp() / "positions.model")
    position = data.draw(st.integers(0, tokenizer.n_merges))
    turns = tokenizer.merge_ranks.turns or range(tokenizer.n_merges)
    later = {tokenizer.id_of(len(tokenizer.base) + rank) for rank, turn in enumerate(turns) if turn >= position}
    # A control piece is never made by merging.
    fewer = [(text, score, CONTROL if number in later else kind) for number, (text, score, kind) in enumerate(pieces)]
    library = sentencepiece.SentencePieceProcessor(model_proto=model_of(fewer, **options))
    for text in texts:
        ids = library.encode(text)
        assert tokenizer.at(position).encode(text).ids == ids
        encoded = tokenizer.lay_out(text)
        assert encoded.at(position).ids.tolist() == ids
        assert encoded.counts(tokenizer.n_merges)[position] == len(ids)


FILES = {
    "mistral": "data/tok/mistral-v1.model.gz",
    "unigram": "data/tok/sp_unigram_1000.model",
    "toy": "cases/files/spm_toy.model",
    "byte fallback": "cases/files/spm_byte_fallback.model",
    "zero frequency": "cases/files/spm_zero_freq.model",
}


@pytest.mark.parametrize("name", FILES)
def test_two_thousand_random_texts_are_as_in_the_library(name, shared):
    path = shared / FILES[name]
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    tokenizer, library = load_tokenizer(path), sentencepiece.SentencePieceProcessor(model_proto=data)
    for text in random_texts(len(name), 2000):
        check_alike(tokenizer, library, text)
    long = " ".join(random_texts(1, 300))
    assert len(long) > 4000
    check_alike(tokenizer, library, long)


def test_mistral_has_the_expected_ids(shared):
    tokenizer = load_tokenizer(shared / FILES["mistral"])
    cases = kitoken_cases(shared, "sentencepiece/small_tokens_mistral01.txt")
    assert len(cases) == 20
    for text, ids in cases:
        assert tokenizer.encode(text).ids == ids, text


def test_mistral_is_stepped_merge_by_merge(shared):
    tokenizer = load_tokenizer(shared / FILES["mistral"])
    assert (tokenizer.kind, tokenizer.n_merges, tokenizer.why_no_merges) == ("BPE", 28446, "")
    (only,) = explain(tokenizer, "the")
    steps = [[tokenizer.symbols.content(one).decode() for one in split.symbols] for split in only.splits()]
    assert steps == [["▁t", "h", "e"], ["▁t", "he"], ["▁the"]]
    assert [merge.rank for merge in only.merges] == sorted(merge.rank for merge in only.merges)
    # Runs of spaces share one score, below all others.
    spaces = [token for token in tokenizer.vocabulary() if token.content.decode().strip("▁") == "" and token.rank]
    assert len(spaces) == 14
    at_end = tokenizer.encode("a" + 20 * " ").ids
    before = tokenizer.at(tokenizer.n_merges - 1).encode("a" + 20 * " ").ids
    assert (len(at_end), len(before)) == (3, 21)
    pairs = [tokenizer.merge_of(token.id) for token in spaces]
    assert all(pair is not None for pair in pairs)


def test_cases_of_the_library(case, shared):
    for number in ("EN-22", "EN-23"):
        given_, expected = case(number)["input"], case(number)["expected"]
        tokenizer = load_tokenizer(shared / "cases" / "files" / given_["file"])
        for text in given_["texts"]:
            encoded = tokenizer.lay_out(text)
            tokens = encoded.encoding(tokenizer.position).tokens
            ids = [token.id for token in tokens]
            if number == "EN-23":
                assert [tokenizer.label(one).decode() for one in ids] == expected[text]
                continue
            assert ids == expected[text]["ids"]
            assert [token.content.decode() for token in tokens] == expected[text]["pieces"]
            assert tokenizer.decode(ids).text == expected[text]["decode"]


def test_what_the_normalizer_drops_is_said(shared):
    tokenizer = load_tokenizer(shared / FILES["toy"])
    encoded = tokenizer.lay_out("  aaa   ab ")
    assert encoded.dropped == 3
    assert "drops 3 of 11 characters" in " ".join(encoded.notes)
    assert tokenizer.lay_out(" ").at(tokenizer.position).ids.tolist() == []
    assert tokenizer.encode("").ids == []


def test_ids_that_no_piece_has_are_marked(shared):
    decoding = load_tokenizer(shared / FILES["byte fallback"]).decode([259, 99_999, 263, -1, 198])
    assert decoding.text == "a<no token 99999> b<no token -1>\ufffd"
    assert decoding.unknown == (99_999, -1)
    assert decoding.invalid == 1


@pytest.mark.parametrize(
    ("pieces", "said"),
    [
        ([("ab", -1.0, NORMAL), ("a", -2.0, NORMAL)], "hold 'b', which is no piece by itself"),
        ([("a", -2.0, CONTROL)], "'a' is a letter that is a control piece"),
        ([("a", -2.0, UNUSED), ("b", -2.0, NORMAL), ("ab", -1.0, NORMAL)], "'a' is a letter that is unused"),
    ],
)
def test_what_cannot_be_stepped_is_shown_as_it_is(pieces, said, tmp_path):
    data = model_of([("<unk>", 0.0, UNKNOWN), *pieces])
    tokenizer = opened(data, tmp_path / "x.model")
    assert tokenizer.n_merges == 0
    assert said in tokenizer.why_no_merges
    library = sentencepiece.SentencePieceProcessor(model_proto=data)
    for text in ("ab a", "aabb", "b"):
        assert tokenizer.encode(text).ids == library.encode(text)


def test_an_unused_piece_merges_and_falls_back_unless_a_used_one_takes_it(tmp_path):
    letters = [(text, -9.0, NORMAL) for text in "▁abcd"]
    longer = [("ab", -1.0, UNUSED), ("abc", -2.0, UNUSED), ("abcd", -3.0, NORMAL), ("dd", -4.0, UNUSED)]
    data = model_of([("<unk>", 0.0, UNKNOWN), *letters, *longer], prefix=False)
    tokenizer, library = opened(data, tmp_path / "x.model"), sentencepiece.SentencePieceProcessor(model_proto=data)
    assert (tokenizer.n_merges, tokenizer.why_no_merges) == (4, "")
    assert any("fall back into what they were made of: 3." in note for note in tokenizer.notes)
    texts = {"ab": 2, "abc": 3, "abcd": 1, "abcabcdd": 5, "dd": 2}
    for text, n in texts.items():
        check_alike(tokenizer, library, text)
        assert len(tokenizer.encode(text).ids) == n
    assert len(tokenizer.at(2).encode("abcd").ids) == 4
    (only,) = explain(tokenizer, "abcabcd")
    assert [merge.rank for merge in only.merges] == [0, 0, 1, 1, 2]
    assert [tokenizer.id_of(symbol) for symbol in only.symbols] == library.encode("abcabcd")
    long = "abcabcdd" * 2000
    assert len(long) > LONG
    tokenizer.use(load())
    check_alike(tokenizer, library, long)
    words = PretokenCounts.from_counter(dict.fromkeys(texts, 1))
    replayer = Replayer(words, tokenizer, TrainingOptions())
    replayer.train_to()
    # A replay merges the unused pieces too, and says where the library lets them fall back.
    assert {words.content(row) for row in replayer.timeline.differing} == {b"ab", b"abc", b"abcabcdd", b"dd"}


def test_a_published_model_with_two_thirds_of_its_pieces_unused_is_as_in_the_library(shared, tmp_path):
    # As set_vocabulary of the library's C++ leaves it: single characters stay in use.
    known = read_model(gzip.decompress((shared / FILES["mistral"]).read_bytes())).pieces
    pieces = [
        (piece.text, piece.score, UNUSED if piece.type == NORMAL and len(piece.text) > 1 and number % 3 else piece.type)
        for number, piece in enumerate(known)
    ]
    data = model_of(pieces, byte_fallback=True)
    library = sentencepiece.SentencePieceProcessor(model_proto=data)
    tokenizer = opened(data, tmp_path / "set.model")
    assert tokenizer.n_merges > sum(kind == UNUSED for _, _, kind in pieces) > 10_000
    for text in [*random_texts(7, 1000), " ".join(random_texts(8, 300)), "the newest and the widest are lower"]:
        check_alike(tokenizer, library, text)


def test_a_model_cannot_be_saved_as_something_else(shared, tmp_path):
    for name in ("toy", "unigram"):
        tokenizer = load_tokenizer(shared / FILES[name])
        for other in ("x.json", "x.tiktoken", "x.codes", "merges.txt"):
            with pytest.raises(FormatError, match="cannot hold"):
                save_tokenizer(tokenizer, tmp_path / other)
    assert list(tmp_path.iterdir()) == []


def test_models_are_told_by_their_content(shared, tmp_path):
    for name, file in FILES.items():
        path = tmp_path / "any name.json"
        data = (shared / file).read_bytes()
        path.write_bytes(data)
        assert detect_format(path).name == "sentencepiece", name
    assert detect_format(shared / "data/tok/minbpe/basic.model").name == "minbpe"
    for other in (b"", b"\n", b"\n\n\n", b"\nminbpe v1\n", b"\n\x03abc", b"hello\n\n\x01a"):
        assert not looks_like_sentencepiece(other)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (block(1, block(1, b"a") + switch(3, 7)), "piece 0 has the type 7"),
        (block(1, block(1, b"a")) + block(1, switch(3, 1)), "piece 1 has no text"),
        (block(1, block(1, b"\xff")), "the text of piece 0 is not UTF-8"),
        (block(1, block(1, b"a")) + b"\x0a\x7f", "ends behind what holds it"),
        (block(1, block(1, b"a")) + b"\x0b", "is of no type"),
        (block(1, block(1, b"a")) + b"\x80" * 11, "does not end"),
        (block(1, block(1, b"a")) + block(2, switch(3, 9)), "the model type 9"),
        (block(2, b""), "no pieces"),
    ],
)
def test_damage_is_told_by_place(data, said):
    with pytest.raises(WireError, match=said):
        read_model(data)


def test_a_model_without_an_unknown_piece_is_refused(tmp_path):
    with pytest.raises(FormatError, match="0 of its pieces are unknown ones"):
        opened(model_of([("a", 0.0, NORMAL)]), tmp_path / "x.model")
    with pytest.raises(FormatError, match="lists a piece twice"):
        opened(model_of([("<unk>", 0.0, UNKNOWN), ("a", 0.0, NORMAL), ("a", 0.0, NORMAL)]), tmp_path / "x.model")
