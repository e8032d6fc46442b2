"""The plain pipeline: what options say, with the code points that each byte comes from."""

from __future__ import annotations

import pytest

from bpe_viz.engine.pipeline import PlainPipeline, SetTokens, Stretch, without_surrogates
from bpe_viz.engine.types import CountingOptions
from bpe_viz.errors import OptionError


def test_each_byte_knows_the_code_points_that_it_comes_from():
    prepared = PlainPipeline(CountingOptions("whitespace", special_tokens=("<s>",)), {"<s>": 9}).prepare(
        "é b<s>c", "allow", True
    )
    first, special, last = prepared.parts
    assert isinstance(first, Stretch)
    assert first.pretokens == ("é".encode(), b"b")
    assert [(first.start[group], first.end[group]) for group in first.group] == [(0, 1), (0, 1), (2, 3)]
    assert first.opens.tolist() == [True, False, True]
    assert first.closes.tolist() == [False, True, True]
    assert isinstance(special, SetTokens)
    assert (special.ids, special.contents, special.start[0], special.end[0]) == ((9,), (b"<s>",), 3, 6)
    assert isinstance(last, Stretch)
    assert (last.start[last.group[0]], last.end[last.group[0]]) == (6, 7)
    assert prepared.dropped == 1
    assert "drops 1 of 7 characters" in prepared.notes[0]


def test_a_normalized_cluster_is_one_group():
    (stretch,) = PlainPipeline(CountingOptions("gpt2", normalize=("NFC",)), {}).prepare("xe\u0301", "allow", True).parts
    assert stretch.pretokens == ("xé".encode(),)
    assert [(stretch.start[group], stretch.end[group]) for group in stretch.group] == [(0, 1), (1, 3), (1, 3)]


def test_some_tokens_are_cut_out_whatever_becomes_of_special_text():
    pipeline = PlainPipeline(CountingOptions(special_tokens=("<s>", "<t>")), {"<s>": 1, "<t>": 2}, frozenset({"<t>"}))
    ids = [part.ids for part in pipeline.prepare("<s><t>", "text", True).parts if isinstance(part, SetTokens)]
    assert ids == [(2,)]
    assert len(pipeline.prepare("<t>", "error", True).parts) == 1
    with pytest.raises(OptionError, match="'<s>' at character 4"):
        pipeline.prepare("<t><s>", "error", True)


def test_lone_surrogates_are_replaced_and_that_is_said(case):
    text = case("EN-13")["input"]["texts_escaped"][0].encode().decode("unicode_escape")
    repaired, notes = without_surrogates(f"a{text}")
    assert repaired == "a\ufffd"
    assert "U+FFFD" in notes[0]
    assert without_surrogates("a") == ("a", ())
