"""Keys that tell pre-tokens apart: two numbers for the bytes of each, quickly found and quickly compared.

Up to SHORT_BYTES bytes a key holds the bytes themselves and their number, so equal keys are equal pre-tokens; of a
longer one it holds a hash and the number of bytes, and who finds an equal key compares the bytes.

Plain Python over flat arrays, like kernels.py, and run in the same two ways. Numbers stay below 2**63 after masking,
and masking keeps the low bits alone, which are the same whether a product wraps (compiled) or grows (plain).
"""

from __future__ import annotations

from typing import Any

# A NumPy array (compiled) or a memoryview of one (plain): both are indexed and assigned alike.
Array = Any

SHORT_BYTES = 14
LONG_KEY = 15

_READ_AHEAD = 16  # what two reads of eight bytes may touch
_56_BITS = (1 << 56) - 1
_62_BITS = (1 << 62) - 1
_FACTOR = 0x1E3779B97F4A7C15  # odd, and without a pattern in its bits: the golden ratio's
_OTHER_FACTOR = 0x2545F4914F6CDD1D


def key_of(data: Array, at: int, n: int) -> tuple[int, int]:
    """Return the key of n bytes, n > 0; its second number is never 0."""
    # Seven bytes to a number, so that it stays positive in 64 bits; and no branch on n, which would be guessed wrong.
    if n <= SHORT_BYTES and at + _READ_AHEAD <= len(data):
        in_first, in_second = (1 << 8 * min(n, 7)) - 1, (1 << 8 * max(n - 7, 0)) - 1
        return _eight_bytes(data, at) & in_first, (_eight_bytes(data, at + 7) & in_second) | n << 56
    return _rare_key(data, at, n)


def _rare_key(data: Array, at: int, n: int) -> tuple[int, int]:
    """Return the key of a long pre-token, or of one at the end of its text; apart, so that key_of stays short."""
    if n > SHORT_BYTES:
        return _hash_of(data, at, n), n | LONG_KEY << 56
    first, second = 0, n << 56
    for i in range(n):
        if i < 7:
            first |= data[at + i] << 8 * i
        else:
            second |= data[at + i] << 8 * (i - 7)
    return first, second


def _hash_of(data: Array, at: int, n: int) -> int:
    """Hash more than SHORT_BYTES bytes to 56 bits."""
    hashed = n
    end = at + n
    for i in range(at + 7, end, 7):
        # The last reads may overlap those before: every byte counts, whatever the length.
        hashed = ((hashed ^ (_eight_bytes(data, min(i, end - 8)) & _56_BITS)) * _FACTOR) & _56_BITS
        hashed ^= hashed >> 29
    hashed = ((hashed ^ (_eight_bytes(data, at) & _56_BITS)) * _FACTOR) & _56_BITS
    hashed = ((hashed ^ data[end - 1]) * _FACTOR) & _56_BITS
    return hashed ^ hashed >> 29  # type: ignore[no-any-return]  # an int64


def _eight_bytes(data: Array, at: int) -> int:
    # Written so that a compiler makes one load of it. In compiled code the sum may wrap; callers mask it.
    return (  # type: ignore[no-any-return]  # an int64
        data[at]
        | data[at + 1] << 8
        | data[at + 2] << 16
        | data[at + 3] << 24
        | data[at + 4] << 32
        | data[at + 5] << 40
        | data[at + 6] << 48
        | data[at + 7] << 56
    )


def mixed(first: int, second: int) -> int:
    """Return a number of about 30 bits, to be cut to the size of a table."""
    product = (first * _FACTOR + second * _OTHER_FACTOR) & _62_BITS
    return product >> 32 ^ product >> 47


def same_bytes(kept: Array, kept_at: int, data: Array, at: int, n: int) -> bool:
    """Tell whether n bytes are the same."""
    for i in range(n):  # noqa: SIM110  # Numba compiles no generator expression
        if kept[kept_at + i] != data[at + i]:
            return False
    return True
