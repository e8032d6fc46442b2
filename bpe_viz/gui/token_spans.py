"""The tokens of a text as stretches of what the editor shows just now."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bpe_viz.engine.layout import EncodedText, TextTokens
from bpe_viz.engine.symbols import GAP


@dataclass(frozen=True, slots=True)
class TokenSpans:
    """Tokens in the order of the text; those that an edit touched are left out until they are encoded anew.

    encoded, tokens, position: what they were read from
    index: (n,) int64, which of the tokens each one is
    left, right: (n,) float64, code points of the editor's text; a fraction where a character is shared
    uncovered: (m, 2) int64, stretches that no token covers
    """

    encoded: EncodedText
    tokens: TextTokens
    position: int
    index: NDArray[np.int64]
    left: NDArray[np.float64]
    right: NDArray[np.float64]
    uncovered: NDArray[np.int64]

    def at(self, code_point: int) -> NDArray[np.int64]:
        """Return which of these spans share a character, in order."""
        return self.between(code_point, code_point + 1)

    def between(self, start: int, end: int) -> NDArray[np.int64]:
        """Return which of these spans touch code points start to end; markers at the end included."""
        first = int(np.searchsorted(self.right, start, side="right"))
        last = int(np.searchsorted(self.left, end, side="left"))
        spans = np.arange(first, last)
        markers = np.arange(last, int(np.searchsorted(self.left, end, side="right")))
        markers = markers[self.right[markers] == end]
        return np.concatenate((spans, markers)) if end > start else spans

    def of_text(self, start: int, end: int) -> NDArray[np.int64]:
        """Return the spans of code points start to end; with all of the text, also the tokens put around it."""
        if (start, end) == (0, len(self.encoded.text)):
            return np.arange(len(self.index))
        spans = self.between(start, end)
        return spans[~is_around(self.encoded, self.tokens)[self.index[spans]]]

    def content(self, span: int) -> bytes:
        """Return the bytes of the text that a span stands for."""
        encoded, token = self.encoded, int(self.index[span])
        start = encoded.content_start[self.tokens.first[token]]
        return encoded.content[start : encoded.content_start[self.tokens.last[token] + 1]]


def token_spans(encoded: EncodedText, position: int, text: str) -> TokenSpans:
    """Read the tokens at a position and fit them to a text that may have been edited since.

    Tokens before the edit stay, those behind it move with it.
    """
    position = min(position, encoded.known)
    tokens = encoded.at(position)
    left, right = _edges(encoded, tokens)
    uncovered = _uncovered(encoded)
    index = np.arange(len(tokens))
    if text != encoded.text:
        kept_before, kept_behind = _unchanged(encoded.text, text)
        behind_from = len(encoded.text) - kept_behind
        before, behind = right <= kept_before, left >= behind_from
        moved = np.where(before, 0, len(text) - len(encoded.text))
        kept = before | behind
        left, right, index = (left + moved)[kept], (right + moved)[kept], index[kept]
        uncovered = uncovered[uncovered[:, 1] <= kept_before]
    return TokenSpans(encoded, tokens, position, index, left, right, uncovered)


def is_around(encoded: EncodedText, tokens: TextTokens) -> NDArray[np.bool_]:
    """Return (tokens,) bool: special tokens that stand for nothing in the text; the file puts them around it."""
    found: NDArray[np.bool_] = np.equal(tokens.start, tokens.end)
    if found.any():  # few tokens are empty, while a text may have a million
        special = np.array(list(encoded.tokenizer.special_ids.values()), dtype=np.int64)
        found[found] = np.isin(tokens.ids[found], special)
    return found


def _edges(encoded: EncodedText, tokens: TextTokens) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return where tokens begin and end, a part of a character as a fraction of it."""
    begin, finish = encoded.start[tokens.first], encoded.end[tokens.first]
    left = begin + (finish - begin) * encoded.part[tokens.first] / encoded.parts[tokens.first]
    begin, finish = encoded.start[tokens.last], encoded.end[tokens.last]
    right = begin + (finish - begin) * (encoded.part[tokens.last] + 1) / encoded.parts[tokens.last]
    return left, right


def _uncovered(encoded: EncodedText) -> NDArray[np.int64]:
    if not encoded.dropped:
        return np.empty((0, 2), dtype=np.int64)
    is_covered = np.zeros(len(encoded.text) + 2, dtype=np.int64)
    np.add.at(is_covered, encoded.start + 1, 1)
    np.add.at(is_covered, encoded.end + 1, -1)
    covered = np.cumsum(is_covered[:-1]) > 0
    covered[0] = True
    edges = np.flatnonzero(np.diff(np.concatenate((covered, [True]))))
    return edges.reshape(-1, 2)


def _unchanged(old: str, new: str) -> tuple[int, int]:
    """Return how many code points at the start and at the end two texts share, not overlapping."""
    a, b = (np.frombuffer(t.encode("utf-32-le", "surrogatepass"), dtype=np.uint32) for t in (old, new))
    shorter = min(len(a), len(b))
    differs = np.flatnonzero(a[:shorter] != b[:shorter])
    before = int(differs[0]) if len(differs) else shorter
    rest = shorter - before
    differs = np.flatnonzero(a[len(a) - rest :][::-1] != b[len(b) - rest :][::-1])
    return before, int(differs[0]) if len(differs) else rest


@dataclass(frozen=True, slots=True)
class Totals:
    """What the heading says about a text.

    around: how many of the tokens are put around the text
    token_bytes: the bytes that tokens stand for, gaps and dropped text not counted
    """

    characters: int
    bytes: int
    tokens: int
    around: int
    gaps: int
    dropped: int
    token_bytes: int


def totals(encoded: EncodedText, tokens: TextTokens) -> Totals:
    """Count the characters, bytes and tokens of an encoded text."""
    is_gap, around = tokens.ids == GAP, is_around(encoded, tokens)
    widths = encoded.content_start[tokens.last + 1] - encoded.content_start[tokens.first]
    return Totals(
        characters=len(encoded.text),
        bytes=len(encoded.text.encode("utf-8", "surrogatepass")),
        tokens=int((~is_gap).sum()),
        around=int(around.sum()),
        gaps=int(is_gap.sum()),
        dropped=encoded.dropped,
        token_bytes=int(widths[~is_gap & ~around].sum()),
    )
