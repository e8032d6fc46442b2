"""The log of a training: a line of JSON for each merge."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from bpe_viz.cli.terminal import print_result
from bpe_viz.engine.symbols import SymbolTable
from bpe_viz.engine.timeline import Timeline
from bpe_viz.errors import OptionError
from bpe_viz.whole_file import whole_file


def write_log(timeline: Timeline, path: Path) -> None:
    """Write every merge that was trained; "-" is standard output. Raises BpeVizError if it cannot be written."""
    if str(path) == "-":
        for line in log_lines(timeline):
            print_result(line)
        return
    with whole_file(path, OptionError) as file:
        for line in log_lines(timeline):
            file.write(line.encode() + b"\n")


def log_lines(timeline: Timeline) -> Iterator[str]:
    """Yield a line of JSON for each merge.

    Symbols are their bytes in hex, a marker as the bytes of its text. Where the text itself ends like the
    marker, that alone would not tell the two apart; then the field `unmarked` names the symbols that carry
    no marker.
    """
    symbols = timeline.symbols
    labels = [symbols.label(symbol).hex() for symbol in range(len(symbols.base))]
    for merge in timeline.merges():
        # A label is that of the left symbol and then that of the right, so none has to be looked up twice.
        labels.append(labels[merge.left] + labels[merge.right])
        named = {"left": merge.left, "right": merge.right, "token": merge.token}
        unmarked = [name for name, symbol in named.items() if _looks_marked(symbols, symbol)]
        last = f', "unmarked": {json.dumps(unmarked)}' if unmarked else ""
        # Numbers and hex need no escaping, and json.dumps would take longer than a short training.
        yield (
            f'{{"rank": {merge.rank}, "left": "{labels[merge.left]}", "right": "{labels[merge.right]}", '
            f'"token": "{labels[merge.token]}", "count": {merge.count}, "replacements": {merge.replacements}, '
            f'"ties": {merge.ties}{last}}}'
        )


def _looks_marked(symbols: SymbolTable, symbol: int) -> bool:
    base = symbols.base
    return (
        base.end_of_word != "none"
        and not symbols.ends_word(symbol)
        and symbols.label(symbol).endswith(base.marker.encode())
    )
