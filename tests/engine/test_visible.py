"""What people see of a token's bytes."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_viz.engine.visible import Part, shortened, text_of, visible, visible_parts


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("low", "low"),
        (" the", "␣the"),
        ("\n", "⏎"),
        ("\t", "⇥"),
        ("\r\n", "␍⏎"),
        ("\u00a0", "⍽"),
        ("  ", "␣␣"),
        ("   ", "␣×3"),
        (" " * 14 + "x", "␣×14x"),
        ("\n" * 1500, "⏎×1,500"),
        ("\u200b", "<U+200B>"),
        ("\u200b" * 3, "<U+200B>×3"),
        ("\u202e", "<U+202E>"),
        ("\ufeff", "<U+FEFF>"),
        ("\x00", "␀"),
        ("a\rb\x1b\x7f\x07\x08\v\f", "a␍b␛␡␇␈␋␌"),
        ("\x01", "<U+0001>"),
        ("\u00ad", "<U+00AD>"),
        ("\ue000", "<U+E000>"),
        ("\u0378", "<U+0378>"),
        ("\u3000", "<U+3000>"),
        ("\u2028", "<U+2028>"),
        ("☺\ufe0f", "☺<U+FE0F>"),
        ("\ufffd", "<U+FFFD>"),
        ("\U0010ffff", "<U+10FFFF>"),
        ("\u0301", "◌\u0301"),
        (" \u0301\u0302e\u0301", "␣◌\u0301\u0302e\u0301"),
        ("aaaa", "aaaa"),
        ("▁▁", "▁▁"),
        ("▁" * 11 + "x", "▁×11x"),
        ("x▁▁▁\u0301", "x▁×3◌\u0301"),
        ("", ""),
    ],
)
def test_shown_text(text: str, shown: str) -> None:
    assert visible(text.encode()) == shown


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        (b"\xe6", "<E6>"),
        (b"\xe6\xbc", "<E6><BC>"),
        (b"a\x80", "a<80>"),
        (b"\xed\xa0\x80", "<ED><A0><80>"),
        (b"\xbd \xff", "<BD>␣<FF>"),
    ],
)
def test_bytes_that_are_no_whole_character_are_shown_as_bytes(content: bytes, shown: str) -> None:
    assert visible(content) == shown


def test_a_space_is_told_from_its_typed_look_alike() -> None:
    assert visible_parts(b" ") == (Part("␣", "invisible"),)
    assert visible_parts("␣".encode()) == (Part("␣", "text"),)
    assert visible_parts(b"<E6>") == (Part("<E6>", "text"),)
    assert visible_parts(b"\xe6") == (Part("<E6>", "byte"),)


def test_the_marker_is_told_from_its_typed_look_alike() -> None:
    assert visible_parts(b"low", "</w>") == (Part("low", "text"), Part("</w>", "marker"))
    assert visible_parts(b"low</w>") == (Part("low</w>", "text"),)
    assert visible(b"low", "</w>") == "low</w>"


@pytest.mark.parametrize(
    ("content", "limit", "shown"),
    [
        (b"abcdefghij", 10, "abcdefghij"),
        (b"abcdefghij", 4, "ab…ij (10)"),
        (b"abcdefghij", 5, "abc…ij (10)"),
        ("e\u0301".encode() * 20, 4, "e\u0301…e\u0301 (40)"),
        (b"ab\x01cdefgh\x01", 8, "ab…<U+0001> (24)"),
        (b"-" * 1200, 2, "-…- (1,200)"),
    ],
)
def test_a_long_token_is_cut_in_the_middle_and_says_its_length(content: bytes, limit: int, shown: str) -> None:
    assert visible(content, limit=limit) == shown


@given(st.binary(max_size=60))
def test_nothing_invisible_is_left(content: bytes) -> None:
    for character in visible(content):
        assert unicodedata.category(character) not in {"Cc", "Cf", "Cs", "Co", "Cn", "Zs", "Zl", "Zp"}


@given(st.text(st.characters(exclude_categories=["C", "Z", "M"], exclude_characters="▁"), max_size=60))
def test_plain_text_shows_as_itself(text: str) -> None:
    shown = "".join(part.text for part in visible_parts(text.encode()) if part.kind == "text")
    expected = "".join(c for c in text if c not in "\u115f\u1160\u2800\u3164\uffa0\ufffd")
    assert shown == expected


@given(st.binary(min_size=1, max_size=80), st.integers(2, 30))
def test_shortened_keeps_signs_whole(content: bytes, limit: int) -> None:
    parts = visible_parts(content)
    signs = {part for part in parts if part.kind == "byte"}
    assert {part for part in shortened(parts, limit) if part.kind == "byte"} <= signs
    assert len(text_of(shortened(parts, limit))) <= max(limit, 2 * max(len(p.text) for p in parts)) + 8


def test_of_a_very_large_token_the_ends_and_the_size_are_shown():
    content = "aé".encode() * 1_000_000
    parts = visible_parts(content)
    assert [part.text for part in parts if part.kind == "size"] == ["… (3,000,000 bytes) …"]
    assert not [part for part in parts if part.kind == "byte"]
    assert sum(len(part.text) for part in parts) < 5000
    assert visible(content, limit=6) == "aéa…éaé (3,000,000 bytes)"
