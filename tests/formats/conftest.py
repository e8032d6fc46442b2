"""Fixtures for the tests of formats."""

from __future__ import annotations

import gzip
import json

import pytest

from tests.formats.samples import Sample, all_samples


@pytest.fixture(scope="session")
def samples(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Sample]:
    """A small file of every kind, by name."""
    return all_samples(tmp_path_factory.mktemp("whole"))


@pytest.fixture(scope="session")
def clip_model(shared) -> dict:
    """The vocabulary of CLIP, and its merges as lines."""
    packed = shared / "data" / "tok" / "clip.tokenizer.json.gz"
    model = json.loads(gzip.decompress(packed.read_bytes()))["model"]
    merges = [merge if isinstance(merge, str) else " ".join(merge) for merge in model["merges"]]
    return {"vocab": model["vocab"], "merges": merges}
