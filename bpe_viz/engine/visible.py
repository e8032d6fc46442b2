"""How the bytes of a token are shown to people: nothing invisible stays invisible."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Literal, NamedTuple

Kind = Literal["text", "invisible", "marker", "byte", "size"]

DOTTED_CIRCLE = "◌"
ELLIPSIS = "…"
STANDS_FOR_SPACE = "▁"
"""U+2581, which SentencePiece writes for a space."""

LONGEST_SPELLED_RUN = 2
CACHED_TOKENS = 1 << 15
MOST_BYTES = 4096
"""Of a larger token only the ends are shown: one made of a line of 10 MB must not hold a window up."""

SIGNS = {
    " ": "␣", "\n": "⏎", "\t": "⇥", "\r": "␍", "\u00a0": "⍽",
    "\0": "␀", "\a": "␇", "\b": "␈", "\v": "␋", "\f": "␌", "\x1b": "␛", "\x7f": "␡",
}  # fmt: skip
"""White space and frequent controls have a sign of their own; other invisible characters are written as code points."""

_ESCAPED_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zs", "Zl", "Zp"})
_MARK_CATEGORIES = frozenset({"Mn", "Mc", "Me"})

# Drawn as nothing although their category promises ink: joiners, fillers, variation selectors, the
# empty braille cell. U+FFFD does have ink, but would pass for text that failed to decode.
_ESCAPED_CHARACTERS = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\ufffd"
    + "".join(map(chr, (*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))
)


class Part(NamedTuple):
    """A piece of a shown token.

    kind: "text" is what the token says; "invisible" is a sign put in place of something without ink;
        "marker" is the end-of-word marker; "byte" is a byte that is no whole character; "size" tells how
        large a token is of which only the ends are shown
    """

    text: str
    kind: Kind


Parts = tuple[Part, ...]


def visible(content: bytes, marker: str = "", limit: int | None = None) -> str:
    """Show a token as one line of plain text.

    marker: the end-of-word marker's text if the token ends a word
    limit: shorten to about so many characters; None: show all
    A typed ␣ and a space look the same here; visible_parts tells them apart.
    """
    parts = visible_parts(content, marker)
    return text_of(parts if limit is None else shortened(parts, limit))


@lru_cache(maxsize=CACHED_TOKENS)
def visible_parts(content: bytes, marker: str = "") -> Parts:
    """Show a token in pieces, so that a painter can draw what is not text in dim ink.

    marker: the end-of-word marker's text if the token ends a word
    """
    if len(content) <= MOST_BYTES:
        parts = _parts(content)
    else:
        head, tail = content[: _cut_before(content, MOST_BYTES // 2)], content[_cut_before(content, -MOST_BYTES // 2) :]
        size = Part(f"{ELLIPSIS} ({len(content):,} bytes) {ELLIPSIS}", "size")
        parts = [*_parts(head), size, *_parts(tail)]
    if marker:
        parts.append(Part(marker, "marker"))
    return tuple(parts)


def _parts(content: bytes) -> list[Part]:
    # surrogateescape turns each byte that is no whole character into one of U+DC80 to U+DCFF, which
    # valid UTF-8 cannot hold: so the two never meet.
    return list(_joined(_shown(content.decode("utf-8", errors="surrogateescape"))))


def _cut_before(content: bytes, place: int) -> int:
    """Return a place, this one or up to three bytes before it, that does not cut a character apart."""
    for earlier in range(4):
        if content[place - earlier] & 0xC0 != 0x80:
            return place - earlier
    return place


def text_of(parts: Sequence[Part]) -> str:
    """Return the parts' text, end to end."""
    return "".join(part.text for part in parts)


@lru_cache(maxsize=CACHED_TOKENS)
def shortened(parts: Parts, limit: int) -> Parts:
    """Cut the middle out of a long token and say how long it is: abcd…wxyz (120).

    limit: most characters to keep, the ellipsis and the length not counted; 2 or more
    Signs such as <U+200B> are kept or cut whole, and an accent stays with its letter.
    The length counts characters as they are shown; of a very large token it is the size in bytes.
    """
    length = sum(len(part.text) for part in parts)
    if length <= limit:
        return parts
    size = next((part.text.strip(f"{ELLIPSIS} ") for part in parts if part.kind == "size"), f"({length:,})")
    units = [unit for part in _ends(parts, 2 * limit) for unit in _units(part)]
    head = _fitting(units, (limit + 1) // 2)
    tail = _fitting(units[: len(head) - 1 : -1], limit // 2)
    cut = [Part(ELLIPSIS, "invisible"), *reversed(tail), Part(f" {size}", "invisible")]
    return tuple(_joined([*head, *cut]))


def code_point(character: str) -> str:
    """Write a character as its code point: <U+200B>."""
    return f"<U+{ord(character):04X}>"


def is_invisible(character: str) -> bool:
    """Tell whether a character has no ink of its own, or could pass for another: it is shown by a sign."""
    return character in _ESCAPED_CHARACTERS or unicodedata.category(character) in _ESCAPED_CATEGORIES


def _shown(text: str) -> Iterator[Part]:
    """Yield a part for every character or run of equal invisible characters."""
    carries_mark = False
    for character, run in groupby(text):
        times = sum(1 for _ in run)
        if "\udc80" <= character <= "\udcff":
            yield from [Part(f"<{ord(character) - 0xDC00:02X}>", "byte")] * times
            carries_mark = False
        elif character == STANDS_FOR_SPACE and times > LONGEST_SPELLED_RUN:
            # Drawn without a gap: nobody could count them.
            yield Part(f"{character}×{times:,}", "invisible")
            carries_mark = False
        elif is_invisible(character):
            yield from _invisible_run(SIGNS.get(character) or code_point(character), times)
            carries_mark = False
        elif not carries_mark and unicodedata.category(character) in _MARK_CATEGORIES:
            yield Part(DOTTED_CIRCLE + character * times, "invisible")
            carries_mark = True
        else:
            yield Part(character * times, "text")
            carries_mark = True


def _invisible_run(sign: str, times: int) -> Iterator[Part]:
    if times > LONGEST_SPELLED_RUN:
        yield Part(f"{sign}×{times:,}", "invisible")
    else:
        yield from [Part(sign, "invisible")] * times


def _joined(parts: Sequence[Part] | Iterator[Part]) -> Iterator[Part]:
    """Join neighbours of kind "text"; signs stay single, so that they are never cut in two."""
    for is_text, group in groupby(parts, key=lambda part: part.kind == "text"):
        if is_text:
            yield Part(text_of(list(group)), "text")
        else:
            yield from group


def _ends(parts: Parts, room: int) -> Iterator[Part]:
    """Yield what a cut can show of parts: at most so many from either side, and of text so many characters."""
    kept = parts if len(parts) <= 2 * room else (*parts[:room], *parts[-room:])
    for part in kept:
        if part.kind == "text" and len(part.text) > 2 * room:
            yield Part(part.text[:room], "text")
            yield Part(part.text[-room:], "text")
        else:
            yield part


def _units(part: Part) -> Iterator[Part]:
    """Split a part where it may be cut: text before every character that is not a mark."""
    if part.kind != "text":
        yield part
        return
    unit = ""
    for character in part.text:
        if unit and unicodedata.category(character) not in _MARK_CATEGORIES:
            yield Part(unit, "text")
            unit = ""
        unit += character
    yield Part(unit, "text")


def _fitting(units: Sequence[Part], room: int) -> list[Part]:
    """Take units from the start while they fit, and one at least."""
    taken: list[Part] = []
    for unit in units:
        room -= len(unit.text)
        if taken and room < 0:
            break
        taken.append(unit)
    return taken
