"""Where compiled kernels are kept."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
import time

import pytest

from bpe_viz.engine import compiled, kernels
from bpe_viz.engine.kernel_cache import DAYS_UNUSED, use_cache_folder, writable_cache_folder


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """The folder for temporary files."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.delenv("BPE_VIZ_CACHE", raising=False)
    return folder


def test_a_folder_that_can_be_made_is_taken_and_not_made_yet(tmp_path):
    wanted = tmp_path / "new" / "bpe-viz"
    assert writable_cache_folder(wanted, tmp_path / "kernels.py", "v1").parent == wanted
    assert not wanted.parent.exists()


@pytest.mark.parametrize("wanted", ["file", "file/below", "dangling", "locked", "locked/below"])
def test_where_nothing_can_be_written_a_private_temporary_folder_is_taken(tmp_path, temporary, monkeypatch, wanted):
    (tmp_path / "file").touch()
    (tmp_path / "dangling").symlink_to(tmp_path / "absent" / "absent")
    (tmp_path / "locked").mkdir(mode=0o555)
    real = os.access
    # Root may write anywhere.
    monkeypatch.setattr(os, "access", lambda path, mode: "locked" not in str(path) and real(path, mode))
    folder = writable_cache_folder(tmp_path / wanted, tmp_path / "kernels.py", "v1")
    assert folder.parent.parent == temporary
    assert stat.S_IMODE(folder.parent.stat().st_mode) == 0o700
    assert writable_cache_folder(tmp_path / wanted, tmp_path / "kernels.py", "v1") == folder


@pytest.mark.parametrize("taken", ["open folder", "file", "link"])
def test_a_temporary_folder_that_others_can_write_is_not_taken(tmp_path, temporary, taken):
    name = temporary / f"bpe-viz-{os.getuid()}"
    if taken == "file":
        name.touch()
    elif taken == "link":
        name.symlink_to(tmp_path)
    else:
        name.mkdir()
        name.chmod(0o777)
    (tmp_path / "wanted").touch()
    try:
        folder = writable_cache_folder(tmp_path / "wanted", tmp_path / "kernels.py", "v1")
        assert temporary in folder.parents
        assert name not in folder.parents
        assert stat.S_IMODE(folder.parent.parent.stat().st_mode) == 0o700
        assert compiled._user_cache() / "bpe-viz" == folder.parent
    finally:
        os.environ.pop("BPE_VIZ_CACHE", None)


def test_every_installation_has_its_own(tmp_path):
    one, other, link = tmp_path / "one.py", tmp_path / "other.py", tmp_path / "link.py"
    one.touch()
    link.symlink_to(one)
    named = {writable_cache_folder(tmp_path, source, "v1") for source in (one, link)}
    assert len(named) == 1
    assert writable_cache_folder(tmp_path, other, "v1") not in named


def test_the_folder_of_the_kernels_knows_their_place(tmp_path, monkeypatch):
    monkeypatch.setenv("BPE_VIZ_CACHE", str(tmp_path))
    here = compiled.cache_folder()
    copy = tmp_path / "kernels.py"
    with open(kernels.__file__) as file:
        copy.write_text(file.read())
    monkeypatch.setattr(kernels, "__file__", str(copy))
    assert compiled.cache_folder().name != here.name


def test_only_old_versions_of_the_same_installation_are_removed(tmp_path):
    source = tmp_path / "kernels.py"
    new, old, recent = (writable_cache_folder(tmp_path, source, version) for version in ("v3", "v1", "v2"))
    others = writable_cache_folder(tmp_path, tmp_path / "other.py", "v1")
    foreign = tmp_path / "kernels-of-mine"
    long_ago = time.time() - (DAYS_UNUSED + 1) * 24 * 3600
    for folder in (new, old, recent, others, foreign):
        folder.mkdir()
        (folder / "ready").touch()
        if folder != recent:
            os.utime(folder, (long_ago, long_ago))
    use_cache_folder(new)
    assert {path for path in tmp_path.iterdir() if path.is_dir()} == {new, recent, others, foreign}
    assert time.time() - new.stat().st_mtime < 3600


def test_training_goes_on_where_the_cache_is_a_file(tmp_path):
    cache = tmp_path / "cache"
    cache.touch()
    (tmp_path / "temporary").mkdir()
    code = "from bpe_viz.engine.compiled import *; print(is_ready()); load(); print(cache_folder())"
    environment = {**os.environ, "BPE_VIZ_CACHE": str(cache), "TMPDIR": str(tmp_path / "temporary")}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, check=False, env=environment)
    assert done.returncode == 0, done.stderr.decode()
    ready, folder = done.stdout.decode().splitlines()
    assert ready == "False"
    assert folder.startswith(str(tmp_path / "temporary"))
    assert os.path.isdir(folder)
