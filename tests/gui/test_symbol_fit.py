"""Symbols are cut fairly to the room there is, and never without an ellipsis."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_viz.engine.visible import Part, Parts, text_of, visible_parts
from bpe_viz.gui.symbol_fit import fair_shares, fitted


def length(parts: Parts) -> float:
    return len(text_of(parts))


def test_what_one_does_not_want_goes_to_the_others() -> None:
    assert fair_shares([10, 100, 100], 90, [1, 1, 2]) == pytest.approx([10, 80 / 3, 160 / 3])
    assert fair_shares([10, 20, 30], 100, [1, 1, 2]) == [10, 20, 30]


@given(
    st.lists(st.integers(0, 500), min_size=3, max_size=3),
    st.integers(0, 600),
)
def test_shares_fit_and_the_token_gets_as_much_as_its_parts(wanted: list[int], room: int) -> None:
    left, right, token = fair_shares(wanted, room, [1, 1, 2])
    assert left + right + token <= room + 1e-6
    assert token >= min(wanted[2], left + right) - 1e-6


@given(st.binary(min_size=1, max_size=80) | st.text(min_size=1).map(str.encode), st.integers(1, 100))
def test_a_cut_symbol_is_no_wider_than_its_room_and_says_that_it_is_cut(content: bytes, room: int) -> None:
    parts = visible_parts(content)
    shown = fitted(parts, room, length)
    assert length(shown) <= room
    assert text_of(shown)
    assert shown == parts if length(parts) <= room else "…" in text_of(shown)


def test_a_symbol_of_400_000_letters_is_measured_a_few_times_only() -> None:
    asked: list[Parts] = []

    def width_of(parts: Parts) -> float:
        asked.append(parts)
        return length(parts)

    assert text_of(fitted(visible_parts(b"a" * 400_000), 12, width_of)) == "aaaaaa…aaaaa"
    assert len(asked) < 20
    assert max(map(length, asked)) < 1000


def test_a_long_sign_is_cut_inside_before_nothing_is_left_of_it() -> None:
    sign = (Part("<U+1F469>", "invisible"), Part("<U+1F3FE>", "invisible"))
    assert text_of(fitted(sign, 8, length)) == "<U+1…FE>"
    assert text_of(fitted(sign[:1], 6, length)) == "<U+…9>"
    assert text_of(fitted(sign, 2, length)) == "…"


def test_a_symbol_equal_to_one_asked_for_before_is_shown_as_that_was() -> None:
    for text in ("で", "です"):
        for _ in range(2):
            # Equal, but another object: what is cut is remembered by value.
            assert text_of(fitted((Part(text, "text"),), 0, length)) == "…"
