"""How tokenizer files are read: unpacked, whole, in bounded memory, with errors that name the place."""

from __future__ import annotations

import binascii
import gzip
import json
import zlib
from pathlib import Path
from typing import Any, BinaryIO, TypeVar, cast

import msgspec

from bpe_viz.errors import FormatError

AGAIN = "Download or save it again."
LARGEST_ID = 2**31 - 1
"""Ids are kept in 32 bits."""

LARGEST_FILE = 1 << 28
"""Bytes, unpacked: the largest tokenizer file in use has an eighth of it."""

HEAD_BYTES = 4096

_GZIP = b"\x1f\x8b"
_BOM = b"\xef\xbb\xbf"
_SHOWN = 60
_CHUNK = 1 << 20

_Value = TypeVar("_Value")


def read_head(path: Path) -> bytes:
    """Return the first bytes of a file, unpacked; those of the file as it is if it is no whole gzip. Raises OSError."""
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    if not head.startswith(_GZIP):
        return head
    try:
        return zlib.decompressobj(wbits=31).decompress(head, HEAD_BYTES)
    except zlib.error:
        return head


def read_whole(path: Path) -> bytes:
    """Return the content of a file, unpacked. Raises FormatError for one that is damaged, or larger than any."""
    try:
        with path.open("rb") as file:
            is_packed = file.read(len(_GZIP)) == _GZIP
            file.seek(0)
            return _read(path, cast(BinaryIO, gzip.open(file)) if is_packed else file)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise FormatError(f"{path} is not a whole gzip file: {error}.", AGAIN) from error
    except OSError as error:
        raise unreadable(path, error) from error


def unreadable(path: Path, error: OSError) -> FormatError:
    """Return what to say of a file that cannot be read."""
    return FormatError(f"{path} cannot be read: {error.strerror or error}.", "Check the name and its permissions.")


def _read(path: Path, file: BinaryIO) -> bytes:
    chunks = []
    left = LARGEST_FILE
    while chunk := file.read(min(_CHUNK, left + 1)):
        chunks.append(chunk)
        left -= len(chunk)
        if left < 0:
            raise FormatError(
                f"{path} holds more than {LARGEST_FILE >> 20} MB, more than any tokenizer file.", "Check the file."
            )
    return b"".join(chunks)


def plain_path(path: Path) -> Path:
    """Return a path as if the file were not packed: its name tells what is inside."""
    return path.with_suffix("") if path.suffix.lower() == ".gz" else path


def without_bom(data: bytes) -> bytes:
    """Return data without a byte order mark."""
    return data.removeprefix(_BOM)


def lines_of(path: Path, data: bytes) -> list[str]:
    """Return the lines of a text in UTF-8, line ends off; the last one is "" if the text ends with a line end.

    Only LF and CR LF end a line: tokens hold all other white space. Raises FormatError that names the line.
    """
    data = without_bom(data)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        number = data.count(b"\n", 0, error.start) + 1
        raise FormatError(
            f"{path}, line {number} is not UTF-8 at byte {error.start}: 0x{data[error.start]:02x}.", AGAIN
        ) from error
    return [line.removesuffix("\r") for line in text.split("\n")]


def damaged(path: Path, number: int, line: str, what: str, remedy: str = AGAIN) -> FormatError:
    """Return the error of a damaged line. number: from 1; what: goes on from "line N"."""
    return FormatError(f"{path}, line {number} {what}: {shortened_line(line)}.", remedy)


def shortened_line(line: str) -> str:
    """Return a line in quotation marks, the beginning of a long one."""
    return repr(line if len(line) <= _SHOWN else line[:_SHOWN] + "…")


def from_base64(written: bytes) -> bytes:
    """Return what base64 writes just so; b"" if it is not base64, or not in the one way to write it."""
    try:
        content = binascii.a2b_base64(written, strict_mode=True)
    except binascii.Error:
        return b""
    # The other way round too: bits that base64 leaves over would be a second way to write it.
    return content if binascii.b2a_base64(content, newline=False) == written else b""


def parse_json(path: Path | str, data: bytes, shape: type[_Value], title: str) -> _Value:
    """Return the JSON of a file, checked against a msgspec shape. Raises FormatError that names the place.

    path: names the file
    title: what the file should be
    """
    data = without_bom(data)
    try:
        return msgspec.json.decode(data, type=shape)
    except RecursionError as error:
        raise FormatError(f"{path} is no {title}: its brackets are nested too deeply.", AGAIN) from error
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise FormatError(f"{path} is no whole {title}: {error}.", AGAIN) from error


def parse_numbers(path: Path, data: bytes, title: str) -> dict[str, int]:
    """Return a JSON object of tokens and their ids. Raises FormatError that names the first wrong entry."""
    entries = parse_json(path, data, dict[str, Any], title)
    for text, number in entries.items():
        # True is an int to Python.
        if type(number) is not int or not 0 <= number <= LARGEST_ID:
            raise FormatError(
                f"{path}: the id of {shortened_line(text)} is {shortened_json(number)}.",
                f"Give a whole number from 0 to {LARGEST_ID:,}.",
            )
    return entries


def shortened_json(value: object) -> str:
    """Return a value as JSON, the beginning of a long one."""
    written = json.dumps(value, ensure_ascii=False)
    return written if len(written) <= _SHOWN else written[:_SHOWN] + "…"
