"""Pairs in their table, and pre-tokens merged in lanes, against the plain ways."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_viz.engine import compiled, kernels_merging, kernels_pairs
from bpe_viz.engine.boundaries import pair_table, split_symbols
from bpe_viz.engine.compiled import PLAIN, Kernels
from bpe_viz.engine.encoding_arrays import empty_lanes, merges_of
from bpe_viz.engine.kernels_merging import CELLS, LANE, LANES
from bpe_viz.engine.kernels_pairs import BORDER, SYMBOL_BITS, pair_key
from bpe_viz.engine.merge_ranks import PairEntries
from bpe_viz.engine.tokenizer import BYTES, Tokenizer
from bpe_viz.engine.types import CountingOptions


@pytest.fixture(scope="module", params=["plain", "compiled"])
def kernel_set(request) -> Kernels:
    return PLAIN if request.param == "plain" else compiled.load()


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=300))
def test_a_pair_is_found_with_the_rank_that_it_was_entered_with_first(pairs):
    left, right = (np.array(one, dtype=np.int32) for one in (zip(*pairs, strict=True) if pairs else ((), ())))
    table = pair_table(PairEntries(left, right, np.arange(len(pairs), dtype=np.int64)), PLAIN)
    first = {pair: rank for rank, pair in reversed(list(enumerate(pairs)))}
    for a in range(42):
        for b in range(42):
            assert kernels_pairs.find_pair(memoryview(table), a, b) == first.get((a, b), -1)
        assert kernels_pairs.find_pair(memoryview(table), a, BORDER) == -1


def test_the_largest_symbols_have_a_place_in_the_table():
    largest = kernels_pairs.MOST_SYMBOLS - 1
    ends = np.array([largest, 0, largest], dtype=np.int32)
    table = pair_table(PairEntries(ends, ends[[1, 2, 0]].copy(), np.array([largest, 7, 0], dtype=np.int64)), PLAIN)
    found = [kernels_pairs.find_pair(memoryview(table), *pair) for pair in ((largest, 0), (0, largest), (0, 0))]
    assert found == [largest, 7, -1]
    assert kernels_pairs.find_pair(memoryview(table), largest, largest) == 0


words = st.lists(st.text("ab", min_size=1, max_size=30), min_size=1, max_size=2 * LANES)


@given(st.lists(st.text("ab", min_size=2, max_size=6).map(str.encode), max_size=30, unique=True), words)
def test_lanes_merge_as_one_pre_token_alone_does(kernel_set, tokens, texts):
    ranks = {content: rank for rank, content in enumerate((*BYTES, *tokens))}
    tokenizer = Tokenizer.from_ranks(ranks, CountingOptions())
    merges, lanes = merges_of(tokenizer, kernel_set), empty_lanes()
    merges_view, lanes_view = kernel_set.view((merges, lanes))
    module = kernel_set.of(kernels_merging)
    texts = [*texts[: LANES - 1], "a" * LANE]
    for lane, text in enumerate(texts):
        data = kernel_set.view(np.frombuffer(text.encode(), dtype=np.uint8))
        module.fill_lane(lanes_view, lane, data, 0, len(text), merges_view)
    module.merge_lanes(len(texts), merges_view, lanes_view)
    for lane, text in enumerate(texts):
        begins = lane * CELLS
        got = lanes.symbol[begins : begins + lanes.length[lane]].tolist()
        symbols = tokenizer.base.start(text.encode())[0]
        assert got == split_symbols(symbols, tokenizer.merge_ranks, tokenizer.position)


@given(st.lists(st.text("abc", min_size=2, max_size=7).map(str.encode), max_size=30, unique=True))
def test_only_the_pair_that_makes_a_token_merges_and_only_unmade_tokens_are_looked_up_whole(tokens):
    ranks = {content: rank for rank, content in enumerate((*BYTES, *tokens))}
    tokenizer = Tokenizer.from_ranks(ranks, CountingOptions())
    merges = merges_of(tokenizer, compiled.load())
    table = merges.table[merges.table >= 0]
    pairs = dict(zip((table & (1 << SYMBOL_BITS) - 1).tolist(), (table >> SYMBOL_BITS).tolist(), strict=True))
    made = enumerate(tokenizer.merge_ranks.merging_pairs(len(tokens)))
    assert pairs == {rank: pair_key(*pair) for rank, pair in made if pair is not None}
    whole = {int(symbol) - len(BYTES) for symbol in merges.whole if symbol >= 0}
    expected = set()
    for rank, token in enumerate(tokens):
        symbols = tokenizer.base.start(token)[0]
        if split_symbols(symbols, tokenizer.merge_ranks, len(tokens)) != [len(BYTES) + rank]:
            expected.add(rank)
    assert whole == expected
