"""Characters that `regex` and other engines sort otherwise are known, and a text is cut as there."""

from __future__ import annotations

import pytest
import regex

from bpe_viz.engine.alike_characters import (
    _CLASSES,
    _NOTHING,
    _STAND_INS,
    _UNSETTLED,
    AlikeCharacters,
    _of_class_there,
    is_settled_nfc,
)
from bpe_viz.engine.pretokenize import PRETOKENIZERS
from tests.formats.ranks import BYTES, in_tiktoken

# Behind these planes nothing is assigned but tags, and what is private for ever.
EVERY = "".join(chr(code) for code in range(0x80, 0x34000) if not 0xD800 <= code < 0xE000)


@pytest.fixture(scope="module")
def alike() -> AlikeCharacters:
    characters = AlikeCharacters()
    characters.holds(EVERY)
    return characters


@pytest.mark.parametrize("pattern", _CLASSES)
def test_tiktoken_sorts_every_character_as_the_tokenizers_library_does(pattern):
    pytest.importorskip("tiktoken")
    library = in_tiktoken({byte: number for number, byte in enumerate(BYTES)}, pattern)
    # It leaves out what its pattern does not match.
    assert set(library.decode(library.encode_ordinary(EVERY))) == _of_class_there(pattern, EVERY)


@pytest.mark.parametrize(("pattern", "stand_in"), [*_STAND_INS.items(), ("", _NOTHING)])
def test_a_stand_in_is_of_its_class_alone_in_both(pattern, stand_in, alike):
    of = {one for one in _STAND_INS if regex.fullmatch(one, stand_in)}
    assert of == ({pattern} if pattern else set())
    assert alike.holds(stand_in)


def test_every_character_is_sorted_as_there_by_its_stand_in(alike):
    there = alike.as_there(EVERY)
    assert len(there) == len(EVERY)
    assert alike.holds(there)
    unlike = {was: now for was, now in zip(EVERY, there, strict=True) if was != now}
    for pattern in _CLASSES:
        of_class = set(regex.findall(pattern, "".join(unlike.values())))
        theirs = _of_class_there(pattern, "".join(unlike))
        assert {was for was, now in unlike.items() if now in of_class} == theirs


def test_what_is_taken_for_settled_is_sorted_alike():
    settled = "".join(character for character in EVERY if _UNSETTLED.search(character) is None)
    assert len(settled) > 30_000
    assert AlikeCharacters().holds(settled)


def test_a_text_is_learned_once_and_a_surrogate_is_a_sign_to_both():
    characters = AlikeCharacters()
    unlike = next((one for one in EVERY if not characters.holds(one)), None)
    assert all(characters.holds(text) for text in ("", "abc", "naïve 字 😀 ½", "\ud800"))
    if unlike is not None:  # both may know one Unicode
        assert not characters.holds(f"字{unlike}")
        assert characters.as_there(f"a{unlike}字")[::2] == "a字"


@pytest.mark.parametrize("name", ["gpt2", "cl100k", "o200k", "llama3", "qwen2"])
def test_a_text_is_cut_where_tiktoken_cuts_it(name, alike):
    """Each pre-token is one token there, as every pre-token of a small text is in the ranks."""
    pytest.importorskip("tiktoken")
    entry = PRETOKENIZERS[name]
    unlike = [was for was, now in zip(EVERY, alike.as_there(EVERY), strict=True) if was != now]
    for character in unlike[:: max(1, len(unlike) // 15)]:
        text = f"a{character}B {character}1{character}'s,{character}\n{character}{character} a"
        spans = entry.spans(alike.as_there(text))
        pieces = {text[start:end].encode() for start, end in spans}
        whole = {text[a:b].encode() for a in range(len(text)) for b in range(a + 1, min(a + 9, len(text)) + 1)}
        ranks = {token: number for number, token in enumerate(dict.fromkeys([*BYTES, *sorted(whole | pieces)]))}
        library = in_tiktoken(ranks, entry.pattern.replace(r"\Z", "$"))
        theirs = [library.decode_single_token_bytes(number) for number in library.encode_ordinary(text)]
        assert [text[start:end].encode() for start, end in spans] == theirs


def test_what_is_settled_in_nfc_is_left_alone_by_the_librarys_nfc():
    nfc = pytest.importorskip("tokenizers").normalizers.NFC()
    settled = [chr(code) for code in range(0x80, 0x34000) if is_settled_nfc(chr(code))]
    assert len(settled) > 30_000
    text = "".join(f".{one}" for one in settled)
    assert nfc.normalize_str(text) == text
    marks = [one for one in settled if regex.match(r"\p{M}", one)]
    left_alone = 0
    for first in [*marks, "a", "é", "α", "ա", "が", "각", "ʼ"]:
        for mark in marks:
            if is_settled_nfc(pair := f"e{first}{mark}z"):
                assert nfc.normalize_str(pair) == pair
                left_alone += 1
    assert left_alone > 1000
    assert not is_settled_nfc("e\u0301")
    assert not is_settled_nfc("\u1c89")
