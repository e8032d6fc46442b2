"""Encode a large file part by part, in bounded memory."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from bpe_viz.cli.compiling import choose_kernels
from bpe_viz.cli.inputs import STDIN
from bpe_viz.cli.terminal import ProgressLine, print_result, say_all

if TYPE_CHECKING:
    from bpe_viz.engine.encoder import Encoder
    from bpe_viz.engine.tokenizer import SpecialText, Tokenizer

LARGE_BYTES = 1 << 20
"""A smaller file is laid out as a whole, which takes a moment and some hundred times its size."""

COMPILED_BYTES = 30_000_000
"""From here on compiling the kernels first is quicker than doing without."""

_MOST_THREADS = 8


def can_stream(tokenizer: Tokenizer, file: Path, output: str, special_text: SpecialText) -> bool:
    """Tell whether a file is large, and there is nothing to say of it but its ids: nothing dropped, no gaps."""
    return (
        output in ("ids", "count")
        and special_text != "error"
        and str(file) != STDIN
        and os.path.isfile(file)
        and file.stat().st_size >= LARGE_BYTES
        and tokenizer.base.base == "bytes"
        and tokenizer.covers_text
    )


def stream_ids(tokenizer: Tokenizer, file: Path, output: str, special_text: SpecialText) -> None:
    """Print the ids of a file, or how many there are. Raises CorpusError if it cannot be read."""
    from bpe_viz.engine.documents import ReadingLog, read_text_parts

    size = file.stat().st_size
    encoder = _encoder(tokenizer, size)
    log = ReadingLog()
    n = 0
    with ProgressLine() as progress:
        for ids in encoder.encode_blocks(read_text_parts(file, log), special_text == "allow"):
            if output == "ids" and len(ids):
                print_result((" " if n else "") + " ".join(map(str, ids.tolist())), ends_line=False)
            n += len(ids)
            progress.report(log.bytes_read / size, f"Encoding {file.name}")
    print_result("" if output == "ids" else str(n))
    say_all(log.notes)


def _encoder(tokenizer: Tokenizer, size: int) -> Encoder:
    from bpe_viz.engine.encoder import Encoder

    kernels = choose_kernels(True, size >= COMPILED_BYTES)
    return (
        Encoder(tokenizer) if kernels is None else Encoder(tokenizer, kernels, min(os.cpu_count() or 1, _MOST_THREADS))
    )
