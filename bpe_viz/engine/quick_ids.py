"""The ids of a sentence, quickly: a text is put together from what was seen before.

No pattern of the GPT-2 family matches across a space that follows a non-space, so a text may be cut there into
*chunks*, mostly a word with the space before it, and each chunk encoded once. Three ways, each quicker than the next:
1. The text is parted at its spaces alone, all of which begin chunks that are known.
2. The text is cut into chunks by a pattern, and those are known.
3. A chunk is new: it is pretokenized, and its pre-tokens are looked up or merged.
With other pretokenizers and with normalization the whole text goes the third way.

Where much is new, the compiled kernels take a twentieth of the time of the third way. They are laid out once so much
was merged without them that it is worth the half second, if they are at hand; from then on a text that is met for the
first time goes to them.
"""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING

from bpe_viz.engine.pretokenize import pretokenizer_for
from bpe_viz.engine.segments import SpecialTokenCutter, normalize

if TYPE_CHECKING:
    from bpe_viz.engine.encoder import ArrayWorker
    from bpe_viz.engine.tokenizer import Tokenizer

Ids = tuple[int, ...]

_WORTH_LOADING = 50_000
_WORTH_LAYING_OUT = 2_000
"""So many bytes of new pre-tokens are merged before the kernels are loaded, and before loaded ones are used."""

_ENTRIES = 1 << 16  # of the kernels' memory: two megabytes
_LAST = True
_MOST_KEPT = 100_000
_LONGEST_KEPT = 200

# `re` knows every space that `regex` knows and U+001C to U+001F besides, so it only cuts less often.
_EDGE = re.compile(r"(?<=\S)(?= )")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class QuickIds:
    """The ids of texts at one tokenizer's position. One thread uses it."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        counting = tokenizer.counting
        self._tokenizer = tokenizer
        self._pretokenizer = pretokenizer_for(counting)
        self._cutter = SpecialTokenCutter(counting.special_tokens)
        self._special_heads = tuple({special[:1] for special in counting.special_tokens})
        self._cuts_at_words = (
            counting.pattern is None
            and counting.pretokenizer != "none"
            and not counting.normalize
            and not any(" " in text for text in counting.special_tokens)
        )
        self._pretokens: dict[str, Ids] = {}
        self._chunks: dict[str, Ids] = {}
        # Chunks by the word behind their space. Only words that end with a non-space are here, so that the space behind
        # them begins a chunk. What begins a text has no space before it, and what ends one may end with any: such words
        # stand in tuples, (word,) and (word, _LAST).
        self._words: dict[object, Ids] = {}
        self._n_merged = 0  # bytes
        self._next_try = _WORTH_LAYING_OUT
        self._worker: ArrayWorker | None = None
        self._met: set[int] = set()  # hashes of texts that went to the kernels

    def of(self, text: str) -> list[int]:
        """Return the ids of a text, gaps left out; a lone surrogate is encoded as U+FFFD."""
        if not self._cuts_at_words:
            return self._of_new(text) if self._has_worker() else list(self._of_chunk(text))
        if self._worker is not None and self._is_first(text):
            return self._of_new(text)
        words: list[object] = text.split(" ")  # type: ignore[assignment]  # a list of its own
        words[0] = (words[0],)
        words[-1] = (words[-1], _LAST)
        try:
            return list(chain.from_iterable(map(self._words.__getitem__, words)))
        except KeyError:
            return self._of_new(text) if self._worker is None and self._has_worker() else self._of_chunks(text)

    def _is_first(self, text: str) -> bool:
        """Tell whether a text is met for the first time; what comes again is worth remembering word by word."""
        key = hash(text)
        if key in self._met:
            return False
        if len(self._met) >= _MOST_KEPT:
            self._met.clear()
        self._met.add(key)
        return True

    def _has_worker(self) -> bool:
        """Tell whether the kernels are laid out; does so when it has become worth it."""
        if self._worker is None and self._n_merged >= self._next_try:
            self._worker = self._lay_out()
            self._next_try = max(_WORTH_LOADING, 2 * self._n_merged)
        return self._worker is not None

    def _lay_out(self) -> ArrayWorker | None:
        from bpe_viz.engine import compiled
        from bpe_viz.engine.encoder import ArrayWorker
        from bpe_viz.engine.encoding_arrays import merges_of, runs_in_arrays

        kernel_set = compiled.loaded()
        if kernel_set is None and self._n_merged >= _WORTH_LOADING and compiled.is_ready():
            kernel_set = compiled.load()
        if kernel_set is None or not runs_in_arrays(self._tokenizer):
            return None
        return ArrayWorker(self._tokenizer, merges_of(self._tokenizer, kernel_set), kernel_set, _ENTRIES)

    def _of_new(self, text: str) -> list[int]:
        """Encode a text with the kernels."""
        try:
            content = text.encode()
        except UnicodeEncodeError:
            text = _LONE_SURROGATE.sub("\ufffd", text)
            content = text.encode()
        if not any(head in text for head in self._special_heads):
            return self._of_plain(content)
        ids: list[int] = []
        for stretch, is_special in self._cutter.add(text, final=True):
            if is_special:
                ids.append(self._tokenizer.special_ids[stretch])
            else:
                ids += self._of_plain(stretch.encode())
        return ids

    def _of_plain(self, content: bytes) -> list[int]:
        if self._worker is None:
            raise TypeError("the kernels are laid out first")
        ids: list[int] = self._worker.encode(content, self._pretokenizer, self._tokenizer.counting.normalize).tolist()
        return ids

    def _of_chunks(self, text: str) -> list[int]:
        ids: list[int] = []
        parts = _EDGE.split(text)
        for chunk in parts:
            found = self._chunks.get(chunk)
            if found is None:
                found = self._of_chunk(chunk)
                self._keep(chunk, found)
            ids += found
        self._keep_ends(parts[0], parts[-1], is_one=len(parts) == 1)
        return ids

    def _of_chunk(self, chunk: str) -> Ids:
        """Encode a text that need not be cut into chunks."""
        ids: list[int] = []
        pretokens = self._pretokens
        tokenizer = self._tokenizer
        for stretch, is_special in self._cutter.add(_LONE_SURROGATE.sub("\ufffd", chunk), final=True):
            if is_special:
                ids.append(tokenizer.special_ids[stretch])
                continue
            for pretoken in self._pretokenizer.split(normalize(stretch, tokenizer.counting.normalize)):
                found = pretokens.get(pretoken)
                if found is None:
                    content = pretoken.encode()
                    self._n_merged += len(content)
                    encoded = tokenizer.encode_pretoken(content)
                    found = tuple(token_id for token_id in encoded if token_id is not None)
                    if len(pretoken) <= _LONGEST_KEPT:
                        if len(pretokens) >= _MOST_KEPT:
                            pretokens.clear()
                        pretokens[pretoken] = found
                ids += found
        return tuple(ids)

    def _keep(self, chunk: str, ids: Ids) -> None:
        if len(chunk) > _LONGEST_KEPT:
            return
        if len(self._chunks) >= _MOST_KEPT:
            self._chunks.clear()
            self._words.clear()
        self._chunks[chunk] = ids
        word = chunk[1:]
        if chunk[:1] == " " and word and " " not in word and not word[-1].isspace():
            self._words[word] = ids

    def _keep_ends(self, first: str, last: str, *, is_one: bool) -> None:
        """Remember how a text begins and ends, where that is known and a word."""
        if len(self._words) >= 2 * _MOST_KEPT:
            self._words.clear()
        # A text that begins with a space has nothing before it.
        self._words["",] = ()
        begins, ends = self._chunks.get(first), self._chunks.get(last)
        if begins is not None and " " not in first:
            self._words[((first,), _LAST) if is_one else (first,)] = begins
        if ends is not None and last[:1] == " " and " " not in last[1:]:
            self._words[last[1:], _LAST] = ends
