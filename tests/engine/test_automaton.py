"""The automaton finds the pre-tokens that the patterns do, wherever it is broken off."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_viz.engine import compiled, kernels_automaton, kernels_batches
from bpe_viz.engine.automaton import scanner_for
from bpe_viz.engine.compiled import PLAIN, Kernels
from bpe_viz.engine.kernels_automaton import FEWEST_STARTS
from bpe_viz.engine.kernels_batches import ENTRY
from bpe_viz.engine.pretokenize import PRETOKENIZERS
from bpe_viz.engine.scanning import empty_batch, rule_for
from bpe_viz.engine.types import CountingOptions
from tests.engine.test_scanning import DOCUMENTS, NAMED, TEXTS, by_pattern, options_for

# What the patterns part by, far more often than text has it.
CLOSE = st.text(" \t\n\r\u3000'sSdlLvVrReE1\u0663.-(xé\u017f字\u0301/", max_size=24)


def by_batches(text: str, options: CountingOptions, kernel_set: Kernels, room: int, stride: int) -> list[str]:
    """Cut in batches of so much room, and only up to a place that moves on by so much."""
    rule, content = rule_for(options), text.encode()
    assert rule is not None
    data, scanner = kernel_set.view((np.frombuffer(content, dtype=np.uint8), scanner_for(rule)))
    batch, entry = empty_batch(room), np.zeros(16 * ENTRY, dtype=np.int64)
    batch_view, entry_view = kernel_set.view((batch, entry))
    scan_batch = kernel_set.of(kernels_batches).scan_batch
    found: list[str] = []
    at = 0
    while at < len(content):
        until = min(at + stride, len(content))
        n = scan_batch(rule, scanner, batch_view, data, at, until, len(content), entry_view)
        if n == 0:
            break
        # What begins with white space that is no part of it may begin behind.
        assert options.pretokenizer == "whitespace" or (batch.start[:n] < until).all()
        found += (content[batch.start[i] : batch.end[i]].decode() for i in range(n))
        at = int(batch.end[n - 1])
    return found


@pytest.fixture(scope="module")
def fast() -> Kernels:
    return compiled.load()


@NAMED
@DOCUMENTS
@given(text=st.one_of(TEXTS, CLOSE), room=st.integers(FEWEST_STARTS, 40), stride=st.integers(1, 60))
def test_random_text_is_cut_as_the_pattern_cuts_it(name, documents, text, room, stride):
    options = options_for(name, documents)
    assert by_batches(text, options, PLAIN, room, stride) == by_pattern(text, options)


@NAMED
@given(text=st.one_of(TEXTS, CLOSE))
def test_compiled_and_plain_kernels_cut_alike(name, fast, text):
    options = options_for(name, "file")
    assert by_batches(text, options, fast, 40, 1000) == by_batches(text, options, PLAIN, FEWEST_STARTS, 1000)


@NAMED
@DOCUMENTS
def test_real_text_is_cut_as_the_pattern_cuts_it(name, documents, shared, fast):
    options = options_for(name, documents)
    paths = [path for path in sorted((shared / "data" / "text").rglob("*")) if path.is_file()]
    assert paths
    for path in paths:
        text = path.read_bytes().decode(errors="replace")
        assert by_batches(text, options, fast, 500, 1 << 16) == by_pattern(text, options), path.name


@pytest.mark.parametrize("name", PRETOKENIZERS)
def test_the_patterns_that_have_an_automaton(name):
    rule = rule_for(options_for(name, "file"))
    assert rule is not None
    has_automaton = len(scanner_for(rule).steps) > 0
    assert has_automaton == (name in ("gpt2", "cl100k", "llama3", "qwen2"))


def test_a_run_of_white_space_without_end_fits_into_the_least_room():
    for text in (" \n" * 5000 + "x", " " * 10_000 + "x", "'" * 10_000, "x" * 10_000, "\n " * 5000):
        for name in ("gpt2", "cl100k"):
            options = options_for(name, "file")
            assert by_batches(text, options, PLAIN, FEWEST_STARTS, len(text)) == by_pattern(text, options)


def test_a_state_and_what_becomes_certain_fit_into_a_byte():
    assert kernels_automaton.STATES << kernels_automaton.STATE_SHIFT == 256
