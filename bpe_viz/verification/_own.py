"""A tokenizer's own library, opened on its file."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

from bpe_viz.engine.pipeline import without_surrogates
from bpe_viz.engine.tokenizer import SpecialText, Tokenizer
from bpe_viz.errors import BpeVizError, FormatError, OptionError
from bpe_viz.formats import OwnLibrary, Units, detect_format

# All else is the library's: bare Exception, SystemExit, a panic of Rust.
_OWN_TO_RAISE = (BpeVizError, KeyboardInterrupt, MemoryError)


def library_of(path: Path) -> OwnLibrary:
    """Return the library of a tokenizer file. Raises OptionError if no library reads such files."""
    found = detect_format(path)
    if found is None or found.library is None:
        title = path.name if found is None else found.title
        raise OptionError(
            f"No library that can be asked reads {title}.",
            # What is written in this format too is BPE that a tokenizer.json can hold.
            f"To ask the tokenizers library instead, first run: bpe-viz convert {path} NAME.json"
            if found is not None and found.contents is not None
            else "",
        )
    return found.library


class OpenedLibrary:
    """A library that has read a file. One thread uses it at a time."""

    def __init__(self, path: Path, tokenizer: Tokenizer) -> None:
        """Open the library of a file, which tokenizer was read from.

        Raises OptionError if the library is not installed or there is none, FormatError if it cannot read the file.
        """
        self.library = library_of(path)
        self.name = self.library.package
        self._path = path
        try:
            self._encode = self.library.open(path, tokenizer)
        except ImportError as error:
            raise OptionError(
                f"The {self.name} library, which would be asked, is not installed.", f"Run: pip install {self.name}"
            ) from error
        except _OWN_TO_RAISE:
            raise
        except BaseException as error:
            raise FormatError(f"The {self.name} library cannot read {path}: {error}.") from error
        self.version = version(self.name)

    def encode(self, text: str, special_text: SpecialText, around: bool) -> Units:
        """Encode a text.

        special_text, around: as in formats.Encode
        Raises FormatError if the library fails.
        """
        try:
            return self._encode(without_surrogates(text)[0], special_text, around)
        except _OWN_TO_RAISE:
            raise
        except BaseException as error:
            raise FormatError(f"The {self.name} library fails on this text with {self._path}: {error}.") from error
