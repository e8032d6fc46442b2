"""The tokenizer.json of the Hugging Face library, read exactly and written."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from bpe_viz.engine.tokenizer import Tokenizer
from bpe_viz.engine.types import CountingOptions, Options
from bpe_viz.formats import Format, refuse_pretokenizer
from bpe_viz.formats._own_library import TOKENIZERS

_KEYS = (b'"added_tokens"', b'"model"', b'"pre_tokenizer"', b'"normalizer"', b'"truncation"')


def detect(path: Path, head: bytes) -> bool:
    """Tell whether a file starts like a tokenizer.json."""
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    return start.startswith(b"{") and (path.name == "tokenizer.json" or any(key in head for key in _KEYS))


def load(path: Path, given: CountingOptions | None = None) -> Tokenizer:
    """Read a tokenizer.json. Raises FormatError for one that is damaged, or that the library does not read."""
    refuse_pretokenizer(path, given)
    from bpe_viz.formats._tokenizer_json_reading import load

    return load(path)


def contents(tokenizer: Tokenizer, path: Path) -> dict[Path, bytes]:
    """Return a tokenizer as a tokenizer.json. Raises FormatError if it would encode otherwise."""
    from bpe_viz.formats._tokenizer_json_writing import written

    return {path: written(tokenizer)}


def losses(tokenizer: Tokenizer) -> Iterable[str]:
    """Say what the library does otherwise."""
    from bpe_viz.formats._tokenizer_json_writing import losses

    return losses(tokenizer)


def check(options: Options) -> None:
    """Raise FormatError if no tokenizer that is trained with these options can be written."""
    from bpe_viz.formats._tokenizer_json_writing import check

    check(options)


FORMAT = Format(
    name="tokenizer.json",
    title="Hugging Face tokenizer.json",
    suffixes=(".json",),
    detect=detect,
    load=load,
    contents=contents,
    losses=losses,
    keeps_document=True,
    check=check,
    library=TOKENIZERS,
)
