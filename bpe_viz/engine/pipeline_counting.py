"""Count a text as a tokenizer's pipeline cuts it, where that is more than CountingOptions can say.

The steps of a file look at a text as a whole: what stands first may get a space before it, and steps may look far back.
So every document goes through them in one piece. Where they cut nothing at all, a file would be a single pre-token, as
long as it: then each line is a document, as sentencepiece takes them when it learns.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from bpe_viz.engine.corpus import Corpus
from bpe_viz.engine.documents import ReadingLog, find_sources, read_source
from bpe_viz.engine.library_pipelines import StepsPipeline
from bpe_viz.engine.pipeline import Pipeline, Stretch
from bpe_viz.engine.pretoken_counts import PretokenCounts
from bpe_viz.engine.text_counting import excerpt_of
from bpe_viz.engine.types import CountingOptions
from bpe_viz.errors import CorpusError

MOST_CHARACTERS = 4_000_000
"""Of one document that the library cuts, which takes 400 bytes of memory for each."""

_PROBE = "Ab 1, cd.\n\n  Ef東 2\n"
_LINE = re.compile(r"[^\n]*\n|[^\n]+")

MOST_DISTINCT_BYTES = 20_000_000
"""Of all distinct pre-tokens: a replay takes 80 bytes for each."""


def count_prepared(
    pipeline: Pipeline, counting: CountingOptions, name: str, paths: Sequence[Path], text: str | None = None
) -> Corpus:
    """Count the pre-tokens of files and folders, or of a text.

    counting: what the corpus is said to be counted with
    Raises CorpusError for what cannot be read, is empty or too long; FormatError for what the pipeline refuses.
    """
    counts: Counter[bytes] = Counter()
    notes: list[str] = []
    n_bytes = n_characters = n_distinct = dropped = 0
    beginning = ""
    by_lines = _cuts_nothing(pipeline)
    for document in _documents(paths, notes) if text is None else (text,):
        cut, n_dropped = _cut_lines(pipeline, document, name) if by_lines else _cut(pipeline, document, name)
        n_distinct += sum(len(content) for content in set(cut) - counts.keys())
        if n_distinct > MOST_DISTINCT_BYTES:
            raise CorpusError(
                f"{name} falls into distinct pre-tokens of more than {MOST_DISTINCT_BYTES:,} bytes together: this "
                "tokenizer cuts text into lines or longer, of which hardly any comes twice.",
                "Choose a shorter text.",
            )
        counts.update(cut)
        dropped += n_dropped
        n_bytes += len(document.encode(errors="replace"))
        n_characters += len(document)
        beginning = beginning or document
    counts.pop(b"", None)
    if not counts:
        raise CorpusError(f"{name} holds no pre-token.", "Give a text with something in it.")
    if by_lines:
        notes.append("The tokenizer does not cut a text: each line is taken for itself, its line end included.")
    if dropped:
        notes.append(f"The tokenizer's steps drop {dropped:,} of {n_characters:,} characters.")
    return Corpus(
        name=name,
        sources=tuple(map(str, paths)),
        counting=counting,
        is_table=False,
        pretokens=_laid_end_to_end(counts),
        n_bytes=n_bytes,
        n_characters=n_characters,
        n_pretokens=counts.total(),
        notes=tuple(notes),
        excerpt=excerpt_of(beginning),
    )


def _cut(pipeline: Pipeline, document: str, name: str) -> tuple[list[bytes], int]:
    """Return the pre-tokens of a document, and how many of its characters are in none. Raises CorpusError."""
    joined = pipeline.joined if isinstance(pipeline, StepsPipeline) else None
    if joined is not None and (pretokens := joined.pretokens(document)) is not None:
        return list(map(str.encode, pretokens)), 0
    if len(document) > MOST_CHARACTERS:
        raise CorpusError(
            f"{name} holds a document of {len(document):,} characters. The tokenizer's steps look at a document as a "
            f"whole, and its library is given {MOST_CHARACTERS:,} at the most.",
            "Choose a shorter text, or cut it into files.",
        )
    prepared = pipeline.prepare(document, "allow", around=False)
    found: list[bytes] = []
    for part in prepared.parts:
        if isinstance(part, Stretch):
            found += part.pretokens
    return found, prepared.dropped


def _cuts_nothing(pipeline: Pipeline) -> bool:
    """Tell whether a text stays one pre-token, whatever is in it."""
    parts = pipeline.prepare(_PROBE, "allow", around=False).parts
    return [len(part.pretokens) for part in parts if isinstance(part, Stretch)] == [1]


def _cut_lines(pipeline: Pipeline, document: str, name: str) -> tuple[list[bytes], int]:
    """Return the same as _cut, of each line for itself, its line end included."""
    found: list[bytes] = []
    dropped = 0
    for line in _LINE.findall(document):
        cut, n_dropped = _cut(pipeline, line, name)
        found += cut
        dropped += n_dropped
    return found, dropped


def _documents(paths: Sequence[Path], notes: list[str]) -> Iterator[str]:
    sources, found = find_sources(paths)
    notes += found
    for source in sources:
        log = ReadingLog()
        parts: list[str] = []
        for piece in read_source(source, log):
            parts.append(piece.text)
            if piece.ends_document:
                yield "".join(parts)
                parts = []
        if parts:
            yield "".join(parts)
        notes += log.notes


def _laid_end_to_end(counts: Counter[bytes]) -> PretokenCounts:
    offsets = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, counts), np.int64, len(counts)), out=offsets[1:])
    return PretokenCounts(b"".join(counts), offsets, np.fromiter(counts.values(), np.int64, len(counts)))
