"""The metadata of a GGUF file: keys and values before the tensors, which are never read.

Why not the library gguf: its version 0.19 took 25 s and 1.4 GB for a vocabulary of 262,144 tokens with 514,906 merges,
as it makes an array of each; and a list of numbers that claims 2**60 entries keeps it busy without end.
Source: ggml, docs/gguf.md.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from bpe_viz.errors import FormatError
from bpe_viz.formats import _reading
from bpe_viz.formats._reading import AGAIN, read_whole, shortened_line, unreadable

MAGIC = b"GGUF"

_STRING, _LIST, _BOOL = 8, 9, 7
_NUMBERS = {0: "u1", 1: "i1", 2: "u2", 3: "i2", 4: "u4", 5: "i4", 6: "f4", 10: "u8", 11: "i8", 12: "f8"}
_NAMES = {
    **{0: "uint8", 1: "int8", 2: "uint16", 3: "int16", 4: "uint32", 5: "int32", 6: "float32", 10: "uint64"},
    **{11: "int64", 12: "float64", _BOOL: "bool", _STRING: "string", _LIST: "list"},
}
_WIDTHS = {kind: np.dtype(code).itemsize for kind, code in _NUMBERS.items()} | {_BOOL: 1}
_LONGEST_LIST = 1 << 23
"""Entries: the longest in use has a tenth of them."""

_Value = TypeVar("_Value")


class Metadata:
    """The values of some keys, and what type each has; asked for by type."""

    def __init__(self, path: Path, values: dict[str, tuple[str, Any]]) -> None:
        """values: key -> (name of the type, value)"""
        self.path = path
        self._values = values

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def text(self, key: str) -> str | None:
        """Return a string, None if the key is absent. Raises FormatError if it is something else."""
        return self._typed(key, "string", lambda kind: kind == "string", str)

    def flag(self, key: str) -> bool | None:
        """Return a bool, None if the key is absent. Raises FormatError if it is something else."""
        return self._typed(key, "bool", lambda kind: kind == "bool", bool)

    def number(self, key: str) -> int | None:
        """Return a whole number that is not negative, None if the key is absent. Raises FormatError."""
        return self._typed(key, "uint32", lambda kind: kind == "uint32", int)

    def texts(self, key: str) -> list[str] | None:
        """Return a list of strings, None if the key is absent. Raises FormatError if it is something else."""
        return self._typed(key, "list of string", lambda kind: kind == "list of string", list)

    def numbers(self, key: str, *kinds: str) -> list[float] | None:
        """Return a list of numbers of one of some types, None if the key is absent. Raises FormatError."""
        named = [f"list of {kind}" for kind in kinds]
        return self._typed(key, " or ".join(named), lambda kind: kind in named, list)

    def _typed(
        self, key: str, wanted: str, fits: Callable[[str], bool], made: Callable[[Any], _Value]
    ) -> _Value | None:
        if key not in self._values:
            return None
        kind, value = self._values[key]
        if not fits(kind):
            raise FormatError(f"{self.path}: {key} is a {kind} instead of a {wanted}.", AGAIN)
        return made(value)


def read_metadata(path: Path, wanted: frozenset[str]) -> Metadata:
    """Read some keys of a file, which is mapped, so that its size does not matter. Raises FormatError."""
    try:
        with path.open("rb") as file:
            if file.read(len(MAGIC)) == MAGIC:
                with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
                    return _Reader(path, mapped).metadata(wanted)
    except OSError as error:
        raise unreadable(path, error) from error
    return _Reader(path, read_whole(path)).metadata(wanted)


class _Reader:
    """Goes through the metadata from its beginning."""

    def __init__(self, path: Path, data: bytes | mmap.mmap) -> None:
        self._path = path
        self._data = data
        self._end = min(len(data), _reading.LARGEST_FILE)
        self._at = 0
        self._order = "<"

    def metadata(self, wanted: frozenset[str]) -> Metadata:
        """Return the values of the keys that are wanted."""
        if self._take(len(MAGIC)) != MAGIC:
            raise self._damaged("it does not begin with GGUF")
        self._read_version()
        self._number("u8")  # tensors
        values: dict[str, tuple[str, Any]] = {}
        seen: set[str] = set()
        for _ in range(self._number("u8")):
            key = self._string("the name of a key")
            if key in seen:
                raise self._damaged(f"it holds the key {shortened_line(key)} twice")
            seen.add(key)
            found = self._value(key, key in wanted)
            if key in wanted:
                values[key] = found
        return Metadata(self._path, values)

    def _read_version(self) -> None:
        version = self._number("u4")
        if version & 0xFFFF == 0:  # the other byte order
            self._order = ">"
            version = int.from_bytes(version.to_bytes(4, "little"), "big")
        if version not in (2, 3):
            raise FormatError(
                f"{self._path} is GGUF of version {version}; bpe-viz reads versions 2 and 3.",
                "Convert the model again with a current llama.cpp.",
            )

    def _value(self, key: str, is_wanted: bool) -> tuple[str, Any]:
        """Return the name of the type of the value that follows, and the value if it is wanted."""
        kind = self._kind(key)
        if kind == _LIST:
            return self._list(key, is_wanted)
        if kind == _STRING:
            if is_wanted:
                return "string", self._string(key)
            self._skip(self._number("u8"))
            return "string", ""
        if kind == _BOOL:
            return "bool", self._take(1) != b"\0"
        return _NAMES[kind], self._number(_NUMBERS[kind])

    def _kind(self, key: str) -> int:
        kind: int = self._number("u4")
        if kind not in _NAMES:
            raise self._damaged(f"the value of {shortened_line(key)} has the type {kind}, which there is not")
        return kind

    def _list(self, key: str, is_wanted: bool) -> tuple[str, Any]:
        kind = self._kind(key)
        length = self._number("u8")
        name = f"list of {_NAMES[kind]}"
        if kind == _LIST:
            raise self._damaged(f"{shortened_line(key)} is a list of lists, which llama.cpp does not read either")
        # Checked before any entry is read: a damaged length may be of any size.
        if length * _WIDTHS.get(kind, 8) > self._end - self._at:
            raise self._damaged(f"{shortened_line(key)} says that it has {length:,} entries, more than the file holds")
        if kind != _STRING:
            if not is_wanted:
                self._skip(length * _WIDTHS[kind])
                return name, []
            content = self._take(length * _WIDTHS[kind])
            return name, np.frombuffer(content, self._order + _NUMBERS.get(kind, "u1")).tolist()
        if length > _LONGEST_LIST:
            raise self._damaged(f"{shortened_line(key)} says that it has {length:,} entries")
        return name, self._strings(key, length, is_wanted)

    def _strings(self, key: str, length: int, is_wanted: bool) -> list[str]:
        """Return so many strings; none if they are not wanted. The one loop that takes time."""
        unpack = struct.Struct(self._order + "Q").unpack_from
        data, end, at = self._data, self._end, self._at
        found: list[str] = []
        for number in range(length):
            start = at + 8
            if start > end or (at := start + unpack(data, start - 8)[0]) > end:
                raise self._damaged(f"it ends within {shortened_line(key)}, entry {number:,}")
            if not is_wanted:
                continue
            try:
                found.append(data[start:at].decode())
            except UnicodeDecodeError as error:
                raise self._damaged(f"entry {number:,} of {key} is not UTF-8") from error
        self._at = at
        return found

    def _string(self, what: str) -> str:
        content = self._take(self._number("u8"))
        try:
            return content.decode()
        except UnicodeDecodeError as error:
            raise self._damaged(f"{what} is not UTF-8") from error

    def _number(self, code: str) -> Any:
        """Return one number of a type that numpy names so."""
        return np.frombuffer(self._take(np.dtype(code).itemsize), self._order + code)[0].item()

    def _take(self, length: int) -> bytes:
        at = self._at
        self._skip(length)
        return self._data[at : at + length]

    def _skip(self, length: int) -> None:
        if length > self._end - self._at:
            if self._end < len(self._data):
                raise self._damaged(f"its metadata is longer than {self._end >> 20} MB, more than that of any model")
            raise self._damaged("its metadata is cut off")
        self._at += length

    def _damaged(self, what: str) -> FormatError:
        return FormatError(f"{self._path} is no whole GGUF file: {what} (byte {self._at:,}).", AGAIN)
