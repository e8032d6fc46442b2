"""The hot loops of encoding: pre-tokens to token ids, with a memory of pre-tokens in front of the merging.

Plain Python over flat arrays, like kernels.py, and run in the same two ways.

The words used below
    key     tells pre-tokens apart: two numbers. Up to SHORT_BYTES bytes they hold the bytes themselves and their
            number, so equal keys are equal pre-tokens; of a longer pre-token they hold a hash and the number of bytes,
            and the bytes are compared.
    bucket  WAYS entries side by side, in one or two cache lines. A key is looked for in one bucket only; when that is
            full the oldest entry goes. So memory is bounded, and what is met often comes back at once.
    entry   four int64: the two numbers of the key (the second is 0 in an empty entry), then what it stands for: up to
            three tokens packed in, else where they lie in Cache.tokens.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from bpe_viz.engine.kernels_boundaries import find_pair, remove_boundaries

# A NumPy array (compiled) or a memoryview of one (plain): both are indexed and assigned alike.
Array = Any

PADDING = 16
"""How many bytes must be readable behind every text; their values do not matter."""

WAYS = 4
WORDS = 4
SHORT_BYTES = 14
LONGEST_KEPT = 256
LONG_KEY = 15
PACKED_TOKENS = 3

SCANNED = 48
"""Up to so many symbols the lowest rank is found by looking at all of them: quicker than a heap, for their number."""

NO_RANK = 2**31 - 1
NO_TOKEN = -1

# Numbers stay below 2**63 after masking, and masking keeps the low bits alone, which are the same whether a product
# wraps (compiled) or grows (plain).
_56_BITS = (1 << 56) - 1
_62_BITS = (1 << 62) - 1
_31_BITS = (1 << 31) - 1
_FACTOR = 0x1E3779B97F4A7C15
_OTHER_FACTOR = 0x2545F4914F6CDD1D

# Rows of Cache.used.
TOKENS_USED, TEXT_USED, FORGOTTEN = range(3)


class Merges(NamedTuple):
    """What merges, up to one position.

    symbol_of_byte: (256,) int32, base symbols
    pair_of_bases: (65536,) int32, the rank of each two base symbols, left * 256 + right, or NO_RANK
    table: the pairs and their ranks, see kernels_boundaries.fill_pair_table
    may_merge: (bits / 8,) uint8, a bit for each of as many hashes of pairs, a power of two: where it is not set no such
           pair is in the table. Most pairs do not merge, and this small array spares the way to the large one.
    ids: (symbols,) int32, token ids
    whole: (size,) int32, a hash table of the symbols that are taken whole, NO_TOKEN where empty; size is a power of
           two, or 0 if none is
    content: (bytes + PADDING,) uint8, the bytes of all symbols end to end; content_start: (symbols + 1,) int64
    """

    symbol_of_byte: Array
    pair_of_bases: Array
    table: Array
    may_merge: Array
    ids: Array
    whole: Array
    content: Array
    content_start: Array


class Cache(NamedTuple):
    """Pre-tokens met before, and their tokens.

    entry: (buckets * WAYS * WORDS,) int64, buckets a power of two
    tokens: (n,) int32, those that do not fit into an entry, end to end
    text: (n + PADDING,) uint8, the bytes of long pre-tokens, end to end
    used: (3,) int64, how much of tokens and text is in use, and how often all was forgotten for want of room
    """

    entry: Array
    tokens: Array
    text: Array
    used: Array


class Scratch(NamedTuple):
    """Room for one pre-token: of n bytes each but heap, which has 3 * n. As in kernels_boundaries.remove_boundaries."""

    symbol: Array
    rank: Array
    right_of: Array
    left_of: Array
    heap: Array
    nothing: Array


def encode_spans(
    text: Array, start: Array, end: Array, merges: Merges, cache: Cache, scratch: Scratch, out: Array
) -> int:
    """Encode pre-tokens one after the other.

    text: (n + PADDING,) uint8
    start, end: (pretokens,) int64, where each lies in text; scratch has room for the longest
    out: (bytes of all pre-tokens + PACKED_TOKENS,) int32, gets the ids
    Returns how many ids there are.
    """
    used = 0
    entry = cache.entry
    n_buckets = len(entry) // (WAYS * WORDS)
    for i in range(len(start)):
        at, n = start[i], end[i] - start[i]
        if n <= 0:
            continue
        first, second = key_of(text, at, n)
        place = (_mixed(first, second) & (n_buckets - 1)) * (WAYS * WORDS)
        found = -1
        for candidate in range(place, place + WAYS * WORDS, WORDS):
            has_key = entry[candidate + 1] == second and entry[candidate] == first
            if has_key and (n <= SHORT_BYTES or _same_bytes(cache.text, entry[candidate + 2] >> 31, text, at, n)):
                found = candidate
                break
        if found < 0:
            fresh = _merge(text, at, n, first, second, merges, scratch, out, used)
            if n <= LONGEST_KEPT:
                _remember(cache, place, text, at, n, first, second, out, used, fresh)
            used += fresh
            continue
        known, count = entry[found + 2], entry[found + 3] & 0xFF
        if count <= PACKED_TOKENS and n <= SHORT_BYTES:
            # All three are written, and what is too much is overwritten by what follows: no branch.
            out[used] = known & _31_BITS
            out[used + 1] = known >> 31
            out[used + 2] = entry[found + 3] >> 8
            used += count
            continue
        count = entry[found + 3]
        known &= _31_BITS
        for j in range(count):
            out[used + j] = cache.tokens[known + j]
        used += count
    return used


def key_of(text: Array, at: int, n: int) -> tuple[int, int]:
    """Return the key of n bytes of a text; see the module."""
    if n <= SHORT_BYTES:
        # Seven bytes to a number, so that it stays positive in 64 bits.
        if n <= 7:
            return _eight_bytes(text, at) & ((1 << 8 * n) - 1), n << 56
        return _eight_bytes(text, at) & _56_BITS, (_eight_bytes(text, at + 7) & ((1 << 8 * (n - 7)) - 1)) | n << 56
    hashed = n
    for i in range(at, at + n - 7, 7):
        hashed = ((hashed ^ (_eight_bytes(text, i) & _56_BITS)) * _FACTOR) & _56_BITS
        hashed ^= hashed >> 29
    # The last seven bytes once more or in part: that all count is what matters.
    hashed = ((hashed ^ (_eight_bytes(text, at + n - 7) & _56_BITS)) * _FACTOR) & _56_BITS
    return hashed ^ hashed >> 29, n | LONG_KEY << 56


def _eight_bytes(text: Array, at: int) -> int:
    # Written so that a compiler makes one load of it. In compiled code the sum may wrap; callers mask it.
    return (  # type: ignore[no-any-return]  # an int64
        text[at]
        | text[at + 1] << 8
        | text[at + 2] << 16
        | text[at + 3] << 24
        | text[at + 4] << 32
        | text[at + 5] << 40
        | text[at + 6] << 48
        | text[at + 7] << 56
    )


def _mixed(first: int, second: int) -> int:
    mixed = (first * _FACTOR + second * _OTHER_FACTOR) & _62_BITS
    return mixed >> 32 ^ mixed >> 47


def _same_bytes(kept: Array, kept_at: int, text: Array, at: int, n: int) -> bool:
    for i in range(n):  # noqa: SIM110  # Numba compiles no generator expression
        if kept[kept_at + i] != text[at + i]:
            return False
    return True


def _remember(
    cache: Cache,
    place: int,
    text: Array,
    at: int,
    n: int,
    first: int,
    second: int,
    out: Array,
    out_at: int,
    count: int,
) -> None:
    """Put a pre-token in front of its bucket; the last of a full bucket goes."""
    entry, used = cache.entry, cache.used
    if used[TOKENS_USED] + count > len(cache.tokens) or used[TEXT_USED] + n + PADDING > len(cache.text):
        for i in range(len(entry)):
            entry[i] = 0
        used[TOKENS_USED] = used[TEXT_USED] = 0
        used[FORGOTTEN] += 1
    for i in range(place + WAYS * WORDS - 1, place + WORDS - 1, -1):
        entry[i] = entry[i - WORDS]
    entry[place], entry[place + 1] = first, second
    if count <= PACKED_TOKENS and n <= SHORT_BYTES:
        entry[place + 2] = out[out_at] | (out[out_at + 1] if count > 1 else 0) << 31
        entry[place + 3] = count | (out[out_at + 2] if count > 2 else 0) << 8
        return
    entry[place + 2] = used[TOKENS_USED] | used[TEXT_USED] << 31
    entry[place + 3] = count
    for i in range(count):
        cache.tokens[used[TOKENS_USED] + i] = out[out_at + i]
    used[TOKENS_USED] += count
    if n > SHORT_BYTES:
        for i in range(n):
            cache.text[used[TEXT_USED] + i] = text[at + i]
        used[TEXT_USED] += n


def _merge(
    text: Array, at: int, n: int, first: int, second: int, merges: Merges, scratch: Scratch, out: Array, out_at: int
) -> int:
    """Write the ids of a pre-token that is not remembered; returns how many."""
    if len(merges.whole) > 0:
        symbol = _find_whole(merges, text, at, n, first, second)
        if symbol != NO_TOKEN:
            out[out_at] = merges.ids[symbol]
            return 1
    for i in range(n):
        scratch.symbol[i] = merges.symbol_of_byte[text[at + i]]
    if n <= SCANNED:
        count = _merge_by_scanning(n, merges, scratch)
        for i in range(count):
            out[out_at + i] = merges.ids[scratch.symbol[i]]
        return count
    symbols, right_of = scratch.symbol[:n], scratch.right_of[:n]
    rank, left_of, heap = scratch.rank[:n], scratch.left_of[:n], scratch.heap[: 3 * n]
    remove_boundaries(symbols, -1, 256, merges.table, rank, scratch.nothing, right_of, left_of, heap)
    count = 0
    i = 0
    while i < n:
        out[out_at + count] = merges.ids[symbols[i]]
        count += 1
        i = right_of[i]
    return count


def _merge_by_scanning(n: int, merges: Merges, scratch: Scratch) -> int:
    """Merge the first n of scratch.symbol, the lowest rank first, again and again; returns how many are left.

    Plain reference: boundaries.split_symbols.
    """
    symbol, rank = scratch.symbol, scratch.rank
    for i in range(n - 1):
        rank[i] = merges.pair_of_bases[symbol[i] << 8 | symbol[i + 1]]
    while n > 1:
        lowest, at = NO_RANK, -1
        for i in range(n - 1):
            if rank[i] < lowest:
                lowest, at = rank[i], i
        if at < 0:
            break
        symbol[at] = 256 + lowest
        n -= 1
        for i in range(at + 1, n):
            symbol[i] = symbol[i + 1]
            rank[i] = rank[i + 1]
        if at < n - 1:
            rank[at] = _rank_of(merges, symbol[at], symbol[at + 1])
        if at > 0:
            rank[at - 1] = _rank_of(merges, symbol[at - 1], symbol[at])
    return n


def _rank_of(merges: Merges, left: int, right: int) -> int:
    bit = _bit_of(merges.may_merge, left, right)
    if not merges.may_merge[bit >> 3] >> (bit & 7) & 1:
        return NO_RANK
    found = find_pair(merges.table, left, right)
    return NO_RANK if found < 0 else found


def _bit_of(may_merge: Array, left: int, right: int) -> int:
    return (left * 0x9E3779B1 + right * 0x85EBCA77) >> 9 & (len(may_merge) * 8 - 1)


def fill_may_merge(may_merge: Array, left: Array, right: Array) -> None:
    """Set the bits of pairs: see Merges. left, right: (pairs,) int32."""
    for i in range(len(left)):
        bit = _bit_of(may_merge, left[i], right[i])
        may_merge[bit >> 3] |= 1 << (bit & 7)


def _find_whole(merges: Merges, text: Array, at: int, n: int, first: int, second: int) -> int:
    mask = len(merges.whole) - 1
    slot = _mixed(first, second) & mask
    while merges.whole[slot] != NO_TOKEN:
        symbol = merges.whole[slot]
        begins = merges.content_start[symbol]
        if merges.content_start[symbol + 1] - begins == n and _same_bytes(merges.content, begins, text, at, n):
            return symbol  # type: ignore[no-any-return]  # an int32
        slot = (slot + 1) & mask
    return NO_TOKEN


def fill_whole(merges: Merges, n_symbols: int) -> None:
    """Enter the first n_symbols symbols into merges.whole, which holds NO_TOKEN only; no two have the same bytes."""
    mask = len(merges.whole) - 1
    for symbol in range(n_symbols):
        at = merges.content_start[symbol]
        first, second = key_of(merges.content, at, merges.content_start[symbol + 1] - at)
        slot = _mixed(first, second) & mask
        while merges.whole[slot] != NO_TOKEN:
            slot = (slot + 1) & mask
        merges.whole[slot] = symbol
