"""Read a tokenizer.json into a tokenizer that encodes every text with the ids that the `tokenizers` library gives.

Three ways, each where it is known to give the library's ids:
1. Steps that are scanned here, around merges of bytes: bpe_viz does all by itself. Texts with characters that the two
   engines may sort otherwise go the second way.
2. Any other steps around a BPE model: the library runs the steps, bpe_viz the merges.
3. Any other model, and a BPE model that cannot be shown merge by merge: the library does all, and no merges are shown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np

from bpe_viz.engine.alike_characters import is_settled_nfc
from bpe_viz.engine.library_pipelines import (
    BYTE_MODEL,
    AddedTokens,
    GuardedPipeline,
    ModelPipeline,
    StepsPipeline,
    added_texts,
    decoded_by,
    library_tokenizer,
)
from bpe_viz.engine.number_table import NumberTable
from bpe_viz.engine.pipeline import Pipeline, PlainPipeline
from bpe_viz.engine.symbols import BaseVocabulary
from bpe_viz.engine.tokenizer import Tokenizer
from bpe_viz.engine.types import CountingOptions
from bpe_viz.formats._added_tokens import AddedIds, AddedToken, added_ids
from bpe_viz.formats._bpe_model import BYTE_OF_LETTER, BpeModel, Id, NotSteppedError, bpe_symbols
from bpe_viz.formats._joined_steps import joined_steps
from bpe_viz.formats._reading import parse_json, read_whole, without_bom
from bpe_viz.formats._tokenizer_json_pipeline import (
    NotSaidByOptions,
    PlainSteps,
    letters_are_bytes,
    read_steps,
    without_last_step,
)
from bpe_viz.formats._tokenizer_json_writing import split_off_unknown
from bpe_viz.formats._tokens_only import tokens_only

_NULL = msgspec.Raw(b"null")
_Step = dict[str, Any] | None
_Shape = TypeVar("_Shape")


class _File(msgspec.Struct):
    model: msgspec.Raw
    added_tokens: list[AddedToken] | None = None
    normalizer: _Step = None
    pre_tokenizer: _Step = None
    post_processor: _Step = None
    decoder: _Step = None
    truncation: _Step = None
    padding: _Step = None


class _Parts(msgspec.Struct):
    """The parts around the model, as they are written."""

    added_tokens: msgspec.Raw = _NULL
    normalizer: msgspec.Raw = _NULL
    pre_tokenizer: msgspec.Raw = _NULL
    post_processor: msgspec.Raw = _NULL
    decoder: msgspec.Raw = _NULL


class _ModelType(msgspec.Struct):
    type: str | None = None


class _Vocabulary(msgspec.Struct):
    """The tokens of any model: `vocab` is a dictionary of ids, or Unigram's list of tokens and scores."""

    vocab: dict[str, Id] | list[tuple[str, float]]
    unk_token: str | None = None
    unk_id: int | None = None
    continuing_subword_prefix: str | None = None
    byte_fallback: bool = False


def load(path: Path) -> Tokenizer:
    """Read a tokenizer.json. Raises FormatError that names what is wrong with it."""
    return read_document(without_bom(read_whole(path)), str(path), path.name)


def read_document(document: bytes, source: str, name: str) -> Tokenizer:
    """Read the content of a tokenizer.json.

    source: names the file in errors; name: names the tokenizer
    Raises FormatError.
    """
    reading = _Reading(document, source)
    kind = reading.model(_ModelType).type or "BPE"
    tokenizer = reading.bpe() if kind == "BPE" else reading.view_only(kind, "")
    tokenizer.name = name
    tokenizer.document = document
    return tokenizer


@dataclass
class _Reading:
    """One file that is being read."""

    document: bytes
    source: str

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what can be read again."""
        return {"document": self.document, "source": self.source}

    @cached_property
    def file(self) -> _File:
        """The file."""
        return parse_json(self.source, self.document, _File, "tokenizer.json")

    def model(self, shape: type[_Shape]) -> _Shape:
        """Return the model, read as a shape. Raises FormatError."""
        return parse_json(f"{self.source}: model", self._model, shape, "tokenizer.json")

    @cached_property
    def _model(self) -> bytes:
        return bytes(self.file.model)

    def bpe(self) -> Tokenizer:
        """Read a BPE model."""
        file = self.file
        model = self.model(BpeModel)
        contents = list(map(str.encode, model.vocab))
        added = added_ids(file.added_tokens or [], model.vocab, len(model.vocab))
        in_letters = letters_are_bytes(file.normalizer, file.pre_tokenizer)
        steps = self._plain_steps(model)
        has_gaps = steps is not None and steps.removed is not None
        try:
            if clash := next((text for text in added.ids if text in BYTE_MODEL["vocab"]), None):
                raise NotSteppedError(f"its added token {clash!r} is called like a byte")
            symbols = bpe_symbols(f"{self.source}: model", model, contents, in_letters, added.ids.keys(), has_gaps)
        except NotSteppedError as error:
            return self.view_only("BPE", str(error))
        unknown = {} if symbols.unknown is None else {symbols.unknown: model.vocab[symbols.unknown]}
        special_ids = {**unknown, **added.ids}
        tokenizer = Tokenizer(
            symbols.symbols,
            symbols.boundaries,
            _counting(steps, added.ids),
            unknown=symbols.unknown,
            ids=symbols.ids,
            special_ids=special_ids,
        )
        pipelines = _Pipelines(self, added.ids, in_letters, has_gaps, _is_counted_by_options(steps))
        tokenizer.pipeline = self._pipeline(tokenizer, pipelines, steps)
        tokenizer.is_told_by_options = steps is not None and symbols.is_ordinary
        tokenizer.text_of_ids = _TextOfIds(contents, model.vocab, added.ids, pipelines.library)
        tokenizer.renumbered = added.moved
        tokenizer.notes = (*self._notes(model, added), *symbols.notes)
        return tokenizer

    def _plain_steps(self, model: BpeModel) -> PlainSteps | None:
        """Return the steps around the model in options, None if no options say the same."""
        file = self.file
        added = file.added_tokens or ()
        if any(token.single_word or token.lstrip or token.rstrip for token in added):
            return None
        if len({token.normalized for token in added}) > 1:
            return None  # they are looked for in two rounds
        try:
            steps = read_steps(file.normalizer, file.pre_tokenizer, file.post_processor)
        except NotSaidByOptions:
            return None
        if steps.normalize and any(token.normalized for token in added):
            return None
        if steps.removed is not None:
            is_simple = not (model.unk_token or model.end_of_word_suffix or model.continuing_subword_prefix)
            letters = [text for text in model.vocab if len(text) == 1]
            if not is_simple or model.byte_fallback or steps.removed != split_off_unknown(letters):
                return None
        return steps

    def _pipeline(self, tokenizer: Tokenizer, pipelines: _Pipelines, steps: PlainSteps | None) -> Pipeline:
        is_scanned = steps is not None and steps.is_scanned and steps.removed is None
        forms = () if steps is None else steps.normalize
        if not is_scanned or forms not in ((), ("NFC",)) or type(tokenizer.base) is not BaseVocabulary:
            return pipelines.steps
        always = frozenset(token.content for token in self.file.added_tokens or () if not token.special)
        plain = PlainPipeline(tokenizer.counting, tokenizer.special_ids, always)
        return GuardedPipeline(plain, pipelines.built, is_settled_nfc if forms else None)

    def view_only(self, kind: str, why: str) -> Tokenizer:
        """Read a model that the library runs as a whole.

        why: a BPE model's merges are not shown; empty for another model
        """
        file = self.file
        model = self.model(_Vocabulary)
        vocab = model.vocab if isinstance(model.vocab, dict) else {}
        if not isinstance(model.vocab, dict):
            for number, (text, _) in enumerate(model.vocab):
                vocab.setdefault(text, number)
        added = added_ids(file.added_tokens or [], vocab, len(model.vocab))
        unknown_id = vocab.get(model.unk_token or "", model.unk_id)
        by_id = {number: text for text, number in reversed(vocab.items())}
        unknown = None if unknown_id is None else by_id.get(unknown_id)
        tokenizer = tokens_only(vocab, added.ids, unknown)
        contents = _ContentOfIds(model, kind, by_id, added.ids)
        library = library_tokenizer(_to_run_whole(self.document, kind), self.source)
        tokenizer.pipeline = ModelPipeline(
            library, self.added_tokens(added.ids), contents.of, unknown_id if unknown else None, added.moved
        )
        tokenizer.kind = kind
        tokenizer.why_no_merges = (
            f"This BPE model cannot be shown merge by merge, as {why}: its tokens are those of the tokenizers library."
            if why
            else f"This is not BPE but {kind}: there are no merges to step, and its tokens are those of the tokenizers "
            "library."
        )
        tokenizer.text_of_ids = _TextOfIds(list(map(str.encode, vocab)), vocab, added.ids, _Known(library))
        tokenizer.renumbered = added.moved
        tokenizer.notes = (tokenizer.why_no_merges, *self._notes(model, added))
        tokenizer.is_told_by_options = False
        return tokenizer

    def added_tokens(self, ids: dict[str, int]) -> AddedTokens:
        """Return the added tokens as pipelines take them."""
        return AddedTokens(ids, frozenset(token.content for token in self.file.added_tokens or () if token.special))

    def _notes(self, model: BpeModel | _Vocabulary, added: AddedIds) -> list[str]:
        notes = list(added.notes)
        if self.file.truncation is not None or self.file.padding is not None:
            notes.append("The file asks for truncation or padding, which bpe-viz leaves out.")
        if isinstance(model, BpeModel) and model.dropout:
            notes.append(f"The file leaves out merges at random (dropout {model.dropout:g}), which bpe-viz does not.")
        if isinstance(model.vocab, dict) and (n := len(model.vocab) - len(set(model.vocab.values()))):
            notes.append(f"Tokens that share an id with another, and an id decodes to one of them: {n:,}.")
        return notes


def _counting(steps: PlainSteps | None, added: dict[str, int]) -> CountingOptions:
    if steps is None:
        return CountingOptions(special_tokens=tuple(added))
    return CountingOptions(
        pretokenizer=steps.pretokenizer,
        pattern=steps.pattern,
        normalize=steps.normalize,
        special_tokens=tuple(added),
    )


def _is_counted_by_options(steps: PlainSteps | None) -> bool:
    """Tell whether counting by options gives the pre-tokens of the file; the library's lower case is another."""
    return steps is not None and steps.is_scanned and steps.removed is None and "lowercase" not in steps.normalize


class _Pipelines:
    """Builds the library's steps of a file once, when they are needed."""

    def __init__(
        self,
        reading: _Reading,
        ids: dict[str, int],
        in_letters: bool,
        has_gaps: bool,
        is_counted_by_options: bool,
    ) -> None:
        self._is_counted_by_options = is_counted_by_options
        self._reading = reading
        self._has_gaps = has_gaps
        self._ids = ids
        self._letters = BYTE_OF_LETTER if in_letters else None

    def built(self) -> StepsPipeline:
        """Return the steps around the model."""
        return self.steps

    def library(self) -> Any:
        """Return the library's tokenizer of these steps."""
        return self.steps.library

    @cached_property
    def steps(self) -> StepsPipeline:
        """The steps around the model."""
        reading = self._reading
        parts = parse_json(reading.source, reading.document, _Parts, "tokenizer.json")
        written = {name: getattr(parts, name) for name in _Parts.__struct_fields__}
        if bytes(written["added_tokens"]) == b"null":
            del written["added_tokens"]
        if self._has_gaps:
            written["pre_tokenizer"] = without_last_step(reading.file.pre_tokenizer)
        written["post_processor"] = _untrimmed(reading.file.post_processor)
        document = msgspec.json.encode({"version": "1.0", **written, "model": BYTE_MODEL})
        file = reading.file
        joined = joined_steps(file.normalizer, file.pre_tokenizer, file.added_tokens or ())
        return StepsPipeline(
            document,
            reading.source,
            reading.added_tokens(self._ids),
            self._letters,
            None if self._has_gaps else joined,
            self._is_counted_by_options,
        )


@dataclass(frozen=True, slots=True)
class _Known:
    """A library's tokenizer that is there already. Not a closure: a tokenizer is to be sent between processes."""

    library: Any

    def __call__(self) -> Any:
        return self.library


class _TextOfIds:
    """Makes the text of ids as the library does, which leaves out ids that no token has; here they are marked."""

    def __init__(
        self, contents: Sequence[bytes], vocab: Mapping[str, int], added: dict[str, int], library: Callable[[], Any]
    ) -> None:
        """contents: the texts of `vocab` in UTF-8; library: returns the library's tokenizer when it is needed"""
        self._texts = b"".join(contents)
        self._end = np.cumsum(np.fromiter(map(len, contents), np.int64, len(contents)))
        self._place = NumberTable.first_places(np.fromiter(vocab.values(), np.int64, len(contents)))
        self._added = added
        self._library = library

    @cached_property
    def _added_text(self) -> dict[int, str]:
        there = added_texts(self._library())
        return {number: there.get(text, text) for text, number in reversed(self._added.items())}

    def _text(self, number: int) -> str:
        if number in self._added_text:
            return self._added_text[number]
        place = self._place.get(number)
        if place is None:
            return f"<no token {number}>"
        return self._texts[self._end[place - 1] if place else 0 : self._end[place]].decode()

    def __call__(self, ids: Sequence[int]) -> str:
        """Return the text of ids."""
        return decoded_by(self._library(), list(map(self._text, ids)))


class _ContentOfIds:
    """The bytes that tokens of a model stand for in a text, as the model sees it."""

    def __init__(self, model: _Vocabulary, kind: str, by_id: dict[int, str], added: dict[str, int]) -> None:
        self._prefix = (model.continuing_subword_prefix or "") if kind == "WordPiece" else ""
        self._falls_apart = model.byte_fallback
        self._text = by_id | {number: text for text, number in added.items()}

    def of(self, token_id: int) -> bytes:
        """Return the bytes of a token: without the sign that it goes on within a word; the byte of <0xNN>."""
        text = self._text[token_id]
        if self._falls_apart and text in BYTE_MODEL["vocab"]:
            return bytes([BYTE_MODEL["vocab"][text]])
        return (text.removeprefix(self._prefix) or text).encode()


def _to_run_whole(document: bytes, kind: str) -> bytes:
    """Return a tokenizer.json whose model leaves no merges out, and whose offsets are where tokens are."""
    whole = msgspec.json.decode(document)
    whole["post_processor"] = _untrimmed(whole.get("post_processor"))
    if kind == "BPE":
        whole["model"]["dropout"] = None
    return msgspec.json.encode(whole)


def _untrimmed(step: Any) -> Any:
    """Return a post-processor that does not move the offsets of tokens behind white space that is theirs."""
    if isinstance(step, dict):
        return {key: False if key == "trim_offsets" else _untrimmed(value) for key, value in step.items()}
    return [_untrimmed(one) for one in step] if isinstance(step, list) else step
