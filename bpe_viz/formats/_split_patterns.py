"""Patterns that must cut alike in two engines: Python's `regex` here, Oniguruma in the `tokenizers` library.

They share most of their syntax and differ in the rest: `{1,3}+` is possessive in one and a repetition in
the other, `(?s)` exists in one only. So a pattern is tried on probe texts with the library where it is
installed; where it is not, only patterns without such constructs are trusted. Both know Unicode's
properties, of different versions: letters that are newer than the library's Unicode are letters here and
not there.
"""

from __future__ import annotations

import importlib.util
from functools import lru_cache
from itertools import zip_longest

import regex

from bpe_viz.engine.pretokenize import PRETOKENIZERS, pretokenizer_for
from bpe_viz.engine.types import CountingOptions
from bpe_viz.errors import BpeVizError

_FOREIGN = regex.compile(
    r"\{[0-9,]*\}\+|\(\?[a-zV0-9]*[smxVabfuwrp]|\\[hHRXKGAZzmM<>kgLNQE]|\[\[|&&|--|\|\||~~|\(\?[&PR0-9(|]"
)
"""Constructs that mean something else, or nothing, in one of the two engines."""

# \w has the joiners here and the library's has not; there it has superscripts and fractions.
_WORD = r"[[\w\x{200C}\x{200D}]&&[^\x{B2}\x{B3}\x{B9}\x{BC}-\x{BE}]]"
_NOT_WORD = r"[[^\w\x{200C}\x{200D}]\x{B2}\x{B3}\x{B9}\x{BC}-\x{BE}]"

PROBES = (
    "Hello, how are you?  I'm fine; we'LL see -- it's 3.14159 or 12345678 (of 1,000,000)!\n\n\tdef f(x):\r\n"
    "    return x ** 2  # don't\n   \n trailing   ",
    "a\n\nb\r\n \r\n\x0b\x0c\x85\u2028c\u00a0d\u3000e\u200bf\x00g\x1c h",
    "naïve Café ÉCOLE straße İstanbul Ελλάς ΣΑΣ привет МИР שלום مرحبا नमस्ते สวัสดี 你好,世界。 こんにちは 한국어",
    'e\u0301 a\u0308\u0323 ½ ² Ⅷ ١٢٣ 😀👍🏽👩‍👩‍👧 🇩🇪 ₿€ ~`@#$%^&*_+=[]{}|\\:"<>/',
    "'s 'S 'ſ ’s 'tis 'RE 've'd 'll aB AbC ABC XMLHttpRequest snake_case kebab-case a1b2 x²",
    "." * 20 + "\n" + " " * 9 + "\t" * 3 + "x" + "1" * 11 + "!?" * 4 + "\n\n\n",
)


def library_is_installed() -> bool:
    """Tell whether the `tokenizers` library can be imported; it is not imported."""
    return importlib.util.find_spec("tokenizers") is not None


def for_library(pattern: str) -> str:
    r"""Write a pattern of `regex` for the library: \w and \W become classes of the same letters."""
    return str(regex.sub(r"\\(.)", lambda found: {"w": _WORD, "W": _NOT_WORD}.get(found[1], found[0]), pattern))


def from_library(written: str) -> str:
    """Undo for_library."""
    return written.replace(_WORD, r"\w").replace(_NOT_WORD, r"\W")


@lru_cache(maxsize=64)
def why_not_alike(pattern: str, written: str | None = None, behavior: str = "Removed", invert: bool = True) -> str:
    """Return why a pattern does not cut as a Split step of the library does, "" if no difference is known.

    pattern: for `regex`
    written, behavior, invert: the Split; by default one that keeps what the pattern matches
    """
    written = for_library(pattern) if written is None else written
    if any(entry.pattern == pattern == written for entry in PRETOKENIZERS.values()):
        return ""  # tests hold these to it
    if not library_is_installed():
        found = _FOREIGN.search(from_library(written))
        return f"{found[0]!r} may mean something else in the tokenizers library" if found else ""
    from tokenizers import Regex
    from tokenizers.pre_tokenizers import Split

    try:
        split = Split(Regex(written), behavior.lower(), invert=invert)
        ours = pretokenizer_for(CountingOptions(pattern=pattern))
        for probe in PROBES:
            theirs = [piece for piece, _ in split.pre_tokenize_str(probe)]
            pieces = ours.split(probe)
            if theirs != pieces:
                here, there = _first_difference(pieces, theirs)
                return f"where it matches {here!r} here it matches {there!r} in the tokenizers library"
    except BpeVizError as error:
        return error.message
    except Exception as error:  # noqa: BLE001  # the library raises bare Exception
        return f"the tokenizers library says: {error}"
    return ""


def _first_difference(ours: list[str], theirs: list[str]) -> tuple[str, str]:
    pairs = zip_longest(ours, theirs, fillvalue="")
    return next((a, b) for a, b in pairs if a != b)
