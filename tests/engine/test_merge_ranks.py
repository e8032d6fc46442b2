"""Merging by joined bytes at every position, against the library's own algorithm limited to as many ranks."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_viz.engine import boundaries
from bpe_viz.engine.boundaries import LONG, BoundaryRanks, split_symbols
from bpe_viz.engine.compiled import PLAIN, load
from bpe_viz.engine.encoder import Encoder
from bpe_viz.engine.explain import explain
from bpe_viz.engine.joined_ranks import JoinedRanks, ScoredPieces
from bpe_viz.engine.listed_ranks import ListedRanks
from bpe_viz.engine.symbols import BaseVocabulary
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
        assert Encoder(at, PLAIN, entries=32).encode_bytes(text.encode()).tolist() == ids


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
    with pytest.raises(FormatError, match=r"No merge makes the token b'xyxy'"):
        _ = tokenizer.pairs


def test_all_bytes_are_needed():
    with pytest.raises(FormatError, match="1 of the 256 bytes are no token, 0x00"):
        Tokenizer.from_ranks({content: rank for rank, content in enumerate(BYTES[1:])}, CountingOptions())


def listed(**more) -> ListedRanks:
    """Lines ab, bc, ab+c, a+bc, ab again, over a, b, c."""
    left, right = np.array([0, 1, 3, 0, 0], np.int32), np.array([1, 2, 2, 4, 1], np.int32)
    return ListedRanks(3, left, right, np.array([3, 4, 5, 5, 3], np.int32), **more)


def test_lines_that_make_one_token_are_gone_on_from_alike():
    ranks = listed()
    assert len(ranks) == 5
    assert ranks.n_repeated == 1
    assert ranks.of(0, 1) == 4  # the last line of a pair counts
    assert ranks.of(3, 2) == ranks.of(7, 2) == 2
    assert ranks.makes().tolist() == [3, 4, 5, 5, 3]
    assert ranks.entries(5).rank.tolist() == [1, 2, 3, 4]
    assert ranks.entries(3).rank.tolist() == [1, 2]
    assert ranks.pair(3) == (0, 4)
    assert ranks.pair(9) is None
    assert [tuple(pair) for pair in ranks.pairs(2)] == [(1, 2)]  # of a pair that counts later only
    assert [tuple(pair) for pair in ranks.pairs(5)].count((0, 1)) == 2


def test_a_line_that_is_listed_again_applies_at_its_last_place():
    assert split_symbols([0, 1, 2], listed(), 5) == [3 + 3]
    assert split_symbols([0, 1], listed(), 4) == [0, 1]
    assert split_symbols([0, 1], listed(), 5) == [3 + 4]


def test_a_pre_token_is_taken_whole_at_the_end_of_the_list_only():
    ranks = listed(numbers={b"cab": 5})
    base = BaseVocabulary("bytes", "none", "</w>", (b"a", b"b", b"c"), (False,) * 3)
    boundaries = BoundaryRanks(base, ranks)
    assert boundaries.split(b"cab", 5) == [8]
    assert boundaries.split(b"cab", 4) == [2, 0, 1]
    found = boundaries.of(b"cab", 5)
    assert found.at(5)[0].tolist() == [8]
    assert found.at(4)[0].tolist() == [2, 0, 1]
    assert list(ranks.wholes(5)) == [(b"cab", 8)]
    assert list(ranks.wholes(4)) == []


def test_pieces_of_one_turn_merge_from_the_left_whichever_they_are():
    texts = [b"a", b"b", b"c"]
    alone = ScoredPieces(texts, [b"bc", b"ab"])
    assert split_symbols([0, 1, 2], alone, 2) == [0, 3]
    alike = ScoredPieces(texts, [b"bc", b"ab"], turns=[1, 1])
    assert split_symbols([0, 1, 2], alike, 2) == [4, 2]
    assert split_symbols([0, 1, 2], alike, 1) == [0, 1, 2]
    assert alike.pair(1) == (0, 1)


def test_pieces_that_are_cut_out_never_merge():
    ranks = ScoredPieces([b"a", b"b"], [b"ab"], frozenset({1}))
    assert ranks.of(0, 1) is None
    assert ranks.pair(0) is None


@pytest.mark.parametrize("kernels", [PLAIN, None], ids=["plain", "compiled"])
def test_long_pre_tokens_are_worked_out_alike(kernels):
    kernel_set = load() if kernels is None else kernels
    for ranks in (listed(), ScoredPieces([b"a", b"b", b"c"], [b"bc", b"ab", b"abc"], turns=[1, 1, 2])):
        base = BaseVocabulary("bytes", "none", "</w>", (b"a", b"b", b"c"), (False,) * 3)
        boundaries = BoundaryRanks(base, ranks)
        boundaries.use(kernel_set)
        text = b"abcbcaabbc" * (LONG // 8)
        found = boundaries.of(text, len(ranks))
        for position in range(len(ranks) + 1):
            expected = split_symbols(base.start(text)[0], ranks, position)
            assert found.at(position)[0].tolist() == expected


def test_a_list_that_sweeps_merges_a_rank_everywhere_before_a_lower_one():
    # The first line joins "ca" and "c", the second makes "ca".
    lines = [np.array(one, dtype=np.int32) for one in ([4, 2], [2, 0], [3, 4])]
    for sweeps, expected in ((False, [3, 0]), (True, [4, 4])):
        ranks = ListedRanks(3, *lines, sweeps=sweeps)
        assert ranks.goes_back
        assert split_symbols([2, 0, 2, 0], ranks, 2) == expected
    assert not ListedRanks(3, *(line[:1] for line in lines)).goes_back


@given(st.lists(st.text("ab", min_size=2, max_size=6).map(str.encode), max_size=14, unique=True), st.integers(0, 14))
def test_the_pair_that_makes_a_token_is_found_in_short_and_in_long_ones(tokens, n):
    ranks = JoinedRanks(BYTES, tokens)
    n = min(n, len(tokens))
    found = ranks.merging_pairs(n)
    assert found == [ranks._last_merge(rank, n) for rank in range(n)]
    for token, pair in zip(tokens, found, strict=False):
        split = split_symbols(list(token), JoinedRanks(BYTES, tokens[:n]), n)
        assert (pair is not None) == (len(split) == 1)


@pytest.mark.parametrize(
    "ranks",
    [
        JoinedRanks(BYTES, [b"ab", b"bc", b"abc"]),
        ScoredPieces([b"a", b"b", b"<s>"], [b"ab", b"aba"], frozenset({2})),
        listed(),
        listed(numbers={b"ab": 1, b"abc": 4}),
    ],
)
def test_a_list_means_the_same_in_another_process(ranks):
    sent = pickle.loads(pickle.dumps(ranks, protocol=5))
    n_symbols = ranks.n_base + len(ranks)
    assert len(sent) == len(ranks)
    for left in range(n_symbols):
        assert [sent.of(left, right) for right in range(n_symbols)] == [
            ranks.of(left, right) for right in range(n_symbols)
        ]
    assert [sent.pair(rank) for rank in range(len(ranks))] == [ranks.pair(rank) for rank in range(len(ranks))]
    for pretoken in (b"ab", b"abc", b"a", b"<s>"):
        assert sent.whole(pretoken) == ranks.whole(pretoken)
