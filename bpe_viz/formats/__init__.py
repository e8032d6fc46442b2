"""Tokenizer file formats: one file each, found by itself.

A module in this folder that has a FORMAT is a format. To add one, add a file; tests/formats holds it to its
contract.
"""

from __future__ import annotations

import codecs
import importlib
import pkgutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Protocol

import numpy as np

from bpe_viz.engine.pipeline import PlainPipeline
from bpe_viz.engine.tokenizer import Tokenizer
from bpe_viz.engine.types import CountingOptions, Options
from bpe_viz.errors import FormatError
from bpe_viz.formats._draft import Draft
from bpe_viz.formats._own_library import Encode, OwnLibrary, Units
from bpe_viz.formats._reading import plain_path, read_head, unreadable
from bpe_viz.whole_file import check_writable

__all__ = [
    "Draft",
    "Encode",
    "Format",
    "Load",
    "OwnLibrary",
    "PretokenizerNeeded",
    "Units",
    "check_before_training",
    "detect_format",
    "draft_tokenizer",
    "format_to_save",
    "formats",
    "load_tokenizer",
    "losses",
    "refuse_pretokenizer",
    "save_tokenizer",
]


class PretokenizerNeeded(FormatError):  # noqa: N818  # nothing is wrong with the file
    """A file that holds no pretokenizer; the user has to name one."""


class Load(Protocol):
    """Reads a tokenizer file, which may be packed with gzip: `_reading.read_whole` unpacks it."""

    def __call__(self, path: Path, given: CountingOptions | None = None) -> Tokenizer:
        """Read it; given: the user's pretokenizer. Raises FormatError."""


def _no_companions(path: Path) -> tuple[Path, ...]:
    return ()


def _no_losses(tokenizer: Tokenizer) -> tuple[str, ...]:
    return ()


@dataclass(frozen=True, slots=True)
class Format:
    """One tokenizer file format.

    name: what --format calls it; title: for people
    suffixes: of files that are usually in this format, to choose by when saving
    detect: tells from a file's name and first bytes, both unpacked, whether to try load; may look at its neighbours
    load: reads a file; is given the user's pretokenizer for files that hold none. Raises FormatError, and
        PretokenizerNeeded if one is to be given
    contents: returns the files that hold a tokenizer at its position, by path; None: cannot save. Raises FormatError
        if they would change what the tokenizer does
    losses: says in plain words, and whether or not it is saved, what this format does not hold of a tokenizer
    holds_pretokenizer: a saved file tells how text is cut, and which tokens are special
    holds_ids: a saved file tells the ids of tokens
    keeps_document: a tokenizer.json that was read is saved as it was, whatever it says
    companions: the other files that are saved beside the one that is named; raises FormatError for a wrong name
    check: raises FormatError if no tokenizer that is trained with these options can be saved, so far as that is
        known before training; None: any can
    library: tells the right ids; None: no library reads such files
    """

    name: str
    title: str
    suffixes: tuple[str, ...]
    detect: Callable[[Path, bytes], bool]
    load: Load
    contents: Callable[[Tokenizer, Path], dict[Path, bytes]] | None = None
    losses: Callable[[Tokenizer], Iterable[str]] = _no_losses
    holds_pretokenizer: bool = True
    holds_ids: bool = True
    keeps_document: bool = False
    companions: Callable[[Path], tuple[Path, ...]] = _no_companions
    check: Callable[[Options], None] | None = None
    library: OwnLibrary | None = None


_SHOWN_BYTES = 30


@cache
def formats() -> tuple[Format, ...]:
    """Return all formats, by name."""
    found = []
    for module in pkgutil.iter_modules(__path__):
        contents = importlib.import_module(f"{__name__}.{module.name}")
        if hasattr(contents, "FORMAT"):
            found.append(contents.FORMAT)
    return tuple(sorted(found, key=lambda one: one.name))


def detect_format(path: Path) -> Format | None:
    """Return the format of a file by its content, None if it is no tokenizer file. Raises FormatError."""
    try:
        head = read_head(path)
    except OSError as error:
        raise unreadable(path, error) from error
    return next((one for one in formats() if one.detect(plain_path(path), head)), None)


def load_tokenizer(path: Path, given: CountingOptions | None = None) -> Tokenizer:
    """Read a tokenizer file of any format.

    given: the user's pretokenizer, for files that hold none
    Raises FormatError; PretokenizerNeeded if the file holds none and none is given.
    """
    found = detect_format(path)
    if found is None:
        raise FormatError(
            f"{path} is no tokenizer file that bpe-viz reads: {_why_not(path)}.", f"It reads {_titles()}."
        )
    return found.load(path, given)


def refuse_pretokenizer(path: Path, given: CountingOptions | None) -> None:
    """Raise FormatError if a pretokenizer was given for a file that has its own."""
    if given is not None:
        raise FormatError(f"{path} has its own pretokenizer.", "Leave out --pretokenizer and --pattern.")


def _why_not(path: Path) -> str:
    head = read_head(path)
    if not head:
        return "it is empty"
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "it is in UTF-16 instead of UTF-8"
    shown = head[:_SHOWN_BYTES]
    try:
        return f"it begins with {shown.decode()!r}"
    except UnicodeDecodeError:
        return f"it begins with the bytes {shown.hex(' ')}"


def save_tokenizer(tokenizer: Tokenizer, path: Path, name: str | None = None) -> None:
    """Write a tokenizer, whatever is lost. Arguments and errors as in draft_tokenizer; then nothing is written."""
    draft_tokenizer(tokenizer, path, name).write()


def draft_tokenizer(tokenizer: Tokenizer, path: Path, name: str | None = None) -> Draft:
    """Return what saving would write, and what would be lost; nothing is written yet.

    name: of the format; None: chosen by the file's name
    Raises FormatError if there is no such format, it cannot hold the tokenizer, or the file cannot be written.
    """
    found = format_to_save(path, name)
    if found.contents is None:
        raise TypeError(f"{name} is chosen among formats that save")
    _check_companions(found, path)
    check_writable(path, FormatError)
    if not tokenizer.is_told_by_options and not _is_kept(tokenizer, found):
        raise FormatError(
            f"{found.title} cannot hold {tokenizer.name}: it would encode otherwise. {_what_has_no_place(tokenizer)}",
            "Save as tokenizer.json." if tokenizer.document is not None else "Keep the file that it was read from.",
        )
    files = found.contents(tokenizer, path)
    notes = [f"{other.name} belongs to it: keep the two files together." for other in files if other != path]
    if tokenizer.position < tokenizer.n_merges:
        notes.append(
            f"Only the first {tokenizer.position:,} of {tokenizer.n_merges:,} merges are saved"
            f"{'; ids keep their places, so some are not in use' if found.holds_ids and _has_holes(tokenizer) else ''}."
        )
    return Draft(path, found.title, files, tuple(losses(tokenizer, found)), tuple(notes))


def _has_holes(tokenizer: Tokenizer) -> bool:
    """Tell whether an id lies below the largest one in use and stands for no merge that applies."""
    used = tokenizer.ids_of(np.arange(len(tokenizer.base) + tokenizer.position))
    ids = {*used.tolist(), *tokenizer.special_ids.values()}
    return max(ids, default=-1) >= len(ids)


def _what_has_no_place(tokenizer: Tokenizer) -> str:
    """Say what of a tokenizer only its own format can hold."""
    if tokenizer.kind != "BPE":
        return f"It is {tokenizer.kind}, which has no merges."
    if tokenizer.n_merges == 0 and tokenizer.why_no_merges:
        return tokenizer.why_no_merges
    if not isinstance(tokenizer.pipeline, PlainPipeline):
        return f"A text goes through {tokenizer.pipeline.title}, for which there is no place."
    return "Its model has rules of its own beside the merges, for which there is no place."


def losses(tokenizer: Tokenizer, target: Format) -> list[str]:
    """Say in plain words what a format does not hold of a tokenizer, though it encodes alike."""
    found = list(target.losses(tokenizer))
    if _is_kept(tokenizer, target):
        return found
    found += tokenizer.not_in_options
    specials = {text.encode() for text in tokenizer.special_ids}
    unmade = range(len(tokenizer.symbols) - tokenizer.symbols.n_unmade, len(tokenizer.symbols))
    if n := sum(tokenizer.symbols.content(symbol) not in specials for symbol in unmade):
        found.append(
            f"Tokens of the vocabulary that no merge makes are left out, and their ids decode to nothing: {n:,}."
        )
    return found


def _is_kept(tokenizer: Tokenizer, target: Format) -> bool:
    """Tell whether a format writes the tokenizer.json that a tokenizer was read from."""
    return target.keeps_document and tokenizer.document is not None


def check_before_training(options: Options, path: Path, name: str | None = None) -> None:
    """Raise FormatError if a tokenizer trained with these options could not be saved to this file."""
    found = format_to_save(path, name)
    if found.check is not None:
        found.check(options)
    check_writable(path, FormatError)
    _check_companions(found, path)


def _check_companions(found: Format, path: Path) -> None:
    """Raise FormatError for another file that is there already, unless the one that was named is there too."""
    for other in found.companions(path):
        if other.exists() and not path.exists():
            raise FormatError(f"{other} is there already, and would be written over.", "Choose another name or folder.")
        check_writable(other, FormatError)


def format_to_save(path: Path, name: str | None = None) -> Format:
    """Return the format of this name, or that of the file's name, which can save. Raises FormatError."""
    able = [one for one in formats() if one.contents is not None]
    if name is not None:
        chosen = next((one for one in able if one.name == name), None)
    else:
        chosen = _format_named_like(path.name, able)
    if chosen is None:
        what = f"named {name!r}" if name is not None else f"for a file named {path.name}"
        raise FormatError(
            f"There is no format {what} that bpe-viz can save.",
            f"Known: {', '.join(f'{one.name} ({one.suffixes[0]})' for one in able)}.",
        )
    return chosen


def _format_named_like(name: str, able: Sequence[Format]) -> Format | None:
    """Return the format whose files are named so: novel-vocab.json as GPT-2's, my_vocab.json as any .json."""

    def is_one(ending: str) -> bool:
        return ending.startswith(".") or name.removesuffix(ending)[-1:] in ("", "-", ".")

    endings = [(one, ending) for one in able for ending in one.suffixes if name.endswith(ending)]
    return next((one for one, ending in endings if is_one(ending)), endings[0][0] if endings else None)


def _titles() -> str:
    return ", ".join(one.title for one in formats())
