"""The engine trained in this process, and held to the naive algorithm on a small sample."""

from __future__ import annotations

import time
from collections import Counter
from itertools import zip_longest
from pathlib import Path

from bpe_viz.engine import reference
from bpe_viz.engine.compiled import Kernels
from bpe_viz.engine.corpus import PretokenCounts, count_paths, count_text
from bpe_viz.engine.pretokenize import pretokenizer_for
from bpe_viz.engine.reader import Reader
from bpe_viz.engine.reference import PairOfText, Word
from bpe_viz.engine.trainer import Trainer
from bpe_viz.engine.types import CountingOptions, Pair, TrainingOptions
from tests.benchmarks.measuring import RefusedError
from tests.benchmarks.plan import Plan, read_beginning

COUNTING = CountingOptions(pretokenizer="gpt2")


def count(file: Path, kernels: Kernels) -> PretokenCounts:
    """Count the pre-tokens of a text."""
    return count_paths([file], COUNTING, kernel_set=kernels).pretokens


def trainer_of(pretokens: PretokenCounts, plan: Plan) -> Trainer:
    """Return a trainer at the start, with the rule that most peers have."""
    return Trainer(pretokens, TrainingOptions(rule="huggingface", vocab_size=plan.vocab_size), 0, plan.kernels)


def time_steps(trainer: Trainer, last: int) -> list[float]:
    """Train up to a merge, one at a time; returns the seconds of each."""
    taken = []
    while trainer.frontier < last:
        began = time.perf_counter()
        merge = trainer.step()
        taken.append(time.perf_counter() - began)
        if merge is None:
            break
    return taken


def time_against_recount(plan: Plan) -> tuple[list[float], list[float]]:
    """Train on a small sample, once here and once counting everything anew for each merge, as it is taught.

    Returns the seconds of each merge, ours first; theirs are all the mean.
    Raises RefusedError if merges or counts differ.
    """
    sample = read_beginning(plan.file, plan.sample_bytes)
    words = written_in_bytes(Counter(pretokenizer_for(COUNTING).split(sample)))
    began = time.perf_counter()
    learned = reference.train(
        words, plan.sample_merges, rule=reference.smallest_ids, ids={chr(byte): byte for byte in range(256)}
    )
    mean = (time.perf_counter() - began) / max(1, len(learned))
    trainer = Trainer(
        count_text(sample, COUNTING).pretokens,
        TrainingOptions(rule="rustbpe", merges=plan.sample_merges),
        kernel_set=plan.kernels,
    )
    taken = time_steps(trainer, plan.sample_merges)
    check_equal(trainer, learned)
    return taken[: len(learned)], [mean] * len(learned)


def written_in_bytes(counts: Counter[str]) -> dict[Word, int]:
    """Write words as the reference takes them: a byte is the code point of its number."""
    return {tuple(map(chr, word.encode())): n for word, n in counts.items()}


def check_equal(trainer: Trainer, learned: list[tuple[PairOfText, int]]) -> None:
    """Raise RefusedError unless a trainer made these merges, with these counts."""
    symbols = trainer.timeline.symbols
    ours = [
        ((symbols.content(merge.left), symbols.content(merge.right)), merge.count)
        for merge in trainer.timeline.merges()
    ]
    theirs = [((left.encode("latin-1"), right.encode("latin-1")), n) for (left, right), n in learned]
    for rank, (our_merge, their_merge) in enumerate(zip_longest(ours, theirs)):
        if our_merge != their_merge:
            raise RefusedError(f"merge {rank} is {our_merge} here and {their_merge} by a recount of everything")


def check_counts(reader: Reader) -> None:
    """Raise RefusedError unless the pair counts at a reader's cursor equal a recount of all pre-tokens' splits."""
    pretokens = reader.timeline.pretokens
    words = {tuple(map(chr, reader.split(row))): n for row, n in enumerate(pretokens.counts.tolist())}
    recount = {Pair(ord(left), ord(right)): n for (left, right), n in reference.count_pairs(words).items()}
    if recount != reader.pair_counts():
        raise RefusedError(f"the counts at position {reader.position:,} are not those of a recount")
