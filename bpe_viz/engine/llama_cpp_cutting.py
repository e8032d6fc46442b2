"""How llama.cpp cuts a text before it merges: special tokens out of it, what is between them into pre-tokens.

A pre-tokenizer of llama.cpp is a list of passes. Each is a pattern that cuts what the pass before left whole, and what
it does not match stays whole. Its letters, marks and numbers are those of Unicode 15.1.
Source: ggml-org/llama.cpp, src/unicode.cpp and src/llama-vocab.cpp.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import regex

Span = tuple[int, int]

_UNASSIGNED = "\u0378"
_BLANKS = " \t\n\v\f\r"

# Assigned in Unicode 16 to 18; between two of these that stand in one range, nothing is assigned yet.
_NEWER_RANGES = (
    *("558", "58b-58c", "5c8-5c9", "88f", "897", "b53-b54", "c5c", "cdc", "1acf-1af0", "1b4e-1b4f", "1b7f"),
    *("1c89-1c8a", "208f", "209d-209f", "20c1-20c4", "2427-2429", "2b96", "2e60-2e63", "31e4-31e5", "a7cb-a7cf"),
    *("a7d2", "a7d4", "a7da-a7f1", "ab6c-ab6d", "fbc3-fbd2", "fd90-fd91", "fdc8-fdce", "105c0-105f3", "107bb-107bf"),
    *("10940-10959", "10d40-10d8f", "10ec2-10efc", "11380-113e2", "116d0-116e3", "11b0a-11bf9", "11db0-11df1"),
    *("11f5a", "1246f", "12475-1247f", "12550-12686", "13460-143fa", "16100-16139", "16d40-16d79", "16ea0-16ed3"),
    *("16ff2-16ff6", "187f8-187ff", "18cd6-18cff", "18d09-191d2", "1b123-1b128", "1b168", "1cc00-1cefd"),
    *("1d127-1d128", "1d1eb-1d1ff", "1d250-1d281", "1d6a6", "1db00-1db1c", "1df1f-1df24", "1df2b-1dfff"),
    *("1e5d0-1e6ff", "1f1ae", "1f6d8-1f6d9", "1f777-1f77a", "1f7da-1f7db", "1f7f1-1f7ff", "1f8b2-1f8d8"),
    *("1fa54-1fa57", "1fa89-1fa8f", "1fabe", "1fac6-1facd", "1fadc-1fadf", "1fae9-1faef", "1faf9-1fafa"),
    *("1fbcb-1fbef", "1fbfa", "2b73a-2b73f", "2b81e", "2cea2-2cead", "323b0-3fc3f"),
)


@lru_cache(maxsize=1)
def newer_characters() -> regex.Pattern[str]:
    """Return what matches a character that llama.cpp does not know as assigned yet."""
    bounds = [written.split("-") for written in _NEWER_RANGES]
    return regex.compile("[" + "".join(rf"\U{ends[0]:0>8}-\U{ends[-1]:0>8}" for ends in bounds) + "]")


@dataclass(frozen=True, slots=True)
class Threes:
    """A pass that cuts runs of digits into threes from their right; what stands before a run stays with its first part.

    run: matches a run
    behind: whether a run is cut off from what follows it; else a run of whole threes from what stands before it
    """

    run: str
    behind: bool

    def ends(self, text: str, start: int, end: int) -> Iterator[int]:
        """Yield the places where a span is cut, ascending."""
        for match in compiled(self.run).finditer(text, start, end):
            length = match.end() - match.start()
            first = length % 3 or (3 if self.behind else 0)
            last = match.end() if self.behind else match.end() - 1
            yield from (place for place in range(match.start() + first, last + 1, 3) if start < place < end)


Pass = str | Threes


@dataclass(frozen=True, slots=True)
class Passes:
    """A pre-tokenizer of llama.cpp."""

    passes: tuple[Pass, ...]

    def spans(self, text: str) -> list[Span]:
        """Return where the pre-tokens of a text start and end, in code points; they cover all of it."""
        spans = [(0, len(text))] if text else []
        for one in self.passes:
            spans = list(_split(one, _as_seen_by(one, text), spans))
        return spans


@lru_cache(maxsize=256)
def compiled(pattern: str) -> regex.Pattern[str]:
    """Return a pattern, compiled."""
    return regex.compile(pattern)


def _as_seen_by(one: Pass, text: str) -> str:
    """Return a text of the same length, in whose characters a pass finds what llama.cpp does.

    Classes of characters are those of its own tables. A pattern without classes looks at the characters themselves,
    but all white space beyond ASCII has become a tabulator.
    """
    if text.isascii():
        return text
    pattern = one.run if isinstance(one, Threes) else one
    if r"\p{" in pattern:
        return str(newer_characters().sub(_UNASSIGNED, text))
    return str(compiled(r"[^\S\x00-\x7f]").sub("\v", text))


def _split(one: Pass, text: str, spans: Sequence[Span]) -> Iterator[Span]:
    if isinstance(one, Threes):
        for start, end in spans:
            for place in one.ends(text, start, end):
                yield start, place
                start = place
            yield start, end
        return
    find = compiled(one).finditer
    for start, end in spans:
        done = start
        # concurrent releases the GIL while it searches, which a window beside this thread needs.
        for match in find(text, start, end, concurrent=True):
            if match.start() > done:
                yield done, match.start()
            done = match.end()
            yield match.start(), done
        if done < end:
            yield done, end


@dataclass(frozen=True, slots=True)
class SpecialToken:
    """A token that is looked for in a text before anything else.

    is_always: it is a token whatever is to become of special text
    strips_left, strips_right: with the white space (ASCII) that stands beside it
    """

    text: str
    id: int
    is_always: bool = False
    strips_left: bool = False
    strips_right: bool = False


@dataclass(frozen=True, slots=True)
class Fragment:
    """A special token, or text between special tokens; start, end: in code points."""

    start: int
    end: int
    special: SpecialToken | None = None


def cut_out(text: str, specials: Sequence[SpecialToken]) -> list[Fragment]:
    """Cut special tokens out of a text: every place of the first, then of the second in what is left, and so on."""
    fragments = [Fragment(0, len(text))] if text else []
    for special in specials:
        if special.text in text:
            fragments = [part for fragment in fragments for part in _cut_out_of(text, fragment, special)]
    return fragments


def _cut_out_of(text: str, fragment: Fragment, special: SpecialToken) -> Iterator[Fragment]:
    if fragment.special is not None:
        yield fragment
        return
    start, end = fragment.start, fragment.end
    while (place := text.find(special.text, start, end)) >= 0:
        left_end, behind = place, place + len(special.text)
        while special.strips_left and left_end > start and text[left_end - 1] in _BLANKS:
            left_end -= 1
        if left_end > start:
            yield Fragment(start, left_end)
        yield Fragment(place, behind, special)
        start = behind
        while special.strips_right and start < end and text[start] in _BLANKS:
            start += 1
    if start < end:
        yield Fragment(start, end)
