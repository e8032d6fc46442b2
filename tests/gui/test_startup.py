"""What the program says instead of letting Qt abort, and that this Qt does not lose references."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from PySide6.QtCore import QRect
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtWidgets import QLabel

from bpe_viz.errors import BpeVizError
from bpe_viz.gui import startup
from bpe_viz.gui.startup import check_screen, missing_library


@pytest.mark.parametrize(
    ("message", "debian", "fedora", "arch"),
    [
        ("libEGL.so.1: cannot open shared object file: No such file", "libegl1", "libglvnd-egl", "libglvnd"),
        ("libxcb-cursor.so.0: cannot open shared object file", "libxcb-cursor0", "xcb-util-cursor", "xcb-util-cursor"),
        ("libxkbcommon-x11.so.0: cannot open", "libxkbcommon-x11-0", "libxkbcommon-x11", "libxkbcommon-x11"),
        ("libxkbcommon.so.0: cannot open", "libxkbcommon0", "libxkbcommon", "libxkbcommon"),
        ("libGL.so.1: cannot open", "libgl1", "libglvnd-glx", "libglvnd"),
    ],
)
def test_a_missing_library_is_named_with_its_packages(message, debian, fedora, arch, monkeypatch):
    monkeypatch.setattr(startup, "_can_be_loaded", lambda library: True)
    error = missing_library(message)
    assert message.partition(":")[0] in error.message
    assert f"apt install {debian};" in error.remedy
    assert f"dnf install {fedora};" in error.remedy
    assert f"pacman -S {arch}." in error.remedy


def test_all_libraries_that_are_missing_are_named_at_once(monkeypatch):
    absent = ("libxcb-icccm.so.4", "libxcb-image.so.0", "libxcb-keysyms.so.1")
    monkeypatch.setattr(startup, "_can_be_loaded", lambda library: library not in absent)
    error = missing_library("libxcb-icccm.so.4: cannot open shared object file: No such file or directory")
    assert error.message == f"Qt needs the system libraries {', '.join(absent)}, which are not installed."
    assert "apt install libxcb-icccm4 libxcb-image0 libxcb-keysyms1;" in error.remedy
    assert "dnf install xcb-util-wm xcb-util-image xcb-util-keysyms;" in error.remedy


def test_what_a_system_has_is_loaded():
    assert not startup._can_be_loaded("libnothing-at-all.so.9")
    assert {startup._packages_of(library) is not None for library in startup._NEEDED} == {True}


def test_a_library_that_is_not_known_is_still_named():
    assert "libodd.so.3" in missing_library("libodd.so.3: cannot open").message


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux can lack a screen")
class TestScreen:
    def test_no_screen_at_all(self, monkeypatch):
        for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
            monkeypatch.delenv(name, raising=False)
        with pytest.raises(BpeVizError, match="no screen") as raised:
            check_screen()
        assert "bpe-viz snapshot needs no screen" in raised.value.remedy

    def test_a_screen_that_does_not_answer(self, monkeypatch):
        monkeypatch.delenv("QT_QPA_PLATFORM", raising=False)
        monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
        monkeypatch.setenv("DISPLAY", ":9876")
        monkeypatch.setattr(startup, "_load_plugin", lambda name: None)
        with pytest.raises(BpeVizError, match=":9876"):
            check_screen()

    def test_a_platform_of_the_users_choice_is_trusted(self, monkeypatch):
        monkeypatch.delenv("DISPLAY", raising=False)
        monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
        check_screen()
        assert os.environ["QT_QPA_PLATFORM"] == "offscreen"

    def test_the_program_ends_with_one_line_and_status_2(self):
        screens = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
        environment = {name: value for name, value in os.environ.items() if name not in screens}
        done = subprocess.run(
            [sys.executable, "-m", "bpe_viz"], capture_output=True, text=True, env=environment, check=False, timeout=60
        )
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1
        assert "no screen" in done.stderr


def test_calls_without_a_result_keep_their_references(qtbot):
    # PySide6 6.12.0 loses one reference to None in each such call on Python 3.10 and 3.11, and aborts in the end.
    label = QLabel()
    qtbot.addWidget(label)
    image = QImage(8, 8, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    before = sys.getrefcount(None)
    for _ in range(1000):
        label.update()
        label.setText("x")
        painter.setPen(QColor("red"))
        painter.drawLine(0, 0, 7, 7)
        painter.fillRect(QRect(0, 0, 2, 2), QColor("blue"))
    lost = before - sys.getrefcount(None)
    painter.end()
    assert lost < 100


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="starts an X server of its own")
def test_a_real_window_under_an_x_server_steps_and_closes(tmp_path):
    from shutil import which

    if which("Xvfb") is None:
        pytest.skip("needs Xvfb (Debian package xvfb)")
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", "1", "-screen", "0", "1280x800x24", "-nolisten", "tcp"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    try:
        assert server.stdout is not None
        display = f":{server.stdout.readline().strip()}"
        program = (
            "import sys\n"
            "from pathlib import Path\n"
            "from PySide6.QtCore import QTimer\n"
            "from bpe_viz.gui.startup import check_screen\n"
            "check_screen()\n"
            "from bpe_viz.gui.application import make_application, make_window\n"
            "from bpe_viz.gui.settings import Settings\n"
            "application = make_application()\n"
            "window = make_window(Settings(Path(sys.argv[1])))\n"
            "window.show()\n"
            "window.open_example()\n"
            "def act(frame):\n"
            "    if frame.position == 2:\n"
            "        print(application.platformName(), frame.made.count)\n"
            "        QTimer.singleShot(0, window.close)\n"
            "    elif not window.workspace.is_training:\n"
            "        QTimer.singleShot(0, window.workspace.step)\n"
            "window.workspace.frame_changed.connect(act)\n"
            "sys.exit(application.exec())\n"
        )
        environment = {**os.environ, "DISPLAY": display, "QT_QPA_PLATFORM": "xcb"}
        environment.pop("WAYLAND_DISPLAY", None)
        done = subprocess.run(
            [sys.executable, "-c", program, str(tmp_path / "settings.ini")],
            capture_output=True, text=True, env=environment, check=False, timeout=120,
        )  # fmt: skip
        assert (done.stdout.split(), done.returncode) == (["xcb", "9"], 0), done.stderr
    finally:
        server.terminate()
        server.wait(timeout=10)
