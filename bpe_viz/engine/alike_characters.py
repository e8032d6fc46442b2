"""Which characters Python's `regex` and the engines of other libraries sort alike: they know different Unicodes.

`regex` may be years newer than the tables that are compiled into the `tokenizers` library and into tiktoken, which know
the same version (tests hold them to each other). A character that is a letter here may be none there, and cuts a text
elsewhere.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from itertools import chain
from typing import Any

import numpy as np
import regex
from numpy.typing import NDArray

from bpe_viz.engine import kernels_scanning
from bpe_viz.engine.compiled import Kernels

_STAND_INS = {
    r"\p{Lu}": "\u2124",
    r"\p{Ll}": "\u0138",
    r"\p{Lt}": "\u1f88",
    r"\p{Lm}": "\u02b0",
    r"\p{Lo}": "\u01bb",
    r"\p{N}": "\u00b2",
    r"\p{M}": "\u0301",
    r"\p{P}": "\u2021",
    r"\p{S}": "\u2117",
    r"\s": "\u2028",
}
"""What patterns ask of a character, and one of that class in every Unicode, which no pattern means by itself."""

_NOTHING = "\ufdd0"
"""A character that is of none of the classes for ever."""

_CLASSES = (*_STAND_INS, r"\p{L}", r"(?i:[strevmld])")

_UNSETTLED = re.compile(r"[^\0-\u0294\u0296-\u052f\u2010-\u2027\u3041-\u3096\u4e00-\u9fa5\uac00-\ud7a3]")
"""Matches what is not among the many characters that are sorted alike for certain: most sentences need no arrays."""

_SENTENCE = 1_000
_LEARNED_TOGETHER = 64

_UNTRIED, _ALIKE, _UNLIKE = range(3)


class AlikeCharacters:
    """Learns of each character that it meets whether both engines sort it alike."""

    def __init__(self) -> None:
        self._state: NDArray[np.uint8] = np.zeros(0x110000, dtype=np.uint8)
        # A lone surrogate is encoded as U+FFFD, a sign to both.
        self._state[0xD800:0xE000] = _ALIKE
        self._state[:0x80] = _ALIKE
        self._stand_ins: dict[int, str] = {}

    def holds(self, text: str) -> bool:
        """Tell whether all characters of a text are sorted alike by both."""
        if text.isascii() or (len(text) <= _SENTENCE and _UNSETTLED.search(text) is None):
            return True
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
        states = self._state[codes]
        if (states == _ALIKE).all():
            return True
        if not (states == _UNTRIED).any():
            return False
        # With their neighbours in Unicode, which are of the same script and will be met soon.
        blocks = np.unique(codes[states == _UNTRIED] // _LEARNED_TOGETHER).tolist()
        wanted = chain.from_iterable(range(at * _LEARNED_TOGETHER, (at + 1) * _LEARNED_TOGETHER) for at in blocks)
        self._learn("".join(chr(code) for code in wanted if self._state[code] == _UNTRIED))
        return bool((self._state[codes] == _ALIKE).all())

    def holds_utf8(self, text: bytes, kernel_set: Kernels) -> bool:
        """Tell the same of valid UTF-8, a tenth as long after with compiled kernels."""
        data, state = kernel_set.view((np.frombuffer(text, dtype=np.uint8), self._state))
        known_until = kernel_set.of(kernels_scanning).wanted_until(state, data, 0, len(data))
        return known_until == len(text) or self.holds(text.decode())

    def as_there(self, text: str) -> str:
        """Return a text that `regex` cuts where the other engine cuts this one: of the same length."""
        return text if self.holds(text) else text.translate(self._stand_ins)

    def _learn(self, characters: str) -> None:
        unlike: set[str] = set()
        class_there: dict[str, str] = {}
        for pattern in _CLASSES:
            theirs = _of_class_there(pattern, characters)
            unlike |= theirs ^ set(regex.findall(pattern, characters))
            for character in theirs if pattern in _STAND_INS else ():
                class_there[character] = pattern
        for character in characters:
            self._state[ord(character)] = _UNLIKE if character in unlike else _ALIKE
        for character in unlike:
            self._stand_ins[ord(character)] = _STAND_INS.get(class_there.get(character, ""), _NOTHING)


def _of_class_there(pattern: str, characters: str) -> set[str]:
    return {piece for piece, _ in _cut_there(pattern).pre_tokenize_str(characters)}


@cache
def _cut_there(pattern: str) -> Any:
    """Return what cuts a text into the single characters that match a pattern."""
    from tokenizers import Regex
    from tokenizers.pre_tokenizers import Split

    return Split(Regex(pattern), "removed", invert=True)


def is_settled_nfc(text: str) -> bool:
    """Tell whether every library sorts all characters alike, as they are so old, and NFC leaves all as they are."""
    return text.isascii() or (_UNSETTLED.search(text) is None and unicodedata.is_normalized("NFC", text))


ALIKE = AlikeCharacters()
"""One memory for all, as it depends on the libraries alone."""
