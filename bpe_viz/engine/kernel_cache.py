"""Where compiled kernels are kept: a file for each version of them, written whole and checked as it is read.

Machine code that lost a byte would end the process or give a wrong result, and Numba's own cache, two files for each
function and no checksum, notices neither that nor two processes that fill it at once. So all of it is one file.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import stat
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from bpe_viz.whole_file import whole_file

DAYS_UNUSED = 30
"""How long the file of another version is kept."""

Entries = dict[tuple[str, ...], bytes]
"""Compiled functions: what tells each apart, and what Numba makes it again from, packed: most are never called."""

_STEM = "kernels-"
_DIGEST_BYTES = 32


def kept_file(wanted: Path, version: str) -> Path:
    """Return the file for the compiled kernels of one version; it need not exist yet.

    wanted: the folder where such files should be; one that can only be read serves if it holds the file, else a
        private folder for temporary files is taken
    version: tells versions of the kernels apart
    """
    name = f"{_STEM}{version}"
    if (wanted / name).is_file() or _can_be_written(wanted):
        return wanted / name
    return _temporary_folder(wanted) / name


def read_kernels(path: Path) -> Entries | None:
    """Return what is kept, None if there is nothing or it is damaged: then it is written anew."""
    try:
        content = path.read_bytes()
    except OSError:  # it is not there, or cannot be read
        return None
    digest, pickled = content[:_DIGEST_BYTES], memoryview(content)[_DIGEST_BYTES:]
    # Unpickled only if it is what was written: anything else may raise anything.
    if _digest_of(pickled) != digest:
        return None
    entries: Entries = pickle.loads(pickled)
    return entries or None


def write_kernels(path: Path, entries: Mapping[tuple[str, ...], bytes]) -> None:
    """Keep compiled kernels, for this process's user alone to change. Raises BpeVizError, or OSError for the folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pickled = pickle.dumps(dict(entries), protocol=pickle.HIGHEST_PROTOCOL)
    with whole_file(path) as file:
        file.write(_digest_of(pickled) + pickled)


def note_use(path: Path) -> None:
    """Note that a file was used today, and remove those that no version has used for DAYS_UNUSED."""
    # What cannot be noted or removed is in a folder of somebody else's, who looks after it; or is in use (Windows).
    with contextlib.suppress(OSError):
        os.utime(path)
    for other in path.parent.glob(f"{_STEM}*"):
        with contextlib.suppress(OSError):
            if other != path and other.is_file() and time.time() - other.stat().st_mtime > DAYS_UNUSED * 24 * 3600:
                other.unlink()


def _digest_of(content: bytes | memoryview) -> bytes:
    return hashlib.blake2b(content, digest_size=_DIGEST_BYTES).digest()


def _can_be_written(folder: Path) -> bool:
    """Tell whether a folder can be written or made; nothing is made."""
    existing = folder
    while not os.path.lexists(existing) and existing != existing.parent:
        existing = existing.parent
    return os.path.isdir(existing) and os.access(existing, os.W_OK | os.X_OK)


def _temporary_folder(otherwise: Path) -> Path:
    """Return a folder that no other user can write: code is loaded from it.

    otherwise: returned where no temporary file can be made at all; nothing will be kept then
    """
    user = os.getuid() if hasattr(os, "getuid") else "user"
    try:
        folder = Path(tempfile.gettempdir()) / f"bpe-viz-{user}"
        if _is_private(folder, user):
            return folder
        # Somebody else has that name. Processes that this one starts look where it says.
        os.environ["BPE_VIZ_CACHE"] = tempfile.mkdtemp(prefix="bpe-viz-")
        return Path(os.environ["BPE_VIZ_CACHE"]) / "bpe-viz"
    except OSError:
        return otherwise


def _is_private(folder: Path, user: int | str) -> bool:
    """Make a folder unless it is there; tell whether it is this user's alone."""
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except FileExistsError:  # something else has its name
        return False
    found = folder.lstat()
    return stat.S_ISDIR(found.st_mode) and (user == "user" or (found.st_uid == user and not found.st_mode & 0o077))
