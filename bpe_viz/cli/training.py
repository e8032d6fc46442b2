"""Count a corpus and train on it, as `train` and `info` do, with words about it on standard error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bpe_viz.cli.terminal import ProgressLine, say, say_all
from bpe_viz.engine.types import Options, StopReason

if TYPE_CHECKING:
    from bpe_viz.engine.compiled import Kernels
    from bpe_viz.engine.corpus import Corpus
    from bpe_viz.engine.trainer import Trainer


def train(sources: Sequence[str], options: Options) -> tuple[Corpus, Trainer]:
    """Count the sources and train to the target; progress and notes go to standard error."""
    from bpe_viz.engine.corpus import count_paths
    from bpe_viz.engine.pretokenize import pretokenizer_for
    from bpe_viz.engine.tie_rules import tie_rule
    from bpe_viz.engine.trainer import Trainer

    # What is wrong with the options is said before a long corpus is read.
    pretokenizer_for(options.counting)
    tie_rule(options.training.rule)
    with ProgressLine() as progress:
        corpus = count_paths(sources, options.counting, progress.report)
        progress.clear()
        say_all(corpus.notes)
        n_special_tokens = len(set(options.counting.special_tokens))
        kernels = _kernels_for(len(corpus.pretokens.data))
        trainer = Trainer(corpus.pretokens, options.training, n_special_tokens, kernels)
        stop = trainer.train_to(progress=progress.report)
    if stop is not None and stop != "target":
        say(f"Stopped after {trainer.frontier:,} of {trainer.target:,} merges: {_reason(stop, options)}")
    return corpus, trainer


def _reason(stop: StopReason, options: Options) -> str:
    if stop == "no pair left":
        limit = options.training.max_token_length
        return "no pair is left." if limit is None else f"no pair is left that makes a token of at most {limit}."
    return f"every pair counts less than {options.training.min_count:,} (--min-count)."


def _kernels_for(n_cells: int) -> Kernels:
    from bpe_viz.engine import compiled

    if n_cells <= compiled.SMALL:
        return compiled.PLAIN
    if not compiled.is_ready():
        if n_cells <= compiled.LARGE:
            return compiled.PLAIN
        say("Compiling the trainer, about half a minute; later runs find it compiled.")
        compiled.fill_cache()
    return compiled.load()
