"""Read a tokenizer.json into a tokenizer that encodes every text with the ids that the `tokenizers` library
gives.

What bpe_viz would do differently is refused by name: a file is read exactly or not at all.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, NoReturn

import msgspec
import numpy as np

from bpe_viz.engine.symbols import BaseVocabulary
from bpe_viz.engine.tokenizer import Tokenizer
from bpe_viz.engine.types import DEFAULT_MARKER, CountingOptions, Pair
from bpe_viz.errors import FormatError
from bpe_viz.formats._reading import read_whole, without_bom
from bpe_viz.formats._stand_ins import LETTER_OF_BYTE
from bpe_viz.formats._tokenizer_json_pipeline import Field, Pipeline, read_pipeline
from bpe_viz.formats._tokenizer_json_writing import split_off_unknown

_Id = Annotated[int, msgspec.Meta(ge=0, lt=2**32)]


class _AddedToken(msgspec.Struct):
    id: _Id
    content: str
    single_word: bool = False
    lstrip: bool = False
    rstrip: bool = False
    normalized: bool = False


class _File(msgspec.Struct):
    model: msgspec.Raw
    added_tokens: list[_AddedToken] | None = None
    normalizer: dict[str, Any] | None = None
    pre_tokenizer: dict[str, Any] | None = None
    post_processor: dict[str, Any] | None = None
    decoder: dict[str, Any] | None = None
    truncation: dict[str, Any] | None = None
    padding: dict[str, Any] | None = None


class _ModelType(msgspec.Struct):
    type: str | None = None


class _Bpe(msgspec.Struct):
    vocab: dict[str, _Id]
    merges: list[str | list[str]]
    unk_token: str | None = None
    dropout: float | None = None
    continuing_subword_prefix: str | None = None
    end_of_word_suffix: str | None = None
    fuse_unk: bool = False
    byte_fallback: bool = False
    ignore_merges: bool = False


def load(path: Path) -> Tokenizer:
    """Read a tokenizer.json. Raises FormatError that names the field if it cannot be read exactly."""
    file, model = _parse(path)
    pipeline = read_pipeline(path, file.normalizer, file.pre_tokenizer, file.post_processor, file.decoder)
    _check_model(Field(path, "model"), model, pipeline)
    base = _base_vocabulary(Field(path, "model.vocab"), model, pipeline)
    merges = _Merges(Field(path, "model.merges"), model, base, pipeline.is_byte_level)
    _check_removed_letters(Field(path, "pre_tokenizer"), base, pipeline)
    added, notes = _added_tokens(path, file.added_tokens or [], model, pipeline)
    unknown_id = {} if model.unk_token is None else {model.unk_token: model.vocab[model.unk_token]}
    special_ids = {**unknown_id, **added}
    tokenizer = Tokenizer.from_merges(
        base,
        merges.pairs,
        CountingOptions(
            pretokenizer=pipeline.pretokenizer,
            pattern=pipeline.pattern,
            normalize=pipeline.normalize,
            special_tokens=tuple(added),
        ),
        unknown=model.unk_token,
        ids=np.array([model.vocab[text] for text in merges.texts], dtype=np.int64),
        special_ids=special_ids,
        name=path.name,
    )
    tokenizer.refuses_gaps = not pipeline.is_byte_level and model.unk_token is None and file.pre_tokenizer is None
    tokenizer.notes = (*pipeline.notes, *notes, *_notes(file, model, pipeline, merges, special_ids))
    return tokenizer


def _parse(path: Path) -> tuple[_File, _Bpe]:
    data = without_bom(read_whole(path))
    field = ""
    try:
        file = msgspec.json.decode(data, type=_File)
        field = " in model"
        kind = msgspec.json.decode(file.model, type=_ModelType).type
        if kind not in (None, "BPE"):
            Field(path, "model.type").refuse(f"is {kind!r}, and bpe_viz steps through BPE only")
        return file, msgspec.json.decode(file.model, type=_Bpe)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise FormatError(
            f"{path} is no whole tokenizer.json{field}: {error}.", "Download or save it again."
        ) from error


def _check_model(field: Field, model: _Bpe, pipeline: Pipeline) -> None:
    """Refuse what changes how the model encodes."""
    if model.ignore_merges:
        field.at("ignore_merges").refuse("is true, so whole pre-tokens are looked up before any merge")
    if model.byte_fallback:
        field.at("byte_fallback").refuse("is true, so letters fall apart into tokens such as <0x0A>")
    if model.dropout:
        field.at("dropout").refuse(f"is {model.dropout}, so merges are left out at random")
    if model.continuing_subword_prefix:
        field.at("continuing_subword_prefix").refuse(f"is {model.continuing_subword_prefix!r}")
    if pipeline.is_byte_level:
        if model.unk_token is not None and model.unk_token not in model.vocab:
            model.unk_token = None  # no byte is ever unknown
        return
    if model.unk_token is not None and model.unk_token not in model.vocab:
        field.at("unk_token").refuse(f"is {model.unk_token!r}, which model.vocab lacks")
    if model.unk_token is not None and model.fuse_unk:
        field.at("fuse_unk").refuse("is true, so unknown letters in a row become one token")


def _base_vocabulary(field: Field, model: _Bpe, pipeline: Pipeline) -> BaseVocabulary:
    """Return the tokens of one letter, the suffix not counted."""
    suffix = model.end_of_word_suffix or ""
    if pipeline.is_byte_level:
        wanted = [letter + end for end in {"", suffix} for letter in LETTER_OF_BYTE]
        lacking = [text for text in wanted if text not in model.vocab]
        if lacking:
            field.refuse(f"lacks {len(lacking)} of the letters that stand for bytes, {lacking[0]!r} for one")
        letters = [(bytes([byte]), False) for byte in range(256)]
        letters += [(bytes([byte]), True) for byte in range(256 if suffix else 0)]
    else:
        texts = [text for text in model.vocab if text != model.unk_token]
        found = [(text, False) for text in texts if len(text) == 1]
        if suffix:
            found += [(text[:1], True) for text in texts if len(text) == 1 + len(suffix) and text.endswith(suffix)]
        # The order in which a training numbers them, so that a file written here is read as it was.
        found.sort(key=lambda letter: (letter[0] + (suffix if letter[1] else ""), letter[1]))
        letters = [(text.encode(), ends) for text, ends in found]
    return BaseVocabulary(
        "bytes" if pipeline.is_byte_level else "characters",
        "glued" if suffix else "none",
        suffix or DEFAULT_MARKER,
        tuple(content for content, _ in letters),
        tuple(ends for _, ends in letters),
    )


class _Merges:
    """The merge list in symbols.

    pairs: in rank order; texts: of every symbol, as the file writes it; n_repeated: pairs that were listed
    again
    """

    def __init__(self, field: Field, model: _Bpe, base: BaseVocabulary, is_byte_level: bool) -> None:
        self._field = field
        self.texts = _written(base, is_byte_level)
        self.pairs: list[Pair] = []
        listed = [self._pair_of(rank, merge) for rank, merge in enumerate(model.merges)]
        # The library keeps the last rank of a pair that is listed twice.
        last_rank = {pair: rank for rank, pair in enumerate(listed)}
        self.n_repeated = len(listed) - len(last_rank)
        symbol_of = {text: symbol for symbol, text in enumerate(self.texts)}
        made_twice: dict[str, int] = {}
        for rank, (left, right) in enumerate(listed):
            if last_rank[left, right] != rank:
                continue
            for text in (left, right):
                if text not in symbol_of:
                    self._refuse_part(rank, text, model)
            made = left + right
            if made not in model.vocab:
                field.at(rank).refuse(f"makes {made!r}, which model.vocab lacks")
            if made in symbol_of:
                made_twice.setdefault(made, rank)
            self.pairs.append(Pair(symbol_of[left], symbol_of[right]))
            symbol_of.setdefault(made, len(self.texts))
            self.texts.append(made)
        # A token that two merges make is two symbols here: the same, as long as nothing goes on from it.
        for rank, (left, right) in enumerate(listed):
            for text in {left, right} & made_twice.keys():
                field.at(rank).refuse(f"goes on from {text!r}, which merge {made_twice[text]} makes a second time")

    def _pair_of(self, rank: int, merge: str | list[str]) -> tuple[str, str]:
        parts = merge.split(" ") if isinstance(merge, str) else merge
        if len(parts) != 2 or not all(parts):
            raise FormatError(
                f"{self._field.at(rank)} is {merge!r}, which is no pair of tokens.",
                "Download or save it again.",
            )
        return parts[0], parts[1]

    def _refuse_part(self, rank: int, text: str, model: _Bpe) -> NoReturn:
        if text not in model.vocab:
            self._field.at(rank).refuse(f"names {text!r}, which model.vocab lacks")
        self._field.at(rank).refuse(f"names {text!r}, which no merge before it makes")


def _written(base: BaseVocabulary, is_byte_level: bool) -> list[str]:
    """Return how the file writes each base symbol."""
    return [
        (LETTER_OF_BYTE[content[0]] if is_byte_level else content.decode()) + (base.marker if ends else "")
        for content, ends in zip(base.content, base.ends_word, strict=True)
    ]


def _check_removed_letters(field: Field, base: BaseVocabulary, pipeline: Pipeline) -> None:
    """Accept the step that removes letters only if it removes just those that the base lacks."""
    if pipeline.removed is None:
        return
    expected = split_off_unknown([content.decode() for content in base.content])
    if base.base != "characters" or base.end_of_word != "none" or pipeline.removed != expected:
        field.refuse("has a second Split")


def _added_tokens(
    path: Path, added: Iterable[_AddedToken], model: _Bpe, pipeline: Pipeline
) -> tuple[dict[str, int], list[str]]:
    """Return the ids of added tokens by text, and notes."""
    ids: dict[str, int] = {}
    normalized: set[bool] = set()
    moved = []
    taken = set(model.vocab.values())
    next_id = len(model.vocab)  # that the library would give
    for number, token in enumerate(added):
        field = Field(path, "added_tokens").at(number)
        for flag in ("single_word", "lstrip", "rstrip"):
            if getattr(token, flag):
                field.at(flag).refuse(f"of {token.content!r} is true")
        if not token.content:
            field.at("content").refuse("is empty")
        if token.normalized and pipeline.normalize:
            field.at("normalized").refuse(f"of {token.content!r} is true, so it is looked for in normalized text")
        normalized.add(token.normalized)
        known = model.vocab.get(token.content)
        if known is not None and known != token.id:
            field.at("id").refuse(f"of {token.content!r} is {token.id}, but model.vocab says {known}")
        is_first = token.content not in ids
        if ids.setdefault(token.content, token.id) != token.id:
            field.at("id").refuse(f"of {token.content!r} is {token.id}, but it was {ids[token.content]} before")
        if known is None and token.id in taken:
            field.at("id").refuse(f"of {token.content!r} is {token.id}, which another token of model.vocab has")
        if known is None and is_first:
            if token.id != next_id:
                moved.append(token.content)
            next_id += 1
    if len(normalized) > 1:
        Field(path, "added_tokens").refuse("are partly normalized, so they are looked for in two rounds")
    notes = []
    if moved:
        notes.append(
            f"The tokenizers library would give other ids to added tokens that model.vocab lacks, such as "
            f"{moved[0]!r}; bpe_viz keeps those of the file. There are {len(moved):,}."
        )
    return ids, notes


def _notes(file: _File, model: _Bpe, pipeline: Pipeline, merges: _Merges, special_ids: dict[str, int]) -> Iterable[str]:
    if file.truncation is not None or file.padding is not None:
        yield "The file asks for truncation or padding, which bpe_viz leaves out."
    if merges.n_repeated:
        yield f"Merges that are listed again, whose last place counts, as in the library: {merges.n_repeated:,}."
    if (
        file.pre_tokenizer is not None
        and not pipeline.is_byte_level
        and model.unk_token is None
        and pipeline.removed is None
    ):
        yield (
            "There is no unknown token: a letter that the vocabulary lacks is a gap here, while the "
            "tokenizers library leaves it out and joins its neighbours."
        )
    unused = len(model.vocab.keys() - set(merges.texts) - special_ids.keys())
    if unused:
        yield f"Tokens of the vocabulary that no merge makes, so no text ever encodes to them: {unused:,}."
    n_ids = len(set(model.vocab.values()))
    if n_ids < len(model.vocab):
        yield f"Tokens that share an id with another, and an id decodes to one of them: {len(model.vocab) - n_ids:,}."
