"""The sentence says what facts/worked_examples.md derives by hand."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from bpe_viz.engine.corpus import PretokenCounts
from bpe_viz.engine.narration import Named, narrate, sentence, why_no_next
from bpe_viz.engine.reader import Reader
from bpe_viz.engine.trainer import Trainer
from bpe_viz.engine.types import Pair, TrainingOptions
from bpe_viz.gui.look import Look
from bpe_viz.gui.panels.narration import NarrationPanel
from bpe_viz.gui.workspace import Workspace
from tests.gui.worked import open_workspace, seek

WORDS = {"low": 5, "lower": 2, "newest": 6, "widest": 3}
CHARACTERS = TrainingOptions(base="characters", merges=7)


def said(words: dict[str, int], options: TrainingOptions, position: int) -> str:
    trainer = Trainer(PretokenCounts.from_counter(words), options)
    trainer.train_to()
    frame = Reader(trainer.timeline).frame(position)
    return sentence(narrate(frame, options), frame.symbols)


@pytest.mark.parametrize(
    ("position", "expected"),
    [
        (0, "No merge yet.  Next: e + s, counted 9: 2 pairs tie, and textbook takes the first in order, before s + t."),
        (
            1,
            "Merge 1  e + s → es was counted 9 times, the highest count; "
            "2 pairs tied and the first in order won.  Next: es + t, counted 9, with no tie.",
        ),
        (
            2,
            "Merge 2  es + t → est was counted 9 times, the highest count, with no tie.  "
            "Next: l + o, counted 7: 2 pairs tie, and textbook takes the first in order, before o + w.",
        ),
        (
            3,
            "Merge 3  l + o → lo was counted 7 times, the highest count; "
            "2 pairs tied and the first in order won.  Next: lo + w, counted 7, with no tie.",
        ),
        (
            5,
            "Merge 5  e + w → ew was counted 6 times, the highest count; "
            "3 pairs tied and the first in order won.  "
            "Next: ew + est, counted 6: 2 pairs tie, and textbook takes the first in order, before n + ew.",
        ),
        (
            7,
            "Merge 7  n + ewest → newest was counted 6 times, the highest count, with no tie.  "
            "Training ends here: the target of 7 merges is reached.",
        ),
    ],
)
def test_the_worked_example_is_told_merge_by_merge(position: int, expected: str) -> None:
    assert said(WORDS, CHARACTERS, position) == expected


def test_overlapping_places_are_told_beside_the_count() -> None:
    options = TrainingOptions(base="characters")
    assert (
        said({"aaaa": 1}, options, 0) == "No merge yet.  Next: a + a, counted 3, to be replaced 2 times, with no tie."
    )
    assert "a + a → aa was counted 3 times (replaced 2 times: places overlap)" in said({"aaaa": 1}, options, 1)
    assert "was counted 2 times (replaced once: places overlap)" in said({"aaa": 1}, options, 1)


def test_every_reason_to_stop_is_told_with_its_number() -> None:
    to_the_end = TrainingOptions(base="characters")
    assert said({"ab": 4}, to_the_end, 1).endswith(
        "Training ends here: no pair is left, every pre-token is one token (4 in all)."
    )
    floor = TrainingOptions(base="characters", min_count=4)
    assert said({"ab": 4, "cd": 3}, floor, 1).endswith(
        "Training ends here: the most frequent pair, c + d, is counted 3 times, below the least count of 4."
    )
    one = TrainingOptions(base="characters", merges=1)
    assert said({"ab": 4, "cd": 3}, one, 1).endswith("the target of 1 merge is reached.")
    short = TrainingOptions(base="characters", max_token_length=2)
    assert said({"abc": 4}, short, 1).endswith("no pair is left that makes a token of at most 2 base symbols.")


TRAPS = dict.fromkeys(("mn", "zy", "bc", "aqr"), 1) | {"qr": 1}
# After q + r is merged, four pairs tie at 1, and the rules differ in who wins.


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("textbook", "a + qr, counted 1: 4 pairs tie, and textbook takes the first in order, before b + c."),
        ("utf16", "a + qr, counted 1: 4 pairs tie, and utf16 takes the first by UTF-16 units, before b + c."),
        (
            "huggingface",
            "a + qr, counted 1: 4 pairs tie, and huggingface takes the smallest left id, then right id: "
            "0 and 9 before b + c with 1 and 2.",
        ),
        (
            "rustbpe",
            "a + qr, counted 1: 4 pairs tie, and rustbpe takes the smallest left id, then right id: "
            "0 and 9 before b + c with 1 and 2.",
        ),
        ("first-seen", "m + n, counted 1: 4 pairs tie, and first-seen takes the one met first in the text."),
        ("subword-nmt", "z + y, counted 1: 4 pairs tie, and subword-nmt takes the last in order, after m + n."),
        ("cs336", "z + y, counted 1: 4 pairs tie, and cs336 takes the last in order, after m + n."),
        (
            "sentencepiece",
            "b + c, counted 1: 4 pairs tie, and sentencepiece takes the shortest piece, then the first in order, "
            "before m + n.",
        ),
    ],
)
def test_every_rule_says_how_many_tie_and_why_this_pair_wins(rule: str, expected: str) -> None:
    options = TrainingOptions(base="characters", rule=rule)
    assert said(TRAPS, options, 1).partition("Next: ")[2] == expected


def test_the_shorter_piece_is_told_with_its_length() -> None:
    options = TrainingOptions(base="characters", rule="sentencepiece")
    assert said({"oo": 4, "ooz": 1, "zy": 1}, options, 1).partition("Next: ")[2] == (
        "z + y, counted 1: 2 pairs tie, and sentencepiece takes the shortest piece, then the first in order: "
        "2 characters, oo + z makes 3."
    )


def branched(position: int, pair: tuple[int, int], options: TrainingOptions = CHARACTERS) -> Reader:
    """A training on the worked example that departs after so many merges."""
    main = Trainer(PretokenCounts.from_counter(WORDS), options)
    main.train_to()
    branch = Trainer(PretokenCounts.from_counter(WORDS), options)
    branch.repeat(main.timeline.beginning(position))
    branch.merge_pair(Pair(*pair))
    branch.train_to()
    return Reader(branch.timeline)


def test_a_merge_chosen_by_hand_is_told_with_what_the_rule_would_have_done() -> None:
    # Ids of facts/worked_examples.md: w 9, e 1.
    reader = branched(0, (9, 1))
    before, after = (reader.frame(position) for position in (0, 1))
    assert sentence(narrate(before, CHARACTERS), before.symbols) == (
        "No merge yet.  Next: w + e, counted 8, chosen; the rule would have merged e + s, counted 9."
    )
    assert sentence(narrate(after, CHARACTERS), after.symbols).startswith(
        "Merge 1  w + e → we was chosen, counted 8 times; the rule would have merged e + s, counted 9.  Next: "
    )


def test_a_merge_chosen_where_training_would_have_ended_says_so() -> None:
    options = TrainingOptions(base="characters", merges=0)
    frame = branched(0, (9, 1), options).frame(1)
    assert sentence(narrate(frame, options), frame.symbols).startswith(
        "Merge 1  w + e → we was chosen, counted 8 times; by the rule training would have ended here."
    )


def test_the_reason_alone_is_one_short_sentence() -> None:
    trainer = Trainer(PretokenCounts.from_counter(WORDS), CHARACTERS)
    trainer.train_to()
    reader = Reader(trainer.timeline)
    assert why_no_next(reader.frame(7), CHARACTERS) == "The target of 7 merges is reached."
    assert why_no_next(reader.frame(3), CHARACTERS) is None


def test_invisible_symbols_and_markers_are_shown() -> None:
    options = TrainingOptions(base="characters", end_of_word="separate", merges=1)
    assert said({" ": 3}, options, 1).startswith("Merge 1  ␣ + </w> → ␣</w> was counted 3 times")


def test_symbols_carry_what_they_are() -> None:
    trainer = Trainer(PretokenCounts.from_counter(WORDS), CHARACTERS)
    trainer.train_to()
    named = [piece for piece in narrate(Reader(trainer.timeline).frame(3), CHARACTERS) if isinstance(piece, Named)]
    # Ids of facts/worked_examples.md: l 3, o 5, lo 12, w 9.
    assert named == [Named(3, "taken"), Named(5, "taken"), Named(12, "made"), Named(12, "next"), Named(9, "next")]


@pytest.fixture
def workspace(qtbot: QtBot) -> Iterator[Workspace]:
    with open_workspace(qtbot) as workspace:
        yield workspace


@pytest.fixture
def panel(qtbot: QtBot, workspace: Workspace, look: Look) -> NarrationPanel:
    panel = NarrationPanel(workspace, look)
    qtbot.addWidget(panel)
    panel.resize(1200, 40)
    panel.show()
    return panel


def test_the_panel_says_the_sentence_and_names_itself_by_it(
    qtbot: QtBot, workspace: Workspace, panel: NarrationPanel
) -> None:
    seek(qtbot, workspace, 3)
    assert panel.text.startswith("Merge 3  l + o → lo was counted 7 times")
    assert panel.view.accessibleName() == panel.text
    panel.view.copy_text()
    assert QGuiApplication.clipboard().text() == panel.text


def test_the_hint_goes_with_the_first_step(qtbot: QtBot, workspace: Workspace, panel: NarrationPanel) -> None:
    assert panel.text.endswith("Press Right for the next merge.")
    seek(qtbot, workspace, 1)
    seek(qtbot, workspace, 0)
    assert "Press Right" not in panel.text


def test_one_line_or_two_take_the_same_height(qtbot: QtBot, workspace: Workspace, panel: NarrationPanel) -> None:
    seek(qtbot, workspace, 3)
    height = panel.sizeHint().height()
    panel.resize(680, height)
    assert (panel.view.lines, panel.sizeHint().height()) == (2, height)


def test_a_narrow_panel_breaks_the_sentence_and_stays_as_high(
    qtbot: QtBot, workspace: Workspace, panel: NarrationPanel
) -> None:
    seek(qtbot, workspace, 3)
    assert panel.view.lines == 2
    panel.resize(240, 40)
    qtbot.waitUntil(lambda: panel.view.lines > 2)
    lines, height = panel.view.lines, panel.sizeHint().height()
    seek(qtbot, workspace, 0)
    assert (panel.view.lines, panel.sizeHint().height()) == (lines, height)
