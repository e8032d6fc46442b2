"""The BPE model of a tokenizer.json in symbols: vocabulary, merges and how letters are looked up, as the library does.

Source: huggingface/tokenizers, models/bpe/model.rs.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from bpe_viz.engine.boundaries import BoundaryRanks
from bpe_viz.engine.listed_ranks import ListedRanks
from bpe_viz.engine.merge_ranks import MergeRanks, MergeSource
from bpe_viz.engine.model_base import FirstSymbols, ModelBase
from bpe_viz.engine.symbols import GAP, BaseVocabulary, SymbolTable
from bpe_viz.engine.types import DEFAULT_MARKER, Base, EndOfWord
from bpe_viz.formats._bpe_lines import Lines, Numbers, merge_lines
from bpe_viz.formats._reading import LARGEST_ID
from bpe_viz.formats._stand_ins import LETTER_OF_BYTE

Id = Annotated[int, msgspec.Meta(ge=0, le=LARGEST_ID)]

BYTE_OF_LETTER = {letter: bytes([byte]) for byte, letter in enumerate(LETTER_OF_BYTE)}
_IN_LETTERS = re.compile(f"[{re.escape(''.join(LETTER_OF_BYTE))}]*")
_TO_BYTES = {ord(letter): byte for byte, letter in enumerate(LETTER_OF_BYTE)}


class BpeModel(msgspec.Struct):
    """`model` of a tokenizer.json, as it is written."""

    vocab: dict[str, Id]
    merges: msgspec.Raw
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
    place: str,
    model: BpeModel,
    contents: Sequence[bytes],
    letters_are_bytes: bool,
    added: Collection[str],
    has_gaps: bool = False,
) -> BpeSymbols:
    """Write a model in symbols.

    place: of the model in the file, for errors
    contents: the tokens of its vocabulary in UTF-8
    letters_are_bytes: the steps before the model write a letter for each byte
    added: the tokens that the file adds, which need no merge
    has_gaps: letters that the vocabulary lacks are gaps, which part their neighbours: the file removes them before
    Raises FormatError for a list that the library refuses, NotSteppedError.
    """
    suffix = model.end_of_word_suffix or ""
    tokens, prefix = list(model.vocab), model.continuing_subword_prefix or ""
    lines = merge_lines(f"{place}.merges", bytes(model.merges), tokens, contents, prefix)
    _refuse_shared_ids(model, tokens, lines)
    base, base_texts = _base(model, tokens, lines, letters_are_bytes, has_gaps)
    numbering = _numbering(tokens, base_texts, lines)
    n_base, n_lines = len(base), len(lines.made)
    notes: list[str] = []
    unmade = numbering.unmade
    if model.ignore_merges:
        _check_wholes(model, base)
        # Behind the others, so that a base symbol of several letters can be taken whole.
        several = [number for number in numbering.base.tolist() if len(tokens[number]) > 1]
        unmade = np.concatenate((unmade, np.array(several, dtype=np.int64)))
    elif unused := len({tokens[number] for number in unmade.tolist()} - {model.unk_token}.union(added)):
        notes.append(f"Tokens of the vocabulary that no merge makes, so no text ever encodes to them: {unused:,}.")
    left, right, first = (numbering.symbol_of[column].astype(np.int32) for column in lines)
    token_of = np.concatenate((numbering.base, lines.made, unmade))
    ends = np.zeros(len(token_of), dtype=np.uint8)
    ends[:n_base] = base.ends_word
    for rank, symbol in enumerate(right.tolist() if ends.any() else ()):
        ends[n_base + rank] = ends[symbol]
    if letters_are_bytes:
        contents = _contents(tokens, letters_are_bytes)
    labels = list(map(contents.__getitem__, token_of.tolist()))
    if letters_are_bytes and suffix:
        labels = _labels([tokens[number] for number in token_of.tolist()], ends.tolist(), suffix)
    following = np.arange(n_base, n_base + n_lines)
    source: MergeSource
    # Lines that each make a token of their own join pairs of their own.
    is_trained = np.array_equal(first, following) and bool((np.maximum(left, right) < following).all())
    if is_trained and not model.ignore_merges:
        source = MergeRanks(n_base, zip(left.tolist(), right.tolist(), strict=True))
    else:
        wholes = _wholes(tokens, contents, token_of[n_base:], letters_are_bytes) if model.ignore_merges else None
        listed_ranks = ListedRanks(n_base, left, right, first, wholes)
        source = listed_ranks
        notes += _list_notes(listed_ranks, first)
    starts = np.concatenate(([0], np.cumsum(np.fromiter(map(len, labels), np.int64, len(labels)))))
    text = np.frombuffer(b"".join(labels), np.uint8)
    ids = np.fromiter(model.vocab.values(), np.int64, len(tokens))
    return BpeSymbols(
        symbols=SymbolTable(base, text, starts, ends, len(token_of), len(unmade)),
        boundaries=BoundaryRanks(base, source),
        ids=ids[token_of],
        unknown=model.unk_token if model.unk_token in model.vocab else None,
        is_ordinary=isinstance(source, MergeRanks) and (not isinstance(base, ModelBase) or base.lookup.is_simple),
        notes=tuple(notes),
    )


class _Numbering(NamedTuple):
    """Tokens and symbols, tokens by their place in the vocabulary.

    base: (base symbols,) int64, their tokens; unmade: the tokens that no line makes, ascending
    symbol_of: (tokens,) int64, the first symbol of each token: base symbols, then lines, then those
    """

    base: Numbers
    unmade: Numbers
    symbol_of: Numbers


def _numbering(tokens: Sequence[str], base_texts: Sequence[str], lines: Lines) -> _Numbering:
    number_of = dict(zip(tokens, range(len(tokens)), strict=True))
    base = np.array([number_of[text] for text in base_texts], dtype=np.int64)
    n_base, n_lines = len(base), len(lines.made)
    symbol_of = np.full(len(tokens), -1, dtype=np.int64)
    # Of several values for one place the last stays: the first line that makes a token.
    symbol_of[lines.made[::-1]] = np.arange(n_base + n_lines - 1, n_base - 1, -1)
    symbol_of[base] = np.arange(n_base)
    unmade = np.flatnonzero(symbol_of < 0)
    symbol_of[unmade] = n_base + n_lines + np.arange(len(unmade))
    return _Numbering(base, unmade, symbol_of)


def _refuse_shared_ids(model: BpeModel, tokens: Sequence[str], lines: Lines) -> None:
    """Refuse to step where two tokens of one id take part in merges: the library merges ids and not texts."""
    if len(set(model.vocab.values())) == len(model.vocab):
        return
    in_merges = {tokens[number] for number in np.unique(np.concatenate(lines)).tolist()}
    seen: dict[int, str] = {}
    for text, number in model.vocab.items():
        other = seen.setdefault(number, text)
        if other != text and not in_merges.isdisjoint((text, other)):
            raise NotSteppedError(
                f"its tokens {other!r} and {text!r}, which take part in merges, share the id {number}"
            )


def _base(
    model: BpeModel, tokens: Sequence[str], lines: Lines, letters_are_bytes: bool, has_gaps: bool
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
    unknown_number = tokens.index(unknown) if unknown in vocab else -1
    merges_unknown = bool((lines.left == unknown_number).any() or (lines.right == unknown_number).any())
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

    tables = {
        around: {letter: symbol_of[text] for letter, text in table.items()} for around, table in looked_up.items()
    }
    lookup = FirstSymbols(
        only=tables["", suffix],
        first=tables["", ""],
        inner=tables[prefix, ""],
        last=tables[prefix, suffix],
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


def _wholes(
    tokens: Sequence[str], contents: Sequence[bytes], token_of: Numbers, letters_are_bytes: bool
) -> dict[bytes, int]:
    """Return the symbols of pre-tokens that are taken whole, base symbols not counted: the first of each token.

    contents: the bytes that each token stands for; token_of: the token of each of these symbols
    """
    first = np.full(len(tokens), -1, dtype=np.int64)
    first[token_of[::-1]] = np.arange(len(token_of) - 1, -1, -1)
    return {
        content: number
        for text, content, number in zip(tokens, contents, first.tolist(), strict=True)
        if number >= 0 and (not letters_are_bytes or _IN_LETTERS.fullmatch(text))
    }


def _labels(texts: Sequence[str], ends: Sequence[int], suffix: str) -> list[bytes]:
    """Return the bytes of tokens in letters for bytes, and behind those of a word's end the suffix as it is written."""
    bodies = [text.removesuffix(suffix) if is_end else text for text, is_end in zip(texts, ends, strict=True)]
    after = suffix.encode()
    contents = _contents(bodies, letters_are_bytes=True)
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
    n_again = len(first) - np.count_nonzero(np.bincount(first)) - ranks.n_repeated
    if n_again:
        yield f"Merges that make a token which another merge makes too: {n_again:,}."
