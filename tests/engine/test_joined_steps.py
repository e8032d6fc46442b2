"""Steps that are done here for counting, held to the library's."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bpe_viz.engine.library_pipelines import StepsPipeline
from bpe_viz.engine.pipeline import Stretch
from bpe_viz.formats import load_tokenizer

pytest.importorskip("tokenizers")

TEXTS = st.text(st.sampled_from([*"ab  ▁\n\n<s>", "é", "\r"]), max_size=16)
PREPEND = {"type": "Prepend", "prepend": "▁"}
REPLACE = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
SPLIT = {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious", "invert": False}
KNOWN = [
    (REPLACE, SPLIT),
    ({"type": "Sequence", "normalizers": [PREPEND, REPLACE]}, None),
    ({"type": "Replace", "pattern": {"String": "ab"}, "content": ""}, None),
    *(
        (None, {"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": splits})
        for scheme in ("always", "first", "never")
        for splits in (True, False)
    ),
    (PREPEND, SPLIT),
]
OTHER = [
    ({"type": "Lowercase"}, None),
    (None, {"type": "Digits", "individual_digits": False}),
    (None, {"type": "Split", "pattern": {"Regex": " "}, "behavior": "Removed", "invert": False}),
]
ADDED = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": False}


def pipeline_of(path, normalizer, pre_tokenizer, added=("<s>", "\n", "\n\n", "a▁"), **more) -> StepsPipeline:
    tokens = [{**ADDED, **more, "id": 10 + number, "content": text} for number, text in enumerate(added)]
    model = {"type": "BPE", "vocab": {"a": 0, "b": 1, "▁": 2, "▁a": 3}, "merges": [["▁", "a"]]}
    empty = dict.fromkeys(("truncation", "padding", "post_processor", "decoder"))
    document = {"version": "1.0", **empty, "normalizer": normalizer, "pre_tokenizer": pre_tokenizer}
    path.write_text(json.dumps({**document, "added_tokens": tokens, "model": model}))
    pipeline = load_tokenizer(path).pipeline
    assert isinstance(pipeline, StepsPipeline)
    return pipeline


def by_library(pipeline: StepsPipeline, text: str) -> Counter[bytes]:
    parts = pipeline.prepare(text, "allow", around=False).parts
    return Counter(content for part in parts if isinstance(part, Stretch) for content in part.pretokens if content)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(texts=st.lists(TEXTS, min_size=1, max_size=8), is_normalized=st.booleans())
@pytest.mark.parametrize(("normalizer", "pre_tokenizer"), KNOWN)
def test_they_cut_as_the_library_or_leave_a_text_to_it(tmp_path, normalizer, pre_tokenizer, texts, is_normalized):
    pipeline = pipeline_of(tmp_path / "t.json", normalizer, pre_tokenizer, normalized=is_normalized)
    assert pipeline.joined is not None
    for text in texts:
        cut = pipeline.joined.pretokens(text)
        assert cut is None or Counter(map(str.encode, filter(None, cut))) == by_library(pipeline, text)


@pytest.mark.parametrize(("normalizer", "pre_tokenizer"), KNOWN)
def test_ordinary_text_is_cut_here(tmp_path, normalizer, pre_tokenizer):
    pipeline = pipeline_of(tmp_path / "t.json", normalizer, pre_tokenizer, added=("<s>",), normalized=True)
    assert pipeline.joined is not None
    text = "low\nlower" if normalizer is PREPEND else "low lower\nb"
    assert Counter(map(str.encode, pipeline.joined.pretokens(text) or ())) == by_library(pipeline, text) != Counter()


@pytest.mark.parametrize(("normalizer", "pre_tokenizer"), OTHER)
def test_other_steps_are_left_to_the_library(tmp_path, normalizer, pre_tokenizer):
    assert pipeline_of(tmp_path / "t.json", normalizer, pre_tokenizer).joined is None


@pytest.mark.parametrize("flag", ["single_word", "lstrip", "rstrip"])
def test_added_tokens_that_look_around_them_are_left_to_the_library(tmp_path, flag):
    assert pipeline_of(tmp_path / "t.json", REPLACE, None, **{flag: True}).joined is None


def test_thousands_of_added_tokens_are_found_where_they_overlap(tmp_path):
    added = [f"aba{number}" for number in range(60)] + ["abab"]
    pipeline = pipeline_of(tmp_path / "t.json", REPLACE, None, added=added)
    assert pipeline.joined is not None
    for text in ("abaaba7b", "ababa5", "ababab", "aba", "x aba59 aba60"):
        assert Counter(map(str.encode, pipeline.joined.pretokens(text) or ())) == by_library(pipeline, text)
