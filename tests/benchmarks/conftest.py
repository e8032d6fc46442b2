"""A tiny plan: every subject runs in a moment, and no figure means anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from bpe_viz.engine.compiled import PLAIN
from tests.benchmarks.plan import Plan

TEXT = "the lowest of the low, the widest of the wide; der ältere Wald ist weit.\nNewest words, newest wärts!\n"


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    """Return a plan of a few kilobytes, run by kernels that need no compilation."""
    file = tmp_path / "tiny.txt"
    file.write_text(TEXT * 40, encoding="utf-8")
    return Plan(
        file=file,
        folder=tmp_path,
        kernels=PLAIN,
        vocab_size=290,
        pairs=1,
        repeats=4,
        excerpts=30,
        sample_bytes=1_000,
        sample_merges=8,
        large_bytes=3 * file.stat().st_size,
    )
