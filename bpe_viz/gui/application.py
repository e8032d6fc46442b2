"""The running program: one QApplication, one window."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from functools import partial
from types import TracebackType

from PySide6.QtCore import QLoggingCategory, QTimer
from PySide6.QtWidgets import QApplication, QMessageBox

from bpe_viz.gui.collector import Collector
from bpe_viz.gui.interrupt import INTERRUPTED, Interrupt
from bpe_viz.gui.look import Look
from bpe_viz.gui.settings import Settings
from bpe_viz.gui.window import Window
from bpe_viz.gui.workspace import Workspace

_SWITCH_SECONDS = 0.0005
"""How long a thread of plain Python may hold the interpreter: beside one, with Python's usual 5 ms, a 3 ms paint took
119 ms."""

_PREPARE_AFTER_MILLISECONDS = 500


def start(sources: Sequence[str]) -> int:
    """Open the window and run until it is closed; returns the exit status."""
    application = make_application()
    # Before anything is shown: raised inside Qt, KeyboardInterrupt has no caller and would pass for a bug.
    interrupt = Interrupt(partial(_end, application), application)
    sys.excepthook = _report_bug
    window = make_window()
    window.show()
    if sources:
        window.open_sources(sources)
    else:
        window.open_example()
    # After the first paint: neither compiling nor loading what is needed later may keep the window from showing.
    QTimer.singleShot(_PREPARE_AFTER_MILLISECONDS, window.workspace.prepare)
    status = int(application.exec())
    interrupt.close()
    return status


def _end(application: QApplication) -> None:
    application.closeAllWindows()
    application.exit(INTERRUPTED)


def make_application() -> QApplication:
    """Return the one QApplication, with the settings that the program needs."""
    sys.setswitchinterval(_SWITCH_SECONDS)
    # Qt would write a line for each script of the corpus that no font is made for; the text is shown all the same.
    QLoggingCategory.setFilterRules("qt.text.font.db=false")
    application = QApplication.instance()
    if not isinstance(application, QApplication):
        application = QApplication(["bpe-viz"])
    if application.findChild(Collector) is None:
        Collector(application)
    application.setApplicationName("bpe-viz")
    application.setStyle("Fusion")
    return application


def make_window(settings: Settings | None = None, look: Look | None = None) -> Window:
    """Return a window with a workspace of its own; settings: None: the user's."""
    settings = settings or Settings()
    look = look or Look(settings.theme, settings.zoom)
    return Window(Workspace(), look, settings)


def _report_bug(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Show an error that should not be, with a traceback that can be copied."""
    text = "".join(traceback.format_exception(kind, error, trace))
    sys.stderr.write(text)
    box = QMessageBox(QMessageBox.Icon.Critical, "bpe-viz", "Something went wrong inside bpe-viz; this is a bug.")
    box.setInformativeText("Your files are untouched. The details below can be copied into a report.")
    box.setDetailedText(text)
    box.exec()
