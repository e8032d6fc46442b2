import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_viz.engine import compiled, kernels_keys
from bpe_viz.engine.kernels_keys import LONG_KEY, SHORT_BYTES, key_of, mixed, same_bytes

CONTENTS = st.binary(min_size=1, max_size=40)


@pytest.fixture(scope="module")
def fast():
    return compiled.load().of(kernels_keys)


@given(a=CONTENTS, b=CONTENTS)
def test_different_bytes_have_different_keys_or_long_ones(a, b):
    first, second = key_of(a, 0, len(a)), key_of(b, 0, len(b))
    assert (first == second) == (a == b) or (len(a) == len(b) > SHORT_BYTES)
    assert [key[1] >> 56 for key in (first, second)] == [
        len(one) if len(one) <= SHORT_BYTES else LONG_KEY for one in (a, b)
    ]


@given(content=CONTENTS, before=st.binary(max_size=3), after=st.binary(max_size=20))
def test_what_stands_around_does_not_count(content, before, after):
    assert key_of(before + content + after, len(before), len(content)) == key_of(content, 0, len(content))


@given(content=st.binary(min_size=SHORT_BYTES + 1, max_size=60), data=st.data())
def test_every_byte_of_a_long_one_counts(content, data):
    place = data.draw(st.integers(0, len(content) - 1))
    other = bytearray(content)
    other[place] ^= data.draw(st.integers(1, 255))
    # Of 2**56 values: two that meet would be a wonder, not a fault, but these never do.
    assert key_of(bytes(other), 0, len(content)) != key_of(content, 0, len(content))


@given(content=CONTENTS, after=st.binary(max_size=20))
def test_compiled_keys_are_the_plain_ones(fast, content, after):
    array = np.frombuffer(content + after, dtype=np.uint8)
    key = key_of(content + after, 0, len(content))
    assert fast.key_of(array, 0, len(content)) == key
    assert fast.mixed(*key) == mixed(*key) >= 0


def test_same_bytes_looks_at_all_of_them():
    assert same_bytes(b"xabc", 1, b"abcy", 0, 3)
    assert not same_bytes(b"xabd", 1, b"abcy", 0, 3)
