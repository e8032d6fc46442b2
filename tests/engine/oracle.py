"""A recount of everything by the reference, after every merge: what the engine is held to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from bpe_viz.engine import reference
from bpe_viz.engine.reference import PairOfText, Word

MARKER = "\x1e</w>"
"""Stands for the marker inside the reference's symbols; no text of the tests holds U+001E."""


class Step(NamedTuple):
    """The reference's state at one position."""

    words: dict[Word, int]
    counts: dict[PairOfText, int]


def base_words(words: Mapping[str, int], base: str, end_of_word: str) -> dict[Word, int]:
    """Write words in base symbols; bytes are written as the code points 0 to 255."""
    written = {}
    for word, count in words.items():
        letters = list(word) if base == "characters" else [chr(byte) for byte in word.encode()]
        if end_of_word == "separate":
            letters.append(MARKER)
        elif end_of_word == "glued" and letters:
            letters[-1] += MARKER
        written[tuple(letters)] = count
    return written


def sort_key(marker: str) -> reference.Rule:
    """The textbook rule, a marker sorting by its text, and after the same text typed."""

    def key(pair: PairOfText, ids: reference.Ids) -> object:
        return tuple((symbol.replace(MARKER, marker), symbol.endswith(MARKER)) for symbol in pair)

    return key


def replay(words: Mapping[Word, int], merges: list[PairOfText]) -> list[Step]:
    """Recount after every merge. Equal words stay apart only as long as their splits differ."""
    steps = [Step(dict(words), dict(reference.count_pairs(words)))]
    for pair in merges:
        words = reference.merge_words(words, pair)
        steps.append(Step(dict(words), dict(reference.count_pairs(words))))
    return steps
