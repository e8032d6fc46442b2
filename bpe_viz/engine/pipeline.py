"""What stands around the merges: a text becomes pre-tokens as the model sees them, and tokens that are set.

A Pipeline cuts a text into Stretches, whose pre-tokens are merged, and SetTokens, whose ids are known before any merge:
special and added tokens, those that a file puts around a text, and all tokens of a model that is not BPE. Of each byte
of a stretch it tells which code points of the text it comes from. PlainPipeline does what CountingOptions say;
engine/library_pipelines.py runs the libraries of files that say more.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
import regex
from numpy.typing import NDArray

from bpe_viz.engine.pretokenize import pretokenizer_for, uncovered
from bpe_viz.engine.segments import cut_special_tokens, normalize
from bpe_viz.engine.types import CountingOptions
from bpe_viz.errors import OptionError

Int64s = NDArray[np.int64]

Groups = tuple[Int64s, Int64s, Int64s]
"""Which characters of a text became which bytes; see aligned_normalize."""

SpecialText = Literal["allow", "text", "error"]
"""What the text of a special token becomes: the token, plain text, or an error."""

_GRAPHEME = regex.compile(r"\X")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Stretch:
    """Text that is merged.

    pretokens: their bytes as the model sees them: UTF-8, but for letters that stand for bytes the bytes themselves
    group: (bytes,) int64, for each byte of the pre-tokens, joined, the group of code points that it comes from
    opens, closes: (bytes,) bool, whether the byte is the first, or the last, that its group became
    start, end: (groups,) int64, the code points of each group in the text that was given
    """

    pretokens: tuple[bytes, ...]
    group: Int64s
    opens: NDArray[np.bool_]
    closes: NDArray[np.bool_]
    start: Int64s
    end: Int64s


@dataclass(frozen=True, slots=True)
class SetTokens:
    """Tokens that no merge makes and none touches.

    ids: their token ids
    contents: the bytes that each stands for
    start, end: (tokens,) int64, the code points of the text that each touches; equal for one put around the text
    """

    ids: tuple[int, ...]
    contents: tuple[bytes, ...]
    start: Int64s
    end: Int64s


@dataclass(frozen=True, slots=True)
class PreparedText:
    """A text that is ready to be merged.

    parts: in order
    dropped: how many code points are in none of them
    notes: in plain words what was changed or lost on the way
    """

    parts: tuple[Stretch | SetTokens, ...]
    dropped: int = 0
    notes: tuple[str, ...] = ()


class Pipeline(Protocol):
    """Prepares texts; one thread uses it at a time."""

    title: str
    """What it is, in a few words."""

    def prepare(self, text: str, special_text: SpecialText, around: bool) -> PreparedText:
        """Cut a text.

        around: with the tokens that the file puts around a text
        Raises OptionError for the text of a special token that is to be an error.
        """

    def is_plain_for(self, text: str, special_text: SpecialText = "allow") -> bool:
        """Tell whether CountingOptions alone cut this text in the same way, and nothing is put around it."""


def without_surrogates(text: str) -> tuple[str, tuple[str, ...]]:
    """Return a text in which each lone surrogate, which has no UTF-8, is U+FFFD, and a note if there was one."""
    repaired = _LONE_SURROGATE.sub("\ufffd", text)
    return repaired, () if repaired == text else ("Lone surrogates have no UTF-8: each is encoded as U+FFFD.",)


def refuse_special_text(token: str, at: int) -> None:
    """Raise OptionError: the text of a special token is to be an error. at: its first character, from 0"""
    raise OptionError(
        f"The text holds the special token {token!r} at character {at + 1:,}.",
        "Allow special tokens, or encode them as plain text.",
    )


class PlainPipeline:
    """Special tokens are cut out, the rest is normalized and pretokenized, as CountingOptions say."""

    title = "as the options say"

    def __init__(
        self, counting: CountingOptions, special_ids: dict[str, int], always: frozenset[str] = frozenset()
    ) -> None:
        """Take the options.

        special_ids: the ids of the special tokens of `counting`, by text
        always: those that are tokens whatever is to become of special text, as added tokens of a file may be
        """
        self._counting = counting
        self._special_ids = special_ids
        self._always = always

    def prepare(self, text: str, special_text: SpecialText, around: bool) -> PreparedText:
        """Cut a text; nothing is ever put around it. Raises OptionError and PatternError."""
        text, notes = without_surrogates(text)
        parts: list[Stretch | SetTokens] = []
        dropped = offset = 0
        cut = self._counting.special_tokens if special_text != "text" else tuple(self._always)
        for piece, is_special in cut_special_tokens(text, cut):
            if is_special:
                if special_text == "error" and piece not in self._always:
                    refuse_special_text(piece, offset)
                parts.append(set_token(self._special_ids[piece], piece, offset, offset + len(piece)))
            else:
                stretch, lost = self._stretch(piece, offset)
                parts.append(stretch)
                dropped += lost
            offset += len(piece)
        if dropped:
            notes += (f"The pretokenizer drops {dropped:,} of {len(text):,} characters.",)
        return PreparedText(tuple(parts), dropped, notes)

    def is_plain_for(self, text: str, special_text: SpecialText = "allow") -> bool:
        """Tell whether no token is set that is not special."""
        return special_text == "allow" or not self._always

    def normalized(self, text: str) -> str:
        """Return what is pretokenized, special tokens left aside."""
        return normalize(text, self._counting.normalize)

    def _spans(self, text: str) -> list[tuple[int, int]]:
        """Return where the pre-tokens of a normalized text start and end, in code points."""
        return pretokenizer_for(self._counting).spans(text)

    def _stretch(self, text: str, offset: int) -> tuple[Stretch, int]:
        """Cut text without special tokens; also returns how many code points the pretokenizer left uncovered."""
        normalized, groups = aligned_normalize(text, self._counting.normalize)
        spans = self._spans(normalized)
        return stretch_of(normalized, spans, groups, offset), uncovered(len(normalized), spans)


def stretch_of(text: str, spans: Sequence[tuple[int, int]], groups: Groups, offset: int = 0) -> Stretch:
    """Return the pre-tokens of a normalized text.

    spans: where each starts and ends, in code points
    groups: which characters of the text that was given became which bytes, as of aligned_normalize
    offset: of that text, in a longer one
    """
    chars, byte_from, byte_to = groups
    pretokens = tuple(text[a:b].encode() for a, b in spans)
    at_byte = np.arange(sum(map(len, pretokens)), dtype=np.int64)
    if uncovered(len(text), spans):
        # Spans leave gaps between them, by which the bytes behind move.
        lengths = np.array([len(one) for one in pretokens], dtype=np.int64)
        span_from = byte_offsets(text)[[a for a, _ in spans]]
        at_byte += np.repeat(span_from - (np.cumsum(lengths) - lengths), lengths)
    group = np.searchsorted(byte_from, at_byte, side="right") - 1
    opens, closes = at_byte == byte_from[group], at_byte == byte_to[group] - 1
    return Stretch(pretokens, group, opens, closes, chars[:-1] + offset, chars[1:] + offset)


def set_token(token_id: int, text: str, start: int, end: int) -> SetTokens:
    """Return one token that is set."""
    return SetTokens((token_id,), (text.encode(),), np.array([start], np.int64), np.array([end], np.int64))


def aligned_normalize(text: str, forms: Sequence[str]) -> tuple[str, Groups]:
    """Normalize a text and tell which characters became which bytes.

    Returns the new text and, for groups that were normalized on their own, (characters where each begins, and one
    more for the end; bytes where each begins; bytes where each ends). Where nothing is normalized the groups are
    single characters; else grapheme clusters, or the whole text where even these depend on each other.
    """
    if not forms:
        bounds = byte_offsets(text)
        return text, (np.arange(len(text) + 1), bounds[:-1], bounds[1:])
    normalized = normalize(text, forms)
    groups = _GRAPHEME.findall(text)
    made = [normalize(group, forms) for group in groups]
    if "".join(made) != normalized:
        groups, made = [text], [normalized]
    chars = np.concatenate(([0], np.cumsum([len(group) for group in groups])))
    ends = np.cumsum([len(one.encode()) for one in made])
    return normalized, (chars, np.concatenate(([0], ends[:-1])), ends)


def byte_offsets(text: str) -> Int64s:
    """Return (characters + 1,) int64: where each character begins in UTF-8."""
    codes = np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32)
    widths = 1 + (codes >= 0x80).astype(np.int64) + (codes >= 0x800) + (codes >= 0x10000)
    return np.concatenate(([0], np.cumsum(widths)))
