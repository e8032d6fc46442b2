"""Merge another pair instead: a timeline of its own, which can be undone, shown in turn, compared and saved."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from bpe_viz.engine import reference
from bpe_viz.engine.trainer import Trainer
from bpe_viz.engine.types import Options, Pair, TrainingOptions
from bpe_viz.errors import BpeVizError
from bpe_viz.gui import branches
from bpe_viz.gui.application import make_application, make_window
from bpe_viz.gui.bars_view import BarsView
from bpe_viz.gui.branch_strip import BranchStrip, LineButton
from bpe_viz.gui.look import Look
from bpe_viz.gui.panels.histogram import HistogramPanel
from bpe_viz.gui.panels.merge_list import MergeListPanel
from bpe_viz.gui.selection import Selection
from bpe_viz.gui.settings import Settings
from bpe_viz.gui.window import Window
from bpe_viz.gui.workspace import Workspace
from tests.gui.worked import open_words, open_workspace

WORDS = {"low": 5, "lower": 2, "newest": 6, "widest": 3}
MAIN = ["e s", "es t", "l o", "lo w", "e w", "ew est", "n ewest"]


@pytest.fixture
def workspace(qtbot: QtBot) -> Iterator[Workspace]:
    with open_workspace(qtbot) as workspace:
        yield workspace


@pytest.fixture
def window(qtbot: QtBot, look: Look, settings: Settings) -> Iterator[Window]:
    """A window on the worked example, at position 2."""
    make_application()
    window = make_window(settings, look)
    qtbot.addWidget(window)
    window.show()
    window.open_example()
    qtbot.waitUntil(lambda: window.workspace.is_settled and window.workspace.frontier == 7)
    go(qtbot, window.workspace, 2)
    yield window
    window.close()


def go(qtbot: QtBot, workspace: Workspace, position: int) -> None:
    workspace.seek(position)
    settle(qtbot, workspace)


def settle(qtbot: QtBot, workspace: Workspace) -> None:
    qtbot.waitUntil(lambda: workspace.is_settled)


def named(workspace: Workspace, pair: str) -> Pair:
    """The ids of a pair that is written like "e s"."""
    assert workspace.timeline is not None
    symbols = workspace.timeline.symbols
    ids = {symbols.label(symbol).decode(): symbol for symbol in range(len(symbols))}
    left, right = pair.split(" ")
    return Pair(ids[left], ids[right])


def branch(qtbot: QtBot, workspace: Workspace, pair: str) -> None:
    workspace.branch(named(workspace, pair))
    settle(qtbot, workspace)


def merges(workspace: Workspace) -> list[str]:
    timeline = workspace.timeline
    assert timeline is not None
    return [" ".join(timeline.symbols.label(one).decode() for one in pair) for pair in timeline.pairs()]


def by_the_reference(chosen: list[str]) -> list[str]:
    """The merges of the worked example after these, whatever the rule says of them."""
    pairs = [(left, right) for left, right in (pair.split(" ") for pair in chosen)]
    made = reference.train({tuple(word): count for word, count in WORDS.items()}, max(7, len(pairs)), chosen=pairs)
    return [" ".join(pair) for pair, _ in made]


def bars(window: Window) -> BarsView:
    panel = window.docks.panel("histogram")
    assert isinstance(panel, HistogramPanel)
    return panel.bars


def merge_list(window: Window) -> MergeListPanel:
    panel = window.docks.panel("merge_list")
    assert isinstance(panel, MergeListPanel)
    return panel


def where(window: Window, label: str) -> QPoint:
    row = next(row for row in bars(window).rows() if row.label == label)
    area = bars(window).row_rect(row.pair)
    assert area is not None
    return area.center()


def titles(window: Window) -> dict[str, str]:
    """What the actions of the Edit menu are called as it opens."""
    window.actions_table.refresh("Edit")
    return {spec.id: spec.shown_title for spec in window.actions_table.specs if spec.group == "Edit"}


class TestMaking:
    def test_a_double_click_merges_the_pair_and_trains_on_from_there(self, qtbot: QtBot, window: Window) -> None:
        qtbot.mouseDClick(bars(window).viewport(), Qt.MouseButton.LeftButton, pos=where(window, "n · e"))
        qtbot.waitUntil(lambda: len(window.workspace.branches.lines) == 2)
        settle(qtbot, window.workspace)
        assert window.workspace.position == 3
        assert merges(window.workspace) == by_the_reference(["e s", "es t", "n e"])

    def test_the_selected_pair_is_merged_by_a_key_and_by_name(self, qtbot: QtBot, window: Window) -> None:
        assert titles(window)["branch"] == "Merge the selected pair instead"
        assert not window.actions_table.run("branch")
        window.workspace.select(Selection(pair=named(window.workspace, "w i")))
        assert titles(window)["branch"] == "Merge w + i instead"
        window.docks.focus("histogram")
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_M)
        qtbot.waitUntil(lambda: len(window.workspace.branches.lines) == 2)
        settle(qtbot, window.workspace)
        assert merges(window.workspace) == by_the_reference(["e s", "es t", "w i"])

    def test_the_context_menu_offers_it_by_mouse_and_by_keyboard(self, qtbot: QtBot, window: Window) -> None:
        view = bars(window)
        for reason in (QContextMenuEvent.Reason.Mouse, QContextMenuEvent.Reason.Keyboard):
            window.workspace.select(Selection(pair=named(window.workspace, "n e")))
            view.contextMenuEvent(QContextMenuEvent(reason, where(window, "n · e"), QPoint(9, 9)))
            menu = next(menu for menu in view.findChildren(QMenu) if menu.isVisible())
            assert [action.text() for action in menu.actions()] == ["Merge n · e instead"]
            menu.close()
        menu = view.menu_of(next(row for row in view.rows() if row.mark == "next"))
        assert [action.text() for action in menu.actions()] == ["Merge l · o"]
        menu.actions()[0].trigger()
        assert (window.workspace.position, len(window.workspace.branches.lines)) == (3, 1)

    @pytest.mark.parametrize("position", range(7))
    def test_every_position_can_be_departed_from(self, qtbot: QtBot, workspace: Workspace, position: int) -> None:
        go(qtbot, workspace, position)
        branch(qtbot, workspace, "w i")
        assert merges(workspace) == by_the_reference([*MAIN[:position], "w i"])
        assert workspace.position == position + 1

    def test_at_the_end_one_more_pair_can_be_merged(self, qtbot: QtBot, workspace: Workspace) -> None:
        go(qtbot, workspace, 7)
        branch(qtbot, workspace, "w i")
        assert (merges(workspace), workspace.position, workspace.last_position) == ([*MAIN, "w i"], 8, 8)

    def test_the_pair_that_comes_next_anyway_is_a_step(self, qtbot: QtBot, workspace: Workspace) -> None:
        branch(qtbot, workspace, "e s")
        assert (workspace.position, len(workspace.branches.lines)) == (1, 1)

    def test_a_line_that_is_there_already_is_shown_again(self, qtbot: QtBot, workspace: Workspace) -> None:
        branch(qtbot, workspace, "w e")
        first = workspace.branches.shown
        go(qtbot, workspace, 0)
        branch(qtbot, workspace, "e s")
        assert workspace.branches.shown is workspace.branches.lines[0]
        assert workspace.position == 1
        go(qtbot, workspace, 0)
        branch(qtbot, workspace, "w e")
        assert workspace.branches.shown is first
        assert len(workspace.branches.lines) == 2

    def test_a_branch_of_a_branch_departs_from_it(self, qtbot: QtBot, workspace: Workspace) -> None:
        branch(qtbot, workspace, "w e")
        go(qtbot, workspace, 2)
        branch(qtbot, workspace, "i d")
        before = by_the_reference(["w e"])
        assert merges(workspace) == by_the_reference([*before[:2], "i d"])
        assert [line.title for line in workspace.branches.lines] == [
            "Main timeline", "Branch 1: merge 1 is w + e", "Branch 2 of branch 1: merge 3 is i + d",
        ]  # fmt: skip

    def test_a_pair_that_does_not_occur_is_refused_in_one_sentence(self, qtbot: QtBot, workspace: Workspace) -> None:
        failures: list[BpeVizError] = []
        workspace.failed.connect(failures.append)
        go(qtbot, workspace, 1)
        before = workspace.timeline
        branch(qtbot, workspace, "e s")
        assert [str(failure) for failure in failures] == [
            "The pair e + s does not occur after merge 1. Choose one that the pair counts show there."
        ]
        assert (workspace.timeline, workspace.position, len(workspace.branches.lines)) == (before, 1, 1)

    def test_nothing_departs_while_another_corpus_is_opened(
        self, qtbot: QtBot, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        failures: list[BpeVizError] = []
        workspace.failed.connect(failures.append)
        open_words(workspace, TrainingOptions(base="characters"), {"ab": 2})
        workspace.branch(Pair(9, 1))
        assert [str(failure) for failure in failures] == [
            "No pair can be merged by hand while Words is being opened. Wait for it, or press Stop."
        ]
        qtbot.waitUntil(lambda: workspace.is_settled and workspace.frontier == 1)
        assert merges(workspace) == ["a b"]


class TestStopping:
    @pytest.fixture
    def repeating(self, monkeypatch: pytest.MonkeyPatch) -> threading.Event:
        """Merges are made again until somebody stops it."""
        started, never = threading.Event(), threading.Event()
        repeat = Trainer.repeat

        def until_stopped(trainer, beginning, progress, should_stop):  # type: ignore[no-untyped-def]
            started.set()
            while not should_stop():
                never.wait(0.001)
            repeat(trainer, beginning, progress, should_stop)

        monkeypatch.setattr(Trainer, "repeat", until_stopped)
        return started

    def test_stop_leaves_all_as_it_was(self, qtbot: QtBot, workspace: Workspace, repeating: threading.Event) -> None:
        go(qtbot, workspace, 3)
        before = workspace.timeline
        workspace.branch(named(workspace, "w i"))
        qtbot.waitUntil(repeating.is_set)
        assert workspace.is_training
        workspace.stop_training()
        settle(qtbot, workspace)
        assert (workspace.timeline, workspace.position, len(workspace.branches.lines)) == (before, 3, 1)
        assert workspace.branches.undo_title is None

    def test_showing_something_else_ends_it_too(
        self, qtbot: QtBot, workspace: Workspace, repeating: threading.Event
    ) -> None:
        workspace.branch(named(workspace, "w i"))
        qtbot.waitUntil(repeating.is_set)
        workspace.change_options(workspace.options.with_training(rule="cs336"))
        qtbot.waitUntil(lambda: workspace.options.training.rule == "cs336" and workspace.is_settled)
        assert len(workspace.branches.lines) == 1

    def test_a_branch_stopped_in_the_middle_stays_so_until_trained_on(
        self, qtbot: QtBot, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        train_to, never, is_on = Trainer.train_to, threading.Event(), threading.Event()

        def until_stopped(trainer, position, progress, should_stop):  # type: ignore[no-untyped-def]
            while not should_stop() and not is_on.is_set():
                never.wait(0.001)
            return train_to(trainer, position, progress, should_stop)

        monkeypatch.setattr(Trainer, "train_to", until_stopped)
        workspace.branch(named(workspace, "w e"))
        qtbot.waitUntil(lambda: len(workspace.branches.lines) == 2)
        workspace.stop_training()
        settle(qtbot, workspace)
        assert (workspace.frontier, workspace.last_position) == (1, 7)
        main, made = workspace.branches.lines
        workspace.branches.show(main, 5)
        settle(qtbot, workspace)
        assert workspace.position == 5
        is_on.set()
        workspace.branches.show(made, 1)
        settle(qtbot, workspace)
        assert (workspace.frontier, workspace.is_training) == (1, False)
        workspace.train_ahead()
        settle(qtbot, workspace)
        assert merges(workspace) == by_the_reference(["w e"])


class TestUndo:
    def test_undo_goes_back_to_where_it_was_made_and_redo_returns(self, qtbot: QtBot, window: Window) -> None:
        workspace = window.workspace
        main = workspace.timeline
        branch(qtbot, workspace, "n e")
        made = workspace.timeline
        assert titles(window)["undo"] == "Undo: merge 'n e' instead"
        go(qtbot, workspace, 6)
        press(qtbot, window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
        assert (workspace.timeline, workspace.position, len(workspace.branches.lines)) == (main, 2, 1)
        assert (titles(window)["undo"], titles(window)["redo"]) == ("Undo", "Redo: merge 'n e' instead")
        assert not window.actions_table.run("undo")
        press(qtbot, window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
        assert (workspace.timeline, workspace.position, len(workspace.branches.lines)) == (made, 3, 2)
        assert titles(window)["redo"] == "Redo"

    def test_the_key_works_after_a_menu_has_shown_it_disabled(self, qtbot: QtBot, window: Window) -> None:
        menu = next(
            action.menu() for action in window.bar.brand.menu.actions() if action.text() == "Edit" and action.menu()
        )
        assert isinstance(menu, QMenu)
        # Without a screen a menu that pops up would keep the keys.
        menu.aboutToShow.emit()
        undo = next(action for action in menu.actions() if action.text() == "Undo")
        assert not undo.isEnabled()
        menu.aboutToHide.emit()
        branch(qtbot, window.workspace, "n e")
        press(qtbot, window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
        assert len(window.workspace.branches.lines) == 1

    def test_a_text_field_keeps_its_own_undo(self, qtbot: QtBot, window: Window) -> None:
        branch(qtbot, window.workspace, "n e")
        window.docks.activate("encode")
        editor = QApplication.focusWidget()
        before = window.workspace.encoder.text
        qtbot.keyClicks(editor, "x")
        assert window.workspace.encoder.text != before
        qtbot.keyClick(editor, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
        assert window.workspace.encoder.text == before
        assert len(window.workspace.branches.lines) == 2

    def test_branches_are_undone_from_the_last_and_a_new_one_ends_redo(
        self, qtbot: QtBot, workspace: Workspace
    ) -> None:
        branch(qtbot, workspace, "w e")
        first = workspace.timeline
        go(qtbot, workspace, 2)
        branch(qtbot, workspace, "i d")
        for expected in (first, workspace.branches.lines[0].training.timeline):  # type: ignore[union-attr]
            workspace.branches.undo()
            settle(qtbot, workspace)
            assert workspace.timeline is expected
        assert workspace.branches.redo_title == "merge 'w e' instead"
        branch(qtbot, workspace, "o w")
        assert workspace.branches.redo_title is None
        assert workspace.branches.lines[1].name == "branch 3"


def press(qtbot: QtBot, window: Window, key: Qt.Key, modifier: Qt.KeyboardModifier) -> None:
    window.docks.focus("timeline")
    qtbot.keyClick(QApplication.focusWidget() or window, key, modifier)
    settle(qtbot, window.workspace)


class TestShowing:
    def test_the_button_comes_with_the_first_branch_and_shows_each_at_the_same_position(
        self, qtbot: QtBot, window: Window
    ) -> None:
        button, workspace = merge_list(window).line_button, window.workspace
        assert button.isHidden()
        branch(qtbot, workspace, "n e")
        assert (button.isHidden(), button.full_text) == (False, "Branch 1")
        go(qtbot, workspace, 5)
        choose(button, "Main timeline")
        settle(qtbot, workspace)
        assert (merges(workspace), workspace.position, button.full_text) == (MAIN, 5, "Main")
        choose(button, "Branch 1: merge 3 is n + e")
        settle(qtbot, workspace)
        assert (merges(workspace)[2], workspace.position) == ("n e", 5)

    def test_a_key_shows_one_after_the_other(self, qtbot: QtBot, window: Window) -> None:
        workspace = window.workspace
        assert not window.actions_table.run("next-line")
        branch(qtbot, workspace, "n e")
        branch(qtbot, workspace, "w i")
        seen = []
        for _ in range(3):
            press(qtbot, window, Qt.Key.Key_B, Qt.KeyboardModifier.ControlModifier)
            assert workspace.branches.shown is not None
            seen.append(workspace.branches.shown.number)
        assert seen == [0, 1, 2]

    def test_stepping_playing_words_and_encoding_follow_the_branch(self, qtbot: QtBot, window: Window) -> None:
        workspace = window.workspace
        workspace.encoder.set_text("newest")
        branch(qtbot, workspace, "n e")
        go(qtbot, workspace, 2)
        workspace.step()
        settle(qtbot, workspace)
        frame = workspace.frame
        assert frame is not None
        assert split(workspace, 2) == ["ne", "w", "est"]
        encode = window.docks.panel("encode")
        assert encode.editor.text == "newest"  # type: ignore[attr-defined]
        assert encode.spans.encoded.tokenizer.pairs == workspace.timeline.pairs()  # type: ignore[attr-defined, union-attr]
        workspace.player.set_speed(1000)
        workspace.player.play()
        qtbot.waitUntil(lambda: not workspace.player.is_playing)
        settle(qtbot, workspace)
        assert workspace.position == 7

    def test_the_strip_says_where_it_departs_and_what_differs_first(self, qtbot: QtBot, window: Window) -> None:
        strip = merge_list(window).strip
        assert strip.isHidden()
        branch(qtbot, window.workspace, "e w")
        assert strip.text == "Branch 1 departs at merge 3. Both make the same 7 tokens"
        strip.rows.set_most_rows(4)
        differences = [
            (one.rank + 1, *(" ".join(text.content.decode() for text in side) for side in (one.was, one.now)))
            for one in strip.rows.differences
        ]
        assert differences == [(3, "l o", "e w"), (4, "lo w", "l o"), (5, "e w", "lo w")]
        qtbot.mouseClick(strip.rows, Qt.MouseButton.LeftButton, pos=strip.rows.row_box(2).center())
        settle(qtbot, window.workspace)
        assert window.workspace.position == 5

    def test_the_strip_can_be_closed_and_comes_back_with_another_branch(self, qtbot: QtBot, window: Window) -> None:
        strip, workspace = merge_list(window).strip, window.workspace
        branch(qtbot, workspace, "n e")
        strip._close.click()
        assert strip.text == ""
        branch(qtbot, workspace, "w i")
        assert strip.text.startswith("Branch 2 departs at merge 4")

    def test_merge_list_and_timeline_mark_where_it_departs(self, qtbot: QtBot, window: Window) -> None:
        branch(qtbot, window.workspace, "n e")
        rows = merge_list(window).rows_view
        notes = [rows.texts.row(rank).notes for rank in range(4)]
        assert notes[2] == ("chosen",)
        assert "chosen" not in (*notes[0], *notes[1], *notes[3])
        assert "chosen by hand; the rule would have merged l + o, counted 7" in rows.tooltip_at(2, 0)

    def test_the_selection_of_another_timeline_is_forgotten(self, qtbot: QtBot, workspace: Workspace) -> None:
        workspace.select(Selection(token=12))
        branch(qtbot, workspace, "w e")
        assert workspace.selection is None


def choose(button: LineButton, title: str) -> None:
    button.menu().aboutToShow.emit()
    next(action for action in button.menu().actions() if action.text() == title).trigger()


def split(workspace: Workspace, row: int) -> list[str]:
    frame = workspace.frame
    assert frame is not None
    return [frame.symbols.label(symbol).decode() for symbol in frame.splits[row]]


def test_the_tokenizer_saved_is_that_of_the_branch(qtbot: QtBot, workspace: Workspace, tmp_path: Path) -> None:
    branch(qtbot, workspace, "w e")
    go(qtbot, workspace, 4)
    with qtbot.waitSignal(workspace.noticed) as said:
        workspace.saving.save_tokenizer(tmp_path / "tokenizer.json")
    assert said.args[0].startswith("Saved tokenizer.json with 4 merges of branch 1.")
    saved = json.loads((tmp_path / "tokenizer.json").read_text(encoding="utf-8"))["model"]["merges"]
    assert [" ".join(pair) for pair in saved] == by_the_reference(["w e"])[:4]


class TestOptions:
    def test_other_options_drop_the_branches_and_say_so(self, qtbot: QtBot, workspace: Workspace) -> None:
        notices: list[str] = []
        branch(qtbot, workspace, "w e")
        branch(qtbot, workspace, "i d")
        workspace.noticed.connect(notices.append)
        workspace.change_options(workspace.options.with_training(rule="cs336"))
        qtbot.waitUntil(lambda: len(notices) == 2)
        assert notices == [
            "The 2 branches of the training before are dropped.",
            "Tie rule: textbook became cs336. Merge 1 is the first to differ: e + s before, s + t now.",
        ]
        assert [line.name for line in workspace.branches.lines] == ["main timeline"]
        assert workspace.branches.undo_title is None

    def test_what_another_rule_changes_is_told_against_the_main_timeline(
        self, qtbot: QtBot, workspace: Workspace
    ) -> None:
        notices: list[str] = []
        branch(qtbot, workspace, "w e")
        workspace.noticed.connect(notices.append)
        workspace.change_options(workspace.options.with_training(rule="cs336"))
        qtbot.waitUntil(lambda: len(notices) == 2)
        assert notices == [
            "The branch of the training before is dropped.",
            "Tie rule: textbook became cs336. Merge 1 is the first to differ: e + s before, s + t now.",
        ]

    def test_the_strip_shows_what_other_options_changed(self, qtbot: QtBot, window: Window) -> None:
        strip = merge_list(window).strip
        window.change_options(window.workspace.options.with_training(rule="cs336"))
        qtbot.waitUntil(lambda: not strip.isHidden())
        assert strip.text.startswith("First to differ: merge 1. Both make ")
        assert strip.rows._titles == ("Before", "Now")

    def test_another_corpus_drops_them_without_a_word(self, qtbot: QtBot, workspace: Workspace) -> None:
        notices: list[str] = []
        branch(qtbot, workspace, "w e")
        workspace.noticed.connect(notices.append)
        open_words(workspace, TrainingOptions(base="characters"), {"ab": 2})
        qtbot.waitUntil(lambda: workspace.frontier == 1 and workspace.is_settled)
        assert (notices, len(workspace.branches.lines)) == ([], 1)

    def test_breakpoints_survive_other_options_where_there_is_such_a_position(
        self, qtbot: QtBot, workspace: Workspace
    ) -> None:
        for position in (2, 5):
            workspace.player.toggle_breakpoint(position)
        for merges_wanted, expected in ((3, (2,)), (7, (2, 5))):
            workspace.change_options(workspace.options.with_training(merges=merges_wanted))
            qtbot.waitUntil(
                lambda wanted=merges_wanted: workspace.options.training.merges == wanted and workspace.is_settled  # type: ignore[misc]
            )
            assert workspace.player.breakpoints == expected
        branch(qtbot, workspace, "w e")
        assert workspace.player.breakpoints == (2, 5)
        open_words(workspace, TrainingOptions(base="characters"), {"abcdefgh": 2})
        qtbot.waitUntil(lambda: workspace.frontier == 7 and workspace.is_settled)
        assert workspace.player.breakpoints == ()


class TestMemory:
    def test_a_branch_that_was_let_go_is_trained_again_when_it_is_shown(
        self, qtbot: QtBot, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(branches, "MOST_BYTES", 0)
        branch(qtbot, workspace, "w e")
        first = merges(workspace)
        go(qtbot, workspace, 2)
        branch(qtbot, workspace, "i d")
        second = merges(workspace)
        main, one, two = workspace.branches.lines
        assert [line.training is None for line in (main, one, two)] == [False, True, False]
        workspace.branches.show(one, 4)
        settle(qtbot, workspace)
        assert (merges(workspace), workspace.position) == (first, 4)
        assert two.training is None
        workspace.branches.undo()
        settle(qtbot, workspace)
        assert (merges(workspace), workspace.position) == (first, 2)
        workspace.branches.redo()
        settle(qtbot, workspace)
        assert (merges(workspace), workspace.position) == (second, 3)

    def test_within_the_budget_all_are_kept(self, qtbot: QtBot, workspace: Workspace) -> None:
        branch(qtbot, workspace, "w e")
        go(qtbot, workspace, 2)
        branch(qtbot, workspace, "i d")
        assert all(line.training is not None for line in workspace.branches.lines)


acts = st.one_of(
    st.tuples(st.just("branch"), st.integers(0, 9)),
    st.tuples(st.just("seek"), st.integers(0, 8)),
    st.tuples(st.sampled_from(["undo", "redo", "next", "stop", "train", "settle"]), st.just(0)),
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(acted=st.lists(acts, max_size=20), budget=st.sampled_from([0, branches.MOST_BYTES]))
def test_whatever_is_done_every_line_follows_the_rule_but_where_it_was_chosen(
    qtbot: QtBot, acted: list[tuple[str, int]], budget: int
) -> None:
    with open_workspace(qtbot) as workspace, pytest.MonkeyPatch.context() as patched:
        patched.setattr(branches, "MOST_BYTES", budget)
        for act, number in acted:
            do(qtbot, workspace, act, number)
        settle(qtbot, workspace)
        for line in workspace.branches.lines:
            workspace.branches.show(line, 0)
            settle(qtbot, workspace)
            workspace.train_ahead()
            settle(qtbot, workspace)
            timeline = workspace.timeline
            assert timeline is not None
            assert workspace.branches.shown is line
            assert len(timeline.departures) >= (line.number > 0)
            chosen = max(timeline.departures, default=-1) + 1
            assert merges(workspace) == by_the_reference(merges(workspace)[:chosen])


def do(qtbot: QtBot, workspace: Workspace, act: str, number: int) -> None:
    """Do one thing that a person can do; most of them without waiting for the one before."""
    frame = workspace.frame
    match act:
        case "branch" if frame is not None and frame.top:
            pair = frame.top[number % len(frame.top)]
            workspace.branch(Pair(pair.left, pair.right))
        case "seek":
            workspace.seek(number)
        case "undo":
            workspace.branches.undo()
        case "redo":
            workspace.branches.redo()
        case "next":
            workspace.branches.show_next(workspace.position)
        case "stop":
            workspace.stop_training()
        case "train":
            workspace.train_ahead()
        case "settle":
            settle(qtbot, workspace)


def test_a_strip_of_any_width_draws_its_rows(qtbot: QtBot, workspace: Workspace, look: Look) -> None:
    strip = BranchStrip(workspace, look)
    qtbot.addWidget(strip)
    branch(qtbot, workspace, "n e")
    strip.show()
    for width in (60, 200, 900):
        strip.resize(width, strip.sizeHint().height())
        assert not strip.grab().isNull()
        (left, room), (other, _) = strip.rows._columns()
        assert left + room < other


def test_options_without_a_corpus_have_no_branch(qtbot: QtBot) -> None:
    workspace = Workspace()
    workspace.branch(Pair(1, 2))
    workspace.branches.undo()
    workspace.branches.redo()
    workspace.branches.show_next(0)
    assert (workspace.branches.lines, workspace.options) == ((), Options())
    workspace.close()
