"""Counting with the scanners: pieces of UTF-8 go to threads, each with a table of its own, merged in the end.

A pre-token is entered with the position where it was first seen, so that the merged table is in first-seen order and
does not depend on how many threads there were or which of them counted what.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from bpe_viz.engine import kernels_counting
from bpe_viz.engine.arrays import longer, zeros
from bpe_viz.engine.automaton import scanner_for
from bpe_viz.engine.compiled import Kernels
from bpe_viz.engine.kernels_batches import ENTRY, Batch
from bpe_viz.engine.kernels_counting import PRETOKENS, TEXT, WANTED_TEXT, Table
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

BATCH = 512
"""So many pre-tokens are looked up together: their waits for memory pass together, in the second-level cache."""

FIRST_PRETOKENS = 3 << 13
"""Room in a new table."""

_BYTES_A_PRETOKEN = 8  # of text, in a new table
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


def empty_batch(size: int = BATCH) -> Batch:
    """Return room for a batch of pre-tokens."""
    return Batch(*(np.zeros(size, dtype=np.int64) for _ in Batch._fields))


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
        self._module = kernel_set.of(kernels_counting)
        self._batch = kernel_set.view(empty_batch())
        self._use(_empty_table(room))

    def count(self, rule: int, piece: Piece, check_stop: Callable[[], None]) -> None:
        """Count the pre-tokens of a piece; check_stop may raise, between steps."""
        data, scanner = self._kernels.view((piece.data, scanner_for(rule)))
        at = piece.start
        while at < piece.end:
            until = min(at + STEP_BYTES, piece.end)
            if piece.mapped is not None:
                piece.mapped.check(piece.end)
            at = self._module.count_pretokens(
                rule, scanner, self._view, self._batch, data, at, until, piece.end, piece.position
            )
            if at < until:
                self._make_room()
            else:
                check_stop()
        if piece.mapped is not None:
            piece.mapped.forget(piece.start, piece.end)

    def merge(self, other: PretokenTable) -> None:
        """Add the counts of another table, first seen first."""
        done = 0
        while done < len(other._table.entry):
            done = self._module.merge_tables(self._view, other._view, done)
            if done < len(other._table.entry):
                self._make_room()

    def __len__(self) -> int:
        return int(self._table.size[PRETOKENS])

    def counts(self) -> PretokenCounts:
        """Return what was counted, first seen first."""
        table, n = self._table, len(self)
        count = np.empty(n, dtype=np.int64)
        self._module.counts_by_number(self._view, self._kernels.view(count))
        first, start, text = table.first[:n], table.start[: n + 1], table.text[: table.size[TEXT]]
        if (first[1:] > first[:-1]).all():
            return PretokenCounts(text.tobytes(), start.copy(), count)
        order = np.argsort(first)
        lengths = np.diff(start)[order]
        in_order = np.empty(len(text), dtype=np.uint8)
        self._module.write_in_order(self._view, *self._kernels.view((order, in_order)))
        return PretokenCounts(in_order.tobytes(), np.concatenate(([0], np.cumsum(lengths))), count[order])

    def _use(self, table: Table) -> None:
        self._table = table
        self._view = self._kernels.view(table)

    def _make_room(self) -> None:
        """Enlarge what is full."""
        table = self._table
        n, wanted = int(table.size[PRETOKENS]), int(table.size[TEXT] + table.size[WANTED_TEXT])
        if n == len(table.first):
            room = 2 * n
            entry = zeros(_entries_for(room) * ENTRY, np.int64)
            self._module.move_entries(*self._kernels.view((table.entry, entry)))
            table = table._replace(entry=entry, first=longer(table.first, room), start=longer(table.start, room + 1))
        if wanted > len(table.text):
            table = table._replace(text=longer(table.text, wanted + len(table.text)))
        self._use(table)


def _empty_table(room: int) -> Table:
    return Table(
        size=np.zeros(3, dtype=np.int64),
        entry=zeros(_entries_for(room) * ENTRY, np.int64),
        start=zeros(room + 1, np.int64),
        first=zeros(room, np.int64),
        text=zeros(_BYTES_A_PRETOKEN * room, np.uint8),
    )


def _entries_for(pretokens: int) -> int:
    """Three quarters full at most, and never full."""
    return 1 << max(pretokens, pretokens * 4 // 3 - 1).bit_length()


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
        self.n_waiting = 0  # what waits for a thread is little
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
        # Into the largest, whose own entries stay where they are.
        used.sort(key=len)
        merged = used.pop()
        while used:
            merged.merge(used.pop())
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
    other = PretokenTable(kernel_set, room=1)
    other.count(CONTRACTIONS, Piece(data, 4, 9, 0), lambda: None)
    other.merge(table)
    other.counts()
