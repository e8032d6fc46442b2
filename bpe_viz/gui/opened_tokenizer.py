"""A tokenizer that was opened alone: its merge list and what it encodes, without a corpus."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bpe_viz.engine.id_decoding import Decoding
from bpe_viz.engine.layout import EncodedText
from bpe_viz.engine.list_narration import END, narrate_listed, narrate_no_merges
from bpe_viz.engine.merge_list import ListedMerges
from bpe_viz.engine.narration import Piece
from bpe_viz.engine.row_order import SortBy
from bpe_viz.engine.tokenizer import SpecialText, Tokenizer
from bpe_viz.engine.types import CountingOptions, Frame, Options, StopRequested, TrainingOptions
from bpe_viz.formats import Draft, draft_tokenizer
from bpe_viz.gui.jobs import Job
from bpe_viz.gui.kernel_choice import KernelChoice
from bpe_viz.names import Located, is_name, locate
from bpe_viz.names.loading import load_apart


@dataclass(frozen=True, slots=True)
class TokenizerSource:
    """Where a tokenizer comes from.

    written: a path, or a name such as tiktoken:cl100k_base
    given: the user's pretokenizer, for a file that says none
    located: where it is, if that is known already; a name is fetched otherwise
    """

    written: str
    given: CountingOptions | None = None
    located: Located | None = None

    @property
    def name(self) -> str:
        """What it is called, for people."""
        return self.written if is_name(self.written) else Path(self.written).name

    def load(self, job: Job) -> tuple[Tokenizer, Located]:
        """Fetch and read it. Runs in the training lane. Raises BpeVizError."""
        located = self.located or locate(self.written, job.report, job.should_stop)
        return load_apart(located, self.given, job.report, job.should_stop), located


class TokenizerAnswers:
    """Answers about a tokenizer alone; used in the query lane alone."""

    def __init__(self, tokenizer: Tokenizer, merges: ListedMerges) -> None:
        self._tokenizer = tokenizer
        self._merges = merges

    def frame(self, position: int, top: int, rows: Sequence[int]) -> Frame:
        """Return the entries around a position."""
        return self._merges.frame(position)

    def counts(self, position: int) -> NDArray[np.int64]:
        """Return nothing: there is no corpus."""
        return np.empty(0, dtype=np.int64)

    def rows(self, sort: SortBy, typed_filter: str, position: int, should_stop: StopRequested) -> NDArray[np.int32]:
        """Return nothing: there is no corpus."""
        return np.empty(0, dtype=np.int32)

    def encode(self, text: str, special_text: SpecialText) -> EncodedText:
        """Encode a text for every position of the list. Raises BpeVizError."""
        return self._tokenizer.lay_out(text, special_text)

    def decode(self, ids: Sequence[int]) -> Decoding:
        """Decode ids."""
        return self._tokenizer.decode(ids)


class OpenedTokenizer:
    """A tokenizer of a file."""

    corpus = None
    timeline = None

    def __init__(self, tokenizer: Tokenizer, source: TokenizerSource) -> None:
        """source: with its location"""
        self.tokenizer = tokenizer
        self.source = source
        self.merges = ListedMerges(tokenizer)
        self.answers = TokenizerAnswers(tokenizer, self.merges)
        self.options = options_of(tokenizer)

    @property
    def end(self) -> int:
        """Where the list ends."""
        return self.merges.frontier

    @property
    def opens_at(self) -> int:
        """The end, where it splits text as its own library does."""
        return self.end

    def train(self, until: int, kernels: KernelChoice, job: Job) -> None:
        """Do nothing: the whole list is known."""

    def draft(self, position: int, path: Path, job: Job) -> Draft:
        """Return what saving the first entries would write. Runs in the query lane. Raises FormatError."""
        return draft_tokenizer(self.tokenizer.at(position), path)

    def narrate(self, frame: Frame) -> tuple[Piece, ...]:
        """Return the sentence on an entry, or on why there is none."""
        if not self.end:
            return narrate_no_merges(self.tokenizer.kind, self.tokenizer.why_no_merges)
        return narrate_listed(frame, self.merges.joins)

    def why_no_next(self, frame: Frame) -> str | None:
        """Say that the list ends, where it does, or why there is none."""
        if not self.end:
            return why_no_merges(self.tokenizer)
        return None if frame.next is not None else f"{END[0].upper()}{END[1:]}."


def options_of(tokenizer: Tokenizer) -> Options:
    """Return the options that say how a tokenizer cuts and writes text."""
    base = tokenizer.base
    return Options(
        tokenizer.counting,
        TrainingOptions(base.base, base.end_of_word, base.marker, tokenizer.unknown, merges=tokenizer.n_merges),
    )


def why_no_merges(tokenizer: Tokenizer) -> str:
    """Say why a tokenizer has nothing to step through."""
    return tokenizer.why_no_merges or f"{tokenizer.name} has no merges."


def why_no_replay(tokenizer: Tokenizer) -> str | None:
    """Say why a tokenizer's merges cannot be made again on a text; None if they can."""
    return why_no_merges(tokenizer) if tokenizer.n_merges == 0 else None
