"""Damaged copies of every format: each is refused with one clear message, or read as it stands."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bpe_viz.engine.pipeline import SetTokens
from bpe_viz.engine.tokenizer import Tokenizer
from bpe_viz.engine.types import CountingOptions, TrainingOptions
from bpe_viz.errors import BpeVizError, FormatError
from bpe_viz.formats import detect_format, formats, load_tokenizer, save_tokenizer
from bpe_viz.formats._reading import plain_path, read_head
from bpe_viz.formats._stand_ins import LETTER_OF_BYTE
from tests.formats.gguf_files import bpe_fields, character_fields, gguf, piece_fields
from tests.formats.ranks import BYTES, b64
from tests.formats.test_sentencepiece import model_of
from tests.formats.training import trained

CORPUS = "low low low lower newest newest widest <s> naïve 字"
TEXT = "lowest newer low<s> naïve 字 x\n"
MUTATIONS = 400
DEEP = b"[" * 50_000
VALUES = [
    b"null",
    b"true",
    b"-1",
    b"1.5",
    b"1e400",
    b"9" * 30,
    b"4294967296",
    b'""',
    b"[]",
    b"{}",
    b'"\\ud800"',
    b"NaN",
]
BYTES_AT_ODDS = [b"\0", b"\xff", b"\n", b"\r", b" ", b'"', b"\\", b"{", b"]", b"\xef\xbb\xbf", b"\xe2\x80\xa8"]

GIVEN = CountingOptions("gpt2")
BLANKS = CountingOptions("whitespace")


@dataclass
class Sample:
    """A whole file that is to be damaged. beside: what stands in its folder, whole"""

    name: str
    data: bytes
    given: CountingOptions | None = None
    beside: dict[str, bytes] = field(default_factory=dict)


def saved(name: str, folder: Path, counting: CountingOptions, training: TrainingOptions) -> bytes:
    path = folder / name
    save_tokenizer(trained(CORPUS, counting, training), path)
    return path.read_bytes()


@pytest.fixture(scope="module")
def samples(tmp_path_factory) -> dict[str, Sample]:
    folder = tmp_path_factory.mktemp("whole")
    special = CountingOptions("gpt2", special_tokens=("<s>",))
    letters = {"base": "characters", "end_of_word": "glued"}
    ranks = {token: rank for rank, token in enumerate([*BYTES, b"lo", b"low", b"ne", b"est"])}
    lines = "\n".join(f"{b64(token)} {rank}" for token, rank in ranks.items())
    tekken = {
        "config": {"pattern": r"\S+|\s", "default_vocab_size": 260, "default_num_special_tokens": 3, "version": "v7"},
        "special_tokens": [{"rank": 0, "token_str": "<unk>"}],
        "vocab": [{"rank": rank, "token_bytes": b64(token), "token_str": None} for token, rank in ranks.items()],
    }
    rank_json = {"explicit_n_vocab": 261, "pat_str": r"\S+|\s", "special_tokens": {"<s>": 300}}
    pair = {
        "merges.txt": saved("merges.txt", folder, special, TrainingOptions(merges=20)),
        "vocab.json": (folder / "vocab.json").read_bytes(),
        "tokenizer_config.json": json.dumps(
            {
                "tokenizer_class": "Qwen2Tokenizer",
                "unk_token": None,
                "added_tokens_decoder": {"300": {"content": "<e>", "special": True, "normalized": False}},
                "additional_special_tokens": ["<s>"],
            }
        ).encode(),
    }
    letter_pair = {
        "merges.txt": saved("letters-merges.txt", folder, BLANKS, TrainingOptions(base="characters", merges=20)),
        "vocab.json": (folder / "letters-vocab.json").read_bytes(),
    }

    def one_of(files: dict[str, bytes], name: str, given: CountingOptions | None = None) -> Sample:
        return Sample(name, files[name], given, {other: data for other, data in files.items() if other != name})

    codes = saved("x.codes", folder, BLANKS, TrainingOptions(**letters, merges=20))
    rwkv = "".join(f"{number} {token!r} 1\n" for number, token in enumerate(BYTES)) + "256 'low' 3\n"
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "low", "##est", "new", "##er", "<", "s", ">", "naive", "字"]
    pieces = [("<unk>", 0.0, 2), ("<s>", 0.0, 3), ("lo", -1.0, 1), ("low", -2.0, 1), ("▁low", -3.0, 1), ("字", 0.0, 4)]
    pieces += [(letter, -9.0, 1) for letter in "▁lowestnr"]
    pieces += [(f"<0x{byte:02X}>", 0.0, 6) for byte in range(256)]
    merges, around = ["l o", "lo w", "Ġ low"], {"types": {"<s>": 3}, "add_bos_token": True, "bos_token_id": 259}
    escaped = [repr(bytes([byte]))[2:-1] for byte in range(256)]
    in_rwkv = {"tokenizer.ggml.model": "rwkv", "tokenizer.ggml.tokens": [*escaped, "low", "<s>"]}
    steps = {
        "version": "1.0",
        "added_tokens": [
            {
                "id": 4,
                "content": "<s>",
                "single_word": False,
                "lstrip": True,
                "rstrip": False,
                "normalized": False,
                "special": True,
            }
        ],
        "normalizer": {
            "type": "Sequence",
            "normalizers": [
                {"type": "Prepend", "prepend": "▁"},
                {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
            ],
        },
        "post_processor": {"type": "BertProcessing", "sep": ["<s>", 4], "cls": ["<s>", 4]},
        "decoder": {"type": "Fuse"},
        "model": {
            "type": "BPE",
            "unk_token": "?",
            "fuse_unk": True,
            "byte_fallback": True,
            "ignore_merges": False,
            "vocab": {"l": 0, "o": 1, "lo": 2, "▁": 3, "<s>": 4, "?": 5, "w": 6, "low": 7, "▁lo": 8},
            "merges": [["l", "o"], ["▁", "lo"], ["lo", "w"]],
        },
    }
    return {
        "tokenizer.json": Sample("t.json", saved("t.json", folder, special, TrainingOptions(merges=20))),
        "letters in tokenizer.json": Sample(
            "l.json", saved("l.json", folder, GIVEN, TrainingOptions(**letters, unknown="<unk>", merges=20))
        ),
        "tiktoken": Sample("x.tiktoken", lines.encode(), GIVEN),
        "minbpe": Sample("x.model", saved("x.model", folder, special, TrainingOptions(merges=20))),
        "subword-nmt 0.2": Sample("x.codes", codes),
        "subword-nmt 0.1": Sample("y.codes", b"l o\nlo w\nlow </w>\nn e\nne w\ne s\nes t\nest </w>\n"),
        "fastBPE": Sample("z.codes", codes.split(b"\n", 1)[1].replace(b"\n", b" 12\n")),
        "GPT-2 merges": one_of(pair, "merges.txt"),
        "GPT-2 vocabulary": one_of(pair, "vocab.json"),
        "GPT-2 settings": one_of(pair, "tokenizer_config.json"),
        "GPT-2 merges of letters": one_of(letter_pair, "merges.txt", BLANKS),
        "GPT-2 vocabulary of letters": one_of(letter_pair, "vocab.json", BLANKS),
        "CLIP": Sample("c.txt", b'"bpe_simple_vocab_16e6.txt#version: 0.2\nl o\nlo w</w>\nn e\ne s\nes t</w>\n'),
        "rank-json with offsets": Sample(
            "r.json", json.dumps(rank_json | {"bpe_ranks": "! 0 " + " ".join(map(b64, ranks))}).encode()
        ),
        "rank-json with ranks": Sample("s.json", json.dumps(rank_json | {"bpe_ranks": lines}).encode()),
        "tekken": Sample("tekken.json", json.dumps(tekken).encode()),
        "steps in tokenizer.json": Sample("s.json", json.dumps(steps).encode()),
        "rwkv": Sample("rwkv.txt", rwkv.encode()),
        "bert": Sample("vocab.txt", "\n".join(words).encode()),
        "bert settings": Sample(
            "tokenizer_config.json",
            b'{"do_lower_case": true, "strip_accents": null}',
            None,
            {"vocab.txt": "\n".join(words).encode()},
        ),
        "sentencepiece": Sample("s.model", model_of(pieces, byte_fallback=True)),
        "sentencepiece unigram": Sample("u.model", model_of(pieces[:-256], kind=1)),
        "gguf": Sample("m.gguf", gguf(bpe_fields([*LETTER_OF_BYTE, "lo", "low", "Ġlow", "<s>"], merges, **around))),
        "gguf characters": Sample("c.gguf", gguf(character_fields([*"▁lowest字", "lo", "low"], merges[:2]))),
        "gguf rwkv": Sample("w.gguf", gguf(in_rwkv)),
        "gguf pieces": Sample("p.gguf", gguf(piece_fields([piece[:2] for piece in pieces[2:-256]]))),
        "packed": Sample("x.tiktoken.gz", gzip.compress(lines.encode(), mtime=0), GIVEN),
    }


NAMES = (
    *("tokenizer.json", "letters in tokenizer.json", "tiktoken", "minbpe", "subword-nmt 0.2", "subword-nmt 0.1"),
    *("fastBPE", "GPT-2 merges", "GPT-2 vocabulary", "GPT-2 settings", "GPT-2 merges of letters"),
    *("GPT-2 vocabulary of letters", "CLIP", "rank-json with offsets", "rank-json with ranks", "tekken", "packed"),
    *("steps in tokenizer.json", "rwkv", "bert", "bert settings", "sentencepiece", "sentencepiece unigram"),
    *("gguf", "gguf characters", "gguf pieces", "gguf rwkv"),
)


def damages(data: bytes, seed: str) -> Iterator[bytes]:
    """Yield damaged copies: the same ones in every run."""
    chance = random.Random(seed)
    kinds: list[Callable[[random.Random, bytes], bytes]] = [
        cut, flip, insert, delete, replace_word, repeat_line, swap_lines, twice,
    ]  # fmt: skip
    yield b""
    yield DEEP
    yield b'{"model": ' + DEEP
    yield data + DEEP
    for number in range(MUTATIONS - 4):
        damaged = data
        for _ in range(chance.choice([1, 1, 1, 2, 3])):
            damaged = kinds[number % len(kinds)](chance, damaged)
        yield damaged


def cut(chance: random.Random, data: bytes) -> bytes:
    return data[: chance.randrange(len(data) + 1)]


def flip(chance: random.Random, data: bytes) -> bytes:
    if not data:
        return data
    at = chance.randrange(len(data))
    return data[:at] + bytes([data[at] ^ (1 << chance.randrange(8))]) + data[at + 1 :]


def insert(chance: random.Random, data: bytes) -> bytes:
    at = chance.randrange(len(data) + 1)
    return data[:at] + chance.choice(BYTES_AT_ODDS) + data[at:]


def delete(chance: random.Random, data: bytes) -> bytes:
    start = chance.randrange(len(data) + 1)
    return data[:start] + data[start + chance.randrange(20) :]


def replace_word(chance: random.Random, data: bytes) -> bytes:
    """Put a value of another type in the place of a number, a string or a list."""
    start = chance.randrange(len(data) + 1)
    while start < len(data) and data[start : start + 1] not in b'0123456789"[{':
        start += 1
    end = start + 1
    while end < len(data) and data[end : end + 1] not in b" ,]}\n":
        end += 1
    return data[:start] + chance.choice(VALUES) + data[end:]


def repeat_line(chance: random.Random, data: bytes) -> bytes:
    lines = data.split(b"\n")
    lines.insert(chance.randrange(len(lines) + 1), chance.choice(lines))
    return b"\n".join(lines)


def swap_lines(chance: random.Random, data: bytes) -> bytes:
    separator = b"\n" if data.count(b"\n") > 2 else b", "
    parts = data.split(separator)
    i, j = chance.randrange(len(parts)), chance.randrange(len(parts))
    parts[i], parts[j] = parts[j], parts[i]
    return separator.join(parts)


def twice(chance: random.Random, data: bytes) -> bytes:
    start = chance.randrange(len(data) + 1)
    end = start + chance.randrange(60)
    return data[:end] + data[start:]


@pytest.mark.parametrize("name", NAMES)
def test_damage_is_refused_in_one_message_or_read_as_it_stands(name, samples, tmp_path):
    sample = samples[name]
    for other, data in sample.beside.items():
        (tmp_path / other).write_bytes(data)
    path = tmp_path / sample.name
    others = [tmp_path / other for other in sample.beside if other in ("merges.txt", "vocab.txt")]
    opened = others[0] if sample.name.endswith("config.json") else path
    path.write_bytes(sample.data)
    check_result(load_tokenizer(opened, sample.given))
    n_refused = 0
    for damaged in damages(sample.data, name):
        path.write_bytes(damaged)
        result = opened_or_refused(opened, sample.given)
        if isinstance(result, Tokenizer):
            check_result(result)
            continue
        n_refused += 1
        assert str(tmp_path) in result.message, result.message
        assert result.remedy, result.message
        assert len(str(result)) < 2000
    assert n_refused >= MUTATIONS // 10


def opened_or_refused(path: Path, given: CountingOptions | None) -> Tokenizer | FormatError:
    try:
        return load_tokenizer(path, given)
    except FormatError as error:
        return error


def check_result(tokenizer: Tokenizer) -> None:
    """Every token stands for its part of the text, and its id for that token."""
    try:
        encoding = tokenizer.encode(TEXT)
    except BpeVizError:
        return  # a letter that the vocabulary lacks, or a pattern that never ends
    expected = b""
    for part in tokenizer.pipeline.prepare(TEXT, "allow", True).parts:
        if isinstance(part, SetTokens):
            expected += b"".join(part.contents)
        else:
            expected += b"".join(pretoken for pretoken in part.pretokens if tokenizer.base.start(pretoken)[0])
    assert b"".join(token.content for token in encoding.tokens) == expected
    if any("left out" in note for note in encoding.notes):
        return  # their neighbours stand for them too
    contents = {token.id: set() for token in encoding.tokens if token.id is not None}
    symbols = range(len(tokenizer.symbols))
    for number, symbol in zip(tokenizer.ids_of(list(symbols)).tolist() if symbols else [], symbols, strict=True):
        if number in contents:
            contents[number].add(tokenizer.symbols.content(symbol))
    for text, number in tokenizer.special_ids.items():
        if number in contents:
            contents[number].add(text.encode())
    unknown = tokenizer.special_ids.get(tokenizer.unknown or "")
    for token in encoding.tokens:
        # A token that is put around a text is called as the file calls it there.
        if token.id is not None and token.id != unknown and token.start != token.end:
            named = {f"<0x{token.content.hex().upper()}>".encode(), b"##" + token.content}
            assert not contents[token.id].isdisjoint({token.content} | named)


def test_each_sample_is_of_one_format_and_each_format_has_a_sample(samples, tmp_path):
    read = set()
    for sample in samples.values():
        for other, data in {**sample.beside, sample.name: sample.data}.items():
            (tmp_path / other).write_bytes(data)
        if not sample.name.endswith("config.json"):
            path = tmp_path / sample.name
            head = read_head(path)
            (only,) = [one.name for one in formats() if one.detect(plain_path(path), head)]
            assert detect_format(path).name == only
            read.add(only)
        for file in tmp_path.iterdir():
            file.unlink()
    assert read == {one.name for one in formats()}
    assert len(NAMES) * MUTATIONS >= 2000
    assert set(NAMES) == set(samples)
