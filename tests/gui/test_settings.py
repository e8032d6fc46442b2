"""Settings come back as they were set, and damaged ones as their defaults."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QByteArray, QSettings

from bpe_viz.gui.look import MOST_ZOOM
from bpe_viz.gui.settings import RECENT_FILES, Settings
from bpe_viz.gui.theme import SYSTEM_THEME


def test_a_first_start_has_defaults(settings: Settings) -> None:
    assert settings.theme == SYSTEM_THEME
    assert settings.zoom == settings.speed == 1.0
    assert settings.geometry is settings.last_folder is settings.dock_state(1) is None
    assert settings.recent_files == ()


def test_what_was_set_is_there_after_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "settings.ini"
    before = Settings(path)
    before.theme = "dark"
    before.zoom = 1.5
    before.speed = 20.0
    before.geometry = QByteArray(b"\x01\x00geometry")
    before.set_dock_state(QByteArray(b"docks"), 3)
    before.last_folder = tmp_path
    before.add_recent_file(tmp_path / "a, b.txt")
    before.sync()
    after = Settings(path)
    assert (after.theme, after.zoom, after.speed) == ("dark", 1.5, 20.0)
    assert after.geometry == QByteArray(b"\x01\x00geometry")
    assert after.dock_state(3) == QByteArray(b"docks")
    assert after.last_folder == tmp_path
    assert after.recent_files == (tmp_path / "a, b.txt",)


def test_a_dock_state_of_another_layout_is_ignored(settings: Settings) -> None:
    settings.set_dock_state(QByteArray(b"docks"), 3)
    assert settings.dock_state(4) is None
    settings.forget_dock_state()
    assert settings.dock_state(3) is None


def test_recent_files_are_newest_first_once_and_few(settings: Settings) -> None:
    for number in range(RECENT_FILES + 3):
        settings.add_recent_file(Path(f"/{number}"))
    settings.add_recent_file(Path("/5"))
    assert settings.recent_files[:2] == (Path("/5"), Path(f"/{RECENT_FILES + 2}"))
    assert len(settings.recent_files) == len(set(settings.recent_files)) == RECENT_FILES
    settings.clear_recent_files()
    assert settings.recent_files == ()


@pytest.mark.parametrize("damage", ["", "pink", "nan", "@Invalid()", "@ByteArray(", "1e999", "a, b, c"])
def test_damaged_values_read_as_defaults(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "settings.ini"
    keys = ("look/theme", "look/zoom", "timeline/speed", "window/docks", "files/folder")
    store = QSettings(str(path), QSettings.Format.IniFormat)
    for key in (*keys, "window/geometry", "window/layout_version"):
        store.setValue(key, damage)
    store.sync()
    settings = Settings(path)
    assert settings.theme == SYSTEM_THEME
    assert settings.zoom == settings.speed == 1.0
    assert settings.geometry is settings.last_folder is settings.dock_state(1) is None


def test_a_file_of_noise_reads_as_defaults(tmp_path: Path) -> None:
    path = tmp_path / "settings.ini"
    path.write_bytes(bytes(range(256)) * 4)
    assert Settings(path).recent_files == ()
    assert Settings(path).zoom == 1.0


def test_a_zoom_beyond_the_limits_is_bounded(settings: Settings) -> None:
    settings.zoom = 50.0
    assert settings.zoom == MOST_ZOOM


def test_recent_tokenizers_are_files_and_names_newest_first(tmp_path: Path) -> None:
    path = tmp_path / "settings.ini"
    settings = Settings(path)
    for written in ("/models/a.json", "tiktoken:gpt2", "/models/a.json"):
        settings.add_recent_tokenizer(written)
    settings.sync()
    assert Settings(path).recent_tokenizers == ("/models/a.json", "tiktoken:gpt2")
