"""The options that several commands share, and what they make."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from bpe_viz.engine.types import (
    DEFAULT_MARKER,
    DEFAULT_MERGES,
    NORMALIZATIONS,
    CountingOptions,
    Options,
    TrainingOptions,
)

Decorated = Callable[..., Any]


class _Text(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # generic in new versions only
    """Text in whole characters; a byte that is none reaches Python as a lone surrogate."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        written = str(value)
        if not written.isascii() and any("\ud800" <= letter <= "\udfff" for letter in written):
            self.fail(f"{written[:60]!r} is not valid UTF-8, the first byte that is not being escaped.", param, ctx)
        return written


TEXT = _Text()


def _together(*decorators: Callable[[Decorated], Decorated]) -> Callable[[Decorated], Decorated]:
    def decorate(function: Decorated) -> Decorated:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


pretokenizer_options = _together(
    click.option(
        "--pretokenizer", metavar="NAME", help="none, whitespace, gpt2 (the default), cl100k, o200k, llama3, qwen2."
    ),
    click.option(
        "--pattern", type=TEXT, metavar="REGEX", help="Your own pattern; what it leaves uncovered is dropped."
    ),
)

format_option = click.option(
    "--format",
    "format_name",
    metavar="NAME",
    help="Of OUT: tokenizer.json, tiktoken, gpt2, minbpe, subword-nmt; by its name if not given.",
)

counting_options = _together(
    pretokenizer_options,
    click.option(
        "--documents",
        type=click.Choice(["file", "line"]),
        default="file",
        help="What the pretokenizer gets at once: the whole text, or a line.",
    ),
    click.option(
        "--normalize",
        multiple=True,
        type=click.Choice(NORMALIZATIONS),
        help="Before counting; may be repeated, in order.",
    ),
    click.option("--special", type=TEXT, multiple=True, metavar="TOKEN", help="A special token; may be repeated."),
)

training_options = _together(
    click.option("--vocab-size", type=int, metavar="N", help="Base symbols, special and unknown tokens included."),
    click.option("--merges", type=int, metavar="N", help=f"How many merges; {DEFAULT_MERGES:,} by default."),
    counting_options,
    click.option("--base", type=click.Choice(["bytes", "characters"]), default="bytes", help="The first symbols."),
    click.option("--unknown", type=TEXT, metavar="TOKEN", help="Stands for a character that the base lacks."),
    click.option(
        "--end-of-word",
        type=click.Choice(["none", "separate", "glued"]),
        default="none",
        help="Marks the end of each pre-token: a symbol of its own, or part of the last letter.",
    ),
    click.option(
        "--marker", type=TEXT, metavar="TEXT", default=DEFAULT_MARKER, help=f"Its text; {DEFAULT_MARKER} by default."
    ),
    click.option(
        "--rule",
        metavar="NAME",
        default="textbook",
        help="Who wins a tie: textbook (the default), utf16, huggingface, rustbpe, first-seen, subword-nmt, cs336, "
        "sentencepiece.",
    ),
    click.option(
        "--weights",
        type=click.Choice(["counts", "types"]),
        default="counts",
        help="types counts each distinct pre-token once: the classic mistake.",
    ),
    click.option("--min-count", type=int, default=1, metavar="N", help="Stop when the best count is lower."),
    click.option(
        "--max-token-length",
        type=int,
        metavar="N",
        help="Longest token, in base symbols; N itself is allowed.",
    ),
    click.option("--threads", type=click.IntRange(min=1), metavar="N", help="At most; the merges do not depend on it."),
)


def options_of(values: dict[str, Any]) -> Options:
    """Return the options that training_options parsed. Raises OptionError."""
    return Options(
        counting=counting_of(values),
        training=TrainingOptions(
            base=values["base"],
            end_of_word=values["end_of_word"],
            marker=values["marker"],
            unknown=values["unknown"],
            rule=values["rule"],
            weights=values["weights"],
            min_count=values["min_count"],
            max_token_length=values["max_token_length"],
            vocab_size=values["vocab_size"],
            merges=values["merges"],
        ),
    )


def counting_of(values: dict[str, Any]) -> CountingOptions:
    """Return the options that counting_options parsed. Raises UsageError if two exclude each other."""
    if values["pretokenizer"] is not None and values["pattern"] is not None:
        raise click.UsageError("Both --pretokenizer and --pattern were given. Give one.")
    return CountingOptions(
        pretokenizer=values["pretokenizer"] or "gpt2",
        pattern=values["pattern"],
        normalize=values["normalize"],
        special_tokens=values["special"],
        documents=values["documents"],
    )
