"""From text or tables to a corpus: distinct pre-tokens with their counts."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bpe_viz.engine.documents import STDIN, ReadingLog, find_sources, read_source
from bpe_viz.engine.pretokenize import Pretokenizer, pretokenizer_for, shortened
from bpe_viz.engine.segments import (
    CutBuffer,
    SpecialTokenCutter,
    check_normalizations,
    last_normalization_cut,
    normalize,
)
from bpe_viz.engine.text_decoding import repair_surrogates, surrogate_notes
from bpe_viz.engine.types import LARGEST_COUNT, CountingOptions, Progress, StopRequested, never_stop, no_progress
from bpe_viz.engine.word_tables import is_word_table, read_word_table
from bpe_viz.errors import CorpusError, OptionError, PatternError, Stopped

__all__ = [
    "Corpus",
    "PretokenCounts",
    "count_paths",
    "count_text",
    "count_words",
    "is_word_table",
    "worked_example",
]

EXCERPT_CHARACTERS = 400
EXCERPT_WORDS = 12
PIECE_CHARACTERS = 1 << 17
"""How much text is counted at once: about 20 ms, so that Stop and progress are felt at once."""

_SECONDS_BETWEEN_REPORTS = 0.1


@dataclass(frozen=True, eq=False, slots=True)
class PretokenCounts:
    """Distinct pre-tokens in first-seen order with their counts.

    data: their UTF-8, end to end
    offsets: (n + 1,) int64, where each starts in data
    counts: (n,) int64, how often each occurs
    """

    data: bytes
    offsets: NDArray[np.int64]
    counts: NDArray[np.int64]

    @classmethod
    def from_counter(cls, counts: Mapping[str, int]) -> PretokenCounts:
        """Lay a mapping pre-token -> count end to end, in its order. No pre-token may hold a surrogate."""
        contents = [pretoken.encode() for pretoken in counts]
        offsets = np.zeros(len(contents) + 1, dtype=np.int64)
        np.cumsum(np.fromiter(map(len, contents), np.int64, len(contents)), out=offsets[1:])
        return cls(b"".join(contents), offsets, np.fromiter(counts.values(), np.int64, len(counts)))

    def __len__(self) -> int:
        return len(self.counts)

    def content(self, row: int) -> bytes:
        """Return the UTF-8 of one pre-token."""
        return self.data[self.offsets[row] : self.offsets[row + 1]]


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
    count = _TextCount(options, lambda: None)
    count.add(repaired)
    count.end_document()
    return count.corpus(name, (), surrogate_notes(joined, replaced))


def count_paths(
    paths: Sequence[str | Path],
    options: CountingOptions,
    progress: Progress = no_progress,
    should_stop: StopRequested = never_stop,
) -> Corpus:
    """Count the pre-tokens of files, folders and standard input ("-"), or add up word tables.

    progress: told the part of the bytes read, at most ten times a second
    should_stop: asked about every 30 ms
    Raises CorpusError for what cannot be read, or if text and tables are mixed; OptionError or PatternError
    for options that cannot be followed; Stopped.
    """
    if not paths:
        raise CorpusError("No file was given.", "Name a text file, a folder or a word table.")
    tables = [path for path in paths if is_word_table(path)]
    if not tables:
        return _count_files(paths, options, progress, should_stop)
    if len(tables) < len(paths):
        text = next(path for path in paths if path not in tables)
        raise CorpusError(
            f"{tables[0]} is a word table and {text} is text.",
            "Count them apart, or make both tables or both text.",
        )
    return _add_tables([Path(path) for path in tables], options, progress, should_stop)


def count_words(counts: Mapping[str, int], name: str) -> Corpus:
    """Take pre-tokens with their counts as they are.

    Raises CorpusError if there is none, one is empty, or a count is not between 1 and 2**63 - 1.
    """
    return _table_corpus(counts, name, (), CountingOptions(), [])


def worked_example() -> Corpus:
    """Return the corpus of Sennrich et al. 2016, figure 1, whose merges can be followed by hand."""
    return count_words({"low": 5, "lower": 2, "newest": 6, "widest": 3}, "Worked example")


def _count_piece(counts: Counter[str], pretokenizer: Pretokenizer, piece: str, by_line: bool) -> Iterator[None]:
    """Add the pre-tokens of a piece of text to the counts; yields now and then, so that Stop can be asked.

    This is the inner loop of counting: whatever is faster replaces it here, and nowhere else.
    """
    for batch in pretokenizer.batches(piece, by_line):
        counts.update(batch)
        yield


class _TextCount:
    """Counts text that comes in pieces, document by document, as if each were handed over whole.

    A piece goes through three stages, each of which holds back what it cannot decide yet: special tokens are
    cut out, the text between them is normalized, and that is pretokenized.
    check_stop: called between pieces; raises Stopped if the user wants that
    """

    def __init__(self, options: CountingOptions, check_stop: Callable[[], None]) -> None:
        check_normalizations(options.normalize)
        if options.documents not in ("file", "line"):
            raise OptionError(f"There are no documents named {options.documents!r}.", "Choose file or line.")
        self._options = options
        self._check_stop = check_stop
        self._pretokenizer = pretokenizer_for(options)
        self._by_line = options.documents == "line"
        specials = options.special_tokens
        if self._by_line:
            # A line ends at its first newline, so no special token reaches beyond one.
            specials = tuple(token for token in specials if "\n" not in token[:-1])
        self._special_cutter = SpecialTokenCutter(specials)
        self._unnormalized = CutBuffer(last_normalization_cut)
        self._uncut = CutBuffer(_last_line_end if self._by_line else self._pretokenizer.last_cut)
        self._counts: Counter[str] = Counter()
        self._n_bytes = 0
        self._n_characters = 0
        self._n_handed = 0  # characters that the pretokenizer was given
        self._n_specials = 0
        self._saw_ink = False  # something other than white space
        self._beginning = ""

    def add(self, text: str) -> None:
        """Count the next text of the document."""
        for start in range(0, len(text), PIECE_CHARACTERS):
            piece = text[start : start + PIECE_CHARACTERS]
            if len(self._beginning) <= EXCERPT_CHARACTERS:
                self._beginning += piece[: 2 * EXCERPT_CHARACTERS]
            self._n_characters += len(piece)
            self._n_bytes += len(piece) if piece.isascii() else len(piece.encode())
            self._saw_ink = self._saw_ink or not piece.isspace()
            for segment in self._special_cutter.add(piece):
                self._add_segment(segment.text, segment.is_special)
            self._check_stop()

    def end_document(self) -> None:
        """Count what was held back; the next text belongs to another document."""
        for segment in self._special_cutter.add("", final=True):
            self._add_segment(segment.text, segment.is_special)
        self._end_segment()

    def _add_segment(self, text: str, is_special: bool) -> None:
        if is_special:
            self._end_segment()
            self._n_specials += 1
        elif self._options.normalize:
            self._pretokenize(self._uncut.add(self._normalized(self._unnormalized.add(text))))
        else:
            self._pretokenize(self._uncut.add(text))

    def _end_segment(self) -> None:
        if self._options.normalize:
            self._pretokenize(self._uncut.add(self._normalized(self._unnormalized.rest())))
        self._pretokenize(self._uncut.rest())

    def _normalized(self, text: str) -> str:
        return normalize(text, self._options.normalize)

    def _pretokenize(self, text: str) -> None:
        if not text:
            return
        self._n_handed += len(text)
        for _ in _count_piece(self._counts, self._pretokenizer, text, self._by_line):
            self._check_stop()

    def corpus(self, name: str, sources: tuple[str, ...], notes: Sequence[str]) -> Corpus:
        """Return what was counted; the notes of counting follow those given.

        Raises PatternError if a user's pattern matched nothing of a text that is not all white space.
        """
        n_empty = self._counts.pop("", 0)
        n_pretokens = self._counts.total()
        pattern = self._options.pattern
        if pattern is not None and self._saw_ink and self._n_handed and not n_pretokens:
            raise PatternError(
                f"The pattern {shortened(pattern)} matches nothing in {name}.", r"Try \S+, which matches every word."
            )
        return Corpus(
            name=name,
            sources=sources,
            counting=self._options,
            is_table=False,
            pretokens=PretokenCounts.from_counter(self._counts),
            n_bytes=self._n_bytes,
            n_characters=self._n_characters,
            n_pretokens=n_pretokens,
            notes=(*notes, *self._notes(n_empty)),
            excerpt=_excerpt(self._beginning),
        )

    def _notes(self, n_empty: int) -> Iterator[str]:
        if self._n_specials:
            yield f"Special tokens that were cut out before counting: {self._n_specials:,}."
        if n_empty:
            yield f"Empty matches of the pattern, which count as no pre-token: {n_empty:,}."
        dropped = self._n_handed - sum(len(pretoken) * count for pretoken, count in self._counts.items())
        if dropped:
            share = f"{dropped:,} of {self._n_handed:,} characters ({dropped / self._n_handed:.1%})"
            if self._options.pattern is not None:
                yield f"The pattern leaves {share} uncovered: they were dropped."
            else:
                yield f"White space between words was dropped: {share}."
        if not self._saw_ink:
            yield "The text is white space only, so there is no word to merge or to encode."
        if not self._counts:
            yield "There is no pre-token, so there is nothing to merge."


def _excerpt(beginning: str) -> str:
    """Cut the beginning of a text to EXCERPT_CHARACTERS, after a whole word if there is one."""
    text = beginning.lstrip()
    if len(text) <= EXCERPT_CHARACTERS:
        return text
    cut = text[:EXCERPT_CHARACTERS]
    words, _, _ = cut.rpartition(" ")
    return words or cut


def _last_line_end(text: str) -> int:
    return text.rfind("\n") + 1


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
    paths: Sequence[str | Path], options: CountingOptions, progress: Progress, should_stop: StopRequested
) -> Corpus:
    sources, notes = find_sources(paths)
    watch = _Watch(progress, should_stop, sum(source.size for source in sources))
    log = ReadingLog()
    doing = ""
    done = 0
    count = _TextCount(options, lambda: watch.check(done + log.bytes_read, doing))
    n_read = 0
    for source in sources:
        log = ReadingLog()
        doing = f"Counting {source.path.name if source.path else source.name}"
        has_text = False
        for piece in read_source(source, log):
            has_text = has_text or bool(piece.text)
            count.add(piece.text)
            if piece.ends_document:
                count.end_document()
        n_read += has_text
        done += log.bytes_read
        notes += log.notes
    if not n_read:
        raise CorpusError(f"{_name_of(paths)} holds no text files.", "Give a file or folder with text in it.")
    progress(1.0, doing)
    return count.corpus(_name_of(paths), tuple(map(str, paths)), notes)


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
        excerpt=_excerpt(" ".join(islice(repaired_counts, EXCERPT_WORDS))),
    )


def _name_of(paths: Sequence[str | Path]) -> str:
    """Return how people would call what they gave: the name of a file or folder, or "3 files"."""
    if len(paths) > 1:
        return f"{len(paths)} files"
    if str(paths[0]) == STDIN:
        return "Standard input"
    return Path(paths[0]).name or str(Path(paths[0]).resolve())
