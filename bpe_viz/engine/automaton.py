"""The automata of the pretokenizers whose patterns are of the GPT family, as tables for kernels_automaton.

A state is what is known of the pre-token that the text has come to. `_Automaton.step` reads as the patterns do.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from bpe_viz.engine import kernels_scanning as scanning
from bpe_viz.engine.character_classes import character_classes
from bpe_viz.engine.kernels_automaton import (
    APOSTROPHE,
    BEFORE_LAST,
    BEHIND_LINES,
    BLANK,
    END,
    GAP,
    HERE,
    LETTER,
    LETTER_E,
    LETTER_L,
    LETTER_R,
    LETTER_S,
    LETTER_V,
    LINE_END,
    LINE_FEED,
    N_KINDS,
    NUMBER,
    OTHER,
    STATE_SHIFT,
    STATES,
    Scanner,
)

# States: what the pre-token is so far.
(
    NOTHING,  # the text begins
    CLOSED,  # over, whatever comes
    WORD,
    DIGIT_1,
    DIGIT_2,
    DIGITS,
    ONE_BLANK,  # a blank, which belongs to what comes
    ONE_GAP,  # one other white space, which belongs to letters at most
    ONE_MARK,  # one character of punctuation, which may begin a word
    MARKS,  # more of them, or a blank and them
    MARKS_AND_LINES,
    QUOTE,  # an apostrophe, which may begin a contraction
    QUOTE_L,
    QUOTE_VR,
    BLANKS,  # white space, the last of it a blank: if more than white space comes, that is left over for it
    GAPS,  # the same, the last of it another
    LINES,  # white space, the last of it a line end
    LINES_BLANK,  # and one more, a blank
    LINES_GAP,
    LINES_BLANKS,  # and more
    LINES_GAPS,
) = range(21)

_LETTERS = (LETTER, LETTER_S, LETTER_L, LETTER_V, LETTER_R, LETTER_E)
_LINE_ENDS = (LINE_END, LINE_FEED)
_SPACES = (BLANK, GAP, *_LINE_ENDS)
_MARKS = (APOSTROPHE, OTHER)


@lru_cache(maxsize=8)
def scanner_for(rule: int) -> Scanner:
    """Return what the kernels need to scan by a rule of kernels_scanning."""
    has_automaton = not rule & (scanning.WORDS | scanning.LINES | scanning.CASED)
    kind_of_ascii, kind_of_class = _kinds(rule)
    steps = _table(rule) if has_automaton else np.empty(0, dtype=np.uint8)
    return Scanner(character_classes(), kind_of_ascii, kind_of_class, steps)


def _kinds(rule: int) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    of_class = np.full(256, OTHER, dtype=np.uint8)
    for bits in range(256):
        if bits & scanning.LONG_S and rule & scanning.ANY_CASE:
            of_class[bits] = LETTER_S
        elif bits & scanning.LETTER:
            of_class[bits] = LETTER
        elif bits & scanning.NUMBER:
            of_class[bits] = NUMBER
        elif bits & scanning.SPACE:
            of_class[bits] = GAP
    begin = scanning.ASCII
    of_ascii = of_class[character_classes()[begin : begin + 128]]
    for text, kind in (
        (" ", BLANK), ("\r", LINE_END), ("\n", LINE_FEED), ("'", APOSTROPHE), ("sdmt", LETTER_S), ("l", LETTER_L),
        ("v", LETTER_V), ("r", LETTER_R), ("e", LETTER_E),
    ):  # fmt: skip
        for letter in text + (text.upper() if rule & scanning.ANY_CASE else ""):
            of_ascii[ord(letter)] = kind
    return of_ascii, of_class


def _table(rule: int) -> NDArray[np.uint8]:
    made = _Automaton(rule)
    table = np.zeros((N_KINDS, STATES), dtype=np.uint8)
    for state in range(LINES_GAPS + 1):
        for kind in range(END + 1):
            after, certain = made.step(state, kind)
            table[kind, state] = after << STATE_SHIFT | certain
    return table.reshape(-1)


class _Automaton:
    """A rule of kernels_scanning, a character at a time."""

    def __init__(self, rule: int) -> None:
        self._rule = rule
        self._takes_lines = bool(rule & scanning.TAKES_NEWLINES)
        self._takes_prefix = bool(rule & scanning.ANY_PREFIX)

    def step(self, state: int, kind: int) -> tuple[int, int]:
        """Return the next state, and what becomes certain by a character of this kind."""
        if kind == END:
            return NOTHING, self._left_over(state)
        after, certain = self._goes_on(state, kind)
        if kind == LINE_FEED and self._rule & scanning.BY_LINE:
            # The text ends behind it.
            return CLOSED, certain | self._left_over(after)
        return after, certain

    def _left_over(self, state: int) -> int:
        """Return what becomes certain by the end of the text."""
        if state in (QUOTE_L, QUOTE_VR) and not self._takes_prefix:
            return BEFORE_LAST
        if state in (LINES_BLANK, LINES_GAP, LINES_BLANKS, LINES_GAPS):
            return BEHIND_LINES
        return 0

    def _begin(self, kind: int) -> int:
        """Return the state of a pre-token that begins with this kind of character."""
        if kind in _LETTERS:
            return WORD
        if kind == NUMBER:
            if self._rule & scanning.ONE_DIGIT:
                return CLOSED
            return DIGIT_1 if self._rule & scanning.THREE_DIGITS else DIGITS
        if kind == BLANK:
            return ONE_BLANK
        if kind in _LINE_ENDS and self._takes_lines:
            return LINES
        if kind in _SPACES:
            return ONE_GAP
        return QUOTE if kind == APOSTROPHE and self._rule & scanning.CONTRACTIONS else ONE_MARK

    def _cut(self, kind: int) -> tuple[int, int]:
        return self._begin(kind), HERE

    def _goes_on(self, state: int, kind: int) -> tuple[int, int]:
        if state == NOTHING:
            return self._begin(kind), 0
        if state == WORD:
            return (WORD, 0) if kind in _LETTERS else self._cut(kind)
        if state in (DIGIT_1, DIGIT_2, DIGITS):
            return self._after_digit(state, kind)
        if state in (ONE_BLANK, ONE_GAP):
            return self._after_one_space(state, kind)
        if state in (ONE_MARK, MARKS, MARKS_AND_LINES):
            return self._after_mark(state, kind)
        if state in (QUOTE, QUOTE_L, QUOTE_VR):
            return self._after_quote(state, kind)
        if state in (BLANKS, GAPS, LINES, LINES_BLANK, LINES_GAP, LINES_BLANKS, LINES_GAPS):
            return self._after_spaces(state, kind)
        return self._cut(kind)

    def _after_digit(self, state: int, kind: int) -> tuple[int, int]:
        if kind != NUMBER:
            return self._cut(kind)
        return {DIGIT_1: DIGIT_2, DIGIT_2: CLOSED, DIGITS: DIGITS}[state], 0

    def _after_one_space(self, state: int, kind: int) -> tuple[int, int]:
        if kind in _SPACES:
            return self._more_space(kind), 0
        if kind in _LETTERS and (state == ONE_BLANK or self._takes_prefix):
            return WORD, 0
        if state == ONE_BLANK and kind in _MARKS:
            return MARKS, 0
        if state == ONE_BLANK and kind == NUMBER and not self._rule & (scanning.ONE_DIGIT | scanning.THREE_DIGITS):
            return DIGITS, 0
        return self._cut(kind)

    def _more_space(self, kind: int) -> int:
        if kind == BLANK:
            return BLANKS
        return LINES if kind in _LINE_ENDS and self._takes_lines else GAPS

    def _after_mark(self, state: int, kind: int) -> tuple[int, int]:
        if kind in _LINE_ENDS and self._takes_lines:
            return MARKS_AND_LINES, 0
        if state == MARKS_AND_LINES:
            return self._cut(kind)
        if kind in _MARKS:
            return MARKS, 0
        if state == ONE_MARK and kind in _LETTERS and self._takes_prefix:
            return WORD, 0
        return self._cut(kind)

    def _after_quote(self, state: int, kind: int) -> tuple[int, int]:
        if state == QUOTE:
            if kind == LETTER_S:
                return CLOSED, 0
            if kind in (LETTER_L, LETTER_V, LETTER_R):
                return (QUOTE_L if kind == LETTER_L else QUOTE_VR), 0
            return self._after_mark(ONE_MARK, kind)
        if kind == (LETTER_L if state == QUOTE_L else LETTER_E):
            return CLOSED, 0
        # No contraction: the letter begins a word, with the apostrophe if that may be.
        after, certain = self._goes_on(WORD, kind)
        return after, certain if self._takes_prefix else certain | BEFORE_LAST

    def _after_spaces(self, state: int, kind: int) -> tuple[int, int]:
        if kind in _LINE_ENDS and self._takes_lines:
            return LINES, 0
        if kind in _SPACES:
            if state in (BLANKS, GAPS):
                return self._more_space(kind), 0
            first, more = (LINES_BLANK, LINES_BLANKS) if kind == BLANK else (LINES_GAP, LINES_GAPS)
            return (first if state == LINES else more), 0
        if state == LINES:
            return self._cut(kind)
        after, certain = self._after_one_space(
            ONE_BLANK if state in (BLANKS, LINES_BLANK, LINES_BLANKS) else ONE_GAP, kind
        )
        before = BEFORE_LAST if state in (BLANKS, GAPS, LINES_BLANK, LINES_GAP) else BEFORE_LAST | BEHIND_LINES
        return after, certain | before
