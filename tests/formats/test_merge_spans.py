"""Merge lists that are read without parsing them, held to a parser."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_viz.formats._merge_spans import MergeSpans, merge_spans

PAIRS = [["a", "b"], ["é", "\u2581x"], ["ab", '"'], ["\\", "\n\n"], ['"', "\\"], ["\x01", "c"]] + [["lo", "w"]] * 200
TEXTS = st.text(st.sampled_from([*'ab"\\\n\t/é▁😀[],:\x00']), min_size=1, max_size=4)
LAYOUTS = st.sampled_from([{"indent": 2}, {"indent": None}, {"separators": (",", ":")}, {"indent": "\t"}])


def lines_of(spans: MergeSpans | None) -> list[list[str]] | None:
    if spans is None:
        return None
    data = spans.data.tobytes()
    places = zip(spans.start.tolist(), spans.middle.tolist(), spans.end.tolist(), strict=True)
    return [[data[start:middle].decode(), data[middle:end].decode()] for start, middle, end in places]


@pytest.mark.parametrize("layout", [{"indent": 2}, {}, {"separators": (",", ":")}])
def test_pairs_are_found_whatever_stands_between_them(layout):
    assert lines_of(merge_spans(json.dumps(PAIRS, ensure_ascii=False, **layout).encode())) == PAIRS


@pytest.mark.parametrize("layout", [{"indent": 2}, {}])
def test_texts_of_two_words_are_found(layout):
    written = json.dumps([" ".join(pair) for pair in PAIRS], ensure_ascii=False, **layout).encode()
    assert lines_of(merge_spans(written)) == PAIRS


@given(pairs=st.lists(st.lists(TEXTS, min_size=2, max_size=2), max_size=6), layout=LAYOUTS, as_texts=st.booleans())
def test_what_is_found_is_what_a_parser_reads(pairs, layout, as_texts):
    listed = [" ".join(pair) for pair in pairs] if as_texts else pairs
    found = lines_of(merge_spans(json.dumps(listed, ensure_ascii=False, **layout).encode()))
    assert found is None or found == pairs


@pytest.mark.parametrize(
    "written",
    [
        "[]",
        "null",
        '["#version: 0.2", "a b"]',
        '[["a", "b"], "c d"]',
        '[["a", "b"], ["c"]]',
        '[["a", "b"], ["c", "d", "e", "f"]]',
        '[["a", "b"],  ["c", "d"], ["e", "f"]]',
        '[["a", 1], ["c", "d"]]',
        '["a b", "c"]',
        '["a b", "c d e"]',
        '["ab ", " cd", "ef"]',
        '{"a": "b"}',
        '[["a", "b"]',
        json.dumps([["é", "é"]] * 50),
    ],
)
def test_any_other_list_is_left_to_a_parser(written):
    found = lines_of(merge_spans(written.encode()))
    assert found is None or found == [
        line.split(" ") if isinstance(line, str) else line for line in json.loads(written)
    ]
