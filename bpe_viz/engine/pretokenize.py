"""Cut text into pre-tokens, by a named pretokenizer or by the user's own pattern."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING

import regex

from bpe_viz.engine.types import CountingOptions
from bpe_viz.errors import OptionError, PatternError

if TYPE_CHECKING:
    from regex import Match, Pattern

PATTERN_SECONDS = 5.0
"""Processor seconds that a user's pattern may take for MATCHES_A_BATCH matches; Stop waits as long at worst."""

MATCHES_A_BATCH = 1024
"""After so many matches of a user's pattern the clock starts anew and Stop is asked."""

_SHOWN = 80  # characters of a pattern in a message

WHOLE_TEXT = r"[\s\S]+"
"""Matches any text as one pre-token; it means the same in the `tokenizers` library."""

LINES = r"[^\n]*\n|[^\n]+"
"""Matches each line with its line end, as the pretokenizer `none` cuts."""

# The last place in a text where a pattern of the GPT-2 family always ends a match, whatever follows:
# no alternative of theirs continues from a non-space to a space, nor from a letter or digit to any white
# space, and none looks back. Punctuation may be followed by its line ends (cl100k), so it is not listed.
# (?r) searches from the end, so that a piece is cut as late as possible.
_WORD_EDGE = r"(?r)(?<=\S)(?= )|(?<=[\p{L}\p{N}])(?=\s)"
_SPACE_EDGE = r"(?r)(?<=\s)"
_LINE_EDGE = r"(?r)(?<=\n)"


def _gpt4_pattern(digits: int) -> str:
    """Return the pattern of cl100k, which others took over; digits: how many a number has at most."""
    number = r"\p{N}" if digits == 1 else rf"\p{{N}}{{1,{digits}}}"
    return (
        rf"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|{number}"
        r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    )


@dataclass(frozen=True)
class Pretokenizer:
    """One way to cut text into pre-tokens.

    name: as the command line and files write it
    title: as people read it
    pattern: what matches one pre-token (`regex` module); None: each line is one, its line end included
    lossless: every text is covered, so nothing is dropped
    description: one sentence for people
    safe_cut: matches the last place where a text may be cut without changing its pre-tokens; None: nowhere
    timeout: processor seconds for MATCHES_A_BATCH matches; None: the pattern is known to end
    """

    name: str
    title: str
    pattern: str | None
    lossless: bool
    description: str
    safe_cut: str | None = _WORD_EDGE
    timeout: float | None = None

    @cached_property
    def _compiled(self) -> Pattern[str]:
        return _compile(LINES if self.pattern is None else self.pattern)

    def split(self, text: str) -> list[str]:
        """Return the pre-tokens of a text in order, empty matches left out.

        Raises PatternError if a user's pattern does not end in time.
        """
        return [pretoken for batch, _ in self.batches(text) for pretoken in batch if pretoken]

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Return where the pre-tokens of a text start and end, in code points, empty matches left out.

        `uncovered` tells how much of the text they leave out. Raises PatternError as `split` does.
        """
        matches = chain.from_iterable(self._match_batches(text))
        return [match.span() for match in matches if match.end() > match.start()]

    def batches(self, text: str, by_line: bool = False) -> Iterator[tuple[list[str], int]]:
        """Yield the pre-tokens of a text in order, many at a time, and how many code points were searched by then.

        Empty matches are included, to be counted.
        by_line: every line of the text, its line end included, is a text of its own
        A named pretokenizer yields one batch; give it pieces (`last_cut`), so that Stop is asked often.
        Raises PatternError if a user's pattern does not end in time.
        """
        if self.timeout is not None:
            done = 0
            for part in split_lines(text) if by_line else (text,):
                for matches in self._match_batches(part):
                    yield [match.group(0) for match in matches], done + (matches[-1].end() if matches else len(part))
                done += len(part)
            return
        # concurrent releases the GIL while it searches, which a window beside this thread needs.
        # findall is right here: the patterns of PRETOKENIZERS have no groups, and a test holds them to that.
        find_all: Callable[[str], list[str]] = partial(self._compiled.findall, concurrent=True)
        found = list(chain.from_iterable(map(find_all, split_lines(text)))) if by_line else find_all(text)
        yield found, len(text)

    def last_cut(self, text: str) -> int:
        """Return the last place (code points) where the text may be cut without changing its pre-tokens.

        Holds whatever stands before and after the text. Returns 0 if there is no such place.
        """
        if self.safe_cut is None:
            return 0
        edge = _compile(self.safe_cut).search(text, concurrent=True)
        return 0 if edge is None else int(edge.start())

    def _match_batches(self, text: str) -> Iterator[list[Match[str]]]:
        """Yield the matches in order, at most MATCHES_A_BATCH at a time, empty ones included."""
        # The timeout of `regex` covers a whole iteration, not one match: on a long text a harmless pattern
        # would run into it. So the search starts anew after each batch, at the end of its last match.
        position = 0
        after_empty = False
        while True:
            batch: list[Match[str]] = []
            try:
                for match in self._compiled.finditer(text, position, timeout=self.timeout, concurrent=True):
                    if after_empty and match.end() == position:
                        continue  # the empty match that ended the batch before is found again
                    batch.append(match)
                    if len(batch) == MATCHES_A_BATCH:
                        break
            except TimeoutError as error:
                place = (batch[-1].end() if batch else position) + 1
                raise PatternError(
                    f"The pattern {shortened(self.pattern)} never ends: {MATCHES_A_BATCH:,} matches may take "
                    f"{self.timeout:g} seconds of the processor, and it was still searching at character {place:,}.",
                    "Try one without a repetition inside a repetition.",
                ) from error
            except (MemoryError, RecursionError) as error:
                # What `regex` raises for a pattern that calls itself before it has matched anything.
                raise PatternError(
                    f"The pattern {shortened(self.pattern)} never ends: it ran out of memory, searching from "
                    f"character {(batch[-1].end() if batch else position) + 1:,}.",
                    "Try one that does not call itself, as (?R) does.",
                ) from error
            yield batch
            if len(batch) < MATCHES_A_BATCH:
                return
            position = batch[-1].end()
            after_empty = batch[-1].start() == position


_FIRST_ASSIGNED_IN = {17: "\u088f", 16: "\u1c89", 15: "\U0001b132", 14: "\u0870"}


def unicode_version() -> int:
    """Return the Unicode version of letters, numbers and white space here, which is that of the `regex` module.

    That module does not say; a version is told by characters that it was the first to assign.
    """
    found = (version for version, sign in _FIRST_ASSIGNED_IN.items() if not regex.match(r"\p{Cn}", sign))
    return next(found, 13)


_LETTERS = f"Letters and numbers are those of Unicode {unicode_version()}."


def _pretokenizers(*entries: Pretokenizer) -> Mapping[str, Pretokenizer]:
    return MappingProxyType({entry.name: entry for entry in entries})


PRETOKENIZERS: Mapping[str, Pretokenizer] = _pretokenizers(
    Pretokenizer(
        name="none",
        title="None",
        pattern=None,
        lossless=True,
        description="Each line, its line end included, is one pre-token.",
        safe_cut=_LINE_EDGE,
    ),
    Pretokenizer(
        name="whitespace",
        title="White space",
        pattern=r"\S+",
        lossless=False,
        description="Runs of anything but white space; the white space between them is dropped.",
        safe_cut=_SPACE_EDGE,
    ),
    Pretokenizer(
        name="gpt2",
        title="GPT-2",
        # Source: openai/gpt-2, src/encoder.py.
        pattern=r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
        lossless=True,
        description=f"Words with the space before them, numbers, punctuation, English contractions. {_LETTERS}",
    ),
    Pretokenizer(
        name="cl100k",
        title="GPT-4 (cl100k)",
        # Source: tiktoken 0.3, tiktoken_ext/openai_public.py. Later ones rewrote it for speed, which
        # cuts a line end followed by white space differently at the end of a text.
        pattern=_gpt4_pattern(digits=3),
        lossless=True,
        description=f"As GPT-2, with numbers in groups of three digits and line ends kept together. {_LETTERS}",
    ),
    Pretokenizer(
        name="o200k",
        title="GPT-4o (o200k)",
        # Source: tiktoken 0.7, tiktoken_ext/openai_public.py.
        pattern=(
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
            r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
            r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
        ),
        lossless=True,
        description=f"As GPT-4, with capital letters starting a word and combining marks kept with letters. {_LETTERS}",
    ),
    Pretokenizer(
        name="llama3",
        title="Llama 3",
        # Source: meta-llama/llama3, llama/tokenizer.py.
        pattern=_gpt4_pattern(digits=3),
        lossless=True,
        description=f"As GPT-4. {_LETTERS}",
    ),
    Pretokenizer(
        name="qwen2",
        title="Qwen 2",
        # Source: Hugging Face transformers, models/qwen2/tokenization_qwen2.py.
        pattern=_gpt4_pattern(digits=1),
        lossless=True,
        description=f"As GPT-4, with every digit apart. {_LETTERS}",
    ),
)
"""All named pretokenizers, in the order that people see them; one entry adds one."""


def pretokenizer_for(options: CountingOptions, timeout: float = PATTERN_SECONDS) -> Pretokenizer:
    """Return the pretokenizer that the options name, or one for their own pattern.

    timeout: processor seconds that MATCHES_A_BATCH matches of a user's pattern may take
    Raises OptionError for an unknown name, PatternError for a pattern that does not compile.
    """
    if options.pattern is not None:
        return _from_pattern(options.pattern, timeout)
    found = PRETOKENIZERS.get(options.pretokenizer)
    if found is None:
        nearest = difflib.get_close_matches(options.pretokenizer, PRETOKENIZERS, n=1, cutoff=0.4)
        question = f"Did you mean {nearest[0]}? " if nearest else ""
        raise OptionError(
            f"There is no pretokenizer named {options.pretokenizer!r}.",
            f"{question}Choose one of: {', '.join(PRETOKENIZERS)}.",
        )
    return found


def _from_pattern(pattern: str, timeout: float) -> Pretokenizer:
    if _compile(pattern).flags & regex.REVERSE:
        raise PatternError(f"The pattern {shortened(pattern)} searches backwards.", "Leave out (?r).")
    return Pretokenizer(
        name="pattern",
        title="Own pattern",
        pattern=pattern,
        lossless=False,
        description="Whatever the pattern matches; the text between the matches is dropped.",
        safe_cut=None,
        timeout=timeout,
    )


@lru_cache(maxsize=64)
def _compile(pattern: str) -> Pattern[str]:
    """Compile a pattern; PatternError names the pattern and the place if it is faulty."""
    try:
        return regex.compile(pattern)
    except regex.error as error:
        place = "" if error.pos is None else f" at character {error.pos + 1}"
        raise PatternError(
            f"The pattern {shortened(pattern)} does not compile: {error.msg}{place}.",
            "Its syntax is that of the Python module regex.",
        ) from error
    except (ValueError, OverflowError, RecursionError, MemoryError) as error:
        # What `regex` raises for flags that exclude each other and for very deep nesting.
        raise PatternError(
            f"The pattern {shortened(pattern)} does not compile: {str(error) or 'it is too large'}."
        ) from error


def shortened(pattern: str | None) -> str:
    """Return a pattern in quotation marks, as messages name it: the beginning of a long one."""
    pattern = pattern or ""
    return repr(pattern if len(pattern) <= _SHOWN else pattern[:_SHOWN] + "…")


def split_lines(text: str) -> list[str]:
    r"""Return the lines of a text, each with its line end; only "\n" ends a line."""
    lines = text.split("\n")
    last = lines.pop()
    whole = [line + "\n" for line in lines]
    return [*whole, last] if last else whole


def uncovered(n_characters: int, spans: Sequence[tuple[int, int]]) -> int:
    """Return how many of a text's code points lie in no pre-token, given its length and `spans`."""
    return n_characters - sum(end - start for start, end in spans)
