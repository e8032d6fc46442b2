"""Order and filter of the pre-tokens."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_viz.engine.corpus import count_words
from bpe_viz.engine.reader import Reader
from bpe_viz.engine.row_order import RowFilter, RowOrder, parse_filter
from bpe_viz.engine.trainer import Trainer
from bpe_viz.engine.types import TrainingOptions
from bpe_viz.errors import OptionError, Stopped

WORDS = {"low": 5, "lower": 2, "newest": 6, "widest": 3}


def listed(words, sort, typed="", position=0, **options) -> list[str]:
    pretokens = count_words(words, "words").pretokens
    trainer = Trainer(pretokens, TrainingOptions(base="characters", **options))
    trainer.train_to()
    reader = Reader(trainer.timeline)
    reader.seek(position)
    rows = RowOrder(pretokens).rows(sort, parse_filter(typed), reader)
    return [pretokens.content(row).decode() for row in rows]


@pytest.mark.parametrize(
    ("sort", "expected"),
    [
        ("count", ["newest", "low", "widest", "lower"]),
        ("length", ["newest", "widest", "lower", "low"]),
        ("name", ["low", "lower", "newest", "widest"]),
    ],
)
def test_sorted(sort, expected):
    assert listed(WORDS, sort) == expected


def test_changed_first_brings_the_rows_of_the_last_merge_to_the_top():
    assert listed(WORDS, "changed", position=3) == ["low", "lower", "newest", "widest"]
    assert listed(WORDS, "changed", position=0) == ["newest", "low", "widest", "lower"]


@pytest.mark.parametrize(
    ("typed", "position", "expected"),
    [
        ("est", 0, ["newest", "widest"]),
        ("[est]", 0, []),
        ("[est]", 2, ["newest", "widest"]),
        ("[w][est]", 2, ["newest"]),
        ("[w][e]", 0, ["newest", "lower"]),
        ("[low]", 4, ["low", "lower"]),
        ("x", 0, []),
    ],
)
def test_filtered_by_text_symbol_or_pair(typed, position, expected):
    assert listed(WORDS, "count", typed, position) == expected


def test_a_symbol_with_its_marker_can_be_filtered_by():
    assert listed(WORDS, "count", "[est</w>]", 3, end_of_word="separate") == ["newest", "widest"]


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("[a]]", RowFilter(symbols=(b"a]",))),
        ("[a", RowFilter(text=b"[a")),
        ("[]", RowFilter(text=b"[]")),
        ("a[b]", RowFilter(text=b"a[b]")),
        ("", RowFilter()),
    ],
)
def test_brackets_that_are_no_symbols_are_text(typed, expected):
    assert parse_filter(typed) == expected


def test_three_symbols_are_refused():
    with pytest.raises(OptionError, match="names 3 symbols"):
        parse_filter("[a][b][c]")


@given(st.dictionaries(st.text(alphabet="ab\0é", min_size=1, max_size=45), st.integers(1, 5), min_size=1, max_size=12))
def test_names_sort_as_bytes_do_beyond_what_fits_into_the_keys(words):
    assert listed(words, "name", merges=0) == sorted(words, key=str.encode)


def test_long_names_that_agree_at_the_start():
    words = {"a" * 40 + end: 1 for end in ("c", "a", "b", "")}
    assert listed(words, "name", merges=0) == sorted(words)


def test_stop_ends_a_filter():
    pretokens = count_words(WORDS, "words").pretokens
    reader = Reader(Trainer(pretokens, TrainingOptions()).timeline)
    with pytest.raises(Stopped):
        RowOrder(pretokens).rows("count", RowFilter(text=b"e"), reader, should_stop=lambda: True)


@pytest.mark.parametrize(("typed", "differing", "expected"), [("[≠]", {0, 2}, ["newest", "low"]), ("[!=]", None, [])])
def test_filtered_by_what_differs_at_the_end_of_a_replay(typed, differing, expected):
    pretokens = count_words(WORDS, "words").pretokens
    trainer = Trainer(pretokens, TrainingOptions(base="characters"))
    trainer.timeline.differing = None if differing is None else frozenset(differing)
    rows = RowOrder(pretokens).rows("count", parse_filter(typed), Reader(trainer.timeline))
    assert [pretokens.content(row).decode() for row in rows] == expected
