"""Encode with a tokenizer's own library and compare."""

from __future__ import annotations

from itertools import zip_longest
from pathlib import Path

from bpe_viz.engine.layout import EncodedText
from bpe_viz.engine.tokenizer import Tokenizer
from bpe_viz.errors import FormatError, OptionError


def first_difference(path: Path, tokenizer: Tokenizer, encoded: EncodedText, special_text: str) -> str:
    """Return where the `tokenizers` library encodes a text otherwise, "" if nowhere.

    Raises OptionError if the library is not installed, FormatError if it cannot read the file.
    """
    try:
        import tokenizers
    except ImportError as error:
        raise OptionError(
            "--verify needs the library tokenizers, which is not installed.", "Run: pip install tokenizers"
        ) from error
    try:
        library = tokenizers.Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises bare Exception
        raise FormatError(f"The tokenizers library cannot read {path}: {error}.") from error
    library.no_truncation()
    library.no_padding()
    library.encode_special_tokens = special_text == "text"
    theirs = library.encode(encoded.text).ids
    ids = encoded.at(tokenizer.position).ids
    ours = ids[ids >= 0].tolist()
    for number, (our_id, their_id) in enumerate(zip_longest(ours, theirs)):
        if our_id != their_id:
            return (
                f"Token {number} differs: bpe_viz gives {_described(tokenizer, our_id)}, "
                f"the tokenizers library {_described(tokenizer, their_id)}."
            )
    return ""


def _described(tokenizer: Tokenizer, token_id: int | None) -> str:
    if token_id is None:
        return "no more"
    try:
        return f"{token_id} ({tokenizer.label(token_id).decode('utf-8', 'backslashreplace')!r})"
    except KeyError:
        return str(token_id)
