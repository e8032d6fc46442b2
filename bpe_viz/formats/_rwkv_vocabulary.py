r"""RWKV's vocabulary: on each line an id, a Python literal of text or bytes, and its length in bytes.

It is not BPE: a text is cut greedily into the longest tokens. Source: BlinkDL/ChatRWKV, tokenizer/rwkv_tokenizer.py.
"""

from __future__ import annotations

import ast
import re
import warnings
from pathlib import Path

from bpe_viz.errors import FormatError
from bpe_viz.formats._reading import AGAIN, LARGEST_ID, damaged, lines_of, read_whole, without_bom

# The literal is text or bytes in one kind of quotation marks, so that nothing else is handed to Python's reader.
_LINE = re.compile(r"""([0-9]{1,10}) (b?(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")) ([0-9]{1,10})""")


def looks_like_rwkv(head: bytes) -> bool:
    """Tell whether a file begins as such a vocabulary does."""
    first, _, rest = without_bom(head).partition(b"\n")
    return bool(rest) and _LINE.fullmatch(first.removesuffix(b"\r").decode(errors="replace")) is not None


def read_rwkv(path: Path) -> dict[bytes, int]:
    """Return token -> id. Raises FormatError that names the line, and if one of the 256 bytes is no token."""
    ids: dict[bytes, int] = {}
    token_of: dict[int, bytes] = {}
    lines = lines_of(path, read_whole(path))
    for number, line in enumerate(lines, start=1):
        if not line and number == len(lines):
            break
        found = _LINE.fullmatch(line)
        if found is None:
            raise damaged(path, number, line, "is not an id, a literal and a length, parted by one space")
        token_id, token = int(found[1]), _literal(path, number, line, found[2])
        if len(token) != int(found[3]):
            raise damaged(path, number, line, f"says {found[3]} bytes of a token that has {len(token)}")
        if not token:
            raise damaged(path, number, line, "holds an empty token")
        if token_id > LARGEST_ID:
            raise damaged(path, number, line, f"has an id above {LARGEST_ID:,}")
        if token in ids:
            raise damaged(path, number, line, f"lists a token again that has the id {ids[token]}")
        if token_id in token_of:
            raise damaged(path, number, line, f"gives an id again that the token {token_of[token_id]!r} has")
        ids[token] = token_id
        token_of[token_id] = token
    lacking = [byte for byte in range(256) if bytes([byte]) not in ids]
    if lacking:
        raise FormatError(
            f"{path}: {len(lacking)} of the 256 bytes are no token, 0x{lacking[0]:02x} for one: text with them has no "
            "ids.",
            AGAIN,
        )
    return ids


def _literal(path: Path, number: int, line: str, written: str) -> bytes:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # an unknown escape is one only by oversight
            value = ast.literal_eval(written)
        return value.encode() if isinstance(value, str) else bytes(value)
    except (SyntaxError, ValueError, SyntaxWarning, DeprecationWarning) as error:
        raise damaged(path, number, line, f"holds no literal that Python reads ({error})") from error
