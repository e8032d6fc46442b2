"""Where compiled kernels are kept: a folder for each version of each installation, in one that can be written.

Numba keys what it keeps by the path of the source, so a folder serves one installation only: another one would
take it for filled and then compile everything.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import tempfile
import time
from pathlib import Path

DAYS_UNUSED = 30
"""How long a folder is kept that is of another version of the same installation."""


def writable_cache_folder(wanted: Path, source: Path, version: str) -> Path:
    """Return the folder for the compiled kernels of one version; it need not exist yet.

    wanted: where such folders should be; if that cannot be written, a private folder for temporary files is taken
    source: the file of the kernels, by which an installation is known
    version: tells versions of the kernels apart
    """
    place = hashlib.sha256(os.fsencode(os.path.realpath(source))).hexdigest()[:8]
    parent = wanted if _can_be_written(wanted) else _temporary_folder()
    return parent / f"kernels-{place}-{version}"


def use_cache_folder(folder: Path) -> None:
    """Make the folder, note that it was used today, and remove those of older versions of the same installation."""
    folder.mkdir(parents=True, exist_ok=True)
    os.utime(folder)
    installation = folder.name.rpartition("-")[0]
    for other in folder.parent.glob(f"{installation}-*"):
        if other != folder and other.is_dir() and time.time() - other.stat().st_mtime > DAYS_UNUSED * 24 * 3600:
            shutil.rmtree(other, ignore_errors=True)


def _can_be_written(folder: Path) -> bool:
    """Tell whether a folder can be written or made; nothing is made."""
    existing = folder
    while not os.path.lexists(existing) and existing != existing.parent:
        existing = existing.parent
    return os.path.isdir(existing) and os.access(existing, os.W_OK | os.X_OK)


def _temporary_folder() -> Path:
    """Return a folder that no other user can write: code is loaded from it."""
    user = os.getuid() if hasattr(os, "getuid") else "user"
    folder = Path(tempfile.gettempdir()) / f"bpe-viz-{user}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
        if stat.S_ISDIR(found.st_mode) and (user == "user" or (found.st_uid == user and not found.st_mode & 0o077)):
            return folder
    except FileExistsError:
        pass
    # Somebody else has that name. Processes that this one starts look where it says.
    os.environ["BPE_VIZ_CACHE"] = tempfile.mkdtemp(prefix="bpe-viz-")
    return Path(os.environ["BPE_VIZ_CACHE"]) / "bpe-viz"
