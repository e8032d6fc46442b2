"""Drives the real window, off screen, on a large text, and measures what a person would feel.

Before jumps and steps are timed, the window's merges are compared with those of a training without a window.
"""

from __future__ import annotations

import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bpe_viz.engine.types import Pair
from tests.benchmarks.measuring import RefusedError, Row, at_most, column
from tests.benchmarks.plan import Plan

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

TITLE = "milliseconds that a person feels at the window"

REACH = {
    "first paint": 2000.0,
    "step, median": 16.0,
    "back, median": 16.0,
    "jump, median": 100.0,
    "hold": 100.0,
    "first run": 3000.0,
}

_CHILD = """
import sys, time
from bpe_viz.gui.application import make_application, make_window
from bpe_viz.gui.settings import Settings
from pathlib import Path
from PySide6.QtCore import QEvent, QObject, QTimer, Qt
application = make_application()
window = make_window(Settings(Path(sys.argv[1])))
started = float(sys.argv[2])
class Watch(QObject):
    painted = False
    def eventFilter(self, watched, event):
        if event.type() == QEvent.Type.Paint and not self.painted:
            self.painted = True
            QTimer.singleShot(0, lambda: print("paint", time.time() - started, flush=True))
        return False
watch = Watch()
window.docks.dock("histogram").widget().installEventFilter(watch)
window.show()
window.open_example()
def step(frame):
    if frame.position == 0 and frame.top and not window.workspace.is_training:
        QTimer.singleShot(0, lambda: window.workspace.step())
    if frame.position == 1:
        print("step", time.time() - started, flush=True)
        QTimer.singleShot(0, window.close)
window.workspace.frame_changed.connect(step)
application.exec()
"""


class Heartbeat:
    """Beats as often as the event loop allows; the longest time between two beats is the longest hold."""

    def __init__(self) -> None:
        from PySide6.QtCore import Qt, QTimer

        self._last = time.perf_counter()
        self._longest = 0.0
        self._timer = QTimer()
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._beat)
        self._timer.start(1)

    def _beat(self) -> None:
        now = time.perf_counter()
        self._longest = max(self._longest, now - self._last)
        self._last = now

    def take(self) -> float:
        """Return the longest hold since the last call, in milliseconds."""
        self._beat()
        longest, self._longest = self._longest, 0.0
        return 1000 * longest


class Driver:
    """One window, and waiting for what it shows."""

    def __init__(self, folder: Path) -> None:
        from bpe_viz.gui.application import make_application, make_window
        from bpe_viz.gui.settings import Settings

        self.application = make_application()
        self.window = make_window(Settings(folder / "settings.ini"))
        self.window.resize(1280, 800)
        self.window.show()
        self.workspace = self.window.workspace
        self.beat = Heartbeat()

    def run_until(self, condition: Callable[[], bool], seconds: float = 600) -> None:
        """Run the event loop until a condition holds."""
        from PySide6.QtCore import QEventLoop, Qt, QTimer

        end = time.monotonic() + seconds
        loop = QEventLoop()
        timer = QTimer()
        timer.setTimerType(Qt.TimerType.PreciseTimer)
        timer.timeout.connect(lambda: loop.quit() if condition() or time.monotonic() > end else None)
        timer.start(4)  # a busy loop would take the interpreter from the lanes
        loop.exec()
        timer.stop()
        if not condition():
            raise RefusedError("the window did not get there in time")

    def painted(self, act: Callable[[], None]) -> float:
        """Do something that changes the frame; return the milliseconds until the new frame is painted."""
        from PySide6.QtCore import QEvent, QEventLoop, QObject, QTimer

        loop = QEventLoop()
        bars = self.window.docks.panel("histogram").focusProxy()
        assert bars is not None
        viewport = next(w for w in (bars, *bars.findChildren(QObject)) if w.objectName() == "qt_scrollarea_viewport")
        workspace = self.workspace
        done: list[float] = []

        class Watch(QObject):
            def eventFilter(self, watched: QObject, event: QEvent) -> bool:
                frame = workspace.frame
                if event.type() == QEvent.Type.Paint and frame is not None and frame.position == workspace.position:
                    # The paint itself comes after this filter: the next turn of the loop is after it.
                    QTimer.singleShot(0, finish)
                return False

        def finish() -> None:
            if not done:
                done.append(time.perf_counter())
                loop.quit()

        watch = Watch()
        viewport.installEventFilter(watch)
        began = time.perf_counter()
        act()
        QTimer.singleShot(5000, loop.quit)
        loop.exec()
        viewport.removeEventFilter(watch)
        return 1000 * ((done[0] if done else time.perf_counter()) - began)


def check_equal(driver: Driver, path: Path) -> None:
    """Compare the window's merges with those of a training without a window."""
    from bpe_viz.engine import compiled
    from bpe_viz.engine.corpus import count_paths
    from bpe_viz.engine.trainer import Trainer

    options = driver.workspace.options
    pretokens = count_paths([path], options.counting).pretokens
    trainer = Trainer(pretokens, options.training, kernel_set=compiled.load())
    trainer.train_to()
    shown = driver.workspace.timeline
    assert shown is not None
    if list(shown.merges()) != list(trainer.timeline.merges()):
        raise RefusedError("the window's merges differ from those of the engine alone")


def start_times(folder: Path, cold: bool) -> dict[str, float]:
    """Start the program in another process; milliseconds to its first paint and to its first step."""
    environment = dict(os.environ)
    if cold:
        environment["BPE_VIZ_CACHE"] = str(folder / "cold")
    program = [sys.executable, "-c", _CHILD, str(folder / "start.ini"), str(time.time())]
    printed = subprocess.run(program, capture_output=True, text=True, env=environment, check=True).stdout
    return {name: 1000 * float(seconds) for name, seconds in (line.split() for line in printed.splitlines())}


def measure(path: Path, folder: Path, jumps: int) -> dict[str, float]:
    """Return milliseconds by name."""
    from PySide6.QtCore import Qt
    from PySide6.QtTest import QTest

    times: dict[str, float] = {}
    starts = [start_times(folder, cold=False) for _ in range(4)][1:]
    times["first paint"] = statistics.median(start["paint"] for start in starts)
    times["first run"] = start_times(folder, cold=True)["step"]
    driver = Driver(folder)
    driver.run_until(lambda: driver.workspace.corpus is None)
    began = time.perf_counter()
    driver.beat.take()
    driver.window.open_paths([path])
    driver.run_until(lambda: driver.workspace.frame is not None)
    times["hold, opening"] = driver.beat.take()
    QTest.keyClick(driver.window, Qt.Key.Key_Right)
    driver.run_until(lambda: driver.workspace.frame is not None and driver.workspace.frame.position == 1)
    times["open to first merge"] = 1000 * (time.perf_counter() - began)
    driver.run_until(lambda: driver.workspace.is_settled)
    times["open to trained"] = 1000 * (time.perf_counter() - began)
    times["hold, training"] = driver.beat.take()
    check_equal(driver, path)
    last = driver.workspace.last_position
    driver.workspace.seek(last // 3)
    driver.run_until(lambda: driver.workspace.is_settled)
    draw = random.Random(3)
    kinds: dict[str, Callable[[], None]] = {
        "step": lambda: QTest.keyClick(driver.window, Qt.Key.Key_Right, Qt.KeyboardModifier.AltModifier),
        "back": lambda: QTest.keyClick(driver.window, Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier),
        "jump": lambda: driver.workspace.seek(draw.randrange(last)),
    }
    for kind, act in kinds.items():
        driver.beat.take()
        took = []
        for _ in range(jumps):
            took.append(driver.painted(act))
            driver.run_until(lambda: driver.workspace.is_settled)
        times[f"{kind}, median"] = statistics.median(took)
        times[f"{kind}, worst"] = max(took)
        times[f"hold, {kind}"] = driver.beat.take()
    driver.workspace.player.set_speed(5000)
    driver.workspace.seek(0)
    driver.run_until(lambda: driver.workspace.is_settled)
    driver.beat.take()
    driver.workspace.player.play()
    driver.run_until(lambda: not driver.workspace.player.is_playing)
    times["hold, playing"] = driver.beat.take()
    times |= branch_times(driver, last // 2)
    driver.window.close()
    return times


def branch_times(driver: Driver, position: int) -> dict[str, float]:
    """Merge another pair at a position; milliseconds until that is shown, until it is trained, and back by undo."""
    workspace, times = driver.workspace, {}
    workspace.seek(position)
    driver.run_until(lambda: workspace.is_settled)
    frame = workspace.frame
    assert frame is not None
    driver.beat.take()
    began = time.perf_counter()
    workspace.branch(Pair(frame.top[9].left, frame.top[9].right))
    driver.run_until(lambda: workspace.position == position + 1 and workspace.frame is not None)
    times["branch, shown"] = 1000 * (time.perf_counter() - began)
    driver.run_until(lambda: workspace.is_settled)
    times["branch, trained"] = 1000 * (time.perf_counter() - began)
    times["hold, branch"] = driver.beat.take()
    began = time.perf_counter()
    workspace.branches.undo()
    driver.run_until(lambda: workspace.is_settled)
    times["branch, undone"] = 1000 * (time.perf_counter() - began)
    times["hold, undo"] = driver.beat.take()
    return times


@dataclass(frozen=True, kw_only=True)
class WindowRow(Row):
    milliseconds: float | None = column("ms", ",.1f")


def rows(plan: Plan) -> list[WindowRow]:
    """Drive the window on the text."""
    try:
        times = measure(plan.file, plan.folder, plan.repeats)
    except RefusedError as error:
        return [WindowRow(what="the window", note=f"refused: {error}", is_refused=True)]
    return [row_of(name, milliseconds) for name, milliseconds in times.items()]


def row_of(name: str, milliseconds: float) -> WindowRow:
    """Return a figure with what it has to reach, if anything."""
    limit = REACH.get(name, REACH["hold"] if name.startswith("hold") else None)
    goals = () if limit is None else (at_most(milliseconds, limit),)
    return WindowRow(what=name, milliseconds=milliseconds, goals=goals)


if __name__ == "__main__":
    from tests.benchmarks.entry import main

    sys.exit(main(["--only", "window", *sys.argv[1:]]))
