"""The errors that a user can cause: each says what went wrong and what to try."""

from __future__ import annotations


class BpeVizError(Exception):
    """Something the user can put right.

    message: what went wrong, naming the file, the line or the field, and the offending text.
    remedy: what to try; empty if the message says it already.
    Anything that is not a BpeVizError is a bug in the program.
    """

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        """One line: the message, then the remedy."""
        return f"{self.message} {self.remedy}".strip()


class CorpusError(BpeVizError):
    """A text, folder or table that cannot be counted."""


class OptionError(BpeVizError):
    """An option with an unknown name or an impossible value."""


class PairError(BpeVizError):
    """A pair that cannot be merged where it was chosen."""


class PatternError(OptionError):
    """A pretokenizer pattern that does not compile, matches nothing, or never ends."""


class FormatError(BpeVizError):
    """A tokenizer file that cannot be read, or a tokenizer that a format cannot hold."""


class Stopped(BpeVizError):  # noqa: N818  # nothing went wrong
    """The user pressed Stop: nothing is wrong, and what was there before stays."""

    def __init__(self) -> None:
        super().__init__("Stopped.", "")
