"""The command `snapshot`."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from bpe_viz.cli.inputs import given_counting, refuse_absent, refuse_same_files
from bpe_viz.cli.options import TEXT, options_of, training_options
from bpe_viz.cli.terminal import INTERRUPTED, STOPPED, say_all, tell

_SUFFIXES = (".png", ".svg", ".pdf")
_SMALLEST, _LARGEST_SIDE = (640, 400), 16_384


@click.command("snapshot")
@click.argument("source")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), required=True, metavar="FIGURE", help="A .png, .svg or .pdf."
)
@click.option("--position", type=int, metavar="K", help="How many merges have been applied; all by default.")
@click.option(
    "--instead", type=TEXT, metavar="PAIR", help="Merge this pair there, such as [n][e], and show what follows."
)
@click.option("--replay", metavar="TEXT", help="With a tokenizer: make its merges again on this text or table.")
@click.option("--panel", metavar="NAME", help="Only this panel; the whole window if not given.")
@click.option("--text", type=TEXT, metavar="TEXT", help="The text in the panel Encode.")
@click.option(
    "--theme", type=click.Choice(["light", "dark", "high-contrast", "print"]), default="light", help="Its colours."
)
@click.option("--size", default="1280x800", metavar="WxH", help="Of the window, in pixels; 1280x800 by default.")
@click.option(
    "--scale",
    type=click.FloatRange(0.25, 8),
    default=1.0,
    metavar="FACTOR",
    help="Draws a PNG so much finer; 1 by default.",
)
@training_options
def command(
    source: str,
    output: Path,
    position: int | None,
    instead: str | None,
    replay: str | None,
    panel: str | None,
    text: str | None,
    theme: str,
    size: str,
    scale: float,
    **values: Any,
) -> None:
    """Draw a figure of SOURCE, with no screen needed.

    SOURCE: a text file or folder, a word-count table, a tokenizer file or name, or the word example for the worked
    example.

    Example: bpe-viz snapshot novel.txt -o pairs.svg --panel histogram --position 100 --theme print
    """
    from bpe_viz.names import is_name

    if output.suffix.lower() not in _SUFFIXES:
        raise click.UsageError(f"{output} is no kind of figure that is known. Name it {', '.join(_SUFFIXES)}.")
    read = [one for one in (source, replay) if one is not None and one != "example" and not is_name(one)]
    for one in read:
        refuse_absent(one)
    refuse_same_files(read, {"-o": output})
    if position is not None and position < 0:
        raise click.UsageError(f"Position {position} is below 0. Give 0 or more.")
    options = options_of(values)
    wanted, chosen = _size(size), _chosen(values)
    from bpe_viz.gui.snapshot import snapshot

    draw = partial(
        snapshot,
        source,
        output,
        # The worked example and tokenizers have options of their own, which the defaults of texts would spoil.
        options=options if chosen else None,
        given=given_counting(values["pretokenizer"], values["pattern"]),
        only_trains=[option for name, option in chosen.items() if name not in ("pretokenizer", "pattern")],
        position=position,
        instead=instead,
        replay=replay,
        panel=panel,
        text=text,
        theme=theme,
        size=wanted,
        scale=scale,
    )
    try:
        say_all(draw())
    except KeyboardInterrupt:
        # A thread of the window may still be at work, and Python would wait for it.
        tell(STOPPED)
        os._exit(INTERRUPTED)


def _chosen(values: Mapping[str, Any]) -> dict[str, str]:
    """Return those of these values that stood on the command line, with the names of their options."""
    context = click.get_current_context()
    return {
        parameter.name: parameter.opts[-1]
        for parameter in context.command.params
        if parameter.name in values and context.get_parameter_source(parameter.name) is not ParameterSource.DEFAULT
    }


def _size(written: str) -> tuple[int, int]:
    found = re.fullmatch(r"([0-9]{1,9})[xX×]([0-9]{1,9})", written)
    if found is None:
        raise click.UsageError(f"The size {written!r} is not two numbers. Write it such as 1280x800.")
    width, height = int(found[1]), int(found[2])
    if width < _SMALLEST[0] or height < _SMALLEST[1] or max(width, height) > _LARGEST_SIDE:
        least, most = "x".join(map(str, _SMALLEST)), f"{_LARGEST_SIDE}x{_LARGEST_SIDE}"
        raise click.UsageError(f"The size {written} cannot be drawn. Give {least} to {most}.")
    return width, height
