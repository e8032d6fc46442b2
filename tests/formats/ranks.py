"""Small lists of ranks, and the library that merges by them."""

from __future__ import annotations

import base64
from typing import Any

from hypothesis import strategies as st

BYTES = [bytes([byte]) for byte in range(256)]

# Random tokens, some of which no two others make: such orphans are reached only as a whole pre-token.
TOKENS = st.lists(st.text("ab c", min_size=2, max_size=5).map(str.encode), max_size=12, unique=True)

NEWER_TOKENS = [b"a\xf0", b"\x80'", b"\x95B", b"\xb0a", b"\xb0,"]
NEWER_TEXTS = ("a\U0001e6c0's", "ʕBa", "\U0001e6c0\U000323b0,\U000323b0a", "(\U0001e6c0's) " * 9)
"""Letters that are younger than the Unicode of tiktoken, or of another case since; what reaches across a cut there."""


def b64(token: bytes) -> str:
    return base64.b64encode(token).decode()


def in_tiktoken(ranks: dict[bytes, int], pattern: str, special: dict[str, int] | None = None) -> Any:
    import tiktoken

    return tiktoken.Encoding("x", pat_str=pattern, mergeable_ranks=ranks, special_tokens=special or {})
