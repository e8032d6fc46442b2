"""Counting with the scanners: pieces of UTF-8 go to threads, each with a table of its own, merged in the end.

A pre-token is entered with the position where it was first seen, so that the merged table is in first-seen order and
does not depend on how many threads there were or which of them counted what.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from bpe_viz.engine import kernels_counting
from bpe_viz.engine.character_classes import character_classes
from bpe_viz.engine.compiled import Kernels
from bpe_viz.engine.kernels_counting import PRETOKENS, TEXT, WANTED_TEXT, Batch, Table
from bpe_viz.engine.kernels_scanning import (
    ANY_CASE,
    ANY_PREFIX,
    BY_LINE,
    CASED,
    CONTRACTIONS,
    LINES,
    ONE_DIGIT,
    TAKES_NEWLINES,
    TAKES_SLASHES,
    THREE_DIGITS,
    WORDS,
)
from bpe_viz.engine.mapped_text import BLOCK_BYTES, MappedText, safe_pieces
from bpe_viz.engine.pretoken_counts import PretokenCounts
from bpe_viz.engine.types import CountingOptions
from bpe_viz.errors import Stopped

MOST_THREADS = 8

STEP_BYTES = 1 << 20
"""After so many bytes, a few milliseconds, Stop is asked."""

HANDED_BYTES = 1 << 18
"""Small pieces are handed to a thread together, as handing over takes longer than counting one."""

FIRST_PRETOKENS = 3 << 13
"""Room in a new table."""

_BATCH = 64  # what is looked up together stays in the first-level cache
_MERGED_TOGETHER = 4096  # and of a table that is merged, in the second
_SECONDS_BETWEEN_LOOKS = 0.02

_GPT4 = CONTRACTIONS | ANY_CASE | ANY_PREFIX | TAKES_NEWLINES
_RULES = {
    "none": LINES,
    "whitespace": WORDS,
    "gpt2": CONTRACTIONS,
    "cl100k": _GPT4 | THREE_DIGITS,
    "o200k": _GPT4 | THREE_DIGITS | CASED | TAKES_SLASHES,
    "llama3": _GPT4 | THREE_DIGITS,
    "qwen2": _GPT4 | ONE_DIGIT,
}


def rule_for(options: CountingOptions) -> int | None:
    """Return the rule by which the pretokenizer is scanned; None for a user's pattern and where there is none."""
    rule = _RULES.get(options.pretokenizer) if options.pattern is None else None
    if rule is None:
        return None
    return rule | BY_LINE if options.documents == "line" else rule


class Piece(NamedTuple):
    """A text of its own in data[start:end], valid UTF-8; position: of data[0] in all that is counted."""

    data: NDArray[np.uint8]
    start: int
    end: int
    position: int
    mapped: MappedText | None = None


class PretokenTable:
    """A table of pre-tokens that grows. One thread may use it at a time.

    room: for how many pre-tokens, at first
    """

    def __init__(self, kernel_set: Kernels, room: int) -> None:
        self._kernels = kernel_set
        self._classes = kernel_set.view(character_classes())
        self._batch = kernel_set.view(Batch(*(np.zeros(_BATCH, dtype=np.int64) for _ in Batch._fields)))
        self._use(_with_room(_nothing(), room, 8 * room))

    def count(self, rule: int, piece: Piece, check_stop: Callable[[], None]) -> None:
        """Count the pre-tokens of a piece; check_stop may raise, between steps."""
        kernels = self._kernels.of(kernels_counting)
        data = self._kernels.view(piece.data)
        at = piece.start
        while at < piece.end:
            until = min(at + STEP_BYTES, piece.end)
            at = kernels.count_pretokens(
                rule, self._classes, self._view, self._batch, data, at, until, piece.end, piece.position
            )
            if at < until:
                self._make_room()
            else:
                check_stop()
        if piece.mapped is not None:
            piece.mapped.forget(piece.start, piece.end)

    def merge(self, tables: list[PretokenTable]) -> None:
        """Add the counts of other tables, first seen first; the list is emptied, so that their memory is free."""
        parts = [table._in_use() for table in tables]
        text = np.frombuffer(b"".join(memoryview(part.text) for part in parts), dtype=np.uint8)
        shifts = np.cumsum([0, *(len(part.text) for part in parts[:-1])])
        start = np.concatenate([part.start[:-1] + shift for part, shift in zip(parts, shifts, strict=True)])
        end = np.concatenate([part.start[1:] + shift for part, shift in zip(parts, shifts, strict=True)])
        key = np.concatenate([part.key for part in parts])
        count = np.concatenate([part.count for part in parts])
        first = np.concatenate([part.first for part in parts])
        del parts
        tables.clear()
        order = np.argsort(first)
        data = self._kernels.view(text)
        done = 0
        while done < len(order):
            chosen = order[done : done + _MERGED_TOGETHER]
            batch = Batch(start[chosen], end[chosen], key[chosen], count[chosen], first[chosen], np.zeros_like(chosen))
            view = self._kernels.view(batch)
            added = self._kernels.of(kernels_counting).add_batch(self._view, view, len(chosen), data)
            done += added
            if added < len(chosen):
                self._make_room()

    def __len__(self) -> int:
        return int(self._table.size[PRETOKENS])

    def counts(self) -> PretokenCounts:
        """Return what was counted, in the order it was entered."""
        used = self._in_use()
        return PretokenCounts(used.text.tobytes(), used.start.copy(), used.count.copy())

    def _in_use(self) -> Table:
        table = self._table
        n = int(table.size[PRETOKENS])
        return table._replace(
            key=table.key[:n],
            start=table.start[: n + 1],
            count=table.count[:n],
            first=table.first[:n],
            text=table.text[: table.size[TEXT]],
        )

    def _use(self, table: Table) -> None:
        self._table = table
        self._view = self._kernels.view(table)

    def _make_room(self) -> None:
        """Enlarge what is full."""
        table = self._table
        n, room = int(table.size[PRETOKENS]), len(table.key)
        text = int(table.size[TEXT] + table.size[WANTED_TEXT])
        self._use(_with_room(table, 2 * room if n == room else room, text))
        if n == room:
            self._kernels.of(kernels_counting).fill_slots(self._view)


def _nothing() -> Table:
    numbers = {name: np.zeros(0, dtype=np.int64) for name in ("slot", "key", "count", "first")}
    return Table(
        size=np.zeros(3, dtype=np.int64), start=np.zeros(1, dtype=np.int64), text=np.zeros(0, dtype=np.uint8), **numbers
    )


def _with_room(table: Table, pretokens: int, text: int) -> Table:
    """Return a table with room for so many pre-tokens and bytes of text, and with what is in the given one.

    Its slots are empty unless the room for pre-tokens is the same.
    """
    if len(table.key) < pretokens:
        arrays = {name: _longer(getattr(table, name), pretokens) for name in ("key", "count", "first")}
        # Three quarters full at most, and never full.
        slots = 2 ** max(pretokens, pretokens * 4 // 3 - 1).bit_length()
        arrays["slot"] = np.zeros(2 * slots, dtype=np.int64)
        table = table._replace(start=_longer(table.start, pretokens + 1), **arrays)
    if len(table.text) < text:
        table = table._replace(text=_longer(table.text, text + len(table.text)))
    return table


def _longer(array: NDArray[Any], size: int) -> NDArray[Any]:
    longer = np.zeros(size, dtype=array.dtype)
    longer[: len(array)] = array
    return longer


class ScanningTally:
    """Counts texts as they come, on several threads. Close it, or use it as a context, so that they end.

    rule: of rule_for
    threads: how many count; None: one for each processor, up to MOST_THREADS
    check_stop: called by the thread that hands texts over, while it waits; raises Stopped if the user wants that
    """

    def __init__(
        self, rule: int, kernel_set: Kernels, threads: int | None = None, check_stop: Callable[[], None] = lambda: None
    ) -> None:
        self.n_empty = 0  # no scanner matches nothing
        self.rule = rule
        self.kernel_set = kernel_set
        self._check_stop = check_stop
        n_threads = min(threads or os.cpu_count() or 1, MOST_THREADS)
        self._tables = [PretokenTable(kernel_set, FIRST_PRETOKENS) for _ in range(n_threads)]
        self._handed: queue.Queue[list[Piece] | None] = queue.Queue(maxsize=2 * n_threads)
        self._held: list[Piece] = []
        self._held_bytes = 0
        self._position = 0
        self._threads: list[threading.Thread] = []
        self._failure: BaseException | None = None
        self._closed = threading.Event()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def add(self, text: str) -> None:
        """Count a text."""
        data = np.frombuffer(text.encode(), dtype=np.uint8)
        self.add_piece(data, 0, len(data))

    def add_piece(self, data: NDArray[np.uint8], start: int, end: int, mapped: MappedText | None = None) -> None:
        """Count the text in data[start:end], which is valid UTF-8; mapped: whose data it is."""
        self._held.append(Piece(data, start, end, self._position - start, mapped))
        self._position += end - start
        self._held_bytes += end - start
        if self._held_bytes >= HANDED_BYTES:
            self._hand_over()

    def counts(self) -> PretokenCounts:
        """Wait until all is counted, and return it; nothing can be added after."""
        self._hand_over()
        if self._threads:
            for _ in self._threads:
                self._put(None)
            for thread in self._threads:
                while thread.is_alive():
                    thread.join(_SECONDS_BETWEEN_LOOKS)
                    self._look()
            self._look()
        used = [table for table in self._tables if len(table)] or self._tables[:1]
        self._tables = []
        self._threads = []
        if len(used) == 1:
            return used[0].counts()
        merged = PretokenTable(self.kernel_set, FIRST_PRETOKENS)
        merged.merge(used)
        return merged.counts()

    def close(self) -> None:
        """End the threads, whatever they are at."""
        self._closed.set()
        for thread in self._threads:
            thread.join()

    def _hand_over(self) -> None:
        pieces, self._held, self._held_bytes = self._held, [], 0
        if len(self._tables) == 1:
            for piece in pieces:
                self._tables[0].count(self.rule, piece, self._check_stop)
            return
        if not self._threads:
            self._threads = [threading.Thread(target=self._work, args=(table,)) for table in self._tables]
            for thread in self._threads:
                thread.start()
        self._put(pieces)

    def _put(self, pieces: list[Piece] | None) -> None:
        while True:
            self._look()
            try:
                self._handed.put(pieces, timeout=_SECONDS_BETWEEN_LOOKS)
            except queue.Full:
                continue
            return

    def _look(self) -> None:
        self._check_stop()
        if self._failure is not None:
            raise self._failure

    def _work(self, table: PretokenTable) -> None:
        """Runs in each thread."""
        try:
            while not self._closed.is_set():
                try:
                    pieces = self._handed.get(timeout=_SECONDS_BETWEEN_LOOKS)
                except queue.Empty:
                    continue
                if pieces is None:
                    return
                for piece in pieces:
                    table.count(self.rule, piece, self._stop_if_closed)
        except Stopped:
            pass
        except BaseException as error:  # noqa: BLE001  # raised again by the thread that hands over
            self._failure = error

    def _stop_if_closed(self) -> None:
        if self._closed.is_set():
            raise Stopped


def call_every_kernel(kernel_set: Kernels) -> None:
    """Count a little text, so that every kernel of counting is compiled for the types it is used with."""
    data = np.frombuffer(b"low lower\n" * (BLOCK_BYTES // 5), dtype=np.uint8)
    table = PretokenTable(kernel_set, FIRST_PRETOKENS)
    for start, end, _ in safe_pieces(data, CONTRACTIONS, kernel_set):
        table.count(CONTRACTIONS, Piece(data, start, end, 0), lambda: None)
    PretokenTable(kernel_set, room=1).merge([table])
