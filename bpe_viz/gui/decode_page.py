"""The page that turns token ids back into text."""

from __future__ import annotations

from itertools import islice

from PySide6.QtCore import QMimeData, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from bpe_viz.engine.id_decoding import DecodedPiece, Decoding
from bpe_viz.engine.id_list import parse_ids
from bpe_viz.engine.visible import Part, visible_parts
from bpe_viz.errors import BpeVizError
from bpe_viz.gui.chips import Chip, ChipStyle, chip_edges, chip_height, paint_chips, token_style
from bpe_viz.gui.look import Look
from bpe_viz.gui.totals_label import Figure

MOST_CHIPS = 5000
CHIPS_A_SLICE = 500
"""So many are laid out at once: that takes about 20 ms when their texts are new."""

LONG_PASTE = 10_000
_WORDS_A_LINE = 200
_FIELD_ROWS = 2
_MOST_NAMED = 5
_MOST_DIGITS = 20
_PAUSE_MILLISECONDS = 150
_CHIP_SCALE = 1.1


class IdField(QPlainTextEdit):
    """A field whose long pastes are broken into lines.

    What stands between ids means nothing, and Qt lays out a paragraph of a hundred thousand in a third of a second.
    """

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Insert what is pasted or dropped."""
        text = source.text()
        if len(text) <= LONG_PASTE:
            super().insertFromMimeData(source)
            return
        words = text.split()
        lines = (" ".join(words[i : i + _WORDS_A_LINE]) for i in range(0, len(words), _WORDS_A_LINE))
        broken = QMimeData()
        broken.setText("\n".join(lines))
        super().insertFromMimeData(broken)


class DecodePage(QWidget):
    """A field for ids above, what they stand for below.

    ids_given: list of int, to be decoded; text_wanted: str, to be encoded; figures_changed: others are shown
    """

    ids_given = Signal(object)
    text_wanted = Signal(object)
    figures_changed = Signal()

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._text = ""
        self._figures: tuple[Figure, ...] = ()
        self._pieces: tuple[DecodedPiece, ...] = ()
        self.field = IdField()
        self.field.setPlaceholderText("Paste token ids, such as [13, 11, 99]")
        self.field.setAccessibleName("Token ids to decode")
        self.field.setTabChangesFocus(True)
        self.message = QLabel()
        self.message.setTextFormat(Qt.TextFormat.PlainText)
        self.message.setWordWrap(True)
        self.chips = ChipFlow(look)
        self.encode_button = QPushButton("Encode this text")
        self.encode_button.setEnabled(False)
        self.encode_button.clicked.connect(self._encode)
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(_PAUSE_MILLISECONDS)
        self._pause.timeout.connect(self.decode)
        self._rest = QTimer(self)
        self._rest.setInterval(0)
        self._rest.timeout.connect(self._show_more)
        self.field.textChanged.connect(self._pause.start)
        self._arrange()
        self.setFocusProxy(self.field)
        look.changed.connect(self._fit_look)
        self._fit_look()

    def _arrange(self) -> None:
        area = QScrollArea()
        area.setWidget(self.chips)
        area.setWidgetResizable(True)
        area.setFrameShape(QScrollArea.Shape.NoFrame)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._area = area
        area.setStyleSheet("QScrollArea, QScrollArea > QWidget > QWidget { background: transparent; }")
        row = QHBoxLayout()
        row.addWidget(self.message, 1)
        row.addWidget(self.encode_button)
        self._column = QVBoxLayout(self)
        self._column.addWidget(self.field)
        self._column.addLayout(row)
        self._column.addWidget(area, 1)

    @property
    def figures(self) -> tuple[Figure, ...]:
        """What was decoded, for the heading: ids, bytes, ids without a token; nothing if nothing was."""
        return self._figures

    @property
    def text(self) -> str:
        """The decoded text."""
        return self._text

    @Slot()
    def decode(self) -> None:
        """Read the field and ask for what its ids stand for."""
        self._pause.stop()
        try:
            ids = parse_ids(self.field.toPlainText())
        except BpeVizError as error:
            self._say(str(error), is_error=True)
            return
        if ids:
            self.ids_given.emit(ids)
        else:
            self._figures = ()
            self._show_text("")
            self._show_pieces(())
            self._say("")

    def show_decoding(self, decoding: Decoding) -> None:
        """Show an answer."""
        self._figures = _figures(decoding)
        self._show_text(decoding.text, has_marks=bool(decoding.unknown))
        self._show_pieces(decoding.pieces[:MOST_CHIPS])
        self._say(_summary(decoding))

    def _show_pieces(self, pieces: tuple[DecodedPiece, ...]) -> None:
        self._pieces = pieces
        self.chips.show_chips(())
        self._rest.start()
        self._show_more()

    @Slot()
    def _show_more(self) -> None:
        shown = self.chips.chips
        end = min(len(shown) + CHIPS_A_SLICE, len(self._pieces))
        more = tuple(_chip(self._pieces[number], number) for number in range(len(shown), end))
        self.chips.show_chips(shown + more)
        if end == len(self._pieces):
            self._rest.stop()

    def _show_text(self, text: str, has_marks: bool = False) -> None:
        """Take another text; has_marks: ids that no token has are marked in it, and are no part of any text."""
        self._text = text
        self.encode_button.setEnabled(bool(text) and not has_marks)
        self.encode_button.setToolTip("An id that no token has stands for no text" if has_marks else "")
        self.figures_changed.emit()

    def _say(self, text: str, is_error: bool = False) -> None:
        self.message.setText(text)
        colour = self._look.colour("error" if is_error else "dim").name()
        self.message.setStyleSheet(f"color: {colour};")
        self.field.setAccessibleDescription(text)

    @Slot()
    def _encode(self) -> None:
        self.text_wanted.emit(self._text)

    @Slot()
    def _fit_look(self) -> None:
        look = self._look
        margin = look.px(12)
        self._column.setContentsMargins(margin, look.grid, margin, look.grid)
        self._column.setSpacing(look.grid)
        line = look.mono_metrics().lineSpacing()
        # In a low panel the field gives up a row, so that what the ids stand for is seen.
        self.field.setMinimumHeight(round(line) + look.px(14))
        self.field.setMaximumHeight(round(line * _FIELD_ROWS) + look.px(14))
        self._area.setMinimumHeight(self.chips.row_height)


def _chip(piece: DecodedPiece, number: int) -> Chip:
    if piece.content is None:
        return Chip((Part(f"no token {_written(piece.id)}", "invisible"),), ChipStyle.GAP)
    return Chip(visible_parts(piece.content), ChipStyle.SPECIAL if piece.is_special else token_style(number))


def _written(token_id: int) -> str:
    """Write an id; of one with very many digits the first ones."""
    digits = str(token_id)
    return digits if len(digits) <= _MOST_DIGITS else f"{digits[:_MOST_DIGITS]}… ({len(digits):,} digits)"


def _figures(decoding: Decoding) -> tuple[Figure, ...]:
    n = len(decoding.pieces)
    n_bytes = decoding.n_bytes
    figures = [
        Figure(f"{n:,} {'id' if n == 1 else 'ids'}", 0, bold=True),
        Figure(f"{n_bytes:,} {'byte' if n_bytes == 1 else 'bytes'}", 2),
    ]
    if decoding.special:
        figures.append(Figure(f"{decoding.special:,} special", 1))
    if unknown := len(decoding.unknown):
        figures.append(Figure(f"{unknown:,} unknown", 1))
    return tuple(figures)


def _summary(decoding: Decoding) -> str:
    """Say how many ids there are, and what is wrong with them."""
    n = len(decoding.pieces)
    said = [f"{n:,} {'id' if n == 1 else 'ids'}, {len(decoding.text):,} characters."]
    if decoding.special:
        said.append(f"{decoding.special:,} special token{'' if decoding.special == 1 else 's'}, with a bold edge.")
    if decoding.unknown:
        distinct = list(islice(dict.fromkeys(decoding.unknown), _MOST_NAMED + 1))
        some = ", ".join(map(_written, distinct[:_MOST_NAMED]))
        more = " …" if len(distinct) > _MOST_NAMED else ""
        said.append(f"No token has the id {some}{more}.")
    if decoding.invalid:
        places = "1 place holds" if decoding.invalid == 1 else f"{decoding.invalid:,} places hold"
        said.append(f"{places} bytes that are no whole character.")
    if n > MOST_CHIPS:
        said.append(f"The first {MOST_CHIPS:,} are shown.")
    return " ".join(said)


class ChipFlow(QWidget):
    """Chips in rows, broken like text; only the rows in view are painted."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._chips: tuple[Chip, ...] = ()
        self._rows: list[tuple[int, int]] = []
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.MinimumExpanding)
        self.setSizePolicy(policy)
        look.changed.connect(self._break_rows)

    @property
    def chips(self) -> tuple[Chip, ...]:
        """What is shown, in order."""
        return self._chips

    def show_chips(self, chips: tuple[Chip, ...]) -> None:
        """Show other chips."""
        self._chips = chips
        self._break_rows()

    def sizeHint(self) -> QSize:
        """As high as the rows."""
        return QSize(self._look.px(200), len(self._rows) * self._pitch)

    def minimumSizeHint(self) -> QSize:
        """The same, so that the view around it scrolls."""
        return QSize(0, len(self._rows) * self._pitch)

    @property
    def row_height(self) -> int:
        """How high a row is, with the gap below it."""
        return self._pitch

    @property
    def _pitch(self) -> int:
        return chip_height(self._look, _CHIP_SCALE) + self._look.px(6)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Break the rows anew."""
        super().resizeEvent(event)
        if event.oldSize().width() != event.size().width():
            self._break_rows()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the rows in view."""
        painter, pitch = QPainter(self), self._pitch
        for number in range(event.rect().top() // pitch, min(len(self._rows), event.rect().bottom() // pitch + 1)):
            first, end = self._rows[number]
            paint_chips(painter, self._look, 0, number * pitch, self._chips[first:end], gap=2, scale=_CHIP_SCALE)

    @Slot()
    def _break_rows(self) -> None:
        rows, first, row_left = [], 0, 0.0
        for number, (left, right) in enumerate(chip_edges(self._look, self._chips, gap=2, scale=_CHIP_SCALE)):
            if right - row_left > self.width() and number > first:
                rows.append((first, number))
                first, row_left = number, left
        if self._chips:
            rows.append((first, len(self._chips)))
        self._rows = rows
        self.updateGeometry()
        self.update()
