"""In which order the pre-tokens of a corpus are listed, and which of them a filter keeps."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from bpe_viz.engine.types import StopRequested, never_stop
from bpe_viz.errors import OptionError, Stopped

if TYPE_CHECKING:
    from bpe_viz.engine.corpus import PretokenCounts
    from bpe_viz.engine.reader import Reader

SortBy = Literal["count", "changed", "length", "name"]

DIFFERING = ("[≠]", "[!=]")
"""What is typed to see the pre-tokens that a replay ends otherwise than the library."""

_ROWS_A_SLICE = 5_000
_KEY_BYTES = 32
_BRACKETED = re.compile(r"\[((?:[^\]]|\](?=\]))+)\]")


@dataclass(frozen=True, slots=True)
class RowFilter:
    """What a row must hold: a text, or one symbol, or two adjacent ones, as labels in UTF-8.

    differs: its split at the end of a replay is another than that of the tokenizer's own library
    """

    text: bytes = b""
    symbols: tuple[bytes, ...] = ()
    differs: bool = False


def parse_filter(typed: str) -> RowFilter:
    """Read what was typed: `est` is text, `[est]` a symbol, `[w][est]` a pair, `[≠]` or `[!=]` what differs.

    Raises OptionError for more than two symbols.
    """
    if typed in DIFFERING:
        return RowFilter(differs=True)
    if typed.startswith("[") and "".join(f"[{one}]" for one in _BRACKETED.findall(typed)) == typed:
        symbols = tuple(one.encode() for one in _BRACKETED.findall(typed))
        if len(symbols) > 2:
            raise OptionError(f"The filter {typed} names {len(symbols)} symbols.", "Name one, or a pair.")
        return RowFilter(symbols=symbols)
    return RowFilter(text=typed.encode())


class RowOrder:
    """Lists the rows of one corpus. One thread uses it."""

    def __init__(self, pretokens: PretokenCounts) -> None:
        self._pretokens = pretokens
        self._orders: dict[SortBy, NDArray[np.int32]] = {}
        self._places: NDArray[np.int32] | None = None

    def rows(
        self,
        sort: SortBy,
        wanted: RowFilter,
        reader: Reader,
        should_stop: StopRequested = never_stop,
    ) -> NDArray[np.int32]:
        """Return the rows that the filter keeps, in order, as the corpus is split at the reader's cursor.

        Raises Stopped when should_stop() says so.
        """
        order = self._order("count" if sort == "changed" else sort)
        if sort == "changed" and reader.position:
            order = self._moved_to_top(order, reader.timeline.changed_rows(reader.position - 1))
        if wanted.differs:
            differing = reader.timeline.differing or ()
            return order[np.isin(order, np.fromiter(differing, np.int32, len(differing)))]
        if wanted.text or wanted.symbols:
            keeps = _test(wanted, self._pretokens, reader)
            order = _kept(order, keeps, should_stop)
        return order

    def _moved_to_top(self, order: NDArray[np.int32], rows: NDArray[np.int32]) -> NDArray[np.int32]:
        """Put these rows first. Only they are looked up: this runs at every step."""
        if self._places is None:
            self._places = np.empty(len(order), dtype=np.int32)
            self._places[order] = np.arange(len(order), dtype=np.int32)
        places = np.sort(self._places[rows])
        return np.concatenate((order[places], np.delete(order, places)))

    def _order(self, sort: SortBy) -> NDArray[np.int32]:
        if sort not in self._orders:
            self._orders[sort] = _sorted_rows(self._pretokens, sort)
        return self._orders[sort]


def _sorted_rows(pretokens: PretokenCounts, sort: SortBy) -> NDArray[np.int32]:
    lengths = np.diff(pretokens.offsets)
    if sort == "name":
        return _by_name(pretokens)
    key = -lengths if sort == "length" else -pretokens.counts
    return np.argsort(key, kind="stable").astype(np.int32)


def _by_name(pretokens: PretokenCounts) -> NDArray[np.int32]:
    """Sort by bytes, which is code-point order.

    NumPy sorts the first bytes of all rows without holding the GIL, as Python's own sort would for seconds; the few
    neighbours that agree in all of these are sorted after.
    """
    n = len(pretokens)
    data = np.frombuffer(pretokens.data + b"\0" * _KEY_BYTES, dtype=np.uint8)
    lengths = np.diff(pretokens.offsets)
    places = pretokens.offsets[:-1, None] + np.arange(_KEY_BYTES)
    keys = np.where(np.arange(_KEY_BYTES) < lengths[:, None], data[np.minimum(places, len(data) - 1)], 0)
    words = np.ascontiguousarray(keys).view(">u8").reshape(n, _KEY_BYTES // 8)
    order = np.lexsort((lengths, *words.T[::-1])).astype(np.int32)
    same = np.flatnonzero((words[order[1:]] == words[order[:-1]]).all(axis=1))
    if len(same):
        for run in np.split(same, np.flatnonzero(np.diff(same) > 1) + 1):
            first, end = int(run[0]), int(run[-1]) + 2
            order[first:end] = sorted(order[first:end].tolist(), key=pretokens.content)
    return order


def _test(wanted: RowFilter, pretokens: PretokenCounts, reader: Reader) -> Callable[[int], bool]:
    if wanted.text:
        return lambda row: wanted.text in pretokens.content(row)
    symbols = reader.timeline.symbols
    joined = b"".join(wanted.symbols)
    marker = reader.timeline.base.marker.encode()
    # A row that holds the symbols holds their text, a marker at its end left out.
    text = joined.removesuffix(marker) if reader.timeline.base.end_of_word != "none" else joined

    def holds(row: int) -> bool:
        if text not in pretokens.content(row):
            return False
        # A gap, where the base lacks a character, is no symbol.
        labels = [symbols.label(symbol) if symbol >= 0 else None for symbol in reader.split(row)]
        n = len(wanted.symbols)
        return any(tuple(labels[i : i + n]) == wanted.symbols for i in range(len(labels) - n + 1))

    return holds


def _kept(order: NDArray[np.int32], keeps: Callable[[int], bool], should_stop: StopRequested) -> NDArray[np.int32]:
    kept: list[int] = []
    for start in range(0, len(order), _ROWS_A_SLICE):
        if should_stop():
            raise Stopped
        kept += [row for row in order[start : start + _ROWS_A_SLICE].tolist() if keeps(row)]
    return np.array(kept, dtype=np.int32)
