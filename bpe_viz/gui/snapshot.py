"""Figures without a screen: the window is built off screen, brought to a position, and drawn into a file."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from bpe_viz.engine.types import Options
from bpe_viz.errors import BpeVizError, OptionError
from bpe_viz.gui.startup import check_qt_libraries

if TYPE_CHECKING:
    from PySide6.QtCore import QMessageLogContext, QtMsgType

    from bpe_viz.gui.workspace import Workspace

EXAMPLE = "example"
"""The name of the worked example where a source is expected."""

_POLL_MILLISECONDS = 5


def snapshot(
    source: str,
    out: Path,
    *,
    options: Options | None,
    position: int | None = None,
    panel: str | None = None,
    text: str | None = None,
    theme: str = "light",
    size: tuple[int, int] = (1280, 800),
    scale: float = 1.0,
) -> None:
    """Draw the window, or one panel of it, at a position.

    source: a text, folder or table, or EXAMPLE
    options: None: those that the source has by itself
    position: None: where training ends
    panel: a panel's name; None: the whole window
    text: what the encode panel shows; None: what it shows by itself
    size: of the window, in device-independent pixels; scale: pixels of a PNG for each of them
    Raises BpeVizError for what cannot be opened, trained, found or written.
    """
    # Whatever screen there is stays untouched.
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    check_qt_libraries()
    _draw(source, out, options, position, panel, text, theme, size, scale)


def _draw(
    source: str,
    out: Path,
    options: Options | None,
    position: int | None,
    panel: str | None,
    text: str | None,
    theme: str,
    size: tuple[int, int],
    scale: float,
) -> None:
    from tempfile import TemporaryDirectory

    from PySide6.QtCore import qInstallMessageHandler

    from bpe_viz.gui.application import make_application, make_window
    from bpe_viz.gui.export import export_figure
    from bpe_viz.gui.look import Look
    from bpe_viz.gui.settings import Settings
    from bpe_viz.gui.sources import example_source, file_source

    qInstallMessageHandler(_tell)
    make_application()
    opened = example_source() if source == EXAMPLE else file_source([Path(source)])
    with TemporaryDirectory() as folder:
        window = make_window(Settings(Path(folder) / "settings.ini"), Look(theme))
        try:
            names = [spec.name for spec in window.docks.specs]
            if panel is not None and panel not in names:
                raise OptionError(f"There is no panel named {panel!r}.", f"Choose one of: {', '.join(names)}.")
            window.resize(*size)
            window.show()
            window.open_source(opened, options)
            if text is not None:
                window.workspace.set_text(text)
            _bring_to(window.workspace, position)
            window.messages.dismiss()
            _settle()
            export_figure(window if panel is None else window.docks.dock(panel), out, scale)
        finally:
            window.close()


def _tell(kind: QtMsgType, context: QMessageLogContext, text: str) -> None:
    """Pass Qt's warnings on, but not what the platform without a screen says of each window that is shown."""
    if not text.startswith("This plugin does not support"):
        sys.stderr.write(f"{text}\n")


def _bring_to(workspace: Workspace, position: int | None) -> None:
    """Wait until the workspace shows this position, with everything that belongs to it."""
    failures: list[BpeVizError] = []
    workspace.failed.connect(failures.append)

    def fail() -> None:
        if failures:
            raise failures[0]

    _wait_until(lambda: bool(failures) or (workspace.corpus is not None and not workspace.is_training))
    fail()
    if position is not None and not 0 <= position <= workspace.last_position:
        raise OptionError(
            f"There is no position {position}: this training has the positions 0 to {workspace.last_position}.",
            "Give one of these.",
        )
    wanted = workspace.last_position if position is None else position
    workspace.seek(wanted)
    _wait_until(lambda: bool(failures) or workspace.is_settled)
    fail()


def _wait_until(condition: Callable[[], bool]) -> None:
    from PySide6.QtCore import QEventLoop, QTimer

    loop = QEventLoop()
    timer = QTimer()
    timer.timeout.connect(lambda: loop.quit() if condition() else None)
    timer.start(_POLL_MILLISECONDS)
    loop.exec()
    timer.stop()


def _settle() -> None:
    """Let layouts and animations come to rest."""
    from PySide6.QtCore import QEventLoop, QTimer

    loop = QEventLoop()
    QTimer.singleShot(200, loop.quit)
    loop.exec()
