"""The command `encode`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from bpe_viz.cli.compiling import use_kernels_for
from bpe_viz.cli.inputs import locate_tokenizer, open_tokenizer, read_input
from bpe_viz.cli.options import TEXT, pretokenizer_options
from bpe_viz.cli.streaming import can_stream, stream_ids
from bpe_viz.cli.terminal import print_result, say, say_all

if TYPE_CHECKING:
    from bpe_viz.engine.layout import EncodedText
    from bpe_viz.engine.tokenizer import Tokenizer

FOUND_SOMETHING = 1


@click.command("encode")
@click.argument("tokenizer")
@click.argument("text", type=TEXT, required=False)
@click.option("--file", type=click.Path(path_type=Path), metavar="FILE", help="Encode this file instead of TEXT.")
@click.option("--position", type=int, metavar="K", help="Only the first K merges apply; ids stay the final ids.")
@click.option(
    "--output",
    type=click.Choice(["ids", "tokens", "json", "html", "ansi", "count"]),
    default="ids",
    help="What to print; ids by default.",
)
@pretokenizer_options
@click.option(
    "--special-text",
    type=click.Choice(["allow", "text", "error"]),
    default="allow",
    help="What the text of a special token becomes: the token, plain text, or an error.",
)
@click.option("--no-bos-eos", is_flag=True, help="Leave out the tokens that the file puts around a text.")
@click.option("--verify", is_flag=True, help="Compare with the tokenizer's own library; exit 1 at a difference.")
def command(
    tokenizer: str,
    text: str | None,
    file: Path | None,
    position: int | None,
    output: str,
    pretokenizer: str | None,
    pattern: str | None,
    special_text: Literal["allow", "text", "error"],
    no_bos_eos: bool,
    verify: bool,
) -> int:
    """Encode TEXT (- is standard input) with a TOKENIZER: a file, tiktoken:NAME or hf:ORG/NAME.

    tokens prints one token a line as a JSON string; a byte that is no whole character is a lone surrogate from
    U+DC80 to U+DCFF. json adds ids, bytes in hex, and where each token stands in the text.

    Example: bpe-viz encode novel.json "the lowest" --output tokens
    """
    located = locate_tokenizer(tokenizer)
    opened = open_tokenizer(located, position, pretokenizer, pattern)
    if verify and opened.position < opened.n_merges:
        raise click.UsageError("--verify needs all merges. Leave out --position.")
    if file is not None and text is None and not verify and can_stream(opened, file, output, special_text):
        stream_ids(opened, file, output, special_text)
        return 0
    given = read_input(text, file)
    use_kernels_for(opened, given)
    encoded = opened.lay_out(given, special_text, not no_bos_eos)
    _warn(opened, encoded)
    rendered = _render(opened, encoded, output)
    if rendered or output != "tokens":  # no token is no line
        print_result(rendered)
    if not verify:
        return 0
    from bpe_viz.verification import verify as ask_library

    verification = ask_library(located, encoded, special_text, around=not no_bos_eos)
    say(verification.describe())
    return 0 if verification.is_same else FOUND_SOMETHING


def _warn(tokenizer: Tokenizer, encoded: EncodedText) -> None:
    """Say what has no token of its own and what was dropped."""
    import numpy as np

    say_all(encoded.notes)
    if tokenizer.base.base == "bytes":
        return
    ids = encoded.at(tokenizer.position).ids
    if gaps := int(np.count_nonzero(ids < 0)):
        say(f"Characters that the base vocabulary lacks, which have no token: {gaps:,}.")
    if tokenizer.unknown is not None:
        unknown = int(np.count_nonzero(ids == tokenizer.special_ids[tokenizer.unknown]))
        if unknown:
            what = "Unknown characters" if tokenizer.kind == "BPE" else "Unknown words or characters"
            say(f"{what}, encoded as {tokenizer.unknown}: {unknown:,}.")


def _render(tokenizer: Tokenizer, encoded: EncodedText, output: str) -> str:
    position = tokenizer.position
    if output in ("ids", "count"):
        ids = encoded.at(position).ids
        known = ids[ids >= 0].tolist()
        return str(len(known)) if output == "count" else " ".join(map(str, known))
    from bpe_viz.cli.rendering import as_ansi, as_html, as_json_value, token_text

    tokens = encoded.encoding(position).tokens
    if output == "html":
        return as_html(tokenizer, tokens)
    if output == "ansi":
        return as_ansi(tokenizer, tokens)
    if output == "json":
        return json.dumps([as_json_value(tokenizer, token) for token in tokens])
    return "\n".join(json.dumps(token_text(tokenizer, token.id)) for token in tokens if token.id is not None)
