"""What the user wrote is a path: what to say where no file is there."""

from __future__ import annotations

import re
from pathlib import Path

from bpe_viz.errors import FormatError
from bpe_viz.formats.openai_encodings import encoding_named, encoding_of_model

_USUAL = ("tokenizer.json", "tekken.json", "tokenizer.model", "vocab.json", "vocab.txt", "encoder.json")
"""What tokenizer files are called in the folder of a model, the one that says most first."""

_ENDING = re.compile(r"\.[A-Za-z_]+$")
_MODEL = re.compile(r"[\w.-]+/[\w.-]+(@[\w./-]+)?", re.ASCII)


def check_path(written: str) -> Path:
    """Return the path of a file. Raises FormatError, with what may have been meant, for a folder or nothing."""
    path = Path(written)
    try:
        is_folder = path.is_dir()
        is_there = is_folder or path.exists()
    except (OSError, ValueError):  # reading it will say why
        return path
    if is_folder:
        found = next((name for name in _USUAL if (path / name).is_file()), None)
        remedy = "Name a tokenizer file in it." if found is None else f"Name a file in it, such as {path / found}"
        raise FormatError(f"{written} is a folder, and no tokenizer file.", remedy)
    if not is_there:
        raise FormatError(f"There is no file {written}.", suggested_name(written) or "Check its name and folder.")
    return path


def suggested_name(written: str) -> str:
    """Return what to try for what may be a name without its publisher, "" if it cannot be one."""
    # A file of a model is named like it: gpt-4.json is none of OpenAI's names.
    encoding = None if _ENDING.search(written) else encoding_named(written) or encoding_of_model(written)
    if encoding is not None:
        return f"OpenAI's encoding is tiktoken:{encoding.name}"
    if _MODEL.fullmatch(written) and not Path(written).parent.exists():
        return f"A model of the Hugging Face hub is hf:{written}"
    return ""
