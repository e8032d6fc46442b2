"""Where pre-tokens start, found by a finite automaton: a step for each character, and no branch to be guessed wrong.

The scalar scanner (kernels_scanning.pretoken_end) decides at every pre-token what it is; on mixed text a processor
guesses half of that wrong, and waits. The automaton only looks up its next state and, with it, what has become certain:
that a pre-token starts here, or before the last character, or behind the last line end. automaton.py makes its table.

Plain Python over flat arrays, like kernels.py, and run in the same two ways.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from bpe_viz.engine.kernels_scanning import IN_CLASS, SIZE_SHIFT, character

# A NumPy array (compiled) or a memoryview of one (plain): both are indexed and assigned alike.
Array = Any

# Kinds of characters that the patterns tell apart.
(
    LETTER,
    LETTER_S,
    LETTER_L,
    LETTER_V,
    LETTER_R,
    LETTER_E,
    NUMBER,
    BLANK,
    GAP,
    LINE_END,
    LINE_FEED,
    APOSTROPHE,
    OTHER,
    END,
) = range(14)
N_KINDS = 16

# What a step makes certain: a pre-token starts before this character, before the last one, behind the last line end.
HERE, BEFORE_LAST, BEHIND_LINES = 1, 2, 4
EARLIER = BEFORE_LAST | BEHIND_LINES
STATE_SHIFT = 3
STATES = 1 << 8 - STATE_SHIFT
FIRST_STATE = 0

# So many starts may become certain at once; and so many must find room, for the scanner to get on.
MOST_AT_ONCE = 3
FEWEST_STARTS = 2 * MOST_AT_ONCE + 2


class Scanner(NamedTuple):
    """What a pretokenizer is to the kernels.

    classes: see kernels_scanning
    kind_of_ascii: (128,) uint8, the kind of each character of ASCII; kind_of_class: (256,) uint8, of the bits that
                   kernels_scanning.character gives
    steps: (N_KINDS * STATES,) uint8, for each kind and state: the next state << STATE_SHIFT, and what becomes certain;
           empty if this pretokenizer has no automaton
    """

    classes: Array
    kind_of_ascii: Array
    kind_of_class: Array
    steps: Array


def scan_starts(scanner: Scanner, data: Array, start: int, until: int, end: int, starts: Array) -> int:
    """Write where pre-tokens start, from `start` on, where one starts, and one place more: where the last of them ends.

    data: the text is data[start:end]
    until: only pre-tokens that start before it; start < until <= end
    starts: (n,) int64, n >= FEWEST_STARTS: it may be filled before all are found, but for a few places
    Returns how many pre-tokens there are, at least 1.
    """
    steps = scanner.steps
    full = len(starts) - 2 * MOST_AT_ONCE
    starts[0] = start
    n = 1
    at = last = behind_lines = start
    step = FIRST_STATE << STATE_SHIFT
    limit = until
    while True:
        while at < limit and n < full:
            lead = data[at]
            if lead < 0x80:
                kind = scanner.kind_of_ascii[lead]
                after = at + 1
            else:
                found = character(scanner.classes, data, at)
                kind = scanner.kind_of_class[found & IN_CLASS]
                after = at + (found >> SIZE_SHIFT)
            step = steps[kind * STATES + (step >> STATE_SHIFT)]
            if step & EARLIER:
                n = _add_earlier(step, starts, n, behind_lines, last)
            starts[n] = at
            n += step & HERE
            is_line_end = kind == LINE_END or kind == LINE_FEED  # two comparisons compile to less
            behind_lines = after if is_line_end else behind_lines
            last = at
            at = after
        if at >= end or n >= full or starts[n - 1] >= until:
            break
        limit = min(end, limit + 64)
    if at >= end and n < full:
        n = _add_earlier(steps[END * STATES + (step >> STATE_SHIFT)], starts, n, behind_lines, last)
        starts[n] = end
        n += 1
    n -= 1
    while n > 0 and starts[n - 1] >= until:
        n -= 1
    return n


def _add_earlier(step: int, starts: Array, n: int, behind_lines: int, last: int) -> int:
    starts[n] = behind_lines
    n += step >> 2 & 1
    starts[n] = last
    return n + (step >> 1 & 1)
