"""The dialog that asks for a tokenizer."""

from __future__ import annotations

import threading

import pytest
from PySide6.QtCore import Qt

from bpe_viz.errors import FormatError, Stopped
from bpe_viz.gui import open_tokenizer_dialog
from bpe_viz.gui.open_tokenizer_dialog import OpenTokenizerDialog
from bpe_viz.names import Located
from tests.gui.opened import tokenizer_json, wait_until_open, window


@pytest.fixture
def made(qtbot, settings, look):
    """A window that shows nothing yet."""
    made = window(qtbot, settings, look)
    yield made
    made.close()


@pytest.fixture
def dialog(qtbot, made):
    """The dialog of that window, after two tokenizers were opened."""
    made.settings.add_recent_tokenizer("/models/old.json")
    made.settings.add_recent_tokenizer("hf:org/newest")
    made.actions_table.run("open-tokenizer")
    yield made.findChild(OpenTokenizerDialog)
    for one in made.findChildren(OpenTokenizerDialog):
        one.reject()


def test_recent_ones_come_first_and_typing_narrows_the_list(qtbot, dialog):
    assert dialog.list.names[:2] == ["hf:org/newest", "/models/old.json"]
    assert "tiktoken:cl100k_base" in dialog.list.names
    dialog.field.setText("gpt-4o")
    assert "tiktoken:o200k_base" in dialog.list.names
    assert "hf:org/newest" not in dialog.list.names
    qtbot.keyClick(dialog.field, Qt.Key.Key_Down)
    assert dialog.written == dialog.list.names[0]


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("", "Type a name or a file"),
        ("/nowhere/at/all.json", "There is no file /nowhere/at/all.json"),
        ("org/name", "hf:org/name"),
        ("tiktoken:cl100k", "tiktoken:cl100k_base"),
    ],
)
def test_what_can_be_no_tokenizer_is_said_inside(dialog, typed, said):
    dialog.field.setText(typed)
    dialog.open_written()
    assert said in dialog.message.text()
    assert not dialog.is_busy
    assert dialog.isVisible()


def test_a_file_is_opened_and_remembered(qtbot, made, dialog, tmp_path):
    path = tokenizer_json(tmp_path)
    dialog.field.setText(str(path))
    dialog.open_button.click()
    wait_until_open(qtbot, made.workspace)
    assert made.workspace.tokenizer.name == "cats.json"
    assert made.settings.recent_tokenizers[0] == str(path)


def test_fetching_shows_progress_and_is_stopped(qtbot, dialog, monkeypatch):
    going = threading.Event()

    def slow(written, progress, should_stop):
        while not should_stop():
            progress(0.5, "Fetching half of it")
            going.set()
            going.wait(0.001)
        raise Stopped

    monkeypatch.setattr(open_tokenizer_dialog, "locate", slow)
    dialog.field.setText("hf:org/large")
    dialog.open_written()
    qtbot.waitUntil(lambda: dialog.message.text() == "Fetching half of it")
    assert dialog.stop_button.isVisible()
    assert dialog.bar.value() == 500
    assert not dialog.open_button.isEnabled()
    dialog.stop_button.click()
    qtbot.waitUntil(lambda: dialog.message.text() == "Stopped.")
    assert dialog.open_button.isEnabled()
    assert not dialog.stop_button.isVisible()


def test_what_goes_wrong_while_fetching_is_said_inside(qtbot, dialog, monkeypatch):
    def fail(written, progress, should_stop):
        raise FormatError("The hub is asleep.", "Wake it.")

    monkeypatch.setattr(open_tokenizer_dialog, "locate", fail)
    dialog.field.setText("hf:org/asleep")
    dialog.open_written()
    qtbot.waitUntil(lambda: dialog.message.text() == "The hub is asleep. Wake it.")
    assert dialog.isVisible()


def test_a_name_is_opened_from_where_it_was_fetched_to(qtbot, made, dialog, tmp_path, monkeypatch):
    path = tokenizer_json(tmp_path)

    def found(written, progress, should_stop):
        return Located(written, path, "org/cats", "org/cats, from a test.")

    monkeypatch.setattr(open_tokenizer_dialog, "locate", found)
    dialog.field.setText("hf:org/cats")
    dialog.open_written()
    wait_until_open(qtbot, made.workspace)
    assert made.workspace.tokenizer.name == "org/cats"
    assert made.settings.recent_tokenizers[0] == "hf:org/cats"


def test_closing_ends_a_fetch(qtbot, dialog, monkeypatch):
    ended, going = threading.Event(), threading.Event()

    def slow(written, progress, should_stop):
        going.set()
        while not should_stop():
            ended.wait(0.001)
        ended.set()
        raise Stopped

    monkeypatch.setattr(open_tokenizer_dialog, "locate", slow)
    dialog.field.setText("hf:org/large")
    dialog.open_written()
    qtbot.waitUntil(going.is_set)
    dialog.reject()
    assert ended.is_set()
