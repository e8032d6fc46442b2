"""Trainers side by side, as whole processes in pairs."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from tests.benchmarks.measuring import (
    RefusedError,
    Row,
    UnavailableError,
    at_most,
    column,
    compared,
    in_turn,
    row_or_reason,
    run,
)
from tests.benchmarks.plan import Plan

TITLE = "a whole process trains on the file, byte-level, pattern of GPT-2; ratios of pairs of runs, 1 is the peer"


@dataclass(frozen=True, kw_only=True)
class Peer:
    """Another trainer, and what makes ours give the same merges: every one has a rule that ours knows.

    module: what is imported when it is installed
    program: takes a file, a vocabulary size and perhaps a file to write: see peer_trainers
    most_memory: the ratio that ours may reach, if any
    """

    name: str
    module: str
    rule: str
    documents: str
    program: tuple[str, ...]
    most_memory: float | None = None


def peer(name: str, rule: str, documents: str = "file", most_memory: float | None = None) -> Peer:
    """Return a peer that peer_trainers knows."""
    program = (sys.executable, "-m", "tests.benchmarks.peer_trainers", name)
    return Peer(name=name, module=name, rule=rule, documents=documents, program=program, most_memory=most_memory)


PEERS = (
    peer("gigabpe", "huggingface", "line", most_memory=1.5),
    peer("gigatoken", "huggingface"),
    peer("ffbpe", "rustbpe"),
    peer("rustbpe", "rustbpe"),
    peer("tokenizers", "huggingface", "line"),
    peer("bpeasy", "rustbpe"),
)


@dataclass(frozen=True, kw_only=True)
class TrainerRow(Row):
    """seconds: medians. merges: as many are equal."""

    rule: str | None = column("rule", "")
    merges: int | None = column("equal merges", ",")
    seconds: float | None = column("bpe_viz s")
    peer_seconds: float | None = column("peer s")
    time_ratio: float | None = column("time")
    memory_ratio: float | None = column("memory")


def rows(plan: Plan, peers: Sequence[Peer] = PEERS) -> list[TrainerRow]:
    """Compare with every peer; the fastest of them is the one to beat."""
    found = [row_or_reason(TrainerRow, peer.name, partial(compare, peer, plan)) for peer in peers]
    timed = [(row.peer_seconds, place) for place, row in enumerate(found) if row.peer_seconds is not None]
    if timed:
        fastest = min(timed)[1]
        ratio = found[fastest].time_ratio or 0
        goals = (at_most(ratio, 0.9, "time"), at_most(ratio, 0.75, "time"), *found[fastest].goals)
        found[fastest] = replace(found[fastest], goals=goals, note="the fastest of them")
    return found


def command(plan: Plan, file: Path, rule: str, documents: str, log: Path) -> list[str]:
    """Return the command that trains as a peer does."""
    options = {
        "--vocab-size": str(plan.vocab_size),
        "--pretokenizer": "gpt2",
        "--rule": rule,
        "--documents": documents,
        "--log": str(log),
    }
    return [
        sys.executable,
        "-m",
        "bpe_viz",
        "train",
        str(file),
        *(part for option in options.items() for part in option),
    ]


def compare(peer: Peer, plan: Plan) -> TrainerRow:
    """Check that both make the same tokens in the same order, then time them in turn.

    Raises UnavailableError if the peer is not installed, RefusedError if the tokens differ.
    """
    if importlib.util.find_spec(peer.module) is None:
        raise UnavailableError("not installed")
    log, made = plan.folder / "log.jsonl", plan.folder / "made.json"
    ours = command(plan, plan.file, peer.rule, peer.documents, log)
    theirs = [*peer.program, str(plan.file), str(plan.vocab_size)]
    run(ours)
    run([*theirs, str(made)])
    tokens = [json.loads(line)["token"] for line in log.read_text().splitlines()]
    check_equal(tokens, json.loads(made.read_text()))
    taken = in_turn(lambda: run(ours), lambda: run(theirs), plan.pairs)
    times = compared((a.seconds, b.seconds) for a, b in taken)
    memory = compared((a.mebibytes, b.mebibytes) for a, b in taken).ratio
    return TrainerRow(
        what=peer.name,
        rule=peer.rule,
        merges=len(tokens),
        seconds=times.ours,
        peer_seconds=times.theirs,
        time_ratio=times.ratio,
        memory_ratio=memory,
        goals=() if peer.most_memory is None else (at_most(memory, peer.most_memory, "memory"),),
    )


def check_equal(ours: Sequence[str], theirs: Sequence[str]) -> None:
    """Raise RefusedError unless both make the same tokens, in hex, in the same order.

    A peer that leaves bytes out of its alphabet that do not occur makes as many merges more.
    """
    if not ours:
        raise RefusedError("no merge was made")
    for rank, token in enumerate(ours):
        other = theirs[rank] if rank < len(theirs) else "nothing"
        if token != other:
            raise RefusedError(f"merge {rank:,} makes {token} here and {other} there")


if __name__ == "__main__":
    from tests.benchmarks.entry import main

    sys.exit(main(["--only", "trainers", *sys.argv[1:]]))
