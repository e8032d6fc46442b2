"""By what tokens are coloured, and the box that each gets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QColor

from bpe_viz.engine.symbols import GAP
from bpe_viz.gui.look import Look
from bpe_viz.gui.theme import TOKEN_COLOURS
from bpe_viz.gui.token_spans import TokenSpans

ColourBy = Literal["place", "id", "rank", "length", "status"]
COLOUR_TITLES: dict[ColourBy, str] = {
    "place": "place in the text",
    "id": "id",
    "rank": "rank",
    "length": "length in bytes",
    "status": "status",
}

SCALE_STEPS = 8
# Where the strongest step of the scale lies between the panel and the colour of "next": signs still read on it, 4.5:1.
_MOST_BLEND = 0.32

_GAP_STYLE = TOKEN_COLOURS
_FIRST_STEP = _GAP_STYLE + 1
_BASE = _FIRST_STEP + SCALE_STEPS
_MERGED, _MADE, _SPECIAL, _UNKNOWN = _BASE + 1, _BASE + 2, _BASE + 3, _BASE + 4


@dataclass(frozen=True, slots=True)
class BoxStyle:
    """How one token's box looks."""

    fill: QColor
    line: QColor
    line_width: float = 1.0
    dashed: bool = False


def box_styles(look: Look) -> tuple[BoxStyle, ...]:
    """Return the boxes that colour_tokens numbers; those of special and unknown tokens are the last two."""
    theme = look.theme
    styles = [BoxStyle(fill, line) for fill, line in zip(theme.tokens, theme.token_lines, strict=True)]
    styles.append(BoxStyle(theme.panel, theme.dim, dashed=True))
    for step in range(SCALE_STEPS):
        part = 0.06 + (_MOST_BLEND - 0.06) * step / (SCALE_STEPS - 1)
        styles.append(BoxStyle(_blend(theme.panel, theme.next, part), _blend(theme.panel, theme.next, part + 0.3)))
    styles.append(BoxStyle(theme.chip, theme.chip_line))
    styles.append(BoxStyle(theme.tokens[0], theme.token_lines[0]))
    styles.append(BoxStyle(theme.made_soft, theme.made))
    styles.append(BoxStyle(theme.chip, theme.ink, 2.0))
    styles.append(BoxStyle(theme.panel, theme.ink, dashed=True))
    return tuple(styles)


def _blend(under: QColor, over: QColor, part: float) -> QColor:
    def mixed(a: float, b: float) -> float:
        return a + (b - a) * part

    return QColor.fromRgbF(
        mixed(under.redF(), over.redF()),
        mixed(under.greenF(), over.greenF()),
        mixed(under.blueF(), over.blueF()),
    )


def colour_tokens(spans: TokenSpans, by: ColourBy) -> NDArray[np.int64]:
    """Return (spans,) int64: which of box_styles each span gets."""
    tokens, index = spans.tokens, spans.index
    styles = _COLOURINGS[by](spans)[index]
    ids, tokenizer = tokens.ids[index], spans.encoded.tokenizer
    styles[ids == GAP] = _GAP_STYLE
    styles[special_spans(spans)] = _SPECIAL
    if tokenizer.unknown is not None:
        styles[_is_set(spans) & (ids == tokenizer.special_ids[tokenizer.unknown])] = _UNKNOWN
    return styles


def special_spans(spans: TokenSpans) -> NDArray[np.bool_]:
    """Return (spans,) bool: the tokens that are special or unknown ones, and no ordinary text that has the same id."""
    special_ids = spans.encoded.tokenizer.special_ids
    special = np.fromiter(special_ids.values(), np.int64, len(special_ids))
    return _is_set(spans) & np.isin(spans.tokens.ids[spans.index], special)


def _is_set(spans: TokenSpans) -> NDArray[np.bool_]:
    """Return (spans,) bool: the tokens that no merge makes or touches: special ones, or all of them."""
    is_set: NDArray[np.bool_] = spans.encoded.symbols[spans.tokens.first[spans.index]] < GAP
    return is_set


def made_last(spans: TokenSpans) -> NDArray[np.bool_]:
    """Return (spans,) bool: whether the merge just before the position made the token."""
    ranks = spans.tokens.ranks[spans.index]
    made: NDArray[np.bool_] = (ranks >= 0) & (ranks == spans.position - 1)
    return made


def scale_note(spans: TokenSpans, by: ColourBy) -> str:
    """Say what the strength or the kind of a colour means."""
    match by:
        case "rank":
            return f"The later the merge that made a token, the stronger its colour (of {spans.position:,} merges)."
        case "length":
            return "The longer a token, the stronger its colour: 1, 2, ... 8 and more bytes."
        case "status":
            return "Grey: base symbol. Blue: merged. Warm: made by the last merge. Dashed: unknown. Bold edge: special."
        case "id":
            return "Equal tokens have the same colour."
        case "place":
            return "Neighbours have different colours."


def _by_place(spans: TokenSpans) -> NDArray[np.int64]:
    return np.arange(len(spans.tokens)) % TOKEN_COLOURS


def _by_id(spans: TokenSpans) -> NDArray[np.int64]:
    return np.remainder(spans.tokens.ids, TOKEN_COLOURS)


def _by_rank(spans: TokenSpans) -> NDArray[np.int64]:
    # Ranks are spread by their logarithm: half of all tokens of a text come from the first few merges.
    ranks = spans.tokens.ranks
    most = np.log2(max(2, spans.position + 1))
    steps = np.log2(np.maximum(ranks, 0) + 2) / most * (SCALE_STEPS - 1)
    return np.where(ranks < 0, _BASE, _FIRST_STEP + np.clip(steps.astype(np.int64), 0, SCALE_STEPS - 1))


def _by_length(spans: TokenSpans) -> NDArray[np.int64]:
    encoded, tokens = spans.encoded, spans.tokens
    lengths = encoded.content_start[tokens.last + 1] - encoded.content_start[tokens.first]
    steps: NDArray[np.int64] = np.clip(lengths - 1, 0, SCALE_STEPS - 1)
    return steps + _FIRST_STEP


def _by_status(spans: TokenSpans) -> NDArray[np.int64]:
    tokens = spans.tokens
    styles = np.where(tokens.ranks < 0, _BASE, _MERGED)
    styles[(tokens.ranks >= 0) & (tokens.ranks == spans.position - 1)] = _MADE
    styles[spans.encoded.symbols[tokens.first] < GAP] = _MERGED  # all of a model without merges
    return styles


_COLOURINGS: dict[ColourBy, Callable[[TokenSpans], NDArray[np.int64]]] = {
    "place": _by_place,
    "id": _by_id,
    "rank": _by_rank,
    "length": _by_length,
    "status": _by_status,
}
