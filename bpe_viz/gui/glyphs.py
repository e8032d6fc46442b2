"""What the fonts of this machine cannot draw is written as a code point."""

from __future__ import annotations

from itertools import groupby

from PySide6.QtGui import QFontMetricsF

from bpe_viz.engine.visible import SIGNS, Part, Parts, code_point

_MEANING_OF_SIGN = {sign: character for character, sign in SIGNS.items()}


def drawable(parts: Parts, metrics: QFontMetricsF) -> Parts:
    """Replace the characters that no font covers: <U+1F44D> instead of an empty box.

    A sign such as ␍ that is not covered becomes the code point of what it stands for.
    """
    if all(part.text.isascii() for part in parts):
        return parts
    return tuple(piece for part in parts for piece in _drawable_pieces(part, metrics))


def _drawable_pieces(part: Part, metrics: QFontMetricsF) -> list[Part]:
    pieces = []
    for is_covered, run in groupby(part.text, key=lambda character: _is_covered(character, metrics)):
        if is_covered:
            pieces.append(Part("".join(run), part.kind))
        else:
            pieces += [Part(_written(character, part), "invisible") for character in run]
    return pieces


def _is_covered(character: str, metrics: QFontMetricsF) -> bool:
    # Asks the font and all fonts that Qt falls back to (measured: true for U+6F22 where only a CJK
    # font beside the chosen one has it), takes 1.4 microseconds, and shapes nothing. Shaping what no
    # font has makes Qt print one warning a font.
    return character.isascii() or metrics.inFontUcs4(ord(character))


def _written(character: str, part: Part) -> str:
    if part.kind == "invisible":
        return code_point(_MEANING_OF_SIGN.get(character, character))
    return code_point(character)
