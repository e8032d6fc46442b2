"""What the workspace shows while one corpus gives way to another."""

from __future__ import annotations

import threading

import pytest

from bpe_viz.engine.corpus import count_text, worked_example
from bpe_viz.engine.types import Options
from bpe_viz.gui.answers import Answers
from bpe_viz.gui.sources import WORKED_EXAMPLE_OPTIONS
from bpe_viz.gui.workspace import Workspace

TEXT = "the cat sat on the mat with the other cat " * 3


def count_cats(options, progress, should_stop):
    return count_text(TEXT, options.counting)


def count_example(options, progress, should_stop):
    return worked_example()


@pytest.fixture
def workspace(qtbot):
    """A workspace on a text that has more merges than the worked example."""
    workspace = Workspace()
    workspace.open(count_cats, Options(), "cats")
    qtbot.waitUntil(lambda: workspace.is_settled and workspace.timeline.stop is not None)
    yield workspace
    workspace.close()


def test_a_late_encoding_by_the_training_before_is_not_shown(qtbot, workspace, monkeypatch):
    encode, is_open = Answers.encode, threading.Event()
    first = workspace.timeline

    def late(answers, text):
        encoded = encode(answers, text)
        if encoded.tokenizer.base is first.base:
            is_open.wait(10)
        return encoded

    monkeypatch.setattr(Answers, "encode", late)
    workspace.corpus_changed.connect(lambda _: is_open.set())
    workspace.set_text("the cat")
    workspace.open(count_example, WORKED_EXAMPLE_OPTIONS, "the worked example")
    qtbot.waitUntil(lambda: workspace.timeline is not first and workspace.is_settled)
    assert workspace.frontier == 7 < first.frontier
    assert workspace.encoded.tokenizer.base is workspace.timeline.base
