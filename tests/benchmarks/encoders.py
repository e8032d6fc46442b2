"""Encoders side by side, in this process, with cl100k_base: a file at once, and texts of 100 characters.

There is no row for the tokenizers library: cl100k_base is published as ranks, which it cannot read.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe_viz.engine.compiled import Kernels
from bpe_viz.engine.encoder import Encoder
from tests.benchmarks.cl100k import Encoders, find_encoders
from tests.benchmarks.measuring import (
    RefusedError,
    Row,
    UnavailableError,
    at_least,
    column,
    compared,
    library,
    row_or_reason,
    seconds_of,
)
from tests.benchmarks.plan import Plan
from tests.benchmarks.sentences import SentenceRow, sentence_rows

TITLE = "cl100k_base, in process, loaded before; the first time nothing is remembered"

THREADS = 2
DOCUMENT_CHARACTERS = 1_000_000

Ids = NDArray[Any]


@dataclass(frozen=True, kw_only=True)
class EncoderRow(Row):
    """ratio: how many times as fast as the peer."""

    speed: float | None = column("bpe_viz MB/s", ",.1f")
    peer: str | None = column("peer", "")
    peer_speed: float | None = column("peer MB/s", ",.1f")
    ratio: float | None = column("times as fast")


class Contestant(NamedTuple):
    """One way to encode the whole text.

    begin: returns a function that encodes it, and remembers nothing yet
    ids: what that function returns, as one array
    passes: more than one where it remembers what it has seen
    """

    begin: Callable[[], Callable[[], Any]]
    ids: Callable[[Any], Ids]
    passes: int = 2


class Comparison(NamedTuple):
    """Two passes to compare: 0 is the first of an encoder that remembers nothing, 1 the second of the same.

    least: how many times as fast as the peer ours has to be
    """

    what: str
    ours: str
    number: int
    peer: str
    peer_number: int
    least: float | None = None


OURS_1, OURS_2 = "bpe_viz, 1 thread", f"bpe_viz, {THREADS} threads"
TIKTOKEN, TIKTOKEN_BATCH = "tiktoken", f"tiktoken, {THREADS} threads"
GIGATOKEN, GIGATOKEN_BATCH = "gigatoken", f"gigatoken, {THREADS} threads"

COMPARISONS = (
    Comparison("first time, 1 thread", OURS_1, 0, TIKTOKEN, 0, 6),
    Comparison(f"first time, {THREADS} threads", OURS_2, 0, TIKTOKEN, 0, 10),
    Comparison(f"first time, {THREADS} threads", OURS_2, 0, TIKTOKEN_BATCH, 0),
    Comparison("first time, 1 thread", OURS_1, 0, GIGATOKEN, 0, 1),
    Comparison("again, 1 thread", OURS_1, 1, GIGATOKEN, 1, 1),
    Comparison(f"first time, {THREADS} threads", OURS_2, 0, GIGATOKEN_BATCH, 0, 1),
    Comparison(f"again, {THREADS} threads", OURS_2, 1, GIGATOKEN_BATCH, 1, 1),
)


def rows(plan: Plan) -> list[EncoderRow | SentenceRow]:
    """Compare ids, then encode in turn."""
    # Before a peer starts its threads, so that it has as many as ours.
    os.environ.setdefault("RAYON_NUM_THREADS", str(THREADS))
    try:
        encoders = find_encoders(plan.ranks, plan.folder)
    except UnavailableError as error:
        return [EncoderRow(what="cl100k_base", note=str(error))]
    text = plan.file.read_text(encoding="utf-8", errors="replace")
    return [
        *file_rows(contestants(encoders, text, plan.kernels), len(text.encode()) / 1e6, plan.pairs),
        *sentence_rows(encoders, text, plan),
    ]


def contestants(encoders: Encoders, text: str, kernels: Kernels) -> dict[str, Contestant]:
    """Return all ways to encode a text; what has threads for documents only gets the text in documents."""
    data = text.encode()
    documents = cut_into_documents(text, DOCUMENT_CHARACTERS)

    def ours(threads: int) -> Callable[[], Ids]:
        return partial(Encoder(encoders.ours(), kernels, threads).encode_bytes, data, allow_special=False)

    def whole(peer: Callable[[], Any], method: str) -> Callable[[], Any]:
        return partial(getattr(peer(), method), data if method == "encode" else text)

    def flat(rows: Any) -> Ids:
        return np.asarray(library("awkward").flatten(rows))

    return {
        OURS_1: Contestant(lambda: ours(1), np.asarray),
        OURS_2: Contestant(lambda: ours(THREADS), np.asarray),
        TIKTOKEN: Contestant(lambda: whole(encoders.tiktoken, "encode_ordinary"), np.asarray, passes=1),
        TIKTOKEN_BATCH: Contestant(
            lambda: partial(encoders.tiktoken().encode_ordinary_batch, documents, num_threads=THREADS),
            lambda lists: np.concatenate([np.asarray(ids, dtype=np.int64) for ids in lists]),
            passes=1,
        ),
        GIGATOKEN: Contestant(lambda: whole(encoders.gigatoken, "encode"), np.asarray),
        GIGATOKEN_BATCH: Contestant(lambda: partial(encoders.gigatoken().encode_batch, documents), flat),
    }


def cut_into_documents(text: str, size: int) -> list[str]:
    """Cut a text into parts of about a size whose ids, one after the other, are those of the whole.

    Behind a line end and before a letter no pre-token of cl100k_base reaches across; the ids are compared all the same.
    """
    documents = []
    start = 0
    while start < len(text):
        end = min(start + size, len(text))
        while end < len(text) and not (text[end - 1] == "\n" and text[end].isalpha()):
            end += 1
        documents.append(text[start:end])
        start = end
    return documents


def file_rows(contestants: dict[str, Contestant], megabytes: float, pairs: int) -> list[EncoderRow]:
    """Compare the ids of all with ours on one thread, then let all encode in turn."""
    expected = contestants[OURS_1].ids(contestants[OURS_1].begin()())
    checked = {
        name: row_or_reason(EncoderRow, name, partial(check_ids, name, contestant, expected))
        for name, contestant in contestants.items()
    }
    running = [name for name, row in checked.items() if not row.note]
    rounds = [{name: time_passes(contestants[name]) for name in running} for _ in range(pairs)]
    return [
        compare(comparison, rounds, megabytes) if comparison.peer in running else checked[comparison.peer]
        for comparison in COMPARISONS
    ]


def check_ids(name: str, contestant: Contestant, expected: Ids) -> EncoderRow:
    """Return an empty row. Raises RefusedError if the ids are not these."""
    ids = contestant.ids(contestant.begin()())
    if not np.array_equal(ids, expected):
        n = min(len(ids), len(expected))
        differing = np.flatnonzero(ids[:n] != expected[:n])
        raise RefusedError(
            f"other ids than those of bpe_viz from token {int(differing[0]) if len(differing) else n:,} on"
        )
    return EncoderRow(what=name)


def time_passes(contestant: Contestant) -> list[float]:
    """Encode as often as it makes a difference; returns the seconds of each pass."""
    encode = contestant.begin()
    return [seconds_of(encode) for _ in range(contestant.passes)]


def compare(comparison: Comparison, rounds: Sequence[dict[str, list[float]]], megabytes: float) -> EncoderRow:
    """Return the row of two passes."""
    times = compared(
        (one[comparison.ours][comparison.number], one[comparison.peer][comparison.peer_number]) for one in rounds
    )
    faster = 1 / times.ratio
    return EncoderRow(
        what=comparison.what,
        speed=megabytes / times.ours,
        peer=comparison.peer,
        peer_speed=megabytes / times.theirs,
        ratio=faster,
        goals=() if comparison.least is None else (at_least(faster, comparison.least),),
    )
