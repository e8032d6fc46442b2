"""What decides which of two pairs is merged first: the counts, and the tie rules, which tie_rules.py names.

Plain Python over flat arrays, like kernels.py, and run in the same two ways.
"""

from __future__ import annotations

from typing import Any, NamedTuple

# A NumPy array (compiled) or a memoryview of one (plain): both are indexed and assigned alike.
Array = Any

NO_SLOT = -1

# Rows of Order.rule.
TIE_RULE, MAX_TOKEN_LENGTH = range(2)

# What TIE_RULE may be: see tie_rules.py.
TEXTBOOK, SMALLEST_IDS, FIRST_SEEN, GREATEST, SHORTEST_PIECE, UTF16 = range(6)


class Order(NamedTuple):
    """What decides which of two pairs is merged first.

    count:  (slots,) int64
    left, right: (slots,) int32, symbol ids
    length: (symbols,) int32, in cells
    text:   (bytes,) uint8, the text of all symbols end to end, an end-of-word marker included
    text_start: (symbols + 1,) int64
    prefix: (symbols,) int64, the first bytes of the text as a number (63 bits of them), so that most comparisons look
            at nothing else
    first_place: (slots,) int32, the first place where the pair stands now; with the rule FIRST_SEEN alone, else empty
    rule:   (2,) int64, TIE_RULE and MAX_TOKEN_LENGTH
    """

    count: Array
    left: Array
    right: Array
    length: Array
    text: Array
    text_start: Array
    prefix: Array
    first_place: Array
    rule: Array


def text_prefix(order: Order, symbol: int, end: int) -> int:
    """Return the first eight bytes of a symbol's text as a number, zeros behind a shorter one; end: of its text."""
    start = order.text_start[symbol]
    high, low = 0, 0
    for i in range(4):
        high = high << 8 | (order.text[start + i] if start + i < end else 0)
        low = low << 8 | (order.text[start + 4 + i] if start + 4 + i < end else 0)
    # In two halves of an int64 each, since a uint64 that meets an int64 becomes a float in compiled code.
    return high << 31 | low >> 1


def compare_text(order: Order, a: int, b: int) -> int:
    """Compare two symbols by their bytes, which is also their order by code point: -1, 0 or 1."""
    if order.prefix[a] != order.prefix[b]:
        return -1 if order.prefix[a] < order.prefix[b] else 1
    i, i_end = order.text_start[a], order.text_start[a + 1]
    j, j_end = order.text_start[b], order.text_start[b + 1]
    while i < i_end and j < j_end:
        if order.text[i] != order.text[j]:
            return -1 if order.text[i] < order.text[j] else 1
        i += 1
        j += 1
    if i < i_end:
        return 1
    return -1 if j < j_end else 0


def compare_joined(order: Order, a: int, b: int, parted: bool) -> int:
    """Compare the texts of two pairs, left and right joined: -1, 0 or 1.

    parted: with a NUL between them, and by UTF-16 units instead of bytes
    """
    sides = (order.left[a], order.right[a], order.left[b], order.right[b])
    i, j = order.text_start[sides[0]], order.text_start[sides[2]]
    i_side, j_side = 0, 2
    while True:
        byte_a = byte_b = -1
        while byte_a < 0 and i_side < 2:
            if i < order.text_start[sides[i_side] + 1]:
                byte_a = order.text[i]
                i += 1
            else:
                i_side += 1
                if i_side == 1:
                    i = order.text_start[sides[1]]
                    if parted:
                        byte_a = 0
        while byte_b < 0 and j_side < 4:
            if j < order.text_start[sides[j_side] + 1]:
                byte_b = order.text[j]
                j += 1
            else:
                j_side += 1
                if j_side == 3:
                    j = order.text_start[sides[3]]
                    if parted:
                        byte_b = 0
        if byte_a == byte_b:
            if byte_a < 0:
                return 0
            continue
        # In UTF-16 what lies beyond U+FFFF (lead bytes from F0 on) sorts before U+E000 to U+FFFF (EE and EF).
        if parted and min(byte_a, byte_b) >= 0xEE and (byte_a >= 0xF0) != (byte_b >= 0xF0):
            return -1 if byte_a >= 0xF0 else 1
        return -1 if byte_a < byte_b else 1


def count_characters(order: Order, symbol: int) -> int:
    """Count the code points of a symbol's text."""
    characters = 0
    for i in range(order.text_start[symbol], order.text_start[symbol + 1]):
        if order.text[i] & 0xC0 != 0x80:
            characters += 1
    return characters


def mergeable(order: Order, slot: int) -> bool:
    """Tell whether the pair's token would be short enough."""
    limit = order.rule[MAX_TOKEN_LENGTH]
    return limit <= 0 or order.length[order.left[slot]] + order.length[order.right[slot]] <= limit  # type: ignore[no-any-return]  # a comparison


def wins_tie(order: Order, a: int, b: int) -> bool:
    """Tell whether slot a goes before slot b when their counts are equal.

    Pairs of equal text (a marker and the same letters typed) go by id, so that every rule is a total order.
    """
    rule = order.rule[TIE_RULE]
    left_a, left_b = order.left[a], order.left[b]
    right_a, right_b = order.right[a], order.right[b]
    if rule == FIRST_SEEN:
        return order.first_place[a] < order.first_place[b]  # type: ignore[no-any-return]  # a comparison
    if rule == SHORTEST_PIECE:
        longer = count_characters(order, left_a) + count_characters(order, right_a)
        longer -= count_characters(order, left_b) + count_characters(order, right_b)
        if longer != 0:
            return longer < 0
    if rule == SHORTEST_PIECE or rule == UTF16:  # noqa: SIM109  # a tuple would be slow when compiled
        sign = compare_joined(order, a, b, rule == UTF16)
        if sign != 0:
            return sign < 0
    elif rule != SMALLEST_IDS:
        sign = compare_text(order, left_a, left_b) if left_a != left_b else 0
        if sign == 0 and right_a != right_b:
            sign = compare_text(order, right_a, right_b)
        if sign != 0:
            return (sign < 0) == (rule == TEXTBOOK)  # type: ignore[no-any-return]  # a comparison
    return left_a < left_b or (left_a == left_b and right_a < right_b)  # type: ignore[no-any-return]  # a comparison


def better(order: Order, a: int, b: int) -> int:
    """Return which of two slots is merged first; NO_SLOT loses, and so does a pair that may not be merged."""
    if a == NO_SLOT:
        return b
    if b == NO_SLOT:
        return a
    if order.rule[MAX_TOKEN_LENGTH] > 0:
        may_a, may_b = mergeable(order, a), mergeable(order, b)
        if may_a != may_b:
            return a if may_a else b
    if order.count[a] != order.count[b]:
        return a if order.count[a] > order.count[b] else b
    if order.count[a] == 0:  # neither exists here; comparing their texts would only cost time
        return a
    return a if wins_tie(order, a, b) else b
