"""The command `convert`."""

from __future__ import annotations

from pathlib import Path

import click

from bpe_viz.cli.inputs import STDIN, locate_tokenizer, open_tokenizer, refuse_same_files
from bpe_viz.cli.options import format_option, pretokenizer_options
from bpe_viz.cli.terminal import say, say_all


@click.command("convert")
@click.argument("source", metavar="IN")
@click.argument("output", type=click.Path(path_type=Path), metavar="OUT")
@format_option
@pretokenizer_options
def command(source: str, output: Path, format_name: str | None, pretokenizer: str | None, pattern: str | None) -> None:
    """Write the tokenizer IN (a file, tiktoken:NAME or hf:ORG/NAME) in the format of OUT.

    What OUT cannot hold is said before it is written; where it would encode a text otherwise nothing is.

    Example: bpe-viz convert novel.json novel.tiktoken
    """
    from bpe_viz.formats import draft_tokenizer, format_to_save

    if str(output) == STDIN:
        raise click.UsageError("OUT - names no file. Give the tokenizer a name.")
    target = format_to_save(output, format_name)
    others = {f"{other.name}, which belongs to OUT:": other for other in target.companions(output)}
    refuse_same_files([source], {"OUT": output, **others})
    tokenizer = open_tokenizer(locate_tokenizer(source), None, pretokenizer, pattern)
    draft = draft_tokenizer(tokenizer, output, format_name)
    say_all((*draft.losses, *draft.notes))  # before anything is replaced
    draft.write()
    say(f"{output}: {tokenizer.n_merges:,} merges, {tokenizer.vocab_size:,} tokens, as {target.title}.")
