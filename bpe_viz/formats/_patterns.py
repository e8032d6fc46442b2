r"""Patterns as files hold them; those that were written for tiktoken, whose engine is Rust's, read for `regex`.

Both engines know the same syntax for what tokenizers need, and the same letters but for newer versions of Unicode. What
is known to mean something else in one of the two is translated (`$`) or refused by name.
"""

from __future__ import annotations

from pathlib import Path

import regex

from bpe_viz.engine.pretokenize import LINES, PRETOKENIZERS, pretokenizer_for
from bpe_viz.engine.types import CountingOptions
from bpe_viz.errors import FormatError, PatternError
from bpe_viz.formats._reading import AGAIN, shortened_line

# One construct of a pattern at a time; the first alternative that fits tells what it is.
_CONSTRUCT = regex.compile(
    r"""
    (?P<foreign>
        \\[^pPdDsSwWbBnrtfxu1-9\p{P}\p{S}\ ] | \\[uxb]\{ | \\[<>]
      | \(\?(?! [:=!>] | <[=!] | [is]+[:)] )
    )
  | (?P<escape> \\(?:[pP]\{[^}]*\} | .) )
  | (?P<foreign_in_class> \[:\^?[a-z]+:\] | && | -- | ~~ )
  | (?P<foreign_outside> \{(?! [0-9]+(?:,[0-9]*)?\} ) )
  | (?P<end> \$ )
  | (?P<open> \[\^?\]? )
  | (?P<close> \] )
  | (?P<flags> \(\?[is]+\) )
  | (?P<group> \((?:\?[is]*[:=!>]|\?<[=!])? )
  | (?P<end_group> \) )
  | (?P<letter_i> [iIİı] )
  | (?P<other> . )
    """,
    regex.VERBOSE | regex.DOTALL,
)


def check_pattern(place: str, pattern: str) -> None:
    """Raise FormatError for a pattern that does not compile. place: where it stands"""
    try:
        pretokenizer_for(CountingOptions(pattern=pattern))
    except PatternError as error:
        raise FormatError(f"{place}: {error.message}", error.remedy or AGAIN) from error


def read_tiktoken_pattern(path: Path, field: str, written: str) -> str:
    """Return a pattern of tiktoken for `regex`. Raises FormatError if it would cut otherwise, or does not compile."""
    foreign, pattern = _translated(written)
    if foreign:
        raise FormatError(
            f"{path}: {field} {shortened_line(written)} holds {foreign!r}, which may mean something else here than to "
            "tiktoken.",
            "bpe-viz reads patterns without it.",
        )
    check_pattern(f"{path}: {field}", pattern)
    return pattern


def counting_for(pattern: str, special_tokens: tuple[str, ...], normalize: tuple[str, ...] = ()) -> CountingOptions:
    """Return counting options for a pattern: by name, if it is that of a named pretokenizer."""
    named = next((entry.name for entry in PRETOKENIZERS.values() if (entry.pattern or LINES) == pattern), None)
    if named is not None:
        return CountingOptions(named, normalize=normalize, special_tokens=special_tokens)
    return CountingOptions(pattern=pattern, normalize=normalize, special_tokens=special_tokens)


def _translated(written: str) -> tuple[str, str]:
    """Return (a construct that may mean something else, the pattern for `regex`); the first is "" if there is none."""
    parts: list[str] = []
    in_class = False
    ignores_case = [False]  # one entry a group that is open
    for found in _CONSTRUCT.finditer(written):
        kind, text = found.lastgroup, found[0]
        if kind == "foreign":
            return text, ""
        if in_class:
            if kind in ("open", "foreign_in_class"):
                return text, ""
            in_class = kind != "close"
        elif kind in ("open", "foreign_in_class") and text[0] == "[":
            in_class = not text.endswith(":]")
        elif kind == "foreign_outside":
            return text, ""
        elif kind == "group":
            ignores_case.append(ignores_case[-1] or "i" in text)
        elif kind == "flags":
            ignores_case[-1] = ignores_case[-1] or "i" in text
        elif kind == "end_group" and len(ignores_case) > 1:
            ignores_case.pop()
        elif kind == "end":
            text = r"\Z"  # the very end; $ of `regex` matches before a last line end as well
        if kind == "letter_i" and ignores_case[-1]:
            return text, ""
        parts.append(text)
    return "", "".join(parts)
