"""Pipelines that do what llama.cpp does around its models, for tokenizers out of GGUF files.

Source: ggml-org/llama.cpp, src/llama-vocab.cpp.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from bpe_viz.engine.library_pipelines import said_of_dropped
from bpe_viz.engine.llama_cpp_cutting import Span, SpecialToken, cut_out, newer_characters
from bpe_viz.engine.pipeline import (
    Int64s,
    PreparedText,
    SetTokens,
    SpecialText,
    Stretch,
    byte_offsets,
    refuse_special_text,
    set_token,
    without_surrogates,
)
from bpe_viz.engine.pretokenize import uncovered

SPACE = "▁"
"""How pieces write a space."""

_LINES = re.compile(r"[^\n]+|\n+")


class LlamaCppPipeline(ABC):
    """Special tokens are cut out of a text; how what is between them is merged, a subclass knows."""

    def __init__(
        self,
        title: str,
        specials: Sequence[SpecialToken],
        before: SpecialToken | None = None,
        behind: SpecialToken | None = None,
    ) -> None:
        """Take what the file says.

        title: what the pipeline is, in a few words
        specials: in the order in which they are looked for
        before, behind: the tokens that are put around a text
        """
        self.title = title
        self._specials = tuple(specials)
        self._before = before
        self._behind = behind

    def prepare(self, text: str, special_text: SpecialText, around: bool) -> PreparedText:
        """Cut a text. Raises OptionError for special text that is to be an error."""
        text, notes = without_surrogates(text)
        looked_for = [one for one in self._specials if one.is_always or special_text != "text"]
        parts: list[Stretch | SetTokens] = []
        if around and self._before is not None:
            parts.append(set_token(self._before.id, self._before.text, 0, 0))
        dropped, done = 0, 0
        for fragment in cut_out(text, looked_for):
            dropped += fragment.start - done
            done = fragment.end
            special = fragment.special
            if special is None:
                found, lost = self._parts(text[fragment.start : fragment.end], fragment.start, _is_set_last(parts))
                parts += found
                dropped += lost
                continue
            if special_text == "error" and not special.is_always:
                refuse_special_text(special.text, fragment.start)
            parts.append(set_token(special.id, special.text, fragment.start, fragment.end))
        dropped += len(text) - done
        if around and self._behind is not None:
            parts.append(set_token(self._behind.id, self._behind.text, len(text), len(text)))
        if dropped:
            notes = (*notes, said_of_dropped(dropped, text))
        return PreparedText(tuple(parts), dropped, notes)

    def is_plain_for(self, text: str, special_text: SpecialText = "allow") -> bool:
        """Return False."""
        return False

    @abstractmethod
    def _parts(self, text: str, offset: int, begins: bool) -> tuple[Sequence[Stretch | SetTokens], int]:
        """Return text without special tokens, ready to be merged, and how many code points of it are left out.

        offset: where it starts; begins: nothing stands before it but a special token
        """


def _is_set_last(parts: Sequence[Stretch | SetTokens]) -> bool:
    return not parts or isinstance(parts[-1], SetTokens)


class WordsPipeline(LlamaCppPipeline):
    """Text is cut into pre-tokens, whose bytes are merged."""

    def __init__(
        self,
        title: str,
        specials: Sequence[SpecialToken],
        before: SpecialToken | None,
        behind: SpecialToken | None,
        spans: Callable[[str], list[Span]],
        is_told_by_options: bool = False,
    ) -> None:
        """Take what the file says.

        spans: where the pre-tokens of a text are
        is_told_by_options: CountingOptions say the same, as long as both sort the characters of a text alike
        """
        super().__init__(title, specials, before, behind)
        self._spans = spans
        self._is_told_by_options = is_told_by_options

    def is_plain_for(self, text: str, special_text: SpecialText = "allow") -> bool:
        """Tell whether CountingOptions cut this text alike."""
        return self._is_told_by_options and special_text == "allow" and not newer_characters().search(text)

    def _parts(self, text: str, offset: int, begins: bool) -> tuple[Sequence[Stretch | SetTokens], int]:
        spans = self._spans(text)
        written = [text[start:end] for start, end in spans]
        lengths = [end - start for start, end in spans]
        # Spans leave gaps between them, by which the characters behind move.
        gaps = np.array([start for start, _ in spans], dtype=np.int64) - (np.cumsum(lengths) - lengths)
        places = np.arange(sum(lengths)) + np.repeat(gaps, lengths) + offset
        pretokens = tuple(word.encode() for word in written)
        return (_stretch_of(pretokens, "".join(written), places, places + 1),), uncovered(len(text), spans)


class PiecesPipeline(LlamaCppPipeline):
    """Spaces are written as pieces write them, one stands before what begins; all of it is one pre-token."""

    def __init__(
        self,
        title: str,
        specials: Sequence[SpecialToken],
        before: SpecialToken | None,
        behind: SpecialToken | None,
        adds_space: bool,
    ) -> None:
        """adds_space: whether a space is put before a text, and behind each special token"""
        super().__init__(title, specials, before, behind)
        self._adds_space = adds_space

    def _parts(self, text: str, offset: int, begins: bool) -> tuple[Sequence[Stretch | SetTokens], int]:
        start = np.arange(len(text), dtype=np.int64) + offset
        end = start + 1
        written = text.replace(" ", SPACE)
        if self._adds_space and begins:
            written = SPACE + written
            start, end = np.append(offset, start), np.append(offset, end)
        return (_stretch_of((written.encode(),), written, start, end),), 0


class LinesPipeline(LlamaCppPipeline):
    """Spaces are written as pieces write them; lines are pre-tokens, and so are the line ends between two."""

    def __init__(
        self,
        title: str,
        specials: Sequence[SpecialToken],
        before: SpecialToken | None,
        behind: SpecialToken | None,
        line_ends: Mapping[str, int],
    ) -> None:
        """line_ends: the ids of the tokens of line ends alone, which are taken whole"""
        super().__init__(title, specials, before, behind)
        self._line_ends = dict(line_ends)

    def _parts(self, text: str, offset: int, begins: bool) -> tuple[Sequence[Stretch | SetTokens], int]:
        parts: list[Stretch | SetTokens] = []
        lines: list[str] = []
        start = offset  # of the first of lines
        at = offset
        for run in _LINES.findall(text):
            if run in self._line_ends:
                parts += self._lines(lines, start)
                parts.append(set_token(self._line_ends[run], run, at, at + len(run)))
                lines, start = [], at + len(run)
            else:
                lines.append(run)
            at += len(run)
        return (*parts, *self._lines(lines, start)), 0

    def _lines(self, lines: list[str], start: int) -> Sequence[Stretch]:
        text = "".join(lines).replace(" ", SPACE)
        if not text:
            return ()
        places = np.arange(len(text), dtype=np.int64) + start
        pretokens = tuple(line.replace(" ", SPACE).encode() for line in lines)
        return (_stretch_of(pretokens, text, places, places + 1),)


def _stretch_of(pretokens: tuple[bytes, ...], text: str, start: Int64s, end: Int64s) -> Stretch:
    """Return a stretch of pre-tokens that are a text, joined; start, end: (characters,) where each comes from."""
    bounds = byte_offsets(text)
    group = np.repeat(np.arange(len(text)), np.diff(bounds))
    at_byte = np.arange(bounds[-1])
    return Stretch(pretokens, group, at_byte == bounds[group], at_byte == bounds[group + 1] - 1, start, end)
