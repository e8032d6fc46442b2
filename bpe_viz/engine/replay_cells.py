"""The pre-tokens of a replay in base symbols, and at which entry each boundary inside them falls."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bpe_viz.engine import kernels_replay
from bpe_viz.engine.arrays import zeros
from bpe_viz.engine.boundaries import STANDS, tokens_between
from bpe_viz.engine.slices import let_others_run
from bpe_viz.engine.symbols import GAP, BaseVocabulary
from bpe_viz.engine.types import Progress, StopRequested
from bpe_viz.errors import Stopped

if TYPE_CHECKING:
    from bpe_viz.engine.pretoken_counts import PretokenCounts

_SYMBOLS_A_PART = 1 << 18
BYTES_A_LOOK = 1 << 11
"""About three milliseconds."""


class ReplayCells:
    """The distinct pre-tokens in base symbols, end to end with an empty cell between them, and when boundaries fall.

    start: (rows + 1,) int64, the first cell of each pre-token; makes: (ranks,) int32, what each entry makes
    """

    def __init__(self, pretokens: PretokenCounts, base: BaseVocabulary, makes: NDArray[np.int32], job: Watch) -> None:
        symbols, lengths = _base_symbols(pretokens, base, job)
        rows = len(lengths)
        self.makes = makes
        self._n_base = len(base)
        self.start = np.concatenate(([0], np.cumsum(lengths + 1))) + 1
        self.n = int(self.start[-1])
        self.first_symbol = zeros(self.n, np.int32)
        self.first_symbol[:] = GAP
        self.row = zeros(self.n, np.int32)
        self.fallen = zeros(self.n, np.int32)
        self.fallen[:] = kernels_replay.NEVER
        self.n_tokens = 0
        ends = np.cumsum(lengths)
        row = 0
        while row < rows:  # in parts: numpy holds Python's lock while it repeats and sums up
            first = int(ends[row] - lengths[row])
            end = max(row + 1, int(np.searchsorted(ends, first + _SYMBOLS_A_PART, "right")))
            of_row = np.repeat(np.arange(row, end, dtype=np.int32), lengths[row:end])
            here = symbols[first : int(ends[end - 1])]
            where = np.arange(first + 1, first + 1 + len(here)) + of_row
            self.first_symbol[where] = here
            self.row[where] = of_row
            known = np.bincount(of_row[here >= 0] - row, minlength=end - row)
            self.n_tokens += int(np.dot(known, pretokens.counts[row:end]))
            row = end

    def split(self, row: int, position: int) -> NDArray[np.int64]:
        """Return the symbols of a pre-token at a position: (n,) int64."""
        cells = slice(int(self.start[row]), int(self.start[row + 1]) - 1)
        fallen = self.fallen[cells].astype(np.int64)
        fallen[fallen == kernels_replay.NEVER] = STANDS
        symbols, _ = tokens_between(self.first_symbol[cells], fallen, fallen, position, self._n_base)
        is_made = symbols >= self._n_base
        symbols = symbols.copy()
        symbols[is_made] = self.makes[symbols[is_made] - self._n_base]
        return symbols


class Watch:
    """Where long work says how far it is, and asks whether to stop."""

    def __init__(self, progress: Progress, should_stop: StopRequested) -> None:
        self.progress = progress
        self._should_stop = should_stop

    def look(self, fraction: float, text: str) -> None:
        """Report, and raise Stopped if that is wanted."""
        self.progress(fraction, text)
        if self._should_stop():
            raise Stopped


def _base_symbols(
    pretokens: PretokenCounts, base: BaseVocabulary, job: Watch
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Write all pre-tokens in base symbols, end to end: (symbols,) int32 and (rows,) int64 lengths."""
    rows = len(pretokens)
    if type(base) is BaseVocabulary and base.base == "bytes" and base.end_of_word == "none":
        codes = np.frombuffer(pretokens.data, dtype=np.uint8)
        return base.look_up(codes, np.zeros(len(codes), dtype=bool)), np.diff(pretokens.offsets)
    parts: list[NDArray[np.int32]] = []
    n_bytes = 0
    for row in range(rows):
        if n_bytes >= BYTES_A_LOOK:
            job.look(row / rows, "Writing the text in base symbols")
            let_others_run()
            n_bytes = 0
        content = pretokens.content(row)
        n_bytes += len(content)
        parts.append(base.arrays(content)[0])
    lengths = np.array([len(part) for part in parts], dtype=np.int64)
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.int32), lengths
