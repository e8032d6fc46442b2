"""Which pre-tokens are listed, and in which order: it may hang on how they are split at the cursor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, Signal

from bpe_viz.engine.row_order import SortBy
from bpe_viz.errors import BpeVizError, Stopped
from bpe_viz.gui.jobs import Job, Lane
from bpe_viz.gui.shown import Shown


@dataclass(frozen=True, slots=True)
class Rows:
    """Which pre-tokens are listed, in order.

    order: (rows,) int32, rows in the corpus
    total: how many the corpus has
    """

    order: NDArray[np.int32]
    total: int


class RowListing(QObject):
    """Orders and filters the pre-tokens in the query lane."""

    rows_changed = Signal(object)
    """Rows: they are listed in another order or filtered."""
    failed = Signal(object)
    """BpeVizError."""

    def __init__(
        self, lane: Lane, shown: Callable[[], Shown | None], position: Callable[[], int], parent: QObject
    ) -> None:
        """shown: returns what is shown, None while there is nothing; position: where"""
        super().__init__(parent)
        self._lane = lane
        self._shown = shown
        self._position = position
        self._sort: SortBy = "count"
        self._filter = ""
        self._ordered_at = 0
        self.rows = Rows(np.empty(0, dtype=np.int32), 0)

    @property
    def is_filtered(self) -> bool:
        """Whether some rows may be left out."""
        return bool(self._filter)

    @property
    def is_old(self) -> bool:
        """Whether the order hangs on the position, and was made for another one."""
        return (self._sort == "changed" or self._filter.startswith("[")) and self._position() != self._ordered_at

    def list_rows(self, sort: SortBy | None = None, typed_filter: str | None = None) -> None:
        """List the pre-tokens in another order, or filter them; see row_order.parse_filter."""
        self._sort = self._sort if sort is None else sort
        self._filter = self._filter if typed_filter is None else typed_filter
        self.order()

    def order(self) -> None:
        """List them anew."""
        shown = self._shown()
        if shown is None:
            return
        corpus = shown.corpus
        sort, typed, position = self._sort, self._filter, self._position()
        self._ordered_at = position

        def work(job: Job) -> Rows:
            order = shown.answers.rows(sort, typed, position, job.should_stop)
            return Rows(order, 0 if corpus is None else len(corpus.pretokens))

        self._lane.submit("rows", work, self._show, self._fail)

    def _show(self, rows: Rows) -> None:
        self.rows = rows
        self.rows_changed.emit(rows)

    def _fail(self, error: BpeVizError) -> None:
        if not isinstance(error, Stopped):
            self.failed.emit(error)
