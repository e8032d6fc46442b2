"""Encoding in bulk: the ids of tiktoken, whatever the pieces, the threads and what is remembered."""

from __future__ import annotations

import mmap

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe_viz.engine import compiled, encoder, encoding_arrays, kernels_merging, piece_cutting
from bpe_viz.engine.compiled import PLAIN
from bpe_viz.engine.corpus import count_text
from bpe_viz.engine.encoder import Encoder, byte_spans
from bpe_viz.engine.kernels_encoding import FORGOTTEN
from bpe_viz.engine.pretokenize import PRETOKENIZERS, pretokenizer_for
from bpe_viz.engine.tokenizer import Tokenizer
from bpe_viz.engine.trainer import Trainer
from bpe_viz.engine.types import CountingOptions, TrainingOptions
from bpe_viz.errors import FormatError, Stopped
from bpe_viz.formats import load_tokenizer

any_text = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=80)
# What the patterns tell apart: white space, both apostrophes, digits, marks, letters of one to four bytes.
parts = st.sampled_from(
    [
        *" \n\t\r'’1²éeΣ字😀\u0301\u00a0\u3000\u0085.",
        "\r\n",
        "ʕ",
        "\U0001e6c0",
        "\U000323b0",
        "don't",
        " the",
        "LL",
        "123456",
        "<|endoftext|>",
        "a" * 60,
    ]
)
mixed = st.lists(parts, max_size=60).map("".join)


@pytest.fixture(scope="session")
def compiled_one(cl100k):
    return Encoder(cl100k, compiled.load())


@pytest.fixture(scope="session")
def plain_one(cl100k):
    return Encoder(cl100k, PLAIN, entries=64)


@given(st.one_of(any_text, mixed))
def test_ids_are_those_of_tiktoken(cl100k, cl100k_of_tiktoken, compiled_one, plain_one, text):
    expected = cl100k_of_tiktoken.encode(text, allowed_special="all")
    assert cl100k.encode_ids(text) == expected
    assert cl100k.encode_ids(text) == expected, "remembered"
    assert [token.id for token in cl100k.encode(text).tokens] == expected
    for one in (compiled_one, plain_one):
        assert one.encode_bytes(text.encode()).tolist() == expected
    plain_text = cl100k_of_tiktoken.encode(text, disallowed_special=())
    assert compiled_one.encode_bytes(text.encode(), allow_special=False).tolist() == plain_text
    assert cl100k.encode_ids(text, "text") == plain_text
    assert cl100k.decode(expected).text == text


def test_real_text_has_the_ids_of_tiktoken(shared, cl100k, cl100k_of_tiktoken, compiled_one):
    for path in sorted((shared / "data" / "text").rglob("*.txt")) + sorted((shared / "data" / "text").glob("*.py")):
        text = path.read_text(encoding="utf-8", errors="replace")
        expected = cl100k_of_tiktoken.encode(text, allowed_special="all")
        assert compiled_one.encode_bytes(text.encode()).tolist() == expected, path
        assert cl100k.encode_ids(text) == expected, path


def test_published_vectors(shared, cl100k):
    folder = shared / "data" / "vectors" / "kitoken"
    lines = (folder / "small_input.txt").read_text(encoding="utf-8").split("\n")
    listed = (folder / "tiktoken" / "small_tokens_cl100k_base.txt").read_text().split("\n")
    checked = 0
    for line, ids in zip(lines, listed, strict=True):
        if line:
            text = line.replace("\\n", "\n").replace("\\s", " ").replace("\\x", "\\")
            assert cl100k.encode_ids(text) == [int(token_id) for token_id in ids.split(", ")]
            checked += 1
    assert checked == 20


@pytest.mark.parametrize(("text", "count"), [("a" * 100_000, 12_500), (" " * 100_000, 782), ("\n" * 100_000, 3_125)])
def test_long_runs(case, compiled_one, cl100k, text, count):
    assert len(compiled_one.encode_bytes(text.encode())) == count
    assert len(cl100k.encode_ids(text)) == count


def test_a_run_of_a_million(case, compiled_one):
    assert len(compiled_one.encode_bytes(b"^" * 1_000_000)) == case("EN-19")["expected"]["counts"]["^"]["cl100k"]


@pytest.fixture(scope="module")
def trained() -> Tokenizer:
    counting = CountingOptions(special_tokens=("<s>", "<s> x"))
    text = "the lowest of the low, newer and newest: 字字 \n\n don't\t" * 3
    trainer = Trainer(count_text(text, counting).pretokens, TrainingOptions(merges=60), 2)
    trainer.train_to()
    return Tokenizer.from_timeline(trainer.timeline, counting)


small = st.lists(st.sampled_from([*"aelownst \n字.'", "<s>", "<s> x", " the", "lowest"]), max_size=60).map("".join)


@given(small, st.integers(1, 40), st.integers(1, 3), st.integers(0, 60))
@settings(max_examples=60)
def test_pieces_threads_and_memory_change_nothing(trained, text, piece_bytes, threads, position):
    one = trained.at(min(position, trained.n_merges))
    expected = [token.id for token in one.lay_out(text).encoding(one.position).tokens]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoder, "PIECE_BYTES", max(4, piece_bytes))
        patch.setattr(piece_cutting, "_WINDOW", 4)
        for kernel_set in (None, PLAIN, compiled.load()):
            for entries in (32, 1024):
                bulk = Encoder(one, kernel_set, threads, entries)
                for _ in range(2):
                    assert bulk.encode_bytes(text.encode()).tolist() == expected
                blocks = bulk.encode_blocks(text[i : i + piece_bytes] for i in range(0, len(text), piece_bytes))
                assert [i for block in blocks for i in block.tolist()] == expected


composing = st.lists(st.sampled_from([*"aeΣσ \n.\u0301\u0323\u1100\u1161\u3000", " \u0301"]), max_size=40).map("".join)


@given(
    st.one_of(small, composing),
    st.sampled_from([("lowercase",), ("NFC",), ("NFKD", "lowercase")]),
    st.sampled_from(["gpt2", "cl100k", "none", "whitespace"]),
    st.integers(4, 40),
)
@settings(max_examples=100)
def test_normalized_text_may_be_cut(trained, text, forms, pretokenizer, piece_bytes):
    one = Tokenizer.from_merges(trained.base, trained.pairs, CountingOptions(pretokenizer, normalize=forms))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoder, "PIECE_BYTES", piece_bytes)
        for kernel_set in (None, PLAIN):
            assert Encoder(one, kernel_set).encode_bytes(text.encode()).tolist() == one.encode(text).ids


@given(small)
@settings(max_examples=30)
def test_a_base_of_characters_leaves_gaps_out(text):
    counting = CountingOptions("whitespace")
    trainer = Trainer(count_text("low lower newest", counting).pretokens, TrainingOptions(base="characters"))
    trainer.train_to()
    one = Tokenizer.from_timeline(trainer.timeline, counting)
    assert Encoder(one, PLAIN).encode_bytes(text.encode()).tolist() == one.encode(text).ids


@given(any_text, st.sampled_from(sorted(PRETOKENIZERS)))
def test_byte_spans_are_the_pretokens(text, name):
    data = text.encode()
    start, end = byte_spans(PRETOKENIZERS[name], data)
    found = [data[a:b].decode() for a, b in zip(start.tolist(), end.tolist(), strict=True)]
    assert found == PRETOKENIZERS[name].split(text)


def test_old_entries_go_and_all_is_forgotten_when_there_is_no_room(cl100k, monkeypatch):
    monkeypatch.setattr(encoding_arrays, "KEPT_BYTES", 2048)
    bulk = Encoder(cl100k, PLAIN, entries=32)
    words = [f" {'xq' * (n % 20)}{n}z" for n in range(300)]
    text = "".join(words * 2)
    assert bulk.encode_bytes(text.encode()).tolist() == cl100k.encode_ids(text)
    worker = bulk._workers.get()
    assert worker.cache.used[FORGOTTEN] > 0


def test_without_kernels_memory_is_bounded_by_what_it_holds(trained, monkeypatch):
    monkeypatch.setattr(encoder, "KEPT_BYTES", 1000)
    bulk = Encoder(trained, None)
    text = " ".join("lowest" * (n % 40 + 1) + str(n) for n in range(300))
    assert bulk.encode_bytes(text.encode()).tolist() == trained.encode_ids(text)
    worker = bulk._workers.get()
    assert sum(len(pretoken) + len(ids) for pretoken, ids in worker._known.items()) <= 1000


def test_where_no_cut_is_allowed_few_bytes_are_looked_at_for_each_place(trained, monkeypatch):
    counting = CountingOptions("none", normalize=("NFC",))
    one = Tokenizer.from_merges(trained.base, trained.pairs, counting)
    looked: list[int] = []
    pretokenizer = pretokenizer_for(CountingOptions("cl100k"))
    cutter = piece_cutting.PieceCutter(pretokenizer, (), ("NFC",))
    real = type(pretokenizer).last_cut
    monkeypatch.setattr(type(pretokenizer), "last_cut", lambda self, text: looked.append(len(text)) or real(self, text))
    text = "字\u3000" * 20_000
    assert b"".join(cutter.pieces([text.encode()])).decode() == text
    assert sum(looked) < 40 * len(text)
    assert Encoder(one, PLAIN).encode_bytes(text.encode()).tolist() == one.encode_ids(text)


def test_bytes_that_are_no_utf8_are_read_as_replacements(trained, monkeypatch):
    monkeypatch.setattr(encoder, "PIECE_BYTES", 5)
    data = b"low \xff\xfe\x80\x80\x80\x80\x80\x80 \xe5\xad\x97\xe5\xad newest"
    ids = Encoder(trained, PLAIN).encode_bytes(data)
    assert "low \ufffd" in trained.decode(ids.tolist()).text
    assert trained.decode(ids.tolist()).text.endswith(" newest")


def test_a_mapped_file_progress_and_stop(trained, tmp_path, monkeypatch):
    monkeypatch.setattr(encoder, "PIECE_BYTES", 100)
    path = tmp_path / "text.txt"
    path.write_text("the lowest of the low " * 100)
    seen: list[float] = []
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        ids = Encoder(trained, PLAIN).encode_bytes(mapped, progress=lambda part, _: seen.append(part))
        assert ids.dtype == np.int32
        assert trained.decode(ids.tolist()).text == path.read_text()
        assert seen == sorted(seen)
        assert seen[-1] == 1.0
        for threads in (1, 3):
            with pytest.raises(Stopped):
                Encoder(trained, PLAIN, threads).encode_bytes(mapped, should_stop=lambda: True)


def test_a_character_that_may_be_no_gap_is_refused(tmp_path):
    (tmp_path / "vocab.json").write_text('{"a": 0, "b": 1, "c": 2, "ab": 3, "bc": 4, "abc": 5}')
    (tmp_path / "merges.txt").write_text("a b\nb c\nab c\n")
    tokenizer = load_tokenizer(tmp_path / "merges.txt", CountingOptions("whitespace"))
    for special_text in ("allow", "text"):
        with pytest.raises(FormatError, match="lacks 'x'"):
            tokenizer.encode_ids("axb", special_text)
    with pytest.raises(FormatError, match="lacks 'x'"):
        Encoder(tokenizer).encode_bytes(b"axb")
    assert Encoder(tokenizer).encode_bytes(b"abc").tolist() == tokenizer.encode_ids("abc") == [5]


def test_the_kernel_finds_the_ways_to_cut_that_the_list_of_ranks_does(cl100k):
    for position in (0, 1, 5_000, cl100k.n_merges):
        at = cl100k.at(position)
        merges = encoding_arrays.merges_of(at, PLAIN)
        found = encoding_arrays._cuts(merges, 256 + position, compiled.load().of(kernels_merging))
        listed = at.merge_ranks.entries(position)
        assert sorted(zip(*map(np.ndarray.tolist, found), strict=True)) == sorted(
            zip(*map(np.ndarray.tolist, listed), strict=True)
        )
