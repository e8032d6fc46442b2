"""What OpenAI's code for CLIP does to a text before it merges.

The text is repaired by the library ftfy, HTML entities are read twice, white space at its ends is taken away, and all
of it is made lower case; special tokens are looked for in what becomes of that, as whole pre-tokens. ftfy need not be
installed: without it the last of its repairs, NFC, is done alone, and a text of which it might change more is told.
Source: openai/CLIP, clip/simple_tokenizer.py.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Collection, Iterator
from functools import cache
from importlib.metadata import version
from itertools import accumulate
from typing import NamedTuple

import numpy as np
import regex

from bpe_viz.engine.normalized_first import NormalizedFirstPipeline, Piece
from bpe_viz.engine.pipeline import Groups, aligned_normalize, without_surrogates
from bpe_viz.engine.pretokenize import pretokenizer_for
from bpe_viz.engine.segments import normalize

_SPACE = regex.compile(r"\s+")
_WORDS = regex.compile(r"\s+|\S+")
_LINES = regex.compile(r"\n+|[^\n]+")
_GRAPHEME = regex.compile(r"\X")
_LEFT_ALONE = re.compile(r"[\t\n -%'-~]*")
"""Matches what neither ftfy nor the reading of entities changes."""


class Repair(NamedTuple):
    """What repairs a text first: ftfy, of a version."""

    fix: Callable[[str], str]
    version: str


@cache
def repair() -> Repair | None:
    """Return what repairs a text; None if it is not installed."""
    try:
        from ftfy import fix_text
    except ImportError:
        return None
    return Repair(fix_text, version("ftfy"))


def _repaired(text: str) -> str:
    found = repair()
    return normalize(without_surrogates(text)[0], ("NFC",)) if found is None else found.fix(text)


def cleaned(text: str) -> str:
    """Return what OpenAI's code looks for pre-tokens in."""
    if not _LEFT_ALONE.fullmatch(text):
        text = html.unescape(html.unescape(_repaired(text)))
    squeezed: str = _SPACE.sub(" ", text.strip())
    return squeezed.strip().lower()


class ClipPipeline(NormalizedFirstPipeline):
    """Cuts a text as OpenAI's code does; the pattern of its options matches the special tokens too."""

    title = "the steps of OpenAI's code for CLIP"

    def _normalized(self, text: str) -> str:
        return cleaned(text)

    def _aligned(self, text: str) -> tuple[str, Groups]:
        return aligned(text)

    def _pieces(self, normalized: str, specials: Collection[str]) -> Iterator[Piece]:
        for start, end in pretokenizer_for(self._counting).spans(normalized):
            yield Piece(start, end, normalized[start:end] in specials)

    def _notes(self, text: str) -> tuple[str, ...]:
        return _repair_notes(text)


def _repair_notes(text: str) -> tuple[str, ...]:
    """Say what was repaired, or what might have been."""
    if _LEFT_ALONE.fullmatch(text):
        return ()
    found = repair()
    if found is None:
        return (
            "OpenAI's code repairs a text with ftfy first, which is not installed here and might change more of this "
            "text than its form (NFC): its ids are certain for printable ASCII only. Run: pip install ftfy",
        )
    if html.unescape(html.unescape(found.fix(text))) == text:
        return ()
    return (f"The text was repaired by ftfy {found.version}, and HTML entities read, as OpenAI's code does first.",)


def aligned(text: str) -> tuple[str, Groups]:
    """Return what OpenAI's code looks for pre-tokens in, and which characters of the text became which bytes of that.

    Groups as of pipeline.aligned_normalize: characters where each can be told, else words, lines, or the whole text.
    """
    if _LEFT_ALONE.fullmatch(text):
        # White space is in no pre-token, so it may stay.
        return text.lower(), aligned_normalize(text, ())[1]
    whole = cleaned(text)
    for cut in (_WORDS, _LINES):
        pieces = cut.findall(text)
        made = _with_single_spaces([" " if _SPACE.fullmatch(piece) else cleaned(piece) for piece in pieces])
        if "".join(made) == whole:
            return _grouped([pair for piece in zip(pieces, made, strict=True) for pair in _finer(*piece)])
    return _grouped([(text, whole)])


def _with_single_spaces(made: list[str]) -> list[str]:
    """Leave out spaces at the ends and behind others, where what stood between them came to nothing."""
    kept = list(made)
    parted = True
    for number, one in enumerate(kept):
        if one == " " and parted:
            kept[number] = ""
        elif one:
            parted = one == " "
    last = next((number for number in reversed(range(len(kept))) if kept[number]), None)
    if last is not None and kept[last] == " ":
        kept[last] = ""
    return kept


def _finer(text: str, made: str) -> list[tuple[str, str]]:
    """Return characters, or grapheme clusters, and what becomes of each, if these make the whole; else the whole."""
    if len(made) == len(text) and made == text.lower() and all(len(one.lower()) == 1 for one in text):
        return list(zip(text, made, strict=True))
    clusters = _GRAPHEME.findall(text)
    alone = [normalize(one, ("NFC", "lowercase")) for one in clusters]
    return list(zip(clusters, alone, strict=True)) if "".join(alone) == made else [(text, made)]


def _grouped(pairs: list[tuple[str, str]]) -> tuple[str, Groups]:
    chars = np.array([0, *accumulate(len(text) for text, _ in pairs)], dtype=np.int64)
    ends = np.array([*accumulate(len(made.encode()) for _, made in pairs)], dtype=np.int64)
    return "".join(made for _, made in pairs), (chars, np.concatenate(([0], ends))[:-1], ends)
