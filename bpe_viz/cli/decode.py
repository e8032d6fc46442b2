"""The command `decode`."""

from __future__ import annotations

from pathlib import Path

import click

from bpe_viz.cli.inputs import STDIN, locate_tokenizer, open_vocabulary
from bpe_viz.cli.terminal import print_result, say


# An id may be negative, and would otherwise be taken for an option.
@click.command("decode", context_settings={"ignore_unknown_options": True})
@click.argument("tokenizer")
@click.argument("ids", nargs=-1, required=True, metavar="ID...", type=click.UNPROCESSED)
def command(tokenizer: str, ids: tuple[str, ...]) -> None:
    """Decode each ID (- reads them from standard input) with a TOKENIZER: a file, tiktoken:NAME or hf:ORG/NAME.

    Ids may stand between commas and brackets, as programs print lists. An id that no token has is marked in the text
    as <no token ID>.

    Example: bpe-viz decode novel.json 13 11
    """
    from bpe_viz.engine.id_list import parse_ids

    numbers = parse_ids(_read_stdin() if ids == (STDIN,) else " ".join(ids))
    if not numbers and ids != (STDIN,):
        raise click.UsageError("There is no id among the arguments. Give whole numbers, such as 13 11.")
    decoding = open_vocabulary(locate_tokenizer(tokenizer)).decode(numbers)
    print_result(decoding.text)
    if decoding.unknown:
        unknown = ", ".join(map(str, dict.fromkeys(decoding.unknown)))
        say(f"Ids that no token has: {unknown}.")
    if decoding.invalid:
        say(f"Places with bytes that are no whole character, shown as U+FFFD: {decoding.invalid:,}.")


def _read_stdin() -> str:
    from bpe_viz.engine.documents import read_any_text

    return read_any_text(Path(STDIN))[0]
