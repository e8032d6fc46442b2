"""Garbage is collected in the GUI thread alone.

Python collects cycles in whichever thread happens to allocate. In a lane that would destroy widgets and pixmaps
outside the GUI thread, which Qt answers with a crash sooner or later.
"""

from __future__ import annotations

import gc

from PySide6.QtCore import QObject, QTimer, Slot

_MILLISECONDS = 250
_THRESHOLDS = (700, 10, 10)  # as Python sets them by itself; commands may have raised them


class Collector(QObject):
    """Takes the place of Python's own collecting while it lives. Made and deleted in the GUI thread."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        gc.disable()
        # What is there at the start stays to the end: looking through it again would take a frame and more.
        gc.freeze()
        self._timer = QTimer(self)
        self._timer.timeout.connect(self.collect)
        self._timer.start(_MILLISECONDS)

    @Slot()
    def collect(self) -> None:
        """Collect the generations that have grown beyond the thresholds."""
        grown = [count > threshold for count, threshold in zip(gc.get_count(), _THRESHOLDS, strict=True)]
        if grown[0]:
            oldest = 2 if all(grown) else 1 if grown[1] else 0
            gc.collect(oldest)
