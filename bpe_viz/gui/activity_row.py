"""One slim row on long work: what is done, how far it is, how long it takes, and a Stop."""

from __future__ import annotations

import math

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QPushButton, QWidget

from bpe_viz.gui.look import Look
from bpe_viz.gui.training import Activity

MILLISECONDS_UNTIL_SHOWN = 200
_PARTS = 1000


class ActivityRow(QWidget):
    """Shown only while work goes on that has taken longer than an eye notices."""

    stop_wanted = Signal()
    """The user pressed Stop."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._text = QLabel()
        self._text.setTextFormat(Qt.TextFormat.PlainText)
        self._bar = QProgressBar()
        self._bar.setRange(0, _PARTS)
        self._bar.setTextVisible(False)
        self._left = QLabel()
        self._left.setProperty("role", "dim")
        self.stop_button = QPushButton("Stop")
        self.stop_button.setToolTip("Stop now; what is trained stays")
        self.stop_button.clicked.connect(self.stop_wanted)
        self._row = QHBoxLayout(self)
        for widget, stretch in ((self._text, 0), (self._bar, 1), (self._left, 0), (self.stop_button, 0)):
            self._row.addWidget(widget, stretch, Qt.AlignmentFlag.AlignVCenter)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(MILLISECONDS_UNTIL_SHOWN)
        self._timer.timeout.connect(self.show)
        self.hide()
        look.changed.connect(self._fit_look)
        self._fit_look()

    @property
    def text(self) -> str:
        """What is said, the time left included."""
        return " ".join(text for text in (self._text.text(), self._left.text()) if text)

    @Slot(object)
    def show_activity(self, activity: Activity | None) -> None:
        """Show how far the work is; None: it has ended."""
        if activity is None:
            self._timer.stop()
            self.hide()
            return
        if self.isHidden() and not self._timer.isActive():
            self._timer.start()
        self._text.setText(activity.text)
        self._bar.setValue(round(activity.fraction * _PARTS))
        self._left.setText(time_left(activity.seconds_left))
        self._bar.setAccessibleName(activity.text)

    @Slot()
    def _fit_look(self) -> None:
        self._row.setContentsMargins(self._look.px(6), 0, self._look.px(6), 0)
        self._row.setSpacing(self._look.px(12))


def time_left(seconds: float | None) -> str:
    """Say how long it will take: about 12 s left, about 3 min left; nothing while it is not known."""
    if seconds is None:
        return ""
    if seconds < 90:
        return f"about {max(1, math.ceil(seconds))} s left"
    return f"about {seconds / 60:.0f} min left"
