"""Encoded tokens as JSON, HTML and coloured text."""

from __future__ import annotations

import html
import tomllib
from collections.abc import Iterator, Sequence

from bpe_viz.assets import resource
from bpe_viz.engine.tokenizer import Tokenizer
from bpe_viz.engine.types import EncodedToken
from bpe_viz.engine.visible import visible, visible_parts

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{title}</title>
<style>
body {{ background: {panel}; color: {ink}; font: 16px/1.8 ui-monospace, monospace; margin: 2em; }}
pre {{ font: inherit; white-space: pre-wrap; overflow-wrap: anywhere; }}
span {{ border-radius: 3px; padding: 2px 0; }}
i {{ color: {sign}; font-style: normal; }}
.gap {{ outline: 1px dashed {error}; }}
{fills}
</style>
</head>
<body>
<p>{title}</p>
<pre>{tokens}</pre>
</body>
</html>"""


def token_text(tokenizer: Tokenizer, token_id: int) -> str:
    """Return a token's text with its marker; a byte that is no whole character becomes a lone surrogate."""
    return tokenizer.label(token_id).decode("utf-8", "surrogateescape")


def as_json_value(tokenizer: Tokenizer, token: EncodedToken) -> dict[str, object]:
    """Return one token of `--output json`; a gap has neither id nor token, but the bytes that it stands for."""
    return {
        "id": token.id,
        "token": None if token.id is None else token_text(tokenizer, token.id),
        "bytes": token.content.hex(),
        "start": token.start,
        "end": token.end,
    }


def as_html(tokenizer: Tokenizer, tokens: Sequence[EncodedToken]) -> str:
    """Return a page that needs nothing else: every token on one of eight fills, its id under the mouse."""
    fills, roles = _colours()
    count = sum(token.id is not None for token in tokens)
    return _PAGE.format(
        title=html.escape(f"{count:,} tokens, {tokenizer.name}"),
        tokens="".join(_spans(tokenizer, tokens, len(fills))),
        fills="\n".join(f".t{i} {{ background: {fill}; }}" for i, fill in enumerate(fills)),
        **roles,
    )


def _spans(tokenizer: Tokenizer, tokens: Sequence[EncodedToken], n_fills: int) -> Iterator[str]:
    for number, token in enumerate(tokens):
        shown = "".join(
            html.escape(part.text) if part.kind == "text" else f"<i>{html.escape(part.text)}</i>"
            for part in visible_parts(token.content, _marker(tokenizer, token))
        )
        title = "no token" if token.id is None else str(token.id)
        kind = "gap" if token.id is None else f"t{number % n_fills}"
        yield f'<span class="{kind}" title="{title}">{shown}</span>{_line_ends(token)}'


def as_ansi(tokenizer: Tokenizer, tokens: Sequence[EncodedToken]) -> str:
    """Return text for a terminal, every token on one of eight fills; a gap is underlined."""
    fills, roles = _colours()
    shown = []
    for number, token in enumerate(tokens):
        style = "4" if token.id is None else f"38;2;{_rgb(roles['ink'])};48;2;{_rgb(fills[number % len(fills)])}"
        text = visible(token.content, _marker(tokenizer, token))
        shown.append(f"\x1b[{style}m{text}\x1b[0m{_line_ends(token)}")
    return "".join(shown)


def _marker(tokenizer: Tokenizer, token: EncodedToken) -> str:
    if token.id is None or not tokenizer.token(token.id).ends_word:
        return ""
    return tokenizer.base.marker


def _line_ends(token: EncodedToken) -> str:
    """Break the line where the text does; the token itself shows a sign for it."""
    return "\n" * min(1, token.content.count(b"\n"))


def _colours() -> tuple[list[str], dict[str, str]]:
    """Return the fills of tokens, and the colours that a page needs by role."""
    theme = tomllib.loads(resource("themes", "light.toml").read_text(encoding="utf-8"))
    return theme["tokens"], {role: theme[role] for role in ("panel", "ink", "sign", "error")}


def _rgb(colour: str) -> str:
    return ";".join(str(int(colour[i : i + 2], 16)) for i in (1, 3, 5))
