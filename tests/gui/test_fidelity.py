"""The badge that compares with the tokenizer's own library."""

from __future__ import annotations

import threading

import pytest

from bpe_viz.engine.layout import EncodedText
from bpe_viz.errors import OptionError
from bpe_viz.gui import fidelity
from bpe_viz.gui.panels.encode import EncodePanel
from bpe_viz.verification import Difference, Verification
from tests.gui.opened import MERGES, tokenizer_json, wait_until_open, window


class Library:
    """Stands in for a library: answers when it is let, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.may_answer = threading.Event()
        self.may_answer.set()
        self.difference: Difference | None = None
        self.error: OptionError | None = None
        self.is_closed = False

    def verify(self, encoded: EncodedText, special_text="allow", around=True, should_stop=lambda: False):
        self.asked.append(encoded.text)
        while not self.may_answer.wait(0.001) and not should_stop():
            pass
        if self.error is not None:
            raise self.error
        return Verification("cats", "1.2", len(encoded.symbols), self.difference)

    def close(self) -> None:
        self.is_closed = True


@pytest.fixture
def library(monkeypatch):
    made = Library()
    monkeypatch.setattr(fidelity, "Verifier", lambda located, given: made)
    return made


@pytest.fixture
def made(qtbot, settings, look, tmp_path, library):
    """A window with a tokenizer alone."""
    made = window(qtbot, settings, look)
    made.open_paths([tokenizer_json(tmp_path)])
    wait_until_open(qtbot, made.workspace)
    yield made
    library.may_answer.set()
    made.close()


def badge(made):
    return made.findChild(EncodePanel).badge


def wait_for(qtbot, made, kind):
    qtbot.waitUntil(lambda: made.workspace.fidelity.fidelity is not None)
    qtbot.waitUntil(lambda: made.workspace.fidelity.fidelity.kind == kind)


def test_the_same_ids_are_said_with_the_version(qtbot, made):
    wait_for(qtbot, made, "same")
    assert badge(made).full_text == "✓ same as cats 1.2"
    made.workspace.seek(MERGES - 1)
    qtbot.waitUntil(lambda: made.workspace.is_settled)
    assert badge(made).full_text == "✓ at the end same as cats 1.2"


def test_the_first_difference_is_said_and_a_click_goes_there(qtbot, made, library):
    library.difference = Difference(1, 3, 5, 6, "5 (' c')", "6 (' d')")
    made.workspace.encoder.set_text("the cat")
    wait_for(qtbot, made, "different")
    assert badge(made).full_text == "≠ differs from cats 1.2 at token 2"
    assert "at character 4: 5 (' c') here, 6 (' d') by cats 1.2." in badge(made).accessibleDescription()
    badge(made).click()
    assert made.findChild(EncodePanel).editor.selection == (3, 4)


@pytest.mark.parametrize("width", [800, 900, 1000, 1100, 1200, 1280, 1600])
def test_the_badge_is_whole_before_the_heading_says_what_the_sentence_says(qtbot, made, library, width):
    library.difference = Difference(1, 3, 5, 6, "5 (' c')", "6 (' d')")
    made.workspace.encoder.set_text("the cat")
    wait_for(qtbot, made, "different")
    made.resize(width, 800)
    panel = made.findChild(EncodePanel)
    qtbot.waitUntil(lambda: panel.width() > width - 40)
    qtbot.waitUntil(lambda: not panel.split_label.isVisible() or badge(made).text() == badge(made).full_text)
    assert panel.split_label.isVisible() or width < 1600
    assert not panel.split_label.isVisible() or width > 800


def test_a_known_renumbering_is_no_fault(qtbot, made, library):
    library.difference = Difference(1, 3, 10, 3, "10 ('<s>')", "3", renumbered=1)
    made.workspace.encoder.set_text("the cat")
    wait_for(qtbot, made, "renumbered")
    assert badge(made).full_text == "✓ same as cats 1.2, renumbered"
    said = badge(made).accessibleDescription()
    assert "numbers 1 of them anew, as the ids that the file declares leave a hole" in said
    assert "token 2: 10 ('<s>') here, 3 there" in said


def test_why_it_is_not_compared_is_said(qtbot, made, library):
    library.error = OptionError("The cats library is not installed.", "Run: pip install cats")
    made.workspace.encoder.set_text("the cat")
    wait_for(qtbot, made, "unknown")
    assert badge(made).full_text == "? not compared"
    assert "pip install cats" in badge(made).toolTip()


def test_an_answer_on_an_older_text_is_never_shown(qtbot, made, library):
    wait_for(qtbot, made, "same")
    shown = []
    made.workspace.fidelity.changed.connect(shown.append)
    library.may_answer.clear()
    made.workspace.encoder.set_text("old")
    qtbot.waitUntil(lambda: library.asked[-1] == "old")
    library.difference = Difference(0, 0, 1, 2, "1", "2")
    made.workspace.encoder.set_text("new")
    qtbot.waitUntil(lambda: made.workspace.encoder.encoded.text == "new")
    shown.clear()
    library.may_answer.set()
    qtbot.waitUntil(lambda: library.asked[-1] == "new")
    wait_for(qtbot, made, "different")
    assert [one.kind for one in shown] == ["different"]


def test_typing_goes_on_while_the_library_is_asked(qtbot, made, library):
    library.may_answer.clear()
    for text in ("t", "th", "the"):
        made.workspace.encoder.set_text(text)
        qtbot.waitUntil(lambda text=text: made.workspace.is_settled and made.workspace.encoder.encoded.text == text)
    assert made.workspace.fidelity.fidelity.kind == "asking"


def test_it_ends_with_the_tokenizer(qtbot, made, library):
    wait_for(qtbot, made, "same")
    made.open_example()
    qtbot.waitUntil(lambda: made.workspace.tokenizer is None and made.workspace.is_settled)
    qtbot.waitUntil(lambda: library.is_closed)
    assert made.workspace.fidelity.fidelity is None
    assert not badge(made).isVisible()


def test_the_real_library_agrees(qtbot, settings, look, tmp_path):
    pytest.importorskip("tokenizers")
    made = window(qtbot, settings, look)
    made.open_paths([tokenizer_json(tmp_path)])
    wait_until_open(qtbot, made.workspace)
    made.workspace.encoder.set_text("the cat <|end|> naïve 東京")
    qtbot.waitUntil(lambda: made.workspace.is_settled)
    wait_for(qtbot, made, "same")
    assert made.workspace.fidelity.fidelity.text.startswith("same as tokenizers ")
    made.close()
