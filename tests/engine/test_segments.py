"""Normalization of long runs of combining marks."""

from __future__ import annotations

import random
import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_viz.engine.segments import normalize

FORMS = ("NFC", "NFD", "NFKC", "NFKD")
# Marks of many classes: some decompose, into several marks or to what is no mark, and some never move.
MARKS = "\u0300\u0301\u0316\u0323\u0327\u0344\u0340\u0345\u05b0\u0651\u0f71\u0f72\u0f73\u0f75\u0f81\u3099\u20dd\u0903"
TEXTS = st.lists(st.sampled_from(["a", "ế", "ṩ", "か", "ﬁ", " ", "각", "ᄀ", "ᅡ", *MARKS]), max_size=30)


@pytest.mark.parametrize("form", FORMS)
@given(pieces=TEXTS, seed=st.integers(0, 99), where=st.integers(0, 30))
def test_a_long_run_of_marks_is_normalized_as_python_does(form, pieces, seed, where):
    run = random.Random(seed).choices(MARKS, k=150)
    text = "".join([*pieces[:where], *run, *pieces[where:]])
    assert normalize(text, (form,)) == unicodedata.normalize(form, text)


@pytest.mark.parametrize("form", FORMS)
def test_a_run_of_marks_takes_time_as_its_length(form):
    started = time.process_time()
    normalize("e" + "\u0301\u0316" * 200_000, (form,))  # by itself Python takes a minute
    assert time.process_time() - started < 5
