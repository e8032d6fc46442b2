"""A text file that is read through a map of it, never as a Python string, in pieces cut at safe places."""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from bpe_viz.engine import kernels_scanning
from bpe_viz.engine.character_classes import character_classes
from bpe_viz.engine.compiled import Kernels
from bpe_viz.engine.documents import TextSource, is_plain_file
from bpe_viz.engine.text_decoding import HEAD_BYTES, starts_as_utf8
from bpe_viz.errors import CorpusError

BLOCK_BYTES = 1 << 20
"""How much is checked at once, and about how long a piece is; 4 or more, the size of the largest character."""


class MappedText:
    """The bytes of a file, which must not be cut short while they are read: the system ends the process then.

    Looking at its length before each piece leaves a moment, some milliseconds of each, in which that still happens; a
    file that is written anew in place, as editors do, is cut short for longer than that and so is noticed.

    data: (bytes,) uint8, read-only
    """

    def __init__(self, mapped: mmap.mmap, name: str) -> None:
        self._mapped = mapped
        self._name = name
        self.data: NDArray[np.uint8] = np.frombuffer(mapped, dtype=np.uint8)

    def check(self, end: int) -> None:
        """Raise CorpusError unless the file still holds data[:end]."""
        if self._mapped.size() < end:
            raise CorpusError(
                f"{self._name} was cut short while it was read: of {len(self.data):,} bytes {self._mapped.size():,} "
                "are left.",
                "Read it again when nothing else writes to it.",
            )

    def forget(self, start: int, end: int) -> None:
        """Give back the memory of data[start:end]; it would be read from the file again.

        Where the system cannot be told, it finds out by itself when memory is short.
        """
        first = -(-start // mmap.PAGESIZE) * mmap.PAGESIZE
        last = end // mmap.PAGESIZE * mmap.PAGESIZE
        if first < last and hasattr(mmap, "MADV_DONTNEED"):
            self._mapped.madvise(mmap.MADV_DONTNEED, first, last - first)


def map_text(source: TextSource) -> MappedText | None:
    """Map a file that is one text and may be UTF-8; None for any other, and for what cannot be mapped."""
    if source.path is None or not is_plain_file(source):
        return None
    try:
        with source.path.open("rb") as file:
            if not starts_as_utf8(file.read(HEAD_BYTES)):
                return None
            return MappedText(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), source.name)
    except (OSError, ValueError):  # ValueError: the file is empty. Reading it the other way says what is wrong.
        return None


def safe_pieces(
    data: NDArray[np.uint8], rule: int, kernel_set: Kernels, check: Callable[[int], None] = lambda end: None
) -> Iterator[tuple[int, int, int]]:
    """Yield texts of their own, end to end, that have the pre-tokens of the whole: (start, end, code points).

    data: (bytes,) uint8, read-only; rule: see kernels_scanning
    check: called before data up to a place are read, see MappedText.check
    Ends before the block with the first bytes that are not valid UTF-8, if there are any.
    """
    kernels = kernel_set.of(kernels_scanning)
    view, classes = kernel_set.view((data, character_classes()))
    size = len(data)
    done = valid = 0
    while valid < size:
        block_end = min(valid + BLOCK_BYTES, size)
        check(block_end)
        newly_valid = kernels.valid_until(view, valid, block_end)
        # The block may end inside a character, the file may not.
        if newly_valid < (size if block_end == size else block_end - 3):
            return
        # A cut at the end of the block before is not looked for again: data[valid] starts a character.
        cut = size if block_end == size else kernels.last_safe_cut(rule, classes, view, valid, newly_valid)
        if cut > valid:
            yield done, cut, kernels.count_characters(view, done, cut)
            done = cut
        valid = newly_valid
