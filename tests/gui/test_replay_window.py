"""A tokenizer's merges, replayed on a text in the window."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from bpe_viz.engine.corpus import count_paths, count_text
from bpe_viz.engine.pretoken_counts import PretokenCounts
from bpe_viz.engine.symbols import BaseVocabulary
from bpe_viz.engine.tokenizer import Tokenizer
from bpe_viz.engine.trainer import Trainer
from bpe_viz.engine.types import CountingOptions, Options
from bpe_viz.formats import load_tokenizer, save_tokenizer
from bpe_viz.gui.chips import ChipStyle
from bpe_viz.gui.lacking_characters import LackingCharacters
from bpe_viz.gui.panels.histogram import HistogramPanel
from bpe_viz.gui.panels.merge_list import MergeListPanel
from bpe_viz.gui.panels.narration import NarrationPanel
from bpe_viz.gui.panels.timeline import TimelinePanel
from bpe_viz.gui.panels.word_splits import WordSplitsPanel
from bpe_viz.gui.sources import file_source
from tests.gui.opened import MERGES, OTHER, TEXT, tokenizer_json, wait_until_open, window


@pytest.fixture
def made(qtbot, settings, look):
    """A window that shows nothing yet."""
    made = window(qtbot, settings, look)
    yield made
    made.close()


def replay(qtbot, made, folder: Path, text: str):
    path = folder / "text.txt"
    path.write_text(text)
    made.open_paths([tokenizer_json(folder), path])
    wait_until_open(qtbot, made.workspace, lambda: made.workspace.frontier == MERGES)
    qtbot.waitUntil(lambda: made.workspace.timeline.stop is not None and made.workspace.is_settled)
    return made


def panel(made, kind):
    return made.findChild(kind)


def seek(qtbot, made, position):
    made.workspace.seek(position)
    qtbot.waitUntil(lambda: made.workspace.is_settled and made.workspace.frame.position == position)


def test_the_list_has_the_counts_of_the_text(qtbot, made, tmp_path):
    replay(qtbot, made, tmp_path, OTHER)
    tokenizer = load_tokenizer(tmp_path / "cats.json")
    corpus = count_paths([tmp_path / "text.txt"], tokenizer.counting)
    counted = 0
    for row in range(len(corpus.pretokens)):
        split = list(corpus.pretokens.content(row))
        pairs = list(pairwise(split))
        counted += pairs.count(tuple(tokenizer.pairs[0])) * int(corpus.pretokens.counts[row])
    assert panel(made, MergeListPanel).rows_view.texts.row(0).count == counted > 0
    assert made.windowTitle() == "cats.json on text.txt – bpe-viz"
    assert made.workspace.position == 0


def test_the_pair_counts_and_splits_are_those_of_the_position(qtbot, made, tmp_path):
    replay(qtbot, made, tmp_path, OTHER)
    seek(qtbot, made, 1)
    bars = panel(made, HistogramPanel).bars.rows()
    assert bars
    assert not panel(made, HistogramPanel).no_corpus.isVisible()
    tokenizer = load_tokenizer(tmp_path / "cats.json")
    made_text = tokenizer.symbols.label(256).decode().replace(" ", "␣")
    splits = [symbols for _, symbols in panel(made, WordSplitsPanel).shown_rows()]
    assert any(made_text in symbols for symbols in splits)
    assert all(bar.mark != "next" or bar.pair in made.workspace.frame.next_pairs for bar in bars)


@pytest.fixture
def of_letters(tmp_path: Path) -> Path:
    """A tokenizer whose base is the letters of its text, without an unknown token."""
    options = Options().with_training(base="characters", end_of_word="glued", merges=6).with_counting(pattern=r"\S+")
    corpus = count_text(TEXT, options.counting)
    trainer = Trainer(corpus.pretokens, options.training, 0)
    trainer.train_to()
    path = tmp_path / "letters.codes"
    save_tokenizer(Tokenizer.from_timeline(trainer.timeline, options.counting), path)
    return path


def test_a_letter_that_the_base_lacks_is_a_gap_with_that_letter(qtbot, made, tmp_path, of_letters):
    text = tmp_path / "text.txt"
    text.write_text("*the* naïve cat ĳĳ ï")
    made.open_paths([of_letters, text])
    wait_until_open(qtbot, made.workspace, lambda: made.workspace.timeline.stop is not None)
    splits, rows = panel(made, WordSplitsPanel), panel(made, WordSplitsPanel).rows_view
    for position in (0, 6):
        seek(qtbot, made, position)
        shown = ["|".join(symbols) for _, symbols in splits.shown_rows()]
        assert {"ĳ|ĳ", "ï"} <= set(shown)
        assert any(symbols.startswith("*|") and symbols.endswith("|*") for symbols in shown)
        styles = dict(zip(shown, rows.shown_styles(), strict=True))
        assert styles["ĳ|ĳ"] == [ChipStyle.GAP, ChipStyle.GAP]
        assert sum(style is ChipStyle.GAP for row in styles.values() for style in row) >= 5
    for typed, rows_kept in (("[ĳ]", 0), ("[ï]", 0), ("[a]", 1), ("ĳ", 1), ("[≠]", 0)):
        splits.filter_field.setText(typed)
        qtbot.waitUntil(lambda kept=rows_kept: splits.filtered_count.text().startswith(f"{kept} of "))
    splits.filter_field.clear()
    qtbot.waitUntil(lambda: splits.filtered_count.text() == "" and made.workspace.is_settled)
    shown = ["|".join(symbols) for _, symbols in splits.shown_rows()]
    place = shown.index("ĳ|ĳ")
    box = rows.symbol_box(place, 1)
    assert rows.tooltip_text(box.center()).startswith("ĳ\nUnknown character")
    rows.press(place, box.center().x())
    assert made.workspace.selection is None
    made.grab()


def test_a_gap_is_not_guessed_where_symbols_do_not_spell_the_text():
    base = BaseVocabulary("characters", "none", "", (b"a", b"<0x0A>"), (False, False))
    symbols = Tokenizer.from_merges(base, [], CountingOptions(pattern=".+")).symbols
    pretokens = PretokenCounts.from_counter({"aéa": 1, "\né": 1})
    lacking = LackingCharacters(pretokens, symbols)
    assert lacking.at(0, (0, -1, 0), 1) == "é".encode()
    assert lacking.at(1, (1, -1), 1) == b""


def test_on_its_own_text_the_list_departs_nowhere(qtbot, made, tmp_path):
    replay(qtbot, made, tmp_path, TEXT)
    assert panel(made, TimelinePanel).scrubber.departing() == []
    seek(qtbot, made, 3)
    assert "training on it would do the same" in panel(made, NarrationPanel).text


def test_that_no_split_differs_is_said(qtbot, made, tmp_path):
    replay(qtbot, made, tmp_path, TEXT)
    splits = panel(made, WordSplitsPanel)
    splits.filter_field.setText("[≠]")
    qtbot.waitUntil(lambda: splits.filtered_count.text().startswith("0 of "))
    assert splits.rows_view.empty_text() == (
        "Every pre-token ends in the split that the tokenizer's own library gives."
    )


def test_where_training_would_have_merged_something_else_is_marked_and_said(qtbot, made, tmp_path):
    replay(qtbot, made, tmp_path, OTHER)
    timeline = made.workspace.timeline
    departing = [rank for rank in range(MERGES) if timeline.expected(rank) is not None]
    assert departing
    stretches = panel(made, TimelinePanel).scrubber.departing()
    assert stretches
    assert all(0 < share <= 1 for _, _, share in stretches)
    rank = departing[0]
    texts = panel(made, MergeListPanel).rows_view.texts
    assert "departs" in texts.row(rank).notes
    assert "training on this text would have merged" in texts.describe(rank)
    seek(qtbot, made, rank + 1)
    expected = timeline.expected(rank).instead_of
    assert f"counted {expected.count:,} against {timeline.merge(rank).count:,}" in panel(made, NarrationPanel).text


def test_what_does_not_occur_is_passed_over(qtbot, made, tmp_path):
    replay(qtbot, made, tmp_path, OTHER)
    counts = [merge.count for merge in made.workspace.timeline.merges()]
    assert 0 in counts
    occurring = [rank + 1 for rank, count in enumerate(counts) if count]
    visited = []
    for _ in occurring:
        made.actions_table.run("next-occurring")
        visited.append(made.workspace.position)
    assert visited == occurring
    seek(qtbot, made, made.workspace.position)
    made.actions_table.run("previous-occurring")
    assert made.workspace.position == occurring[-2]


def test_the_text_is_encoded_by_the_tokenizer_itself(qtbot, made, tmp_path):
    replay(qtbot, made, tmp_path, OTHER)
    made.workspace.encoder.set_text("the hat<|end|>")
    qtbot.waitUntil(lambda: made.workspace.is_settled and made.workspace.encoder.encoded.text == "the hat<|end|>")
    ids = made.workspace.encoder.encoded.at(MERGES).ids.tolist()
    assert ids == load_tokenizer(tmp_path / "cats.json").encode("the hat<|end|>").ids


def test_a_new_tokenizer_is_trained_on_the_text_after_all(qtbot, made, tmp_path):
    replay(qtbot, made, tmp_path, OTHER)
    assert made.actions_table.run("train-on-corpus")
    qtbot.waitUntil(lambda: made.workspace.tokenizer is None and made.workspace.is_settled)
    assert made.workspace.corpus.name == "text.txt"


def test_another_text_is_replayed_on(qtbot, made, tmp_path):
    replay(qtbot, made, tmp_path, OTHER)
    more = tmp_path / "more.txt"
    more.write_text(TEXT)
    made.opener.replay(file_source([more]))
    qtbot.waitUntil(lambda: made.workspace.corpus.name == "more.txt" and made.workspace.frontier == MERGES)
    assert made.workspace.tokenizer.name == "cats.json"


def test_departures_are_counted_and_gone_to(qtbot, made, tmp_path):
    replay(qtbot, made, tmp_path, OTHER)
    departing = np.flatnonzero(made.workspace.merges.departs()) + 1
    button = panel(made, MergeListPanel).departures
    assert button.full_text == f"{len(departing)}"
    visited = []
    for _ in departing:
        button.click()
        visited.append(made.workspace.position)
    assert visited == departing.tolist()
    made.actions_table.run("next-departing")
    assert made.workspace.position == MERGES
    made.workspace.seek(int(departing[-1]))
    made.actions_table.run("previous-departing")
    assert made.workspace.position == departing[-2]


def test_on_its_own_text_no_departures_are_offered(qtbot, made, tmp_path):
    replay(qtbot, made, tmp_path, TEXT)
    assert panel(made, MergeListPanel).departures.isHidden()


def test_why_no_other_pair_is_merged_is_said_where_it_would_be_asked_for(qtbot, made, tmp_path):
    replay(qtbot, made, tmp_path, OTHER)
    bars = panel(made, HistogramPanel).bars
    other = next(row for row in bars.rows() if row.mark != "next")
    (action,) = bars.menu_of(other).actions()
    assert not action.isEnabled()
    assert "stands as it is" in action.toolTip()
    assert "Train a new tokenizer" in action.toolTip()
    assert "stands as it is" in bars.tooltip(other)
    titles = {spec.id: spec.shown_title for spec in made.actions_table.specs}
    assert "stands as it is" in titles["branch"]
    assert not made.actions_table.run("branch")


def test_words_that_end_in_another_split_are_filtered(qtbot, made, tmp_path):
    replay(qtbot, made, tmp_path, OTHER)
    words = panel(made, WordSplitsPanel)
    words.filter_field.setText("[≠]")
    words.filter_field.returnPressed.emit()
    qtbot.waitUntil(lambda: made.workspace.is_settled)
    assert set(made.workspace.listing.rows.order.tolist()) == made.workspace.timeline.differing
