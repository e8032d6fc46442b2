"""The cache of huggingface_hub, in its own layout, so that what one program fetched the other finds.

    models--ORG--NAME/refs/REVISION            the commit that a branch or tag was at
    models--ORG--NAME/blobs/ETAG               a file's content
    models--ORG--NAME/snapshots/COMMIT/FILE    a link to it
    models--ORG--NAME/.no_exist/COMMIT/FILE    empty: the commit has no such file

Source: huggingface_hub 2.4, file_download.py and constants.py.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from collections.abc import Mapping
from pathlib import Path

from bpe_viz.names._download import FetchError
from bpe_viz.names._folders import make_folder
from bpe_viz.whole_file import whole_file

_WORD = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")
_COMMIT = re.compile(r"[0-9a-f]{40}")


def hub_folder(environment: Mapping[str, str]) -> Path:
    """Return the folder that holds the models."""
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        if environment.get(name):
            return _expanded(environment[name])
    return home_folder(environment) / "hub"


def home_folder(environment: Mapping[str, str]) -> Path:
    """Return the folder that holds the cache and the token."""
    if environment.get("HF_HOME"):
        return _expanded(environment["HF_HOME"])
    return _expanded(environment.get("XDG_CACHE_HOME") or "~/.cache") / "huggingface"


def _expanded(written: str) -> Path:
    return Path(os.path.expandvars(os.path.expanduser(written)))


def is_commit(revision: str) -> bool:
    """Tell whether a revision is the whole name of a commit, which never changes."""
    return _COMMIT.fullmatch(revision) is not None


def plain_word(written: str) -> str:
    """Return a commit or an ETag as a name for files: without quotation marks, "" if it cannot be one."""
    word = written.removeprefix("W/").strip('"')
    return word if _WORD.fullmatch(word) else ""


class HubCache:
    """What the cache holds of one model."""

    def __init__(self, folder: Path, repository: str) -> None:
        """Look at a model. folder: of all models; repository: its name, such as ORG/NAME"""
        self.folder = folder / f"models--{repository.replace('/', '--')}"

    def commit_of(self, revision: str) -> str:
        """Return the commit that a revision was at when it was fetched; "" if it was not."""
        if is_commit(revision):
            return revision
        try:
            return plain_word((self.folder / "refs" / revision).read_text(encoding="ascii").strip())
        except (OSError, UnicodeDecodeError):
            return ""

    def path_of(self, commit: str, file: str) -> Path | None:
        """Return where a file of a commit is, None if it has not been fetched."""
        path = self.folder / "snapshots" / commit / file
        return path if commit and path.is_file() else None

    def lacks(self, commit: str, file: str) -> bool:
        """Tell whether the commit is known to have no such file."""
        return bool(commit) and (self.folder / ".no_exist" / commit / file).is_file()

    def holds(self, etag: str, size: int | None) -> bool:
        """Tell whether this content is here, whichever commits have it. size: in bytes, if it is known"""
        blob = self.folder / "blobs" / etag
        return bool(etag) and blob.is_file() and size in (None, blob.stat().st_size)

    def keep(self, commit: str, file: str, etag: str, content: bytes | None) -> Path:
        """Keep a file of a commit; returns where. content: None if the blob is here. Raises FetchError."""
        name = etag or hashlib.sha256(content or b"").hexdigest()
        blob = self.folder / "blobs" / name
        pointer = self.folder / "snapshots" / commit / file
        if content is not None:
            make_folder(blob.parent, "HF_HOME")
            with whole_file(blob, FetchError) as opened:
                opened.write(content)
        make_folder(pointer.parent, "HF_HOME")
        if not pointer.is_file():
            _link(blob, pointer)
        return pointer

    def keep_missing(self, commit: str, file: str) -> None:
        """Remember that a commit has no such file. Raises FetchError."""
        self._write(self.folder / ".no_exist" / commit / file, "")

    def keep_commit(self, revision: str, commit: str) -> None:
        """Remember which commit a branch or tag is at. Raises FetchError."""
        if not is_commit(revision) and self.commit_of(revision) != commit:
            self._write(self.folder / "refs" / revision, commit)

    def _write(self, path: Path, text: str) -> None:
        make_folder(path.parent, "HF_HOME")
        with whole_file(path, FetchError) as file:
            file.write(text.encode())


def _link(blob: Path, pointer: Path) -> None:
    """Let the file of a commit be its content: by a link, or a copy where there are no links."""
    new = pointer.with_name(f".{pointer.name[:40]}.{secrets.token_hex(4)}")
    try:
        new.symlink_to(os.path.relpath(blob, pointer.parent))
        new.replace(pointer)
    except OSError:
        with whole_file(pointer, FetchError) as file:
            file.write(blob.read_bytes())
