from __future__ import annotations

import stat
from pathlib import Path

import pytest

from bpe_viz.errors import FormatError
from bpe_viz.whole_file import whole_file


def write(path, data):
    with whole_file(path) as file:
        file.write(data)


def test_a_file_appears_whole_and_nothing_is_left_beside_it(tmp_path):
    path = tmp_path / "a"
    with whole_file(path) as file:
        file.write(b"new")
        assert not path.exists()
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


def test_a_failure_leaves_what_was_there(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    with pytest.raises(TypeError), whole_file(path) as file:
        file.write(3)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_mode_and_link_are_kept(tmp_path):
    path, link = tmp_path / "a", tmp_path / "link"
    path.touch()
    path.chmod(0o604)
    link.symlink_to(path)
    write(link, b"new")
    assert link.is_symlink()
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o604


def test_a_new_file_has_the_mode_of_any_new_file(tmp_path):
    (tmp_path / "plain").touch()
    write(tmp_path / "a", b"")
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_device_is_written_to():
    write(Path("/dev/null"), b"gone")


@pytest.mark.parametrize("name", ["absent/a", "x" * 5000, ""])
def test_what_cannot_be_written_is_said(tmp_path, name):
    with pytest.raises(FormatError, match="cannot be written"), whole_file(tmp_path / name, FormatError):
        pass
