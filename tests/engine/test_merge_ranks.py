"""Merging by joined bytes at every position, against the library's own algorithm limited to as many ranks."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_viz.engine import boundaries
from bpe_viz.engine.boundaries import BoundaryRanks
from bpe_viz.engine.compiled import PLAIN, load
from bpe_viz.engine.encoder import Encoder
from bpe_viz.engine.explain import explain
from bpe_viz.engine.merge_ranks import JoinedRanks
from bpe_viz.engine.tokenizer import BYTES, Tokenizer
from bpe_viz.engine.types import CountingOptions, Pair
from bpe_viz.errors import FormatError

# Any tokens in any order: most such lists were never trained, and their merges make pairs of lower rank.
tokens = st.lists(st.text("ab c", min_size=2, max_size=6).map(str.encode), max_size=25, unique=True)
texts = st.text("ab cd\n", max_size=24)


def tokenizer_of(listed: list[bytes], pretokenizer: str = "gpt2") -> Tokenizer:
    ranks = {content: rank for rank, content in enumerate((*BYTES, *listed))}
    return Tokenizer.from_ranks(ranks, CountingOptions(pretokenizer))


def merged(content: bytes, ranks: dict[bytes, int]) -> list[bytes]:
    """Source: tiktoken, _educational.py, and the look-up of the whole piece in src/lib.rs."""
    if content in ranks:
        return [content]
    parts = [content[i : i + 1] for i in range(len(content))]
    while True:
        found = [(ranks[a + b], i) for i, (a, b) in enumerate(pairwise(parts)) if a + b in ranks]
        if not found:
            return parts
        _, i = min(found)
        parts[i : i + 2] = [parts[i] + parts[i + 1]]


@given(tokens, texts)
def test_every_position_is_the_librarys_algorithm_limited_to_as_many_ranks(listed, text):
    tokenizer = tokenizer_of(listed)
    laid_out = tokenizer.lay_out(text)
    counts = laid_out.counts(len(listed))
    for position in range(len(listed) + 1):
        ranks = {content: rank for rank, content in enumerate(listed[:position])}
        at = tokenizer.at(position)
        explained = explain(at, text)
        expected = [part for one in explained for part in merged(one.pretoken.encode(), ranks)]
        details = laid_out.encoding(position)
        assert [token.content for token in details.tokens] == expected
        ids = [listed.index(part) + 256 if len(part) > 1 else part[0] for part in expected]
        assert [token.id for token in details.tokens] == ids == at.encode(text).ids
        assert counts[position] == len(ids)
        assert [at.id_of(symbol) for one in explained for symbol in one.symbols] == ids
        assert Encoder(at, PLAIN, entries=2).encode_bytes(text.encode()).tolist() == ids


@given(tokens, st.text("ab cd", min_size=1, max_size=24).map(str.encode))
def test_long_pretokens_are_worked_out_as_short_ones_are(listed, content):
    tokenizer = tokenizer_of(listed)
    source = JoinedRanks(BYTES, listed)
    short = BoundaryRanks(tokenizer.base, source).of(content, len(listed))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(boundaries, "LONG", 0)
        patch.setattr(boundaries, "LONG_FOR_PLAIN", 0)
        for kernel_set in (PLAIN, load()):
            long = BoundaryRanks(tokenizer.base, source, kernel_set).of(content, len(listed))
            for position in range(len(listed) + 1):
                for ours, theirs in zip(long.at(position), short.at(position), strict=True):
                    assert ours.tolist() == theirs.tolist()


@given(tokens)
def test_entries_are_every_way_to_join_two_tokens(listed):
    source = JoinedRanks(BYTES, listed)
    symbols = [*BYTES, *listed]
    n = len(listed) // 2
    entries = source.entries(n)
    found = set(zip(entries.left.tolist(), entries.right.tolist(), entries.rank.tolist(), strict=True))
    known = {a: i for i, a in enumerate(symbols[: 256 + n])}
    expected = {
        (known[token[:cut]], known[token[cut:]], rank)
        for rank, token in enumerate(listed[:n])
        for cut in range(1, len(token))
        if token[:cut] in known and token[cut:] in known
    }
    assert found == expected


def test_a_token_that_falls_into_three_is_taken_whole_and_has_no_pair(shared, case):
    tokenizer = tokenizer_of([b"yx", b"xy", b"xyxy"], "none")
    given_case = case("IM-11")
    for text, ids in given_case["expected"]["encode"].items():
        assert tokenizer.encode(text).ids == ids
    assert tokenizer.merge_of(258) is None
    assert tokenizer.merge_of(257) == Pair(ord("x"), ord("y"))
    (whole,) = explain(tokenizer, "xyxy")
    assert (whole.whole, whole.merges, whole.symbols) == (258, (), (258,))
    assert tokenizer.at(2).encode("xyxy").ids == [ord("x"), 256, ord("y")]
    with pytest.raises(FormatError, match="joined bytes"):
        _ = tokenizer.pairs


def test_all_bytes_are_needed():
    with pytest.raises(FormatError, match="1 of the 256 bytes are no token, 0x00"):
        Tokenizer.from_ranks({content: rank for rank, content in enumerate(BYTES[1:])}, CountingOptions())
