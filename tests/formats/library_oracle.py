"""The `tokenizers` library as oracle: what it makes of a tokenizer.json, padding, truncation and trimming left out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bpe_viz.engine.tokenizer import Tokenizer
from bpe_viz.errors import FormatError

tokenizers = pytest.importorskip("tokenizers")


def untrimmed(step: Any) -> Any:
    """Return a post-processor that trims no white space off the offsets."""
    if isinstance(step, dict):
        return {key: False if key == "trim_offsets" else untrimmed(value) for key, value in step.items()}
    return [untrimmed(one) for one in step] if isinstance(step, list) else step


def library_of(document: dict[str, Any]) -> Any:
    """Return the library's tokenizer. Raises whatever it raises, a panic included."""
    changed = {**document, "post_processor": untrimmed(document.get("post_processor"))}
    library = tokenizers.Tokenizer.from_str(json.dumps(changed))
    library.no_padding()
    library.no_truncation()
    return library


def ids_of(library: Any, text: str, special_text: str = "allow", around: bool = True) -> Any:
    """Return the library's encoding."""
    library.encode_special_tokens = special_text == "text"
    return library.encode(text, add_special_tokens=around)


def check_alike(
    tokenizer: Tokenizer,
    library: Any,
    text: str,
    special_text: str = "allow",
    around: bool = True,
    offsets: bool = True,
) -> None:
    """Hold ids, offsets and decoding of one text to the library, which may also refuse it."""
    try:
        theirs = ids_of(library, text, special_text, around)
    except BaseException as error:
        # It stops at an unknown token that is none, and panics where an added token strips half a character.
        if "not found in the vocabulary" not in str(error) and type(error).__name__ != "PanicException":
            raise
        with pytest.raises(FormatError):
            tokenizer.lay_out(text, special_text, around)
        return
    encoded = tokenizer.lay_out(text, special_text, around)
    tokens = encoded.at(tokenizer.position)
    assert tokens.ids.tolist() == theirs.ids, text
    if special_text == "allow" and around:
        assert tokenizer.encode_ids(text) == theirs.ids, text
    if offsets and not any("neighbours joined" in note for note in encoded.notes):
        # Where letters are left out the library counts offsets as if they had not been there.
        ours = zip(tokens.start.tolist(), tokens.end.tolist(), strict=True)
        inside = [word is not None for word in theirs.word_ids]
        assert [one for one, is_inside in zip(ours, inside, strict=True) if is_inside] == [
            one for one, is_inside in zip(theirs.offsets, inside, strict=True) if is_inside
        ], text
    # A file may put ids around a text that no token has: the library leaves them out when it decodes.
    ids = [number for number in theirs.ids if library.id_to_token(number) is not None]
    assert tokenizer.decode(ids).text == library.decode(ids, skip_special_tokens=False), text
