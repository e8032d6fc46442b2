"""What the workspace shows while one corpus gives way to another."""

from __future__ import annotations

import threading

import pytest

from bpe_viz.engine import compiled
from bpe_viz.engine.corpus import count_text, worked_example
from bpe_viz.engine.trainer import Trainer
from bpe_viz.engine.types import Options
from bpe_viz.errors import OptionError, Stopped
from bpe_viz.gui import kernel_choice
from bpe_viz.gui.answers import Answers
from bpe_viz.gui.sources import WORKED_EXAMPLE_OPTIONS
from bpe_viz.gui.training_changes import compare, describe_change
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

    def late(answers, text, special_text):
        encoded = encode(answers, text, special_text)
        if encoded.tokenizer.base is first.base:
            is_open.wait(10)
        return encoded

    monkeypatch.setattr(Answers, "encode", late)
    workspace.corpus_changed.connect(lambda _: is_open.set())
    workspace.encoder.set_text("the cat")
    workspace.open(count_example, WORKED_EXAMPLE_OPTIONS, "the worked example")
    qtbot.waitUntil(lambda: workspace.timeline is not first and workspace.is_settled)
    assert workspace.frontier == 7 < first.frontier
    assert workspace.encoder.encoded.tokenizer.base is workspace.timeline.base


def test_a_change_of_options_while_training_is_told_once_and_of_the_new_merges(qtbot, monkeypatch):
    train_to, waiting, notices = Trainer.train_to, threading.Event(), []

    def first_is_stopped(trainer, position, progress, should_stop):
        if trainer.options.weights == "counts":
            while not should_stop():
                waiting.wait(0.001)
        return train_to(trainer, position, progress, should_stop)

    monkeypatch.setattr(Trainer, "train_to", first_is_stopped)
    workspace = Workspace()
    workspace.noticed.connect(notices.append)
    workspace.open(count_cats, Options(), "cats")
    qtbot.waitUntil(lambda: workspace.corpus is not None and workspace.is_training)
    workspace.change_options(workspace.options.with_training(weights="types"))
    qtbot.waitUntil(lambda: workspace.options.training.weights == "types" and workspace.is_settled)
    qtbot.waitUntil(lambda: bool(notices))
    assert notices == ["Weights: by how often a pre-token occurs became each distinct pre-token once."]
    workspace.close()


def test_a_step_that_waits_behind_an_opening_ends_with_it_when_stopped(qtbot, monkeypatch):
    waiting = threading.Event()

    def until_stopped(trainer, position, progress, should_stop):
        while not should_stop():
            waiting.wait(0.001)

    def count_for_ever(options, progress, should_stop):
        while not should_stop():
            waiting.wait(0.001)
        raise Stopped

    monkeypatch.setattr(Trainer, "train_to", until_stopped)
    workspace = Workspace()
    workspace.open(count_cats, Options(), "cats")
    qtbot.waitUntil(lambda: workspace.corpus is not None and workspace.is_training)
    workspace.stop_training()
    qtbot.waitUntil(lambda: workspace.is_settled)
    workspace.open(count_for_ever, Options(), "for ever")
    workspace.step()
    assert workspace.position == 1
    workspace.stop_training()
    qtbot.waitUntil(lambda: workspace.is_settled)
    assert workspace.position == 0
    workspace.close()


def test_what_changed_is_not_told_of_another_corpus(qtbot, workspace):
    notices = []
    workspace.noticed.connect(notices.append)
    workspace.change_options(workspace.options.with_training(weights="types"))
    workspace.open(count_example, WORKED_EXAMPLE_OPTIONS, "the worked example")
    qtbot.waitUntil(lambda: workspace.frontier == 7 and workspace.is_settled)
    workspace.change_options(workspace.options.with_training(weights="types"))
    qtbot.waitUntil(lambda: bool(notices))
    assert notices == [
        "Weights: by how often a pre-token occurs became each distinct pre-token once. "
        "Merge 5 is the first to differ: e + w before, d + est now."
    ]


def test_training_that_fails_leaves_the_cursor_at_what_is_trained(qtbot, monkeypatch):
    def fail(trainer, position, progress, should_stop):
        raise OptionError("There is no room.", "Close something.")

    monkeypatch.setattr(Trainer, "train_to", fail)
    workspace, failures = Workspace(), []
    workspace.failed.connect(failures.append)
    workspace.open(count_example, WORKED_EXAMPLE_OPTIONS, "the worked example")
    qtbot.waitUntil(lambda: bool(failures) and workspace.is_settled)
    workspace.player.play()
    workspace.seek(3)
    qtbot.waitUntil(lambda: len(failures) == 2 and workspace.is_settled)
    assert (workspace.position, workspace.player.is_playing) == (0, False)
    workspace.close()


def test_stop_ends_the_wait_for_compiled_kernels(qtbot, monkeypatch):
    class Compiling:
        def poll(self):
            return None

    monkeypatch.setattr(kernel_choice, "SMALL", 0)
    monkeypatch.setattr(kernel_choice, "LARGE", 0)
    monkeypatch.setattr(compiled, "is_ready", lambda: False)
    monkeypatch.setattr(compiled, "start_filling_cache", Compiling)
    workspace = Workspace()
    with qtbot.waitSignal(
        workspace.activity_changed, check_params_cb=lambda activity: activity and "Compiling" in activity.text
    ):
        workspace.open(count_example, WORKED_EXAMPLE_OPTIONS, "the worked example")
    workspace.stop_training()
    qtbot.waitUntil(lambda: not workspace.is_training)
    assert workspace.corpus is None
    workspace.close()


@pytest.mark.parametrize("shown", [False, True])
def test_an_option_chosen_while_a_corpus_is_read_is_for_that_corpus(qtbot, shown):
    reading, may_read, asked = threading.Event(), threading.Event(), []

    def count_slowly(options, progress, should_stop):
        asked.append(options.counting.pretokenizer)
        reading.set()
        while not may_read.wait(0.001):
            if should_stop():
                raise Stopped
        return count_cats(options, progress, should_stop)

    workspace = Workspace()
    if shown:
        workspace.open(count_example, WORKED_EXAMPLE_OPTIONS, "the worked example")
        qtbot.waitUntil(lambda: workspace.is_settled)
    workspace.open(count_slowly, Options(), "cats")
    qtbot.waitUntil(reading.is_set)
    assert workspace.wanted_options == Options()
    workspace.change_options(workspace.wanted_options.with_counting(pretokenizer="whitespace"))
    workspace.change_options(workspace.wanted_options.with_training(merges=5))
    may_read.set()
    qtbot.waitUntil(lambda: workspace.is_settled and workspace.options.training.merges == 5)
    assert workspace.options == workspace.wanted_options
    assert workspace.options.counting.pretokenizer == "whitespace"
    assert asked[-1] == "whitespace"
    assert not workspace.corpus.is_table
    workspace.close()


def test_a_change_keeps_the_position_or_says_that_there_is_none(qtbot, workspace):
    notices = []
    workspace.noticed.connect(notices.append)
    workspace.seek(4)
    workspace.change_options(workspace.options.with_training(weights="types"))
    qtbot.waitUntil(lambda: workspace.options.training.weights == "types" and workspace.is_settled)
    assert workspace.frame.position == workspace.position == 4
    qtbot.waitUntil(lambda: len(notices) == 1)
    workspace.change_options(workspace.options.with_training(merges=2))
    qtbot.waitUntil(lambda: workspace.options.training.merges == 2 and workspace.is_settled)
    assert workspace.frame.position == workspace.position == 2
    qtbot.waitUntil(lambda: len(notices) == 2)
    assert notices[1] == (
        "Target: 3,000 merges became 2 merges. The first 2 merges are the same. "
        "The new training has no merge 4: its last one is shown."
    )


def test_a_change_taken_back_while_it_is_counted_leaves_all_as_it_was(qtbot, workspace):
    before, options = workspace.timeline, workspace.options
    workspace.change_options(options.with_counting(pretokenizer="whitespace"))
    workspace.change_options(options)
    qtbot.waitUntil(lambda: workspace.is_settled)
    assert (workspace.timeline, workspace.options, workspace.wanted_options) == (before, options, options)


def test_what_changed_is_said_as_people_read_it():
    after = Options().with_counting(pretokenizer="whitespace").with_training(end_of_word="separate", merges=3000)
    assert describe_change(Options(), after) == [
        "Pretokenizer: GPT-2 became White space.",
        "End of word: none became a symbol of its own.",
    ]


def test_merges_are_called_the_same_only_where_both_are_trained(workspace):
    timeline = workspace.timeline
    part = Trainer(workspace.corpus.pretokens, workspace.options.training)
    assert compare(part.timeline, part.timeline).sentence == ""
    part.train_to(3)
    assert compare(part.timeline, part.timeline).sentence == "The first 3 merges are the same."
    assert compare(part.timeline, timeline).sentence == "The first 3 merges are the same."
    assert compare(timeline, timeline).sentence == "The merges are the same."
