r"""Read word tables: pre-tokens with their counts, one on each line.

`.tsv`: pre-token, tab (or the last space of the line), count; in the pre-token `\t`, `\n`, `\r` and `\\`
stand for tab, newline, carriage return and backslash. `.csv`: as the csv module reads it. `.parquet`: columns
`pretoken` and `count`. The first line of text may be the header `pretoken`, `count`.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

import regex

from bpe_viz.engine import parquet
from bpe_viz.engine.documents import read_text
from bpe_viz.errors import CorpusError

HEADER = ("pretoken", "count")

_ESCAPE = regex.compile(r"\\(.?)", regex.DOTALL)
_ESCAPED = {"t": "\t", "n": "\n", "r": "\r", "\\": "\\"}

Row = tuple[str, str, str]
"""Where the row is, its pre-token, its count as written."""


def is_word_table(path: str | Path) -> bool:
    """Tell whether a file is a word table, by its name; a Parquet file by its columns.

    A Parquet file that is missing, damaged or unreadable without pyarrow is none: reading it tells why.
    """
    suffix = Path(path).suffix.lower()
    if suffix == ".parquet":
        try:
            return parquet.has_word_counts(Path(path))
        except CorpusError:
            return False
    return suffix in (".tsv", ".csv")


def read_word_table(path: Path) -> tuple[dict[str, int], list[str]]:
    """Return pre-token -> count, in the order of the table, and notes on what was handled.

    A pre-token listed twice adds up. Raises CorpusError, naming the line, for a row without a count, for a
    count that is no whole number of 1 or more, and for an unknown escape.
    """
    suffix = path.suffix.lower()
    notes: list[str] = []
    if suffix == ".parquet":
        rows = _parquet_rows(path)
    else:
        text, notes = read_text(path)
        rows = _csv_rows(path, text) if suffix == ".csv" else _tsv_rows(path, text)
    counts: dict[str, int] = {}
    repeated = 0
    for place, pretoken, written in rows:
        repeated += pretoken in counts
        counts[pretoken] = counts.get(pretoken, 0) + _count(place, pretoken, written)
    if not counts:
        raise CorpusError(f"{path} holds no pre-token.", "Write a pre-token, a tab and its count on each line.")
    if repeated:
        notes.append(f"{path}: rows that repeat a pre-token, whose counts were added up: {repeated:,}.")
    return counts, notes


def _count(place: str, pretoken: str, written: str) -> int:
    if not pretoken:
        raise CorpusError(f"{place}: there is no pre-token before the count {written!r}.")
    # int() alone would also take 1_000 and the digits of other scripts.
    if not regex.fullmatch(r"0*[0-9]{1,18}", written) or int(written) == 0:
        raise CorpusError(
            f"{place}: the count of {pretoken!r} is {written!r}.",
            "Give a whole number of 1 or more, in digits.",
        )
    return int(written)


def _tsv_rows(path: Path, text: str) -> Iterator[Row]:
    for number, whole_line in enumerate(text.split("\n"), start=1):
        line = whole_line.removesuffix("\r")
        place = f"{path}, line {number}"
        if not line.strip():
            continue
        pretoken, separator, written = line.rpartition("\t" if "\t" in line else " ")
        if number == 1 and (pretoken, written.strip()) == HEADER:
            continue
        if not separator:
            raise CorpusError(f"{place}: {line[:60]!r} has no count.", "Write a tab and the count after it.")
        yield place, _unescape(place, pretoken), written.strip()


def _unescape(place: str, written: str) -> str:
    def plain(match: regex.Match[str]) -> str:
        if match[1] not in _ESCAPED:
            raise CorpusError(
                f"{place}: {match[0]!r} in {written[:60]!r} stands for nothing.",
                r"Write a backslash as \\, a tab as \t, line ends as \n and \r.",
            )
        return _ESCAPED[match[1]]

    return _ESCAPE.sub(plain, written) if "\\" in written else written


def _csv_rows(path: Path, text: str) -> Iterator[Row]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        for number, fields in enumerate(reader):
            place = f"{path}, line {reader.line_num}"
            if not fields or (number == 0 and tuple(fields) == HEADER):
                continue
            if len(fields) != 2:
                raise CorpusError(
                    f"{place}: there are {len(fields)} fields in {','.join(fields)[:60]!r}.",
                    "Write a pre-token, a comma and its count; put a pre-token with a comma in quotes.",
                )
            yield place, fields[0], fields[1].strip()
    except csv.Error as error:
        raise CorpusError(f"{path}, line {reader.line_num} is not CSV: {error}.") from error


def _parquet_rows(path: Path) -> Iterator[Row]:
    for number, (pretoken, count) in enumerate(parquet.read_counts(path), start=1):
        place = f"{path}, row {number}"
        if not isinstance(pretoken, str):
            raise CorpusError(f"{place}: the pre-token is {pretoken!r}, which is not text.")
        yield place, pretoken, str(count)
