"""The merge list of a tokenizer, entry by entry, and what is said of an entry."""

from __future__ import annotations

import pytest

from bpe_viz.engine.compiled import PLAIN
from bpe_viz.engine.list_narration import narrate_listed, narrate_no_merges
from bpe_viz.engine.merge_list import ListedMerges
from bpe_viz.engine.narration import sentence
from bpe_viz.engine.replay_narration import narrate_replay
from bpe_viz.engine.types import NO_SYMBOL, Pair
from tests.engine.test_replay import listed, ranked, replayed


def said(merges: ListedMerges, position: int) -> str:
    frame = merges.frame(position)
    return sentence(narrate_listed(frame, merges.joins), frame.symbols)


def test_entries_of_pairs_are_their_pairs():
    merges = ListedMerges(listed([("a", "b"), ("ab", "c")]))
    assert merges.frontier == 2
    assert not merges.is_counted
    assert merges.merge(1).pair == Pair(256, ord("c"))
    assert merges.rank_of(Pair(ord("a"), ord("b"))) == 0
    assert merges.rank_of(Pair(ord("b"), ord("a"))) is None
    assert merges.stop == "end of list"
    assert not merges.departs().any()
    with pytest.raises(IndexError, match="no merge of rank 2"):
        merges.merge(2)


def test_entries_of_ranks_are_tokens_with_the_pair_that_their_bytes_merge_to():
    merges = ListedMerges(ranked(["ab", "abc", "xyz"]))
    assert merges.joins
    assert merges.merge(1).pair == Pair(256, ord("c"))
    orphan = merges.merge(2)
    assert (orphan.left, orphan.right, orphan.pair) == (NO_SYMBOL, NO_SYMBOL, None)


def test_frames_hold_the_entries_around_a_position_and_no_pairs():
    merges = ListedMerges(listed([("a", "b"), ("ab", "c")]))
    first, middle, last = (merges.frame(position) for position in range(3))
    assert (first.made, first.next.rank) == (None, 0)
    assert (middle.made.rank, middle.next.rank) == (0, 1)
    assert (last.made.rank, last.next, last.stop) == (1, None, "end of list")
    assert not middle.top
    with pytest.raises(IndexError, match="position 3"):
        merges.frame(3)


def test_the_sentence_on_a_pair():
    merges = ListedMerges(listed([("a", "b"), ("ab", "c")]))
    assert said(merges, 0) == "No merge yet.  Next: a + b."
    assert said(merges, 1) == "Merge 1  a + b → ab wherever the two stand side by side.  Next: ab + c."
    assert said(merges, 2).endswith("The list ends here: this is the whole tokenizer.")


def test_the_sentence_on_a_token_of_joined_bytes():
    merges = ListedMerges(ranked(["ab", "xyz"]))
    assert said(merges, 1) == "Entry 1  ab is made of any two neighbours that join to it, such as a + b.  Next: xyz."
    assert said(merges, 2).startswith("Entry 2  xyz is no two tokens' join: only a whole pre-token becomes it.")


def test_the_sentence_where_there_are_no_merges():
    assert narrate_no_merges("Unigram", "Its pieces have scores.")[0].text == "This is not BPE but Unigram."
    said = narrate_no_merges("WordPiece", "This is not BPE but WordPiece: there are no merges.")
    assert [words.text for words in said] == ["This is not BPE but WordPiece:", " there are no merges."]
    assert narrate_no_merges("BPE", "")[0].text == "No merges."


def test_the_sentence_on_an_entry_that_is_replayed():
    timeline = replayed(listed([("x", "y"), ("a", "b")]), {"abab": 2, "cd": 5}).timeline
    reader = timeline.reader(PLAIN)

    def narrated(position: int) -> str:
        frame = reader.frame(position)
        return sentence(narrate_replay(frame, timeline), frame.symbols)

    assert narrated(1) == (
        "Merge 1  x + y → xy does not occur in this text; training on it would have merged c + d here, counted 5 "
        "against 0.  Next: a + b, counted 4."
    )
    assert "is counted 4 times in this text; training on it would have merged c + d" in narrated(2)
