"""What the fonts of this machine cannot draw is written as a code point, a control by its name in small capitals."""

from __future__ import annotations

from functools import cache
from itertools import groupby

from PySide6.QtGui import QFontDatabase, QFontMetricsF

from bpe_viz.engine.visible import SIGNS, Part, Parts, code_point

_MEANING_OF_SIGN = {sign: character for character, sign in SIGNS.items()}

# Few fonts have the control pictures; nearly all have the letters of phonetic script.
_NAMES = {"␍": "ᴄʀ", "␀": "ɴᴜʟ", "␇": "ʙᴇʟ", "␈": "ʙs", "␋": "ᴠᴛ", "␌": "ғғ", "␛": "ᴇsᴄ", "␡": "ᴅᴇʟ"}

_System = QFontDatabase.WritingSystem

_SHAPED = {
    # The dandas between belong to no script.
    _System.Devanagari: ((0x0900, 0x0963), (0x0966, 0x097F)),
    _System.Bengali: ((0x0980, 0x09FF),),
    _System.Gurmukhi: ((0x0A00, 0x0A7F),),
    _System.Gujarati: ((0x0A80, 0x0AFF),),
    _System.Oriya: ((0x0B00, 0x0B7F),),
    _System.Tamil: ((0x0B80, 0x0BFF),),
    _System.Telugu: ((0x0C00, 0x0C7F),),
    _System.Kannada: ((0x0C80, 0x0CFF),),
    _System.Malayalam: ((0x0D00, 0x0D7F),),
    _System.Sinhala: ((0x0D80, 0x0DFF),),
    _System.Khmer: ((0x1780, 0x17FF),),
}
_SHAPED_BY = {
    code: system for system, ranges in _SHAPED.items() for first, last in ranges for code in range(first, last + 1)
}
"""The scripts that a font must be able to shape, by code point: where none can, Qt opens all fonts to find that out,
which takes 50 milliseconds a script and size."""

_IN_NAMES = {_System.Oriya: ("Oriya", "Odia")}
"""Of a script's fonts: Qt counts only those with its older tag, and newer ones such as Noto's have the other alone."""


def drawable(parts: Parts, metrics: QFontMetricsF) -> Parts:
    """Replace the characters that no font covers: <U+1F44D> instead of an empty box.

    A sign such as ␍ that is not covered becomes ᴄʀ, or the code point of what it stands for.
    """
    if all(part.text.isascii() for part in parts):
        return parts
    return tuple(piece for part in parts for piece in _drawable_pieces(part, metrics))


def drawable_text(text: str, metrics: QFontMetricsF) -> str:
    """Replace the signs for controls that no font covers in a message or a tooltip: ␍ becomes ᴄʀ."""
    for sign in _NAMES.keys() & set(text):
        text = text.replace(sign, drawn_sign(sign, metrics) or code_point(_MEANING_OF_SIGN[sign]))
    return text


def drawn_sign(sign: str, metrics: QFontMetricsF) -> str | None:
    """Return how a sign is drawn: as it is, or by its name if no font covers it; None if neither can be."""
    if is_covered(sign, metrics):
        return sign
    name = _NAMES.get(sign, "")
    return name if name and is_covered(name, metrics) else None


def is_covered(text: str, metrics: QFontMetricsF) -> bool:
    """Tell whether some font has all characters of a text."""
    # Asks the font and all fonts that Qt falls back to (measured: true for U+6F22 where only a CJK
    # font beside the chosen one has it), takes 1.4 microseconds, and shapes nothing. Shaping what no
    # font has makes Qt print one warning a font.
    return text.isascii() or all(_is_code_covered(ord(character), metrics) for character in text)


def _is_code_covered(code: int, metrics: QFontMetricsF) -> bool:
    system = _SHAPED_BY.get(code)
    return (system is None or _has_fonts(system)) and metrics.inFontUcs4(code)


@cache
def _has_fonts(system: QFontDatabase.WritingSystem) -> bool:
    if QFontDatabase.families(system):
        return True
    names = _IN_NAMES.get(system, ())
    return any(name in family for family in QFontDatabase.families() for name in names)


def _drawable_pieces(part: Part, metrics: QFontMetricsF) -> list[Part]:
    pieces = []
    for is_drawn, run in groupby(part.text, key=lambda character: is_covered(character, metrics)):
        if is_drawn:
            pieces.append(Part("".join(run), part.kind))
        else:
            pieces += [Part(_written(character, part, metrics), "invisible") for character in run]
    return pieces


def _written(character: str, part: Part, metrics: QFontMetricsF) -> str:
    if part.kind == "invisible":
        return drawn_sign(character, metrics) or code_point(_MEANING_OF_SIGN.get(character, character))
    return code_point(character)
