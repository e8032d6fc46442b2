"""What happens to text before it is pretokenized: special tokens are cut out, the rest is normalized.

Each step exists as one function for a whole text, and in a form that takes a long text in pieces and gives
the same result. Counting uses the second, encoding the first.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Literal, NamedTuple, cast

import regex

from bpe_viz.engine.types import NORMALIZATIONS
from bpe_viz.errors import OptionError


class Segment(NamedTuple):
    """A stretch of text between special tokens, or a special token."""

    text: str
    is_special: bool


def cut_special_tokens(text: str, special_tokens: Sequence[str]) -> list[Segment]:
    """Cut special tokens out of a text, leftmost first, the longest where several start.

    The texts of the segments, joined, are the text that was given; no segment is empty.
    Raises OptionError if a special token is empty.
    """
    return SpecialTokenCutter(special_tokens).add(text, final=True)


class SpecialTokenCutter:
    """Cuts special tokens out of a text that comes in pieces.

    Text between special tokens comes in as many segments as it pleases; a special token comes in one.
    """

    def __init__(self, special_tokens: Sequence[str]) -> None:
        if "" in special_tokens:
            raise OptionError("A special token has no text.", "Give one, such as <|endoftext|>.")
        # The first alternative that matches wins, so the longest stands first.
        longest_first = sorted(set(special_tokens), key=lambda token: (-len(token), token))
        self._longest = len(longest_first[0]) if longest_first else 0
        self._pattern = regex.compile("|".join(map(regex.escape, longest_first))) if longest_first else None
        self._held = ""

    def add(self, text: str, final: bool = False) -> list[Segment]:
        """Return what can be told of the text so far.

        final: the text ends here; otherwise its end is held back while a special token may start in it
        """
        text = self._held + text
        if self._pattern is None:
            return [Segment(text, False)] if text else []
        segments: list[Segment] = []
        # A match that starts before this place is the longest there, whatever follows.
        decided = len(text) if final else max(len(text) - self._longest + 1, 0)
        done = 0
        for match in self._pattern.finditer(text, concurrent=True):
            if match.start() >= decided:
                break
            if match.start() > done:
                segments.append(Segment(text[done : match.start()], False))
            segments.append(Segment(match.group(), True))
            done = match.end()
        if decided > done:
            segments.append(Segment(text[done:decided], False))
        self._held = text[max(decided, done) :]
        return segments


def check_normalizations(forms: Sequence[str]) -> None:
    """Raise OptionError unless all are names of NORMALIZATIONS."""
    for form in forms:
        if form not in NORMALIZATIONS:
            raise OptionError(
                f"There is no normalization named {form!r}.", f"Choose from: {', '.join(NORMALIZATIONS)}."
            )


def normalize(text: str, forms: Sequence[str]) -> str:
    """Apply normalizations to a text, in the given order.

    forms: names of NORMALIZATIONS
    Raises OptionError for an unknown name.
    """
    check_normalizations(forms)
    for form in forms:
        if form == "lowercase":
            text = text.lower()
        else:
            in_order = _MARKS.sub(_order_marks, text)
            text = unicodedata.normalize(cast(Literal["NFC", "NFD", "NFKC", "NFKD"], form), in_order)
    return text


_ASSIGNED = regex.compile(r"\P{Cn}")
_MARKS = regex.compile(r"\p{M}{100,}")


def _order_marks(run: regex.Match[str]) -> str:
    """Decompose a long run of combining marks and bring it in canonical order.

    All four forms of a text stay the same by that. Python's own sorting takes time quadratic in the run, unless it
    finds it in order.
    """
    decomposed = "".join(unicodedata.normalize("NFD", mark) for mark in run[0])
    ordered: list[str] = []
    for _, marks in groupby(decomposed, key=lambda mark: unicodedata.combining(mark) > 0):
        ordered += sorted(marks, key=unicodedata.combining)
    return "".join(ordered)


def unknown_to_python(text: str) -> str:
    """Return the characters of a text that are newer than the Unicode by which Python normalizes, each once."""
    if text.isascii():
        return ""
    return "".join(
        one for one in sorted(set(text)) if unicodedata.category(one) == "Cn" and _ASSIGNED.match(one) is not None
    )


def last_normalization_cut(text: str) -> int:
    """Return the last place where a text may be cut without changing its normalization; 0 if there is none.

    The place is before a blank or a line end: nothing composes with one from the left, and the final sigma,
    the only letter whose lower case depends on its neighbours, does not look past it.
    """
    return max(0, *(text.rfind(space) for space in " \n\t\r"))


class CutBuffer:
    """Holds text back until it can be cut at a safe place, in time linear in the text.

    last_cut: returns the last safe place in a text, 0 if there is none; it may look one character back
    """

    def __init__(self, last_cut: Callable[[str], int]) -> None:
        self._last_cut = last_cut
        self._parts: list[str] = []
        self._previous = ""
        self.n_held = 0
        """How many code points are held back."""

    def add(self, text: str) -> str:
        """Take the next text; return all that lies before the last safe place, which may be nothing."""
        if not text:
            return ""
        # Only the new text is searched; one character before it shows whether it starts at a safe place.
        cut = self._last_cut(self._previous + text) - len(self._previous)
        self._previous = text[-1]
        if cut < 0 or (cut == 0 and not self._parts):
            self._parts.append(text)
            self.n_held += len(text)
            return ""
        whole = "".join((*self._parts, text[:cut]))
        self._parts = [text[cut:]] if cut < len(text) else []
        self.n_held = len(text) - cut
        return whole

    def rest(self) -> str:
        """Return what was held back, as the text ends here, and be ready for another text."""
        whole = "".join(self._parts)
        self._parts = []
        self._previous = ""
        self.n_held = 0
        return whole
