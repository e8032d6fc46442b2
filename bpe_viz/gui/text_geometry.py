"""Where the characters of a text document stand: line by line, by code point and by parts of one."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from math import ceil

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QTextBlock, QTextDocument, QTextLine

from bpe_viz.gui.document_text import HELD_SPACE, DocumentText

# Hebrew to Arabic Extended, their presentation forms, and the right-to-left scripts of the first plane.
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]")


_PRIVATE = re.compile("[\ue000-\uf8ff\U000f0000-\U0010ffff]")

# Pixels: what may pass for rounding.
_EVEN = _TOUCHING = 0.5


class PlacedLine:
    """One line of a document: its code points, and where they stand.

    start, end: code points, the line end included where the line has one; text_end: without it
    baseline: in document coordinates; is_mixed: some of it runs from right to left
    """

    __slots__ = (
        "_advance",
        "_block_start",
        "_cluster",
        "_content",
        "_known",
        "_layout",
        "_line",
        "_line_end_width",
        "_origin",
        "_space",
        "baseline",
        "end",
        "is_mixed",
        "start",
        "text_end",
    )

    def __init__(
        self, block: QTextBlock, line: QTextLine, content: DocumentText, space: float, line_end_width: float
    ) -> None:
        self._content = content
        self._layout = block.layout()
        self._line = line
        self._block_start = block.position()
        self._space = space
        self._line_end_width = line_end_width
        corner = self._layout.position()
        self._origin = corner.x()
        self.baseline = corner.y() + line.y() + line.ascent()
        first = self._block_start + line.textStart()
        self.start = content.code_point(first)
        self.text_end = content.code_point(first + line.textLength())
        ends_block = line.textStart() + line.textLength() == block.length() - 1
        self.end = self.text_end + (ends_block and block.next().isValid())
        self.is_mixed = _RIGHT_TO_LEFT.search(content.shown, self.start, self.text_end) is not None
        self._known: dict[int, float] = {}
        self._cluster = (0, 0, 0.0, 0.0)
        self._advance = self._even_advance(content.shown[self.start : self.text_end])

    def _even_advance(self, shown: str) -> float | None:
        """Return how wide each character is if all are of one width, as plain Latin in this face is; else None."""
        letters = shown.rstrip(" ").replace(HELD_SPACE, " ")
        if not letters or not letters.isascii():
            return None
        start, n = self._at(self.start), len(letters)
        advance = (self._at(self.start + n) - start) / n
        places = (1, n // 4, n // 2)
        is_even = all(abs(self._at(self.start + i) - start - i * advance) < _EVEN for i in places)
        return advance if is_even and abs(advance - self._space) < _EVEN else None

    def edges(self, left: float, right: float) -> tuple[float, float]:
        """Return where a stretch of the line begins and ends, in document coordinates."""
        if self.is_mixed:
            stretches = self.stretches(left, right)
            return min(a for a, _ in stretches), max(b for _, b in stretches)
        return self._x(left), self._x(right)

    def stretches(self, left: float, right: float) -> list[tuple[float, float]]:
        """Return the same piece by piece: where directions meet, neighbours in the text stand apart."""
        found: list[tuple[float, float]] = []
        for code_point in range(int(left), max(ceil(right), int(left) + 1)):
            near, far = self._sides(code_point)
            width = far - near
            a = near + width * (max(left, code_point) - code_point)
            b = near + width * (min(right, code_point + 1) - code_point)
            a, b = min(a, b), max(a, b)
            if found and abs(a - found[-1][1]) < _TOUCHING:
                found[-1] = (found[-1][0], b)
            elif found and abs(b - found[-1][0]) < _TOUCHING:
                found[-1] = (a, found[-1][1])
            else:
                found.append((a, b))
        return found

    def outlines(self) -> QPainterPath:
        """Return the shapes of the line's glyphs, those of placeholders left out."""
        path, first = QPainterPath(), self.start
        shown = self._content.shown
        corner = self._layout.position()
        ends = [found.start() for found in _PRIVATE.finditer(shown, self.start, self.text_end)]
        for end in (*ends, self.text_end):
            unit, n_units = self._unit(first), self._unit(end) - self._unit(first)
            for run in self._line.glyphRuns(unit, n_units) if n_units > 0 else ():
                font = run.rawFont()
                for glyph, place in zip(run.glyphIndexes(), run.positions(), strict=True):
                    path.addPath(font.pathForGlyph(glyph).translated(corner + place))
            first = end + 1
        return path

    def code_point_at(self, x: float) -> int | None:
        """Return the code point drawn at x, None where there is none."""
        line_end_at = self._at(self.text_end)
        if x < self._origin or x >= line_end_at + (self._line_end_width if self.end > self.text_end else 0):
            if not self.is_mixed or self.text_end == self.start:
                return None
        elif x >= line_end_at and not self.is_mixed:
            return self.text_end
        unit = self._line.xToCursor(x - self._origin, QTextLine.CursorPosition.CursorOnCharacter)
        found = self._content.code_point(self._block_start + unit)
        found = min(max(found, self.start), self.text_end - 1)
        return found if found >= self.start else None

    def _x(self, place: float) -> float:
        if self._advance is not None and place <= self.text_end:
            return self._origin + (place - self.start) * self._advance
        whole = int(place)
        if place == whole:
            return self._at(whole)
        first, last = self._at(whole), self._at(whole + 1)
        return first + (last - first) * (place - whole)

    def _sides(self, code_point: int) -> tuple[float, float]:
        """Return where a code point begins and ends; from right to left the end has the smaller x."""
        if code_point >= self.text_end:
            return self._at(code_point), self._at(code_point + 1)
        return self._edge(code_point, QTextLine.Edge.Leading), self._edge(code_point, QTextLine.Edge.Trailing)

    def _edge(self, code_point: int, edge: QTextLine.Edge) -> float:
        return self._origin + _number(self._line.cursorToX(self._unit(code_point), edge))

    def _unit(self, code_point: int) -> int:
        return self._content.position(code_point) - self._block_start

    def _at(self, code_point: int) -> float:
        """Return where a code point begins, asking Qt once: the end of a token is the start of the next."""
        x = self._known.get(code_point)
        if x is None:
            x = self._known[code_point] = self._asked(code_point)
        return x

    def _asked(self, code_point: int) -> float:
        """Return where a code point begins; inside a cluster drawn as one, its share of the cluster."""
        if code_point > self.text_end:
            return self._at(self.text_end) + self._line_end_width
        if code_point == self.text_end and self.is_mixed:
            return self._origin + self._line.naturalTextWidth()
        # A space that hangs out of the line is said to have no width.
        if code_point == self.text_end > self.start and self._content.shown[code_point - 1] == " ":
            return self._at(code_point - 1) + self._space
        unit = self._unit(code_point)
        # An empty line has no valid position at all, so the ends are asked for first.
        if code_point in (self.start, self.text_end) or self._layout.isValidCursorPosition(unit):
            return self._origin + _number(self._line.cursorToX(unit))
        before, behind, first, last = self._cluster_around(unit)
        return self._origin + first + (last - first) * (unit - before) / (behind - before)

    def _cluster_around(self, unit: int) -> tuple[int, int, float, float]:
        """Return where the cluster around a unit begins and ends: in units, and in x.

        Asked once for a cluster: Qt walks through all of it, and one letter may carry a hundred thousand marks.
        """
        if not self._cluster[0] < unit < self._cluster[1]:
            before, behind = self._layout.previousCursorPosition(unit), self._layout.nextCursorPosition(unit)
            first, last = (_number(self._line.cursorToX(place)) for place in (before, behind))
            self._cluster = (before, behind, first, last)
        return self._cluster


def lines_between(
    document: QTextDocument, content: DocumentText, top: float, bottom: float, space: float, line_end_width: float
) -> Iterator[PlacedLine]:
    """Yield the lines that touch a stretch of height, from above to below; top, bottom: document coordinates.

    space: the width of a space; line_end_width: of the sign for a line end
    """
    layout = document.documentLayout()
    block = document.findBlock(max(0, layout.hitTest(QPointF(0, max(0.0, top)), Qt.HitTestAccuracy.FuzzyHit)))
    while block.isValid():
        corner_y = layout.blockBoundingRect(block).y()
        if corner_y > bottom:
            return
        text_layout = block.layout()
        origin = text_layout.position().y()
        numbers = range(text_layout.lineCount())
        # A paragraph may be thousands of lines long.
        first = bisect_right(numbers, top - origin, key=lambda number: _bottom(text_layout.lineAt(number)))
        for number in numbers[first:]:
            line = text_layout.lineAt(number)
            if origin + line.y() > bottom:
                return
            yield PlacedLine(block, line, content, space, line_end_width)
        block = block.next()


def paint_outlines(painter: QPainter, lines: Sequence[PlacedLine], ink: QColor) -> None:
    """Paint the text of lines as shapes."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    for line in lines:
        painter.fillPath(line.outlines(), ink)


def _bottom(line: QTextLine) -> float:
    return line.y() + line.height()


def _number(x: object) -> float:
    """Take the place from what cursorToX returns: PySide gives (place, cursor position), its stubs a number."""
    return x[0] if isinstance(x, tuple) else x  # type: ignore[return-value]  # a float in both cases
