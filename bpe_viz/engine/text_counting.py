"""Count text that comes in pieces, document by document, as if each were handed over whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Protocol

from bpe_viz.engine.compiled import Kernels
from bpe_viz.engine.mapped_text import MappedText, safe_pieces
from bpe_viz.engine.pretoken_counts import PretokenCounts
from bpe_viz.engine.pretokenize import Pretokenizer, pretokenizer_for, shortened
from bpe_viz.engine.scanning import ScanningTally, rule_for
from bpe_viz.engine.segments import (
    CutBuffer,
    SpecialTokenCutter,
    check_normalizations,
    last_normalization_cut,
    normalize,
)
from bpe_viz.engine.types import CountingOptions
from bpe_viz.errors import OptionError, PatternError

EXCERPT_CHARACTERS = 400
PIECE_CHARACTERS = 1 << 17
"""How much text is counted at once: about 20 ms, so that Stop and progress are felt at once."""


class Tally(Protocol):
    """Counts the pre-tokens of texts; each text given to it is one of its own.

    n_empty: how many empty matches there were, which count as no pre-token
    n_waiting: how many code points it was given and has not searched, so far as it is worth telling
    """

    n_empty: int
    n_waiting: int

    def add(self, text: str) -> None:
        """Count a text, now or later."""

    def counts(self) -> PretokenCounts:
        """Return what was counted; nothing is added after."""

    def close(self) -> None:
        """Leave off counting."""


class PatternTally:
    """Counts with the `regex` module: any pattern, with nothing to compile or load."""

    def __init__(self, pretokenizer: Pretokenizer, by_line: bool, check_stop: Callable[[], None]) -> None:
        self._pretokenizer = pretokenizer
        self._by_line = by_line
        self._check_stop = check_stop
        self._counts: Counter[str] = Counter()
        self.n_empty = 0
        self.n_waiting = 0

    def add(self, text: str) -> None:
        """Count a text."""
        self.n_waiting = len(text)
        for batch, searched in self._pretokenizer.batches(text, self._by_line):
            self._counts.update(batch)
            self.n_waiting = len(text) - searched
            self._check_stop()
        self.n_waiting = 0

    def counts(self) -> PretokenCounts:
        """Return what was counted."""
        self.n_empty = self._counts.pop("", 0)
        return PretokenCounts.from_counter(self._counts)

    def close(self) -> None:
        """Do nothing: no thread runs."""


def tally_for(
    options: CountingOptions, kernel_set: Kernels, threads: int | None, check_stop: Callable[[], None]
) -> Tally:
    """Return a tally that scans if compiled kernels are given and the pretokenizer has a scanner.

    Raises OptionError or PatternError for options that cannot be followed.
    """
    if options.documents not in ("file", "line"):
        raise OptionError(f"There are no documents named {options.documents!r}.", "Choose file or line.")
    pretokenizer = pretokenizer_for(options)
    rule = rule_for(options)
    if rule is not None and kernel_set.compiled:
        return ScanningTally(rule, kernel_set, threads, check_stop)
    return PatternTally(pretokenizer, options.documents == "line", check_stop)


class TextCount:
    """Counts text that comes in pieces.

    A piece goes through three stages, each of which holds back what it cannot decide yet: special tokens are
    cut out, the text between them is normalized, and that is cut where it is safe and handed to the tally.
    check_stop: called between pieces; raises Stopped if the user wants that
    """

    def __init__(self, options: CountingOptions, tally: Tally, check_stop: Callable[[], None]) -> None:
        check_normalizations(options.normalize)
        self._options = options
        self._check_stop = check_stop
        self._tally = tally
        by_line = options.documents == "line"
        specials = options.special_tokens
        if by_line:
            # A line ends at its first newline, so no special token reaches beyond one.
            specials = tuple(token for token in specials if "\n" not in token[:-1])
        self._special_cutter = SpecialTokenCutter(specials)
        self._unnormalized = CutBuffer(last_normalization_cut)
        pretokenizer = pretokenizer_for(options)
        self._uncut = CutBuffer(_last_line_end if by_line else pretokenizer.last_cut)
        self._is_lossless = pretokenizer.lossless
        self.n_bytes = 0
        self.n_characters = 0
        self._n_coming = 0  # characters of the text that is being added, not looked at yet
        self._n_handed = 0  # characters that the pretokenizer was given
        self._n_specials = 0
        self._saw_ink = False  # something other than white space
        self._beginning = ""

    @property
    def excerpt(self) -> str:
        """How the text begins, at most EXCERPT_CHARACTERS."""
        return excerpt_of(self._beginning)

    @property
    def bytes_waiting(self) -> int:
        """About how many bytes of what was added are not counted: a user's pattern gets a document as a whole."""
        waiting = self._n_coming + self._uncut.n_held + self._tally.n_waiting
        return waiting * self.n_bytes // self.n_characters if waiting else 0

    @property
    def takes_bytes(self) -> bool:
        """Whether add_mapped can be used: nothing has to be done to the text before it is counted."""
        is_left_alone = not self._options.normalize and not self._options.special_tokens
        return is_left_alone and isinstance(self._tally, ScanningTally)

    def add(self, text: str) -> None:
        """Count the next text of the document."""
        for start in range(0, len(text), PIECE_CHARACTERS):
            piece = text[start : start + PIECE_CHARACTERS]
            self._begin(piece)
            self._n_coming = len(text) - start - len(piece)
            self.n_characters += len(piece)
            self.n_bytes += len(piece) if piece.isascii() else len(piece.encode())
            self._saw_ink = self._saw_ink or not piece.isspace()
            for segment in self._special_cutter.add(piece):
                self._add_segment(segment.text, segment.is_special)
            self._check_stop()

    def add_mapped(self, mapped: MappedText, report: Callable[[int], None]) -> int:
        """Count a file that is a document, without making text of it, as far as it is valid UTF-8.

        report: told the bytes done so far, after each piece
        Returns the number of bytes counted; the rest may follow as text. Needs takes_bytes.
        """
        if not isinstance(self._tally, ScanningTally):
            raise TypeError(f"{type(self._tally).__name__} counts text only")
        done = 0
        for start, end, n_characters in safe_pieces(
            mapped.data, self._tally.rule, self._tally.kernel_set, mapped.check
        ):
            # A character is four bytes at most; one that is cut off at the end is left out.
            head = mapped.data[start : min(end, start + 8 * EXCERPT_CHARACTERS)]
            self._begin(head.tobytes().decode(errors="ignore"))
            # In all but white space the first piece tells, so that hardly any text is made.
            self._saw_ink = self._saw_ink or not mapped.data[start:end].tobytes().decode().isspace()
            self._tally.add_piece(mapped.data, start, end, mapped)
            self.n_characters += n_characters
            self.n_bytes += end - start
            self._n_handed += n_characters
            done = end
            report(done)
            self._check_stop()
        return done

    def end_document(self) -> None:
        """Count what was held back; the next text belongs to another document."""
        for segment in self._special_cutter.add("", final=True):
            self._add_segment(segment.text, segment.is_special)
        self._end_segment()

    def finish(self, name: str) -> tuple[PretokenCounts, tuple[str, ...]]:
        """Return what was counted, and notes on it; name: of the text.

        Raises PatternError if a user's pattern matched nothing of a text that is not all white space.
        """
        counts = self._tally.counts()
        pattern = self._options.pattern
        if pattern is not None and self._saw_ink and self._n_handed and not len(counts):
            raise PatternError(
                f"The pattern {shortened(pattern)} matches nothing in {name}.", r"Try \S+, which matches every word."
            )
        return counts, tuple(self._notes(counts))

    def _begin(self, text: str) -> None:
        """Keep the beginning of the whole text."""
        if len(self._beginning) <= EXCERPT_CHARACTERS:
            self._beginning += text[: 2 * EXCERPT_CHARACTERS]

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
        if text:
            self._n_handed += len(text)
            self._tally.add(text)

    def _notes(self, counts: PretokenCounts) -> Iterator[str]:
        if self._n_specials:
            yield f"Special tokens that were cut out before counting: {self._n_specials:,}."
        if self._tally.n_empty:
            yield f"Empty matches of the pattern, which count as no pre-token: {self._tally.n_empty:,}."
        dropped = 0 if self._is_lossless else self._n_handed - counts.count_characters()
        if dropped:
            share = f"{dropped:,} of {self._n_handed:,} characters ({dropped / self._n_handed:.1%})"
            if self._options.pattern is not None:
                yield f"The pattern leaves {share} uncovered: they were dropped."
            else:
                yield f"White space between words was dropped: {share}."
        if not self._saw_ink:
            yield "The text is white space only, so there is no word to merge or to encode."
        if not len(counts):
            yield "There is no pre-token, so there is nothing to merge."


def excerpt_of(beginning: str) -> str:
    """Cut the beginning of a text to EXCERPT_CHARACTERS, after a whole word if there is one."""
    text = beginning.lstrip()
    if len(text) <= EXCERPT_CHARACTERS:
        return text
    cut = text[:EXCERPT_CHARACTERS]
    words, _, _ = cut.rpartition(" ")
    return words or cut


def _last_line_end(text: str) -> int:
    return text.rfind("\n") + 1
