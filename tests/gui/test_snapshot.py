"""Figures without a screen."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from PySide6.QtGui import QImage

from bpe_viz.engine.trainer import Trainer
from bpe_viz.engine.types import CountingOptions, Options, TrainingOptions
from bpe_viz.errors import BpeVizError
from bpe_viz.gui.answers import Answers, CountAnswers
from bpe_viz.gui.panels import panels
from bpe_viz.gui.snapshot import EXAMPLE, snapshot
from tests.gui.opened import ranks, tokenizer_json


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text("the cat sat on the mat; that cat, the other cat, sat there. " * 5)
    return path


@pytest.mark.parametrize("theme", ["light", "dark", "print", "high-contrast"])
def test_the_whole_window_as_png(tmp_path, qtbot, theme):
    out = tmp_path / "figure.png"
    snapshot(EXAMPLE, out, options=None, position=3, theme=theme, size=(1280, 800), scale=2.0)
    image = QImage(str(out))
    assert (image.width(), image.height()) == (2560, 1600)
    assert len({image.pixelColor(x, 400).name() for x in range(0, 2560, 7)}) > 3


@pytest.mark.parametrize("panel", [panel.name for panel in panels()])
def test_every_panel_as_svg_that_is_xml(tmp_path, qtbot, text, panel):
    out = tmp_path / "figure.svg"
    snapshot(str(text), out, options=Options(), position=5, panel=panel)
    shapes = list(ElementTree.parse(out).iter())
    assert len(shapes) > 10


def test_a_branch_is_drawn_after_the_pair_that_was_merged_instead(tmp_path, qtbot):
    figures = {name: tmp_path / f"{name}.png" for name in ("chosen", "next", "step")}
    snapshot(EXAMPLE, figures["chosen"], options=None, position=2, instead="[n][e]", panel="merge_list")
    snapshot(EXAMPLE, figures["next"], options=None, position=2, instead="[l][o]", panel="merge_list")
    snapshot(EXAMPLE, figures["step"], options=None, position=3, panel="merge_list")
    chosen, following, step = (QImage(str(path)) for path in figures.values())
    # What the rule takes anyway is a step; another pair adds the strip on what differs.
    assert following == step != chosen


def test_a_tokenizer_alone_and_replayed_on_a_text(tmp_path, qtbot, text):
    tokenizer = tokenizer_json(tmp_path)
    alone, replayed = tmp_path / "alone.png", tmp_path / "replayed.png"
    snapshot(str(tokenizer), alone, options=None, position=5, text="the cat", panel="merge_list")
    snapshot(str(tokenizer), replayed, options=None, position=5, replay=str(text), panel="merge_list")
    assert QImage(str(alone)) != QImage(str(replayed))


def test_a_list_of_ranks_is_drawn_with_the_pretokenizer_that_was_given(tmp_path, qtbot):
    path, out = ranks(tmp_path), tmp_path / "figure.png"
    with pytest.raises(BpeVizError, match="--pretokenizer"):
        snapshot(str(path), out, options=None)
    snapshot(str(path), out, options=None, given=CountingOptions("gpt2"))
    assert out.exists()


def test_only_the_merges_of_a_tokenizer_are_replayed(tmp_path, qtbot, text):
    with pytest.raises(BpeVizError, match="is no tokenizer"):
        snapshot(str(text), tmp_path / "x.png", options=None, replay=str(text))


def test_pdf(tmp_path, qtbot, text):
    out = tmp_path / "figure.pdf"
    snapshot(str(text), out, options=Options(CountingOptions("whitespace"), TrainingOptions(merges=4)))
    assert out.read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"position": 8}, "There is no position 8: there are the positions 0 to 7."),
        ({"instead": "ne"}, "'ne' names no pair. Write both symbols in brackets, such as [n][e]."),
        ({"instead": "[lo][w]"}, "There is no symbol lo at position 1. Name others."),
        ({"instead": "[e][s]"}, "The pair e + s does not occur after merge 1."),
        ({"panel": "pie"}, "There is no panel named 'pie'."),
        ({"theme": "pink"}, "There is no theme named 'pink'."),
        ({"out": "figure.gif"}, "figure.gif is no figure that bpe-viz writes."),
        ({"out": "missing/figure.png"}, "figure.png"),
        ({"source": "missing.txt"}, "missing.txt"),
    ],
)
def test_what_cannot_be_drawn_is_said_and_nothing_is_written(tmp_path, qtbot, change, said):
    wanted = {"source": EXAMPLE, "out": "figure.png", "options": None, "position": 1, **change}
    out = tmp_path / wanted.pop("out")
    with pytest.raises(BpeVizError) as raised:
        snapshot(wanted.pop("source"), out, **wanted)
    assert said in str(raised.value)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


@pytest.mark.parametrize(
    "where", [(Trainer, "__init__"), (Trainer, "train_to"), (CountAnswers, "frame"), (Answers, "encode")]
)
def test_a_bug_in_a_lane_ends_it(tmp_path, qtbot, monkeypatch, where):
    def fail(*_, **__):
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(*where, fail)
    with pytest.raises(ZeroDivisionError, match="a bug"):
        snapshot(EXAMPLE, tmp_path / "figure.png", options=None)
    assert not list(tmp_path.iterdir())


def test_an_error_in_a_slot_ends_it(tmp_path, qtbot, monkeypatch):
    def fail(*_):
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr("bpe_viz.gui.training.narrate", fail)
    with pytest.raises(ZeroDivisionError, match="a bug"):
        snapshot(EXAMPLE, tmp_path / "figure.png", options=None)


def test_ctrl_c_stops_it_at_once_whatever_the_lanes_do(tmp_path):
    pipe = tmp_path / "pipe.txt"
    os.mkfifo(pipe)
    command = [sys.executable, "-m", "bpe_viz", "snapshot", str(pipe), "-o", str(tmp_path / "x.png")]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as process:
        try:
            with pipe.open("wb"):  # opened once it is read; nothing is ever written
                process.send_signal(signal.SIGINT)
                _, err = process.communicate(timeout=5)
        finally:
            process.kill()
    assert process.returncode == 130
    assert err.decode().splitlines() == ["bpe-viz: stopped."]
    assert not (tmp_path / "x.png").exists()


def test_a_window_that_cannot_be_that_small_says_how_small_it_is(tmp_path, qtbot):
    out = tmp_path / "figure.png"
    notes = snapshot(EXAMPLE, out, options=None, size=(100, 100))
    image = QImage(str(out))
    assert notes == [f"The window cannot be as small as 100x100: it was drawn at {image.width()}x{image.height()}."]
    assert snapshot(EXAMPLE, out, options=None, size=(1280, 800)) == []
