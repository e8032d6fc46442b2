"""The steps of SentencePiece's descendants done here: white space becomes a letter, and lines or words stay whole.

Counting a corpus needs what a text is cut into and not where each byte comes from, which the library tells at 400
bytes of memory and 3 microseconds for each character. So counting does these few steps itself; a text in which they
could mean anything else is left to the library.
Source: huggingface/tokenizers, normalizers/prepend.rs, replace.rs, pre_tokenizers/metaspace.rs, added_vocabulary.rs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from bpe_viz.engine.segments import SpecialTokenCutter

_HEAD = 3
_FEW = 40


@dataclass(frozen=True, slots=True)
class Prepend:
    """A normalizer: put a text before every stretch."""

    text: str


@dataclass(frozen=True, slots=True)
class Replace:
    """A normalizer: replace one text by another."""

    old: str
    new: str


@dataclass(frozen=True, slots=True)
class SplitAt:
    """A pre-tokenizer that cuts at a text; what holds that text is left to the library."""

    text: str


@dataclass(frozen=True, slots=True)
class Metaspace:
    """A pre-tokenizer: spaces become a letter, which may be put before a stretch, and may begin pre-tokens."""

    letter: str
    prepends: Literal["always", "first", "never"]
    splits: bool


@dataclass(frozen=True, slots=True)
class JoinedSteps:
    """What stands around a model, as far as it is of these kinds.

    as_written: added tokens that are looked for in the text as it is
    normalized: those that are looked for behind the normalizers; a text that may hold one is left to the library
    """

    as_written: tuple[str, ...]
    normalized: tuple[str, ...]
    normalizers: tuple[Prepend | Replace, ...]
    pre_tokenizers: tuple[SplitAt | Metaspace, ...]

    def pretokens(self, text: str) -> list[str] | None:
        """Return the pre-tokens of a text in order; None if the library is to be asked."""
        if _occurring(self.normalized, text):
            return None
        found: list[str] = []
        at = 0
        for stretch, is_added in SpecialTokenCutter(_occurring(self.as_written, text)).add(text, final=True):
            if not is_added:
                pieces = self._pieces(stretch, is_first=at == 0)
                if pieces is None:
                    return None
                found += pieces
            at += len(stretch)
        return found

    def _pieces(self, stretch: str, is_first: bool) -> list[str] | None:
        for step in self.normalizers:
            stretch = step.text + stretch if isinstance(step, Prepend) else stretch.replace(step.old, step.new)
            if not stretch:
                return []
        if any(token in stretch for token in self.normalized):
            return None
        pieces = [stretch]
        for cut in self.pre_tokenizers:
            if isinstance(cut, Metaspace):
                pieces = [one for i, piece in enumerate(pieces) for one in _cut(piece, cut, is_first and i == 0)]
            elif any(cut.text in piece for piece in pieces):
                return None
        return pieces


def _cut(piece: str, step: Metaspace, is_first: bool) -> Iterator[str]:
    piece = piece.replace(" ", step.letter)
    prepends = step.prepends == "always" or (step.prepends == "first" and is_first)
    if prepends and not piece.startswith(step.letter):
        piece = step.letter + piece
    if not step.splits:
        yield piece
        return
    letter = re.escape(step.letter)
    yield from re.findall(f"{letter}[^{letter}]*|[^{letter}]+", piece)


def _occurring(tokens: Sequence[str], text: str) -> list[str]:
    """Return the tokens that a text holds. There may be thousands, most of which begin alike."""
    alike: dict[str, list[str]] = {}
    for token in tokens:
        alike.setdefault(token[:_HEAD], []).append(token)
    found: list[str] = []
    for head, those in alike.items():
        if head not in text:
            continue
        if len(those) <= _FEW:
            found += [token for token in those if token in text]
        else:
            lengths = {len(token) for token in those}
            places = (match.start() for match in re.finditer(f"(?={re.escape(head)})", text))
            there = {text[place : place + length] for place in places for length in lengths}
            found += [token for token in those if token in there]
    return found
