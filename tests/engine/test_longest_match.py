"""Greedy longest match as base symbols."""

from __future__ import annotations

from bpe_viz.engine.longest_match import LongestMatch, LongestMatchBase


def test_symbols_and_the_bytes_that_they_stand_for():
    contents = (b"a", b"b", b"ab", b"abb")
    match = LongestMatch({content: symbol for symbol, content in enumerate(contents)})
    base = LongestMatchBase("bytes", "none", "</w>", contents, (False,) * 4, match)
    assert base.start(b"ababba") == ([2, 3, 0], [2, 3, 1])
    assert [array.tolist() for array in base.arrays(b"ba")] == [[1, 0], [1, 1]]
