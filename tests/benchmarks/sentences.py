"""Texts of 100 characters, one call each: what the encode panel does at every key."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from tests.benchmarks.cl100k import Encoders
from tests.benchmarks.measuring import (
    RefusedError,
    Row,
    UnavailableError,
    at_most,
    column,
    compared,
    in_turn,
    row_or_reason,
    seconds_of,
)
from tests.benchmarks.plan import Plan, excerpts

CHARACTERS = 100
FIRST = 1_000
"""So many texts are too few for most of their words to have been seen."""
TYPED = 50
AGAIN = 100


@dataclass(frozen=True, kw_only=True)
class SentenceRow(Row):
    texts: int | None = column("texts", ",")
    microseconds: float | None = column("bpe_viz µs", ".1f")
    peer_microseconds: float | None = column("tiktoken µs", ".1f")
    ratio: float | None = column("ratio")


class Stream(NamedTuple):
    """Texts that are encoded one after the other. before: that were encoded before, and are not timed."""

    what: str
    before: Sequence[str]
    texts: Sequence[str]


def sentence_rows(encoders: Encoders, text: str, plan: Plan) -> list[SentenceRow]:
    """Encode stretches of the text from random places, as life brings them: new texts, mostly of words seen before."""
    return [
        row_or_reason(SentenceRow, stream.what, partial(compare, stream, encoders, plan.pairs))
        for stream in streams(text, plan.excerpts)
    ]


def streams(text: str, wanted: int) -> list[Stream]:
    """Return what is encoded.

    Excerpts with the beginning of a special token are left out: here it would become one.
    """
    found = [excerpt for excerpt in excerpts(text, wanted, CHARACTERS) if "<|" not in excerpt]
    first, later = found[:FIRST], found[FIRST:]
    longer = [excerpt for excerpt in excerpts(text, TYPED, 2 * CHARACTERS) if "<|" not in excerpt]
    typed = [one[:length] for one in longer for length in range(CHARACTERS, len(one))]
    seen = first[:TYPED]
    return [
        Stream(f"{CHARACTERS} characters never seen, and {len(first):,} such texts the first of all", (), first),
        Stream(f"{CHARACTERS} characters never seen, after {len(first):,} other texts", first, later),
        Stream(f"{CHARACTERS} to {2 * CHARACTERS} characters, one more each time", found, typed),
        Stream(f"{CHARACTERS} characters seen before", seen, seen * AGAIN),
    ]


def compare(stream: Stream, encoders: Encoders, pairs: int) -> SentenceRow:
    """Time the texts in turn with tiktoken. Raises RefusedError if an id differs, UnavailableError without texts."""
    if not stream.texts:
        raise UnavailableError("the text is too short")
    tiktoken = encoders.tiktoken()
    encode = encoders.ours().encode
    for text in (*stream.before, *stream.texts):
        if encode(text).ids != tiktoken.encode_ordinary(text):
            raise RefusedError(f"other ids than those of tiktoken for {text!r}")

    def ours() -> float:
        encode = encoders.ours().encode
        encode("")  # sets up what does not depend on a text
        return time_stream(stream, encode)

    times = compared(in_turn(ours, lambda: time_stream(stream, tiktoken.encode_ordinary), pairs))
    n = len(stream.texts)
    return SentenceRow(
        what=stream.what,
        texts=n,
        microseconds=1e6 * times.ours / n,
        peer_microseconds=1e6 * times.theirs / n,
        ratio=times.ratio,
        goals=(at_most(times.ratio, 1),),
    )


def time_stream(stream: Stream, encode: Callable[[str], Any]) -> float:
    """Return the seconds of all texts, those before not counted."""
    for text in stream.before:
        encode(text)

    def encode_all() -> None:
        for text in stream.texts:
            encode(text)

    return seconds_of(encode_all)
