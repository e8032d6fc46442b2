"""The library that a tokenizer file is made for, which tells the right ids of any text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bpe_viz.engine.layout import EncodedText
from bpe_viz.engine.pretokenize import LINES, pretokenizer_for
from bpe_viz.engine.segments import normalize
from bpe_viz.engine.tokenizer import SpecialText, Tokenizer
from bpe_viz.formats._reading import read_whole

Units = Sequence[int | str]
"""The tokens of a text: ids, or texts where a library knows no ids."""

Encode = Callable[[str, SpecialText, bool], Units]
"""Encodes a text; what the text of a special token becomes; whether tokens that the file puts around it are there."""


def ids_and_starts(encoded: EncodedText) -> tuple[Units, list[int]]:
    """Return the ids of a text as bpe_viz encodes it, gaps left out, and at which code point each token starts."""
    tokens = encoded.at(encoded.tokenizer.position)
    known = tokens.ids >= 0
    return tokens.ids[known].tolist(), tokens.start[known].tolist()


@dataclass(frozen=True, slots=True)
class OwnLibrary:
    """A library that reads files of a format.

    package: its name, as pip knows it
    open: gets a file and what bpe_viz read from it; imports the library and returns what encodes. Raises ImportError,
        FormatError for a file that the library does not read, and whatever the library raises
    ours: what bpe_viz makes of a text, in the library's units, and at which code point each of them starts
    """

    package: str
    open: Callable[[Path, Tokenizer], Encode]
    ours: Callable[[EncodedText], tuple[Units, list[int]]] = ids_and_starts


def encode_with_tokenizers(content: str) -> Encode:
    """Return what encodes with the tokenizers library. content: of a tokenizer.json"""
    import tokenizers

    library = tokenizers.Tokenizer.from_str(content)
    library.no_truncation()
    library.no_padding()

    def encode(text: str, special_text: SpecialText, around: bool) -> Units:
        library.encode_special_tokens = special_text == "text"
        return list(library.encode(text, add_special_tokens=around).ids)

    return encode


def _open_document(path: Path, tokenizer: Tokenizer) -> Encode:
    """Run the tokenizer.json that the file is, or that says the same."""
    content = read_whole(path) if tokenizer.document is None else tokenizer.document
    return encode_with_tokenizers(content.decode("utf-8-sig"))


def _open_ranks(path: Path, tokenizer: Tokenizer) -> Encode:
    """Merge with the ranks and the pattern that are in use here: the library knows no file by its name."""
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

    def encode(text: str, special_text: SpecialText, around: bool) -> Units:
        allowed = set(special_ids) if special_text == "allow" else set()
        return library.encode(normalize(text, counting.normalize), allowed_special=allowed, disallowed_special=())

    return encode


TOKENIZERS = OwnLibrary("tokenizers", _open_document)
TIKTOKEN = OwnLibrary("tiktoken", _open_ranks)
