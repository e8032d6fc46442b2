"""Fixtures for all tests: the cases and data that the project shares, which lie outside it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# A busy machine must not fail a test: no test here is about time.
settings.register_profile("bpe_viz", deadline=None)
settings.load_profile("bpe_viz")

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder ../shared beside the repository; the test is skipped where it is absent."""
    if not SHARED.is_dir():
        pytest.skip(f"needs {SHARED}, which this checkout does not have")
    return SHARED


@pytest.fixture(scope="session")
def case(shared: Path) -> Callable[[str], dict[str, Any]]:
    """Return a loader: the id of a case in cases.jsonl -> the case."""
    lines = (shared / "cases" / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    cases = {record["id"]: record for record in map(json.loads, lines)}
    return cases.__getitem__
