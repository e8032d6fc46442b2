"""Byte-pair encoding as it is taught: count every pair, merge the best one, count again.

This is the lesson and the oracle. It recounts everything at every step, so it is slow and plainly right; the Trainer
must give the same merges and the same counts after every merge.
Source: Sennrich, Haddow and Birch, "Neural Machine Translation of Rare Words with Subword Units", 2016, algorithm 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

Word = tuple[str, ...]
"""A pre-token as it is split now: its symbols, each a string of its own, never joined."""

PairOfText = tuple[str, str]
Ids = Mapping[str, int]
Rule = Callable[[PairOfText, Ids], object]
"""A sort key of a pair, given the ids of all symbols so far: the smallest key wins a tie."""


def count_pairs(words: Mapping[Word, int]) -> Counter[PairOfText]:
    """Count adjacent pairs inside each word, overlapping ones included, times the word's count."""
    counts: Counter[PairOfText] = Counter()
    for word, count in words.items():
        for pair in pairwise(word):
            counts[pair] += count
    return counts


def merge_word(word: Word, pair: PairOfText) -> Word:
    """Replace the pair from left to right, without overlap: a a a becomes aa a."""
    merged: list[str] = []
    i = 0
    while i < len(word):
        if word[i : i + 2] == pair:
            merged.append(word[i] + word[i + 1])
            i += 2
        else:
            merged.append(word[i])
            i += 1
    return tuple(merged)


def textbook(pair: PairOfText, ids: Ids) -> object:
    """The smallest (left, right), compared by code point."""
    return pair


def utf16(pair: PairOfText, ids: Ids) -> object:
    """The smallest (left, right) joined by NUL, compared by UTF-16 unit."""
    return "\0".join(pair).encode("utf-16-be")


def smallest_ids(pair: PairOfText, ids: Ids) -> object:
    """The smallest (left id, right id)."""
    return ids[pair[0]], ids[pair[1]]


def first_seen(pair: PairOfText, ids: Ids) -> object:
    """The pair met first: all keys are equal, and pairs are counted in the order of the text."""
    return 0


def greatest(pair: PairOfText, ids: Ids) -> object:
    """The greatest (left, right), compared by code point: an ended string is smaller than one that goes on."""
    return tuple((*(-ord(letter) for letter in symbol), 1) for symbol in pair)


def shortest_piece(pair: PairOfText, ids: Ids) -> object:
    """The fewest code points in the new piece, then the smallest piece."""
    return len(pair[0] + pair[1]), pair[0] + pair[1]


def train(
    words: Mapping[Word, int],
    merges: int,
    min_count: int = 1,
    rule: Rule = textbook,
    ids: Ids | None = None,
    chosen: Sequence[PairOfText] = (),
) -> list[tuple[PairOfText, int]]:
    """Return (pair, its count) of each merge, in order.

    words: each distinct word in base symbols, with its count
    rule:  who wins a tie
    ids:   of the base symbols; None: in code-point order
    chosen: what to merge first, whatever the rule says
    """
    learned: list[tuple[PairOfText, int]] = []
    words = dict(words)
    symbols = sorted({symbol for word in words for symbol in word})
    numbered = dict(ids or {symbol: number for number, symbol in enumerate(symbols)})
    while len(learned) < merges:
        counts = count_pairs(words)
        if len(learned) < len(chosen):
            best = chosen[len(learned)]
        else:
            highest = max(counts.values(), default=0)
            if highest < max(1, min_count):
                break
            tied = [pair for pair, count in counts.items() if count == highest]
            best = min(tied, key=lambda pair: rule(pair, numbered))  # type: ignore[arg-type, return-value]  # keys compare
        numbered[best[0] + best[1]] = len(numbered)
        learned.append((best, counts[best]))
        words = merge_words(words, best)
    return learned


def merge_words(words: Mapping[Word, int], pair: PairOfText) -> dict[Word, int]:
    """Merge the pair in every word. Words that become equal stay apart only if they were different: add them up."""
    merged: Counter[Word] = Counter()
    for word, count in words.items():
        merged[merge_word(word, pair)] += count
    return dict(merged)


def encode(word: Word, merges: Sequence[PairOfText]) -> Word:
    """Apply the merges in rank order, every place of a rank from left to right."""
    for pair in merges:
        word = merge_word(word, pair)
    return word
