"""A workspace that has trained on the worked example, for the tests of the panels."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pytestqt.qtbot import QtBot

from bpe_viz.engine.corpus import Corpus, count_words, worked_example
from bpe_viz.engine.types import CountingOptions, Options, Progress, StopRequested, TrainingOptions
from bpe_viz.gui.workspace import Workspace

COUNTING = CountingOptions(pretokenizer="none")
SEVEN = TrainingOptions(base="characters", merges=7)


@contextmanager
def open_workspace(
    qtbot: QtBot, training: TrainingOptions = SEVEN, words: dict[str, int] | None = None
) -> Iterator[Workspace]:
    """Train on the worked example, or on other words, and wait until that is done."""
    workspace = Workspace()
    open_words(workspace, training, words)
    wait_until_trained(qtbot, workspace)
    yield workspace
    workspace.close()


def open_words(workspace: Workspace, training: TrainingOptions, words: dict[str, int] | None = None) -> None:
    def count(options: Options, progress: Progress, should_stop: StopRequested) -> Corpus:
        return worked_example() if words is None else count_words(words, "Words")

    workspace.open(count, Options(COUNTING, training), "Words")


def wait_until_trained(qtbot: QtBot, workspace: Workspace) -> None:
    def is_settled() -> bool:
        is_trained = workspace.timeline is not None and workspace.timeline.stop is not None
        return is_trained and not workspace.is_training and workspace.frame is not None

    qtbot.waitUntil(is_settled)
    seek(qtbot, workspace, 0)


def seek(qtbot: QtBot, workspace: Workspace, position: int) -> None:
    """Show a position, and wait until it is shown as it will stay."""
    with qtbot.waitSignal(workspace.frame_changed, check_params_cb=lambda frame: frame.position == position):
        workspace.seek(position)
