"""Pipelines that the `sentencepiece` library runs: its normalizer before our merges, or its whole model.

Source: google/sentencepiece, src/bpe_model.cc and sentencepiece_processor.cc.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import regex

from bpe_viz.engine.library_pipelines import said_of_dropped, uncovered_by
from bpe_viz.engine.model_base import ModelBase
from bpe_viz.engine.pipeline import PreparedText, SetTokens, SpecialText, Stretch, byte_offsets, without_surrogates
from bpe_viz.errors import FormatError, OptionError


def sentencepiece_processor(model: bytes, source: str) -> Any:
    """Return the library's own reading of a model.

    source: names the file in errors
    Raises OptionError if the library is not installed, FormatError if it refuses the model.
    """
    try:
        import sentencepiece
    except ImportError as error:
        raise OptionError(
            "This file needs the library sentencepiece, which is not installed.", "Run: pip install sentencepiece"
        ) from error
    try:
        return sentencepiece.SentencePieceProcessor(model_proto=model)
    except (RuntimeError, OSError, ValueError) as error:
        raise FormatError(
            f"The sentencepiece library does not read {source}: {error}.", "Download or save the file again."
        ) from error


@dataclass(frozen=True, slots=True)
class PieceBase(ModelBase):
    """The base symbols of a SentencePiece model: characters, and pieces that are cut out first and never merge.

    own: matches the pieces that are cut out, the longest first; None: there are none
    """

    own: regex.Pattern[str] | None = None

    def _characters(self, pretoken: bytes) -> Iterator[tuple[bytes, int | None, bytes, bytes]]:
        """Yield (character or piece, its symbol, b"", b"")."""
        table = self.lookup.only
        text = pretoken.decode(errors="replace")
        at = 0
        for match in self.own.finditer(text) if self.own is not None else ():
            for character in text[at : match.start()]:
                content = character.encode()
                yield content, table.get(content), b"", b""
            content = match.group().encode()
            yield content, table.get(content), b"", b""
            at = match.end()
        for character in text[at:]:
            content = character.encode()
            yield content, table.get(content), b"", b""


class _Pieces:
    """What both pipelines have in common."""

    def __init__(self, processor: Any) -> None:
        self._processor = processor

    def is_plain_for(self, text: str, special_text: SpecialText = "allow") -> bool:
        """Return False."""
        return False


class NormalizerPipeline(_Pieces):
    """Runs the model's normalizer; the whole text is one pre-token. Text is never special."""

    title = "the normalizer of the model, run by the sentencepiece library"

    def prepare(self, text: str, special_text: SpecialText, around: bool) -> PreparedText:
        """Normalize a text."""
        text, notes = without_surrogates(text)
        normalized, offsets = self._processor.Normalize(text, with_offsets=True)
        if not normalized:
            return PreparedText((), len(text), (*notes, *_said_of(text, len(text))))
        places = np.array(offsets, dtype=np.int64)
        bounds = byte_offsets(normalized)
        at_byte = np.arange(bounds[-1])
        group = np.repeat(np.arange(len(normalized)), np.diff(bounds))
        stretch = Stretch(
            pretokens=(normalized.encode(),),
            group=group,
            opens=at_byte == bounds[group],
            closes=at_byte == bounds[group + 1] - 1,
            start=places[:-1],
            end=places[1:],
        )
        dropped = uncovered_by(np.stack((places[:-1], places[1:]), axis=1), len(text))
        return PreparedText((stretch,), dropped, (*notes, *_said_of(text, dropped)))


class PiecesPipeline(_Pieces):
    """Runs the whole model: every token is set. Text is never special."""

    title = "the whole model, run by the sentencepiece library"

    def __init__(self, processor: Any, content_of: Callable[[int], bytes], unknown: int) -> None:
        """Take the library's reading of the model.

        content_of: the bytes that the piece of an id stands for
        unknown: the id of the unknown piece, which stands for what is there in the text
        """
        super().__init__(processor)
        self._content_of = content_of
        self._unknown = unknown

    def prepare(self, text: str, special_text: SpecialText, around: bool) -> PreparedText:
        """Encode a text."""
        text, notes = without_surrogates(text)
        found = self._processor.EncodeAsOffsetMapping(text)
        ids = tuple(found["ids"])
        offsets = np.array(found["offsets"], dtype=np.int64).reshape(-1, 2)
        contents = tuple(
            text[start:end].encode() if number == self._unknown else self._content_of(number)
            for number, (start, end) in zip(ids, found["offsets"], strict=True)
        )
        dropped = uncovered_by(offsets, len(text))
        tokens = SetTokens(ids, contents, offsets[:, 0], offsets[:, 1])
        return PreparedText((tokens,), dropped, (*notes, *_said_of(text, dropped)))


def _said_of(text: str, dropped: int) -> tuple[str, ...]:
    return (said_of_dropped(dropped, text),) if dropped else ()
