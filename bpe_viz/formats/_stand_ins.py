"""GPT-2's alphabet: a printable letter for each of the 256 bytes, so that tokens can be written as text.

Source: openai/gpt-2, src/encoder.py, bytes_to_unicode.
"""

from __future__ import annotations

PRINTABLE = (*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100))
"""The bytes that stand for themselves."""

_REST = [byte for byte in range(256) if byte not in PRINTABLE]

LETTER_OF_BYTE = [chr(byte) if byte in PRINTABLE else chr(0x100 + _REST.index(byte)) for byte in range(256)]

_TABLE = dict(enumerate(LETTER_OF_BYTE))
_BYTE_OF_LETTER = {ord(letter): byte for byte, letter in enumerate(LETTER_OF_BYTE)}


def to_stand_ins(content: bytes) -> str:
    """Write bytes in stand-in letters: a space becomes Ġ."""
    return content.decode("latin-1").translate(_TABLE)


def from_stand_ins(text: str) -> bytes:
    """Return the bytes that stand-in letters stand for. Raises UnicodeEncodeError for another letter."""
    return text.translate(_BYTE_OF_LETTER).encode("latin-1")
