"""The forms in which tokens of a text can be copied."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bpe_viz.engine.symbols import GAP
from bpe_viz.gui.token_note import visible_token
from bpe_viz.gui.token_spans import TokenSpans

CopyForm = Callable[[TokenSpans, Sequence[int]], str]


def _ids(spans: TokenSpans, chosen: Sequence[int]) -> list[int]:
    return [token_id for token_id in spans.tokens.ids[spans.index[list(chosen)]].tolist() if token_id != GAP]


def _as_ids(spans: TokenSpans, chosen: Sequence[int]) -> str:
    return " ".join(map(str, _ids(spans, chosen)))


def _as_python(spans: TokenSpans, chosen: Sequence[int]) -> str:
    return str(_ids(spans, chosen))


def _as_hex(spans: TokenSpans, chosen: Sequence[int]) -> str:
    return " ".join(spans.content(span).hex(" ").upper() for span in chosen if spans.content(span))


def _as_tokens(spans: TokenSpans, chosen: Sequence[int]) -> str:
    """One token a line, as the window shows it."""
    tokenizer = spans.encoded.tokenizer
    return "\n".join(visible_token(tokenizer, token_id) for token_id in _ids(spans, chosen))


COPY_FORMS: dict[str, CopyForm] = {
    "Ids": _as_ids,
    "Python list of ids": _as_python,
    "Bytes in hex": _as_hex,
    "Tokens, one a line": _as_tokens,
}
"""Title -> how the chosen spans are written. Unknown characters have no id and are left out of ids and tokens."""
