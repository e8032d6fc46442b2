"""Which of the equally frequent pairs is merged: the tie rules by name."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass

from bpe_viz.engine import kernels_order
from bpe_viz.errors import OptionError


@dataclass(frozen=True, slots=True)
class TieRule:
    """One rule.

    code: what the kernels know it by; rules of one code differ in how they number the base symbols
    winner: who wins, in words that complete "2 pairs tied and ... won"
    takes: the same in words that complete "2 pairs tie, and textbook takes ..."
    same_as: the libraries that decide so
    """

    name: str
    code: int
    winner: str
    takes: str
    same_as: str


_FIRST, _FIRST_UTF16, _LAST = "the first in order", "the first by UTF-16 units", "the last in order"
_SMALLEST, _SMALLEST_IDS = "the one with the smallest ids", "the smallest left id, then right id"
_SEEN, _SHORTEST = "the one met first in the text", "the shortest piece, then the first in order"

TIE_RULES: Mapping[str, TieRule] = {
    rule.name: rule
    for rule in (
        TieRule("textbook", kernels_order.TEXTBOOK, _FIRST, _FIRST, "most teaching code in Python"),
        TieRule("utf16", kernels_order.UTF16, _FIRST_UTF16, _FIRST_UTF16, "the same teaching code in JavaScript"),
        TieRule("huggingface", kernels_order.SMALLEST_IDS, _SMALLEST, _SMALLEST_IDS, "tokenizers, gigabpe"),
        TieRule("rustbpe", kernels_order.SMALLEST_IDS, _SMALLEST, _SMALLEST_IDS, "rustbpe (nanochat), bpeasy, ffbpe"),
        TieRule("first-seen", kernels_order.FIRST_SEEN, _SEEN, _SEEN, "minbpe, tiktoken's teaching code"),
        TieRule("subword-nmt", kernels_order.GREATEST, _LAST, _LAST, "subword-nmt"),
        TieRule("cs336", kernels_order.GREATEST, _LAST, _LAST, "Stanford CS336, ffbpe's largest_content"),
        TieRule("sentencepiece", kernels_order.SHORTEST_PIECE, _SHORTEST, _SHORTEST, "sentencepiece"),
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
