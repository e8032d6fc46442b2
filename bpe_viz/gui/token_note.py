"""What the window says of one token of a text, in plain words."""

from __future__ import annotations

import unicodedata

from bpe_viz.engine.layout import EncodedText
from bpe_viz.engine.symbols import GAP
from bpe_viz.engine.tokenizer import Tokenizer
from bpe_viz.engine.visible import visible
from bpe_viz.gui.token_spans import TokenSpans

_MOST_SHOWN = 60
_MOST_BYTES = 24
_END_OF_WORD = "The mark below the line, where the word ends:"


def describe_character(spans: TokenSpans, code_point: int) -> str:
    """Describe all tokens that a character of the text is part of."""
    found = spans.at(code_point).tolist()
    if not found:
        return "Dropped by the pretokenizer: no token stands for it." if _is_dropped(spans, code_point) else ""
    described = [describe_span(spans, span) for span in found]
    is_marker = [bool(spans.left[span] == spans.right[span]) for span in found]
    described = [f"{_END_OF_WORD}\n{said}" if ends else said for said, ends in zip(described, is_marker, strict=True)]
    if is_marker.count(False) > 1:
        token = int(spans.index[found[0]])
        character = spans.encoded.text[int(spans.tokens.start[token])]
        described.insert(0, f"{_named(character)} is split into {is_marker.count(False)} tokens:")
    return "\n\n".join(described)


def describe_span(spans: TokenSpans, span: int) -> str:
    """Describe one token: text, id, bytes, the merge that made it, and the characters it is part of."""
    token = int(spans.index[span])
    token_id = int(spans.tokens.ids[token])
    content = spans.content(span)
    if token_id == GAP:
        return f"{visible(content, limit=_MOST_SHOWN)}\nUnknown character: no token stands for it.\n{_hex(content)}"
    tokenizer = spans.encoded.tokenizer
    lines = [visible_token(tokenizer, token_id), f"id {token_id:,} · {_hex(content)}", _origin(tokenizer, token_id)]
    lines += _shared_characters(spans.encoded, spans, token)
    return "\n".join(line for line in lines if line)


def visible_token(tokenizer: Tokenizer, token_id: int) -> str:
    """Return a token's text as people can read it."""
    token = tokenizer.token(token_id)
    marker = tokenizer.base.marker if token.ends_word else ""
    return visible(token.content, marker, _MOST_SHOWN)


def _origin(tokenizer: Tokenizer, token_id: int) -> str:
    token = tokenizer.token(token_id)
    if token.kind in ("special", "unknown"):
        return f"{token.kind} token"
    pair = tokenizer.merge_of(token_id)
    if token.kind == "whole":
        return "no merge makes it: it is found as a whole pre-token only" if tokenizer.n_merges else "token"
    if token.rank is None:
        return "base symbol"
    if pair is None:
        return f"rank {token.rank:,}: no two tokens merge to it, so it is found as a whole pre-token only"
    left, right = (visible_token(tokenizer, tokenizer.id_of(symbol)) for symbol in pair)
    return f"merge {token.rank + 1:,} (rank {token.rank:,}): {left} + {right}"


def _shared_characters(encoded: EncodedText, spans: TokenSpans, token: int) -> list[str]:
    """Name the characters that a token holds only a part of: its first, its last, or both."""
    symbols = slice(int(spans.tokens.first[token]), int(spans.tokens.last[token]) + 1)
    starts, ends = encoded.start[symbols], encoded.end[symbols]
    part, parts = encoded.part[symbols], encoded.parts[symbols]
    unit = "byte" if encoded.tokenizer.base.base == "bytes" else "part"
    lines = []
    for start in dict.fromkeys((int(starts[0]), int(starts[-1]))):
        here = (starts == start) & (ends > start)
        if not here.any() or int(here.sum()) == int(parts[here][0]):
            continue
        first, last, of = int(part[here][0]) + 1, int(part[here][-1]) + 1, int(parts[here][0])
        which = f"{unit} {first}" if first == last else f"{unit}s {first} to {last}"
        characters = encoded.text[start : int(ends[here][0])]
        lines.append(f"{which} of the {of} of {' '.join(map(_named, characters))}")
    return lines


def _named(character: str) -> str:
    name = unicodedata.name(character, "")
    shown = visible(character.encode("utf-8", "surrogatepass"))
    return f"{shown} U+{ord(character):04X}{f' {name}' if name else ''}"


def _hex(content: bytes) -> str:
    if not content:
        return "no bytes"
    shown = content[:_MOST_BYTES].hex(" ").upper()
    more = f" … ({len(content):,})" if len(content) > _MOST_BYTES else ""
    return f"{'byte' if len(content) == 1 else 'bytes'} {shown}{more}"


def _is_dropped(spans: TokenSpans, code_point: int) -> bool:
    return bool(((spans.uncovered[:, 0] <= code_point) & (code_point < spans.uncovered[:, 1])).any())
