"""Background work: a lane is one thread with a queue in which the newest job of a kind replaces the older ones.

Work in a lane sees no widget. Results reach the GUI thread through a queued signal that the lane, which lives there,
owns; a late answer to an old question is dropped by its number.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal, Slot

from bpe_viz.errors import BpeVizError, Stopped

_SECONDS_BETWEEN_REPORTS = 0.05

Done = Callable[[Any], None]


@dataclass(eq=False, slots=True)
class Job:
    """One piece of work; the work itself is called in the lane with the job.

    kind: a newer job of the same kind replaces this one
    done, failed, reported: called in the GUI thread, unless the job was replaced
    """

    kind: str
    work: Callable[[Job], Any]
    done: Done
    failed: Callable[[BpeVizError], None]
    reported: Callable[[float, str], None] | None
    lane: Lane
    number: int
    _stop: threading.Event = field(default_factory=threading.Event)
    _last_report: float = 0.0

    def should_stop(self) -> bool:
        """Tell the work whether to end now."""
        return self._stop.is_set()

    def wait(self, seconds: float) -> bool:
        """Sleep in the lane, but wake at once when told to stop; tells whether to stop."""
        return self._stop.wait(seconds)

    def report(self, fraction: float, text: str) -> None:
        """Tell the GUI thread how far the work is; at most 20 times a second are passed on."""
        now = time.monotonic()
        if now - self._last_report >= _SECONDS_BETWEEN_REPORTS:
            self._last_report = now
            self.lane.arrived.emit((self, "report", (fraction, text)))

    def stop(self) -> None:
        """Ask the work to end."""
        self._stop.set()


class Lane(QObject):
    """One background thread. Made, used and closed by the GUI thread."""

    arrived = Signal(object)
    """(job, what, value), emitted in the lane; received in the GUI thread."""

    def __init__(self, name: str, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.arrived.connect(self._receive, Qt.ConnectionType.QueuedConnection)
        self._waiting: dict[str, Job] = {}
        self._running: Job | None = None
        self._numbers: dict[str, int] = {}
        self._answered: dict[str, int] = {}
        self._closed = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def submit(
        self,
        kind: str,
        work: Callable[[Job], Any],
        done: Done,
        failed: Callable[[BpeVizError], None],
        reported: Callable[[float, str], None] | None = None,
    ) -> None:
        """Queue work. A waiting or running job of the same kind is dropped: its answer no longer matters."""
        with self._changed:
            if self._closed:
                return
            number = self._numbers.get(kind, 0) + 1
            self._numbers[kind] = number
            if self._running is not None and self._running.kind == kind:
                self._running.stop()
            self._waiting[kind] = Job(kind, work, done, failed, reported, self, number)
            self._changed.notify()

    def stop(self, kind: str) -> None:
        """Drop a waiting job of this kind, and ask a running one to end.

        The answer of the one that runs still arrives, unless it was replaced by the one that waited.
        """
        with self._changed:
            if self._waiting.pop(kind, None) is not None:
                self._answered[kind] = self._numbers[kind]
            if self._running is not None and self._running.kind == kind:
                self._running.stop()

    def is_busy(self, kind: str) -> bool:
        """Tell whether the newest job of this kind has not been answered yet. For the GUI thread."""
        return self._numbers.get(kind, 0) != self._answered.get(kind, 0)

    def close(self) -> None:
        """Stop everything and wait for the thread. No answer arrives afterwards."""
        with self._changed:
            self._closed = True
            self._waiting.clear()
            if self._running is not None:
                self._running.stop()
            self._changed.notify()
        self._thread.join()

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._waiting and not self._closed:
                    self._changed.wait()
                if self._closed:
                    return
                self._running = self._waiting.pop(next(iter(self._waiting)))
            job = self._running
            try:
                answer = ("done", job.work(job))
            except Exception as error:  # noqa: BLE001  # raised again in the GUI thread, where it is shown
                answer = ("failed", error)
            with self._changed:
                self._running = None
                if self._closed:
                    return
            self.arrived.emit((job, *answer))

    @Slot(object)
    def _receive(self, arrival: tuple[Job, str, Any]) -> None:
        job, what, value = arrival
        if self._closed or self._numbers[job.kind] != job.number:
            return
        if what == "report":
            if job.reported is not None:
                job.reported(*value)
            return
        self._answered[job.kind] = job.number
        if what == "done":
            job.done(value)
        elif isinstance(value, BpeVizError):
            job.failed(value)
        else:
            job.failed(Stopped())
            raise value
