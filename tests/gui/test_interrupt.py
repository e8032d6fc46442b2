"""Ctrl+C in the terminal that a window was started from."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest
from PySide6.QtCore import QCoreApplication

from bpe_viz.gui.interrupt import INTERRUPTED, Interrupt


@pytest.mark.skipif(sys.platform == "win32", reason="a process gets no SIGINT there")
def test_it_is_heard_in_the_event_loop_and_taken_back(qtbot, qapp):
    before = signal.getsignal(signal.SIGINT)
    came = []
    interrupt = Interrupt(lambda: came.append(True), qapp)
    os.kill(os.getpid(), signal.SIGINT)
    assert came == []
    qtbot.waitUntil(lambda: came == [True])
    interrupt.close()
    assert signal.getsignal(signal.SIGINT) == before
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    QCoreApplication.processEvents()
    assert came == [True]


@pytest.mark.skipif(sys.platform == "win32", reason="a process gets no SIGINT there")
def test_the_window_closes_and_nothing_is_a_bug(tmp_path):
    program = (
        "import sys\n"
        "from PySide6.QtCore import QTimer\n"
        "from bpe_viz.gui import application\n"
        "make = application.make_window\n"
        "def made():\n"
        "    from bpe_viz.gui.settings import Settings\n"
        "    from pathlib import Path\n"
        "    window = make(Settings(Path(sys.argv[1])))\n"
        "    window.workspace.frame_changed.connect(lambda frame: print('shown', flush=True))\n"
        "    return window\n"
        "application.make_window = made\n"
        "sys.exit(application.start([]))\n"
    )
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    with subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path / "settings.ini")],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
    ) as process:  # fmt: skip
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "shown\n"
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == INTERRUPTED
    assert "Traceback" not in err
