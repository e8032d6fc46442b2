"""Codes of subword-nmt, and of fastBPE, which adds a count to each line: merges of letters with `</w>` at a word's end.

A file says neither ids nor how text is cut. The library knows no ids and cuts at spaces and line ends; a letter that no
merge has stays as it is. Source: subword-nmt 0.3.8, apply_bpe.py.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

import numpy as np

from bpe_viz.engine.layout import EncodedText
from bpe_viz.engine.symbols import BaseVocabulary
from bpe_viz.engine.tokenizer import SpecialText, Tokenizer
from bpe_viz.engine.types import CountingOptions, Options
from bpe_viz.errors import FormatError
from bpe_viz.formats import Format
from bpe_viz.formats._draft import as_option
from bpe_viz.formats._gpt2_files import is_one_of_the_two
from bpe_viz.formats._own_library import Encode, OwnLibrary
from bpe_viz.formats._reading import HEAD_BYTES, damaged, read_whole
from bpe_viz.formats._written_merges import (
    HEADER,
    WrittenList,
    WrittenMerge,
    check_same_token,
    check_sweeping,
    in_symbols,
    is_clip,
    looks_like_merges,
    read_merges,
)

MARKER = "</w>"
WORDS = r"[^ \r\n]+"
"""What the library takes as words: what stands between spaces and line ends."""

CONTINUES = "@@"
"""What the library writes behind a piece if its word goes on."""

_VERSION = re.compile(r"#version: *0\.([12])(\.0+)*\s*")
_JSON = "Save as .json."


def detect(path: Path, head: bytes) -> bool:
    """Tell whether a file begins as a list of merges that is not GPT-2's, with a vocabulary beside it."""
    return looks_like_merges(head) and not is_clip(head) and not is_one_of_the_two(path, head)


def load(path: Path, given: CountingOptions | None = None) -> Tokenizer:
    """Read codes. Raises FormatError that names the line.

    given: how text is cut; None: as the library cuts it
    """
    written = read_merges(path, read_whole(path), may_have_counts=True)
    end_of_word = _end_of_word(written)
    base = _base_vocabulary(written, end_of_word)
    base_texts = [base.label(symbol).decode() for symbol in range(len(base))]
    merges = in_symbols(written, base, base_texts, "first")
    counting = given or CountingOptions(pattern=WORDS)
    # A token that two merges make is one token.
    number_of: dict[str, int] = {}
    ids = np.array([number_of.setdefault(text, number) for number, text in enumerate(merges.texts)], dtype=np.int64)
    tokenizer = Tokenizer.from_merges(
        base, merges.pairs, counting, ids=ids, special_ids={}, name=path.name, ranks=merges.ranks
    )
    tokenizer.notes = (*_notes(path, end_of_word, given), *merges.notes)
    return tokenizer


def _notes(path: Path, end_of_word: str, given: CountingOptions | None) -> Iterator[str]:
    version = "0.2" if end_of_word == "glued" else "0.1"
    yield f"{path.name}: codes of version {version}. They hold no ids: letters in order, then merges, are numbered."
    if given is None:
        yield "Words are what stands between spaces and line ends, as subword-nmt takes them."


def _end_of_word(written: WrittenList) -> Literal["separate", "glued"]:
    """Return how the version marks the end of a word: fastBPE's files have a count and no header, and glue."""
    if not written.header:
        return "glued" if written.has_counts else "separate"
    version = _VERSION.fullmatch(written.header)
    if version is None:
        raise damaged(written.path, 1, written.header, "names a version other than 0.1 and 0.2")
    return "separate" if version[1] == "1" else "glued"


def _base_vocabulary(written: WrittenList, end_of_word: Literal["separate", "glued"]) -> BaseVocabulary:
    """Return the letters of the merges; with a glued marker each of them also at the end of a word."""
    letters = sorted({letter for merge in written.merges for letter in _letters(merge)})
    base = [(letter.encode(), False) for letter in letters]
    if end_of_word == "glued":
        base += [(letter.encode(), True) for letter in letters]
    else:
        base.append((b"", True))
    # As a training numbers them.
    base.sort(key=lambda symbol: (symbol[0] + (MARKER.encode() if symbol[1] else b""), symbol[1]))
    return BaseVocabulary(
        "characters",
        end_of_word,
        MARKER,
        tuple(content for content, _ in base),
        tuple(ends for _, ends in base),
    )


def _letters(merge: WrittenMerge) -> Iterable[str]:
    for part in (merge.left, merge.right):
        letter = part.removesuffix(MARKER) if part != MARKER else ""
        if len(letter) == 1:
            yield letter


def contents(tokenizer: Tokenizer, path: Path) -> dict[Path, bytes]:
    """Return the merges up to the tokenizer's position.

    A marker of another text is written as the library's `</w>`. Raises FormatError where codes would encode otherwise.
    """
    base = tokenizer.base
    _check(base.base, base.end_of_word, tokenizer.counting, tokenizer.unknown)
    if not tokenizer.position:
        raise FormatError("There is no merge, and subword-nmt reads no codes without one.", "Save as .json.")
    check_sweeping(tokenizer, True, "codes")
    written = _written_symbols(tokenizer)
    pairs = tokenizer.pairs
    lines = [f"{HEADER} {'0.1' if base.end_of_word == 'separate' else '0.2'}"]
    lines += [f"{written[left]} {written[right]}" for left, right in pairs]
    if len(set(lines)) < len(lines):
        raise FormatError("Two merges join the same pair, and codes take the first alone.", _JSON)
    data = "".join(f"{line}\n" for line in lines).encode()
    if not detect(path, data[:HEAD_BYTES]):
        raise FormatError(
            "The codes would be read as merges of GPT-2, by their letters or the file beside them.", _JSON
        )
    return {path: data}


def check(options: Options) -> None:
    """Raise FormatError if no tokenizer that is trained with these options can be written."""
    training = options.training
    _check(training.base, training.end_of_word, options.counting, training.unknown)


def _check(base: str, end_of_word: str, counting: CountingOptions, unknown: str | None) -> None:
    if base != "characters" or end_of_word == "none":
        raise FormatError(
            "Codes of subword-nmt hold merges of characters, with a marker at the end of a word.",
            "Train with --base characters --end-of-word glued, or save as .json.",
        )
    if counting.normalize:
        raise FormatError("Codes of subword-nmt cannot say that text is normalized first.", _JSON)
    if unknown is not None:
        raise FormatError("Codes of subword-nmt have no unknown token: unknown letters stay as they are.", _JSON)


def _written_symbols(tokenizer: Tokenizer) -> list[str]:
    """Return how each symbol is written. Raises FormatError where a line would be read as something else."""
    symbols, base = tokenizer.symbols, tokenizer.base
    used = {symbol for pair in tokenizer.pairs for symbol in pair}
    used |= set(range(len(base), len(base) + tokenizer.position))
    written = [""] * len(symbols)
    symbol_of: dict[str, int] = {}
    for symbol in sorted(used):
        text = symbols.content(symbol).decode()
        if found := next((letter for letter in " \r\n" if letter in text), None):
            raise FormatError(f"The token {text!r} holds {found!r}, which parts tokens or lines in the file.", _JSON)
        if not symbols.ends_word(symbol) and text.endswith(MARKER):
            raise FormatError(f"The token {text!r} ends like the end-of-word marker {MARKER}.", _JSON)
        text += MARKER if symbols.ends_word(symbol) else ""
        if symbol_of.setdefault(text, symbol) != symbol:
            check_same_token(tokenizer, text, symbol_of[text], symbol)
        written[symbol] = text
    return written


def losses(tokenizer: Tokenizer) -> Iterator[str]:
    """Say what codes do not hold."""
    counting = tokenizer.counting
    yield "Codes hold no ids, and no letters that no merge has."
    if counting.pattern != WORDS:
        yield (
            f"Codes do not hold how text is cut: give {as_option(counting)} when opening the file. subword-nmt itself "
            "cuts at spaces and line ends."
        )
    if tokenizer.special_ids:
        yield f"Codes do not hold special tokens: {', '.join(tokenizer.special_ids)}."
    if tokenizer.base.marker != MARKER:
        yield f"The marker {tokenizer.base.marker!r} is written as {MARKER}."


def _open_library(path: Path, tokenizer: Tokenizer) -> Encode:
    from subword_nmt.apply_bpe import BPE

    written = read_merges(path, read_whole(path), may_have_counts=True)
    # Counts, which fastBPE adds, the library does not read; its files are of version 0.2 without saying so.
    header = f"{HEADER} 0.2" if written.has_counts else written.header
    lines = [header, *(f"{merge.left} {merge.right}" for merge in written.merges)]
    library = BPE(io.StringIO("\n".join(lines).lstrip("\n")))

    def encode(text: str, special_text: SpecialText, around: bool) -> list[str]:
        # Lines are what its own command reads one at a time.
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        return [piece for line in lines for piece in library.segment_tokens(line.split(" "))]

    return encode


def _pieces_and_starts(encoded: EncodedText) -> tuple[list[str], list[int]]:
    """Return tokens as the library writes them: with @@ where the word goes on."""
    tokenizer = encoded.tokenizer
    tokens = encoded.at(tokenizer.position)
    details = encoded.encoding(tokenizer.position).tokens
    starts, ends, ids = tokens.start.tolist(), tokens.end.tolist(), tokens.ids.tolist()
    pieces, places = [], []
    for number, token in enumerate(details):
        if not token.content:
            continue  # a marker of its own
        is_last = number + 1 == len(details) or starts[number + 1] != ends[number]
        is_marked = not is_last and not details[number + 1].content
        ends_word = (
            is_last or is_marked or (ids[number] >= 0 and tokenizer.label(ids[number]).endswith(MARKER.encode()))
        )
        pieces.append(token.content.decode() + ("" if ends_word else CONTINUES))
        places.append(starts[number])
    return pieces, places


FORMAT = Format(
    name="subword-nmt",
    title="subword-nmt codes",
    suffixes=(".codes", ".bpe"),
    detect=detect,
    load=load,
    contents=contents,
    losses=losses,
    holds_pretokenizer=False,
    holds_ids=False,
    check=check,
    library=OwnLibrary("subword-nmt", _open_library, _pieces_and_starts),
)
