"""Text as a text edit can hold it: what Qt would change or lose stands there as placeholders.

A QTextDocument drops lone surrogates, a leading BOM and noncharacters, turns CR and U+2029 into line ends, and draws
nothing for what has no ink. So each such character is stored as a private-use code point that stands for it in this
document. Private-use characters of the text are themselves replaced, so the two never meet, and reading gives back
exactly what was put in.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np
import regex
from numpy.typing import NDArray

from bpe_viz.engine.visible import is_invisible

HELD_SPACE = "\u00a0"
"""Stands for a space behind a space: Qt lets whole runs of spaces hang out of the view at the end of a line."""

# Stands for an image in a QTextDocument, although its category promises ink.
_OBJECT_REPLACEMENT = "\ufffc"
_KEPT = frozenset(" \n")
_LONE_MARKS = regex.compile(r"(?<![\p{L}\p{N}\p{P}\p{S}\p{M}])\p{M}+")
_LATER_SPACES = re.compile("(?<= ) ")


def _free_code_points() -> Iterator[int]:
    return chain(range(0xE000, 0xF900), range(0xF0000, 0xFFFFE), range(0x100000, 0x10FFFE))


N_PLACEHOLDERS = sum(1 for _ in _free_code_points())


def always_covered(character: str) -> bool:
    """Believe that a font has this character."""
    return True


class Placeholders:
    """Which private-use code point stands for which character in one document.

    It only ever learns, because undo brings old placeholders back.
    """

    def __init__(self, is_covered: Callable[[str], bool] = always_covered) -> None:
        """Begin with none; is_covered: tells whether a font draws the character, else it gets a placeholder too."""
        self._is_covered = is_covered
        self._free = _free_code_points()
        self._placeholder_of: dict[str, str] = {}
        self._to_document: dict[int, str] = {}
        self._to_text: dict[int, str] = {ord(HELD_SPACE): " "}
        self._drawable = set(_KEPT)

    def shown(self, text: str, before: str = "") -> str:
        """Return a text as the document holds it, one code point for each.

        before: what stands before it in the document; decides whether a first mark or space stands alone
        Raises StopIteration after N_PLACEHOLDERS different characters; no text of the editor's size has so many.
        """
        for character in set(text) - self._drawable:
            if ord(character) in self._to_document:
                continue
            if self._needs_placeholder(character):
                self._to_document[ord(character)] = self._placeholder(character)
            else:
                self._drawable.add(character)
        shown = before[-1:] + text.translate(self._to_document)
        if not shown.isascii():
            shown = _LONE_MARKS.sub(self._replace_marks, shown)
        return _LATER_SPACES.sub(HELD_SPACE, shown.replace(HELD_SPACE, " "))[len(before[-1:]) :]

    def text(self, shown: str) -> str:
        """Return the text that the document holds."""
        return shown.translate(self._to_text)

    def meaning(self, placeholder: str) -> str | None:
        """Return the character that a code point of the document stands for, None if it is no placeholder."""
        return None if placeholder == HELD_SPACE else self._to_text.get(ord(placeholder))

    def _needs_placeholder(self, character: str) -> bool:
        if is_invisible(character) or character == _OBJECT_REPLACEMENT:
            return True
        return not character.isascii() and not self._is_covered(character)

    def _replace_marks(self, marks: regex.Match[str]) -> str:
        return "".join(map(self._placeholder, marks.group()))

    def _placeholder(self, character: str) -> str:
        if character not in self._placeholder_of:
            placeholder = chr(next(self._free))
            self._placeholder_of[character] = placeholder
            self._to_text[ord(placeholder)] = character
        return self._placeholder_of[character]


def is_mark(character: str) -> bool:
    """Tell whether a character is drawn on the one before it."""
    return unicodedata.category(character).startswith("M")


@dataclass(frozen=True, slots=True)
class DocumentText:
    """A text and its twin in the document, code point for code point.

    text: what is encoded; shown: what the document holds
    units: (code points + 1,) int64, where each code point begins in UTF-16, which Qt counts in
    """

    text: str
    shown: str
    units: NDArray[np.int64]

    @classmethod
    def of(cls, text: str, shown: str) -> DocumentText:
        """Count the UTF-16 units."""
        codes = np.frombuffer(shown.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
        widths = 1 + (codes >= 0x10000).astype(np.int64)
        return cls(text, shown, np.concatenate(([0], np.cumsum(widths))))

    def __len__(self) -> int:
        return len(self.text)

    def position(self, code_point: int) -> int:
        """Return the document position before a code point."""
        return int(self.units[code_point])

    def code_point(self, position: int) -> int:
        """Return the code point at a document position."""
        return min(int(np.searchsorted(self.units, position, side="right")) - 1, len(self.text))
