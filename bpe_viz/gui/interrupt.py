"""Ctrl+C in the terminal that a window was started from closes the window.

Python tells of a signal only between two of its own instructions, and an idle event loop runs none; inside a slot it
would raise KeyboardInterrupt, which has no caller there. So the signal is written to a socket that Qt listens to.
"""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable

from PySide6.QtCore import QObject, QSocketNotifier, Slot

INTERRUPTED = 130


class Interrupt(QObject):
    """Calls something in the event loop when SIGINT comes, in the main thread alone; close() takes it back."""

    def __init__(self, call: Callable[[], object], parent: QObject) -> None:
        super().__init__(parent)
        self._call = call
        self._heard, self._told = socket.socketpair()
        for end in (self._heard, self._told):
            end.setblocking(False)
        self._notifier = QSocketNotifier(self._heard.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._come)
        # Whatever the handler is, the number of the signal is written first; one that does nothing raises nothing.
        self._handler = signal.signal(signal.SIGINT, lambda number, frame: None)
        self._wakeup = signal.set_wakeup_fd(self._told.fileno(), warn_on_full_buffer=False)

    @Slot()
    def _come(self) -> None:
        if signal.SIGINT in self._heard.recv(64):
            self._call()

    def close(self) -> None:
        """Let SIGINT be handled as before."""
        self._notifier.setEnabled(False)
        signal.set_wakeup_fd(self._wakeup)
        signal.signal(signal.SIGINT, self._handler)
        self._heard.close()
        self._told.close()
