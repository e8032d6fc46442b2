"""Write a file whole or not at all: into a neighbour that takes its place at the end."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from bpe_viz.errors import BpeVizError


@contextlib.contextmanager
def whole_file(path: Path, error_class: type[BpeVizError] = BpeVizError) -> Iterator[BinaryIO]:
    """Open a file for writing that appears under its name only when all of it is written.

    A file that was there keeps its mode, and stays as it was if anything goes wrong; a link keeps pointing
    where it pointed. What is no ordinary file, such as /dev/stdout, is written to directly. Raises
    error_class if the file cannot be written.
    """
    target = Path(os.path.realpath(path))
    try:
        mode = _mode_of(path)
        if mode is not None and not stat.S_ISREG(mode):
            with path.open("wb") as file:
                yield file
            return
        if mode is not None and not os.access(target, os.W_OK):
            raise PermissionError(13, "Permission denied")
        with _neighbour(target, None if mode is None else stat.S_IMODE(mode)) as file:
            yield file
    except BrokenPipeError:
        raise
    except OSError as error:
        raise _unwritable(path, error, error_class) from error


def check_writable(path: Path, error_class: type[BpeVizError] = BpeVizError) -> None:
    """Raise error_class if it is known already that a file cannot be written; nothing is written."""
    target = Path(os.path.realpath(path))
    try:
        mode = _mode_of(path)
        if mode is not None and stat.S_ISDIR(mode):
            raise IsADirectoryError(21, "Is a directory")
        if mode is None and not target.parent.is_dir():
            raise FileNotFoundError(2, f"there is no folder {path.parent}")
        is_replaced = mode is None or stat.S_ISREG(mode)
        if (mode is not None and not os.access(path, os.W_OK)) or (
            is_replaced and not os.access(target.parent, os.W_OK | os.X_OK)
        ):
            raise PermissionError(13, "Permission denied")
    except OSError as error:
        raise _unwritable(path, error, error_class) from error


def _unwritable(path: Path, error: OSError, error_class: type[BpeVizError]) -> BpeVizError:
    return error_class(f"{path} cannot be written: {error.strerror or error}.", "Check its folder and permissions.")


def _mode_of(path: Path) -> int | None:
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return None


@contextlib.contextmanager
def _neighbour(target: Path, mode: int | None) -> Iterator[BinaryIO]:
    # In the same folder, since only there a rename is one step.
    path = target.with_name(f".{target.name[:40]}.{secrets.token_hex(4)}")
    try:
        with path.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            path.chmod(mode)
        path.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            path.unlink()
        raise
