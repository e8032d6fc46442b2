"""The frozen values that the engine hands out: options, merges, frames, tokens, encodings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

from bpe_viz.errors import OptionError

if TYPE_CHECKING:
    from bpe_viz.engine.symbols import SymbolTable

Base = Literal["bytes", "characters"]
EndOfWord = Literal["none", "separate", "glued"]
Documents = Literal["file", "line"]
Weights = Literal["counts", "types"]

DEFAULT_MERGES = 3000
DEFAULT_MARKER = "</w>"
LARGEST_COUNT = 2**63 - 1
"""Counts are int64."""
LARGEST_ID = 2**31 - 1
"""Symbols, and places of them, are int32."""
NORMALIZATIONS = ("NFC", "NFD", "NFKC", "NFKD", "lowercase")

Progress = Callable[[float, str], None]
"""Called with the part done (0 to 1) and what is being done, in plain words."""

StopRequested = Callable[[], bool]
"""Asked between slices of long work; True means: stop now."""


def no_progress(fraction: float, text: str) -> None:
    """Report to nobody."""


def never_stop() -> bool:
    """Run to the end."""
    return False


class Pair(NamedTuple):
    """Two adjacent symbols inside one pre-token, by symbol id."""

    left: int
    right: int


@dataclass(frozen=True, slots=True)
class CountingOptions:
    """How text becomes pre-token counts.

    pretokenizer: a name of pretokenize.PRETOKENIZERS; ignored when pattern is given
    pattern: the user's own pattern, or None
    normalize: applied in this order before counting, names of NORMALIZATIONS
    special_tokens: cut out of the text before counting, longest match first
    documents: "file" hands the whole text to the pretokenizer, "line" one line at a time
    """

    pretokenizer: str = "gpt2"
    pattern: str | None = None
    normalize: tuple[str, ...] = ()
    special_tokens: tuple[str, ...] = ()
    documents: Documents = "file"


@dataclass(frozen=True, slots=True)
class TrainingOptions:
    """How pre-token counts become merges.

    vocab_size: target size, base symbols, unknown and special tokens included; None: use merges
    merges: target number of merges; None with vocab_size None: DEFAULT_MERGES
    max_token_length: longest token in base symbols that a merge may make; None: no limit
    """

    base: Base = "bytes"
    end_of_word: EndOfWord = "none"
    marker: str = DEFAULT_MARKER
    unknown: str | None = None
    rule: str = "textbook"
    weights: Weights = "counts"
    min_count: int = 1
    max_token_length: int | None = None
    vocab_size: int | None = None
    merges: int | None = None

    def __post_init__(self) -> None:
        _check_choice("base", self.base, ("bytes", "characters"))
        _check_choice("end of word", self.end_of_word, ("none", "separate", "glued"))
        _check_choice("weights", self.weights, ("counts", "types"))
        _check_number("least count", self.min_count, 1, LARGEST_COUNT)
        _check_number("longest token", self.max_token_length, 2, LARGEST_ID)
        _check_number("number of merges", self.merges, 0, LARGEST_ID)
        _check_number("vocabulary size", self.vocab_size, 0, LARGEST_ID)
        if self.merges is not None and self.vocab_size is not None:
            raise OptionError("Both a vocabulary size and a number of merges were given.", "Give one.")
        if self.end_of_word != "none" and not self.marker:
            raise OptionError("The end-of-word marker has no text.", f"Give one, such as {DEFAULT_MARKER}.")
        if self.unknown == "":
            raise OptionError("The unknown token has no text.", "Give one, such as <unk>.")


def _check_number(what: str, value: int | None, least: int, most: int) -> None:
    if value is not None and value < least:
        raise OptionError(f"The {what} is {value}.", f"Give {least} or more.")
    if value is not None and value > most:
        raise OptionError(f"The {what} is {_shown(value)}.", f"Give {most:,} or less.")


def _shown(number: int) -> str:
    return f"{number:,}" if number < 10**24 else "a number of more than 24 digits"


def _check_choice(what: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise OptionError(f"There is no {what} named {value!r}.", f"Choose one of: {', '.join(choices)}.")


@dataclass(frozen=True, slots=True)
class Options:
    """Everything a user can choose before training; a change of any of them retrains."""

    counting: CountingOptions = field(default_factory=CountingOptions)
    training: TrainingOptions = field(default_factory=TrainingOptions)

    def with_counting(self, **changes: object) -> Options:
        """Return a copy with some counting options changed."""
        return replace(self, counting=replace(self.counting, **changes))  # type: ignore[arg-type]  # checked there

    def with_training(self, **changes: object) -> Options:
        """Return a copy with some training options changed."""
        return replace(self, training=replace(self.training, **changes))  # type: ignore[arg-type]  # checked there


@dataclass(frozen=True, slots=True)
class Merge:
    """One learned rule.

    rank: place in the merge list, from 0; the window shows rank + 1
    left, right, token: symbol ids; token is what the merge makes
    count: how often the pair was counted, overlapping places included
    replacements: how often it was replaced; less than count on runs such as "aaa"
    ties: how many pairs had that count, this one included
    """

    rank: int
    left: int
    right: int
    token: int
    count: int
    replacements: int
    ties: int


@dataclass(frozen=True, slots=True)
class Departure:
    """A merge that was chosen by hand, against the rule.

    rank: its place in the merge list
    instead_of: the merge that the rule would have made, its replacements unknown (0); None: training would have ended
    """

    rank: int
    instead_of: Merge | None


@dataclass(frozen=True, slots=True)
class PairCount:
    """One pair at a position.

    change: its count now less its count before the last merge
    is_new: it did not exist before the last merge
    tied: its count is the highest, together with others
    """

    left: int
    right: int
    count: int
    change: int
    is_new: bool
    tied: bool


StopReason = Literal["target", "no pair left", "below min-count"]


@dataclass(frozen=True, slots=True)
class Frame:
    """What is to be seen at one position of the timeline.

    position: how many merges have been applied
    made: the merge just made, None at position 0
    next: the merge to come, None if there is none; its replacements are 0 while it is not trained yet
    stop: why there is no next merge, None while there is one
    top: the most frequent pairs, best first, at most as many as were asked for
    pairs: how many distinct pairs there are
    tokens: how many tokens the whole corpus is split into here
    splits: row of a pre-token -> its symbols, for the rows that were asked for
    changed: the rows that the last merge changed, those asked for only
    symbols: knows the bytes of every symbol id in this frame
    made_by_choice, next_by_choice: what the rule would have done, where made or next was chosen by hand
    """

    position: int
    made: Merge | None
    next: Merge | None
    stop: StopReason | None
    top: tuple[PairCount, ...]
    pairs: int
    tokens: int
    splits: Mapping[int, Sequence[int]]
    changed: frozenset[int]
    symbols: SymbolTable
    made_by_choice: Departure | None = None
    next_by_choice: Departure | None = None


@dataclass(frozen=True, slots=True)
class Token:
    """One entry of a vocabulary.

    content: its bytes, the end-of-word marker not included
    ends_word: it carries the end-of-word marker
    rank: of the merge that made it; None for base symbols, unknown and special tokens
    kind: what it is; "whole" is a token that no merge makes
    """

    id: int
    content: bytes
    ends_word: bool
    rank: int | None
    kind: Literal["base", "merge", "whole", "unknown", "special"]


@dataclass(frozen=True, slots=True)
class EncodedToken:
    """One token of an encoded text, or a gap where the base lacks a character.

    id: token id; None for a gap
    content: the bytes of the text that it stands for
    start, end: offsets in code points of the text that was given; None where the token starts or ends
        inside a character, or where normalization moved the text
    """

    id: int | None
    content: bytes
    start: int | None
    end: int | None


@dataclass(frozen=True, slots=True)
class EncodingDetails:
    """What is to be said of an encoded text beside its ids.

    tokens: in order of the text, gaps included
    gaps: how many characters the base lacks
    dropped: how many code points the pretokenizer left uncovered
    notes: in plain words what was changed or lost on the way
    """

    tokens: tuple[EncodedToken, ...]
    gaps: int
    dropped: int
    notes: tuple[str, ...]


class Encoding:
    """An encoded text: its ids at once, and its EncodingDetails when they are asked for.

    ids: the token ids, without the gaps
    """

    __slots__ = ("_details", "_work_out", "ids")

    def __init__(self, ids: list[int], work_out: Callable[[], EncodingDetails]) -> None:
        self.ids = ids
        self._work_out = work_out
        self._details: EncodingDetails | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Encoding) and self.ids == other.ids and self.details == other.details

    def __hash__(self) -> int:
        return hash(tuple(self.ids))

    def __repr__(self) -> str:
        return f"Encoding({self.ids})"

    @property
    def details(self) -> EncodingDetails:
        """Worked out at the first call: offsets cost ten times what ids do."""
        if self._details is None:
            self._details = self._work_out()
        return self._details

    @property
    def tokens(self) -> tuple[EncodedToken, ...]:
        """In order of the text, gaps included."""
        return self.details.tokens

    @property
    def gaps(self) -> int:
        """How many characters the base lacks."""
        return self.details.gaps

    @property
    def dropped(self) -> int:
        """How many code points the pretokenizer left uncovered."""
        return self.details.dropped

    @property
    def notes(self) -> tuple[str, ...]:
        """In plain words what was changed or lost on the way."""
        return self.details.notes
