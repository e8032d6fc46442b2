"""GGUF's metadata, read in bounded time and memory whatever a file says of its lengths."""

from __future__ import annotations

import gzip
import struct

import pytest

from bpe_viz.errors import FormatError
from bpe_viz.formats import _gguf_metadata, _reading
from bpe_viz.formats._gguf_metadata import Metadata, read_metadata
from tests.formats.gguf_files import gguf

FIELDS = {
    "a.text": "naïve 字",
    "a.flag": True,
    "a.number": 7,
    "a.texts": ["x", "", "字"],
    "a.floats": ("float32", [0.5, -1.0]),
    "a.ints": ("int32", [-1, 2]),
    "a.flags": ("bool", [True, False]),
    "a.octets": ("uint8", [1, 255]),
    "a.long": ("uint64", 2**63),
    "a.double": ("float64", 0.25),
}
ENDLESS = 2**60


def read(path, data: bytes, *wanted: str) -> Metadata:
    path.write_bytes(data)
    return read_metadata(path, frozenset(wanted or FIELDS))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "x.gguf"


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("order", ["<", ">"])
def test_values_of_both_versions_and_byte_orders(path, version, order):
    found = read(path, gguf(FIELDS, version, order))
    assert found.text("a.text") == "naïve 字"
    assert found.flag("a.flag") is True
    assert found.number("a.number") == 7
    assert found.texts("a.texts") == ["x", "", "字"]
    assert found.numbers("a.floats", "float32") == [0.5, -1.0]
    assert found.numbers("a.ints", "float32", "int32") == [-1, 2]
    assert found.text("absent") is None


def test_only_what_is_wanted_is_kept(path):
    found = read(path, gguf(FIELDS), "a.number")
    assert found.number("a.number") == 7
    assert found.texts("a.texts") is None


def test_another_type_is_named(path):
    found = read(path, gguf(FIELDS))
    with pytest.raises(FormatError, match=r"a\.number is a uint32 instead of a string"):
        found.text("a.number")
    with pytest.raises(FormatError, match=r"a\.ints is a list of int32 instead of a list of string"):
        found.texts("a.ints")
    with pytest.raises(FormatError, match=r"a\.long is a uint64 instead of a uint32"):
        found.number("a.long")
    with pytest.raises(
        FormatError, match=r"a\.texts is a list of string instead of a list of float32 or list of int32"
    ):
        found.numbers("a.texts", "float32", "int32")


def test_a_file_that_is_packed(path):
    path.write_bytes(gzip.compress(gguf(FIELDS)))
    assert read_metadata(path, frozenset(FIELDS)).number("a.number") == 7


def test_tensors_are_not_read(path, monkeypatch):
    """They may be of any size: here they are more than would be read of any file, in a file with a hole."""
    monkeypatch.setattr(_reading, "LARGEST_FILE", 1 << 16)
    path.write_bytes(gguf(FIELDS, n_tensors=5))
    with path.open("r+b") as file:
        file.truncate(1 << 33)
    assert read_metadata(path, frozenset(FIELDS)).number("a.number") == 7


def test_metadata_without_end_is_refused(path, monkeypatch):
    monkeypatch.setattr(_reading, "LARGEST_FILE", 1 << 20)
    data = gguf({"a.long": "x" * (2 << 20), "a.number": 7})
    with pytest.raises(FormatError, match="its metadata is longer than 1 MB"):
        read(path, data, "a.number")


def test_every_place_to_cut_a_file_is_told(path):
    data = gguf(FIELDS)
    for length in range(4, len(data)):
        with pytest.raises(FormatError, match=r"x\.gguf is no whole GGUF file: "):
            read(path, data[:length])


def entry(kind: int, *numbers: bytes) -> bytes:
    """Return a file whose one key has a type and what follows it."""
    return b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 1) + b"k" + struct.pack("<I", kind) + b"".join(numbers)


@pytest.mark.parametrize("wanted", ["k", "other"])
@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"GGUF" + struct.pack("<IQQ", 3, 0, ENDLESS), "is cut off"),
        (b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, ENDLESS), "is cut off"),
        (entry(8, struct.pack("<Q", ENDLESS)), "is cut off"),
        (entry(9, struct.pack("<IQ", 8, ENDLESS)), "'k' says that it has 1,152,921,504,606,846,976 entries"),
        (entry(9, struct.pack("<IQ", 0, ENDLESS)), "'k' says that it has 1,152,921,504,606,846,976 entries"),
        (entry(9, struct.pack("<IQ", 7, ENDLESS)), "'k' says that it has 1,152,921,504,606,846,976 entries"),
        (entry(9, struct.pack("<IQ", 9, 1)), "'k' is a list of lists"),
        (entry(9, struct.pack("<IQQ", 8, 1, ENDLESS)), "it ends within 'k', entry 0"),
        (entry(9, struct.pack("<IQQQ", 8, 2, 1, 5)), "it ends within 'k', entry 1"),
        (entry(13), "'k' has the type 13, which there is not"),
        (entry(9, struct.pack("<IQ", 99, 1)), "'k' has the type 99, which there is not"),
    ],
)
def test_damaged_lengths_and_types(path, data, what, wanted):
    with pytest.raises(FormatError, match=what):
        read(path, data, wanted)


def test_a_list_of_very_many_empty_strings_is_refused_before_it_is_read(path, monkeypatch):
    monkeypatch.setattr(_gguf_metadata, "_LONGEST_LIST", 1000)
    assert read(path, gguf({"k": ["x"] * 1000}), "k").texts("k") == ["x"] * 1000
    with pytest.raises(FormatError, match="'k' says that it has 1,001 entries"):
        read(path, gguf({"k": ["x"] * 1001}), "k")


def test_what_is_no_utf_8_is_named(path):
    with pytest.raises(FormatError, match="entry 1 of k is not UTF-8"):
        read(path, gguf({"k": ["a", "b"]}).replace(b"b", b"\xff"), "k")
    with pytest.raises(FormatError, match="k is not UTF-8"):
        read(path, gguf({"k": "b"}).replace(b"b", b"\xff"), "k")


def test_a_key_that_comes_twice_and_a_version_that_is_not_known(path):
    data = gguf({"k": 1, "l": 2})
    with pytest.raises(FormatError, match="holds the key 'k' twice"):
        read(path, data.replace(b"l", b"k"), "k")
    for version in (1, 4, 99):
        with pytest.raises(FormatError, match=f"is GGUF of version {version}; bpe-viz reads versions 2 and 3"):
            read(path, gguf({}, version))


def test_another_file_is_no_gguf(path):
    with pytest.raises(FormatError, match="does not begin with GGUF"):
        read(path, b"GGML....")
