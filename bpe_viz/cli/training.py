"""Count a corpus and train on it, as `train` and `info` do, with words about it on standard error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bpe_viz.cli.compiling import choose_kernels
from bpe_viz.cli.terminal import ProgressLine, say, say_all
from bpe_viz.engine.types import Options, StopReason

if TYPE_CHECKING:
    from bpe_viz.engine.compiled import Kernels
    from bpe_viz.engine.corpus import Corpus
    from bpe_viz.engine.trainer import Trainer
    from bpe_viz.engine.types import CountingOptions


def train(sources: Sequence[str], options: Options, threads: int | None = None) -> tuple[Corpus, Trainer]:
    """Count the sources and train to the target; progress and notes go to standard error.

    threads: how many count at once; None: as many as there are processors
    """
    from bpe_viz.engine.corpus import count_paths
    from bpe_viz.engine.pretokenize import pretokenizer_for
    from bpe_viz.engine.tie_rules import tie_rule
    from bpe_viz.engine.trainer import Trainer

    # What is wrong with the options is said before a long corpus is read.
    pretokenizer_for(options.counting)
    tie_rule(options.training.rule)
    with ProgressLine() as progress:
        kernel_set = kernels_to_count(sources, options.counting)
        corpus = count_paths(sources, options.counting, progress.report, kernel_set=kernel_set, threads=threads)
        progress.clear()
        say_all(corpus.notes)
        n_special_tokens = len(set(options.counting.special_tokens))
        kernels = _kernels_to_train(len(corpus.pretokens.data))
        trainer = Trainer(corpus.pretokens, options.training, n_special_tokens, kernels, records=False)
        stop = trainer.train_to(progress=progress.report)
    if stop is not None and stop != "target":
        say(f"Stopped after {trainer.frontier:,} of {trainer.target:,} merges: {_reason(stop, options)}")
    return corpus, trainer


def _reason(stop: StopReason, options: Options) -> str:
    if stop == "no pair left":
        limit = options.training.max_token_length
        return "no pair is left." if limit is None else f"no pair is left that makes a token of at most {limit}."
    return f"every pair counts less than {options.training.min_count:,} (--min-count)."


def kernels_to_count(sources: Sequence[str], counting: CountingOptions) -> Kernels:
    """Return the kernels that the sources are counted with. Raises CorpusError for what does not exist."""
    from bpe_viz.engine.compiled import PLAIN
    from bpe_viz.engine.corpus import WORTH_COMPILING, WORTH_SCANNING, bytes_to_scan

    n_bytes = bytes_to_scan(sources, counting)
    return choose_kernels(n_bytes >= WORTH_SCANNING, n_bytes >= WORTH_COMPILING) or PLAIN


def _kernels_to_train(n_cells: int) -> Kernels:
    from bpe_viz.engine.compiled import LARGE, PLAIN, SMALL

    return choose_kernels(n_cells > SMALL, n_cells > LARGE) or PLAIN
