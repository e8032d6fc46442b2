"""Merge lists that are text: on each line two tokens, parted by one space.

Files of GPT-2, CLIP, subword-nmt and fastBPE look so. They differ in what a line that comes twice means, and in how
the base symbols are known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from bpe_viz.engine.listed_ranks import ListedRanks
from bpe_viz.engine.symbols import BaseVocabulary
from bpe_viz.engine.tokenizer import Tokenizer
from bpe_viz.engine.types import Pair
from bpe_viz.errors import FormatError
from bpe_viz.formats._reading import damaged, lines_of, shortened_line, without_bom

HEADER = "#version:"
CLIP_HEADER = '"bpe_simple_vocab_16e6.txt'
"""How OpenAI's list of CLIP's merges begins, before that header; it needs no vocabulary."""

_OTHER_FILE = "bpe-viz does not read such a list yet."


class WrittenMerge(NamedTuple):
    """One line. number: from 1."""

    number: int
    left: str
    right: str


@dataclass(frozen=True, slots=True)
class WrittenList:
    """A file of merges.

    header: its first line, if that is no merge
    merges: in the order of the file, repeated ones included
    has_counts: the lines have a third column, as fastBPE writes
    notes: what was passed over
    """

    path: Path
    header: str
    merges: list[WrittenMerge]
    has_counts: bool
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MergesInSymbols:
    """A merge list in symbols: base symbols first, then one a merge.

    texts: how the file writes each symbol
    ranks: what merges, where one token is made by several merges and goes on, or one pair stands on several lines;
        None: each pair at its own rank
    """

    pairs: list[Pair]
    texts: list[str]
    ranks: ListedRanks | None
    notes: tuple[str, ...]


def read_merges(path: Path, data: bytes, may_have_counts: bool = False) -> WrittenList:
    """Read a list of merges; a header stands on the first line only. Raises FormatError that names the line."""
    lines = lines_of(path, data)
    header = lines[0] if is_header(lines[0]) else ""
    merges: list[WrittenMerge] = []
    blank: list[int] = []
    n_columns = 2
    for number, line in enumerate(lines, start=1):
        if number == 1 and header:
            continue
        if not line:
            if number < len(lines):
                blank.append(number)
            continue
        fields = line.split(" ")
        if may_have_counts and not merges and len(fields) == 3 and _is_count(fields[2]):
            n_columns = 3
        if len(fields) != n_columns or not all(fields) or (n_columns == 3 and not _is_count(fields[2])):
            what = "two tokens and a count" if n_columns == 3 else "two tokens"
            extra = "" if all(fields) else "; it has a space too many"
            raise damaged(path, number, line, f"is not {what}, parted by one space{extra}")
        merges.append(WrittenMerge(number, fields[0], fields[1]))
    notes: tuple[str, ...] = ()
    if blank:
        shown = ", ".join(map(str, blank[:5])) + (", …" if len(blank) > 5 else "")
        notes = (f"{path.name}: blank lines are passed over, which other programs refuse: {shown}.",)
    return WrittenList(path, header, merges, n_columns == 3, notes)


def is_clip(head: bytes) -> bool:
    """Tell whether a file begins as CLIP's merges do."""
    return without_bom(head).startswith(CLIP_HEADER.encode())


def is_header(line: str) -> bool:
    """Tell whether a first line is no merge; that of CLIP's file begins with a name in quotation marks."""
    return line.startswith(HEADER) or (line.startswith('"') and HEADER in line)


def _is_count(field: str) -> bool:
    return field.isascii() and field.isdigit()


def looks_like_merges(head: bytes) -> bool:
    """Tell whether a file begins with a header or with a merge list that nothing else looks like.

    Without a header every line must join letters, or what a line before it made, and one at least the latter.
    """
    text = without_bom(head).decode(errors="ignore")
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    if is_header(lines[0]):
        return True
    if len(lines) > 1:
        lines.pop()  # it may be cut
    made: set[str] = set()
    goes_on = False
    for line in filter(None, lines):
        fields = line.split(" ")
        if len(fields) not in (2, 3) or (len(fields) == 3 and not _is_count(fields[2])):
            return False
        for part in fields[:2]:
            letter = part.removesuffix("</w>")
            if part in made or part == "</w>" or (letter != part and len(letter) == 1):
                goes_on = True
            elif len(part) != 1:
                return False
        made.add(fields[0] + fields[1])
    return goes_on


def in_symbols(
    written: WrittenList, base: BaseVocabulary, base_texts: Sequence[str], which_counts: Literal["first", "last"]
) -> MergesInSymbols:
    """Find the symbols that the lines name.

    base_texts: how the file writes each base symbol
    which_counts: of lines that are the same; a library that counts the first sweeps: see MergeSource
    Raises FormatError for a part that no line before it makes.
    """
    path = written.path
    repeated = _repeated(written.merges)
    # Where the last place counts, a line may go on from what an earlier one makes, which itself never applies.
    merges = [merge for merge in written.merges if which_counts == "last" or merge.number not in repeated]
    texts = list(base_texts)
    symbol_of = {text: symbol for symbol, text in enumerate(texts)}
    ends = list(base.ends_word)
    marked = base.marker if base.end_of_word != "none" else ""
    pairs: list[Pair] = []
    made_again: set[str] = set()
    for number, left, right in merges:
        for part in (left, right):
            if part not in symbol_of:
                raise damaged(
                    path,
                    number,
                    f"{left} {right}",
                    f"names {shortened_line(part)}, which is no letter and which no line before it makes",
                )
        pair = Pair(symbol_of[left], symbol_of[right])
        made = left + right
        if ends[pair.left]:
            raise damaged(path, number, f"{left} {right}", "goes on behind the end of a word", _OTHER_FILE)
        if marked and made.endswith(marked) and not ends[pair.right]:
            raise damaged(
                path, number, f"{left} {right}", f"makes a token that only looks as if {marked} ended it", _OTHER_FILE
            )
        if made in symbol_of:
            made_again.add(made)
        symbol_of.setdefault(made, len(texts))
        texts.append(made)
        ends.append(ends[pair.right])
        pairs.append(pair)
    goes_on = any(left in made_again or right in made_again for _, left, right in merges)
    is_listed = goes_on or len(set(pairs)) < len(pairs)
    ranks = _listed_ranks(len(base), pairs, [symbol_of[text] for text in texts], which_counts) if is_listed else None
    notes = [*written.notes]
    if goes_on:
        notes.append(f"Tokens that several merges make, and that others go on from: {len(made_again):,}.")
    if repeated:
        notes.append(
            f"{path.name}: merges that are listed again, whose {which_counts} place counts: "
            f"{len(repeated):,}, first on line {min(repeated)}."
        )
    return MergesInSymbols(pairs, texts, ranks, tuple(notes))


def _listed_ranks(
    n_base: int, pairs: Sequence[Pair], first_symbols: Sequence[int], which_counts: Literal["first", "last"]
) -> ListedRanks:
    """Return a list in which symbols of one text are one token; first_symbols: the first of each symbol's text."""
    table = np.array(pairs, dtype=np.int32).reshape(-1, 2)
    made = np.array(first_symbols[n_base:], dtype=np.int32)
    left, right = np.ascontiguousarray(table[:, 0]), np.ascontiguousarray(table[:, 1])
    return ListedRanks(n_base, left, right, made, sweeps=which_counts == "first")


def check_same_token(tokenizer: Tokenizer, text: str, one: int, other: int) -> None:
    """Raise FormatError unless two symbols that are written alike may be one token in a file.

    They may if they have one id, and are one to the list of merges or none goes on from either.
    """
    is_one = tokenizer.id_of(one) == tokenizer.id_of(other)
    if is_one and isinstance(tokenizer.merge_ranks, ListedRanks):
        return
    if not is_one or any({one, other} & set(pair) for pair in tokenizer.pairs):
        raise FormatError(
            f"Two merges make the token {text!r}, which is one token in such a file and two here.", "Save as .json."
        )


def _repeated(merges: Sequence[WrittenMerge]) -> set[int]:
    """Return the numbers of the lines that list a merge again."""
    seen: set[tuple[str, str]] = set()
    found = set()
    for number, left, right in merges:
        if (left, right) in seen:
            found.add(number)
        seen.add((left, right))
    return found


def check_sweeping(tokenizer: Tokenizer, sweeps: bool, title: str) -> None:
    """Raise FormatError where the library of a format merges in another order, and may come to another split.

    sweeps: as in MergeSource, of the format's library
    """
    ranks = tokenizer.merge_ranks
    if isinstance(ranks, ListedRanks) and ranks.sweeps != sweeps and ranks.goes_back:
        raise FormatError(
            "Several merges make one token and a merge goes on from it that stands before one of them: the library of "
            f"{title} would merge in another order.",
            "Keep the file that it was read from.",
        )
