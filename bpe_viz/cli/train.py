"""The command `train`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from bpe_viz.cli.inputs import STDIN, refuse_same_files
from bpe_viz.cli.options import format_option, options_of, training_options


@click.command("train")
@click.argument("corpus", nargs=-1, required=True)
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="OUT", help="The tokenizer to write.")
@click.option(
    "--log",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write a line of JSON for each merge; - is standard output.",
)
@format_option
@training_options
def command(
    corpus: tuple[str, ...], output: Path | None, log: Path | None, format_name: str | None, **values: Any
) -> None:
    """Train a tokenizer on CORPUS.

    CORPUS: text files, folders, .gz, .jsonl (field text), .parquet, - for standard input, or word-count
    tables (.tsv, .csv, .parquet), whose pre-tokens are taken as they are.

    The log holds rank, left, right and token (bytes in hex, a marker as its text), count, replacements, and
    ties (how many pairs had that count). Where text ends like the marker, the field unmarked names the
    symbols that only look marked.

    Example: bpe-viz train novel.txt -o novel.json --vocab-size 5000
    """
    if output is None and log is None:
        raise click.UsageError("Nothing would be written. Give -o OUT, --log FILE, or both.")
    if output is not None and str(output) == STDIN:
        raise click.UsageError("-o - names no file. Give the tokenizer a name.")
    refuse_same_files(corpus, {"-o": output, "--log": log})
    options = options_of(values)
    from bpe_viz.cli.merge_log import write_log
    from bpe_viz.cli.terminal import say, say_all
    from bpe_viz.cli.training import train
    from bpe_viz.engine.tokenizer import Tokenizer
    from bpe_viz.errors import OptionError
    from bpe_viz.formats import check_before_training, draft_tokenizer, format_to_save
    from bpe_viz.whole_file import check_writable

    # What cannot be written is said before long work, so far as that is known.
    if output is not None:
        others = format_to_save(output, format_name).companions(output)
        refuse_same_files(corpus, {f"{other.name}, which belongs to -o:": other for other in others})
        check_before_training(options, output, format_name)
    if log is not None and str(log) != STDIN:
        check_writable(log, OptionError)
    counted, trainer = train(corpus, options, values["threads"])
    # First, so that it is there even if the tokenizer cannot be saved.
    if log is not None:
        write_log(trainer.timeline, log)
    if output is not None:
        tokenizer = Tokenizer.from_timeline(trainer.timeline, counted.counting)
        draft = draft_tokenizer(tokenizer, output, format_name)
        say_all((*tokenizer.notes, *draft.losses, *draft.notes))  # before anything is replaced
        draft.write()
        say(f"{output}: {tokenizer.n_merges:,} merges, {tokenizer.vocab_size:,} tokens.")
