from __future__ import annotations

import codecs
import gzip
import io
import json
import pickle
import random
import sys
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_viz.engine import documents
from bpe_viz.engine.documents import ReadingLog, find_sources, read_source
from bpe_viz.engine.text_decoding import NotTextError, TextDecoder, repair_surrogates
from bpe_viz.errors import CorpusError

FRENCH = "Le café était fermé à Noël, où l'été dernier nous avons mangé des crêpes. Ça va très bien. "
RUSSIAN = "Всё смешалось в доме Облонских. Жена узнала, что муж был в связи с бывшею гувернанткой. "
JAPANESE = "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。何でも薄暗いじめじめした所で。"
CHINESE = "学而时习之,不亦说乎?有朋自远方来,不亦乐乎?人不知而不愠,不亦君子乎?\n"
POLISH = "Litwo! Ojczyzno moja! ty jesteś jak zdrowie: Ile cię trzeba cenić, ten tylko się dowie. "
ENGLISH = "It is a truth universally acknowledged, that a single man must be in want of a wife.\n"

MARKED = {
    "utf-8": codecs.BOM_UTF8,
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
    "utf-32-le": codecs.BOM_UTF32_LE,
    "utf-32-be": codecs.BOM_UTF32_BE,
}


def decode(data: bytes, block: int = 1 << 20) -> tuple[str, list[str]]:
    decoder = TextDecoder("a.txt")
    texts = [decoder.decode(data[start : start + block]) for start in range(0, len(data), block)]
    return "".join(texts) + decoder.decode(b"", final=True), decoder.notes


def read(*paths) -> tuple[list[str], list[str]]:
    """Return the documents that paths hold, and the notes."""
    sources, notes = find_sources(paths)
    texts, text = [], ""
    for source in sources:
        log = ReadingLog()
        for piece in read_source(source, log):
            text += piece.text
            if piece.ends_document:
                texts.append(text)
                text = ""
        notes += log.notes
    return texts, notes


@pytest.mark.parametrize("encoding", MARKED)
@given(text=st.text(), block=st.integers(4, 20))
def test_text_with_a_byte_order_mark_comes_back(encoding, text, block):
    # A first NUL would make the mark of UTF-16 that of UTF-32.
    text = text.lstrip("\0")
    decoded, notes = decode(MARKED[encoding] + text.encode(encoding), block)
    assert decoded == text
    assert "byte order mark" in notes[0]


@given(text=st.text(st.characters(min_codepoint=32, exclude_categories=["Cs"])), block=st.integers(1, 9))
def test_utf8_comes_back_whatever_the_blocks(text, block):
    assert decode(text.encode(), block) == (text, [])


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("text", ["hello\r\n", ENGLISH, RUSSIAN, FRENCH, JAPANESE + " \n" + CHINESE])
def test_utf16_without_a_mark_is_told_by_its_nuls(encoding, text):
    decoded, notes = decode(text.encode(encoding))
    assert decoded == text
    assert "told by its NUL bytes" in notes[0]


@pytest.mark.parametrize("encoding", ["utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("text", ["hello\r\n", ENGLISH, RUSSIAN, FRENCH, JAPANESE, CHINESE, "😀 😀", ENGLISH * 2000])
def test_utf32_without_a_mark_is_told_by_its_nuls(encoding, text):
    decoded, notes = decode(text.encode(encoding))
    assert decoded == text
    assert "told by its NUL bytes" in notes[0]


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("text", [JAPANESE, JAPANESE * 2000])
def test_japanese_utf16_without_any_nul_is_told_by_its_kana(encoding, text):
    decoded, notes = decode(text.encode(encoding))
    assert decoded == text
    assert "told by its kana" in notes[0]


@pytest.mark.parametrize(
    "data",
    [
        b"\0b\0a ",
        b"\0b\0a x",
        b"a\0b\0c\0d",
        b"abc\0def\0" * 50,
        b"abc\0def\0ghi\0jkl\n" * 50,
        b"abc\0" * 3,
        b"\0abc" * 50,
        b"a\0\0\0",
        b"\0\0\0\0" * 9,
        b"a\0\0\0b",
        b"a\0\0\0bcd\0" * 20,
        ("Жена\0узнала\0" * 50).encode(),
        ("吾輩は\0猫である\0" * 50).encode(),
        b"0A0B0C0D0E0F" * 20,
        b"x" * 9 + b"\0" * 9,
    ],
)
def test_some_nuls_in_valid_utf8_leave_it_utf8(data):
    assert decode(data) == (data.decode(), [])


@pytest.mark.parametrize(
    ("text", "encoding", "title"),
    [
        (FRENCH, "latin-1", "Windows-1252"),
        ("café", "latin-1", "Windows-1252"),
        ("Grüße aus München", "latin-1", "Windows-1252"),
        ("We don’t know “why”. " + ENGLISH, "cp1252", "Windows-1252"),
        (ENGLISH * 100 + "One naïve word.\n" + ENGLISH * 100, "cp1252", "Windows-1252"),
        (POLISH * 3, "cp1250", "Windows-1250"),
        (RUSSIAN, "koi8-r", "KOI8-R"),
        (RUSSIAN * 30, "cp1251", "Windows-1251"),
        (JAPANESE, "shift-jis", "Shift-JIS"),
        (JAPANESE * 20, "euc-jp", "EUC-JP"),
        (CHINESE, "gb18030", "GB 18030"),
        (ENGLISH * 3 + JAPANESE * 3, "shift-jis", "Shift-JIS"),
    ],
)
def test_other_encodings_are_guessed_and_said(text, encoding, title):
    decoded, notes = decode(text.encode(encoding))
    assert decoded == text
    assert title in notes[0]
    assert "guess" in notes[0]


def test_an_encoding_that_shows_after_the_first_block_is_used_from_there():
    assert decode(ENGLISH.encode() * 50 + FRENCH.encode("latin-1"), 256)[0] == ENGLISH * 50 + FRENCH


@pytest.mark.parametrize(
    ("data", "text", "said"),
    [
        ("é".encode() * 9 + b"\xff ab", "é" * 9 + "\ufffd ab", "1 byte sequence is"),
        (b"ab ab \xff ab", "ab ab \ufffd ab", "the first at byte 6."),
        (b"a\xffb", "a\ufffdb", "1 byte sequence is"),
        (b"hello \xff\xfe world", "hello \ufffd\ufffd world", "2 byte sequences are"),
        (ENGLISH.encode() + b"caf\xc3", ENGLISH + "caf\ufffd", "1 byte sequence is"),
        ("\ufffd".encode() + "é".encode() * 3 + b"\xff", "\ufffdééé\ufffd", "1 byte sequence is"),
    ],
)
@pytest.mark.parametrize("block", [7, 1 << 20])
def test_invalid_bytes_in_utf8_become_u_fffd_and_are_counted(data, text, said, block):
    decoded, notes = decode(data, max(block, 16) if "é" not in text else block)
    assert decoded == text
    assert said in notes[0]


@pytest.mark.parametrize("text", ["a\0b a\0b", "\0", "\x01\x02\x1b[0m\x7f", "x\0y\n", "a\r\nb\rc\n"])
def test_nul_and_controls_in_valid_utf8_are_ordinary_text(text):
    assert decode(text.encode()) == (text, [])


@pytest.mark.parametrize(
    "data",
    [
        random.Random(1).randbytes(5000),
        random.Random(2).randbytes(50),
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\0",
        pickle.dumps(list(range(1000))),
        pickle.dumps({"key": random.Random(3).randbytes(300)}),
        gzip.compress(ENGLISH.encode() * 9),
    ],
)
def test_bytes_that_are_no_text_are_refused(data):
    with pytest.raises(NotTextError, match=r"a\.txt is not text in any encoding that can be read here"):
        decode(data)


@pytest.mark.parametrize("seed", range(40))
def test_random_bytes_are_never_text(seed):
    with pytest.raises(NotTextError):
        decode(random.Random(seed).randbytes(400))


def test_surrogate_pairs_are_joined_and_lone_ones_replaced(case):
    # Each escape on its own, as json would join the pair.
    lone, pair = (
        "".join(json.loads(f'"\\u{digits}"') for digits in text.split("\\u")[1:])
        for text in case("EN-13")["input"]["texts_escaped"]
    )
    assert repair_surrogates(lone) == ("\ufffd", 0, 1)
    assert repair_surrogates(pair) == ("\U0001f44d", 1, 0)
    assert repair_surrogates("\ufffdplain") == ("\ufffdplain", 0, 0)


def test_a_missing_file_is_told(tmp_path):
    with pytest.raises(CorpusError, match=r"no file .*nothing\.txt\. Check"):
        read(tmp_path / "nothing.txt")
    with pytest.raises(CorpusError):
        read("a\0b")


def test_an_unreadable_file_is_told(tmp_path, monkeypatch):
    path = tmp_path / "locked.txt"
    path.write_text("x")

    def refuse(*args):
        raise PermissionError(13, "Permission denied")

    # Not by its mode, as root may open everything.
    monkeypatch.setattr(documents.Path, "open", refuse)
    with pytest.raises(CorpusError, match=r"locked\.txt cannot be read: Permission denied"):
        read(path)


@pytest.mark.parametrize("content", [b"", codecs.BOM_UTF8])
def test_an_empty_file_is_told(tmp_path, content):
    path = tmp_path / "empty.txt"
    path.write_bytes(content)
    with pytest.raises(CorpusError, match=r"empty\.txt is empty"):
        read(path)


def test_a_folder_is_searched_in_order_and_says_what_it_skips(tmp_path):
    (tmp_path / "b").mkdir()
    (tmp_path / ".git").mkdir()
    for name, content in {
        "b/two.txt": b"two",
        "a.txt": b"one",
        "c.txt.gz": gzip.compress(b"three"),
        ".hidden": b"no",
        ".git/config": b"no",
        "picture.png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
        "empty.txt": b"",
    }.items():
        (tmp_path / name).write_bytes(content)
    texts, notes = read(tmp_path)
    assert [text for text in texts if text] == ["one", "two", "three"]
    assert any("hidden files and folders that were skipped: 2." in note for note in notes)
    assert any("picture.png is not text" in note for note in notes)
    assert any("empty.txt is empty" in note for note in notes)


def test_a_folder_without_files_is_told(tmp_path):
    (tmp_path / ".hidden").write_text("x")
    with pytest.raises(CorpusError, match="holds no text files"):
        read(tmp_path)


def test_standard_input_is_read(monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO("é\r\n".encode())))
    assert read("-") == (["é\r\n"], [])


def test_a_broken_gzip_file_is_told(tmp_path):
    whole = gzip.compress(random.Random(1).randbytes(3000))
    for number, content in enumerate([whole[:-20], b"plain text", whole[:100] + b"\xff" * 100 + whole[200:]]):
        path = tmp_path / f"{number}.txt.gz"
        path.write_bytes(content)
        with pytest.raises(CorpusError, match=r"gzip|not text"):
            read(path)


def test_each_line_of_jsonl_is_a_document(tmp_path, monkeypatch):
    monkeypatch.setattr(documents, "BLOCK_BYTES", 7)
    path = tmp_path / "x.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"text": "one\\n", "id": 1}\r\n\n{"text": "\\ud83d\\udc4d"}\n{"text": "\\ud83d"}'))
    texts, notes = read(path)
    assert texts == ["one\n", "\U0001f44d", "\ufffd"]
    assert "Lone surrogates that became U+FFFD: 1." in notes[0]


@pytest.mark.parametrize("line", ["{", "[1]", '{"txt": "a"}', '{"text": 5}', "[" * 100_000])
def test_a_bad_line_of_jsonl_is_named(tmp_path, line):
    path = tmp_path / "x.jsonl"
    path.write_text('{"text": "a"}\n' + line + "\n")
    with pytest.raises(CorpusError, match=r"x\.jsonl, line 2 "):
        read(path)


def test_parquet_without_pyarrow_says_how_to_install_it(tmp_path, monkeypatch):
    path = tmp_path / "x.parquet"
    path.write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(CorpusError, match="pip install pyarrow"):
        read(path)


def test_each_row_of_parquet_is_a_document(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "x.parquet"
    parquet.write_table(pyarrow.table({"id": [1, 2, 3], "text": ["one", None, "two"]}), path)
    assert read(path)[0] == ["one", "two"]
    parquet.write_table(pyarrow.table({"body": ["one"]}), path)
    with pytest.raises(CorpusError, match="no column `text`; it has: body"):
        read(path)
    path.write_bytes(b"not parquet")
    with pytest.raises(CorpusError, match="cannot be read as Parquet"):
        read(path)
