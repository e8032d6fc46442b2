"""Large tables on their way between processes: packed in pieces, so that unpacking never holds Python's lock for long.

Reading a pickle lets no other thread run; for a table of a quarter of a million entries that is longer than a frame.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

ENTRIES_A_PIECE = 8_192


def pack(table: Mapping[Any, Any] | Sequence[Any]) -> list[bytes]:
    """Return a mapping's items or a sequence's values in pickles of a few thousand entries each."""
    entries = iter(table.items() if isinstance(table, Mapping) else table)
    return [pickle.dumps(piece, protocol=5) for piece in iter(lambda: list(islice(entries, ENTRIES_A_PIECE)), [])]


def unpack(pieces: Sequence[bytes]) -> Iterator[list[Any]]:
    """Yield what was packed, piece after piece."""
    return map(pickle.loads, pieces)
