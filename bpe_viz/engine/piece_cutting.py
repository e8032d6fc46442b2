"""Where a text may be cut into pieces that are encoded apart, and special tokens out of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import regex

from bpe_viz.engine.pretokenize import Pretokenizer

_WINDOW = 1 << 12
_SMALL_WINDOW = 1 << 6


class PieceCutter:
    """Cuts text into pieces that can be encoded apart, and special tokens out of them."""

    def __init__(
        self, pretokenizer: Pretokenizer, specials: Iterable[str], forms: tuple[str, ...], behind_ascii: bool = False
    ) -> None:
        """Take what decides where a text may be cut.

        behind_ascii: only there, as engines may sort other characters otherwise
        """
        self._behind_ascii = behind_ascii
        self._pretokenizer = pretokenizer
        self._normalizes = bool(forms)
        longest_first = sorted({text.encode() for text in specials}, key=lambda text: (-len(text), text))
        self._reach = len(longest_first[0]) - 1 if longest_first else 0
        self._special = regex.compile(b"|".join(map(regex.escape, longest_first))) if longest_first else None

    def pieces(self, slices: Iterable[bytes]) -> Iterator[bytes]:
        """Yield the text of all slices in pieces, none empty; a slice ends with a whole character."""
        held: list[bytes] = []
        for data in slices:
            cut = self._last_cut(data)
            if cut == 0:
                held.append(data)
                continue
            yield b"".join((*held, data[:cut]))
            held = [data[cut:]] if cut < len(data) else []
        if rest := b"".join(held):
            yield rest

    def stretches(self, piece: bytes) -> list[tuple[bytes, bool]]:
        """Return (text, is special) in order, none empty: leftmost first, the longest where several start."""
        if self._special is None:
            return [(piece, False)]
        found: list[tuple[bytes, bool]] = []
        done = 0
        for match in self._special.finditer(piece):
            if match.start() > done:
                found.append((piece[done : match.start()], False))
            found.append((match.group(), True))
            done = match.end()
        if done < len(piece):
            found.append((piece[done:] if done else piece, False))
        return found

    def _last_cut(self, data: bytes) -> int:
        """Return the last place in a slice where it may be cut, 0 if there is none."""
        end = len(data) - self._reach
        window = _WINDOW
        while end > self._reach:
            start = _character_start(data, max(0, end - window))
            text = data[start : _character_start(data, end)].decode(errors="replace")
            cut = self._pretokenizer.last_cut(text)
            if cut == 0:
                if start == 0:
                    return 0
                window *= 8
                continue
            place = start + len(text[:cut].encode())
            if place <= self._reach:
                return 0
            is_unsafe = (self._normalizes and not _is_beside_blank(data, place)) or (
                self._behind_ascii and data[place - 1] >= 0x80
            )
            if is_unsafe or self._is_inside_special(data, place):
                # Where every place is refused, looking at a whole window for each would take a second a megabyte.
                end, window = place - 1, _SMALL_WINDOW
                continue
            return place
        return 0

    def _is_inside_special(self, data: bytes, place: int) -> bool:
        if self._special is None:
            return False
        around = data[place - self._reach : place + self._reach]
        return any(
            match.start() < self._reach < match.end() for match in self._special.finditer(around, overlapped=True)
        )


def _is_beside_blank(data: bytes, place: int) -> bool:
    """Tell whether a text may be normalized in two parts here: nothing composes with a blank or a line end.

    Lower case, too, looks at neighbours in a word alone.
    """
    return not set(data[place - 1 : place + 1]).isdisjoint(b" \n\r\t")


def _character_start(data: bytes, place: int) -> int:
    """Return the first place from here back at which a character begins."""
    while 0 < place < len(data) and data[place] & 0xC0 == 0x80:
        place -= 1
    return place
