"""Small tokenizer files, and a window that shows one, for the tests of what was opened."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pytestqt.qtbot import QtBot

from bpe_viz.engine.corpus import count_text
from bpe_viz.engine.tokenizer import Tokenizer
from bpe_viz.engine.trainer import Trainer
from bpe_viz.engine.types import CountingOptions, Options
from bpe_viz.formats import save_tokenizer
from bpe_viz.gui.look import Look
from bpe_viz.gui.settings import Settings
from bpe_viz.gui.window import Window
from bpe_viz.gui.workspace import Workspace

TEXT = "the cat sat on the mat; that cat, the other cat, sat there. " * 5
MERGES = 18
"""So many it takes until every pre-token of the text is one token."""

OTHER = "a hat that has no heat; the hen and the hat. " * 4


def trained(text: str = TEXT, merges: int = MERGES, special: tuple[str, ...] = ("<|end|>",)) -> Tokenizer:
    """A tokenizer that was trained on a text."""
    options = Options().with_counting(special_tokens=special).with_training(merges=merges)
    corpus = count_text(text, options.counting)
    trainer = Trainer(corpus.pretokens, options.training, len(special))
    trainer.train_to()
    return Tokenizer.from_timeline(trainer.timeline, options.counting)


def tokenizer_json(folder: Path, **trained_with: object) -> Path:
    """A tokenizer.json of it."""
    path = folder / "cats.json"
    save_tokenizer(trained(**trained_with), path)  # type: ignore[arg-type]  # checked there
    return path


def ranks(folder: Path) -> Path:
    """A list of ranks, which does not say how text is cut."""
    path = folder / "cats.tiktoken"
    save_tokenizer(trained(special=()), path)
    return path


def window(qtbot: QtBot, settings: Settings, look: Look) -> Window:
    """A window that shows nothing yet."""
    made = Window(Workspace(), look, settings)
    qtbot.addWidget(made)
    made.resize(1280, 800)
    made.show()
    return made


def wait_until_open(qtbot: QtBot, workspace: Workspace, also: Callable[[], bool] = lambda: True) -> None:
    """Wait until a tokenizer is shown, and all that belongs to it."""
    qtbot.waitUntil(lambda: workspace.tokenizer is not None and workspace.is_settled and also())


GPT2 = CountingOptions("gpt2")
