"""Playing: merges go on by themselves, at some speed, up to the end or a breakpoint."""

from __future__ import annotations

import time
from typing import Protocol

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from bpe_viz.engine.types import Frame
from bpe_viz.gui.speeds import SPEEDS

_FRAME_MILLISECONDS = 16


class Cursor(Protocol):
    """What a player moves."""

    frame: Frame | None

    @property
    def position(self) -> int:
        """The position asked for last."""

    @property
    def last_position(self) -> int:
        """Where the timeline ends; 0 if there is none."""

    def seek(self, position: int) -> None:
        """Show a position."""


class Player(QObject):
    """Plays merges, and knows the breakpoints."""

    playing_changed = Signal(bool)
    speed_changed = Signal(float)
    """Merges a second."""
    breakpoints_changed = Signal(object)
    """tuple of positions, ascending."""

    def __init__(self, cursor: Cursor, parent: QObject) -> None:
        super().__init__(parent)
        self._cursor = cursor
        self._speed = 1.0
        self._owed = 0.0
        self._last_tick = 0.0
        self._set_breakpoints: tuple[int, ...] = ()
        self._shown_breakpoints: tuple[int, ...] = ()
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._play_on)

    @property
    def is_playing(self) -> bool:
        """Whether merges are played."""
        return self._timer.isActive()

    @property
    def speed(self) -> float:
        """Merges a second when playing."""
        return self._speed

    def play(self) -> None:
        """Go on by itself, `speed` merges a second; at the end, start again."""
        cursor = self._cursor
        if cursor.last_position == 0:
            return
        if cursor.position >= cursor.last_position:
            cursor.seek(0)
        self._owed = 0.0
        self._last_tick = time.monotonic()
        self._timer.start(_FRAME_MILLISECONDS)
        self.playing_changed.emit(True)

    def pause(self) -> None:
        """Stop playing."""
        if self.is_playing:
            self._timer.stop()
            self.playing_changed.emit(False)

    def toggle(self) -> None:
        """Play, or pause."""
        if self.is_playing:
            self.pause()
        else:
            self.play()

    def set_speed(self, merges_a_second: float) -> None:
        """Set how fast merges are played."""
        self._speed = max(SPEEDS[0], min(merges_a_second, SPEEDS[-1]))
        self.speed_changed.emit(self._speed)

    @Slot()
    def _play_on(self) -> None:
        now, cursor = time.monotonic(), self._cursor
        self._owed += self._speed * (now - self._last_tick)
        self._last_tick = now
        due = int(self._owed)
        if due == 0 or (cursor.frame is not None and cursor.frame.position != cursor.position):
            return  # the frame asked for last is not shown yet: merges still owed come with the next one
        self._owed -= due
        stops = [stop for stop in self.breakpoints if cursor.position < stop <= cursor.position + due]
        cursor.seek(min(stops, default=cursor.position + due))
        if stops or cursor.position >= cursor.last_position:
            self.pause()

    # --- breakpoints ---

    @property
    def breakpoints(self) -> tuple[int, ...]:
        """The breakpoints of the timeline that is shown, ascending.

        One that lies beyond its end is kept for a timeline that is longer.
        """
        return tuple(stop for stop in self._set_breakpoints if stop <= self._cursor.last_position)

    def toggle_breakpoint(self, position: int | None = None) -> None:
        """Set or take away a breakpoint, at the cursor if no position is given."""
        where = self._cursor.position if position is None else position
        self._set_breakpoints = tuple(sorted({*self._set_breakpoints} ^ {where}))
        self.fit_breakpoints()

    def forget_breakpoints(self) -> None:
        """Take all breakpoints away."""
        self._set_breakpoints = ()
        self.fit_breakpoints()

    def fit_breakpoints(self) -> None:
        """Follow another end of the timeline."""
        if self.breakpoints != self._shown_breakpoints:
            self._shown_breakpoints = self.breakpoints
            self.breakpoints_changed.emit(self._shown_breakpoints)

    def seek_breakpoint(self, forward: bool) -> None:
        """Go to the next or the previous breakpoint; without one, to the end or the start. Playing pauses."""
        self.pause()
        here = self._cursor.position
        if forward:
            self._cursor.seek(min((b for b in self.breakpoints if b > here), default=self._cursor.last_position))
        else:
            self._cursor.seek(max((b for b in self.breakpoints if b < here), default=0))
