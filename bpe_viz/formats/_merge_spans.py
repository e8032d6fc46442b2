"""The lines of a merge list found in its JSON, without a Python string for each: of half a million that takes a second.

A file that a program wrote has the same white space between all its lines. Of such a list the places of all quotation
marks tell where the texts are; any other list is left to a parser.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.int64]

_QUOTE, _SPACE = ord('"'), ord(" ")
_MASK = b"\x1a\x1a"  # no text of JSON holds this control character as it is
_ESCAPES_A_BYTE = 1 / 64
"""Where more is written with escapes, as in files that hold ASCII alone, the parser is the quicker way."""

_HEAD_OF_PAIRS, _HEAD_OF_TEXTS = re.compile(rb"\s*\[\s*\[\s*"), re.compile(rb"\s*\[\s*")
_TAIL_OF_PAIRS, _TAIL_OF_TEXTS = re.compile(rb"\s*\]\s*\]\s*"), re.compile(rb"\s*\]\s*")
_IN_A_PAIR = _BETWEEN_TEXTS = re.compile(rb"\s*,\s*")
_BETWEEN_PAIRS = re.compile(rb"\s*\]\s*,\s*\[\s*")


class MergeSpans(NamedTuple):
    """The two texts of each line, side by side, so that what they make is there as well.

    data: (n,) uint8, UTF-8, which nobody has checked
    start, middle, end: (lines,) int64; the left text is data[start:middle], the right one data[middle:end]
    """

    data: NDArray[np.uint8]
    start: Places
    middle: Places
    end: Places


def merge_spans(written: bytes) -> MergeSpans | None:
    """Return the lines of a merge list, None if it is to be parsed: it is damaged, or written in another way.

    written: the list in JSON, whose lines are pairs of texts, or texts of two words
    """
    masked = _without_escapes(written)
    if masked is None:
        return None
    hidden, escapes = masked
    data = np.frombuffer(hidden, dtype=np.uint8)
    quotes = np.flatnonzero(data == _QUOTE)
    if len(quotes) < 4 or len(quotes) % 2:
        return None
    starts, ends = quotes[::2] + 1, quotes[1::2]
    head, tail = hidden[: starts[0] - 1], hidden[ends[-1] + 1 :]
    are_pairs = _HEAD_OF_PAIRS.fullmatch(head) is not None
    if are_pairs:
        is_regular = (
            len(starts) % 2 == 0
            and _TAIL_OF_PAIRS.fullmatch(tail) is not None
            and _are_all(hidden, ends[::2], starts[1::2], _IN_A_PAIR)
            and _are_all(hidden, ends[1:-1:2], starts[2::2], _BETWEEN_PAIRS)
        )
    else:
        is_regular = (
            _HEAD_OF_TEXTS.fullmatch(head) is not None
            and _TAIL_OF_TEXTS.fullmatch(tail) is not None
            and _are_all(hidden, ends[:-1], starts[1:], _BETWEEN_TEXTS)
        )
    if not is_regular:
        return None
    edges = np.concatenate(([0], np.cumsum(ends - starts)))
    texts = _within(data, starts, edges)
    # Of several escapes in a text each names the same one.
    holding = dict.fromkeys((np.searchsorted(starts, np.array(escapes, dtype=np.int64), "right") - 1).tolist())
    read = {text: _read(written, starts, ends, text) for text in holding}
    return _pairs(texts, edges, read) if are_pairs else _halves(texts, edges, read)


def _without_escapes(written: bytes) -> tuple[bytes | bytearray, list[int]] | None:
    """Return JSON with a mask in place of each escape, and where these are; None if there are too many."""
    at = written.find(b"\\")
    if at < 0:
        return written, []
    masked, escapes = bytearray(written), []
    most = len(written) * _ESCAPES_A_BYTE + 16
    while at >= 0:
        masked[at : at + 2] = _MASK
        escapes.append(at)
        if len(escapes) > most:
            return None
        at = written.find(b"\\", at + 2)
    return masked, escapes


def _are_all(hidden: bytes | bytearray, before: Places, after: Places, pattern: re.Pattern[bytes]) -> bool:
    """Tell whether the same stands between all texts, and matches a pattern.

    before: the places of the quotation marks behind texts; after: where the texts that follow them begin
    """
    if not len(before):
        return True
    first = hidden[before[0] + 1 : after[0] - 1]
    width = len(first)
    if pattern.fullmatch(first) is None or not bool((after - before == width + 2).all()):
        return False
    # What begins at each byte: nothing is copied but what is picked.
    windows = np.ndarray(len(hidden) - width + 1, f"V{width}", hidden, strides=(1,))
    return windows[before + 1].tobytes() == first * len(before)


def _within(data: NDArray[np.uint8], starts: Places, edges: Places) -> NDArray[np.uint8]:
    """Return the texts end to end; edges: where each is to begin, and one more for the end."""
    # Every file is smaller than 2 GB; half the width is twice as quick.
    picked = np.repeat((starts - edges[:-1]).astype(np.int32), np.diff(edges))
    picked += np.arange(len(picked), dtype=np.int32)
    return data[picked]


def _read(written: bytes, starts: Places, ends: Places, text: int) -> bytes:
    """Return what a text with escapes says."""
    return msgspec.json.decode(written[starts[text] - 1 : ends[text] + 1], type=str).encode()


def _pairs(texts: NDArray[np.uint8], edges: Places, read: dict[int, bytes]) -> MergeSpans:
    """Return the lines, given their texts in turn; read: those with escapes by number."""
    spans = MergeSpans(texts, edges[:-1:2].copy(), edges[1::2].copy(), edges[2::2].copy())
    lines = {}
    for line in dict.fromkeys(text // 2 for text in read):
        left, right = (
            read.get(text, texts[edges[text] : edges[text + 1]].tobytes()) for text in (2 * line, 2 * line + 1)
        )
        lines[line] = (left, right)
    return _replaced(spans, lines)


def _halves(texts: NDArray[np.uint8], edges: Places, read: dict[int, bytes]) -> MergeSpans | None:
    """Return the lines, each of which is two words with one space between, given end to end; None if one is not."""
    spaces = np.flatnonzero(texts == _SPACE)
    if len(spaces) != len(edges) - 1 or bool(((spaces < edges[:-1]) | (spaces >= edges[1:])).any()):
        return None
    removed = np.arange(len(spaces) + 1)
    starts = edges - removed
    spans = MergeSpans(np.delete(texts, spaces), starts[:-1].copy(), spaces - removed[:-1], starts[1:].copy())
    lines = {}
    for line, content in read.items():
        left, space, right = content.partition(b" ")
        if not space or b" " in right:
            return None
        lines[line] = (left, right)
    return _replaced(spans, lines)


def _replaced(spans: MergeSpans, lines: dict[int, tuple[bytes, bytes]]) -> MergeSpans:
    """Return the spans with other texts for some lines, which stand behind all others."""
    at, written = len(spans.data), []
    for line, (left, right) in lines.items():
        spans.start[line], spans.middle[line], spans.end[line] = at, at + len(left), at + len(left) + len(right)
        at += len(left) + len(right)
        written += [left, right]
    more = np.frombuffer(b"".join(written), dtype=np.uint8)
    return spans._replace(data=np.concatenate((spans.data, more)))
