"""How one symbol is written in chips and described in tooltips."""

from __future__ import annotations

from collections.abc import Sequence

from bpe_viz.engine.symbols import SymbolTable
from bpe_viz.engine.visible import Parts, shortened, text_of, visible_parts

LONGEST_CHIP = 32
LONGEST_IN_TOOLTIP = 120
_MOST_BYTES = 32
_LONGEST_CHARACTER = 4


def parts_of_symbol(symbols: SymbolTable, symbol: int, limit: int | None = LONGEST_CHIP) -> Parts:
    """Return what a chip shows of a symbol; limit: in characters, None: all of it."""
    parts = visible_parts(symbols.content(symbol), symbols.marker(symbol))
    return parts if limit is None else shortened(parts, limit)


def text_of_symbol(symbols: SymbolTable, symbol: int, limit: int = LONGEST_IN_TOOLTIP) -> str:
    """Return a symbol as one line of plain text."""
    return text_of(parts_of_symbol(symbols, symbol, limit))


def describe_symbol(symbols: SymbolTable, symbol: int) -> list[str]:
    """Return lines of plain text: the symbol, its id, its bytes, and the merge that made it."""
    rank = symbols.rank(symbol)
    made_by = "base symbol" if rank is None else f"made by merge {rank + 1:,}, rank {rank:,}"
    return [
        text_of_symbol(symbols, symbol),
        f"id {symbol:,}, {made_by}",
        describe_bytes(symbols.content(symbol)),
    ]


def describe_bytes(content: bytes) -> str:
    """Return how many bytes there are, and which."""
    if not content:
        return "no bytes"
    shown = content[:_MOST_BYTES].hex(" ").upper()
    rest = " …" if len(content) > _MOST_BYTES else ""
    return f"{len(content):,} {'byte' if len(content) == 1 else 'bytes'}: {shown}{rest}"


def characters_around(contents: Sequence[bytes], place: int) -> str:
    """Return the characters that contents[place] helps to build; empty if it is whole characters itself.

    contents: of neighbouring symbols, in order
    """
    content = contents[place]
    if _is_whole(content):
        return ""
    before = b"".join(contents[:place])[-_LONGEST_CHARACTER + 1 :]
    after = b"".join(contents[place + 1 :])[: _LONGEST_CHARACTER - 1]
    text = before + content + after
    start, end = len(before), len(before) + len(content)
    while start > 0 and _continues(text[start]):
        start -= 1
    while end < len(text) and _continues(text[end]):
        end += 1
    return text[start:end].decode() if _is_whole(text[start:end]) else ""


def _is_whole(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def _continues(byte: int) -> bool:
    return byte & 0xC0 == 0x80
