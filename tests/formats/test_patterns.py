"""Patterns of tiktoken mean the same here, or are refused."""

from __future__ import annotations

from pathlib import Path

import pytest
import regex

from bpe_viz.engine.pretokenize import PRETOKENIZERS, pretokenizer_for
from bpe_viz.errors import FormatError
from bpe_viz.formats._patterns import counting_for, read_tiktoken_pattern
from bpe_viz.formats._split_patterns import PROBES
from tests.formats.ranks import BYTES, in_tiktoken

PATH = Path("x.json")
# Source: tiktoken 0.14, tiktoken_ext/openai_public.py.
CL100K = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]"
    r"|\s+(?!\S)|\s"
)


@pytest.mark.parametrize("entry", PRETOKENIZERS.values(), ids=lambda entry: entry.name)
def test_named_patterns_are_read_as_they_are(entry):
    if entry.pattern is not None:
        assert read_tiktoken_pattern(PATH, "pat_str", entry.pattern) == entry.pattern
        found = counting_for(entry.pattern, ())
        assert pretokenizer_for(found).pattern == entry.pattern
        assert found.pattern is None


@pytest.mark.parametrize(
    "foreign",
    ["[a&&b]", "[a--b]", "[a[b]]", "[[:alpha:]]", r"\h", r"a\z", r"\Aa", r"\x{41}", r"\<a", "(?x)a", "(?P<n>a)",
     "(?i:i)", "(?i)x(i)", "a{,3}", "a{e<=1}", r"\X", r"\K", "(?#c)a", "(?R)"],
)  # fmt: skip
def test_what_may_mean_something_else_is_refused(foreign):
    with pytest.raises(FormatError, match="may mean something else"):
        read_tiktoken_pattern(PATH, "pat_str", foreign)


@pytest.mark.parametrize(
    "pattern",
    [CL100K, "a$", r"\S+$|\s", r"[$a]+", r"\w+|\W", r"\d+|\D", r"(?i:'s|k)|.", r"(?i:s)i|[i]",
     r"(?<!a)b|(?<=a)c|(?>x+)", r"[^\]x]+", r"[]x]+", r"\p{Lu}\p{^L}", r"(?s:.)",
     r"(?i)é|ß", r"\bfor\b|\B.", "a&&b|--|~", r"(\w)\1|."],
)  # fmt: skip
def test_what_is_read_matches_what_tiktoken_matches(pattern):
    pytest.importorskip("tiktoken")
    library = in_tiktoken({byte: rank for rank, byte in enumerate(BYTES)}, pattern)
    ours = pretokenizer_for(counting_for(read_tiktoken_pattern(PATH, "pat_str", pattern), ()))
    for probe in (*PROBES, "a", "a\n", "xx]i$ $\n", "Kk ſs", "for x in before: a&&b -- ~"):
        # The library leaves out what no match covers.
        assert library.decode(library.encode_ordinary(probe)) == "".join(ours.split(probe)), probe


@pytest.mark.parametrize("name", [r"\w", r"\d", r"\s", r"\p{L}", r"\p{N}", r"\p{M}", r"\p{Lu}", r"\p{P}", r"\p{Han}"])
def test_classes_hold_the_same_characters_but_for_new_ones(name):
    pytest.importorskip("tiktoken")
    text = "".join(chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000)

    def theirs(pattern: str) -> set[str]:
        library = in_tiktoken({byte: rank for rank, byte in enumerate(BYTES)}, pattern)
        return set(library.decode(library.encode_ordinary(text)))

    ours = set(regex.findall(name, text))
    assert theirs(name) <= ours
    # What is in ours alone is not assigned yet in the older Unicode of the library.
    assert ours - theirs(name) <= theirs(r"\p{Cn}")
