"""The command `count`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from bpe_viz.cli.inputs import STDIN, refuse_same_files
from bpe_viz.cli.options import counting_of, counting_options
from bpe_viz.cli.terminal import ProgressLine, say, say_all


@click.command("count")
@click.argument("corpus", nargs=-1, required=True)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    required=True,
    metavar="TABLE",
    help="The table to write: .tsv, .csv or .parquet.",
)
@counting_options
@click.option("--threads", type=click.IntRange(min=1), metavar="N", help="At most; the counts do not depend on it.")
def command(corpus: tuple[str, ...], output: Path, threads: int | None, **values: Any) -> None:
    """Count the pre-tokens of CORPUS, as train does, and write them as a word-count table.

    Training on the table gives the same merges as training on CORPUS: pre-tokens stand in the order in which they
    come first, and are taken as they are.

    Example: bpe-viz count novel.txt -o counts.tsv --pretokenizer cl100k
    """
    if str(output) == STDIN:
        raise click.UsageError("-o - names no file. Give the table a name.")
    from bpe_viz.cli.training import kernels_to_count
    from bpe_viz.engine.corpus import count_paths
    from bpe_viz.engine.pretokenize import pretokenizer_for
    from bpe_viz.formats.word_counts import check_table, save_word_counts

    check_table(output)
    refuse_same_files(corpus, {"-o": output})
    counting = counting_of(values)
    # What is wrong is said before a long corpus is read.
    pretokenizer_for(counting)
    with ProgressLine() as progress:
        kernel_set = kernels_to_count(corpus, counting)
        counted = count_paths(corpus, counting, progress.report, kernel_set=kernel_set, threads=threads)
    save_word_counts(counted.pretokens, output)
    say_all(counted.notes)
    say(f"{output}: {len(counted.pretokens):,} distinct pre-tokens, {counted.n_pretokens:,} in all.")
