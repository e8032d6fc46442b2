"""Damaged copies of every format: each is refused with one clear message, or read as it stands."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bpe_viz.engine.pipeline import SetTokens
from bpe_viz.engine.tokenizer import Tokenizer
from bpe_viz.engine.types import CountingOptions
from bpe_viz.errors import BpeVizError, FormatError
from bpe_viz.formats import detect_format, formats, load_tokenizer
from bpe_viz.formats._reading import plain_path, read_head
from tests.formats.samples import NAMES

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
    opened, path = sample.write(tmp_path), tmp_path / sample.name
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
        sample.write(tmp_path)
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
