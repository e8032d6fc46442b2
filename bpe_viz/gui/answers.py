"""What the query lane works out about one training, and what it remembers to do so."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bpe_viz.engine.boundaries import BoundaryRanks
from bpe_viz.engine.id_decoding import Decoding
from bpe_viz.engine.layout import EncodedText
from bpe_viz.engine.merge_ranks import MergeRanks
from bpe_viz.engine.reader import Reader
from bpe_viz.engine.row_order import RowOrder, SortBy, parse_filter
from bpe_viz.engine.timeline import Timeline
from bpe_viz.engine.tokenizer import SpecialText, Tokenizer
from bpe_viz.engine.trainer import Trainer
from bpe_viz.engine.types import CountingOptions, Frame, StopRequested
from bpe_viz.gui.kernel_choice import KernelChoice


class CountAnswers:
    """Answers about a recorded timeline. Made with it in the training lane, used in the query lane alone.

    Each timeline has its own, so what is remembered of one corpus never answers a question about the next, however
    the two lanes and the window interleave while another is opened.
    """

    def __init__(self, timeline: Timeline, n_cells: int, kernels: KernelChoice) -> None:
        """Remember nothing yet: the reader is made when it is first asked."""
        self._timeline = timeline
        self._kernels = kernels
        self._n_cells = n_cells
        self._reader: Reader | None = None
        self._row_order = RowOrder(timeline.pretokens)

    def frame(self, position: int, top: int, rows: Sequence[int]) -> Frame:
        """Return what is to be seen at a position; see Reader.frame."""
        return self._reading().frame(position, top, rows)

    def counts(self, position: int) -> NDArray[np.int64]:
        """Return the counts of all pairs at a position, the highest first."""
        reader = self._reading()
        reader.seek(position)
        # Here and not in the window: sorting a million counts takes longer than a frame.
        return np.sort(reader.counts())[::-1]

    def rows(self, sort: SortBy, typed_filter: str, position: int, should_stop: StopRequested) -> NDArray[np.int32]:
        """Return the rows that the filter keeps, in order, as they are split at a position. Raises Stopped."""
        reader = self._reading()
        reader.seek(position)
        return self._row_order.rows(sort, parse_filter(typed_filter), reader, should_stop)

    def _reading(self) -> Reader:
        kernels = self._kernels.at_hand(self._n_cells)
        if self._reader is None:
            self._reader = self._timeline.reader(kernels)
        self._reader.use(kernels)
        return self._reader


class Answers(CountAnswers):
    """Answers about one training, which is also the tokenizer that encodes."""

    def __init__(self, trainer: Trainer, counting: CountingOptions, kernels: KernelChoice) -> None:
        super().__init__(trainer.timeline, trainer.n_symbols, kernels)
        self._counting = counting
        base = self._timeline.base
        self._boundaries = BoundaryRanks(base, MergeRanks(len(base)))

    def encode(self, text: str, special_text: SpecialText) -> EncodedText:
        """Encode a text for every position trained so far. Raises OptionError for special text that is an error."""
        return self._tokenizer().lay_out(text, special_text)

    def decode(self, ids: Sequence[int]) -> Decoding:
        """Decode ids with the tokenizer trained so far."""
        return self._tokenizer().decode(ids)

    def _tokenizer(self) -> Tokenizer:
        self._boundaries.use(self._kernels.at_hand(self._n_cells))
        return Tokenizer.from_timeline(self._timeline, self._counting, self._boundaries)
