"""The command `decode`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import click

from bpe_viz.cli.inputs import STDIN, locate_tokenizer, open_vocabulary
from bpe_viz.cli.terminal import print_result, say

_MOST_DIGITS = 4000
"""Python itself reads no more than 4,300."""


# An id may be negative, and would otherwise be taken for an option.
@click.command("decode", context_settings={"ignore_unknown_options": True})
@click.argument("tokenizer")
@click.argument("ids", nargs=-1, required=True, metavar="ID...", type=click.UNPROCESSED)
def command(tokenizer: str, ids: tuple[str, ...]) -> None:
    """Decode each ID (- reads them from standard input) with a TOKENIZER: a file, tiktoken:NAME or hf:ORG/NAME.

    An id that no token has is marked in the text as <no token ID>.

    Example: bpe-viz decode novel.json 13 11
    """
    numbers = _numbers(_read_stdin().split() if ids == (STDIN,) else ids)
    decoding = open_vocabulary(locate_tokenizer(tokenizer)).decode(numbers)
    print_result(decoding.text)
    if decoding.unknown:
        unknown = ", ".join(map(str, dict.fromkeys(decoding.unknown)))
        say(f"Ids that no token has: {unknown}.")
    if decoding.invalid:
        say(f"Bytes that are no whole character, shown as U+FFFD: {decoding.invalid:,}.")


def _read_stdin() -> str:
    from bpe_viz.engine.documents import read_any_text

    return read_any_text(Path(STDIN))[0]


def _numbers(ids: Iterable[str]) -> list[int]:
    # int() alone would also take 1_000 and the digits of other scripts.
    for written in ids:
        if not re.fullmatch(rf"-?[0-9]{{1,{_MOST_DIGITS}}}", written):
            raise click.UsageError(f"{written[:40]!r} is no id. Give whole numbers, such as 13 11.")
    return [int(written) for written in ids]
