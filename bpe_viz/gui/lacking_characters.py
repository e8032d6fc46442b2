"""The characters of pre-tokens that a tokenizer's base lacks: their places in a split are gaps, and hold no symbol."""

from __future__ import annotations

from collections.abc import Sequence

from bpe_viz.engine.pretoken_counts import PretokenCounts
from bpe_viz.engine.symbols import SymbolTable


class LackingCharacters:
    """Finds them in splits at one position; asked from left to right, each symbol of a row is passed once."""

    def __init__(self, pretokens: PretokenCounts, symbols: SymbolTable) -> None:
        self._pretokens = pretokens
        self._symbols = symbols
        self._reached: dict[int, tuple[int, int]] = {}
        """By row: a place in its split, and the byte of the pre-token at which it begins."""

    def at(self, row: int, split: Sequence[int], place: int) -> bytes:
        """Return the content of a gap, b"" if it is not known: symbols need not spell the pre-token.

        split: of the row's pre-token; negative: a gap
        """
        content = self._pretokens.content(row)
        reached, byte = self._reached.get(row, (0, 0))
        if reached > place:
            reached, byte = 0, 0
        for symbol in split[reached:place]:
            symbol_content = self._unit_at(content, byte) if symbol < 0 else self._symbols.content(symbol)
            if not content.startswith(symbol_content, byte):
                return b""
            byte += len(symbol_content)
        self._reached[row] = (place, byte)
        return self._unit_at(content, byte)

    def _unit_at(self, content: bytes, start: int) -> bytes:
        """Return the character, or of a base of bytes the byte, that begins there."""
        end = start + 1
        while self._symbols.base.base == "characters" and end < len(content) and content[end] & 0xC0 == 0x80:
            end += 1
        return content[start:end]
