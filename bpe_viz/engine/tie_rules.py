"""Which of the equally frequent pairs is merged: the tie rules by name."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass

from bpe_viz.engine import kernels
from bpe_viz.errors import OptionError


@dataclass(frozen=True, slots=True)
class TieRule:
    """One rule.

    code: what the kernels know it by; rules of one code differ in how they number the base symbols
    winner: who wins, in words that complete "2 pairs tied and ... won"
    same_as: the libraries that decide so
    """

    name: str
    code: int
    winner: str
    same_as: str


TIE_RULES: Mapping[str, TieRule] = {
    rule.name: rule
    for rule in (
        TieRule("textbook", kernels.TEXTBOOK, "the first in order", "most teaching code in Python"),
        TieRule("utf16", kernels.UTF16, "the first by UTF-16 units", "the same teaching code in JavaScript"),
        TieRule("huggingface", kernels.SMALLEST_IDS, "the one with the smallest ids", "tokenizers, gigabpe"),
        TieRule("rustbpe", kernels.SMALLEST_IDS, "the one with the smallest ids", "rustbpe (nanochat), bpeasy, ffbpe"),
        TieRule("first-seen", kernels.FIRST_SEEN, "the one met first in the text", "minbpe, tiktoken's teaching code"),
        TieRule("subword-nmt", kernels.GREATEST, "the last in order", "subword-nmt"),
        TieRule("cs336", kernels.GREATEST, "the last in order", "Stanford CS336, ffbpe's largest_content"),
        TieRule(
            "sentencepiece", kernels.SHORTEST_PIECE, "the shortest piece, then the first in order", "sentencepiece"
        ),
    )
}
"""All rules, in the order that people see them. Source: each library of same_as, run on small inputs."""


def tie_rule(name: str) -> TieRule:
    """Return the rule of this name. Raises OptionError if there is none."""
    if name in TIE_RULES:
        return TIE_RULES[name]
    near = difflib.get_close_matches(name, TIE_RULES, n=1)
    hint = f"Did you mean {near[0]}? " if near else ""
    raise OptionError(f"There is no tie rule named {name!r}.", f"{hint}Known: {', '.join(TIE_RULES)}.")
