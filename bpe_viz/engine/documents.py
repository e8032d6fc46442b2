"""Find and read text: files, folders, compressed files, JSON lines, Parquet, standard input."""

from __future__ import annotations

import gzip
import json
import os
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, NamedTuple

from bpe_viz.engine.parquet import read_texts
from bpe_viz.engine.segments import CutBuffer
from bpe_viz.engine.text_decoding import NotTextError, TextDecoder, repair_surrogates, surrogate_notes
from bpe_viz.errors import CorpusError

BLOCK_BYTES = 1 << 20
"""How much of a file is read at once."""

STDIN = "-"


@dataclass(frozen=True, slots=True)
class TextSource:
    """One file, or standard input.

    path: None for standard input
    name: for people
    size: bytes on disk, 0 for standard input
    is_found: it was found in a folder, so that it may be skipped where a file given by name is an error
    """

    path: Path | None
    name: str
    size: int
    is_found: bool = False


class Piece(NamedTuple):
    """Some text of a document.

    ends_document: the next piece belongs to another document
    """

    text: str
    ends_document: bool


@dataclass(slots=True)
class ReadingLog:
    """What reading one source has come to so far.

    notes: what was handled on the way, a sentence each
    bytes_read: bytes on disk
    """

    notes: list[str] = field(default_factory=list)
    bytes_read: int = 0


def find_sources(paths: Sequence[str | Path]) -> tuple[list[TextSource], list[str]]:
    """Return the text files that paths stand for, folders searched through, and notes on what was skipped.

    Files of a folder come sorted by path. Hidden files and folders and links to folders are skipped.
    Raises CorpusError for a path that does not exist and for a folder without files.
    """
    sources: list[TextSource] = []
    notes: list[str] = []
    for given in paths:
        path = Path(given)
        if str(given) == STDIN:
            sources.append(TextSource(None, "standard input", 0))
        elif os.path.isdir(path):  # path.is_dir() raises for a name that is too long
            found, hidden = _files_below(path)
            tables = [source for source in found if _suffix(source) in (".tsv", ".csv")]
            if tables:
                notes.append(
                    f"{path}: word tables that were read as text, for they are in a folder, such as "
                    f"{tables[0].name}: {len(tables):,}."
                )
            if hidden:
                notes.append(f"{path}: hidden files and folders that were skipped: {hidden:,}.")
            sources += found
        else:
            sources.append(TextSource(path, str(path), _size(path)))
    return sources, notes


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError as error:
        raise CorpusError(f"There is no file {path}.", "Check its name and folder.") from error
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise _unreadable(str(path), error) from error


def _unreadable(name: str, error: Exception) -> CorpusError:
    if isinstance(error, IsADirectoryError):
        return CorpusError(f"{name} is a folder.", "Name a file in it.")
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return CorpusError(f"{name} cannot be read: {reason}.", "Check that you may open it, or copy it elsewhere.")


def _files_below(folder: Path) -> tuple[list[TextSource], int]:
    """Return the visible files below a folder, sorted, and how many hidden entries were skipped."""

    def refuse(error: OSError) -> None:
        raise _unreadable(str(error.filename or folder), error) from error

    found: list[Path] = []
    hidden = 0
    for place, folders, files in os.walk(folder, onerror=refuse):
        hidden += sum(name.startswith(".") for name in (*folders, *files))
        folders[:] = [name for name in folders if not name.startswith(".")]
        visible = (Path(place, name) for name in files if not name.startswith("."))
        found += [path for path in visible if path.is_file()]
    if not found:
        raise CorpusError(f"The folder {folder} holds no text files.", "Give a folder with text files in it.")
    return [TextSource(path, str(path), _size(path), is_found=True) for path in sorted(found)], hidden


def read_source(source: TextSource, log: ReadingLog) -> Iterator[Piece]:
    """Yield the text of a source in pieces of about BLOCK_BYTES, and note in the log what was handled.

    `.jsonl` and `.parquet` hold many documents; any other file is one. A file found in a folder that is
    empty or no text is skipped and noted. Raises CorpusError for one given by name, and for a bad line.
    """
    suffix = _suffix(source)
    if suffix == ".parquet" and source.path is not None:
        pieces = _parquet_pieces(source.path, source.size, log)
    elif suffix == ".jsonl":
        pieces = _jsonl_pieces(source, log)
    else:
        pieces = _text_pieces(source, log)
    has_text = False
    try:
        for piece in pieces:
            has_text = has_text or bool(piece.text)
            yield piece
    except NotTextError as error:
        if not source.is_found:
            raise
        log.notes.append(f"Skipped: {error.message}")
        return
    if not has_text:
        if not source.is_found:
            raise CorpusError(f"{source.name} is empty.", "Give a file with some text in it.")
        log.notes.append(f"Skipped: {source.name} is empty.")


def _suffix(source: TextSource) -> str:
    """Return what a file holds, by its name: the suffix, that before `.gz` if it is compressed."""
    if source.path is None:
        return ""
    path = source.path.with_suffix("") if source.path.suffix.lower() == ".gz" else source.path
    return path.suffix.lower()


def is_plain_file(source: TextSource) -> bool:
    """Tell whether the bytes of a source are those of one text, neither compressed nor a table of texts."""
    return (
        source.path is not None
        and _suffix(source) not in (".parquet", ".jsonl")
        and (source.path.suffix.lower() != ".gz" and source.path.is_file())
    )


def read_text(path: Path) -> tuple[str, list[str]]:
    """Return the whole text of a file, decompressed and decoded, and notes on what was handled.

    Raises CorpusError if it cannot be read, is no text, or is empty.
    """
    text, notes = read_any_text(path)
    if not text:
        raise CorpusError(f"{path} is empty.", "Give a file with some text in it.")
    return text, notes


def read_any_text(path: Path) -> tuple[str, list[str]]:
    """Return what `read_text` does for a file that may be empty, or for standard input ("-")."""
    log = ReadingLog()
    return "".join(read_text_parts(path, log)), log.notes


def read_text_parts(path: Path, log: ReadingLog) -> Iterator[str]:
    """Yield what `read_any_text` returns in parts of about BLOCK_BYTES, none empty; notes go to the log."""
    is_stdin = str(path) == STDIN
    source = TextSource(None, "standard input", 0) if is_stdin else TextSource(path, str(path), _size(path))
    yield from _decoded(source, log)


def _blocks(source: TextSource, log: ReadingLog) -> Iterator[bytes]:
    """Yield the bytes of a source, decompressed, in blocks of BLOCK_BYTES."""
    try:
        with ExitStack() as stack:
            if source.path is None:
                raw: BinaryIO = sys.stdin.buffer
            else:
                raw = stack.enter_context(source.path.open("rb"))
            is_compressed = source.path is not None and source.path.suffix.lower() == ".gz"
            stream = stack.enter_context(gzip.open(raw)) if is_compressed else raw
            while block := stream.read(BLOCK_BYTES):
                log.bytes_read = raw.tell() if is_compressed else log.bytes_read + len(block)
                yield block
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise CorpusError(
            f"{source.name} is not a whole gzip file: {error}.", "Unpack it with gunzip to see what is left."
        ) from error
    except OSError as error:
        raise _unreadable(source.name, error) from error


def _decoded(source: TextSource, log: ReadingLog) -> Iterator[str]:
    """Yield the text of a source, which is never empty text; note how it was decoded."""
    decoder = TextDecoder(source.name)
    for block in _blocks(source, log):
        text = decoder.decode(block)
        if text:
            yield text
    text = decoder.decode(b"", final=True)
    if text:
        yield text
    log.notes += decoder.notes


def _text_pieces(source: TextSource, log: ReadingLog) -> Iterator[Piece]:
    for text in _decoded(source, log):
        yield Piece(text, False)
    yield Piece("", True)


def _jsonl_pieces(source: TextSource, log: ReadingLog) -> Iterator[Piece]:
    joined = replaced = 0
    for number, line in enumerate(_lines(source, log), start=1):
        if not line.strip():
            continue
        text, newly_joined, newly_replaced = repair_surrogates(_text_field(line, source.name, number))
        joined += newly_joined
        replaced += newly_replaced
        yield Piece(text, True)
    log.notes += [f"{source.name}: {note}" for note in surrogate_notes(joined, replaced)]


def _lines(source: TextSource, log: ReadingLog) -> Iterator[str]:
    whole_lines = CutBuffer(lambda text: text.rfind("\n") + 1)
    for text in _decoded(source, log):
        yield from whole_lines.add(text).split("\n")[:-1]
    last = whole_lines.rest()
    if last:
        yield last


def _text_field(line: str, name: str, number: int) -> str:
    """Return the field `text` of a line of JSON; CorpusError names the line if there is none."""
    remedy = 'Each line must be a JSON object such as {"text": "..."}.'
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise CorpusError(f"{name}, line {number} is not JSON: {error}.", remedy) from error
    text = record.get("text") if isinstance(record, dict) else None
    if not isinstance(text, str):
        raise CorpusError(f"{name}, line {number} has no field `text` with text in it: {line[:60]!r}.", remedy)
    return text


def _parquet_pieces(path: Path, size: int, log: ReadingLog) -> Iterator[Piece]:
    for text in read_texts(path):
        yield Piece(text, True)
    log.bytes_read = size
