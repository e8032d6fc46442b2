"""Fixtures for the tests of formats."""

from __future__ import annotations

import pytest

from tests.formats.samples import Sample, all_samples


@pytest.fixture(scope="session")
def samples(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Sample]:
    """A small file of every kind, by name."""
    return all_samples(tmp_path_factory.mktemp("whole"))
