"""What is measured on, and how much of it; and the texts that are made for it."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path

from bpe_viz.engine.compiled import Kernels

QUICK_BYTES = 5_000_000
MADE_MEGABYTES = 20


@dataclass(frozen=True, kw_only=True)
class Plan:
    """One run of the benchmarks.

    file: the text
    folder: for what is written, deleted afterwards
    kernels: what the engine runs on in this process
    ranks: the file of cl100k_base's ranks; None: the one that tiktoken keeps, if it does
    vocab_size: how far is trained
    pairs: how often whatever is compared is run
    repeats: how many jumps, and single steps of the reader
    excerpts: how many texts of 100 characters
    sample_bytes, sample_merges: what the naive algorithm is run on
    large_bytes: the size of the large text
    tokens: how many the large tokenizer has
    """

    file: Path
    folder: Path
    kernels: Kernels
    ranks: Path | None = None
    vocab_size: int = 32_000
    pairs: int = 3
    repeats: int = 200
    excerpts: int = 20_000
    sample_bytes: int = 200_000
    sample_merges: int = 50
    large_bytes: int = 1_000_000_000
    tokens: int = 262_144

    def quick(self) -> Plan:
        """Return a plan that shows within minutes that everything runs; its figures say little."""
        return replace(
            self,
            file=beginning_of(self.file, QUICK_BYTES, self.folder / "quick.txt"),
            vocab_size=4_000,
            pairs=1,
            repeats=50,
            excerpts=2_000,
            sample_bytes=20_000,
            sample_merges=10,
            large_bytes=10 * QUICK_BYTES,
            tokens=20_000,
        )


def make_text(path: Path, megabytes: int = MADE_MEGABYTES) -> Path:
    """Write words drawn by Zipf's law, the same every time."""
    draw = random.Random(20)
    letters = "etaoinshrdlucmfwypvbgkjqxz"
    weights = list(accumulate(1 / (i + 2) for i in range(len(letters))))
    words = ["".join(draw.choices(letters, cum_weights=weights, k=draw.randint(1, 11))) for _ in range(200_000)]
    ranks = list(accumulate(1 / (i + 1) for i in range(len(words))))
    with path.open("w") as file:
        while file.tell() < megabytes * 1_000_000:
            file.write(" ".join(draw.choices(words, cum_weights=ranks, k=20_000)) + ".\n")
    return path


def read_beginning(file: Path, n_bytes: int) -> str:
    """Return the beginning of a text, up to a character's end."""
    with file.open("rb") as opened:
        return opened.read(n_bytes).decode(errors="ignore")


def beginning_of(file: Path, n_bytes: int, path: Path) -> Path:
    """Write the beginning of a text."""
    path.write_text(read_beginning(file, n_bytes), encoding="utf-8", newline="")
    return path


def repeat_text(file: Path, n_bytes: int, path: Path) -> int:
    """Write a text again and again, until a size is reached; returns how often.

    White space at its ends is replaced by one line end, so that no pre-token of the family of GPT-2 reaches across and
    every count is that of the text, times how often it is there.
    """
    once = file.read_text(encoding="utf-8", errors="replace").strip().encode() + b"\n"
    times = max(1, math.ceil(n_bytes / len(once)))
    with path.open("wb") as out:
        for _ in range(times):
            out.write(once)
    return times


def excerpts(text: str, wanted: int, length: int) -> list[str]:
    """Return stretches of a text from as many places, no two the same, in random order, the same every time."""
    draw = random.Random(100)
    last = max(1, len(text) - length)
    starts = draw.sample(range(last), min(wanted, last))
    return list(dict.fromkeys(text[start : start + length] for start in starts))
