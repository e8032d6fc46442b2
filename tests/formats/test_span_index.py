"""Many texts looked up at once, held to a dictionary."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bpe_viz.formats._span_index import SpanIndex

CONTENTS = st.binary(min_size=1, max_size=40) | st.sampled_from([b"a", b"ab", b"a" * 8, b"a" * 9, b"a\0", b"\0" * 8])


def find(texts: list[bytes], wanted: list[bytes]) -> list[int] | None:
    ends = np.cumsum([len(one) for one in wanted], dtype=np.int64)
    starts = ends - np.array([len(one) for one in wanted], dtype=np.int64)
    found = SpanIndex(texts).find(np.frombuffer(b"".join(wanted), dtype=np.uint8), starts, ends)
    return None if found is None else found.tolist()


@given(texts=st.lists(CONTENTS, min_size=1, max_size=30, unique=True), data=st.data())
def test_every_text_is_found_at_its_place(texts, data):
    wanted = data.draw(st.lists(st.sampled_from(texts), max_size=40))
    assert find(texts, wanted) == [texts.index(one) for one in wanted]


@given(texts=st.lists(CONTENTS, min_size=1, max_size=30, unique=True), other=CONTENTS)
def test_what_is_no_text_is_not_found(texts, other):
    assert find(texts, [texts[0], other]) == ([0, texts.index(other)] if other in texts else None)


def test_thousands_of_texts_are_told_apart():
    texts = [str(number).encode() for number in range(30_000)]
    assert find(texts, texts[::-1]) == list(range(30_000))[::-1]
