"""What can be opened: files, folders, tables, pasted text, the worked example; each becomes a counting job."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from bpe_viz.engine.apart import run_apart
from bpe_viz.engine.compiled import PLAIN, Kernels
from bpe_viz.engine.corpus import Corpus, bytes_to_scan, count_paths, count_text, is_word_table, worked_example
from bpe_viz.engine.library_pipelines import GuardedPipeline, StepsPipeline
from bpe_viz.engine.pipeline import PlainPipeline
from bpe_viz.engine.pipeline_counting import count_prepared
from bpe_viz.engine.tokenizer import Tokenizer
from bpe_viz.engine.types import CountingOptions, Options, Progress, StopRequested, TrainingOptions
from bpe_viz.errors import FormatError
from bpe_viz.formats import detect_format
from bpe_viz.gui.opened_tokenizer import TokenizerSource
from bpe_viz.names import is_name

WORKED_EXAMPLE_OPTIONS = Options(CountingOptions(pretokenizer="none"), TrainingOptions(base="characters", merges=7))
"""Sennrich et al. 2016 learn from these four words; seven merges make the last whole word of them."""

TEXT_OPTIONS = Options()


KernelsFor = Callable[[int, Progress, StopRequested], Kernels]
"""Chooses kernels by how many bytes they would scan; may wait for them, with progress and Stop."""

_SECONDS_A_BYTE = 3e-6
_SECONDS_A_BYTE_HERE = 2e-7
"""Of a text that the library of a tokenizer cuts, and of one that is cut here."""


def plain_kernels(n_bytes: int, progress: Progress, should_stop: StopRequested) -> Kernels:
    """Choose plain kernels, whatever the size."""
    return PLAIN


@dataclass(frozen=True, slots=True)
class Source:
    """Something to train on.

    name: for people; paths: empty unless it comes from files
    options: what it is trained with unless the user chose otherwise
    """

    name: str
    paths: tuple[Path, ...]
    options: Options
    pasted: str | None = None

    @property
    def is_own(self) -> bool:
        """Whether it is the user's, and not the worked example."""
        return bool(self.paths) or self.pasted is not None

    def count(
        self, options: Options, progress: Progress, should_stop: StopRequested, kernels_for: KernelsFor = plain_kernels
    ) -> Corpus:
        """Count the pre-tokens. Runs in the training lane. Raises BpeVizError."""
        if self.paths:
            kernel_set = kernels_for(bytes_to_scan(self.paths, options.counting), progress, should_stop)
            return count_paths(self.paths, options.counting, progress, should_stop, kernel_set)
        if self.pasted is not None:
            return count_text(self.pasted, options.counting)
        return worked_example()

    def count_for(
        self, tokenizer: Tokenizer, progress: Progress, should_stop: StopRequested, kernels_for: KernelsFor
    ) -> Corpus:
        """Count the pre-tokens as a tokenizer cuts text. Runs in the training lane. Raises BpeVizError."""
        counting, pipeline = tokenizer.counting, tokenizer.pipeline
        is_table = any(map(is_word_table, self.paths)) or not self.is_own
        is_counted_by_options = isinstance(pipeline, PlainPipeline | GuardedPipeline) or (
            isinstance(pipeline, StepsPipeline) and pipeline.is_counted_by_options
        )
        if is_table or is_counted_by_options:
            return self.count(Options(counting), progress, should_stop, kernels_for)
        n_bytes = sum(path.stat().st_size for path in self.paths if path.is_file())
        arguments = (pipeline, counting, self.name, self.paths, self.pasted)
        is_cut_here = isinstance(pipeline, StepsPipeline) and pipeline.joined is not None
        expected = n_bytes * (_SECONDS_A_BYTE_HERE if is_cut_here else _SECONDS_A_BYTE)
        return run_apart(count_prepared, arguments, f"Counting {self.name}", expected, progress, should_stop)


def example_source() -> Source:
    """Return the worked example."""
    return Source("the worked example", (), WORKED_EXAMPLE_OPTIONS)


def text_source(text: str) -> Source:
    """Return a text as a source."""
    return Source("the pasted text", (), TEXT_OPTIONS, pasted=text)


class SortedSources(NamedTuple):
    """What the things are that somebody wants to open.

    tokenizer: a tokenizer file or name; corpus: texts, folders and word-count tables
    """

    tokenizer: TokenizerSource | None
    corpus: tuple[Path, ...]


def sort_sources(sources: Sequence[str]) -> SortedSources:
    """Tell a tokenizer from texts, by its name or its file's first bytes.

    Raises FormatError for a file that cannot be read, and for more than one tokenizer.
    """
    tokenizers = [source for source in sources if is_name(source) or _is_tokenizer_file(Path(source))]
    if len(tokenizers) > 1:
        raise FormatError(f"{' and '.join(tokenizers)} are {len(tokenizers)} tokenizers.", "Open one of them.")
    corpus = tuple(Path(source) for source in sources if source not in tokenizers)
    return SortedSources(tokenizer_source(tokenizers[0]) if tokenizers else None, corpus)


def _is_tokenizer_file(path: Path) -> bool:
    return path.is_file() and not is_word_table(path) and detect_format(path) is not None


def file_source(paths: Sequence[Path]) -> Source:
    """Return files, folders or tables as one source; reading them is for the lane."""
    name = paths[0].name if len(paths) == 1 else f"{len(paths)} files"
    return Source(name, tuple(paths), TEXT_OPTIONS)


def tokenizer_source(written: str) -> TokenizerSource:
    """Return a tokenizer file or name as a source."""
    return TokenizerSource(written if is_name(written) else str(Path(written).absolute()))
