r"""Read and write word tables: pre-tokens with their counts, one on each line.

`.tsv`: pre-token, tab (or the last space of the line), count; in the pre-token `\t`, `\n`, `\r` and `\\`
stand for tab, newline, carriage return and backslash. `.csv`: as the csv module reads it. `.parquet`: columns
`pretoken` and `count`. The first line of text may be a header such as `pretoken`, `count`.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from pathlib import Path

import regex

from bpe_viz.engine import parquet
from bpe_viz.engine.documents import read_text
from bpe_viz.engine.pretoken_counts import PretokenCounts
from bpe_viz.engine.types import LARGEST_COUNT
from bpe_viz.errors import CorpusError

HEADER = ("pretoken", "count")

_MOST_DIGITS = 19
_COUNT = regex.compile(rf"0*[0-9]{{1,{_MOST_DIGITS}}}")
_ROWS_A_PART = 65_536
_SHOWN = 60  # characters of a row in a message
_CSV_CHARACTERS = 2**31 - 1  # what a long of C holds everywhere

_ESCAPE = regex.compile(r"\\(.?)", regex.DOTALL)
_ESCAPES = str.maketrans({"\t": r"\t", "\n": r"\n", "\r": r"\r", "\\": r"\\"})
_ESCAPED = {"t": "\t", "n": "\n", "r": "\r", "\\": "\\"}

Row = tuple[str, str, str]
"""Where the row is, its pre-token, its count as written."""


def is_word_table(path: str | Path) -> bool:
    """Tell whether a file is a word table, by its name; a Parquet file by its columns.

    A Parquet file that is missing, damaged or unreadable without pyarrow is none: reading it tells why.
    """
    suffix = _suffix(Path(path))
    if suffix == ".parquet":
        try:
            return parquet.has_word_counts(Path(path))
        except CorpusError:
            return False
    return suffix in (".tsv", ".csv")


def _suffix(path: Path) -> str:
    """Return what a table is by its name: the suffix, that before `.gz` of text."""
    suffix = path.suffix.lower()
    inner = path.with_suffix("").suffix.lower() if suffix == ".gz" else ""
    return inner if inner in (".tsv", ".csv") else suffix


def read_word_table(path: Path) -> tuple[dict[str, int], list[str]]:
    """Return pre-token -> count, in the order of the table, and notes on what was handled.

    A pre-token listed twice adds up. Raises CorpusError, naming the line, for a row without a count, for a
    count that is no whole number of 1 or more, and for an unknown escape.
    """
    suffix = _suffix(path)
    notes: list[str] = []
    if suffix == ".parquet":
        rows = _parquet_rows(path)
    else:
        text, notes = read_text(path)
        rows = _after_header(path, _csv_rows(path, text) if suffix == ".csv" else _tsv_rows(path, text), notes)
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


def _after_header(path: Path, rows: Iterator[Row], notes: list[str]) -> Iterator[Row]:
    """Leave out a first row whose count holds no digit: it names the columns. Any but HEADER is noted."""
    for number, row in enumerate(rows):
        _, pretoken, written = row
        if number == 0 and written and not any(map(str.isdigit, written)):
            if (pretoken, written) != HEADER:
                notes.append(f"{path}: the first line, {pretoken!r} and {written!r}, was taken as a header.")
            continue
        yield row


def _count(place: str, pretoken: str, written: str) -> int:
    if not pretoken:
        raise CorpusError(f"{place}: there is no pre-token before the count {written!r}.")
    # int() alone would also take 1_000 and the digits of other scripts.
    count = int(written[-_MOST_DIGITS:]) if _COUNT.fullmatch(written) else 0
    if not 1 <= count <= LARGEST_COUNT:
        raise CorpusError(
            f"{place}: the count of {_start(pretoken)!r} is {_start(written)!r}.",
            "Give a whole number from 1 to 2**63 - 1, in digits.",
        )
    return count


def _start(text: str) -> str:
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


def _tsv_rows(path: Path, text: str) -> Iterator[Row]:
    for number, whole_line in enumerate(text.split("\n"), start=1):
        line = whole_line.removesuffix("\r")
        place = f"{path}, line {number}"
        if not line.strip():
            continue
        pretoken, separator, written = line.rpartition("\t" if "\t" in line else " ")
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
    csv.field_size_limit(_CSV_CHARACTERS)  # no pre-token is too long
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        for fields in reader:
            place = f"{path}, line {reader.line_num}"
            if not fields:
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


SUFFIXES = (".tsv", ".csv", ".parquet")


def check_table_name(path: Path) -> None:
    """Raise CorpusError for a name that a word table cannot be written under: its suffix chooses how."""
    if path.suffix.lower() not in SUFFIXES:
        raise CorpusError(
            f"{path} is no name of a word-count table.", f"Let it end with one of: {', '.join(SUFFIXES)}."
        )


def table_content(pretokens: PretokenCounts, path: Path) -> Iterator[bytes]:
    """Yield the content of a word table, part by part; a path that check_table_name takes says how it is written.

    Pre-tokens in the order given, so that what is trained on the table is the same as on the text. Raises CorpusError
    for Parquet if pyarrow is not installed.
    """
    suffix = path.suffix.lower()
    if suffix == ".parquet":
        yield parquet.written_counts(path, pretokens)
        return
    yield _lines_of([HEADER], suffix)
    for first in range(0, len(pretokens), _ROWS_A_PART):
        rows = range(first, min(first + _ROWS_A_PART, len(pretokens)))
        yield _lines_of([(pretokens.content(row).decode(), str(int(pretokens.counts[row]))) for row in rows], suffix)


def _lines_of(rows: Iterable[tuple[str, str]], suffix: str) -> bytes:
    if suffix == ".csv":
        text = io.StringIO(newline="")
        csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows(rows)
        return text.getvalue().encode()
    return "".join(f"{pretoken.translate(_ESCAPES)}\t{count}\n" for pretoken, count in rows).encode()
