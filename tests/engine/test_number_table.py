"""Tables of integers, held to dictionaries."""

from __future__ import annotations

import pickle

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bpe_viz.engine.number_table import NumberTable

KEYS = st.lists(st.integers(0, 12) | st.integers(-(2**62), 2**62), max_size=20) | st.lists(st.integers(0, 30))


@given(keys=KEYS, other=st.integers(-5, 40))
def test_first_and_last_places_are_those_of_a_list(keys, other):
    array = np.array(keys, dtype=np.int64)
    first, last = NumberTable.first_places(array), pickle.loads(pickle.dumps(NumberTable.last_places(array)))
    assert len(first) == len(last) == len(set(keys))
    assert first.keys.tolist() == sorted(set(keys))
    for key in {*keys, other}:
        assert first.get(key) == (keys.index(key) if key in keys else None)
        assert last.get(key) == (len(keys) - 1 - keys[::-1].index(key) if key in keys else None)
