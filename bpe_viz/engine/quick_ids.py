"""The ids of a sentence, quickly: a text is put together from what was seen before.

No pattern of the GPT-2 family matches across a space that follows a non-space, so a text may be cut there into
*chunks*, mostly a word with the space before it, and each chunk encoded once. Three ways, each quicker than the next:
1. The text is parted at its spaces alone, all of which begin chunks that are known.
2. The text is cut into chunks by a pattern, and those are known.
3. A chunk is new: it is pretokenized, and its pre-tokens are looked up or merged.
With other pretokenizers and with normalization the whole text goes the third way.
"""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING

from bpe_viz.engine.pretokenize import pretokenizer_for
from bpe_viz.engine.segments import SpecialTokenCutter, normalize

if TYPE_CHECKING:
    from bpe_viz.engine.tokenizer import Tokenizer

Ids = tuple[int, ...]

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

    def of(self, text: str) -> list[int]:
        """Return the ids of a text, gaps left out; a lone surrogate is encoded as U+FFFD."""
        if not self._cuts_at_words:
            return list(self._of_chunk(text))
        words: list[object] = text.split(" ")  # type: ignore[assignment]  # a list of its own
        words[0] = (words[0],)
        words[-1] = (words[-1], _LAST)
        try:
            return list(chain.from_iterable(map(self._words.__getitem__, words)))
        except KeyError:
            return self._of_chunks(text)

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
                    encoded = tokenizer.encode_pretoken(pretoken.encode())
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
