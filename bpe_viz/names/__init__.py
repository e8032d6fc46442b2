"""Tokenizers by name: `tiktoken:cl100k_base`, `hf:ORG/NAME`, `hf:ORG/NAME@REVISION`; anything else is a path.

A name is fetched once and kept where tiktoken and huggingface_hub keep theirs. Nothing is sent but the request for a
file. All of this may run in any thread; fetching can be stopped at any moment.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bpe_viz.engine.tokenizer import Tokenizer
from bpe_viz.engine.types import CountingOptions, Progress, StopRequested
from bpe_viz.formats import load_tokenizer, refuse_pretokenizer
from bpe_viz.formats.openai_encodings import Encoding
from bpe_viz.formats.tiktoken_ranks import load_encoding

TIKTOKEN, HUB = "tiktoken:", "hf:"


@dataclass(frozen=True, slots=True)
class Located:
    """A tokenizer that lies on this disk.

    written: how the user named it
    path: of its file
    title: for people; origin: a sentence on where it is from, "" for the user's own file
    encoding: OpenAI's, if it was asked for
    """

    written: str
    path: Path
    title: str
    origin: str = ""
    encoding: Encoding | None = None

    def load(self, given: CountingOptions | None = None) -> Tokenizer:
        """Read it; its notes begin with the origin.

        given: the user's pretokenizer, for files that hold none
        Raises FormatError; PretokenizerNeeded if the file holds none and none is given.
        """
        if self.encoding is not None:
            refuse_pretokenizer(Path(self.written), given)
            tokenizer = load_encoding(self.path, self.encoding)
        else:
            tokenizer = load_tokenizer(self.path, given)
        if self.origin:
            tokenizer.name = self.title
            tokenizer.notes = (self.origin, *tokenizer.notes)
        return tokenizer


def is_name(written: str) -> bool:
    """Tell whether what the user wrote names a tokenizer by its publisher; else it is a path."""
    return written.startswith((TIKTOKEN, HUB))


def check_written(written: str) -> None:
    """Raise BpeVizError for what can be no tokenizer, a name or a path, without asking anybody."""
    from bpe_viz.names.paths import check_path

    if is_name(written):
        check_name(written)
    else:
        check_path(written)


def check_name(written: str) -> None:
    """Raise OptionError for a name that can be none, without asking anybody."""
    from bpe_viz.names._hub import HubName
    from bpe_viz.names._tiktoken import find_encoding

    if written.startswith(TIKTOKEN):
        find_encoding(written.removeprefix(TIKTOKEN))
    elif written.startswith(HUB):
        HubName.parse(written.removeprefix(HUB))


def locate(
    written: str, progress: Progress = lambda fraction, text: None, should_stop: StopRequested = lambda: False
) -> Located:
    """Return where a tokenizer is, after fetching it if it is a name that is not here yet.

    Raises OptionError for a name that can be none, FormatError for a path at which no file is, FetchError for what
    cannot be fetched, Stopped.
    """
    if written.startswith(TIKTOKEN):
        return _locate_encoding(written, progress, should_stop)
    if written.startswith(HUB):
        from bpe_viz.names._hub import HubName, fetch

        name = HubName.parse(written.removeprefix(HUB))
        found = fetch(name, progress, should_stop)
        return Located(written, found.path, name.repository, found.origin)
    from bpe_viz.names.paths import check_path

    path = check_path(written)
    return Located(written, path, path.name)


def _locate_encoding(written: str, progress: Progress, should_stop: StopRequested) -> Located:
    from bpe_viz.names._tiktoken import fetch, find_encoding

    encoding = find_encoding(written.removeprefix(TIKTOKEN))
    path, was_fetched = fetch(encoding, progress, should_stop)
    how = f"fetched from {encoding.address}" if was_fetched else "from tiktoken's cache"
    origin = f"{encoding.title}, {how}; its SHA-256 is the published one."
    return Located(written, path, encoding.title, origin, encoding)
