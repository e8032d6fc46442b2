"""Random small corpora and options."""

from __future__ import annotations

from hypothesis import strategies as st

from bpe_viz.engine.types import TrainingOptions

# Few letters, so that runs, overlaps and ties are common; and letters of one to four bytes.
LETTERS = "aab c\nd\0é€😀</w>"

words = st.text(alphabet=LETTERS, min_size=1, max_size=12)
corpora = st.dictionaries(words, st.integers(min_value=1, max_value=9), min_size=1, max_size=8)
runs = st.dictionaries(st.text(alphabet="ab", min_size=1, max_size=25), st.integers(1, 3), min_size=1, max_size=4)

options = st.builds(
    TrainingOptions,
    base=st.sampled_from(["bytes", "characters"]),
    end_of_word=st.sampled_from(["none", "separate", "glued"]),
    weights=st.sampled_from(["counts", "types"]),
    min_count=st.integers(1, 3),
    merges=st.integers(0, 60),
)
