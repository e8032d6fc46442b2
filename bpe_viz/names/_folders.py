"""Folders of caches."""

from __future__ import annotations

from pathlib import Path

from bpe_viz.names._download import FetchError


def make_folder(folder: Path, variable: str) -> None:
    """Make a folder unless it is there. variable: of the environment, says another. Raises FetchError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FetchError(
            f"The cache {folder} cannot be made: {error.strerror or error}.", f"Give another folder in {variable}."
        ) from error
