"""The real window: keys, menus, opening, closing; what a person does and sees."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent, QGuiApplication, QWheelEvent
from PySide6.QtWidgets import QAbstractScrollArea, QApplication, QFileDialog, QLabel

from bpe_viz.engine.types import Frame
from bpe_viz.gui.actions import GROUPS
from bpe_viz.gui.application import make_application, make_window
from bpe_viz.gui.choice_dialog import ChoiceDialog
from bpe_viz.gui.sources import text_source
from bpe_viz.gui.window import Window


@pytest.fixture
def window(qtbot, look, settings):
    """A shown window without a corpus."""
    make_application()
    window = make_window(settings, look)
    qtbot.addWidget(window)
    window.show()
    yield window
    window.close()


@pytest.fixture
def example(qtbot, window: Window) -> Window:
    """A window on the worked example, at position 0."""
    window.open_example()
    qtbot.waitUntil(lambda: window.workspace.is_settled and window.workspace.frontier == 7)
    return window


def press(qtbot, window: Window, key, modifier=Qt.KeyboardModifier.NoModifier) -> Frame:
    """Press a key where the focus is, and wait until the frame that follows is shown."""
    target = QApplication.focusWidget() or window
    qtbot.keyClick(target, key, modifier)
    qtbot.waitUntil(lambda: window.workspace.is_settled)
    frame = window.workspace.frame
    assert frame is not None
    return frame


def words(window: Window, frame: Frame) -> list[str]:
    return ["|".join(frame.symbols.label(s).decode() for s in split) for _, split in sorted(frame.splits.items())]


class TestKeys:
    def test_right_makes_the_merges_of_the_worked_example(self, qtbot, example):
        made = []
        for _ in range(7):
            frame = press(qtbot, example, Qt.Key.Key_Right)
            labels = [frame.symbols.label(s).decode() for s in (frame.made.left, frame.made.right)]
            made.append((" ".join(labels), frame.made.count, frame.made.ties))
        assert made == [
            ("e s", 9, 2), ("es t", 9, 1), ("l o", 7, 2), ("lo w", 7, 1),
            ("e w", 6, 3), ("ew est", 6, 2), ("n ewest", 6, 1),
        ]  # fmt: skip
        assert press(qtbot, example, Qt.Key.Key_Right).position == 7

    def test_the_words_are_split_as_worked_out_by_hand(self, qtbot, example):
        for _ in range(4):
            frame = press(qtbot, example, Qt.Key.Key_Right)
        assert words(example, frame) == ["low", "low|e|r", "n|e|w|est", "w|i|d|est"]

    @pytest.mark.parametrize(
        ("keys", "position"),
        [
            ([(Qt.Key.Key_Right, Qt.KeyboardModifier.AltModifier)] * 2, 2),
            ([(Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)], 7),
            ([(Qt.Key.Key_End, Qt.KeyboardModifier.NoModifier), (Qt.Key.Key_Left, Qt.KeyboardModifier.NoModifier)], 6),
            ([(Qt.Key.Key_End, Qt.KeyboardModifier.NoModifier), (Qt.Key.Key_Home, Qt.KeyboardModifier.NoModifier)], 0),
            ([(Qt.Key.Key_PageDown, Qt.KeyboardModifier.NoModifier)], 7),
        ],
    )
    def test_the_keys_of_the_table(self, qtbot, example, keys, position):
        for key, modifier in keys:
            frame = press(qtbot, example, key, modifier)
        assert frame.position == position

    def test_a_breakpoint_stops_page_down_and_playing(self, qtbot, example):
        example.workspace.seek(3)
        press(qtbot, example, Qt.Key.Key_B)
        press(qtbot, example, Qt.Key.Key_Home)
        assert press(qtbot, example, Qt.Key.Key_PageDown).position == 3
        press(qtbot, example, Qt.Key.Key_Home)
        example.workspace.player.set_speed(1000)
        press(qtbot, example, Qt.Key.Key_Space)
        qtbot.waitUntil(lambda: not example.workspace.player.is_playing)
        qtbot.waitUntil(lambda: example.workspace.is_settled)
        assert example.workspace.frame.position == 3

    def test_playing_at_the_end_starts_again_and_a_step_pauses(self, qtbot, example):
        press(qtbot, example, Qt.Key.Key_End)
        example.workspace.player.set_speed(0.5)
        example.actions_table.run("play")
        qtbot.waitUntil(lambda: example.workspace.is_settled)
        assert (example.workspace.position, example.workspace.player.is_playing) == (0, True)
        press(qtbot, example, Qt.Key.Key_Right)
        assert (example.workspace.position, example.workspace.player.is_playing) == (1, False)

    def test_a_text_field_keeps_its_keys(self, qtbot, example):
        example.docks.activate("merge_list")
        field = QApplication.focusWidget()
        qtbot.keyClicks(field, "es")
        for key in (Qt.Key.Key_Left, Qt.Key.Key_Home, Qt.Key.Key_End, Qt.Key.Key_Space, Qt.Key.Key_G, Qt.Key.Key_B):
            qtbot.keyClick(field, key)
        assert example.workspace.position == 0
        assert example.workspace.player.breakpoints == ()
        assert press(qtbot, example, Qt.Key.Key_Right, Qt.KeyboardModifier.AltModifier).position == 1

    def test_escape_gives_the_keys_back(self, qtbot, example):
        example.docks.activate("word_splits")
        press(qtbot, example, Qt.Key.Key_Escape)
        assert press(qtbot, example, Qt.Key.Key_Right).position == 1

    def test_f6_walks_through_the_panels(self, qtbot, example):
        seen = set()
        for _ in example.docks.specs:
            example.docks.focus_next()
            focused = example.focusWidget()
            seen |= {s.name for s in example.docks.specs if example.docks.dock(s.name).isAncestorOf(focused)}
        assert {"histogram", "word_splits", "merge_list", "timeline", "encode"} <= seen

    def test_zoom_changes_all_type(self, example):
        height = example.look.row_height
        example.actions_table.run("larger")
        assert example.look.row_height > height
        example.actions_table.run("normal")
        assert example.look.row_height == height

    def test_ctrl_and_the_wheel_zoom_over_every_panel(self, example):
        for name in ("histogram", "word_splits", "merge_list", "encode"):
            before = example.look.zoom
            area = next(a for a in example.docks.panel(name).findChildren(QAbstractScrollArea) if a.isVisible())
            middle = QPointF(area.rect().center())
            turn = QWheelEvent(
                middle, QPointF(area.mapToGlobal(middle.toPoint())), QPoint(), QPoint(0, 120),
                Qt.MouseButton.NoButton, Qt.KeyboardModifier.ControlModifier, Qt.ScrollPhase.NoScrollPhase, False,
            )  # fmt: skip
            turn.ignore()
            QApplication.sendEvent(area.viewport(), turn)
            # Qt hands on to the parents only what a real wheel sent: do as it does.
            assert not turn.isAccepted(), name
            QApplication.sendEvent(example, turn)
            assert example.look.zoom > before, name


class TestActions:
    def test_every_action_is_in_a_menu_and_has_one_key_of_its_own(self, window):
        specs = window.actions_table.specs
        assert {spec.group for spec in specs} <= set(GROUPS)
        keys = [key for spec in specs for key in (*spec.keys, *spec.plain_keys)]
        assert len(keys) == len(set(keys))
        titles = [action.text() for menu in window.bar.brand.menu.actions() for action in menu.menu().actions()]
        for spec in specs:
            assert any(title.startswith(spec.shown_title.replace("&", "&&")) for title in titles), spec.id

    def test_the_palette_finds_and_runs_an_action(self, qtbot, example):
        from bpe_viz.gui.action_lists import Palette

        palette = Palette(example.actions_table, example)
        qtbot.addWidget(palette)
        palette.show()
        qtbot.keyClicks(palette.field, "last pos")
        assert [palette.found.item(i).text() for i in range(palette.found.count())] == ["Go: Last position    End"]
        qtbot.keyClick(palette.field, Qt.Key.Key_Return)
        qtbot.waitUntil(lambda: example.workspace.is_settled)
        assert example.workspace.frame.position == 7

    def test_the_key_sheet_lists_every_key(self, qtbot, window):
        from PySide6.QtWidgets import QLabel

        from bpe_viz.gui.action_lists import KeySheet

        sheet = KeySheet(window.actions_table, window)
        qtbot.addWidget(sheet)
        sheet.show()
        assert any("?" in label.text() for label in sheet.findChildren(QLabel))
        shown = {label.text() for label in sheet.findChildren(QLabel)}
        for spec in window.actions_table.specs:
            if spec.shown_keys:
                assert {spec.shown_keys, spec.title.replace("&", "&&")} <= shown


class TestOpening:
    def open(self, qtbot, window: Window, *paths: Path) -> None:
        window.open_paths(list(paths))
        qtbot.waitUntil(lambda: window.workspace.is_settled, timeout=20_000)

    def test_a_text_file_is_trained_on(self, qtbot, example, tmp_path):
        path = tmp_path / "R&D.txt"
        path.write_text("the cat sat on the mat with the other cat")
        self.open(qtbot, example, path)
        assert example.workspace.corpus.name == "R&D.txt"
        assert "R&D.txt" in example.windowTitle()
        assert example.workspace.options.training.base == "bytes"

    def test_dropping_a_file_opens_it(self, qtbot, example, tmp_path):
        path = tmp_path / "dropped.txt"
        path.write_text("drop drop drop")
        mime = QMimeData()
        mime.setUrls([QUrl.fromLocalFile(str(path))])
        event = QDropEvent(
            QPointF(QPoint(5, 5)), Qt.DropAction.CopyAction, mime,
            Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier,
        )  # fmt: skip
        example.dropEvent(event)
        qtbot.waitUntil(lambda: example.workspace.is_settled and example.workspace.corpus.name == "dropped.txt")

    def test_the_clipboard_can_be_trained_on(self, qtbot, example):
        QGuiApplication.clipboard().setText("no\u00a0break no\u00a0break")
        example.actions_table.run("paste-corpus")
        qtbot.waitUntil(lambda: example.workspace.is_settled and example.workspace.corpus.name == "Pasted text")
        assert "\u00a0".encode() in example.workspace.corpus.pretokens.data

    @pytest.mark.parametrize(
        ("name", "content", "said"),
        [
            ("empty.txt", b"", "empty"),
            ("picture.png", bytes.fromhex("89504e470d0a1a0a0000000d4948445200000001000000010806000000"), "not text"),
        ],
    )
    def test_what_cannot_be_opened_leaves_everything_as_it_was(self, qtbot, example, tmp_path, name, content, said):
        press(qtbot, example, Qt.Key.Key_Right)
        path = tmp_path / name
        path.write_bytes(content)
        example.open_paths([path])
        qtbot.waitUntil(lambda: said in example.messages.text)
        assert name in example.messages.text
        assert example.workspace.corpus.name == "Worked example"
        assert example.workspace.position == 1
        assert press(qtbot, example, Qt.Key.Key_Right).position == 2

    def test_a_missing_file_and_an_empty_folder_are_named(self, qtbot, example, tmp_path):
        (tmp_path / "nothing").mkdir()
        for path in (tmp_path / "missing.txt", tmp_path / "nothing"):
            example.messages.dismiss()
            example.open_paths([path])
            qtbot.waitUntil(lambda path=path: path.name in example.messages.text)
        assert example.workspace.corpus.name == "Worked example"

    def test_a_failed_first_open_falls_back_to_the_worked_example(self, qtbot, window, tmp_path):
        path = tmp_path / "empty.txt"
        path.touch()
        window.open_paths([path])
        qtbot.waitUntil(lambda: window.workspace.is_settled)
        assert window.workspace.corpus.name == "Worked example"
        assert "empty.txt" in window.messages.text

    def test_what_was_said_of_another_source_goes_when_one_is_opened(self, qtbot, example, tmp_path):
        utf16, plain = tmp_path / "utf16.txt", tmp_path / "plain.txt"
        utf16.write_text("größer größer", encoding="utf-16")
        plain.write_text("a text with nothing to say of")
        self.open(qtbot, example, utf16)
        assert "UTF-16" in example.messages.text
        qtbot.waitUntil(lambda: not example.messages.is_said_just_now)
        self.open(qtbot, example, plain)
        assert example.messages.text == ""
        example.open_paths([tmp_path / "missing.txt"])
        qtbot.waitUntil(lambda: "missing.txt" in example.messages.text)
        self.open(qtbot, example, plain)
        assert example.messages.text == ""

    def test_notes_about_the_text_are_said(self, qtbot, example, tmp_path):
        path = tmp_path / "utf16.txt"
        path.write_text("größer größer", encoding="utf-16")
        self.open(qtbot, example, path)
        assert "UTF-16" in example.messages.text

    def test_options_that_the_user_chose_stay_for_the_next_text(self, qtbot, example, tmp_path):
        for i, name in enumerate(("one.txt", "two.txt")):
            path = tmp_path / name
            path.write_text("some words and some more words")
            self.open(qtbot, example, path)
            if i == 0:
                example.change_options(example.workspace.options.with_counting(pretokenizer="cl100k"))
                qtbot.waitUntil(lambda: example.workspace.is_settled)
        assert example.workspace.options.counting.pretokenizer == "cl100k"


class TestOptions:
    def test_a_change_retrains_and_says_what_changed(self, qtbot, example):
        example.change_options(example.workspace.options.with_training(weights="types"))
        qtbot.waitUntil(lambda: "first to differ" in example.messages.text)
        assert "Weights: by how often a pre-token occurs became each distinct pre-token once." in example.messages.text
        assert "Merge 5 is the first to differ: e + w before, d + est now." in example.messages.text

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            ({"vocab_size": 5, "merges": None}, "smaller than what it starts with"),
            ({"rule": "best"}, "no tie rule named 'best'"),
        ],
    )
    def test_options_that_cannot_be_followed_change_nothing(self, qtbot, example, change, said):
        before = example.workspace.options
        example.change_options(before.with_training(**change))
        qtbot.waitUntil(lambda: said in example.messages.text)
        assert example.workspace.options == before
        assert press(qtbot, example, Qt.Key.Key_Right).position == 1

    def test_a_pattern_that_does_not_compile_changes_nothing(self, qtbot, example, tmp_path):
        path = tmp_path / "a.txt"
        path.write_text("some words")
        example.open_paths([path])
        qtbot.waitUntil(lambda: example.workspace.is_settled and example.workspace.corpus.name == "a.txt")
        example.change_options(example.workspace.options.with_counting(pattern="(unclosed"))
        qtbot.waitUntil(lambda: "does not compile" in example.messages.text)
        assert example.workspace.options.counting.pattern is None

    def test_the_form_marks_the_field_that_is_wrong_and_goes_to_it(self, qtbot, example):
        from bpe_viz.gui.options_dialog import OptionsDialog

        dialog = OptionsDialog(example.workspace.options, example)
        qtbot.addWidget(dialog)
        dialog.show()
        for name, wrong, right in (
            ("target", "many", "7"),
            ("min_count", "0", "1"),
            ("longest", "1", ""),
            ("normalize", "nfx", "nfc LOWERCASE"),
        ):
            field = getattr(dialog, name)
            field.setText(wrong)
            dialog.accept()
            assert (field.property("role"), dialog.focusWidget()) == ("error", field), name
            field.setText(right)
        dialog.accept()
        assert dialog.options().counting.normalize == ("NFC", "lowercase")
        assert not dialog.target.property("role")

    def test_the_buttons_of_dialogs_have_no_stock_icons(self, qtbot, example):
        from PySide6.QtWidgets import QPushButton

        from bpe_viz.gui.options_dialog import OptionsDialog

        dialog = OptionsDialog(example.workspace.options, example)
        qtbot.addWidget(dialog)
        dialog.show()
        assert all(button.icon().isNull() for button in dialog.findChildren(QPushButton))

    def test_a_table_says_that_its_pretokens_are_its_own(self, example):
        assert example.bar.pretokenizer.value == "of the table"
        assert "taken as they are" in example.bar.pretokenizer.toolTip()

    def test_the_form_names_a_value_that_cannot_be(self, qtbot, example):
        from bpe_viz.gui.options_dialog import OptionsDialog

        dialog = OptionsDialog(example.workspace.options, example)
        qtbot.addWidget(dialog)
        assert dialog.options() == example.workspace.options
        dialog.target.setText("many")
        dialog.accept()
        assert "'many'" in dialog.fault
        dialog.target.setText("3,000")
        dialog.special_tokens.setPlainText("<|end|>\na\u00a0b")
        assert dialog.options().training.merges == 3000
        assert dialog.options().counting.special_tokens == ("<|end|>", "a\u00a0b")


class TestSaving:
    def test_the_tokenizer_is_saved_as_it_is_at_the_cursor(self, qtbot, example, tmp_path):
        tokenizers = pytest.importorskip("tokenizers", reason="the library that reads the file is not installed")
        for _ in range(4):
            press(qtbot, example, Qt.Key.Key_Right)
        path = tmp_path / "tokenizer.json"
        example.workspace.saving.save_tokenizer(path)
        qtbot.waitUntil(lambda: "Saved tokenizer.json with 4 merges" in example.messages.text)
        assert tokenizers.Tokenizer.from_file(str(path)).encode("lowest").tokens == ["low", "est"]

    def test_every_format_is_saved_by_its_name(self, qtbot, example, tmp_path):
        example.workspace.jump(4)
        for name in ("merges.txt", "x.json"):
            example.workspace.saving.save_tokenizer(tmp_path / name)
            if name == "merges.txt":
                qtbot.waitUntil(lambda: example.findChild(ChoiceDialog) is not None)
                example.findChild(ChoiceDialog).buttons[1].click()
            qtbot.waitUntil(lambda name=name: f"Saved {name}" in example.messages.text)
        assert {path.name for path in tmp_path.iterdir()} == {"merges.txt", "vocab.json", "x.json"}
        example.workspace.saving.save_tokenizer(tmp_path / "x.model")
        qtbot.waitUntil(lambda: "minbpe holds merges of bytes" in example.messages.text)

    def test_what_a_format_cannot_hold_is_asked_about_before_a_file_is_replaced(
        self, qtbot, example, tmp_path, monkeypatch
    ):
        example.open_source(text_source("low low lower"))
        qtbot.waitUntil(lambda: example.workspace.options.counting.pretokenizer == "gpt2")
        qtbot.waitUntil(lambda: example.workspace.is_settled)
        path = tmp_path / "x.tiktoken"
        path.write_text("before")
        example.workspace.saving.save_tokenizer(path)
        qtbot.waitUntil(lambda: example.findChild(ChoiceDialog) is not None)
        dialog = example.findChild(ChoiceDialog)
        label = dialog.findChild(QLabel)
        qtbot.waitUntil(dialog.isVisible)
        assert label.height() >= label.heightForWidth(label.width())
        question = label.text()
        assert "Ranks do not hold how text is cut: give --pretokenizer gpt2" in question
        assert [button.text() for button in dialog.buttons] == ["Save in another format…", "Save x.tiktoken anyway"]
        assert dialog.buttons[1].accessibleDescription().startswith("Replaces x.tiktoken")
        assert dialog.buttons[0].hasFocus() or dialog.focusWidget() is dialog.buttons[0]
        with qtbot.waitSignal(dialog.destroyed):
            dialog.reject()
        assert path.read_text() == "before"
        other = tmp_path / "y.json"
        monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(other), ""))
        example.workspace.saving.save_tokenizer(path)
        qtbot.waitUntil(lambda: example.findChild(ChoiceDialog) is not None)
        example.findChild(ChoiceDialog).buttons[0].click()
        qtbot.waitUntil(lambda: "Saved y.json" in example.messages.text)
        assert (path.read_text(), other.exists()) == ("before", True)

    def test_word_counts_are_saved_as_a_table(self, qtbot, example, tmp_path, monkeypatch):
        path = tmp_path / "counts.tsv"
        monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(path), ""))
        example.saver.ask_where_counts()
        qtbot.waitUntil(lambda: "Saved counts.tsv with 4 distinct pre-tokens" in example.messages.text)
        assert path.read_text() == "pretoken\tcount\nlow\t5\nlower\t2\nnewest\t6\nwidest\t3\n"
        example.open_paths([path])
        qtbot.waitUntil(lambda: example.workspace.corpus.name == "counts.tsv")
        assert example.workspace.corpus.is_table
        example.workspace.saving.save_word_counts(tmp_path / "counts.txt")
        qtbot.waitUntil(lambda: "no name of a word-count table" in example.messages.text)

    def test_a_name_that_no_format_has_is_refused_in_words(self, qtbot, example, tmp_path):
        example.workspace.saving.save_tokenizer(tmp_path / "tokenizer.xyz")
        qtbot.waitUntil(lambda: "tokenizer.xyz" in example.messages.text)
        assert list(tmp_path.iterdir()) == []


class TestClosing:
    def test_closing_while_counting_and_training_ends_the_threads(self, qtbot, window, tmp_path):
        path = tmp_path / "long.txt"
        path.write_text("".join(f"word{i} and word{i * 7} " for i in range(120_000)))
        window.open_paths([path])
        qtbot.waitUntil(lambda: window.workspace.is_training)
        window.close()
        assert not [thread for thread in threading.enumerate() if thread.name in ("training", "query")]

    def test_the_layout_is_remembered(self, qtbot, example, settings, look):
        example.docks.dock("merge_list").hide()
        example.close()
        again = make_window(settings, look)
        qtbot.addWidget(again)
        again.show()
        assert again.docks.dock("merge_list").isHidden()
        again.docks.restore_default()
        assert not again.docks.dock("merge_list").isHidden()
        again.close()

    def test_stop_keeps_what_is_trained_and_it_can_go_on(self, qtbot, window, tmp_path):
        path = tmp_path / "text.txt"
        path.write_text("".join(f"w{i * 7919 % 5003} " for i in range(30_000)))
        window.open_paths([path])
        qtbot.waitUntil(lambda: window.workspace.frontier > 0, timeout=20_000)
        window.workspace.stop_training()
        qtbot.waitUntil(lambda: not window.workspace.is_training)
        stopped = window.workspace.frontier
        window.workspace.train_ahead()
        qtbot.waitUntil(lambda: window.workspace.is_settled, timeout=30_000)
        assert window.workspace.frontier >= stopped > 0
        assert window.workspace.timeline.stop is not None
