"""How a BPE model of the `tokenizers` library writes a pre-token in its first symbols.

A character is looked up with the prefix of what goes on within a word before it and the suffix of what ends a word
behind it. What is no token falls apart into the tokens of its bytes; failing that it becomes the unknown token; failing
that too it is left out, and its neighbours are joined.
Source: huggingface/tokenizers, models/bpe/model.rs, merge_word.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bpe_viz.engine.symbols import GAP, BaseVocabulary
from bpe_viz.errors import FormatError


@dataclass(frozen=True, slots=True)
class FirstSymbols:
    """Which symbol a character is, by its place in a word; keys are single characters, or bytes of a byte base.

    only, first, inner, last: for a word of one character, and for the first, an inner and the last one of others
    of_byte: the symbol of the token <0xNN> for each byte; None: characters do not fall apart
    before, after: the bytes of the prefix and the suffix that fall apart together with a character
    unknown: the symbol of the unknown token, GAP if it never merges; None: there is none
    fuses: unknown characters in a row are one unknown token
    lacking: the name of an unknown token that the vocabulary lacks, which the library stops at; None: it is there
    """

    only: Mapping[bytes, int]
    first: Mapping[bytes, int]
    inner: Mapping[bytes, int]
    last: Mapping[bytes, int]
    of_byte: Mapping[int, int] | None = None
    before: bytes = b""
    after: bytes = b""
    unknown: int | None = None
    fuses: bool = False
    lacking: str | None = None

    @property
    def is_simple(self) -> bool:
        """Whether every character is one symbol, or the unknown token, or nothing, by itself."""
        is_plain = self.of_byte is None and not self.before and self.lacking is None
        return is_plain and not self.fuses and self.unknown in (None, GAP)


@dataclass(frozen=True, slots=True)
class ModelBase(BaseVocabulary):
    """The base symbols of such a model. Each stands for bytes of the pre-token, those left out counted to a neighbour.

    lookup: which of them a character is
    """

    lookup: FirstSymbols = FirstSymbols({}, {}, {}, {})  # frozen

    def start(self, pretoken: bytes) -> tuple[list[int], list[int]]:
        """Return the base symbols of a pre-token, and how many of its bytes each stands for.

        Raises FormatError for a character that the file's own library would stop at.
        """
        lookup = self.lookup
        symbols: list[int] = []
        widths: list[int] = []
        left_out = 0  # bytes before the first symbol
        in_unknown = False
        for character, found, before, after in self._characters(pretoken):
            width = len(character)
            of_bytes = None if found is not None else self._of_bytes(before + character + after)
            is_unknown = found is None and of_bytes is None
            if found is not None:
                symbols.append(found)
                widths.append(width)
            elif of_bytes is not None:
                symbols += of_bytes
                widths += [0] * len(before) + [1] * width + [0] * len(after)
            elif lookup.lacking is not None:
                raise FormatError(
                    f"The vocabulary lacks {character.decode(errors='replace')!r}, and its unknown token "
                    f"{lookup.lacking!r} as well: the file's own library does not encode this text either.",
                    "Leave such characters out of the text.",
                )
            elif lookup.unknown is None:
                if symbols:
                    widths[-1] += width
                else:
                    left_out += width
            elif in_unknown and lookup.fuses:
                widths[-1] += width
            else:
                symbols.append(lookup.unknown)
                widths.append(width)
            in_unknown = is_unknown
        if symbols:
            widths[0] += left_out
        return symbols, widths

    def left_out(self, pretoken: bytes) -> int:
        """Return how many characters of a pre-token no symbol stands for, while their neighbours are joined."""
        if self.lookup.unknown is not None or self.lookup.lacking is not None:
            return 0
        return sum(
            found is None and self._of_bytes(before + character + after) is None
            for character, found, before, after in self._characters(pretoken)
        )

    def arrays(self, pretoken: bytes) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return what start does, for a long pre-token: both (n,) int32."""
        symbols, widths = self.start(pretoken)
        return np.array(symbols, dtype=np.int32), np.array(widths, dtype=np.int32)

    def _characters(self, pretoken: bytes) -> Iterator[tuple[bytes, int | None, bytes, bytes]]:
        """Yield (character, its symbol, prefix and suffix that it is looked up with)."""
        lookup = self.lookup
        if self.base == "bytes":
            characters = [pretoken[i : i + 1] for i in range(len(pretoken))]
        else:
            characters = [character.encode() for character in pretoken.decode(errors="replace")]
        ends = len(characters) - 1
        for i, character in enumerate(characters):
            if i == 0:
                table, before = (lookup.first if ends else lookup.only), b""
            else:
                table, before = (lookup.inner if i < ends else lookup.last), lookup.before
            yield character, table.get(character), before, lookup.after if i == ends else b""

    def _of_bytes(self, content: bytes) -> list[int] | None:
        of_byte = self.lookup.of_byte
        if of_byte is None:
            return None
        found = [of_byte.get(byte) for byte in content]
        return None if None in found else found  # type: ignore[return-value]  # just looked
