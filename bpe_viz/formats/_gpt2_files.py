"""The two files of GPT-2's format: which belong together, and what stands in them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bpe_viz.errors import FormatError
from bpe_viz.formats._reading import (
    HEAD_BYTES,
    lines_of,
    parse_numbers,
    plain_path,
    read_head,
    read_whole,
    unreadable,
    without_bom,
)
from bpe_viz.formats._written_merges import HEADER, is_clip, is_header, looks_like_merges

NAMES = (("vocab.json", "merges.txt"), ("encoder.json", "vocab.bpe"))
"""A vocabulary and its merges; both may follow a prefix, as in `novel-vocab.json`."""

_VOCABULARY = re.compile(rb'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*[0-9]+\s*[,}]')
_OTHER_JSON = re.compile(rb'\s*\{\s*"(?:explicit_n_vocab|version)"')
_MOST_NEIGHBOURS = 500


@dataclass(frozen=True, slots=True)
class Files:
    """A vocabulary and its merges."""

    vocabulary: Path
    merges: Path
    notes: tuple[str, ...] = ()


def is_vocabulary(head: bytes) -> bool:
    """Tell whether a file begins as a JSON object of tokens and ids."""
    start = without_bom(head)
    return _VOCABULARY.match(start) is not None and _OTHER_JSON.match(start) is None


def is_one_of_the_two(path: Path, head: bytes) -> bool:
    """Tell whether a file is GPT-2's vocabulary or merges, by its beginning, its name and its neighbours."""
    if is_vocabulary(head):
        return _prefix(path, 0) is not None or bool(_merges_beside(path))
    if is_clip(head) or not _begins_like_merges(path, head):
        return False
    return _named_partner(path, 1, 0) is not None or _is_written_in_stand_ins(head) or bool(_vocabularies_beside(path))


def find_files(path: Path) -> Files:
    """Return the vocabulary and the merges that belong together, one of which is given.

    Raises FormatError if the other is not in the same folder, or more than one may be meant.
    """
    try:
        head = read_head(path)
    except OSError as error:
        raise unreadable(path, error) from error
    have, want = (0, 1) if is_vocabulary(head) or without_bom(head).lstrip().startswith(b"{") else (1, 0)
    partner = _named_partner(path, have, want)
    notes: tuple[str, ...] = ()
    if partner is None:
        others = _merges_beside(path) if have == 0 else _vocabularies_beside(path)
        if len(others) != 1:
            raise _no_partner(path, want, others)
        partner = others[0]
        notes = (f"{path.name} is read with {partner.name}, the only one in its folder that fits.",)
    return Files(path, partner, notes) if have == 0 else Files(partner, path, notes)


def _no_partner(path: Path, want: int, others: list[Path]) -> FormatError:
    what = ("vocabulary", "merges")[want]
    if others:
        listed = ", ".join(other.name for other in others[:8])
        return FormatError(f"{path}: several files may hold its {what}: {listed}.", "Open one of these instead.")
    names = " or ".join(pair[want] for pair in NAMES)
    return FormatError(f"{path}: its {what} are in another file, and there is none beside it.", f"Put {names} there.")


def _prefix(path: Path, kind: int) -> str | None:
    """Return what stands before the usual name of a vocabulary (0) or of merges (1), None if the name is another."""
    name = plain_path(path).name
    return next((name.removesuffix(pair[kind]) for pair in NAMES if name.endswith(pair[kind])), None)


def _named_partner(path: Path, have: int, want: int) -> Path | None:
    prefix = _prefix(path, have)
    if prefix is None:
        return None
    name = plain_path(path).name
    pairs = sorted(NAMES, key=lambda pair: not name.endswith(pair[have]))  # its own pair first
    for pair in pairs:
        for suffix in ("", ".gz"):
            partner = path.parent / f"{prefix}{pair[want]}{suffix}"
            if partner.is_file():
                return partner
    return None


def _neighbours(path: Path) -> Iterator[tuple[Path, bytes]]:
    """Yield the other files of a folder with their first bytes; none of a folder that is large."""
    try:
        names = sorted(os.listdir(path.parent))
    except OSError:
        return  # a folder that cannot be listed has no neighbours to offer
    for name in names if len(names) <= _MOST_NEIGHBOURS else ():
        other = path.parent / name
        try:
            if other.is_file() and name != path.name:
                yield other, read_head(other)
        except OSError:
            continue  # nor has a file that cannot be read


def _merges_beside(path: Path) -> list[Path]:
    """Return the lists of merges beside a vocabulary whose tokens are all in it, so far as the beginning tells."""
    found = [(other, head) for other, head in _neighbours(path) if looks_like_merges(head)]
    tokens = _tokens(path) if found else set()
    return [other for other, head in found if _fits(tokens, head)]


def _vocabularies_beside(path: Path) -> list[Path]:
    try:
        head = read_head(path)
    except OSError:
        return []  # opening it will tell
    found = [other for other, beginning in _neighbours(path) if is_vocabulary(beginning)]
    return [other for other in found if _fits(_tokens(other), head)]


def _tokens(path: Path) -> set[str]:
    try:
        return set(parse_numbers(path, read_whole(path), "vocabulary"))
    except FormatError:
        return set()  # a damaged file fits nothing; opening it tells why


def _fits(tokens: set[str], head: bytes) -> bool:
    """Tell whether a vocabulary has all tokens of the first merges, and there are some."""
    merges = _first_merges(head)
    return bool(merges) and all({left, right, left + right} <= tokens for left, right in merges)


def _first_merges(head: bytes) -> list[tuple[str, str]]:
    lines = without_bom(head).decode(errors="ignore").split("\n")
    if len(head) >= HEAD_BYTES:
        lines.pop()  # it may be cut
    fields = [line.removesuffix("\r").split(" ") for i, line in enumerate(lines) if i > 0 or not is_header(line)]
    return [(parts[0], parts[1]) for parts in fields if len(parts) == 2 and all(parts)]


def _begins_like_merges(path: Path, head: bytes) -> bool:
    if looks_like_merges(head):
        return True
    # Named so, a list that is damaged or too short to tell is one all the same.
    return _prefix(path, 1) is not None and not without_bom(head).lstrip().startswith(b"{")


def _is_written_in_stand_ins(head: bytes) -> bool:
    """Tell whether merges are of letters that stand for bytes: Ġ for a space begins words, and no marker ends them."""
    merges = _first_merges(head)
    return any(left.startswith("Ġ") for left, _ in merges) and not any(r.endswith("</w>") for _, r in merges)


def read_vocabulary(path: Path) -> dict[str, int]:
    """Return token -> id. Raises FormatError that names the entry."""
    vocabulary = parse_numbers(path, read_whole(path), "vocabulary")
    if not vocabulary:
        raise FormatError(f"{path} holds no token.", "Download or save it again.")
    return vocabulary


def late_headers(path: Path, data: bytes) -> list[int]:
    """Return the lines behind the first that look like a header, which are merges here and passed over elsewhere."""
    lines = lines_of(path, data)
    return [number for number, line in enumerate(lines, start=1) if number > 1 and line.startswith(HEADER)]
