"""What is pointed at: the same pair, token or word in every panel."""

from __future__ import annotations

from dataclasses import dataclass

from bpe_viz.engine.types import Pair


@dataclass(frozen=True, slots=True)
class Selection:
    """One thing that all panels show; exactly one field is set.

    pair: two symbol ids; token: a symbol id; row: a pre-token, by its row in the corpus
    """

    pair: Pair | None = None
    token: int | None = None
    row: int | None = None
