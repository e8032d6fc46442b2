"""Asking the library in this process."""

from __future__ import annotations

from bpe_viz.engine.layout import EncodedText
from bpe_viz.engine.tokenizer import SpecialText
from bpe_viz.errors import OptionError
from bpe_viz.names import Located
from bpe_viz.verification._comparison import Verification, compare
from bpe_viz.verification._own import OpenedLibrary


def verify(
    located: Located, encoded: EncodedText, special_text: SpecialText = "allow", around: bool = True
) -> Verification:
    """Compare a text as bpe_viz encoded it with what the tokenizer's own library makes of it.

    located: the tokenizer's file; encoded: by the whole tokenizer that was read from it, in the same ways:
    special_text, around: what the text of a special token becomes, and whether tokens stand around the text
    Raises OptionError if there is no library to ask or merges are left out, FormatError if the library fails.
    """
    check_whole(encoded)
    opened = OpenedLibrary(located.path, encoded.tokenizer)
    theirs = opened.encode(encoded.text, special_text, around)
    return compare(encoded, opened.library.ours, theirs, opened.name, opened.version)


def check_whole(encoded: EncodedText) -> None:
    """Raise OptionError if not all merges apply: a library knows its whole file only."""
    tokenizer = encoded.tokenizer
    if tokenizer.position < tokenizer.n_merges:
        raise OptionError("A library can be asked about all merges only.", "Go to the last merge.")
