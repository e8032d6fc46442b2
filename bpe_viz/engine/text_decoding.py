"""Turn bytes of unknown encoding into text, block by block, and say what had to be handled.

One pass is enough: all encodings told apart without a mark agree on ASCII, so the text is read as UTF-8 until
the first bytes that are not, and only then the question is asked whether it is another encoding, damaged
UTF-8, or no text at all.
"""

from __future__ import annotations

import codecs
import unicodedata
from collections import Counter
from typing import NamedTuple

import regex

from bpe_viz.errors import CorpusError

_SAMPLE = 1 << 16
"""Bytes that are looked at to guess an encoding."""

_CONTEXT = 200
"""Bytes of ASCII before the first others that help to guess."""

_BY_NULS = "told by its NUL bytes"

_MARKS = (  # UTF-32 first: its little-endian mark starts with that of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

_TITLES = {
    "utf-8": "UTF-8",
    "utf-16-le": "UTF-16 (little-endian)",
    "utf-16-be": "UTF-16 (big-endian)",
    "utf-32-le": "UTF-32 (little-endian)",
    "utf-32-be": "UTF-32 (big-endian)",
    "cp1252": "Windows-1252 (Western European, Latin-1)",
    "cp1250": "Windows-1250 (Central European)",
    "iso8859_2": "ISO 8859-2 (Central European)",
    "cp1251": "Windows-1251 (Cyrillic)",
    "koi8_r": "KOI8-R (Cyrillic)",
    "cp866": "CP866 (Cyrillic)",
    "cp1253": "Windows-1253 (Greek)",
    "cp1254": "Windows-1254 (Turkish)",
    "cp1255": "Windows-1255 (Hebrew)",
    "cp1256": "Windows-1256 (Arabic)",
    "cp1257": "Windows-1257 (Baltic)",
    "cp874": "Windows-874 (Thai)",
    "cp932": "Shift-JIS (Japanese)",
    "euc_jp": "EUC-JP (Japanese)",
    "gb18030": "GB 18030 (Chinese)",
    "big5": "Big5 (Chinese)",
    "cp949": "EUC-KR (Korean)",
}
_GUESSED = [name for name in _TITLES if not name.startswith("utf")]

_LATIN = frozenset({"cp1252", "cp1250", "iso8859_2", "cp1254", "cp1257"})
_CENTRAL_EUROPEAN = frozenset({"Polish", "Czech", "Slovak", "Hungarian", "Slovene", "Croatian", "Romanian"})
_BALTIC = frozenset({"Lithuanian", "Latvian", "Estonian"})

# Letters beside a quotation mark or dash: Windows-1252 has these, and English often nothing else.
_QUOTED = regex.compile(r"\p{L}[‘’“”–—]|[‘’“”–—]\p{L}")
_WORD = regex.compile(r"\p{L}+")
_SURROGATE = regex.compile("[\ud800-\udfff]")

_CONTROL_BYTES = bytes(set(range(32)) - set(b"\t\n\v\f\r\x1b")) + b"\x7f"


class NotTextError(CorpusError):
    """A file that is no text, found out before any of it was handed out."""


class TextDecoder:
    """Decodes one source, block by block; the first block should be as large as blocks get.

    name: of the source, for notes and errors
    Newlines are not translated, and NUL and control characters are text in valid UTF-8. Bytes that cannot be
    decoded become U+FFFD. Raises NotTextError from `decode` if the first block is no text.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._encoding = ""  # "" until the first block
        self._decoder: codecs.IncrementalDecoder | None = None  # None: UTF-8, which counts what is invalid
        self._how = ""  # why this encoding was chosen, for people
        self._pending = b""
        self._context = b""  # the last bytes before those
        self._offset = 0  # of the pending bytes in the source
        self._is_strict = True  # no invalid UTF-8 so far
        self._has_non_ascii = False  # in text already handed out
        self._replaced = 0
        self._first_replaced = 0

    def decode(self, block: bytes, final: bool = False) -> str:
        """Return the text of the next block; final: none follows."""
        if not self._encoding:
            block = self._start(block)
        if self._decoder is not None:
            text = self._decoder.decode(block, final)
            self._replaced += text.count("\ufffd")
            return text
        return self._decode_utf8(self._pending + block, final)

    @property
    def notes(self) -> list[str]:
        """What had to be handled so far, each a sentence that names the source."""
        title = _TITLES[self._encoding] if self._encoding else ""
        notes = [f"{self._name}: read as {title}, {self._how}."] if self._how else []
        if self._replaced and self._encoding == "utf-8":
            what = "byte sequence is" if self._replaced == 1 else "byte sequences are"
            notes.append(
                f"{self._name}: {self._replaced:,} {what} not valid UTF-8 and became U+FFFD, "
                f"the first at byte {self._first_replaced:,}."
            )
        elif self._replaced:
            notes.append(f"{self._name}: {self._replaced:,} U+FFFD stand where nothing could be decoded.")
        return notes

    def _start(self, block: bytes) -> bytes:
        """Choose the encoding by the first block; return the block without its mark."""
        for mark, encoding in _MARKS:
            if block.startswith(mark):
                self._use(encoding, "told by its byte order mark, which was removed")
                self._offset = len(mark)
                return block[len(mark) :]
        # Blocks are of even length but for the last.
        wide, how = _wide_without_mark(block[:_SAMPLE], has_part=len(block) % 2 == 1)
        if wide:
            self._use(wide, how)
        else:
            self._encoding = "utf-8"
        return block

    def _use(self, encoding: str, how: str) -> None:
        self._encoding = encoding
        self._how = how
        if encoding != "utf-8":
            self._decoder = codecs.getincrementaldecoder(encoding)("replace")

    def _decode_utf8(self, data: bytes, final: bool) -> str:
        try:
            text, used = codecs.utf_8_decode(data, "strict" if self._is_strict else "replace", final)
        except UnicodeDecodeError as error:
            self._explain_invalid(data, error.start)
            self._pending = b""
            if self._decoder is not None:
                return self.decode(data, final)
            return self._decode_utf8(data, final)
        if not self._is_strict:
            # A U+FFFD that was in the source is text; it stands in it as these three bytes and no others.
            self._replaced += text.count("\ufffd") - data[:used].count(b"\xef\xbf\xbd")
        self._has_non_ascii = self._has_non_ascii or not text.isascii()
        self._context = data[max(0, used - _CONTEXT) : used]
        self._pending = data[used:]
        self._offset += used
        return text

    def _explain_invalid(self, data: bytes, start: int) -> None:
        """Decide what the first invalid UTF-8 means, at data[start]: another encoding, damage, or no text."""
        # What was handed out cannot be taken back: after UTF-8 only damage is possible.
        if not self._has_non_ascii and self._how == "":
            verdict = _judge(self._context + data, len(self._context) + start)
            if verdict.encoding:
                self._use(verdict.encoding, "which is a guess, as it is not UTF-8")
                return
            if not verdict.is_text and self._offset == 0:
                raise NotTextError(
                    f"{self._name} is not text in any encoding that can be read here.",
                    "Give a text file, best in UTF-8.",
                )
        self._is_strict = False
        self._first_replaced = self._offset + start


class _Verdict(NamedTuple):
    """What bytes that are not valid UTF-8 are: text in another encoding, damaged UTF-8 (""), or no text."""

    is_text: bool
    encoding: str


def _judge(data: bytes, start: int) -> _Verdict:
    """Tell what bytes are that are not valid UTF-8.

    data: nothing before it was other than ASCII
    start: where the first invalid UTF-8 is
    """
    # From the first byte beyond ASCII on, for there a character starts in every encoding.
    found = regex.search(rb"[\x80-\xff]", data[:start])
    first = start if found is None else int(found.start())
    sample = data[max(0, first - _CONTEXT) : first + _SAMPLE]
    # Files that are no text give themselves away at the head.
    head = data[:_SAMPLE]
    if _share_of_controls(sample) > 0.02 or _share_of_controls(head) > 0.02:
        return _Verdict(False, "")
    kept, _ = codecs.utf_8_decode(sample, "ignore", False)
    replaced, _ = codecs.utf_8_decode(sample, "replace", False)
    valid = len(kept) - len(kept.encode("ascii", "ignore"))
    invalid = len(replaced) - len(kept)
    # Other encodings hardly ever form valid UTF-8: 1 in 8 characters of Chinese GB 18030, fewer elsewhere.
    if 0 < valid >= invalid:
        return _Verdict(True, "")
    # Imported here: it is slow to import and seldom needed.
    from charset_normalizer import from_bytes

    guess = from_bytes(sample, cp_isolation=_GUESSED).best()
    language = guess.language if guess is not None else ""
    if _reads_as_latin(sample):
        return _Verdict(True, _latin_encoding(sample, language))
    # A few stray bytes are damage; too few, also, to tell an encoding by.
    if invalid <= 2 or (invalid <= max(8, len(sample) // 100) and invalid * 4 < len(sample)):
        return _Verdict(True, "")
    if guess is None:
        return _Verdict(False, "")
    return _Verdict(True, _latin_encoding(sample, language) if guess.encoding in _LATIN else guess.encoding)


def _share_of_controls(data: bytes) -> float:
    return (len(data) - len(data.translate(None, _CONTROL_BYTES))) / max(len(data), 1)


def _reads_as_latin(sample: bytes) -> bool:
    """Tell whether most bytes beyond ASCII are accented letters inside words, were it Windows-1252.

    Such a word holds an ASCII letter too and is in lower case, in capitals, or capitalized. Damage and other
    alphabets do not read so. ÿ does not count: 0xFF is damage far more often than that rare letter.
    """
    text = sample.decode("cp1252", "replace")
    beyond_ascii = len(text) - len(text.encode("ascii", "ignore"))
    natural = len(_QUOTED.findall(text))
    for word in _WORD.findall(text):
        n_ascii = len(word.encode("ascii", "ignore"))
        is_mixed = 0 < n_ascii < len(word) and "ÿ" not in word
        if is_mixed and (word.islower() or word.istitle() or word.isupper()):
            natural += len(word) - n_ascii
    return natural * 2 >= beyond_ascii > 0


def _latin_encoding(sample: bytes, language: str) -> str:
    """Choose among encodings of the Latin alphabet by the language: their bytes alone hardly differ."""
    if language in _CENTRAL_EUROPEAN:
        # 0x80 to 0x9F are control characters in ISO 8859-2 and letters in Windows-1250.
        return "cp1250" if regex.search(rb"[\x80-\x9f]", sample) else "iso8859_2"
    if language in _BALTIC:
        return "cp1257"
    return "cp1254" if language == "Turkish" else "cp1252"


def _wide_without_mark(sample: bytes, has_part: bool) -> tuple[str, str]:
    """Return the UTF-32 or UTF-16 that bytes without a mark are in and how it was told, "" if they are not.

    has_part: the bytes end inside a character of these encodings
    The blanks, line ends and ASCII letters of UTF-16 are NUL in one byte of two, and all of UTF-32 in one of four.
    NUL also occurs in ordinary text, so besides the text must make sense.
    """
    if has_part:
        return "", ""
    for encoding, top in (("utf-32-le", 3), ("utf-32-be", 0)):
        if len(sample) % 4 == 0 and len(sample) >= 8 and not any(sample[top::4]) and _makes_sense(sample, encoding):
            return encoding, _BY_NULS
    is_utf8 = _is_utf8(sample)
    n_units = len(sample) // 2
    for encoding, high, low in (("utf-16-le", 1, 0), ("utf-16-be", 0, 1)):
        highs = sample[high : 2 * n_units : 2]
        nuls = highs.count(0)
        if not nuls or sample[low::2].count(0) * 50 > nuls:
            continue
        # Most units of Latin text have the NUL. Of another alphabet few do, so more must be seen of it; and as valid
        # UTF-8 it is made of control characters, for letters below U+2000 start with one.
        controls = n_units - len(highs.translate(None, bytes(range(32))))
        if nuls * 100 < n_units * 85 and (n_units < 16 or (is_utf8 and controls * 100 < n_units * 85)):
            continue
        if _makes_sense(sample, encoding):
            return encoding, _BY_NULS
    if not is_utf8 and n_units >= 16:
        # No other encoding of Japanese has kana where UTF-16 has them.
        for encoding in ("utf-16-le", "utf-16-be"):
            if _reads_as_japanese(sample, encoding):
                return encoding, "told by its kana"
    return "", ""


def _decoded_strictly(sample: bytes, encoding: str) -> str:
    """Return the text of a sample, which may be cut inside a character; "" if it is not valid."""
    try:
        return codecs.getincrementaldecoder(encoding)("strict").decode(sample)
    except UnicodeDecodeError:
        return ""


def _makes_sense(sample: bytes, encoding: str) -> bool:
    """Tell whether hardly any character is one that is not printable or not assigned."""
    text = _decoded_strictly(sample, encoding)
    kinds = Counter(map(unicodedata.category, text))
    odd = sum(kinds[kind] for kind in ("Cn", "Co", "Cs")) + text.count("\ufffd")
    controls = kinds["Cc"] - sum(text.count(space) for space in "\t\n\r\f")
    return bool(text) and (odd + controls) * 50 <= len(text)


def _reads_as_japanese(sample: bytes, encoding: str) -> bool:
    text = _decoded_strictly(sample, encoding)
    kana = len(regex.findall("[\u3040-\u30ff]", text))
    others = len(regex.findall("[\\x00-\\x7f\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]", text))
    return kana * 100 >= len(text) * 15 and (kana + others) * 100 >= len(text) * 95 and bool(text)


def _is_utf8(sample: bytes) -> bool:
    """Tell whether bytes, which may be cut inside a character, are valid UTF-8."""
    try:
        codecs.utf_8_decode(sample, "strict", False)
    except UnicodeDecodeError:
        return False
    return True


def repair_surrogates(text: str) -> tuple[str, int, int]:
    """Join surrogate pairs and replace lone surrogates by U+FFFD, as a str from JSON may hold them.

    Returns the text, how many pairs were joined, and how many lone ones were replaced.
    """
    # Called for every row of a table: most are ASCII, which is told at once.
    n_surrogates = 0 if text.isascii() else len(_SURROGATE.findall(text))
    if not n_surrogates:
        return text, 0, 0
    repaired = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    lone = repaired.count("\ufffd") - text.count("\ufffd")
    return repaired, (n_surrogates - lone) // 2, lone


def surrogate_notes(joined: int, replaced: int) -> list[str]:
    """Say in plain words what `repair_surrogates` did."""
    notes = [f"Surrogate pairs that were joined: {joined:,}."] if joined else []
    return notes + ([f"Lone surrogates that became U+FFFD: {replaced:,}."] if replaced else [])
