"""Encode with a tokenizer's own library and compare."""

from __future__ import annotations

from itertools import zip_longest
from pathlib import Path

from bpe_viz.engine.layout import EncodedText
from bpe_viz.engine.pretokenize import LINES, pretokenizer_for
from bpe_viz.engine.segments import normalize
from bpe_viz.engine.tokenizer import Tokenizer
from bpe_viz.errors import FormatError, OptionError
from bpe_viz.formats import detect_format


def library_of(tokenizer: Tokenizer) -> str:
    """Return the name of the library that reads the tokenizer's file."""
    return "tiktoken" if tokenizer.merge_ranks.takes_whole else "tokenizers"


def first_difference(path: Path, tokenizer: Tokenizer, encoded: EncodedText, special_text: str) -> str:
    """Return where the tokenizer's own library encodes a text otherwise, "" if nowhere.

    Raises OptionError if the library is not installed or there is none, FormatError if it cannot read the file.
    """
    name = library_of(tokenizer)
    found = detect_format(path)
    if name == "tokenizers" and found is not None and found.name != "tokenizer.json":
        raise OptionError(
            f"--verify knows no library that reads {found.title}.", f"First run: bpe-viz convert {path} NAME.json"
        )
    try:
        if name == "tiktoken":
            theirs = _tiktoken_ids(tokenizer, encoded.text, special_text)
        else:
            theirs = _tokenizers_ids(path, encoded.text, special_text)
    except ImportError as error:
        raise OptionError(
            f"--verify needs the library {name}, which is not installed.", f"Run: pip install {name}"
        ) from error
    except Exception as error:  # the libraries raise bare Exception
        raise FormatError(f"The {name} library cannot read {path}: {error}.") from error
    ids = encoded.at(tokenizer.position).ids
    ours = ids[ids >= 0].tolist()
    for number, (our_id, their_id) in enumerate(zip_longest(ours, theirs)):
        if our_id != their_id:
            return (
                f"Token {number} differs: bpe_viz gives {_described(tokenizer, our_id)}, "
                f"the {name} library {_described(tokenizer, their_id)}."
            )
    return ""


def _tokenizers_ids(path: Path, text: str, special_text: str) -> list[int]:
    import tokenizers

    library = tokenizers.Tokenizer.from_file(str(path))
    library.no_truncation()
    library.no_padding()
    library.encode_special_tokens = special_text == "text"
    return list(library.encode(text).ids)


def _tiktoken_ids(tokenizer: Tokenizer, text: str, special_text: str) -> list[int]:
    """Encode with the ranks and the pattern that are in use here: the library knows no file by its name."""
    import tiktoken

    counting = tokenizer.counting
    special_ids = {text: tokenizer.special_ids[text] for text in counting.special_tokens}
    library = tiktoken.Encoding(
        tokenizer.name,
        # Its engine knows the very end by another sign.
        pat_str=(pretokenizer_for(counting).pattern or LINES).replace(r"\Z", "$"),
        mergeable_ranks={token.content: token.id for token in tokenizer.vocabulary() if token.kind != "special"},
        special_tokens=special_ids,
    )
    allowed = set(special_ids) if special_text == "allow" else set()
    return library.encode(normalize(text, counting.normalize), allowed_special=allowed, disallowed_special=())


def _described(tokenizer: Tokenizer, token_id: int | None) -> str:
    if token_id is None:
        return "no more"
    try:
        return f"{token_id} ({tokenizer.label(token_id).decode('utf-8', 'backslashreplace')!r})"
    except KeyError:
        return str(token_id)
