"""What llama.cpp does around merges: of each byte it is told from where in the text it comes."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from bpe_viz.engine.llama_cpp_cutting import Passes, SpecialToken
from bpe_viz.engine.llama_cpp_pipelines import LinesPipeline, LlamaCppPipeline, PiecesPipeline, WordsPipeline
from bpe_viz.engine.pipeline import SetTokens, SpecialText, Stretch
from bpe_viz.engine.pretokenize import Pretokenizer
from bpe_viz.errors import OptionError

BOS, EOS = SpecialToken("<s>", 1), SpecialToken("</s>", 2)
ALWAYS = SpecialToken("<tool>", 3, is_always=True)
MASK = SpecialToken("<mask>", 4, strips_left=True)
SPECIALS = (ALWAYS, MASK, EOS, BOS)


def words(*passes: str, **more: SpecialToken | None) -> WordsPipeline:
    return WordsPipeline("", SPECIALS, more.get("before"), more.get("behind"), Passes(passes).spans)


def shown(pipeline: LlamaCppPipeline, text: str, special_text: SpecialText = "allow", around: bool = True) -> list:
    """Return (pre-tokens, their characters) of each stretch and (id, start, end) of each set token."""
    found: list = []
    for part in pipeline.prepare(text, special_text, around).parts:
        if isinstance(part, SetTokens):
            found += zip(part.ids, part.start.tolist(), part.end.tolist(), strict=True)
        else:
            found.append(([one.decode() for one in part.pretokens], sources(part)))
    return found


def sources(stretch: Stretch) -> list[tuple[int, int]]:
    assert len(stretch.group) == sum(map(len, stretch.pretokens))
    assert stretch.opens.sum() == stretch.closes.sum() == len(stretch.start)
    assert np.array_equal(np.cumsum(stretch.opens) - 1, stretch.group)
    return list(zip(stretch.start.tolist(), stretch.end.tolist(), strict=True))


def test_words_between_special_tokens():
    pipeline = words(r" ?\p{L}+", before=BOS, behind=EOS)
    assert shown(pipeline, "é b<s>字") == [
        (1, 0, 0),
        (["é", " b"], [(0, 1), (1, 2), (2, 3)]),
        (1, 3, 6),
        (["字"], [(6, 7)]),
        (2, 7, 7),
    ]
    assert shown(pipeline, "", around=True) == [(1, 0, 0), (2, 0, 0)]
    assert shown(pipeline, "", around=False) == []


def test_what_special_text_becomes():
    pipeline = words()
    assert shown(pipeline, "<s><tool>", "text") == [(["<s>"], [(0, 1), (1, 2), (2, 3)]), (3, 3, 9)]
    assert shown(pipeline, "<tool>", "error") == [(3, 0, 6)]
    with pytest.raises(OptionError, match=r"special token '<s>' at character 3"):
        pipeline.prepare("a <s>", "error", around=True)


def test_stripped_white_space_is_counted():
    prepared = words().prepare("a \n<mask>", "allow", around=False)
    assert prepared.dropped == 2
    assert "drops 2 of 9 characters" in prepared.notes[0]
    assert words().prepare("a \n<mask>", "text", around=False).dropped == 0


def test_a_pattern_of_the_user_may_leave_gaps():
    given = Pretokenizer("", "", r"\w+", False, "")
    pipeline = WordsPipeline("", SPECIALS, None, None, given.spans)
    assert shown(pipeline, "<s>é, ab") == [(1, 0, 3), (["é", "ab"], [(3, 4), (6, 7), (7, 8)])]
    assert pipeline.prepare("<s>é, ab", "allow", around=True).dropped == 2
    assert shown(pipeline, "..") == [([], [])]


def test_pieces_begin_with_a_space_behind_special_tokens():
    pipeline = PiecesPipeline("", SPECIALS, BOS, None, adds_space=True)
    assert shown(pipeline, "a b</s>c") == [
        (1, 0, 0),
        (["▁a▁b"], [(0, 0), (0, 1), (1, 2), (2, 3)]),
        (2, 3, 7),
        (["▁c"], [(7, 7), (7, 8)]),
    ]
    assert shown(pipeline, "a", around=False) == [(["▁a"], [(0, 0), (0, 1)])]
    assert shown(PiecesPipeline("", SPECIALS, None, None, adds_space=False), "a b") == [
        (["a▁b"], [(0, 1), (1, 2), (2, 3)])
    ]


def test_lines_and_line_ends_that_are_taken_whole():
    pipeline = LinesPipeline("", SPECIALS, BOS, None, {"\n\n": 9})
    assert shown(pipeline, "a b\nc\n\n<s> d") == [
        (1, 0, 0),
        (["a▁b", "\n", "c"], [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)]),
        (9, 5, 7),
        (1, 7, 10),
        (["▁d"], [(10, 11), (11, 12)]),
    ]
    assert shown(pipeline, "\n\n", around=False) == [(9, 0, 2)]
    assert shown(LinesPipeline("", (), None, None, {}), "\n\n") == [(["\n\n"], [(0, 1), (1, 2)])]


def test_lone_surrogates_are_repaired():
    prepared = words().prepare("a\ud800", "allow", around=False)
    assert prepared.parts[0].pretokens == ("a\ufffd".encode(),)
    assert "surrogates" in prepared.notes[0]


def test_options_tell_the_same_only_of_letters_that_both_know():
    plain = WordsPipeline("", (), None, None, Passes(()).spans, is_told_by_options=True)
    assert plain.is_plain_for("aé字")
    assert not plain.is_plain_for("a\u1c8a")
    assert not words().is_plain_for("a")


def test_a_pipeline_goes_to_another_process():
    pipeline = words(r"\p{L}+", before=BOS)
    assert shown(pickle.loads(pickle.dumps(pipeline)), "ab<s>") == shown(pipeline, "ab<s>")
