"""Greedy longest match, which is not BPE: a text is cut from the left into the longest tokens.

Source: BlinkDL/ChatRWKV, tokenizer/rwkv_tokenizer.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bpe_viz.engine.symbols import BaseVocabulary


class LongestMatch:
    """Cuts bytes into tokens, from the left, always the longest that fits."""

    def __init__(self, ids: Mapping[bytes, int]) -> None:
        """ids: token -> id; every byte is a token."""
        self._ids = ids
        lengths: dict[bytes, set[int]] = {}
        for token in ids:
            lengths.setdefault(token[:2], set()).add(len(token))
        # By the first two bytes: few lengths are to be tried.
        self._lengths = {start: sorted(found, reverse=True) for start, found in lengths.items()}

    def encode(self, text: bytes) -> list[int]:
        """Return the ids of a text."""
        ids: list[int] = []
        at = 0
        while at < len(text):
            for length in self._lengths.get(text[at : at + 2], ()):
                found = self._ids.get(text[at : at + length])
                if found is not None and at + length <= len(text):
                    break
            else:
                length, found = 1, self._ids[text[at : at + 1]]
            ids.append(found)
            at += length
        return ids


@dataclass(frozen=True, slots=True)
class LongestMatchBase(BaseVocabulary):
    """Base symbols into which bytes are cut so, and which never merge.

    match: gives their numbers
    """

    match: LongestMatch = LongestMatch({})  # noqa: RUF009  # it is never changed

    def start(self, pretoken: bytes) -> tuple[list[int], list[int]]:
        """Return the base symbols of a pre-token, and how many of its bytes each stands for."""
        symbols = self.match.encode(pretoken)
        return symbols, [len(self.content[symbol]) for symbol in symbols]

    def arrays(self, pretoken: bytes) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return what start does, for a long pre-token: both (n,) int32."""
        symbols, widths = self.start(pretoken)
        return np.array(symbols, dtype=np.int32), np.array(widths, dtype=np.int32)
