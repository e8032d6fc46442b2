"""Merge lists that are text: on each line two tokens, parted by one space.

Files of GPT-2, CLIP, subword-nmt and fastBPE look so. They differ in what a line that comes twice means, and in how
the base symbols are known.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from bpe_viz.engine.symbols import BaseVocabulary
from bpe_viz.engine.tokenizer import Tokenizer
from bpe_viz.engine.types import Pair
from bpe_viz.errors import FormatError
from bpe_viz.formats._reading import damaged, lines_of, shortened_line, without_bom

HEADER = "#version:"

_OTHER_FILE = "bpe_viz does not read such a list yet."


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
    """

    pairs: list[Pair]
    texts: list[str]
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
    which_counts: of lines that are the same
    Raises FormatError for a part that no line before it makes, and where the file means one token by two symbols.
    """
    path = written.path
    merges, repeated = _without_repeated(written.merges, which_counts)
    texts = list(base_texts)
    symbol_of = {text: symbol for symbol, text in enumerate(texts)}
    ends = list(base.ends_word)
    marked = base.marker if base.end_of_word != "none" else ""
    pairs: list[Pair] = []
    made_twice: dict[str, int] = {}
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
            made_twice.setdefault(made, number)
        symbol_of.setdefault(made, len(texts))
        texts.append(made)
        ends.append(ends[pair.right])
        pairs.append(pair)
    _refuse_going_on(path, merges, made_twice)
    notes = [*written.notes]
    if repeated:
        notes.append(
            f"{path.name}: merges that are listed again, whose {which_counts} place counts: "
            f"{len(repeated):,}, first on line {repeated[0]}."
        )
    return MergesInSymbols(pairs, texts, tuple(notes))


def check_same_token(tokenizer: Tokenizer, text: str, one: int, other: int) -> None:
    """Raise FormatError unless two symbols that are written alike may be one token in a file.

    They may if they have one id and no merge goes on from either.
    """
    is_one = tokenizer.id_of(one) == tokenizer.id_of(other)
    if not is_one or any({one, other} & set(pair) for pair in tokenizer.pairs):
        raise FormatError(
            f"Two merges make the token {text!r}, which is one token in such a file and two here.", "Save as .json."
        )


def _without_repeated(merges: Sequence[WrittenMerge], which: str) -> tuple[list[WrittenMerge], list[int]]:
    """Return the merges that count, in order, and the numbers of the lines that list one again."""
    place: dict[tuple[str, str], int] = {}
    repeated = []
    for i, merge in enumerate(merges):
        if (merge.left, merge.right) in place:
            repeated.append(merge.number)
            if which == "first":
                continue
        place[merge.left, merge.right] = i
    return [merges[i] for i in sorted(place.values())], repeated


def _refuse_going_on(path: Path, merges: Iterable[WrittenMerge], made_twice: dict[str, int]) -> None:
    """Refuse to go on from a token that two merges make: one token in the file, two symbols here."""
    for number, left, right in merges if made_twice else ():
        for part in {left, right} & made_twice.keys():
            raise FormatError(
                f"{path}, line {number} goes on from {shortened_line(part)}, which line {made_twice[part]} makes a "
                "second time.",
                _OTHER_FILE,
            )
