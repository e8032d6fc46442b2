"""Where two encodings of a text first differ."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import zip_longest

from bpe_viz.engine.layout import EncodedText
from bpe_viz.engine.tokenizer import Tokenizer
from bpe_viz.formats import Units

_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Difference:
    """The first token that is another.

    number: of the token, from 0
    place: the code point of the text at which bpe_viz's token begins; the length of the text if there is none
    ours, theirs: its id, or its text where a library knows no ids; None where there is no more
    our_text, their_text: the same for people
    renumbered: 0, or how many tokens of the text the library numbers otherwise than the file declares, if that is known
        of them and all else is the same
    """

    number: int
    place: int
    ours: int | str | None
    theirs: int | str | None
    our_text: str
    their_text: str
    renumbered: int = 0


@dataclass(frozen=True, slots=True)
class Verification:
    """What a tokenizer's own library says of one text.

    library, version: of the library; n_tokens: how many bpe_viz makes of the text
    difference: None if all ids are the same
    """

    library: str
    version: str
    n_tokens: int
    difference: Difference | None

    @property
    def is_same(self) -> bool:
        """Whether all ids are the same."""
        return self.difference is None

    def describe(self) -> str:
        """Say it in a sentence."""
        if self.difference is None:
            return f"The {self.library} library gives the same ids (version {self.version})."
        found = self.difference
        if found.renumbered:
            return (
                f"All tokens are the same, but {found.renumbered:,} that the {self.library} library {self.version} "
                "numbers anew, as the ids that the file declares leave a hole; bpe-viz keeps those of the file. "
                f"The first is token {found.number + 1:,}: {found.our_text} here, {found.theirs} there, at character "
                f"{found.place + 1:,}."
            )
        return (
            f"Token {found.number + 1:,} differs: bpe-viz gives {found.our_text}, the {self.library} library "
            f"{self.version} {found.their_text}, at character {found.place + 1:,} of the text."
        )


def compare(
    encoded: EncodedText,
    ours: Callable[[EncodedText], tuple[Units, list[int]]],
    theirs: Units,
    library: str,
    version: str,
) -> Verification:
    """Compare a text as bpe_viz encodes it with what the library says. ours: as in formats.OwnLibrary"""
    own, starts = ours(encoded)
    if len(own) == len(theirs) and list(own) == list(theirs):
        return Verification(library, version, len(own), None)
    differing = [n for n, (one, other) in enumerate(zip_longest(own, theirs)) if one != other]
    known = encoded.tokenizer.renumbered
    unknown = next((n for n in differing if not _is_renumbered(own, theirs, n, known)), None)
    number = differing[0] if unknown is None else unknown
    place = starts[number] if number < len(own) else len(encoded.text)
    our_unit = own[number] if number < len(own) else None
    their_unit = theirs[number] if number < len(theirs) else None
    our_text, their_text = (_described(encoded.tokenizer, unit) for unit in (our_unit, their_unit))
    renumbered = len(differing) if unknown is None else 0
    difference = Difference(number, place, our_unit, their_unit, our_text, their_text, renumbered)
    return Verification(library, version, len(own), difference)


def _is_renumbered(own: Units, theirs: Units, number: int, known: Mapping[int, int]) -> bool:
    """Tell whether a token is the same, and known to have another id in the library."""
    if number >= min(len(own), len(theirs)):
        return False
    unit = theirs[number]
    return isinstance(unit, int) and known.get(unit) == own[number]


def _described(tokenizer: Tokenizer, unit: int | str | None) -> str:
    if unit is None:
        return "no more"
    if isinstance(unit, str):
        return _shortened(unit)
    try:
        return f"{unit} ({_shortened(tokenizer.label(unit).decode('utf-8', 'backslashreplace'))})"
    except KeyError:
        return str(unit)


def _shortened(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "…")
