"""From text or tables to a corpus: distinct pre-tokens with their counts."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from bpe_viz.engine.compiled import PLAIN, Kernels
from bpe_viz.engine.documents import STDIN, Piece, ReadingLog, TextSource, find_sources, read_source
from bpe_viz.engine.mapped_text import map_text
from bpe_viz.engine.pretoken_counts import PretokenCounts
from bpe_viz.engine.scanning import rule_for
from bpe_viz.engine.text_counting import TextCount, excerpt_of, tally_for
from bpe_viz.engine.text_decoding import repair_surrogates, surrogate_notes
from bpe_viz.engine.types import LARGEST_COUNT, CountingOptions, Progress, StopRequested, never_stop, no_progress
from bpe_viz.engine.word_tables import is_word_table, read_word_table
from bpe_viz.errors import CorpusError, PatternError, Stopped

__all__ = [
    "Corpus",
    "PretokenCounts",
    "count_paths",
    "count_text",
    "count_words",
    "is_word_table",
    "worked_example",
]

EXCERPT_WORDS = 12

WORTH_SCANNING = 1_000_000
"""From so many bytes on compiled scanners are used where they are at hand: about 0.1 s for the `regex` module."""

WORTH_COMPILING = 30_000_000
"""From so many bytes on it is quicker to compile the scanners first: `regex` counts about 8 MB a second."""

_SECONDS_BETWEEN_REPORTS = 0.1


@dataclass(frozen=True, eq=False, slots=True)
class Corpus:
    """What is trained on.

    name: for people: file name, "3 files", folder name, "Pasted text", "Worked example"
    sources: paths as given; none for text and tables in memory
    is_table: pre-tokens were taken as they are, no pretokenizer ran
    n_bytes: of the text in UTF-8, special tokens and dropped text included; of a table, size x count
    n_characters: code points, likewise
    n_pretokens: sum of the counts
    notes: sentences on everything that was found and handled: encoding, invalid bytes, dropped text...
    excerpt: how the text begins, or the first words of a table: something to encode
    """

    name: str
    sources: tuple[str, ...]
    counting: CountingOptions
    is_table: bool
    pretokens: PretokenCounts
    n_bytes: int
    n_characters: int
    n_pretokens: int
    notes: tuple[str, ...]
    excerpt: str = ""


def count_text(text: str, options: CountingOptions, name: str = "Pasted text") -> Corpus:
    """Count the pre-tokens of a text in memory.

    Raises CorpusError if it is empty, OptionError or PatternError for options that cannot be followed.
    """
    if not text:
        raise CorpusError("There is no text.", "Type or paste some, or open a file.")
    repaired, joined, replaced = repair_surrogates(text)
    with closing(tally_for(options, PLAIN, None, lambda: None)) as tally:
        count = TextCount(options, tally, lambda: None)
        count.add(repaired)
        count.end_document()
        return _text_corpus(count, options, name, (), surrogate_notes(joined, replaced))


def count_paths(
    paths: Sequence[str | Path],
    options: CountingOptions,
    progress: Progress = no_progress,
    should_stop: StopRequested = never_stop,
    kernel_set: Kernels = PLAIN,
    threads: int | None = None,
) -> Corpus:
    """Count the pre-tokens of files, folders and standard input ("-"), or add up word tables.

    progress: told the part of the bytes read, at most ten times a second
    should_stop: asked about every 30 ms
    kernel_set: compiled ones scan large inputs themselves, plain ones leave all to the `regex` module
    threads: how many scan at once; None: one for each processor, up to 8. The result does not depend on it.
    Raises CorpusError for what cannot be read, or if text and tables are mixed; OptionError or PatternError
    for options that cannot be followed; Stopped.
    """
    if not paths:
        raise CorpusError("No file was given.", "Name a text file, a folder or a word table.")
    tables = [path for path in paths if is_word_table(path)]
    if not tables:
        return _count_files(paths, options, progress, should_stop, kernel_set, threads)
    if len(tables) < len(paths):
        text = next(path for path in paths if path not in tables)
        raise CorpusError(
            f"{tables[0]} is a word table and {text} is text.",
            "Count them apart, or make both tables or both text.",
        )
    return _add_tables([Path(path) for path in tables], options, progress, should_stop)


def bytes_to_scan(paths: Sequence[str | Path], options: CountingOptions) -> int:
    """Return how many bytes compiled scanners would count; 0 if they would count none.

    Raises CorpusError for paths that do not exist.
    """
    if rule_for(options) is None or any(is_word_table(path) for path in paths):
        return 0
    sources, _ = find_sources(paths)
    return sum(source.size for source in sources)


def count_words(counts: Mapping[str, int], name: str) -> Corpus:
    """Take pre-tokens with their counts as they are.

    Raises CorpusError if there is none, one is empty, or a count is not between 1 and 2**63 - 1.
    """
    return _table_corpus(counts, name, (), CountingOptions(), [])


def worked_example() -> Corpus:
    """Return the corpus of Sennrich et al. 2016, figure 1, whose merges can be followed by hand."""
    counted = count_words({"low": 5, "lower": 2, "newest": 6, "widest": 3}, "Worked example")
    # Words that were not trained on, and characters that the base lacks.
    return replace(counted, excerpt="lowest newer, slower")


class _Watch:
    """Asks whether to stop, and reports progress at most ten times a second.

    total: bytes to read; 0 if that is not known
    """

    def __init__(self, progress: Progress, should_stop: StopRequested, total: int) -> None:
        self._progress = progress
        self._should_stop = should_stop
        self._total = total
        self._next_report = 0.0

    def check(self, bytes_read: int, doing: str) -> None:
        """Raise Stopped if that is wanted; report how far reading is."""
        if self._should_stop():
            raise Stopped
        now = time.monotonic()
        if now >= self._next_report:
            self._next_report = now + _SECONDS_BETWEEN_REPORTS
            self._progress(min(1.0, bytes_read / self._total) if self._total else 0.0, doing)


def _count_files(
    paths: Sequence[str | Path],
    options: CountingOptions,
    progress: Progress,
    should_stop: StopRequested,
    kernel_set: Kernels,
    threads: int | None,
) -> Corpus:
    sources, notes = find_sources(paths)
    total = sum(source.size for source in sources)
    is_large = total >= WORTH_SCANNING or any(source.path is None for source in sources)
    watch = _Watch(progress, should_stop, total)
    log = ReadingLog()
    doing = ""
    done = 0

    def check_stop() -> None:
        watch.check(max(0, done + log.bytes_read - count.bytes_waiting), doing)

    with closing(tally_for(options, kernel_set if is_large else PLAIN, threads, check_stop)) as tally:
        count = TextCount(options, tally, check_stop)
        n_read = 0
        for source in sources:
            log = ReadingLog()
            doing = f"Counting {source.path.name if source.path else source.name}"
            try:
                n_read += _count_source(count, source, log)
            except PatternError as error:
                raise PatternError(f"{source.name}: {error.message}", error.remedy) from error
            done += log.bytes_read
            notes += log.notes
        if not n_read:
            raise CorpusError(f"{_name_of(paths)} holds no text files.", "Give a file or folder with text in it.")
        corpus = _text_corpus(count, options, _name_of(paths), tuple(map(str, paths)), notes)
    progress(1.0, doing)
    return corpus


def _count_source(count: TextCount, source: TextSource, log: ReadingLog) -> bool:
    """Count one source, as bytes as far as that goes and the rest as text; tells whether there was any text."""

    def report(n_bytes: int) -> None:
        log.bytes_read = n_bytes

    mapped = map_text(source) if count.takes_bytes else None
    n_counted = count.add_mapped(mapped, report) if mapped is not None else 0
    if mapped is not None and n_counted == len(mapped.data):
        return True
    has_text = n_counted > 0
    for piece in _without_beginning(read_source(source, log), n_counted):
        has_text = has_text or bool(piece.text)
        count.add(piece.text)
        if piece.ends_document:
            count.end_document()
    return has_text


def _without_beginning(pieces: Iterator[Piece], n_bytes: int) -> Iterator[Piece]:
    """Drop the first bytes, in UTF-8, of the pieces' text; they end with a character."""
    for piece in pieces:
        if n_bytes:
            content = piece.text.encode()
            piece = piece._replace(text=content[n_bytes:].decode())
            n_bytes = max(0, n_bytes - len(content))
        yield piece


def _text_corpus(
    count: TextCount, options: CountingOptions, name: str, sources: tuple[str, ...], notes: Sequence[str]
) -> Corpus:
    """Return what was counted; the notes of counting follow those given. Raises PatternError as finish() does."""
    pretokens, notes_on_counts = count.finish(name)
    return Corpus(
        name=name,
        sources=sources,
        counting=options,
        is_table=False,
        pretokens=pretokens,
        n_bytes=count.n_bytes,
        n_characters=count.n_characters,
        n_pretokens=int(pretokens.counts.sum()),
        notes=(*notes, *notes_on_counts),
        excerpt=count.excerpt,
    )


def _add_tables(
    paths: Sequence[Path], options: CountingOptions, progress: Progress, should_stop: StopRequested
) -> Corpus:
    counts: Counter[str] = Counter()
    notes: list[str] = []
    watch = _Watch(progress, should_stop, len(paths))
    for number, path in enumerate(paths):
        watch.check(number, f"Reading {path.name}")
        table, table_notes = read_word_table(path)
        counts.update(table)
        notes += table_notes
    progress(1.0, f"Reading {paths[-1].name}")
    unused = [
        title
        for title, is_given in (("normalization", options.normalize), ("special tokens", options.special_tokens))
        if is_given
    ]
    if unused:
        notes.append(
            f"The pre-tokens of a table are taken as they are; {' and '.join(unused)} will be used for encoding only."
        )
    return _table_corpus(counts, _name_of(paths), tuple(map(str, paths)), options, notes)


def _table_corpus(
    counts: Mapping[str, int], name: str, sources: tuple[str, ...], options: CountingOptions, notes: list[str]
) -> Corpus:
    repaired_counts: dict[str, int] = {}
    joined = replaced = 0
    for pretoken, count in counts.items():
        repaired, newly_joined, newly_replaced = repair_surrogates(pretoken)
        joined += newly_joined
        replaced += newly_replaced
        total = repaired_counts.get(repaired, 0) + count
        if not pretoken or not 1 <= count <= total <= LARGEST_COUNT:
            raise CorpusError(
                f"{name}: the count of {pretoken!r} is {count}.",
                "Give pre-tokens that are not empty, and counts from 1 to 2**63 - 1.",
            )
        repaired_counts[repaired] = total
    if not repaired_counts:
        raise CorpusError(f"{name} holds no pre-token.", "Give at least one, with its count.")
    sizes = [(len(pretoken.encode()), len(pretoken), count) for pretoken, count in repaired_counts.items()]
    return Corpus(
        name=name,
        sources=sources,
        counting=options,
        is_table=True,
        pretokens=PretokenCounts.from_counter(repaired_counts),
        n_bytes=sum(n_bytes * count for n_bytes, _, count in sizes),
        n_characters=sum(n_characters * count for _, n_characters, count in sizes),
        n_pretokens=sum(repaired_counts.values()),
        notes=(*notes, *surrogate_notes(joined, replaced)),
        excerpt=excerpt_of(" ".join(islice(repaired_counts, EXCERPT_WORDS))),
    )


def _name_of(paths: Sequence[str | Path]) -> str:
    """Return how people would call what they gave: the name of a file or folder, or "3 files"."""
    if len(paths) > 1:
        return f"{len(paths)} files"
    if str(paths[0]) == STDIN:
        return "Standard input"
    return Path(paths[0]).name or str(Path(paths[0]).resolve())
