"""Pipelines that normalize a whole text, and look for special tokens in what becomes of it.

Counting and PlainPipeline do it the other way round. Both are the same unless normalizing makes, or unmakes, the text
of a special token.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from bpe_viz.engine.alike_characters import ALIKE
from bpe_viz.engine.pipeline import (
    Groups,
    PreparedText,
    SetTokens,
    SpecialText,
    Stretch,
    aligned_normalize,
    refuse_special_text,
    set_token,
    stretch_of,
    without_surrogates,
)
from bpe_viz.engine.pretokenize import pretokenizer_for
from bpe_viz.engine.segments import cut_special_tokens, normalize, unknown_to_python
from bpe_viz.engine.types import CountingOptions


class Piece(NamedTuple):
    """A pre-token or a special token of a normalized text, in code points."""

    start: int
    end: int
    is_special: bool


class NormalizedFirstPipeline:
    """Normalizes, cuts special tokens out, and cuts the rest where an engine cuts that knows an older Unicode."""

    title = "the steps of the options, with special tokens looked for in normalized text"

    def __init__(self, counting: CountingOptions, special_ids: Mapping[str, int]) -> None:
        """special_ids: the ids of the special tokens of `counting`, by text"""
        self._counting = counting
        self._special_ids = dict(special_ids)

    def prepare(self, text: str, special_text: SpecialText, around: bool) -> PreparedText:
        """Cut a text; nothing is put around it. Raises OptionError and PatternError."""
        notes = (*without_surrogates(text)[1], *self._notes(text))
        normalized, groups = self._aligned(text)
        parts: list[Stretch | SetTokens] = []
        covered = np.zeros(len(text), dtype=np.bool_)
        run: list[tuple[int, int]] = []

        def end_run() -> None:
            if run:
                parts.append(_covering(stretch_of(normalized, run, groups), covered))
                run.clear()

        for start, end, is_special in self._pieces(normalized, self._special_ids if special_text != "text" else ()):
            if not is_special:
                run.append((start, end))
                continue
            end_run()
            found = _covering(stretch_of(normalized, [(start, end)], groups), covered)
            first, behind = int(found.start[found.group[0]]), int(found.end[found.group[-1]])
            token = normalized[start:end]
            if special_text == "error":
                refuse_special_text(token, first)
            parts.append(set_token(self._special_ids[token], token, first, behind))
        end_run()
        if dropped := len(text) - int(covered.sum()):
            notes += (f"The pretokenizer drops {dropped:,} of {len(text):,} characters.",)
        return PreparedText(tuple(parts), dropped, notes)

    def is_plain_for(self, text: str, special_text: SpecialText = "allow") -> bool:
        """Return False."""
        return False

    def pretokens(self, text: str, special_text: SpecialText) -> Iterator[tuple[str, bool]]:
        """Yield (pre-token or special token, is special) in order: what prepare tells, but for the places."""
        normalized = self._normalized(text)
        for start, end, is_special in self._pieces(normalized, self._special_ids if special_text != "text" else ()):
            yield normalized[start:end], is_special

    def _normalized(self, text: str) -> str:
        """Return what special tokens are looked for in."""
        return normalize(without_surrogates(text)[0], self._counting.normalize)

    def _aligned(self, text: str) -> tuple[str, Groups]:
        """Return the normalized text, and which characters became which bytes, as of aligned_normalize."""
        return aligned_normalize(without_surrogates(text)[0], self._counting.normalize)

    def _pieces(self, normalized: str, specials: Collection[str]) -> Iterator[Piece]:
        """Yield the pre-tokens of a normalized text, and its special tokens, in order."""
        pretokenizer = pretokenizer_for(self._counting)
        offset = 0
        for stretch, is_special in cut_special_tokens(normalized, tuple(specials)):
            if is_special:
                yield Piece(offset, offset + len(stretch), True)
            else:
                for start, end in pretokenizer.spans(ALIKE.as_there(stretch)):
                    yield Piece(offset + start, offset + end, False)
            offset += len(stretch)

    def _notes(self, text: str) -> tuple[str, ...]:
        """Return what is to be said of a text beside what is dropped."""
        newer = unknown_to_python(text)
        if not newer:
            return ()
        return (
            f"Python normalizes by Unicode {unicodedata.unidata_version} and leaves newer characters as they are: "
            f"{len(newer):,} of this text, {newer[0]!r} for one. The file's own library may change them.",
        )


def _covering(stretch: Stretch, covered: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Stretch:
    """Mark the characters that a stretch comes from, and return it."""
    for group in np.unique(stretch.group).tolist():
        covered[stretch.start[group] : stretch.end[group]] = True
    return stretch


def finds_the_same(counting: CountingOptions, text: str) -> bool:
    """Tell whether special tokens are found alike in a text before and after it is normalized."""
    forms, specials = counting.normalize, counting.special_tokens
    before = [
        (stretch if is_special else normalize(stretch, forms), is_special)
        for stretch, is_special in cut_special_tokens(text, specials)
    ]
    return before == cut_special_tokens(normalize(text, forms), specials)
