"""The bar below the corpus bar that says what went wrong and what to try, or what was done; it never blocks."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Slot
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSizePolicy, QWidget

from bpe_viz.errors import BpeVizError
from bpe_viz.gui.glyphs import drawable_text
from bpe_viz.gui.look import Look

_NOTICE_MILLISECONDS = 12_000
_MOST_SHOWN = 4
_LOW_WINDOW = 520
_SAME_MOMENT_MILLISECONDS = 400


class MessageBar(QWidget):
    """Shows one error until it is dismissed, or notices for a while; notices of one moment stand together."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._is_error = False
        self._notices: list[str] = []
        self._label = QLabel()
        self._label.setTextFormat(Qt.TextFormat.PlainText)
        self._label.setWordWrap(True)
        self._label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._close = QPushButton("Dismiss")
        self._close.setProperty("role", "flat")
        self._close.clicked.connect(self.dismiss)
        row = QHBoxLayout(self)
        row.addWidget(self._label, 1)
        row.addWidget(self._close, 0, Qt.AlignmentFlag.AlignTop)
        self._fade = QTimer(self)
        self._fade.setSingleShot(True)
        self._fade.timeout.connect(self.dismiss)
        self._moment = QTimer(self)
        self._moment.setSingleShot(True)
        look.changed.connect(self._fit_look)
        self._fit_look()
        self.hide()

    @property
    def text(self) -> str:
        """What the bar says; empty when it is hidden."""
        return "" if self.isHidden() else self._label.text()

    @property
    def is_said_just_now(self) -> bool:
        """Whether another notice would join those that are shown."""
        return self._moment.isActive()

    @Slot(object)
    def show_error(self, error: BpeVizError) -> None:
        """Say what went wrong and what to try, until dismissed."""
        self._fade.stop()
        self._notices = []
        self._show(str(error), is_error=True)

    @Slot(str)
    def show_notice(self, text: str) -> None:
        """Say something for a while. An error that is shown stays."""
        if self._is_error and not self.isHidden():
            return
        if not self._moment.isActive():
            self._notices = []
        self._moment.start(_SAME_MOMENT_MILLISECONDS)
        self._notices.append(text)
        # In a low window what is said must not stand in the place of what it is about.
        most = 1 if self.window().height() < self._look.px(_LOW_WINDOW) else _MOST_SHOWN
        more = len(self._notices) - most
        shown = self._notices[:most] + ([f"And {more} more: point here to read them."] if more > 0 else [])
        self._show(("  " if most == 1 else "\n").join(shown), is_error=False)
        self._label.setToolTip("" if more <= 0 else "\n".join(self._notices))
        self._fade.start(_NOTICE_MILLISECONDS)

    @Slot()
    def dismiss(self) -> None:
        """Hide the bar."""
        self._fade.stop()
        self.hide()

    @Slot()
    def dismiss_older(self) -> None:
        """Hide what was said of something that is shown no longer; notices of this moment stay."""
        if self._is_error or not self.is_said_just_now:
            self.dismiss()

    def _show(self, text: str, is_error: bool) -> None:
        self._is_error = is_error
        self._label.setText(drawable_text(text, self._look.ui_metrics()))
        self._label.setAccessibleName(text)
        self.show()
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the soft fill, the edge, and a bar at the left that tells errors from notices without colour."""
        painter = QPainter(self)
        look = self._look
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(look.pen("error" if self._is_error else "line"))
        painter.setBrush(look.brush("error_soft" if self._is_error else "panel"))
        frame = self.rect().toRectF().adjusted(0.5, 0.5, -0.5, -0.5)
        painter.drawRoundedRect(frame, look.px(6), look.px(6))
        if self._is_error:
            painter.fillRect(0, look.px(6), look.px(3), self.height() - 2 * look.px(6), look.brush("error"))

    @Slot()
    def _fit_look(self) -> None:
        look = self._look
        row = self.layout()
        if row is not None:
            row.setContentsMargins(look.px(12), look.px(4), look.px(4), look.px(4))
