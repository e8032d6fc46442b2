"""Encode much text: bytes to token ids in pieces, on several threads, in bounded memory.

A text is cut at places where no pre-token and no special token reaches across, so each piece is encoded as if it stood
alone; the ids do not depend on the pieces, the threads or what is remembered.
"""

from __future__ import annotations

import mmap
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from queue import SimpleQueue
from threading import Lock
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bpe_viz.engine import kernels_encoding, kernels_scanning
from bpe_viz.engine.alike_characters import ALIKE
from bpe_viz.engine.arrays import longer, zeros
from bpe_viz.engine.automaton import scanner_for
from bpe_viz.engine.compiled import Kernels
from bpe_viz.engine.encoding_arrays import (
    ENTRIES,
    KEPT_BYTES,
    batch_for,
    empty_cache,
    empty_lanes,
    empty_scratch,
    merges_of,
    runs_in_arrays,
)
from bpe_viz.engine.kernels_encoding import IDS, PACKED_TOKENS, WANTED, Room
from bpe_viz.engine.kernels_merging import Merges
from bpe_viz.engine.library_pipelines import GuardedPipeline
from bpe_viz.engine.normalized_first import NormalizedFirstPipeline
from bpe_viz.engine.piece_cutting import PieceCutter
from bpe_viz.engine.pipeline import PlainPipeline, SpecialText
from bpe_viz.engine.pretokenize import Pretokenizer, pretokenizer_for
from bpe_viz.engine.scanning import empty_batch, rule_for
from bpe_viz.engine.segments import normalize
from bpe_viz.engine.tokenizer import Tokenizer
from bpe_viz.engine.types import Progress, StopRequested, never_stop, no_progress
from bpe_viz.errors import Stopped

Ids = NDArray[np.int32]
Spans = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Where pre-tokens start and end, in bytes."""

PIECE_BYTES = 1 << 20
"""About how much text is encoded at once: some 20 ms, so that Stop and progress are felt at once."""


class Encoder:
    """Encodes at one tokenizer's position. One thread calls it; it starts threads of its own."""

    def __init__(
        self, tokenizer: Tokenizer, kernel_set: Kernels | None = None, threads: int = 1, entries: int = ENTRIES
    ) -> None:
        """Lay the merges out for the kernels.

        kernel_set: None: none, which is quicker than plain ones
        threads: at most so many at once, each with a memory of its own
        entries: a power of two, at least 32, the size of each memory
        """
        self.tokenizer = tokenizer
        self._kernels = kernel_set
        self._pretokenizer = pretokenizer_for(tokenizer.counting)
        self._is_guarded = not isinstance(tokenizer.pipeline, PlainPipeline)
        self._one_at_a_time = Lock()
        self._threads = max(1, threads)
        self._workers: SimpleQueue[_Worker] = SimpleQueue()
        merges = merges_of(tokenizer, kernel_set) if runs_in_arrays(tokenizer) and kernel_set is not None else None
        for _ in range(self._threads):
            if merges is None or kernel_set is None:
                self._workers.put(_PretokenWorker(tokenizer))
            else:
                self._workers.put(ArrayWorker(tokenizer, merges, kernel_set, entries))

    def encode_bytes(
        self,
        data: bytes | mmap.mmap,
        allow_special: bool = True,
        progress: Progress = no_progress,
        should_stop: StopRequested = never_stop,
    ) -> Ids:
        """Return the ids of a text: (ids,) int32.

        data: UTF-8; what is not is read as U+FFFD
        allow_special: the text of a special token becomes that token, else it is plain text
        Raises Stopped.
        """
        # Written to one array: to keep the ids of each piece until all are there takes twice the memory, and longer.
        ids = zeros(len(data), np.int32)
        done = n = 0
        for size, some in self._encoded(_slices(data, self._kernels), allow_special):
            if should_stop():
                raise Stopped
            if n + len(some) > len(ids):  # normalizing may make a text longer
                ids = longer(ids, 2 * (n + len(some)), n)
            ids[n : n + len(some)] = some
            n += len(some)
            done += size
            progress(done / len(data), "Encoding")
        return ids[:n]

    def encode_blocks(self, texts: Iterable[str], allow_special: bool = True) -> Iterator[Ids]:
        """Yield the ids of a text that comes in parts, some at a time: (ids,) int32. No part holds a surrogate."""
        for _, ids in self._encoded((text.encode() for text in texts), allow_special):
            yield ids

    def _encoded(self, slices: Iterable[bytes], allow_special: bool) -> Iterator[tuple[int, Ids]]:
        """Yield (bytes, ids) of each piece in order; at most two pieces a thread are under way."""
        specials = self.tokenizer.counting.special_tokens if allow_special else ()
        special_text: SpecialText = "allow" if allow_special else "text"
        cut = PieceCutter(self._pretokenizer, specials, self.tokenizer.counting.normalize, self._is_guarded)
        # Where normalizing could make a special token with a blank in it, no blank is a place to cut.
        is_whole = self.tokenizer.normalizes_first and any(text.split() != [text] for text in specials)
        # Nor is there any where a library runs the steps, or makes tokens of texts that are not special all the same.
        is_whole = is_whole or (self._is_guarded and not self.tokenizer.pipeline.is_plain_for("", special_text))
        pieces = filter(None, [b"".join(slices)]) if is_whole else cut.pieces(slices)
        if self._threads == 1:
            for piece in pieces:
                yield len(piece), self._encode_piece(piece, cut, allow_special)
            return
        under_way: deque[tuple[int, Future[Ids]]] = deque()
        with ThreadPoolExecutor(self._threads) as pool:
            try:
                for piece in pieces:
                    under_way.append((len(piece), pool.submit(self._encode_piece, piece, cut, allow_special)))
                    if len(under_way) > 2 * self._threads:
                        size, future = under_way.popleft()
                        yield size, future.result()
                for size, future in under_way:
                    yield size, future.result()
            finally:
                pool.shutdown(cancel_futures=True)

    def _is_plain(self, piece: bytes, special_text: SpecialText) -> bool:
        """Tell whether the options alone cut a piece as the pipeline does."""
        pipeline, kernel_set = self.tokenizer.pipeline, self._kernels
        is_quick = isinstance(pipeline, GuardedPipeline) and not self.tokenizer.counting.normalize
        if is_quick and kernel_set is not None and kernel_set.compiled:
            return pipeline.is_plain_for("", special_text) and ALIKE.holds_utf8(piece, kernel_set)
        return pipeline.is_plain_for(piece.decode(), special_text)

    def _encode_piece(self, piece: bytes, cut: PieceCutter, allow_special: bool) -> Ids:
        special_text: SpecialText = "allow" if allow_special else "text"
        if self._is_guarded and not self._is_plain(piece, special_text):
            if isinstance(self.tokenizer.pipeline, NormalizedFirstPipeline):
                return self._encode_normalized(self.tokenizer.pipeline, piece.decode(), special_text)
            with self._one_at_a_time:
                encoded = self.tokenizer.lay_out(piece.decode(), special_text)
            ids = encoded.at(self.tokenizer.position).ids
            return ids[ids >= 0].astype(np.int32)
        worker = self._workers.get()
        try:
            found = []
            for stretch, is_special in cut.stretches(piece):
                if is_special:
                    found.append(np.array([self.tokenizer.special_ids[stretch.decode()]], dtype=np.int32))
                else:
                    found.append(worker.encode(stretch, self._pretokenizer, self.tokenizer.counting.normalize))
            return found[0] if len(found) == 1 else np.concatenate(found)
        finally:
            self._workers.put(worker)

    def _encode_normalized(self, pipeline: NormalizedFirstPipeline, text: str, special_text: SpecialText) -> Ids:
        """Encode a text whose pre-tokens a pipeline knows; where its tokens stand would take 200 bytes a character."""
        known: dict[str, list[int]] = {}
        ids: list[int] = []
        for pretoken, is_special in pipeline.pretokens(text, special_text):
            if is_special:
                ids.append(self.tokenizer.special_ids[pretoken])
                continue
            found = known.get(pretoken)
            if found is None:
                encoded = self.tokenizer.encode_pretoken(pretoken.encode())
                found = known[pretoken] = [token_id for token_id in encoded if token_id is not None]
            ids += found
        return np.array(ids, dtype=np.int32)


def _slices(data: bytes | mmap.mmap, kernel_set: Kernels | None) -> Iterator[bytes]:
    """Yield slices of about PIECE_BYTES that end with a whole character, as valid UTF-8.

    kernel_set: checks the slices; None: Python does, which takes twice as long and keeps other threads waiting
    """
    start = 0
    while start < len(data):
        end = min(start + PIECE_BYTES, len(data))
        # At most three bytes belong to a character that began before; more are no UTF-8.
        for back in range(4):
            if end == len(data) or data[end - back] & 0xC0 != 0x80:
                end -= back if end < len(data) else 0
                break
        piece = data[start:end]
        start = end
        yield piece if _is_valid(piece, kernel_set) else piece.decode(errors="replace").encode()


def _is_valid(piece: bytes, kernel_set: Kernels | None) -> bool:
    if kernel_set is not None and kernel_set.compiled:
        octets = np.frombuffer(piece, dtype=np.uint8)
        return bool(kernel_set.of(kernels_scanning).valid_until(octets, 0, len(octets)) == len(octets))
    try:
        piece.decode()
    except UnicodeDecodeError:
        return False
    return True


class _Worker(Protocol):
    """Encodes text without special tokens, and remembers; one thread uses it at a time."""

    def encode(self, text: bytes, pretokenizer: Pretokenizer, forms: tuple[str, ...]) -> Ids: ...


class _PretokenWorker(_Worker):
    """Without kernels, and for a base that they do not know: characters, or a marker. Gaps have no id."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._known: dict[str, tuple[int, ...]] = {}
        self._n_known = 0  # characters and ids in it

    def encode(self, text: bytes, pretokenizer: Pretokenizer, forms: tuple[str, ...]) -> Ids:
        ids: list[int] = []
        known = self._known
        for pretoken in pretokenizer.split(normalize(text.decode(), forms)):
            found = known.get(pretoken)
            if found is None:
                encoded = self._tokenizer.encode_pretoken(pretoken.encode())
                if self._tokenizer.refuses_gaps and None in encoded:
                    self._tokenizer.lay_out(pretoken, "text")  # raises
                found = tuple(token_id for token_id in encoded if token_id is not None)
                self._n_known += len(pretoken) + len(found)
                if len(known) >= ENTRIES or self._n_known > KEPT_BYTES:
                    known.clear()
                    self._n_known = len(pretoken) + len(found)
                known[pretoken] = found
            ids += found
        return np.array(ids, dtype=np.int32)


class ArrayWorker(_Worker):
    """Runs the kernels."""

    def __init__(self, tokenizer: Tokenizer, merges: Merges, kernel_set: Kernels, entries: int) -> None:
        """merges: of merges_of(tokenizer); entries: as of Encoder."""
        self._kernels = kernel_set
        self._module = kernel_set.of(kernels_encoding)
        # Documents are a matter of training: a text is encoded as one.
        self._rule = rule_for(replace(tokenizer.counting, documents="file"))
        self.cache = empty_cache(entries)
        self._room = Room(
            # Without a rule spans are encoded, and no scanner is asked.
            scanner=scanner_for(kernels_scanning.WORDS if self._rule is None else self._rule),
            merges=merges,
            cache=self.cache,
            lanes=empty_lanes(),
            scratch=empty_scratch(1 << 10),
            batch=empty_batch(batch_for(entries)),
        )
        self._bound = kernel_set.bind(self._room)
        self._out = np.empty(0, dtype=np.int32)

    def _make_room(self, longest: int) -> None:
        """See that there is scratch for a pre-token of so many bytes."""
        if longest > len(self._room.scratch.symbol):
            self._room = self._room._replace(scratch=empty_scratch(longest))
            self._bound = self._kernels.bind(self._room)

    def encode(self, text: bytes, pretokenizer: Pretokenizer, forms: tuple[str, ...]) -> Ids:
        """Return the ids of a text. pretokenizer: the tokenizer's; forms: its normalizations."""
        if not text:
            return np.empty(0, dtype=np.int32)
        if forms:
            text = normalize(text.decode(), forms).encode()
        if len(self._out) < len(text) + PACKED_TOKENS:
            self._out = np.empty(len(text) + PACKED_TOKENS, dtype=np.int32)
        data = np.frombuffer(text, dtype=np.uint8)
        if self._rule is None:
            return self._encode_spans(data, byte_spans(pretokenizer, text))
        return self._scan(self._rule, data)

    def _scan(self, rule: int, data: NDArray[np.uint8]) -> Ids:
        found: list[Ids] = []
        view, out = self._kernels.view((data, self._out))
        done = 0
        while done < len(data):
            done = self._module.encode_text(self._bound, rule, view, done, len(data), out)
            found.append(self._out[: self.cache.used[IDS]].copy())
            if done < len(data):
                self._make_room(int(self.cache.used[WANTED]))
        return found[0] if len(found) == 1 else np.concatenate(found)

    def _encode_spans(self, data: NDArray[np.uint8], spans: Spans) -> Ids:
        start, end = spans
        if not len(start):
            return np.empty(0, dtype=np.int32)
        self._make_room(int((end - start).max()))
        data, start, end, out = self._kernels.view((data, start, end, self._out))
        n = self._module.encode_spans(self._bound, data, start, end, out)
        return self._out[:n].copy()


def byte_spans(pretokenizer: Pretokenizer, data: bytes) -> Spans:
    """Return where the pre-tokens of a UTF-8 text start and end, in bytes: two (pretokens,) int64."""
    text = data.decode()
    if pretokenizer.lossless:
        # Only their lengths are needed, and strings are made faster than matches.
        lengths = np.fromiter(map(len, pretokenizer.split(text)), np.int64)
        end = np.cumsum(lengths)
        start = end - lengths
    else:
        spans = np.array(pretokenizer.spans(text), dtype=np.int64).reshape(-1, 2)
        start, end = spans[:, 0].copy(), spans[:, 1].copy()
    if len(text) == len(data):
        return start, end
    # Bytes that begin a character, and the end of the text.
    begins = np.append(np.flatnonzero((np.frombuffer(data, dtype=np.uint8) & 0xC0) != 0x80), len(data))
    return begins[start], begins[end]
