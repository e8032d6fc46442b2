"""The BPE model of a tokenizer.json in symbols: vocabulary, merges and how letters are looked up, as the library does.

Source: huggingface/tokenizers, models/bpe/model.rs.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, starmap
from operator import add, itemgetter
from typing import Annotated, cast

import msgspec
import numpy as np
from numpy.typing import NDArray

from bpe_viz.engine.boundaries import BoundaryRanks
from bpe_viz.engine.merge_ranks import ListedRanks, MergeRanks, MergeSource
from bpe_viz.engine.model_base import FirstSymbols, ModelBase
from bpe_viz.engine.symbols import GAP, BaseVocabulary, SymbolTable
from bpe_viz.engine.types import DEFAULT_MARKER, Base, EndOfWord
from bpe_viz.errors import FormatError
from bpe_viz.formats._reading import AGAIN, LARGEST_ID
from bpe_viz.formats._stand_ins import LETTER_OF_BYTE

Id = Annotated[int, msgspec.Meta(ge=0, le=LARGEST_ID)]

BYTE_OF_LETTER = {letter: bytes([byte]) for byte, letter in enumerate(LETTER_OF_BYTE)}
_IN_LETTERS = re.compile(f"[{re.escape(''.join(LETTER_OF_BYTE))}]*")
_TO_BYTES = {ord(letter): byte for byte, letter in enumerate(LETTER_OF_BYTE)}


class BpeModel(msgspec.Struct):
    """`model` of a tokenizer.json, as it is written."""

    vocab: dict[str, Id]
    merges: list[str | tuple[str, str]]
    unk_token: str | None = None
    dropout: float | None = None
    continuing_subword_prefix: str | None = None
    end_of_word_suffix: str | None = None
    fuse_unk: bool = False
    byte_fallback: bool = False
    ignore_merges: bool = False


class NotSteppedError(Exception):
    """The library's result at the end of the list cannot be shown merge by merge; says why."""


@dataclass(frozen=True, slots=True)
class BpeSymbols:
    """A model in symbols.

    symbols, boundaries: as Tokenizer takes them
    ids: (symbols,) int64
    unknown: the unknown token, if a text may become it
    is_ordinary: a list as training makes it, of letters that are looked up as they are
    notes: what is out of the ordinary
    """

    symbols: SymbolTable
    boundaries: BoundaryRanks[MergeSource]
    ids: NDArray[np.int64]
    unknown: str | None
    is_ordinary: bool
    notes: tuple[str, ...]


def bpe_symbols(
    place: str, model: BpeModel, letters_are_bytes: bool, added: Collection[str], has_gaps: bool = False
) -> BpeSymbols:
    """Write a model in symbols.

    place: of the model in the file, for errors
    letters_are_bytes: the steps before the model write a letter for each byte
    added: the tokens that the file adds, which need no merge
    has_gaps: letters that the vocabulary lacks are gaps, which part their neighbours: the file removes them before
    Raises FormatError for a list that the library refuses, NotSteppedError.
    """
    listed = _lines(f"{place}.merges", model)
    made = _made(model, listed)
    if not model.vocab.keys() >= set(made):
        _refuse_lacking(f"{place}.merges", model.vocab, listed, made)
    _refuse_shared_ids(model, listed, made)
    base, texts = _base(model, listed, letters_are_bytes, has_gaps)
    n_base = len(texts)
    symbol_of = dict(zip(reversed(made), range(n_base + len(made) - 1, n_base - 1, -1), strict=True))
    symbol_of.update({text: symbol for symbol, text in enumerate(texts)})
    unmade = [text for text in model.vocab if text not in symbol_of]
    symbol_of.update({text: n_base + len(made) + number for number, text in enumerate(unmade)})
    # map runs in C: lists of half a million lines are opened in the time that a person waits.
    try:
        left, right, first = (
            np.fromiter(map(symbol_of.__getitem__, names), np.int32, len(made))
            for names in (map(itemgetter(0), listed), map(itemgetter(1), listed), made)
        )
    except KeyError:
        _refuse_lacking(f"{place}.merges", model.vocab, listed, made)
        raise
    notes: list[str] = []
    if model.ignore_merges:
        _check_wholes(model, base)
        # Behind the others, so that a base symbol of several letters can be taken whole.
        unmade += [text for text in texts if len(text) > 1]
    elif unused := len(set(unmade) - {model.unk_token}.union(added)):
        notes.append(f"Tokens of the vocabulary that no merge makes, so no text ever encodes to them: {unused:,}.")
    texts = [*texts, *made, *unmade]
    ends = np.zeros(len(texts), dtype=np.uint8)
    ends[:n_base] = base.ends_word
    for rank, symbol in enumerate(right.tolist() if ends.any() else ()):
        ends[n_base + rank] = ends[symbol]
    labels = _labels(texts, ends.tolist(), model.end_of_word_suffix or "", letters_are_bytes)
    source: MergeSource
    is_first = np.array_equal(first, np.arange(n_base, n_base + len(made)))
    goes_on = bool((np.maximum(left, right) < np.arange(n_base, n_base + len(made))).all())
    if is_first and goes_on and not model.ignore_merges and len(set(listed)) == len(listed):
        source = MergeRanks(n_base, zip(left.tolist(), right.tolist(), strict=True))
    else:
        wholes = _wholes(texts, labels, n_base, letters_are_bytes) if model.ignore_merges else None
        listed_ranks = ListedRanks(n_base, left, right, first, wholes)
        source = listed_ranks
        notes += _list_notes(listed_ranks, first)
    starts = np.concatenate(([0], np.cumsum([len(label) for label in labels], dtype=np.int64)))
    table = SymbolTable(
        base, np.frombuffer(b"".join(labels), np.uint8), starts, ends, len(texts), len(texts) - n_base - len(made)
    )
    return BpeSymbols(
        symbols=table,
        boundaries=BoundaryRanks(base, source),
        ids=np.fromiter(map(model.vocab.__getitem__, texts), np.int64, len(texts)),
        unknown=model.unk_token if model.unk_token in model.vocab else None,
        is_ordinary=isinstance(source, MergeRanks) and (not isinstance(base, ModelBase) or base.lookup.is_simple),
        notes=tuple(notes),
    )


def _lines(place: str, model: BpeModel) -> list[tuple[str, str]]:
    """Return the lines of the merge list, a header left out. Raises FormatError for one that is no pair."""
    found: list[tuple[str, str]] = []
    if set(map(type, model.merges)) <= {tuple}:
        found = cast(list[tuple[str, str]], model.merges)
        if all(chain.from_iterable(found)):
            return found
        found = []
    for number, merge in enumerate(model.merges):
        if isinstance(merge, str):
            if merge.startswith("#version"):
                continue
            left, _, right = merge.partition(" ")
            merge = (left, "" if " " in right else right)
        if not merge[0] or not merge[1]:
            raise FormatError(f"{place}[{number}] is {model.merges[number]!r}, which is no pair of tokens.", AGAIN)
        found.append(merge)
    return found


def _made(model: BpeModel, listed: Sequence[tuple[str, str]]) -> list[str]:
    """Return what each line makes."""
    prefix = (model.continuing_subword_prefix or "").encode()
    made = list(starmap(add, listed))
    if prefix:
        # The library cuts as many bytes as the prefix has, whatever they are.
        made = [left + right.encode()[len(prefix) :].decode(errors="replace") for left, right in listed]
    return made


def _refuse_lacking(
    place: str, vocab: Mapping[str, int], listed: Iterable[tuple[str, str]], made: Iterable[str]
) -> None:
    """Raise FormatError for the first line with a token that the vocabulary lacks."""
    for number, ((left, right), text) in enumerate(zip(listed, made, strict=True)):
        lacking = next((one for one in (left, right, text) if one not in vocab), None)
        if lacking is not None:
            verb = "makes" if lacking == text else "names"
            raise FormatError(f"{place}[{number}] {verb} {lacking!r}, which model.vocab lacks.", AGAIN)


def _refuse_shared_ids(model: BpeModel, listed: Iterable[tuple[str, str]], made: Iterable[str]) -> None:
    """Refuse to step where two tokens of one id take part in merges: the library merges ids and not texts."""
    if len(set(model.vocab.values())) == len(model.vocab):
        return
    in_merges = {text for pair in listed for text in pair}.union(made)
    seen: dict[int, str] = {}
    for text, number in model.vocab.items():
        other = seen.setdefault(number, text)
        if other != text and not in_merges.isdisjoint((text, other)):
            raise NotSteppedError(
                f"its tokens {other!r} and {text!r}, which take part in merges, share the id {number}"
            )


def _base(
    model: BpeModel, listed: Iterable[tuple[str, str]], letters_are_bytes: bool, has_gaps: bool
) -> tuple[BaseVocabulary, list[str]]:
    """Return the base symbols, and how the file writes each."""
    vocab = model.vocab
    prefix, suffix = model.continuing_subword_prefix or "", model.end_of_word_suffix or ""
    kind: Base = "bytes" if letters_are_bytes else "characters"
    end_of_word: EndOfWord = "glued" if suffix else "none"
    marker = suffix or DEFAULT_MARKER
    if letters_are_bytes and not prefix:
        forms = [(letter + end, end != "") for end in dict.fromkeys(("", suffix)) for letter in LETTER_OF_BYTE]
        if all(text in vocab for text, _ in forms):
            ends = tuple(is_end for _, is_end in forms)
            contents = tuple(BYTE_OF_LETTER[text[0]] for text, _ in forms)
            return BaseVocabulary(kind, end_of_word, marker, contents, ends), [text for text, _ in forms]
    unknown = model.unk_token
    merges_unknown = any(unknown in pair for pair in listed)
    # The letter of an unknown token of one letter need not be looked up: it is the same token as an unknown one.
    is_one_by_one = not (model.fuse_unk or model.byte_fallback or merges_unknown)
    looked_up = _looked_up(vocab, prefix, suffix, letters_are_bytes, unknown if is_one_by_one else None)
    letters = {text for table in looked_up.values() for text in table.values()}
    # The order in which a training numbers them, so that a file written here is read as it was.
    ending = {text for (_, end), table in looked_up.items() if end for text in table.values()}
    texts = sorted(letters, key=lambda text: (text, text in ending))
    of_byte = {byte: text for byte in range(256) if (text := f"<0x{byte:02X}>") in vocab} if model.byte_fallback else {}
    texts += [text for text in of_byte.values() if text not in letters]
    if of_byte and letters_are_bytes:
        raise NotSteppedError("letters that stand for bytes and are no tokens fall apart into bytes of their own")
    needed = range(256) if prefix or suffix else _needed_bytes(vocab)
    if of_byte and unknown is not None and not of_byte.keys() >= set(needed):
        raise NotSteppedError(f"only {len(of_byte)} of the 256 bytes are tokens, and the library moves unknown tokens")
    if unknown is not None and merges_unknown and unknown not in texts:
        texts.append(unknown)
    symbol_of = {text: symbol for symbol, text in enumerate(texts)}

    def table(before: str, after: str) -> dict[bytes, int]:
        return {letter: symbol_of[text] for letter, text in looked_up[before, after].items()}

    lookup = FirstSymbols(
        only=table("", suffix),
        first=table("", ""),
        inner=table(prefix, ""),
        last=table(prefix, suffix),
        of_byte={byte: symbol_of[text] for byte, text in of_byte.items()} or None,
        before=prefix.encode(),
        after=suffix.encode(),
        unknown=symbol_of.get(unknown or "", GAP) if unknown in vocab or has_gaps else None,
        fuses=model.fuse_unk,
        lacking=unknown if unknown not in vocab else None,
    )
    ends_word = tuple(text in ending for text in texts)
    bodies = _contents(
        [text.removesuffix(suffix) if is_end else text for text, is_end in zip(texts, ends_word, strict=True)],
        letters_are_bytes,
    )
    return ModelBase(kind, end_of_word, marker, tuple(bodies), ends_word, lookup), texts


def _needed_bytes(vocab: Collection[str]) -> set[int]:
    """Return the bytes of UTF-8 that a character may fall apart into: of ASCII those that are no token themselves."""
    return {byte for byte in range(0xF5) if byte not in (0xC0, 0xC1) and (byte >= 0x80 or chr(byte) not in vocab)}


def _looked_up(
    vocab: Mapping[str, int], prefix: str, suffix: str, letters_are_bytes: bool, left_out: str | None
) -> dict[tuple[str, str], dict[bytes, str]]:
    """Return for each prefix and suffix that a letter may be looked up with: the letter as bytes -> the token."""
    found: dict[tuple[str, str], dict[bytes, str]] = {
        (before, after): {} for before in ("", prefix) for after in ("", suffix)
    }
    longest = len(prefix) + 1 + len(suffix)
    for text in vocab:
        if len(text) > longest or text == left_out:
            continue
        for (before, after), table in found.items():
            if len(text) == len(before) + 1 + len(after) and text.startswith(before) and text.endswith(after):
                letter = text[len(before)]
                content = BYTE_OF_LETTER.get(letter) if letters_are_bytes else letter.encode()
                if content is not None:
                    table[content] = text
    return found


def _check_wholes(model: BpeModel, base: BaseVocabulary) -> None:
    """Refuse to step where a pre-token may be taken whole that fewer than two symbols begin."""
    if model.end_of_word_suffix:
        raise NotSteppedError("whole pre-tokens are looked up without the suffix that ends words")
    if not isinstance(base, ModelBase):
        return
    if base.lookup.lacking is not None:
        raise NotSteppedError(f"whole pre-tokens are looked up, and the unknown token {base.lookup.lacking!r} is none")
    for text, content in zip(model.vocab, _contents(list(model.vocab), base.base == "bytes"), strict=True):
        if len(text) > 1 and len(base.start(content)[0]) < 2:
            raise NotSteppedError(f"the pre-token {text!r} is looked up whole, and its letters are no tokens")


def _wholes(texts: Sequence[str], labels: Sequence[bytes], n_base: int, letters_are_bytes: bool) -> dict[bytes, int]:
    """Return the symbols of pre-tokens that are taken whole, base symbols not counted: the first of each token."""
    found: dict[bytes, int] = {}
    for number in range(len(texts) - n_base - 1, -1, -1):
        text = texts[n_base + number]
        if not letters_are_bytes or BYTE_OF_LETTER.keys() >= set(text):
            found[labels[n_base + number]] = number
    return found


def _labels(texts: Sequence[str], ends: Sequence[int], suffix: str, letters_are_bytes: bool) -> list[bytes]:
    """Return the bytes of tokens, and behind those of a word's end the suffix as it is written."""
    if not letters_are_bytes or not suffix:
        return _contents(texts, letters_are_bytes)
    bodies = [text.removesuffix(suffix) if is_end else text for text, is_end in zip(texts, ends, strict=True)]
    after = suffix.encode()
    contents = _contents(bodies, letters_are_bytes)
    return [content + after if is_end else content for content, is_end in zip(contents, ends, strict=True)]


def _contents(texts: Sequence[str], letters_are_bytes: bool) -> list[bytes]:
    """Return the bytes of tokens; those that are not written in letters for bytes are taken as they are."""
    if not letters_are_bytes:
        return [text.encode() for text in texts]
    return [
        text.translate(_TO_BYTES).encode("latin-1") if _IN_LETTERS.fullmatch(text) else text.encode() for text in texts
    ]


def _list_notes(ranks: ListedRanks, first: NDArray[np.int32]) -> Iterator[str]:
    if ranks.n_repeated:
        yield f"Merges that are listed again, whose last place counts, as in the library: {ranks.n_repeated:,}."
    n_again = len(first) - len(np.unique(first)) - ranks.n_repeated
    if n_again:
        yield f"Merges that make a token which another merge makes too: {n_again:,}."
