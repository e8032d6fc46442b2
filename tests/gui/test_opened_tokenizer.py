"""A tokenizer that is opened alone, in the window."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QDialog

from bpe_viz.engine.types import Pair
from bpe_viz.formats import load_tokenizer
from bpe_viz.gui.chips import ChipStyle
from bpe_viz.gui.choice_dialog import ChoiceDialog
from bpe_viz.gui.decode_page import MOST_CHIPS
from bpe_viz.gui.panels.encode import EncodePanel
from bpe_viz.gui.panels.histogram import HistogramPanel
from bpe_viz.gui.panels.merge_list import MergeListPanel
from bpe_viz.gui.panels.narration import NarrationPanel
from bpe_viz.gui.panels.timeline import TimelinePanel
from bpe_viz.gui.panels.word_splits import WordSplitsPanel
from bpe_viz.gui.pretokenizer_dialog import PretokenizerDialog
from bpe_viz.gui.sources import file_source
from bpe_viz.gui.token_colours import special_spans
from tests.gui.opened import GPT2, MERGES, ranks, tokenizer_json, wait_until_open, window


@pytest.fixture
def cats(tmp_path: Path) -> Path:
    return tokenizer_json(tmp_path)


@pytest.fixture
def made(qtbot, settings, look):
    """A window that shows nothing yet."""
    made = window(qtbot, settings, look)
    yield made
    made.close()


@pytest.fixture
def opened(qtbot, made, cats):
    """A window with a tokenizer alone."""
    made.open_paths([cats])
    wait_until_open(qtbot, made.workspace)
    return made


def panel(made, kind):
    return made.findChild(kind)


def seek(qtbot, made, position):
    made.workspace.seek(position)
    qtbot.waitUntil(lambda: made.workspace.is_settled and made.workspace.frame.position == position)


def test_a_file_that_is_dropped_opens_at_the_end_of_its_list(qtbot, made, cats):
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(cats))])
    made.dropEvent(
        QDropEvent(
            QPointF(9, 9), Qt.DropAction.CopyAction, mime, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
        )
    )
    wait_until_open(qtbot, made.workspace)
    assert made.workspace.position == made.workspace.last_position == MERGES
    assert made.windowTitle() == "cats.json – bpe-viz"
    assert made.settings.recent_tokenizers == (str(cats),)


def test_the_merge_list_shows_entries_without_counts(qtbot, opened, cats):
    tokenizer = load_tokenizer(cats)
    rows = panel(opened, MergeListPanel).rows_view
    assert rows.row_count == MERGES
    row = rows.texts.row(0)
    left, right = tokenizer.pairs[0]
    assert row.count is None
    assert [text.replace("␣", " ") for text in row.symbols] == [
        tokenizer.symbols.label(symbol).decode() for symbol in (left, right, 256)
    ]
    assert f"id {tokenizer.id_of(256)}," in rows.texts.describe(0)
    assert "counted" not in rows.texts.describe(0)


@pytest.mark.parametrize("position", [0, 1, 7, MERGES - 1, MERGES])
def test_a_text_is_encoded_as_the_first_entries_would(qtbot, opened, cats, position):
    text = "the cat that sat, other"
    opened.workspace.encoder.set_text(text)
    seek(qtbot, opened, position)
    qtbot.waitUntil(lambda: opened.workspace.encoder.encoded.text == text)
    spans = panel(opened, EncodePanel).spans
    assert spans.tokens.ids.tolist() == load_tokenizer(cats).at(position).encode(text).ids


def test_the_scrubber_shows_the_curve_of_the_text(qtbot, opened):
    opened.workspace.encoder.set_text("the cat sat on the mat")
    qtbot.waitUntil(lambda: opened.workspace.encoder.encoded.text.endswith("mat") and opened.workspace.is_settled)
    heights = [point.y() for point in panel(opened, TimelinePanel).scrubber.curve()]
    assert len(heights) > 2
    assert heights == sorted(heights)  # tokens get fewer, and y grows downward
    assert heights[0] < heights[-1]


def test_panels_of_counts_say_that_there_is_no_text_and_offer_one(qtbot, opened):
    for kind in (HistogramPanel, WordSplitsPanel):
        page = panel(opened, kind).no_corpus
        assert page.isVisible()
        assert "without a text" in page.text
        with qtbot.waitSignal(opened.workspace.corpus_wanted):
            # The window would ask for a file.
            opened.workspace.corpus_wanted.disconnect(opened.opener.ask_replay_text)
            page.open_button.click()
        opened.workspace.corpus_wanted.connect(opened.opener.ask_replay_text)


def test_the_sentence_says_what_an_entry_merges_and_where_the_list_ends(qtbot, opened):
    narration = panel(opened, NarrationPanel)
    assert "The list ends here" in narration.text
    seek(qtbot, opened, 1)
    assert narration.text.startswith("Merge 1  ")
    assert "wherever the two stand side by side" in narration.text
    seek(qtbot, opened, 0)
    assert narration.text.startswith("No merge yet.")


def test_the_list_is_stepped_played_and_searched_like_a_training(qtbot, opened):
    workspace = opened.workspace
    workspace.jump(0)
    opened.actions_table.run("next")
    assert workspace.position == 1
    workspace.player.toggle_breakpoint(9)
    workspace.player.set_speed(1000)
    workspace.player.play()
    qtbot.waitUntil(lambda: not workspace.player.is_playing)
    assert workspace.position == 9
    merges = panel(opened, MergeListPanel)
    merges.find_field.setText("cat")
    qtbot.waitUntil(lambda: bool(merges.hits) and not merges.is_searching)
    labels = [workspace.merges.symbols.label(len(workspace.merges.base) + hit) for hit in merges.hits]
    assert labels
    assert all(b"cat" in label for label in labels)


def test_no_pair_is_merged_instead(qtbot, opened):
    with qtbot.waitSignal(opened.workspace.failed) as failed:
        opened.workspace.branch(Pair(97, 98))
    assert "stands as it is" in str(failed.args[0])
    assert not opened.workspace.branches.lines


def test_a_list_of_ranks_asks_how_text_is_cut(qtbot, made, tmp_path):
    path = ranks(tmp_path)
    made.open_paths([path])
    qtbot.waitUntil(lambda: made.findChild(PretokenizerDialog) is not None)
    dialog = made.findChild(PretokenizerDialog)
    assert not dialog.open_button.isEnabled()
    assert dialog.choice.currentIndex() == -1
    dialog.choice.setCurrentIndex(dialog.choice.count() - 1)
    dialog.pattern.setText("(")
    dialog.open_button.click()
    assert dialog.result() == QDialog.DialogCode.Rejected
    assert dialog.fault.text()
    dialog.choice.setCurrentIndex(dialog.choice.findData("gpt2"))
    dialog.open_button.click()
    wait_until_open(qtbot, made.workspace)
    assert made.workspace.tokenizer.counting == GPT2
    assert "any two neighbours that join to it" in panel(made, NarrationPanel).text


# --- special tokens ---


def test_special_tokens_are_tokens_text_or_an_error(qtbot, opened):
    workspace, encode = opened.workspace, panel(opened, EncodePanel)
    text, special = "cat<|end|>cat", workspace.tokenizer.special_ids["<|end|>"]
    workspace.encoder.set_text(text)
    qtbot.waitUntil(lambda: workspace.is_settled and workspace.encoder.encoded.text == text)
    assert encode.special_button.isVisible()
    assert special in encode.spans.tokens.ids
    assert special_spans(encode.spans).sum() == 1
    workspace.encoder.treat_special_text("text")
    qtbot.waitUntil(lambda: workspace.is_settled and special not in workspace.encoder.encoded.at(MERGES).ids)
    assert not special_spans(encode.spans).any()
    with qtbot.waitSignal(workspace.encoder.refused):
        workspace.encoder.treat_special_text("error")
    assert encode.spans is None
    assert encode.refusal.isVisible()
    assert "'<|end|>' at character 4" in encode.refusal.text()
    workspace.encoder.set_text("cat")
    qtbot.waitUntil(lambda: encode.spans is not None)
    assert not encode.refusal.isVisible()


# --- what is not BPE ---


@pytest.fixture
def word_piece(tmp_path: Path) -> Path:
    tokenizers = pytest.importorskip("tokenizers")
    vocabulary = {token: number for number, token in enumerate(["[UNK]", "cat", "##s", "the"])}
    library = tokenizers.Tokenizer(tokenizers.models.WordPiece(vocabulary, unk_token="[UNK]"))
    library.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    path = tmp_path / "words.json"
    library.save(str(path))
    return path


def test_word_piece_colours_text_and_says_that_there_are_no_merges(qtbot, made, word_piece):
    made.open_paths([word_piece])
    wait_until_open(qtbot, made.workspace)
    made.workspace.encoder.set_text("the cats dog")
    qtbot.waitUntil(lambda: made.workspace.is_settled and made.workspace.encoder.encoded.text == "the cats dog")
    encode, timeline = panel(made, EncodePanel), panel(made, TimelinePanel)
    assert encode.spans.tokens.ids.tolist() == [3, 1, 2, 0]
    assert "not BPE: WordPiece" in encode.split_label.text()
    assert panel(made, NarrationPanel).text.startswith("This is not BPE but WordPiece: there are")
    assert "not BPE" not in made.messages.text
    for button in (timeline.back, timeline.on, timeline.play):
        assert not button.isEnabled()
        assert "not BPE but WordPiece" in button.toolTip()
    assert "not BPE" in panel(made, HistogramPanel).no_corpus.text
    assert not panel(made, HistogramPanel).no_corpus.open_button.isVisible()
    assert not made.actions_table.run("replay")


# --- a text beside it ---


def test_a_text_beside_a_tokenizer_is_asked_about(qtbot, opened, tmp_path):
    text = tmp_path / "other.txt"
    text.write_text("a hat that has no heat")
    opened.open_paths([text])
    dialog = opened.findChild(ChoiceDialog)
    assert [button.text() for button in dialog.buttons] == ["Replay cats.json on it", "Train a new tokenizer on it"]
    dialog.buttons[1].click()
    qtbot.waitUntil(lambda: opened.workspace.tokenizer is None and opened.workspace.corpus is not None)
    assert opened.workspace.corpus.name == "other.txt"


def test_a_tokenizer_beside_a_text_is_asked_about_but_not_beside_the_worked_example(qtbot, made, cats, tmp_path):
    text = tmp_path / "other.txt"
    text.write_text("a hat that has no heat")
    made.open_example()
    qtbot.waitUntil(lambda: made.workspace.is_settled)
    made.open_paths([cats])
    wait_until_open(qtbot, made.workspace)
    made.open_source(file_source([text]))
    qtbot.waitUntil(lambda: made.workspace.tokenizer is None and made.workspace.is_settled)
    made.open_paths([cats])
    dialog = made.findChild(ChoiceDialog)
    assert [button.text() for button in dialog.buttons] == ["Open it alone", "Replay it on other.txt"]
    dialog.buttons[1].click()
    wait_until_open(qtbot, made.workspace, lambda: made.workspace.corpus is not None)
    assert made.workspace.corpus.name == "other.txt"


def test_a_text_that_could_not_be_opened_is_offered_for_no_replay(qtbot, made, tmp_path):
    text, empty = tmp_path / "other.txt", tmp_path / "empty.txt"
    text.write_text("a hat that has no heat; the hen and the hat. " * 4)
    empty.touch()
    cats = tokenizer_json(tmp_path)
    made.open_paths([text])
    qtbot.waitUntil(lambda: made.workspace.corpus is not None and made.workspace.is_settled)
    made.open_paths([empty])
    qtbot.waitUntil(lambda: "empty.txt" in made.messages.text)
    made.change_options(made.workspace.options.with_training(rule="rustbpe"))
    qtbot.waitUntil(lambda: made.workspace.options.training.rule == "rustbpe" and made.workspace.is_settled)
    made.open_paths([cats])
    dialog = made.findChild(ChoiceDialog)
    assert [button.text() for button in dialog.buttons] == ["Open it alone", "Replay it on other.txt"]
    dialog.buttons[1].click()
    wait_until_open(qtbot, made.workspace, lambda: made.workspace.corpus is not None)
    assert made.corpus_to_train_on.name == "other.txt"


def test_beside_the_worked_example_a_tokenizer_is_opened_alone(qtbot, made, tmp_path):
    empty = tmp_path / "empty.txt"
    empty.touch()
    made.open_example()
    qtbot.waitUntil(lambda: made.workspace.corpus is not None and made.workspace.is_settled)
    made.open_paths([empty])
    qtbot.waitUntil(lambda: "empty.txt" in made.messages.text)
    made.open_paths([tokenizer_json(tmp_path)])
    assert made.findChild(ChoiceDialog) is None
    wait_until_open(qtbot, made.workspace)


def test_a_damaged_file_leaves_what_was_shown(qtbot, opened, tmp_path):
    broken = tmp_path / "broken.json"
    broken.write_text(json.dumps({"version": "1.0", "model": {"type": "BPE", "vocab": {"a": 0}}}))
    before = opened.workspace.shown
    opened.open_paths([broken])
    qtbot.waitUntil(lambda: "broken.json" in opened.messages.text)
    assert opened.workspace.shown is before
    # The bar with the message takes room from the panels, which then ask for what they show.
    qtbot.waitUntil(lambda: opened.workspace.is_settled)


def test_special_tokens_are_told_apart_when_decoded(qtbot, made, tmp_path):
    made.open_paths([tokenizer_json(tmp_path)])
    wait_until_open(qtbot, made.workspace)
    special = made.workspace.tokenizer.special_ids["<|end|>"]
    page = made.docks.panel("encode").decode_page
    with qtbot.waitSignal(made.workspace.encoder.decoded):
        page.field.setPlainText(f"97, {special}, 98")
        page.decode()
    assert [chip.style is ChipStyle.SPECIAL for chip in page.chips.chips] == [False, True, False]
    assert "1 special token, with a bold edge" in page.message.text()
    assert "1 special" in [figure.text for figure in page.figures]


def test_many_ids_are_shown_one_slice_after_the_other(qtbot, made, tmp_path):
    made.open_paths([tokenizer_json(tmp_path)])
    wait_until_open(qtbot, made.workspace)
    page = made.docks.panel("encode").decode_page
    pasted = QMimeData()
    pasted.setText(", ".join(["97", "999999", "-3"] * 20_000))
    with qtbot.waitSignal(made.workspace.encoder.decoded):
        page.field.insertFromMimeData(pasted)
        page.decode()
    assert page.field.blockCount() > 100
    qtbot.waitUntil(lambda: len(page.chips.chips) == MOST_CHIPS)
    assert "No token has the id 999999, -3." in page.message.text()
    assert "60,000 ids" in page.message.text()
