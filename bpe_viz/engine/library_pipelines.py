"""Pipelines that the `tokenizers` library runs, so that every step of a tokenizer.json is its own.

The library shows what its steps make of a text only through a model. So a tokenizer is built of the very steps of the
file around a model that knows nothing but the 256 tokens of bytes: it takes every pre-token apart into its bytes, and
says of each to which pre-token it belongs and from where in the text it comes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from bpe_viz.engine.alike_characters import ALIKE
from bpe_viz.engine.joined_steps import JoinedSteps
from bpe_viz.engine.normalized_first import NormalizedFirstPipeline, finds_the_same
from bpe_viz.engine.pipeline import (
    Int64s,
    Pipeline,
    PlainPipeline,
    PreparedText,
    SetTokens,
    SpecialText,
    Stretch,
    refuse_special_text,
    without_surrogates,
)
from bpe_viz.engine.segments import normalize, unknown_to_python
from bpe_viz.engine.types import CountingOptions
from bpe_viz.errors import FormatError, OptionError

BYTE_MODEL: dict[str, Any] = {
    "type": "BPE",
    "dropout": None,
    "unk_token": None,
    "continuing_subword_prefix": None,
    "end_of_word_suffix": None,
    "fuse_unk": False,
    "byte_fallback": True,
    "ignore_merges": False,
    "vocab": {f"<0x{byte:02X}>": byte for byte in range(256)},
    "merges": [],
}
"""The model that takes a text apart into bytes, as a tokenizer.json has it; ids are the bytes."""

_N_BYTES = 256


def library_tokenizer(document: bytes, source: str) -> Any:
    """Return the library's own tokenizer of a tokenizer.json, without truncation and padding.

    source: names the file in errors
    Raises OptionError if the library is not installed, FormatError if it refuses the file.
    """
    try:
        import tokenizers
    except ImportError as error:
        raise OptionError(
            "This file needs the library tokenizers, which is not installed.", "Run: pip install tokenizers"
        ) from error
    try:
        library = tokenizers.Tokenizer.from_str(document.decode())
    except BaseException as error:  # noqa: BLE001  # a panic of the library is no Exception
        refuse_unless_from_library(error, f"The tokenizers library does not read {source}")
    library.no_truncation()
    library.no_padding()
    return library


def refuse_unless_from_library(error: BaseException, what: str) -> NoReturn:
    """Raise FormatError for what the library raises, bare Exception or a panic; anything else goes on."""
    if isinstance(error, Exception) or type(error).__name__ == "PanicException":
        raise FormatError(f"{what}: {error}.", "Download or save the file again.") from error
    raise error


def encoded_by(library: Any, text: str, special_text: SpecialText, around: bool) -> Any:
    """Return the library's encoding of a text without surrogates. Raises FormatError."""
    library.encode_special_tokens = special_text == "text"
    try:
        return library.encode(text, add_special_tokens=around)
    except BaseException as error:  # noqa: BLE001  # a panic of the library is no Exception
        refuse_unless_from_library(error, "The tokenizers library does not encode this text")


@dataclass(frozen=True, slots=True)
class AddedTokens:
    """The tokens that a file adds to its model's, which are looked for in a text.

    ids: by text
    special: those that are special, which text may not or need not become
    """

    ids: Mapping[str, int]
    special: frozenset[str]


class StepsPipeline:
    """Runs the steps of a tokenizer.json around its BPE model."""

    title = "the steps of the file, run by the tokenizers library"

    def __init__(
        self,
        document: bytes,
        source: str,
        added: AddedTokens,
        letters: Mapping[str, bytes] | None,
        joined: JoinedSteps | None = None,
        is_counted_by_options: bool = False,
    ) -> None:
        """Build the tokenizer of the steps.

        document: the tokenizer.json, with BYTE_MODEL for its model
        source: names the file in errors
        letters: the byte that each letter stands for, if letters stand for bytes behind all steps
        joined: the same steps for counting, if they are of those kinds
        is_counted_by_options: a corpus that is counted with the tokenizer's CountingOptions has the same pre-tokens
        Raises OptionError if the library is not installed, FormatError if it refuses the steps.
        """
        self.library = library_tokenizer(document, source)
        self._added = added
        self._letters = letters
        self.joined = None if letters is not None else joined
        self.is_counted_by_options = is_counted_by_options
        # id_to_token would give the texts as they are looked for, which may be normalized.
        self._added_by_number = {number: one.content for number, one in self.library.get_added_tokens_decoder().items()}

    def prepare(self, text: str, special_text: SpecialText, around: bool) -> PreparedText:
        """Cut a text. Raises OptionError for special text that is to be an error, FormatError."""
        text, notes = without_surrogates(text)
        found = encoded_by(self.library, text, special_text, around)
        ids = np.array(found.ids, dtype=np.int64)
        offsets = np.array(found.offsets, dtype=np.int64).reshape(-1, 2)
        words = np.array([-1 if word is None else word for word in found.word_ids], dtype=np.int64)
        is_around = words < 0
        is_set = is_around | (ids >= _N_BYTES)
        put_around(offsets, is_around, len(text))
        parts: list[Stretch | SetTokens] = []
        for run in np.split(np.arange(len(ids)), np.flatnonzero(np.diff(is_set)) + 1) if len(ids) else ():
            start, end = offsets[run].T
            if not is_set[run[0]]:
                parts.append(self._stretch(ids[run].astype(np.uint8), words[run], start, end))
                continue
            tokens = [
                (number, found.tokens[i]) if is_put else self._added_token(number, special_text, at)
                for i, number, is_put, at in zip(
                    run.tolist(), ids[run].tolist(), is_around[run].tolist(), start.tolist(), strict=True
                )
            ]
            contents = tuple(token.encode() for _, token in tokens)
            parts.append(SetTokens(tuple(number for number, _ in tokens), contents, start, end))
        dropped = uncovered_by(offsets, len(text))
        if dropped:
            notes += (said_of_dropped(dropped, text),)
        return PreparedText(tuple(parts), dropped, notes)

    def is_plain_for(self, text: str, special_text: SpecialText = "allow") -> bool:
        """Return False."""
        return False

    def _added_token(self, number: int, special_text: SpecialText, at: int) -> tuple[int, str]:
        """Return the id and the text of an added token, given its number beside the byte model."""
        token = self._added_by_number[number]
        if special_text == "error" and token in self._added.special:
            refuse_special_text(token, at)
        return self._added.ids[token], token

    def _stretch(self, data: NDArray[np.uint8], words: Int64s, start: Int64s, end: Int64s) -> Stretch:
        """Return pre-tokens, given their bytes, the word that each belongs to, and the code points it comes from."""
        if self._letters is not None:
            # Each letter is one byte to the model.
            begins = (data & 0xC0) != 0x80
            letters = self._letters
            data = np.frombuffer(b"".join(letters[letter] for letter in data.tobytes().decode()), dtype=np.uint8)
            words, start, end = words[begins], start[begins], end[begins]
        edges = [0, *(np.flatnonzero(np.diff(words)) + 1).tolist(), len(words)]
        content = data.tobytes()
        pretokens = tuple(content[a:b] for a, b in pairwise(edges))
        is_new = np.append(True, (np.diff(start) != 0) | (np.diff(end) != 0))
        return Stretch(
            pretokens,
            group=np.cumsum(is_new) - 1,
            opens=is_new,
            closes=np.append(is_new[1:], True),
            start=start[is_new],
            end=end[is_new],
        )


def said_of_dropped(dropped: int, text: str) -> str:
    """Return what to say of characters that the steps of a file leave out."""
    return f"What the file does before its model drops {dropped:,} of {len(text):,} characters."


def put_around(offsets: NDArray[np.int64], is_around: NDArray[np.bool_], length: int) -> None:
    """Give tokens that are put around a text its two ends as their places; the library gives them none.

    offsets: (tokens, 2), changed in place
    """
    inside = np.flatnonzero(~is_around)
    last = int(inside[-1]) if len(inside) else -1
    for i in np.flatnonzero(is_around).tolist():
        offsets[i] = length if i > last else 0


def uncovered_by(offsets: NDArray[np.int64], length: int) -> int:
    """Return how many code points of a text none of the (start, end) cover."""
    change = np.zeros(length + 1, dtype=np.int64)
    np.add.at(change, offsets[:, 0], 1)
    np.add.at(change, offsets[:, 1], -1)
    return int((np.cumsum(change[:-1]) == 0).sum())


class ModelPipeline:
    """Runs a whole tokenizer of the library, model and all: every token is set."""

    title = "the whole file, run by the tokenizers library"

    def __init__(
        self,
        library: Any,
        added: AddedTokens,
        content_of: Callable[[int], bytes],
        unknown: int | None,
        moved: Mapping[int, int],
    ) -> None:
        """Take the library's tokenizer.

        content_of: the bytes that the token of an id stands for
        unknown: the id of the unknown token, which stands for what is there in the text
        moved: the ids of the file by those that the library gives instead
        """
        self._library = library
        self._special_ids = {added.ids[text]: text for text in added.special}
        self._content_of = content_of
        self._unknown = unknown
        self._moved = moved

    def prepare(self, text: str, special_text: SpecialText, around: bool) -> PreparedText:
        """Encode a text. Raises OptionError for special text that is to be an error, FormatError."""
        text, notes = without_surrogates(text)
        found = encoded_by(self._library, text, special_text, around)
        # Where a prefix falls apart into bytes, the library counts these as bytes of the text and runs over its end.
        offsets = np.minimum(np.array(found.offsets, dtype=np.int64).reshape(-1, 2), len(text))
        is_around = np.array([word is None for word in found.word_ids], dtype=bool)
        put_around(offsets, is_around, len(text))
        ids = tuple(self._moved.get(number, number) for number in found.ids)
        if special_text == "error":
            for number, is_put, at in zip(ids, is_around.tolist(), offsets[:, 0].tolist(), strict=True):
                if not is_put and number in self._special_ids:
                    refuse_special_text(self._special_ids[number], at)
        contents = tuple(
            text[start:end].encode() if number == self._unknown else self._content_of(number)
            for number, (start, end) in zip(ids, offsets.tolist(), strict=True)
        )
        dropped = uncovered_by(offsets, len(text))
        if dropped:
            notes += (said_of_dropped(dropped, text),)
        return PreparedText((SetTokens(ids, contents, offsets[:, 0], offsets[:, 1]),), dropped, notes)

    def is_plain_for(self, text: str, special_text: SpecialText = "allow") -> bool:
        """Return False."""
        return False


class GuardedPipeline:
    """A plain pipeline, and another for texts of which it is not certain that both engines cut them alike."""

    title = PlainPipeline.title

    def __init__(
        self, plain: PlainPipeline, exact: Callable[[], Pipeline], is_certain: Callable[[str], bool] | None = None
    ) -> None:
        """Take both.

        exact: builds the pipeline that cuts as the file's own library does, when it is needed
        is_certain: tells of a text whether both cut it alike; None: its characters tell
        """
        self._plain = plain
        self._build = exact
        self._exact: Pipeline | None = None
        self._is_certain = _has_alike_characters if is_certain is None else is_certain

    def prepare(self, text: str, special_text: SpecialText, around: bool) -> PreparedText:
        """Cut a text. Raises OptionError for special text that is to be an error, FormatError."""
        if self._is_certain(text):
            return self._plain.prepare(text, special_text, around)
        if self._exact is None:
            self._exact = self._build()
        return self._exact.prepare(text, special_text, around)

    def is_plain_for(self, text: str, special_text: SpecialText = "allow") -> bool:
        """Tell whether both cut this text alike."""
        return self._plain.is_plain_for(text, special_text) and self._is_certain(text)


def _has_alike_characters(text: str) -> bool:
    return ALIKE.holds(text)


class _OlderPipeline(PlainPipeline):
    """Cuts where an engine cuts that knows an older Unicode."""

    def _spans(self, text: str) -> list[tuple[int, int]]:
        return super()._spans(ALIKE.as_there(text))


def cut_as_the_library(counting: CountingOptions, special_ids: dict[str, int]) -> GuardedPipeline:
    """Return a pipeline for options of a file whose own library knows an older Unicode than `regex`.

    Where something is normalized, that library does it to the whole text, before it looks for special tokens.
    special_ids: the ids of the special tokens of `counting`, by text
    """
    plain = PlainPipeline(counting, special_ids)
    if counting.normalize:
        exact = partial(NormalizedFirstPipeline, counting, special_ids)
        return GuardedPipeline(plain, exact, partial(_is_certain_normalized, counting))
    return GuardedPipeline(plain, partial(_OlderPipeline, counting, special_ids))


def _is_certain_normalized(counting: CountingOptions, text: str) -> bool:
    is_alike = ALIKE.holds(normalize(text, counting.normalize)) and not unknown_to_python(text)
    return is_alike and finds_the_same(counting, text)


def added_texts(library: Any) -> dict[str, str]:
    """Return what the library decodes each added token to, before its decoder: it may be normalized."""
    return {one.content: library.id_to_token(number) for number, one in library.get_added_tokens_decoder().items()}


def decoded_by(library: Any, tokens: Sequence[str]) -> str:
    """Return the text that the library's decoder makes of tokens; without one they are parted by spaces.

    Raises FormatError.
    """
    decoder = library.decoder
    if decoder is None or not tokens:
        return " ".join(tokens)
    try:
        return str(decoder.decode(list(tokens)))
    except BaseException as error:  # noqa: BLE001  # a panic of the library is no Exception
        refuse_unless_from_library(error, "The tokenizers library does not decode these ids")
