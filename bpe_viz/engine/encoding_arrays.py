"""The arrays of encoding: a tokenizer's merges laid out for the kernels, and room for what they remember."""

from __future__ import annotations

from typing import Any

import numpy as np

from bpe_viz.engine import kernels_merging
from bpe_viz.engine.arrays import zeros
from bpe_viz.engine.boundaries import pair_table
from bpe_viz.engine.compiled import Kernels
from bpe_viz.engine.joined_ranks import JoinedRanks
from bpe_viz.engine.kernels_batches import ENTRY
from bpe_viz.engine.kernels_encoding import LONGEST_KEPT, N_USED, Cache, Scratch
from bpe_viz.engine.kernels_merging import CELLS, LANES, N_BASE, NO_TOKEN, Lanes, Merges
from bpe_viz.engine.kernels_pairs import MOST_SYMBOLS, NO_RANK
from bpe_viz.engine.merge_ranks import PairEntries
from bpe_viz.engine.scanning import BATCH
from bpe_viz.engine.symbols import BaseVocabulary
from bpe_viz.engine.tokenizer import Tokenizer

ENTRIES = 1 << 20
"""Of the memory of pre-tokens, 32 bytes each and three quarters of them used: so 32 MB a thread."""

KEPT_BYTES = 1 << 25
"""Room for the tokens of pre-tokens that have many, and as much for the bytes of long ones; taken as it is used."""


def runs_in_arrays(tokenizer: Tokenizer) -> bool:
    """Tell whether the kernels know the tokenizer's base."""
    base = tokenizer.base
    is_plain = base.base == "bytes" and base.end_of_word == "none" and type(base) is BaseVocabulary
    return is_plain and len(tokenizer.symbols) < MOST_SYMBOLS


def empty_lanes() -> Lanes:
    """Return lanes without any pre-token in them."""
    cells = [np.zeros(LANES * CELLS, dtype=np.int32) for _ in range(4)]
    numbers = [np.zeros(n, dtype=np.int64) for n in (LANES, LANES, LANES, LANES, 2 * LANES, 2 * LANES, 2 * LANES)]
    return Lanes(*cells, *numbers)


def empty_scratch(longest: int) -> Scratch:
    """Return room for one pre-token of so many bytes."""
    return Scratch(
        symbol=np.empty(longest, dtype=np.int32),
        rank=np.empty(longest, dtype=np.int64),
        right_of=np.empty(longest, dtype=np.int32),
        left_of=np.empty(longest, dtype=np.int32),
        heap=np.empty(3 * longest, dtype=np.int64),
        nothing=np.empty(0, dtype=np.int64),
    )


def batch_for(entries: int) -> int:
    """Return how many pre-tokens are looked up together: they find room in a memory of so many entries at once."""
    return min(BATCH, 3 * entries // 4)


def empty_cache(entries: int) -> Cache:
    """Return a memory of pre-tokens without any in it. entries: a power of two, at least 32."""
    # On a boundary of 64 bytes, so that an entry lies in one cache line.
    room = zeros(entries * ENTRY + 8, np.int64)
    skip = (-room.ctypes.data % 64) // 8
    kept = max(min(KEPT_BYTES, 64 * entries), 4 * batch_for(entries) * LONGEST_KEPT)
    return Cache(
        entry=room[skip : skip + entries * ENTRY],
        tokens=zeros(kept // 4, np.int32),
        text=zeros(kept, np.uint8),
        start=zeros(entries, np.int64),
        used=np.zeros(N_USED, dtype=np.int64),
    )


def merges_of(tokenizer: Tokenizer, kernel_set: Kernels) -> Merges:
    """Lay a tokenizer's merges up to its position out for the kernels. Its base is bytes without a marker."""
    source = tokenizer.merge_ranks
    n_symbols = len(tokenizer.symbols)
    contents = [b""] * n_symbols
    for content, symbol in source.wholes(tokenizer.position):
        contents[symbol] = content
    nothing = np.empty(0, dtype=np.int32)
    merges = Merges(
        symbol_of_byte=np.array(tokenizer.base.symbols([bytes([byte]) for byte in range(256)]), dtype=np.int32),
        pair_of_bases=nothing,
        makes=source.makes(),
        table=nothing.astype(np.int64),
        ids=np.ascontiguousarray(tokenizer.ids_of(np.arange(n_symbols)).astype(np.int32)),
        whole=nothing,
        content=nothing.astype(np.uint8),
        content_start=nothing.astype(np.int64),
    )
    merges = _with_wholes(merges, contents, kernel_set)
    if not (isinstance(source, JoinedRanks) and source.takes_whole and kernel_set.compiled):
        return _with_pairs(merges, source.entries(tokenizer.position), kernel_set)
    module = kernel_set.of(kernels_merging)
    merges = _with_pairs(merges, _cuts(merges, N_BASE + tokenizer.position, module), kernel_set)
    # Of all ways to cut a token only one ever applies; with these alone half as much of the table has to be at hand.
    made, (left, right) = np.zeros(n_symbols, dtype=np.uint8), np.full((2, n_symbols), NO_TOKEN, dtype=np.int32)
    module.find_pairs(merges, n_symbols, empty_lanes(), made, left, right)
    symbols = np.flatnonzero(left != NO_TOKEN)
    merges = _with_pairs(merges, PairEntries(left[symbols], right[symbols], symbols - N_BASE), kernel_set)
    # Nearly all are made, and need not be looked for whenever a pre-token is new.
    unmade = [b"" if is_made else content for content, is_made in zip(contents, made.tolist(), strict=True)]
    return _with_wholes(merges, unmade, kernel_set)


def _with_pairs(merges: Merges, entries: PairEntries, kernel_set: Kernels) -> Merges:
    """Enter the pairs that merge, and no others."""
    of_bases = (entries.left < N_BASE) & (entries.right < N_BASE)
    pair_of_bases = np.full(1 << 16, NO_RANK, dtype=np.int32)
    # Backwards, so that the first of a pair that is listed twice stays.
    slots = (entries.left[of_bases] << 8 | entries.right[of_bases])[::-1]
    pair_of_bases[slots] = entries.rank[of_bases][::-1]
    return merges._replace(pair_of_bases=pair_of_bases, table=pair_table(entries, kernel_set))


def _with_wholes(merges: Merges, contents: list[bytes], kernel_set: Kernels) -> Merges:
    """Enter the symbols that are taken whole. contents: the bytes of each, none of the others."""
    n = sum(map(bool, contents))
    merges = merges._replace(
        whole=np.full(1 << (2 * n).bit_length() if n else 0, NO_TOKEN, dtype=np.int32),
        content=np.frombuffer(b"".join(contents), dtype=np.uint8).copy(),
        content_start=np.cumsum([0, *map(len, contents)], dtype=np.int64),
    )
    if n:
        kernel_set.of(kernels_merging).fill_whole(kernel_set.view(merges), len(contents))
    return merges


def _cuts(merges: Merges, n_symbols: int, module: Any) -> PairEntries:
    """Return what JoinedRanks.entries does, a tenth as long after; module: compiled kernels."""
    room = max(1, len(merges.content))  # a token can be cut before each of its bytes but the first
    left, right = zeros(room, np.int32), zeros(room, np.int32)
    rank = zeros(room, np.int64)
    n = module.find_cuts(merges, n_symbols, left, right, rank)
    return PairEntries(left[:n].copy(), right[:n].copy(), rank[:n].copy())
