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

    code: what the kernels know it by
    winner: who wins, in words that complete "2 pairs tied and ... won"
    """

    name: str
    code: int
    winner: str


TIE_RULES: Mapping[str, TieRule] = {
    rule.name: rule for rule in (TieRule("textbook", kernels.TEXTBOOK, "the first in order"),)
}


def tie_rule(name: str) -> TieRule:
    """Return the rule of this name. Raises OptionError if there is none."""
    if name in TIE_RULES:
        return TIE_RULES[name]
    near = difflib.get_close_matches(name, TIE_RULES, n=1)
    hint = f"Did you mean {near[0]}? " if near else ""
    raise OptionError(f"There is no tie rule named {name!r}.", f"{hint}Known: {', '.join(TIE_RULES)}.")
