"""What the window shows: a corpus with its training, or a tokenizer that was opened."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bpe_viz.engine.corpus import Corpus
from bpe_viz.engine.id_decoding import Decoding
from bpe_viz.engine.layout import EncodedText
from bpe_viz.engine.merge_list import MergeList
from bpe_viz.engine.narration import Piece
from bpe_viz.engine.row_order import SortBy
from bpe_viz.engine.timeline import Timeline
from bpe_viz.engine.tokenizer import SpecialText, Tokenizer
from bpe_viz.engine.types import Frame, Options, StopRequested
from bpe_viz.formats import Draft
from bpe_viz.gui.jobs import Job
from bpe_viz.gui.kernel_choice import KernelChoice


class Answering(Protocol):
    """Works out in the query lane what the window asks of what is shown."""

    def frame(self, position: int, top: int, rows: Sequence[int]) -> Frame:
        """Return what is to be seen at a position; see Reader.frame."""

    def counts(self, position: int) -> NDArray[np.int64]:
        """Return the counts of all pairs at a position, the highest first."""

    def rows(self, sort: SortBy, typed_filter: str, position: int, should_stop: StopRequested) -> NDArray[np.int32]:
        """Return the rows that the filter keeps, in order, as they are split at a position. Raises Stopped."""

    def encode(self, text: str, special_text: SpecialText) -> EncodedText:
        """Encode a text for every position known so far. Raises BpeVizError for special text that is an error."""

    def decode(self, ids: Sequence[int]) -> Decoding:
        """Decode ids."""


class Shown(Protocol):
    """What one workspace shows; immutable but for its timeline, which may grow."""

    @property
    def corpus(self) -> Corpus | None:
        """What is counted; None for a tokenizer alone."""

    @property
    def options(self) -> Options:
        """How the corpus, or a text to encode, is cut, and how it is trained on."""

    @property
    def tokenizer(self) -> Tokenizer | None:
        """What was opened from a file; None for what is trained here."""

    @property
    def answers(self) -> Answering:
        """What is worked out of it in the query lane."""

    @property
    def merges(self) -> MergeList:
        """The merge list."""

    @property
    def timeline(self) -> Timeline | None:
        """The recorded pair counts; None where there is no corpus."""

    @property
    def end(self) -> int:
        """Where the timeline ends."""

    @property
    def opens_at(self) -> int:
        """The position that is shown first."""

    def train(self, until: int, kernels: KernelChoice, job: Job) -> None:
        """Go on up to a position, or until the job is stopped. Runs in the training lane."""

    def draft(self, position: int, path: Path, job: Job) -> Draft:
        """Return what saving the tokenizer as it is at a position would write. Runs in the query lane.

        Raises FormatError if the format of the file's name cannot hold it.
        """

    def narrate(self, frame: Frame) -> tuple[Piece, ...]:
        """Return the sentence on a frame."""

    def why_no_next(self, frame: Frame) -> str | None:
        """Say in one short sentence why no merge can follow this frame; None if one can."""
