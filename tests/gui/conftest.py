"""Qt without a screen, and no test passes that made Qt complain."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from functools import partialmethod

# Before Qt is loaded; a run that wants a real screen sets it.
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from bpe_viz.gui.look import Look
from bpe_viz.gui.settings import Settings

HERE = Path(__file__).parent

PATIENCE_MILLISECONDS = 30_000

# The first three come from the offscreen platform whenever a window is shown, raised or pops up; the last from
# machines whose fonts lack a script, when a text in it is measured.
HARMLESS_WARNINGS = (
    "This plugin does not support propagateSizeHints",
    "This plugin does not support raise",
    "This plugin does not support grabbing the keyboard",
    "OpenType support missing",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.qt_log_level_fail("WARNING"))
            item.add_marker(pytest.mark.qt_log_ignore(*HARMLESS_WARNINGS))


@pytest.fixture
def look(qtbot: QtBot) -> Look:
    """A light look at normal size, the same on every machine."""
    return Look("light")


@pytest.fixture
def settings(tmp_path: Path, qtbot: QtBot) -> Settings:
    """Settings of their own file, never the user's."""
    return Settings(tmp_path / "settings.ini")


@pytest.fixture(autouse=True)
def collected_here(qapp: QApplication) -> Iterator[None]:
    """Collect garbage in this thread alone, as the program does: a lane must not destroy a widget."""
    gc.disable()
    yield
    gc.collect(1)


@pytest.fixture(autouse=True, scope="module")
def collected_at_last() -> Iterator[None]:
    """Give back what a module's windows held: a full collection, too slow after each test."""
    yield
    gc.collect()


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait longer than pytest-qt does by itself: on a busy machine an answer may take seconds to arrive."""
    monkeypatch.setattr(QtBot, "waitUntil", partialmethod(QtBot.waitUntil, timeout=PATIENCE_MILLISECONDS))
    monkeypatch.setattr(QtBot, "waitSignal", partialmethod(QtBot.waitSignal, timeout=PATIENCE_MILLISECONDS))
