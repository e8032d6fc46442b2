"""The lines of a BPE model's merge list, as numbers of tokens."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from itertools import chain, starmap
from operator import add, itemgetter
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from bpe_viz.errors import FormatError
from bpe_viz.formats._merge_spans import merge_spans
from bpe_viz.formats._reading import AGAIN, parse_json
from bpe_viz.formats._span_index import SpanIndex

Numbers = NDArray[np.int64]


class Lines(NamedTuple):
    """What each line joins, and what it makes: (lines,) int64 each, places of tokens in the vocabulary."""

    left: Numbers
    right: Numbers
    made: Numbers


def merge_lines(place: str, written: bytes, tokens: Sequence[str], contents: Sequence[bytes], prefix: str) -> Lines:
    """Return the lines of a merge list, a header left out.

    place: of the list in the file, for errors; written: the list in JSON
    tokens: the vocabulary in order; contents: the same in UTF-8
    prefix: what is cut off a right token that goes on within a word
    Raises FormatError for a line that is no pair, and for one with a token that the vocabulary lacks.
    """
    return (None if prefix else _found_in_place(written, contents)) or _parsed(place, written, tokens, prefix.encode())


def _found_in_place(written: bytes, contents: Sequence[bytes]) -> Lines | None:
    """Return the lines without parsing them; None where something is out of the ordinary."""
    spans = merge_spans(written)
    if spans is None or bool((spans.start == spans.middle).any() or (spans.middle == spans.end).any()):
        return None
    index = SpanIndex(contents)
    columns = []
    for start, end in ((spans.start, spans.middle), (spans.middle, spans.end), (spans.start, spans.end)):
        found = index.find(spans.data, start, end)
        if found is None:
            return None
        columns.append(found)
    return Lines(*columns)


def _parsed(place: str, written: bytes, tokens: Sequence[str], prefix: bytes) -> Lines:
    listed = _pairs(place, parse_json(place, written, list[str | tuple[str, str]], "tokenizer.json"))
    made = list(starmap(add, listed))
    if prefix:
        # The library cuts as many bytes as the prefix has, whatever they are.
        made = [left + right.encode()[len(prefix) :].decode(errors="replace") for left, right in listed]
    number_of = dict(zip(tokens, range(len(tokens)), strict=True))
    # map runs in C: lists of half a million lines are opened in the time that a person waits.
    columns = map(itemgetter(0), listed), map(itemgetter(1), listed), made
    try:
        return Lines(*(np.fromiter(map(number_of.__getitem__, one), np.int64, len(made)) for one in columns))
    except KeyError:
        _refuse_lacking(place, number_of, listed, made)
        raise


def _pairs(place: str, merges: Sequence[str | tuple[str, str]]) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    if set(map(type, merges)) <= {tuple}:
        found = cast(list[tuple[str, str]], merges)
        if all(chain.from_iterable(found)):
            return found
        found = []
    for number, merge in enumerate(merges):
        if isinstance(merge, str):
            if merge.startswith("#version"):
                continue
            left, _, right = merge.partition(" ")
            merge = (left, "" if " " in right else right)
        if not merge[0] or not merge[1]:
            raise FormatError(f"{place}[{number}] is {merges[number]!r}, which is no pair of tokens.", AGAIN)
        found.append(merge)
    return found


def _refuse_lacking(place: str, vocab: Container[str], listed: Iterable[tuple[str, str]], made: Iterable[str]) -> None:
    """Raise FormatError for the first line with a token that the vocabulary lacks."""
    for number, ((left, right), text) in enumerate(zip(listed, made, strict=True)):
        lacking = next((one for one in (left, right, text) if one not in vocab), None)
        if lacking is not None:
            verb = "makes" if lacking == text else "names"
            raise FormatError(f"{place}[{number}] {verb} {lacking!r}, which model.vocab lacks.", AGAIN)
