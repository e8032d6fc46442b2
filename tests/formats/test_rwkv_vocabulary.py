"""RWKV's vocabulary, and its greedy longest match."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_viz.engine.longest_match import LongestMatch
from bpe_viz.errors import FormatError
from bpe_viz.formats import detect_format, load_tokenizer, save_tokenizer
from bpe_viz.formats._rwkv_vocabulary import looks_like_rwkv, read_rwkv

BYTES = {bytes([byte]): byte + 1 for byte in range(256)}
WHOLE = "".join(f"{number} {token!r} 1\n" for token, number in BYTES.items())


def longest_match(ids: dict[bytes, int], text: bytes) -> list[int]:
    found = []
    while text:
        token = max((token for token in ids if text.startswith(token)), key=len)
        found.append(ids[token])
        text = text[len(token) :]
    return found


def test_the_published_vocabulary(shared):
    ids = read_rwkv(shared / "data" / "tok" / "rwkv_vocab_v20230424.txt.gz")
    assert (len(ids), min(ids.values()), max(ids.values())) == (65529, 1, 65529)
    assert ids[" Télé".encode()] == 45000
    assert ids[b"\x80"] == 129
    assert ids[b"'"] == 40
    match = LongestMatch(ids)
    tokens = {number: token for token, number in ids.items()}
    by_length = sorted(ids, key=len, reverse=True)
    for name in ("en_alice29.txt", "ja_wagahai_120k.txt", "code_argparse.py", "stress_blns.txt"):
        text = (shared / "data" / "text" / name).read_bytes()
        found = match.encode(text)
        assert b"".join(tokens[number] for number in found) == text
        assert match.encode(text[:300]) == longest_match(dict.fromkeys(by_length, 0) | ids, text[:300])


@given(st.sets(st.text("ab 字", min_size=1, max_size=6).map(str.encode), max_size=12), st.text("ab c字é", max_size=40))
def test_the_longest_token_is_taken(tokens, text):
    ids = BYTES | {token: 1000 + number for number, token in enumerate(sorted(tokens)) if token not in BYTES}
    assert LongestMatch(ids).encode(text.encode()) == longest_match(ids, text.encode())


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("x 'ab' 2", "is not an id, a literal and a length"),
        ("300 'ab'", "is not an id, a literal and a length"),
        ("300  'ab' 2", "is not an id, a literal and a length"),
        ("300 ab 2", "is not an id, a literal and a length"),
        ("300 'ab'+'c' 3", "is not an id, a literal and a length"),
        ("300 __import__('os') 3", "is not an id, a literal and a length"),
        ("300 (1) 3", "is not an id, a literal and a length"),
        ("300 'é' 1", "says 1 bytes of a token that has 2"),
        (r"300 '\xzz' 1", "holds no literal"),
        (r"300 '\q' 2", "holds no literal"),
        (r"300 '\ud800' 3", "holds no literal"),
        ("300 b'é' 2", "holds no literal"),
        ("300 '' 0", "holds an empty token"),
        ("4294967296 'ab' 2", "has an id above"),
        ("300 'a' 1", "lists a token again that has the id 98"),
        ("98 'ab' 2", "gives an id again that the token b'a' has"),
    ],
)
def test_damage_is_named(line, what, tmp_path):
    path = tmp_path / "rwkv.txt"
    path.write_text(WHOLE + line + "\n", encoding="utf-8")
    with pytest.raises(FormatError, match=rf"rwkv\.txt, line 257 {what}"):
        read_rwkv(path)


def test_every_byte_must_be_a_token(tmp_path):
    path = tmp_path / "rwkv.txt"
    path.write_text(WHOLE.split("\n", 1)[1])
    with pytest.raises(FormatError, match="1 of the 256 bytes are no token, 0x00"):
        read_rwkv(path)


def test_damaged_copies_are_refused_or_read_as_they_stand(tmp_path):
    path = tmp_path / "rwkv.txt"
    whole = (WHOLE + "257 'ab' 2\r\n258 ' \\u5b57' 4\n").encode()
    path.write_bytes(whole)
    assert read_rwkv(path) == BYTES | {b"ab": 257, " 字".encode(): 258}
    assert looks_like_rwkv(whole[:4096])
    chance = random.Random(0)
    n_refused = 0
    for _ in range(500):
        damaged = bytearray(whole)
        start = chance.randrange(len(damaged))
        damaged[start : start + chance.randrange(4)] = bytes(chance.choices(b"'\"\\ b19\n\xff", k=chance.randrange(4)))
        path.write_bytes(damaged)
        try:
            ids = read_rwkv(path)
        except FormatError:
            n_refused += 1
        else:
            assert set(BYTES) <= set(ids)
            assert len(set(ids.values())) == len(ids)
    assert n_refused > 250


@pytest.mark.parametrize("head", [b"", b"low 5\nlower 2\n", b"1 a 1\n2 b 1\n", b"{}\n"])
def test_what_is_none_does_not_look_like_one(head):
    assert not looks_like_rwkv(head)


def test_a_file_is_shown_as_it_is(tmp_path):
    path = tmp_path / "rwkv.txt"
    path.write_text(WHOLE + "257 'ab' 2\n258 ' \\u5b57' 4\n259 b'\\xe5\\xad' 2\n", encoding="utf-8")
    assert detect_format(path).name == "rwkv"
    tokenizer = load_tokenizer(path)
    assert (tokenizer.n_merges, tokenizer.vocab_size) == (0, 259)
    assert "not BPE" in tokenizer.why_no_merges
    tokens = tokenizer.encode("abb 字字").tokens
    assert [(token.id, token.content, token.start, token.end) for token in tokens] == [
        (257, b"ab", 0, 2),
        (99, b"b", 2, 3),
        (258, " 字".encode(), 3, 5),
        (259, b"\xe5\xad", 5, None),
        (0x97 + 1, b"\x97", None, 6),
    ]
    assert tokenizer.encode("abb 字字").ids == [257, 99, 258, 259, 0x98]
    assert tokenizer.decode([257, 999, 258, -1]).text == "ab<no token 999> 字<no token -1>"
    with pytest.raises(FormatError, match="cannot hold"):
        save_tokenizer(tokenizer, tmp_path / "x.json")


@given(text=st.text(max_size=60))
def test_the_published_vocabulary_gives_back_any_text(published, text):
    ids = published.encode(text).ids
    assert published.decode(ids).text == text
    assert published.lay_out(text).at(0).ids.tolist() == ids


@pytest.fixture(scope="module")
def published(shared):
    return load_tokenizer(shared / "data" / "tok" / "rwkv_vocab_v20230424.txt.gz")
