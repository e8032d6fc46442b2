"""What a panel of counts shows while a tokenizer is open without a corpus: why it is empty, and a way to fill it."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt, Slot
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from bpe_viz.gui.look import Look
from bpe_viz.gui.workspace import Workspace

_BARS = (1.0, 0.72, 0.5)
_BAR_HEIGHT, _BAR_GAP, _BARS_WIDTH = 10, 8, 120
_TITLE_SCALE = 1.1
_ABOVE = 0.16
_LEAST_WITH_BARS, _LEAST_WITH_REASON = 250, 150


class NoCorpusPage(QWidget):
    """Says that a tokenizer file holds no text to count, and offers to open one."""

    def __init__(self, workspace: Workspace, look: Look, missing: str) -> None:
        """missing: what cannot be shown, such as pair counts."""
        super().__init__()
        self._workspace = workspace
        self._look = look
        self._missing = missing
        self._bars = QWidget()
        self._bars.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.title = QLabel()
        self.reason = QLabel()
        self.reason.setProperty("role", "dim")
        for label in (self.title, self.reason):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setWordWrap(True)
        self.open_button = QPushButton("Replay on a text…")
        self.open_button.clicked.connect(lambda: workspace.corpus_wanted.emit())
        self._column = QVBoxLayout(self)
        self._column.addWidget(self._bars)
        self._column.addWidget(self.title)
        self._column.addWidget(self.reason)
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(self.open_button)
        row.addStretch(1)
        self._column.addLayout(row)
        self._column.addStretch(1)
        self.setFocusProxy(self.open_button)
        look.changed.connect(self._fit_look)
        self._fit_look()

    @property
    def is_wanted(self) -> bool:
        """Whether a tokenizer is open without a corpus."""
        return self._workspace.tokenizer is not None and self._workspace.corpus is None

    @property
    def text(self) -> str:
        """What it says."""
        return f"{self.title.text()} {self.reason.text()}"

    def follow(self) -> None:
        """Say it of the tokenizer that is open."""
        shown = self._workspace.shown
        if shown is None or shown.tokenizer is None:
            return
        tokenizer, why_not = shown.tokenizer, self._workspace.why_no_replay
        if why_not is None:
            self.reason.setText(
                f"{tokenizer.name} holds merges, not the text that they were learned from. "
                "Replay its merges on a text to see what they do there."
            )
        elif tokenizer.kind != "BPE":  # the sentence below the panels says the rest
            self.reason.setText(f"{tokenizer.name} is not BPE but {tokenizer.kind}: it makes no merges.")
        else:
            self.reason.setText(why_not)
        self.open_button.setVisible(why_not is None)
        self._fit_height()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Begin at the same height beside a page whose words take more lines."""
        super().resizeEvent(event)
        self._fit_height()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw bars that wait to be filled."""
        look, painter, box = self._look, QPainter(self), self._bars.geometry()
        painter.fillRect(self.rect(), look.brush("panel"))
        if self._bars.isHidden():
            painter.end()
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(look.pen("bar_line", 1.0, dashed=True))
        width, height = look.px(_BARS_WIDTH), look.px(_BAR_HEIGHT)
        left, top = box.center().x() - width / 2, box.top() + 0.5
        for number, share in enumerate(_BARS):
            y = top + number * (height + look.px(_BAR_GAP))
            painter.drawRoundedRect(QRectF(left + 0.5, y, share * width, height), look.px(2), look.px(2))
        painter.end()

    @Slot()
    def _fit_look(self) -> None:
        look = self._look
        self._fit_height()
        self._column.setSpacing(look.px(12))
        self._bars.setFixedHeight(len(_BARS) * look.px(_BAR_HEIGHT) + (len(_BARS) - 1) * look.px(_BAR_GAP) + 2)
        points = look.ui_font(_TITLE_SCALE).pointSizeF()
        self.title.setStyleSheet(f"QLabel {{ font-weight: 600; font-size: {points:.2f}pt; }}")

    def _fit_height(self) -> None:
        """Leave out the picture, then the reason, where a low panel has no room for them."""
        look, height = self._look, self.height()
        self._bars.setVisible(height >= look.px(_LEAST_WITH_BARS))
        has_reason = height >= look.px(_LEAST_WITH_REASON)
        self.reason.setVisible(has_reason)
        can_be_had = has_reason and self._workspace.why_no_replay is None
        self.title.setText(f"No {self._missing} without a text" if can_be_had else f"No {self._missing}")
        side = look.px(16)
        above = round(_ABOVE * height) if height >= look.px(_LEAST_WITH_BARS) else 0
        self._column.setContentsMargins(side, max(look.px(8), above), side, look.px(8))
