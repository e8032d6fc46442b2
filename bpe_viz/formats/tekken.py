"""Mistral's `tekken.json`: ranks in base64 and a pattern. Ids are ranks behind the special tokens.

Source: mistralai/mistral-common, tokens/tokenizers/tekken.py.
"""

from __future__ import annotations

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

_Number = Annotated[int, msgspec.Meta(ge=0, le=LARGEST_ID)]
_MOST_SPECIAL = 1 << 20

# What files of versions up to 7 leave out.
_FIRST_SPECIAL = (
    *("<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_RESULTS]"),
    *("[/TOOL_RESULTS]", "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]", "[IMG_END]", "[PREFIX]", "[MIDDLE]"),
    *("[SUFFIX]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[TOOL_CONTENT]"),
)
_VERSIONS_WITHOUT = ("v1", "v2", "v3", "v7")


class _Config(msgspec.Struct):
    pattern: str
    default_vocab_size: _Number
    default_num_special_tokens: _Number
    version: str | None = None


class _Entry(msgspec.Struct):
    rank: _Number
    token_bytes: str


class _Special(msgspec.Struct):
    rank: _Number
    token_str: str


class _File(msgspec.Struct):
    config: _Config
    vocab: list[_Entry]
    special_tokens: list[_Special] | None = None


def detect(path: Path, head: bytes) -> bool:
    """Tell whether a file begins like a tekken.json."""
    starts = without_bom(head).lstrip().startswith(b"{")
    return starts and (b'"default_num_special_tokens"' in head or b'"token_bytes"' in head)


def load(path: Path, given: CountingOptions | None = None) -> Tokenizer:
    """Read a tekken.json. Raises FormatError that names the field."""
    refuse_pretokenizer(path, given)
    file = parse_json(path, read_whole(path), _File, "tekken.json")
    n_special = file.config.default_num_special_tokens
    n_ranks = file.config.default_vocab_size - n_special
    if n_ranks < 0 or n_ranks > len(file.vocab) or n_special > _MOST_SPECIAL:
        raise FormatError(
            f"{path}: config.default_vocab_size is {file.config.default_vocab_size:,} and vocab holds "
            f"{len(file.vocab):,}, which does not go with {n_special:,} special tokens.",
            AGAIN,
        )
    ranks = _ranks(path, file.vocab[:n_ranks], n_special)
    special_ids = _special_ids(path, file, n_special)
    pattern = read_tiktoken_pattern(path, "config.pattern", file.config.pattern)
    try:
        tokenizer = Tokenizer.from_ranks(ranks, counting_for(pattern, ()), special_ids, path.name)
    except FormatError as error:
        raise FormatError(f"{path}: {error.message}", error.remedy) from error
    tokenizer.pipeline = cut_as_the_library(tokenizer.counting, tokenizer.special_ids)
    tokenizer.notes = tuple(_notes(file, n_ranks))
    return tokenizer


def _ranks(path: Path, entries: list[_Entry], n_special: int) -> dict[bytes, int]:
    """Return token -> id, ascending."""
    ids: dict[bytes, int] = {}
    for number, entry in enumerate(entries):
        place = f"{path}: vocab[{number}]"
        if entry.rank != number:
            raise FormatError(f"{place} has the rank {entry.rank}: entries do not stand in order.", AGAIN)
        token = from_base64(entry.token_bytes.encode())
        if not token:
            raise FormatError(
                f"{place}.token_bytes is {shortened_line(entry.token_bytes)}, which is no token in base64.", AGAIN
            )
        if number < 256 and token != bytes([number]):
            raise FormatError(f"{place} is {token!r} instead of the byte 0x{number:02x}.", AGAIN)
        if token in ids:
            raise FormatError(f"{place} lists the token {token!r} of vocab[{ids[token] - n_special}] again.", AGAIN)
        ids[token] = n_special + number
    return ids


def _special_ids(path: Path, file: _File, n_special: int) -> dict[str, int]:
    """Return the ids of all special tokens by text, those without a name included."""
    names: list[str] = []
    if file.special_tokens is not None:
        for number, token in enumerate(file.special_tokens):
            if token.rank != number or number >= n_special:
                raise FormatError(
                    f"{path}: special_tokens[{number}] has the rank {token.rank} among {n_special:,} special tokens.",
                    AGAIN,
                )
            names.append(token.token_str)
    elif file.config.version in _VERSIONS_WITHOUT and n_special >= len(_FIRST_SPECIAL):
        names.extend(_FIRST_SPECIAL)
    names += [f"<SPECIAL_{number}>" for number in range(len(names), n_special)]
    special_ids = {name: number for number, name in enumerate(names)}
    if len(special_ids) < len(names) or "" in special_ids:
        raise FormatError(f"{path}: special_tokens holds a text twice, or an empty one.", AGAIN)
    return special_ids


def _notes(file: _File, n_ranks: int) -> Iterator[str]:
    if n_ranks < len(file.vocab):
        yield f"Of the {len(file.vocab):,} tokens of the file the first {n_ranks:,} are in use, as its config says."
    yield "Text is never taken for a special token, as mistral-common does not: special tokens are only decoded."


FORMAT = Format(
    name="tekken",
    title="Mistral tekken.json",
    suffixes=(".json",),
    detect=detect,
    load=load,
    library=TIKTOKEN,
)
