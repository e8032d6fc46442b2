"""Where compiled kernels are kept, and that only what is whole is read."""

from __future__ import annotations

import os
import pickle
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_viz.engine import compiled, kernels
from bpe_viz.engine.kernel_cache import DAYS_UNUSED, kept_file, note_use, read_kernels, write_kernels
from bpe_viz.errors import BpeVizError

ENTRIES = {("module", "function", "(int64)", "cpu"): bytes(range(256)), ("module", "other", "()", "cpu"): b"\x90" * 999}


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """The folder for temporary files."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.delenv("BPE_VIZ_CACHE", raising=False)
    return folder


@pytest.fixture
def locked(monkeypatch):
    """Take the right to write away from paths that are named so: root may write anywhere."""
    real = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: "locked" not in str(path) and real(path, mode))


class TestPlace:
    def test_a_folder_that_can_be_made_is_taken_and_not_made_yet(self, tmp_path):
        wanted = tmp_path / "new" / "bpe-viz"
        assert kept_file(wanted, "v1").parent == wanted
        assert not wanted.parent.exists()

    @pytest.mark.parametrize("wanted", ["file", "file/below", "dangling", "locked", "locked/below"])
    def test_where_nothing_can_be_written_a_private_temporary_folder_is_taken(
        self, tmp_path, temporary, locked, wanted
    ):
        (tmp_path / "file").touch()
        (tmp_path / "dangling").symlink_to(tmp_path / "absent" / "absent")
        (tmp_path / "locked").mkdir(mode=0o555)
        file = kept_file(tmp_path / wanted, "v1")
        assert file.parent.parent == temporary
        assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
        assert kept_file(tmp_path / wanted, "v1") == file

    def test_a_file_in_a_folder_that_can_only_be_read_is_used(self, tmp_path, temporary, locked):
        folder = tmp_path / "locked"
        written = kept_file(tmp_path, "v1")
        write_kernels(written, ENTRIES)
        folder.mkdir()
        written.rename(folder / written.name)
        assert kept_file(folder, "v1") == folder / written.name
        assert kept_file(folder, "v2").parent.parent == temporary

    @pytest.mark.parametrize("taken", ["open folder", "file", "link"])
    def test_a_temporary_folder_that_others_can_write_is_not_taken(self, tmp_path, temporary, taken):
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
            file = kept_file(tmp_path / "wanted", "v1")
            assert temporary in file.parents
            assert name not in file.parents
            assert stat.S_IMODE(file.parent.parent.stat().st_mode) == 0o700
            assert compiled._user_cache() / "bpe-viz" == file.parent
        finally:
            os.environ.pop("BPE_VIZ_CACHE", None)

    def test_where_no_temporary_file_can_be_made_either_nothing_is_kept(self, tmp_path, monkeypatch):
        def refuse():
            raise FileNotFoundError("No usable temporary directory found")

        (tmp_path / "wanted").touch()
        monkeypatch.setattr(tempfile, "gettempdir", refuse)
        file = kept_file(tmp_path / "wanted", "v1")
        assert read_kernels(file) is None
        with pytest.raises(OSError, match="wanted"):
            write_kernels(file, ENTRIES)

    def test_a_user_without_a_home_gets_a_temporary_folder(self, temporary, monkeypatch):
        def refuse():
            raise RuntimeError("Could not determine home directory.")

        monkeypatch.setattr(Path, "home", refuse)
        monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
        assert temporary in compiled.cache_file().parents


class TestVersion:
    @pytest.fixture(autouse=True)
    def _place(self, tmp_path, monkeypatch):
        monkeypatch.setenv("BPE_VIZ_CACHE", str(tmp_path))

    def test_the_same_kernels_have_the_same_file_wherever_they_are_installed(self, tmp_path, monkeypatch):
        here = compiled.cache_file()
        for path in Path(kernels.__file__).parent.glob("kernels*.py"):
            (tmp_path / path.name).write_bytes(path.read_bytes())
        monkeypatch.setattr(kernels, "__file__", str(tmp_path / "kernels.py"))
        assert compiled.cache_file() == here
        # Another kernel than the one that calls it: Numba's own cache would not notice.
        with (tmp_path / "kernels_scanning.py").open("a") as file:
            file.write("# changed\n")
        assert compiled.cache_file() != here

    @pytest.mark.parametrize("package", ["numba", "llvmlite", "numpy"])
    def test_another_version_of_a_library_has_another_file(self, monkeypatch, package):
        here, real = compiled.cache_file(), compiled.version
        monkeypatch.setattr(compiled, "version", lambda name: "99" if name == package else real(name))
        assert compiled.cache_file() != here

    def test_another_processor_has_another_file(self, monkeypatch):
        here = compiled.cache_file()
        monkeypatch.setattr(compiled, "_cpu_flags", lambda: "flags: fpu")
        assert compiled.cache_file() != here


class TestContent:
    def test_what_was_written_is_read(self, tmp_path):
        write_kernels(tmp_path / "new" / "kernels-v1", ENTRIES)
        assert read_kernels(tmp_path / "new" / "kernels-v1") == ENTRIES
        assert os.listdir(tmp_path / "new") == ["kernels-v1"]

    def test_what_is_not_there_or_holds_nothing_is_written_anew(self, tmp_path):
        assert read_kernels(tmp_path / "kernels-v1") is None
        assert read_kernels(tmp_path) is None
        write_kernels(tmp_path / "kernels-v1", {})
        assert read_kernels(tmp_path / "kernels-v1") is None

    @given(st.data())
    def test_damage_is_noticed_wherever_it_is(self, tmp_path_factory, data):
        path = tmp_path_factory.getbasetemp() / "kernels-damaged"
        write_kernels(path, ENTRIES)
        whole = path.read_bytes()
        place = data.draw(st.integers(0, len(whole) - 1))
        damaged = data.draw(
            st.sampled_from(
                [
                    whole[:place],  # cut short
                    whole[:place] + bytes([whole[place] ^ 1 << place % 8]) + whole[place + 1 :],  # a bit turned over
                    whole[:place] + b"\n" + whole[place:],
                    whole + b"\0",
                    bytes(len(whole)),  # as a file system may leave it after a power cut
                    os.urandom(len(whole)),
                ]
            )
        )
        path.write_bytes(damaged)
        assert read_kernels(path) is None
        write_kernels(path, ENTRIES)
        assert read_kernels(path) == ENTRIES

    def test_nothing_is_unpickled_that_was_not_written_so(self, tmp_path):
        class Bomb:
            def __reduce__(self):
                return (tmp_path.joinpath("exploded").touch, ())

        (tmp_path / "kernels-v1").write_bytes(bytes(32) + pickle.dumps(Bomb()))
        assert read_kernels(tmp_path / "kernels-v1") is None
        assert not (tmp_path / "exploded").exists()

    def test_a_disk_that_is_full_leaves_nothing_behind(self, tmp_path, monkeypatch):
        def fail(number):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", fail)
        with pytest.raises(BpeVizError, match="No space left"):
            write_kernels(tmp_path / "kernels-v1", ENTRIES)
        assert os.listdir(tmp_path) == []

    def test_several_processes_that_write_at_once_leave_a_whole_file_at_every_moment(self, tmp_path):
        path = tmp_path / "kernels-v1"
        code = (
            "import sys; from pathlib import Path; from bpe_viz.engine.kernel_cache import write_kernels\n"
            "for _ in range(40): write_kernels(Path(sys.argv[1]), {('f',): sys.argv[2].encode() * 300_000})"
        )
        writers = [subprocess.Popen([sys.executable, "-c", code, str(path), letter]) for letter in "ab"]
        try:
            read = []
            while any(writer.poll() is None for writer in writers):
                if path.exists():
                    read.append(read_kernels(path))
            assert [writer.returncode for writer in writers] == [0, 0]
            assert read
            assert all(one is not None and len(set(one["f",])) == 1 for one in read)
            assert os.listdir(tmp_path) == [path.name]
        finally:
            for writer in writers:
                writer.kill()
                writer.wait()


def test_only_files_that_no_version_used_for_long_are_removed(tmp_path):
    new, old, recent = (kept_file(tmp_path, version) for version in ("v3", "v1", "v2"))
    foreign = tmp_path / "notes.txt"
    long_ago = time.time() - (DAYS_UNUSED + 1) * 24 * 3600
    for file in (new, old, recent, foreign):
        file.touch()
        if file != recent:
            os.utime(file, (long_ago, long_ago))
    note_use(new)
    assert set(tmp_path.iterdir()) == {new, recent, foreign}
    assert time.time() - new.stat().st_mtime < 3600


def test_use_is_noted_in_silence_where_that_is_not_possible(tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    old = kept_file(tmp_path, "v1")
    old.touch()
    os.utime(old, (0, 0))
    monkeypatch.setattr(os, "utime", refuse)
    monkeypatch.setattr(Path, "unlink", refuse)
    note_use(kept_file(tmp_path, "v2"))
    assert old.exists()
