"""Ranks in JSON, as npm packages ship them: pattern, special tokens and ranks in one file.

`bpe_ranks` holds lines of `! offset token token ...`, whose tokens have the ranks from the offset on, or lines of
`token rank` as tiktoken's files have. Source: dqbd/tiktoken, js/src/core.ts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import msgspec

from bpe_viz.engine.library_pipelines import cut_as_the_library
from bpe_viz.engine.tokenizer import Tokenizer
from bpe_viz.engine.types import CountingOptions
from bpe_viz.errors import FormatError
from bpe_viz.formats import Format, refuse_pretokenizer
from bpe_viz.formats._own_library import TIKTOKEN
from bpe_viz.formats._patterns import counting_for, read_tiktoken_pattern
from bpe_viz.formats._reading import AGAIN, LARGEST_ID, from_base64, parse_json, read_whole, shortened_line, without_bom
from bpe_viz.formats.tiktoken_ranks import read_ranks, without_empty

_KEYS = (b'"bpe_ranks"', b'"pat_str"', b'"explicit_n_vocab"')
_Id = Annotated[int, msgspec.Meta(ge=0, le=LARGEST_ID)]

# Source: anthropic-ai/tokenizer 0.0.4, index.ts: countTokens normalizes the whole text, then looks for special tokens.
NORMALIZATIONS = {"a8fb587eecc2656d79598c12af956f10e6d9e5846bee4818816cb0afe6fb5388": ("NFKC",)}
"""What a package does to text before its ranks see it, by the SHA-256 of `bpe_ranks`: the file does not say."""


class _File(msgspec.Struct):
    pat_str: str
    bpe_ranks: str
    special_tokens: dict[str, _Id]
    explicit_n_vocab: int | None = None


def detect(path: Path, head: bytes) -> bool:
    """Tell whether a file begins like ranks in JSON."""
    return without_bom(head).lstrip().startswith(b"{") and any(key in head for key in _KEYS)


def load(path: Path, given: CountingOptions | None = None) -> Tokenizer:
    """Read ranks in JSON. Raises FormatError that names the field."""
    refuse_pretokenizer(path, given)
    file = parse_json(path, read_whole(path), _File, "JSON with ranks")
    ranks = _ranks(path, file.bpe_ranks)
    of_empty = without_empty(ranks)
    rank_of_id = {rank: token for token, rank in ranks.items()}
    for text, number in file.special_tokens.items():
        if not text:
            raise FormatError(f"{path}: special_tokens holds an empty text.", AGAIN)
        if number in rank_of_id:
            raise FormatError(
                f"{path}: special_tokens gives {shortened_line(text)} the id {number}, which the token "
                f"{rank_of_id[number]!r} has.",
                AGAIN,
            )
    forms = NORMALIZATIONS.get(hashlib.sha256(file.bpe_ranks.encode()).hexdigest(), ())
    pattern = read_tiktoken_pattern(path, "pat_str", file.pat_str)
    counting = counting_for(pattern, tuple(file.special_tokens), forms)
    try:
        tokenizer = Tokenizer.from_ranks(ranks, counting, dict(file.special_tokens), path.name)
    except FormatError as error:
        raise FormatError(f"{path}: {error.message}", error.remedy) from error
    tokenizer.pipeline = cut_as_the_library(tokenizer.counting, tokenizer.special_ids)
    tokenizer.normalizes_first = bool(forms)
    tokenizer.notes = (*of_empty, *_notes(path, file, len(ranks) + len(of_empty), forms))
    return tokenizer


def _ranks(path: Path, written: str) -> dict[bytes, int]:
    if not written.startswith("!"):
        return read_ranks(f"{path}: bpe_ranks", written.encode())
    ranks: dict[bytes, int] = {}
    taken: set[int] = set()
    for number, line in enumerate(written.split("\n"), start=1):
        if not line:
            continue
        place = f"{path}: bpe_ranks, line {number}"
        sign, _, rest = line.partition(" ")
        offset, _, tokens = rest.partition(" ")
        if sign != "!" or not (offset.isascii() and offset.isdigit()) or len(offset) > len(str(LARGEST_ID)):
            raise FormatError(f"{place} does not begin with ! and an offset: {shortened_line(line)}.", AGAIN)
        for rank, text in enumerate(tokens.split(" "), start=int(offset)):
            token = from_base64(text.encode())
            if not token:
                raise FormatError(f"{place} holds {shortened_line(text)}, which is no token in base64.", AGAIN)
            if token in ranks:
                raise FormatError(f"{place} lists the token {token!r} again, which has rank {ranks[token]}.", AGAIN)
            if rank > LARGEST_ID or rank in taken:
                raise FormatError(f"{place} gives {token!r} the rank {rank}, which is taken or too large.", AGAIN)
            ranks[token] = rank
            taken.add(rank)
    return ranks


def _notes(path: Path, file: _File, n_ranks: int, forms: tuple[str, ...]) -> Iterator[str]:
    if forms:
        yield (
            f"{path.name} holds the ranks of a package that normalizes text first: {', '.join(forms)}. The file does "
            "not say so; bpe-viz does the same."
        )
    n_tokens = n_ranks + len(file.special_tokens)
    if file.explicit_n_vocab is not None and file.explicit_n_vocab != n_tokens:
        yield f"explicit_n_vocab is {file.explicit_n_vocab:,}, but there are {n_tokens:,} tokens: all of them are used."
    if len(set(file.special_tokens.values())) < len(file.special_tokens):
        yield "Special tokens share an id, which decodes to the first of them."


FORMAT = Format(
    name="rank-json",
    title="JSON with ranks",
    suffixes=(".json",),
    detect=detect,
    load=load,
    library=TIKTOKEN,
)
