"""First symbols as the tokenizers library looks them up; tests/formats/test_bpe_model.py holds them to it."""

from __future__ import annotations

import pytest

from bpe_viz.engine.model_base import FirstSymbols, ModelBase
from bpe_viz.engine.symbols import GAP
from bpe_viz.errors import FormatError

AB = {b"a": 0, b"b": 1}


def base(**lookup) -> ModelBase:
    tables = {name: lookup.pop(name, AB) for name in ("only", "first", "inner", "last")}
    return ModelBase("characters", "none", "</w>", (b"a", b"b"), (False, False), FirstSymbols(**tables, **lookup))


def test_what_is_left_out_counts_to_a_neighbour():
    left_out = base()
    assert left_out.start("xaé€b!".encode()) == ([0, 1], [1 + 1 + 2 + 3, 1 + 1])
    assert left_out.left_out("xaé€b!".encode()) == 4
    assert left_out.start(b"xyz") == ([], [])


def test_unknown_characters_are_one_token_each_or_one_in_a_row():
    assert base(unknown=GAP).start("xéa!".encode()) == ([GAP, GAP, 0, GAP], [1, 2, 1, 1])
    assert base(unknown=7, fuses=True).start("xéa!".encode()) == ([7, 0, 7], [3, 1, 1])
    assert base(unknown=GAP).left_out(b"xa") == 0


def test_characters_fall_apart_into_bytes_only_if_all_of_them_are_tokens():
    of_byte = {0xC3: 10, 0xA9: 11}
    assert base(of_byte=of_byte, unknown=GAP).start("éaè".encode()) == ([10, 11, 0, GAP], [1, 1, 1, 2])


def test_the_place_in_a_word_decides():
    placed = base(only={b"a": 2}, first={b"a": 3}, inner={b"a": 4}, last={b"a": 5})
    assert placed.start(b"a")[0] == [2]
    assert placed.start(b"aaa")[0] == [3, 4, 5]
    assert [array.tolist() for array in placed.arrays(b"aaa")] == [[3, 4, 5], [1, 1, 1]]


def test_an_unknown_token_that_is_none_is_an_error_when_it_is_needed():
    lacking = base(lacking="<unk>")
    assert lacking.start(b"ab")[0] == [0, 1]
    with pytest.raises(FormatError, match="lacks 'x', and its unknown token '<unk>' as well"):
        lacking.start(b"ax")
