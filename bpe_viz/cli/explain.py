"""The command `explain`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from itertools import groupby, repeat
from typing import TYPE_CHECKING

import click

from bpe_viz.cli.inputs import locate_tokenizer, open_tokenizer, read_input
from bpe_viz.cli.options import TEXT, pretokenizer_options
from bpe_viz.cli.terminal import print_result

if TYPE_CHECKING:
    from bpe_viz.engine.explain import Explanation
    from bpe_viz.engine.tokenizer import Tokenizer

LONG = 200
"""Of a pre-token with more base symbols only a rank's first merge in a row is shown, and what is near it: every whole
split would be a square of it."""

_REACH = 4
_ENDS = 20
_WIDTH = 12
_TAKEN_OUT = "…"


@click.command("explain")
@click.argument("tokenizer")
@click.argument("text", type=TEXT)
@click.option("--position", type=int, metavar="K", help="Only the first K merges apply.")
@pretokenizer_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    tokenizer: str, text: str, position: int | None, pretokenizer: str | None, pattern: str | None, as_json: bool
) -> None:
    """Tell why TEXT is split as it is: for each pre-token every merge that applied, in order.

    Ranks count from 0. In JSON, tokens are strings in which a byte that is no whole character is a lone surrogate
    from U+DC80 to U+DCFF, and a character that the base lacks is null. Of a pre-token with more than 200 base
    symbols merges of one rank share a line with what is near the first of them; in JSON, symbols and at are null.

    Example: bpe-viz explain novel.json "the lowest"
    """
    from bpe_viz.engine.explain import explain

    opened = open_tokenizer(locate_tokenizer(tokenizer), position, pretokenizer, pattern)
    given = read_input(text, None)
    opened.lay_out(given)  # refuses what would be encoded wrongly
    explanations = explain(opened, given)
    if as_json:
        print_result(json.dumps([_value(opened, one) for one in explanations]))
        return
    for one in explanations:
        print_result("\n".join(_lines(opened, one)))


def _value(tokenizer: Tokenizer, explanation: Explanation) -> dict[str, object]:
    def texts(symbols: tuple[int, ...]) -> list[str | None]:
        return [_text(tokenizer, symbol) for symbol in symbols]

    splits = explanation.splits() if len(explanation.first) <= LONG else repeat(None)
    return {
        "pretoken": explanation.pretoken,
        "special_id": explanation.special_id,
        "first": texts(explanation.first),
        "merges": [
            {
                "rank": merge.rank,
                "left": _text(tokenizer, merge.left),
                "right": _text(tokenizer, merge.right),
                "token": _text(tokenizer, merge.made),
                "symbols": None if split is None else texts(split.symbols),
                "at": None if split is None else split.at,
            }
            for merge, split in zip(explanation.merges, splits, strict=False)
        ],
        "whole": explanation.whole is not None,
        "tokens": texts(explanation.symbols),
        "ids": _ids(tokenizer, explanation),
    }


def _text(tokenizer: Tokenizer, symbol: int) -> str | None:
    return None if symbol < 0 else tokenizer.symbols.label(symbol).decode("utf-8", "surrogateescape")


def _ids(tokenizer: Tokenizer, explanation: Explanation) -> list[int | None]:
    if explanation.special_id is not None:
        return [explanation.special_id]
    unknown = None if tokenizer.unknown is None else tokenizer.special_ids[tokenizer.unknown]
    return [unknown if symbol < 0 else tokenizer.id_of(symbol) for symbol in explanation.symbols]


def _lines(tokenizer: Tokenizer, explanation: Explanation) -> Iterator[str]:
    from bpe_viz.engine.visible import visible

    is_long = len(explanation.first) > LONG
    limit = _WIDTH if is_long else None
    shown_pretoken = visible(explanation.pretoken.encode(), limit=limit)
    ids = " ".join("-" if token_id is None else str(token_id) for token_id in _ids(tokenizer, explanation))
    if explanation.special_id is not None:
        what = "special token" if tokenizer.kind == "BPE" else "token"
        yield f"{shown_pretoken}  {what} {ids}"
        return
    yield f"{shown_pretoken}  ids {ids}"

    @cache
    def shown(symbol: int) -> str:
        if symbol < 0:
            return "(not in the base)"
        return visible(tokenizer.symbols.content(symbol), tokenizer.symbols.marker(symbol), limit)

    def line(title: str, text: str) -> str:
        return f"{title:>10}  {text}"

    first = list(map(shown, explanation.first[: _ENDS if is_long else None]))
    if is_long:
        first += [_TAKEN_OUT, *map(shown, explanation.first[-_ENDS:]), f"({len(explanation.first):,} base symbols)"]
    yield line("start", " ".join(first))
    if explanation.whole is not None:
        rank = tokenizer.symbols.rank(explanation.whole)
        yield line(f"rank {rank}", f"{shown(explanation.whole)}  (a token as it stands: taken whole, not merged)")
    pairs = [f"{shown(merge.left)} + {shown(merge.right)}" for merge in explanation.merges]
    width = max(map(len, pairs), default=0)
    splits = explanation.splits(_REACH if is_long else None)
    steps = zip(explanation.merges, pairs, splits, strict=True)
    for _, same in groupby(enumerate(steps), key=lambda step: step[1][0].rank if is_long else step[0]):
        (_, (merge, pair, split)), *others = same
        texts = [_TAKEN_OUT] * split.is_cut_before + list(map(shown, split.symbols)) + [_TAKEN_OUT] * split.is_cut_after
        texts += [f"(and {len(others):,} more places)"] if others else []
        yield line(f"rank {merge.rank}", f"{pair:{width}}  {' '.join(texts)}")
