"""The `.model` of minbpe: a line `minbpe v1`, the pattern, the special tokens, then the pairs of ids that merge.

Ids 0 to 255 are the bytes in order and merges follow, so a pair needs no text. Source: karpathy/minbpe, minbpe/base.py
and minbpe/regex.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import regex

from bpe_viz.engine.pretokenize import LINES, WHOLE_TEXT, pretokenizer_for
from bpe_viz.engine.symbols import BaseVocabulary
from bpe_viz.engine.tokenizer import BYTES, Tokenizer
from bpe_viz.engine.types import DEFAULT_MARKER, CountingOptions, Options, Pair
from bpe_viz.errors import FormatError
from bpe_viz.formats import Format, refuse_pretokenizer
from bpe_viz.formats._patterns import check_pattern, counting_for
from bpe_viz.formats._reading import AGAIN, LARGEST_ID, damaged, lines_of, read_whole, shortened_line, without_bom

FIRST_LINE = "minbpe v1"

GPT4 = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*"
    r"|\s*[\r\n]|\s+(?!\S)|\s+"
)
"""The pattern that minbpe has when it is given none."""

_NUMBER = re.compile(r"[0-9]{1,10}")
_PAIR = re.compile(r"([0-9]{1,10}) ([0-9]{1,10})")
_MERGES_FROM = 256


def detect(path: Path, head: bytes) -> bool:
    """Tell whether a file begins as minbpe begins it."""
    return without_bom(head).startswith(FIRST_LINE[:-1].encode())


def load(path: Path, given: CountingOptions | None = None) -> Tokenizer:
    """Read a model. Raises FormatError that names the line."""
    refuse_pretokenizer(path, given)
    lines = lines_of(path, read_whole(path))
    if lines[0] != FIRST_LINE:
        raise damaged(path, 1, lines[0], f"is not {FIRST_LINE!r}, the version that bpe-viz reads")
    if len(lines) < 3:
        raise FormatError(f"{path} ends before its pattern and special tokens.", AGAIN)
    pattern = lines[1]
    _check_pattern(path, pattern)
    special_ids = _special_tokens(path, lines)
    first = 4 + len(special_ids)  # the number of the first merge's line
    pairs = _pairs(path, lines[first - 1 :], first)
    for text, number in special_ids.items():
        if number < _MERGES_FROM + len(pairs):
            raise FormatError(f"{path}: the special token {text!r} has the id {number} of another token.", AGAIN)
    base = BaseVocabulary("bytes", "none", DEFAULT_MARKER, BYTES, (False,) * len(BYTES))
    # BasicTokenizer, whose pattern is empty, looks for no special tokens.
    looked_for = tuple(special_ids) if pattern else ()
    counting = counting_for(pattern or WHOLE_TEXT, looked_for)
    tokenizer = Tokenizer.from_merges(base, pairs, counting, special_ids=special_ids, name=path.name)
    tokenizer.notes = tuple(_notes(path, pattern, special_ids))
    return tokenizer


def _check_pattern(path: Path, pattern: str) -> None:
    if not pattern:
        return
    place = f"{path}, line 2"
    check_pattern(place, pattern)
    if regex.compile(pattern).groups:
        raise FormatError(
            f"{place}: the pattern {shortened_line(pattern)} has a group, and minbpe would take only what the group "
            "matches.",
            "Write (?:...) for its groups.",
        )


def _special_tokens(path: Path, lines: Sequence[str]) -> dict[str, int]:
    """Return the ids of the special tokens by text."""
    if not _NUMBER.fullmatch(lines[2]):
        raise damaged(path, 3, lines[2], "is not the number of special tokens")
    count = int(lines[2])
    if count > len(lines) - 3:
        raise FormatError(f"{path} ends before its {count:,} special tokens.", AGAIN)
    special_ids: dict[str, int] = {}
    for number, line in enumerate(lines[3 : 3 + count], start=4):
        fields = line.split()
        if len(fields) != 2 or not _NUMBER.fullmatch(fields[1]) or int(fields[1]) > LARGEST_ID:
            raise damaged(path, number, line, "is not a special token and its id")
        text = fields[0]
        if text in special_ids:
            raise damaged(path, number, line, "lists a special token again")
        if shorter := next((known for known in special_ids if text.startswith(known)), None):
            raise damaged(
                path,
                number,
                line,
                f"lists a special token behind {shorter!r}, which it begins with and which minbpe would find first",
                "List the longer one first.",
            )
        special_ids[text] = int(fields[1])
    return special_ids


def _pairs(path: Path, lines: Sequence[str], first: int) -> list[Pair]:
    """Return the merges. first: the number of their first line"""
    pairs: list[Pair] = []
    seen: dict[Pair, int] = {}
    for number, line in enumerate(lines, start=first):
        if not line and number == first + len(lines) - 1:
            break  # behind the last line end
        found = _PAIR.fullmatch(line)
        if found is None:
            raise damaged(path, number, line, "is not a pair of ids, parted by one space")
        pair = Pair(int(found[1]), int(found[2]))
        if max(pair) >= _MERGES_FROM + len(pairs):
            raise damaged(path, number, line, f"names the id {max(pair)}, which no line before it makes")
        if pair in seen:
            raise damaged(path, number, line, f"lists the pair of line {seen[pair]} again")
        seen[pair] = number
        pairs.append(pair)
    return pairs


def _notes(path: Path, pattern: str, special_ids: dict[str, int]) -> Iterator[str]:
    if not pattern:
        yield f"{path.name} has no pattern, as minbpe's BasicTokenizer: a whole text is one pre-token."
        if special_ids:
            yield "BasicTokenizer looks for no special tokens: they are only decoded."
    elif pattern != pattern.strip():
        yield "minbpe loses the space at an end of the pattern when it reads it; bpe-viz keeps it."
    if pattern and pattern != GPT4:
        yield "minbpe itself goes on with GPT-4's pattern when it has read a file; bpe-viz uses the file's."
    if len(set(special_ids.values())) < len(special_ids):
        yield "Special tokens share an id, which decodes to the first of them."


def contents(tokenizer: Tokenizer, path: Path) -> dict[Path, bytes]:
    """Return a tokenizer at its position as a file of minbpe's. Raises FormatError for what minbpe cannot say."""
    base, counting, position = tokenizer.base, tokenizer.counting, tokenizer.position
    _check(base.base, base.end_of_word, counting)
    used = len(base) + position
    if base.content != BYTES or not np.array_equal(tokenizer.ids_of(np.arange(used)), np.arange(used)):
        raise FormatError(
            "minbpe numbers the bytes 0 to 255 in order and merges from 256 on, and this tokenizer does not.",
            "Save as .json.",
        )
    pairs = tokenizer.pairs
    if len(set(pairs)) < len(pairs):
        raise FormatError("Two merges join the same pair, which minbpe would number as one.", "Save as .json.")
    specials = {text: tokenizer.special_ids[text] for text in _longest_first(counting.special_tokens)}
    for text, number in specials.items():
        if number < used:
            raise FormatError(f"The special token {text!r} is an ordinary token too.", "Save as .json.")
    lines = [FIRST_LINE, _pattern_of(counting), str(len(specials))]
    lines += [f"{text} {number}" for text, number in specials.items()]
    lines += [f"{left} {right}" for left, right in pairs]
    return {path: "".join(f"{line}\n" for line in lines).encode()}


def check(options: Options) -> None:
    """Raise FormatError if no tokenizer that is trained with these options can be written."""
    _check(options.training.base, options.training.end_of_word, options.counting)
    if options.training.rule == "huggingface":
        raise FormatError(
            "minbpe numbers the bytes 0 to 255 in order, and the tie rule huggingface does not.",
            "Choose another --rule, or save as .json.",
        )


def _check(base: str, end_of_word: str, counting: CountingOptions) -> None:
    if base != "bytes" or end_of_word != "none":
        raise FormatError(
            "minbpe holds merges of bytes, without an end-of-word marker.", "Train with --base bytes, or save as .json."
        )
    if counting.normalize:
        raise FormatError("minbpe cannot say that text is normalized first.", "Save as .json.")
    for text in counting.special_tokens:
        if text.split() != [text]:
            raise FormatError(
                f"The special token {text!r} holds white space, at which minbpe would part it.",
                "Choose another text for it, or save as .json.",
            )
    pattern = _pattern_of(counting)
    if "\n" in pattern or "\r" in pattern:
        raise FormatError("The pattern holds a line end, and minbpe gives it one line.", r"Write \n or \r in it.")
    if pattern and regex.compile(pattern).groups:
        raise FormatError(
            "The pattern has a group, and minbpe would take only what the group matches.", "Write (?:...) for it."
        )


def _pattern_of(counting: CountingOptions) -> str:
    """Return the pattern as the file has it: none for whole texts, which BasicTokenizer takes."""
    pattern = pretokenizer_for(counting).pattern or LINES
    return "" if pattern == WHOLE_TEXT and not counting.special_tokens else pattern


def _longest_first(texts: Sequence[str]) -> list[str]:
    """Return special tokens as minbpe must try them: it takes the first that fits, bpe_viz the longest."""
    return sorted(dict.fromkeys(texts), key=lambda text: -len(text))


def losses(tokenizer: Tokenizer) -> Iterator[str]:
    """Say what minbpe itself loses."""
    pattern = _pattern_of(tokenizer.counting)
    if pattern != pattern.strip():
        yield "minbpe itself loses the space at an end of the pattern when it reads it."


FORMAT = Format(
    name="minbpe",
    title="minbpe model",
    suffixes=(".model",),
    detect=detect,
    load=load,
    contents=contents,
    losses=losses,
    check=check,
)
