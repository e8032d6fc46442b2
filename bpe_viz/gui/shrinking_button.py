"""A flat button in the heading of a panel that cuts its text where it has no room."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QToolButton

_LEAST_CHARACTERS = 8


class ShrinkingButton(QToolButton):
    """Asks for room for all of its text, and does with a few characters and an ellipsis."""

    def __init__(self) -> None:
        super().__init__()
        self._full = ""
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)

    def show_text(self, text: str) -> None:
        """Show another text."""
        self._full = text
        self.updateGeometry()
        self._fit()

    @property
    def full_text(self) -> str:
        """The text without a cut."""
        return self._full

    def sizeHint(self) -> QSize:
        """Ask for room for the whole text."""
        own = super().sizeHint()
        metrics = self.fontMetrics()
        return QSize(own.width() + metrics.horizontalAdvance(self._full) - metrics.horizontalAdvance(self.text()),
                     own.height())  # fmt: skip

    def minimumSizeHint(self) -> QSize:
        """Do with a few characters."""
        least = self.fontMetrics().horizontalAdvance("0") * _LEAST_CHARACTERS
        return QSize(min(self.sizeHint().width(), self._edges() + least), self.sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show as much as fits."""
        super().resizeEvent(event)
        self._fit()

    def _edges(self) -> int:
        return super().sizeHint().width() - self.fontMetrics().horizontalAdvance(self.text())

    def _fit(self) -> None:
        metrics, room = self.fontMetrics(), self.width() - self._edges()
        shown = self._full
        if self.width() < min(self.sizeHint().width(), self.maximumWidth()):
            shown = metrics.elidedText(shown, Qt.TextElideMode.ElideRight, max(room, metrics.horizontalAdvance("…")))
        if shown != self.text():
            self.setText(shown)
