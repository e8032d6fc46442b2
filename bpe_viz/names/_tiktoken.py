"""OpenAI's encodings by name: their ranks, in the very cache that tiktoken uses.

Source: tiktoken 0.14, load.py: a file is kept under the SHA-1 of its address.
"""

from __future__ import annotations

import atexit
import difflib
import hashlib
import os
import shutil
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from bpe_viz.engine.types import Progress, StopRequested
from bpe_viz.errors import OptionError
from bpe_viz.formats.openai_encodings import (
    ENCODINGS,
    GPT2_VOCABULARY,
    GPT2_VOCABULARY_SHA256,
    RANKS_OF_GPT2,
    Encoding,
    encoding_named,
    encoding_of_model,
    ranks_of_vocabulary,
)
from bpe_viz.names._download import FetchError, get
from bpe_viz.names._folders import make_folder
from bpe_viz.whole_file import whole_file


def find_encoding(name: str) -> Encoding:
    """Return the encoding of this name. Raises OptionError that names a near one."""
    found = encoding_named(name)
    if found is not None:
        return found
    names = [one.name for one in ENCODINGS]
    if (of_model := encoding_of_model(name)) is not None:
        raise OptionError(f"{name!r} is a model, and not an encoding.", f"Its encoding is tiktoken:{of_model.name}.")
    near = difflib.get_close_matches(name, names, n=1)
    raise OptionError(
        f"There is no encoding {name!r}.",
        f"Did you mean tiktoken:{near[0]}?" if near else f"Known: {', '.join(names)}.",
    )


def fetch(
    encoding: Encoding, progress: Progress, should_stop: StopRequested, environment: Mapping[str, str] | None = None
) -> tuple[Path, bool]:
    """Return where the ranks of an encoding are, and whether they had to be fetched; their hash has been checked.

    Raises FetchError, Unreachable, Stopped.
    """
    folder = cache_folder(os.environ if environment is None else environment)
    path = _path_of(folder, encoding.address)
    if _sha256_of(path) == encoding.sha256:
        return path, False
    content = _ranks_of_gpt2(folder, encoding)
    was_fetched = content is None
    if content is None:
        content = _download(encoding, progress, should_stop)
    make_folder(folder, "TIKTOKEN_CACHE_DIR")
    with whole_file(path, FetchError) as file:
        file.write(content)
    return path, was_fetched


def _download(encoding: Encoding, progress: Progress, should_stop: StopRequested) -> bytes:
    answer = get(encoding.address, f"the ranks of {encoding.name}", progress, should_stop)
    if answer.body is None:
        raise FetchError(
            f"{encoding.address} answers with status {answer.status}.", "Try again later, or open a file of ranks."
        )
    if hashlib.sha256(answer.body).hexdigest() != encoding.sha256:
        raise FetchError(
            f"What {encoding.address} gave is not the file of {encoding.name}: its SHA-256 is another. Nothing of it "
            "was kept.",
            "Try again; if it stays so, something between here and there changes what is fetched.",
        )
    return answer.body


def cache_folder(environment: Mapping[str, str]) -> Path:
    """Return tiktoken's cache; where the user wants none, a folder that goes when the program ends."""
    for name in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"):
        if name in environment:
            return Path(environment[name]) if environment[name] else _passing_folder()
    return Path(tempfile.gettempdir()) / "data-gym-cache"


@cache
def _passing_folder() -> Path:
    folder = tempfile.mkdtemp(prefix="bpe-viz-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def _path_of(folder: Path, address: str) -> Path:
    return folder / hashlib.sha1(address.encode(), usedforsecurity=False).hexdigest()


def _sha256_of(path: Path) -> str:
    """Return the hash of a file, "" if it cannot be read: then it is fetched."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


def _ranks_of_gpt2(folder: Path, encoding: Encoding) -> bytes | None:
    """Return the ranks made from GPT-2's own vocabulary, which is what tiktoken keeps for "gpt2"; None if not there."""
    path = _path_of(folder, GPT2_VOCABULARY)
    if encoding.sha256 != RANKS_OF_GPT2 or _sha256_of(path) != GPT2_VOCABULARY_SHA256:
        return None
    return ranks_of_vocabulary(path.read_bytes())
