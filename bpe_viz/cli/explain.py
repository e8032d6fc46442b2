"""The command `explain`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from bpe_viz.cli.inputs import locate_tokenizer, open_tokenizer, read_input
from bpe_viz.cli.options import TEXT, pretokenizer_options
from bpe_viz.cli.terminal import print_result

if TYPE_CHECKING:
    from bpe_viz.engine.explain import Explanation
    from bpe_viz.engine.tokenizer import Tokenizer


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
    from U+DC80 to U+DCFF, and a character that the base lacks is null.

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
        for line in _lines(opened, one):
            print_result(line)


def _value(tokenizer: Tokenizer, explanation: Explanation) -> dict[str, object]:
    def texts(symbols: tuple[int, ...]) -> list[str | None]:
        return [_text(tokenizer, symbol) for symbol in symbols]

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
                "symbols": texts(merge.symbols),
                "at": merge.at,
            }
            for merge in explanation.merges
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

    shown_pretoken = visible(explanation.pretoken.encode())
    ids = " ".join("-" if token_id is None else str(token_id) for token_id in _ids(tokenizer, explanation))
    if explanation.special_id is not None:
        yield f"{shown_pretoken}  special token {ids}"
        return
    yield f"{shown_pretoken}  ids {ids}"

    def shown(symbol: int) -> str:
        if symbol < 0:
            return "(not in the base)"
        return visible(tokenizer.symbols.content(symbol), tokenizer.symbols.marker(symbol))

    yield f"{'start':>10}  {' '.join(map(shown, explanation.first))}"
    if explanation.whole is not None:
        rank = tokenizer.symbols.rank(explanation.whole)
        yield f"{f'rank {rank}':>10}  {shown(explanation.whole)}  (a token as it stands: taken whole, not merged)"
    width = max((len(_pair(shown(merge.left), shown(merge.right))) for merge in explanation.merges), default=0)
    for merge in explanation.merges:
        pair = _pair(shown(merge.left), shown(merge.right))
        yield f"{f'rank {merge.rank}':>10}  {pair:{width}}  {' '.join(map(shown, merge.symbols))}"


def _pair(left: str, right: str) -> str:
    return f"{left} + {right}"
