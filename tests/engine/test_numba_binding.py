"""Arrays that are bound to compiled kernels, and how these index them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np
import pytest

from bpe_viz.engine.compiled import PLAIN, load


class Inner(NamedTuple):
    numbers: Any
    octets: Any


class Outer(NamedTuple):
    one: Inner
    other: Inner


def outer() -> Outer:
    numbers, octets = np.arange(5, dtype=np.int64), np.arange(250, 256, dtype=np.uint8)
    return Outer(Inner(numbers, octets), Inner(numbers * 100, octets[2:]))


def last_and_first(outer, wanted):
    one, other = outer.one, outer.other
    other.numbers[0] = wanted
    return one.numbers[len(one.numbers) - 1], other.octets[0], len(other.octets), other.numbers[0]


def test_a_compiled_function_reads_and_writes_what_is_bound():
    arrays = outer()
    compiled = numba.njit(_nrt=False)(last_and_first)
    assert compiled(load().bind(arrays), 7) == (4, 252, 4, 7) == last_and_first(PLAIN.bind(arrays), 7)
    assert arrays.other.numbers[0] == 7
    assert compiled(load().bind(outer()), 8)[3] == 8
    assert len(compiled.signatures) == 1  # of one type, whatever the arrays


def test_arrays_live_as_long_as_what_they_are_bound_to():
    bound = load().bind(outer())
    garbage = [np.full(5, 99, dtype=np.int64) for _ in range(100)]
    assert numba.njit(_nrt=False)(last_and_first)(bound, 1) == (4, 252, 4, 1)
    assert len(garbage) == 100


@pytest.mark.parametrize("wrong", [np.arange(10)[::2], np.zeros((2, 2))])
def test_only_flat_arrays_are_bound(wrong):
    with pytest.raises(ValueError, match="flat"):
        load().bind(Outer(Inner(wrong, wrong), Inner(wrong, wrong)))


def test_a_slice_is_indexed_from_its_own_beginning():
    load()

    @numba.njit(_nrt=False)
    def third_of(array, start, end):
        part = array[start:end]
        part[0] = 50
        return part[2], len(part)

    array = np.arange(10, dtype=np.int32)
    assert third_of(array, 3, 9) == (5, 6)
    assert array[3] == 50
