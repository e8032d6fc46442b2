"""Opens the largest kind of tokenizer.json there is in the real window, off screen, in a process of its own.

Its ids are compared with those of the tokenizers library before anything is timed.
"""

from __future__ import annotations

import json
import os
import random
import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.benchmarks.measuring import ROOT, RefusedError, Row, at_most, column, library, row_or_reason
from tests.benchmarks.plan import Plan

TITLE = "a tokenizer.json of a quarter of a million tokens, opened in the window"

SECONDS, HOLD = 3.0, 100.0
SAMPLE = "Tokenizers cut text into pieces: naïve café, 東京タワー and for (i = 0; i < n; ++i) {}\n\n"
_SPECIAL = ["<pad>", "<eos>", "<bos>", "<unk>", *(f"<unused{number}>" for number in range(6_000))]


@dataclass(frozen=True, kw_only=True)
class OpeningRow(Row):
    seconds: float | None = column("s")
    hold: float | None = column("hold ms", ",.0f")
    user: float | None = column("user s")
    window_mb: float | None = column("window MB", ",.0f")
    reader_mb: float | None = column("reader MB", ",.0f")


def make_tokenizer(path: Path, n_tokens: int) -> Path:
    """Write a file as Gemma's: letters, bytes to fall back on, and every way to cut each token as a line."""
    draw = random.Random(3)
    letters = [
        chr(code) for start, end in ((0x21, 0x7F), (0xA1, 0x250), (0x4E00, 0x5800)) for code in range(start, end)
    ]
    letters.append("▁")
    tokens = dict.fromkeys(letters)
    short = list(letters)
    made: list[str] = []
    while len(tokens) < n_tokens - len(_SPECIAL) - 256:
        token = draw.choice(short) + draw.choice(short)
        if token in tokens or len(token) > 12:
            continue
        tokens[token] = None
        made.append(token)
        if len(token) < 7:
            short.append(token)
    cuts = ((token[:at], token[at:]) for token in made for at in range(1, len(token)))
    merges = [cut for cut in cuts if cut[0] in tokens and cut[1] in tokens]
    names = [*_SPECIAL, *(f"<0x{byte:02X}>" for byte in range(256)), *tokens]
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    document: dict[str, Any] = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": number, "content": text, **flags} for number, text in enumerate(_SPECIAL)],
        "normalizer": {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
        "pre_tokenizer": None,
        "post_processor": None,
        "decoder": {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
        "model": {
            "type": "BPE",
            "unk_token": "<unk>",
            "fuse_unk": True,
            "byte_fallback": True,
            "vocab": {text: number for number, text in enumerate(names)},
            "merges": merges,
        },
    }
    path.write_text(json.dumps(document, ensure_ascii=False, indent=2), encoding="utf-8")
    return path


def check_equal(path: Path) -> None:
    """Compare ids with those of the tokenizers library. Raises RefusedError, UnavailableError."""
    from bpe_viz.formats import load_tokenizer

    theirs = library("tokenizers").Tokenizer.from_file(str(path)).encode(SAMPLE).ids
    if load_tokenizer(path).encode(SAMPLE).ids != theirs:
        raise RefusedError("the ids differ from those of the tokenizers library")


def rows(plan: Plan) -> list[Row]:
    """Open such a file."""
    return [row_or_reason(OpeningRow, f"{plan.tokens:,} tokens", lambda: _row(plan))]


def _row(plan: Plan) -> OpeningRow:
    path = make_tokenizer(plan.folder / "large.json", plan.tokens)
    check_equal(path)
    program = [sys.executable, "-m", "tests.benchmarks.opening", str(path), str(plan.folder)]
    run = subprocess.run(program, capture_output=True, text=True, check=False, cwd=ROOT)
    if run.returncode:
        raise RefusedError(run.stderr.strip().rpartition("\n")[2])
    figures = json.loads(run.stdout.splitlines()[-1])
    goals = at_most(figures["seconds"], SECONDS), at_most(figures["hold"], HOLD, "hold")
    size = path.stat().st_size / 1e6
    return OpeningRow(what=f"{plan.tokens:,} tokens, {size:.1f} MB", goals=goals, **figures)


def measure(path: Path, folder: Path) -> dict[str, float]:
    """Open a file in this process's window; returns the figures of a row."""
    from bpe_viz.gui.opened_tokenizer import TokenizerSource
    from tests.benchmarks.window import Driver

    driver = Driver(folder)
    driver.window.open_example()
    driver.workspace.prepare()
    driver.run_until(lambda: driver.workspace.is_settled)
    before = _user_seconds()
    driver.beat.take()
    began = time.perf_counter()
    driver.workspace.open_tokenizer(TokenizerSource(str(path)))
    driver.run_until(lambda: driver.workspace.tokenizer is not None and driver.workspace.is_settled)
    figures = {
        "seconds": time.perf_counter() - began,
        "hold": driver.beat.take(),
        "user": _user_seconds() - before,
        "window_mb": _peak(resource.RUSAGE_SELF),
        "reader_mb": _peak(resource.RUSAGE_CHILDREN),
    }
    driver.window.close()
    return figures


def _user_seconds() -> float:
    return sum(resource.getrusage(who).ru_utime for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def _peak(who: int) -> float:
    """Return the peak memory of this process, or of the largest one that it has waited for, in MiB."""
    return resource.getrusage(who).ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10)


if __name__ == "__main__":
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    print(json.dumps(measure(Path(sys.argv[1]), Path(sys.argv[2]))))
