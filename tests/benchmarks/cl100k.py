"""The encoding cl100k_base in the libraries that encode with it, none of which has encoded anything yet."""

from __future__ import annotations

import gzip
import hashlib
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from bpe_viz.engine.tokenizer import Tokenizer
from bpe_viz.formats import load_tokenizer
from tests.benchmarks.measuring import UnavailableError, library


@dataclass(frozen=True)
class Encoders:
    """Each makes one that remembers nothing; without special tokens where a library cannot pass them over.

    ours, tiktoken: by the same ranks
    gigatoken: raises UnavailableError if it is not installed
    """

    ours: Callable[[], Tokenizer]
    tiktoken: Callable[[], Any]
    gigatoken: Callable[[], Any]


def find_encoders(ranks: Path | None, folder: Path) -> Encoders:
    """Return the encoders of the ranks in a file, or in the one that tiktoken keeps.

    folder: for an unpacked copy
    Raises UnavailableError if there is no such file, or tiktoken is not installed.
    """
    path = ranks or kept_by_tiktoken()
    if not path.is_file():
        raise UnavailableError("needs the ranks of cl100k_base: give --ranks FILE, or let tiktoken fetch them once")
    return Encoders(
        ours=lambda: load_tokenizer(path),
        tiktoken=lambda: tiktoken_encoding(load_tokenizer(path)),
        gigatoken=lambda: gigatoken_of(path, folder),
    )


def kept_by_tiktoken() -> Path:
    """Return where tiktoken keeps the ranks once it has fetched them. Raises UnavailableError without tiktoken."""
    with _registry({}) as loading:
        _published()
    address: str = loading.call_args.args[0]
    named = (os.environ.get(name) for name in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"))
    folder = next((Path(name) for name in named if name), Path(tempfile.gettempdir(), "data-gym-cache"))
    return folder / hashlib.sha1(address.encode()).hexdigest()


def tiktoken_encoding(tokenizer: Tokenizer) -> Any:
    """Return tiktoken's encoding with a tokenizer's ranks, and the pattern that tiktoken itself publishes."""
    ranks = {token.content: token.id for token in tokenizer.vocabulary() if token.kind != "special"}
    with _registry(ranks):
        published = _published()
    published["special_tokens"] = tokenizer.special_ids
    return library("tiktoken").Encoding(**published)


def _published() -> dict[str, Any]:
    return library("tiktoken_ext.openai_public").cl100k_base()  # type: ignore[no-any-return]  # an untyped plugin


def _registry(ranks: dict[bytes, int]) -> Any:
    """Let tiktoken's registry find ranks instead of fetching them."""
    return patch.object(library("tiktoken_ext.openai_public"), "load_tiktoken_bpe", return_value=ranks)


def gigatoken_of(path: Path, folder: Path) -> Any:
    """Return gigatoken's tokenizer of a file of ranks, which it reads unpacked only."""
    gigatoken = library("gigatoken")
    data = path.read_bytes()
    unpacked = folder / "ranks.tiktoken"
    unpacked.write_bytes(gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data)
    return gigatoken.Tokenizer.from_tiktoken(unpacked, "cl100k", {})
