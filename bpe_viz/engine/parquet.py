"""Read text and word tables from Parquet files, and write tables, if pyarrow is installed."""

from __future__ import annotations

import importlib
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bpe_viz.engine.pretoken_counts import PretokenCounts
from bpe_viz.errors import CorpusError

_BATCH_ROWS = 1024


def open_parquet(path: Path) -> Any:
    """Return the file as a pyarrow.parquet.ParquetFile, which the caller closes.

    Raises CorpusError if pyarrow is not installed or the file is no Parquet.
    """
    parquet = _pyarrow(path, "pyarrow.parquet")
    try:
        return parquet.ParquetFile(path)
    except (OSError, ValueError) as error:  # pyarrow's own errors derive from these
        raise CorpusError(f"{path} cannot be read as Parquet: {error}.") from error


def has_word_counts(path: Path) -> bool:
    """Tell whether a Parquet file is a word table: it has the columns `pretoken` and `count`.

    Raises CorpusError as `open_parquet` does.
    """
    with open_parquet(path) as file:
        return {"pretoken", "count"} <= set(file.schema_arrow.names)


def read_texts(path: Path) -> Iterator[str]:
    """Yield the rows of the column `text`, each a document; rows without text are left out.

    Raises CorpusError if there is no such column or it holds no text.
    """
    with open_parquet(path) as file:
        names = file.schema_arrow.names
        if "text" not in names:
            raise CorpusError(
                f"{path} has no column `text`; it has: {', '.join(names)}.",
                "Name the column of the text `text`, or those of a word table `pretoken` and `count`.",
            )
        for batch in file.iter_batches(batch_size=_BATCH_ROWS, columns=["text"]):
            for text in batch.column(0).to_pylist():
                if text is not None and not isinstance(text, str):
                    raise CorpusError(f"{path}: the column `text` holds {text!r}, which is not text.")
                if text:
                    yield text


def read_counts(path: Path) -> Iterator[tuple[object, object]]:
    """Yield (pre-token, count) of each row of a word table, unchecked."""
    with open_parquet(path) as file:
        for batch in file.iter_batches(batch_size=_BATCH_ROWS, columns=["pretoken", "count"]):
            yield from zip(*(batch.column(name).to_pylist() for name in ("pretoken", "count")), strict=True)


def written_counts(path: Path, pretokens: PretokenCounts) -> bytes:
    """Return a word table as Parquet. path: for errors only. Raises CorpusError if pyarrow is not installed."""
    arrow, parquet = _pyarrow(path, "pyarrow"), _pyarrow(path, "pyarrow.parquet")
    offsets = arrow.py_buffer(pretokens.offsets.tobytes())
    names = arrow.LargeStringArray.from_buffers(len(pretokens), offsets, arrow.py_buffer(pretokens.data))
    table = arrow.table({"pretoken": names, "count": arrow.array(pretokens.counts)})
    content = io.BytesIO()
    parquet.write_table(table, content)
    return content.getvalue()


def _pyarrow(path: Path, module: str) -> Any:
    try:
        # By name, as pyarrow is an extra: the type checker must pass without it.
        return importlib.import_module(module)
    except ImportError as error:
        raise CorpusError(
            f"{path} is a Parquet file, and those need pyarrow.", "Install it: pip install pyarrow"
        ) from error
