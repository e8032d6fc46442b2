"""Token ids as people paste them."""

from __future__ import annotations

import pytest

from bpe_viz.engine.id_list import parse_ids
from bpe_viz.errors import BpeVizError


@pytest.mark.parametrize(
    "typed",
    ["13, 11, 99, -1", "[13, 11, 99, -1]", "13 11\n99\t-1", "(13; 11; 99; -1,)", "  13,11,,99 , -1 "],
)
def test_ids_are_read_however_they_are_parted(typed: str) -> None:
    assert parse_ids(typed) == [13, 11, 99, -1]


@pytest.mark.parametrize("typed", ["13, 11, 99", "[13,11,99]", "(13; 11)\n{99}", f"13 11 99 {'9' * 18}"])
def test_numbers_alone_are_read_the_same(typed: str) -> None:
    assert parse_ids(typed)[:3] == parse_ids(f"{typed}, -1")[:3] == [13, 11, 99]


@pytest.mark.parametrize("huge", ["9" * 19, "-" + "9" * 25, "1" * 4000])
def test_an_id_of_any_size_is_a_number(huge: str) -> None:
    assert parse_ids(f"13 {huge} 11") == [13, int(huge), 11]
    assert parse_ids(f"[13, {huge}, -1]") == [13, int(huge), -1]


def test_a_number_that_python_does_not_read_is_refused_shortly() -> None:
    with pytest.raises(BpeVizError, match="word 2") as caught:
        parse_ids(f"13 {'9' * 5000}")
    assert len(str(caught.value)) < 120


def test_what_cannot_be_printed_is_escaped() -> None:
    with pytest.raises(BpeVizError, match=r"'x\\x1b\\udcff'"):
        parse_ids("x\x1b\udcff")


def test_nothing_is_no_id() -> None:
    assert parse_ids(" \n[]") == []


@pytest.mark.parametrize("word", ["x", "1.5", "1_0", "0x1F", "１２", "--1", "<b>"])
def test_a_word_that_is_no_id_is_named(word: str) -> None:
    with pytest.raises(BpeVizError, match="word 2") as caught:
        parse_ids(f"12, {word}, 13")
    assert word in str(caught.value)
