"""Texts that make other programs slow, in the workspace and the word splits."""

from __future__ import annotations

import pytest

from bpe_viz.engine.boundaries import LongSplit
from bpe_viz.engine.types import TrainingOptions
from bpe_viz.gui.panels import word_splits
from tests.gui.worked import open_workspace, seek


def test_a_word_of_seventy_thousand_letters_is_split_at_every_position(qtbot, look):
    with open_workspace(qtbot, TrainingOptions(merges=6), {"a" * 70_000: 1}) as workspace:
        panel = word_splits.PANEL.make(workspace, look)
        qtbot.addWidget(panel)
        panel.resize(480, 300)
        panel.show()
        for position, tokens in [(6, 70_000 // 64 + 2), (1, 35_000), (0, 70_000)]:
            seek(qtbot, workspace, position)
            qtbot.waitUntil(lambda: workspace.frame is not None and 0 in workspace.frame.splits)
            assert workspace.frame is not None
            assert len(workspace.frame.splits[0]) == tokens
            ((count, symbols),) = panel.shown_rows()
            assert count == 1
            assert 0 < len(symbols) < 200
            panel.grab()
        assert isinstance(workspace.frame.splits[0], LongSplit)


@pytest.mark.parametrize("text", ["a" * 100_000, " " * 99_999, "\r\n" * 40_000, "\0" * 90_000, "字" * 90_000])
def test_a_text_of_one_run_is_encoded(qtbot, text):
    with open_workspace(qtbot) as workspace:
        workspace.encoder.set_text(text)
        qtbot.waitUntil(lambda: workspace.encoder.encoded is not None and workspace.encoder.encoded.text == text)
        assert workspace.encoder.encoded.content.decode() == text
