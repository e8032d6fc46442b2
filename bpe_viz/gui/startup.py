"""What must be there before Qt may start: told in words, since Qt itself would abort the process."""

from __future__ import annotations

import ctypes
import ctypes.util
import importlib.util
import os
import sys
from itertools import filterfalse
from pathlib import Path

from bpe_viz.engine.interrupts import held_back
from bpe_viz.errors import BpeVizError

NO_SCREEN_NEEDED = "bpe-viz snapshot needs no screen."

_PACKAGES = {
    # part of the library's file name: (Debian, Ubuntu), Fedora, Arch
    "libEGL": ("libegl1", "libglvnd-egl", "libglvnd"),
    "libGL.": ("libgl1", "libglvnd-glx", "libglvnd"),
    "libxkbcommon-x11": ("libxkbcommon-x11-0", "libxkbcommon-x11", "libxkbcommon-x11"),
    "libxkbcommon": ("libxkbcommon0", "libxkbcommon", "libxkbcommon"),
    "libdbus-1": ("libdbus-1-3", "dbus-libs", "dbus"),
    "libfontconfig": ("libfontconfig1", "fontconfig", "fontconfig"),
    "libfreetype": ("libfreetype6", "freetype", "freetype2"),
    "libglib-2": ("libglib2.0-0", "glib2", "glib2"),
    "libxcb-cursor": ("libxcb-cursor0", "xcb-util-cursor", "xcb-util-cursor"),
    "libxcb-icccm": ("libxcb-icccm4", "xcb-util-wm", "xcb-util-wm"),
    "libxcb-image": ("libxcb-image0", "xcb-util-image", "xcb-util-image"),
    "libxcb-keysyms": ("libxcb-keysyms1", "xcb-util-keysyms", "xcb-util-keysyms"),
    "libxcb-render-util": ("libxcb-render-util0", "xcb-util-renderutil", "xcb-util-renderutil"),
    "libxcb": ("libxcb1 libxcb-randr0 libxcb-shape0 libxcb-shm0 libxcb-sync1 libxcb-xfixes0 libxcb-xkb1",
               "libxcb", "libxcb"),
    "libX11-xcb": ("libx11-xcb1", "libX11-xcb", "libx11"),
    "libX11": ("libx11-6", "libX11", "libx11"),
}  # fmt: skip

_NEEDED = (
    "libEGL.so.1", "libxkbcommon.so.0", "libdbus-1.so.3", "libfontconfig.so.1", "libxcb-cursor.so.0",
    "libxcb-icccm.so.4", "libxcb-image.so.0", "libxcb-keysyms.so.1", "libxcb-render-util.so.0",
    "libxkbcommon-x11.so.0", "libX11-xcb.so.1",
)  # fmt: skip
"""What Qt's window and its screen plugin load: a bare system lacks several, and each would be missed in turn."""


def check_qt_libraries() -> None:
    """Raise BpeVizError, naming the system package, if PySide6 cannot be loaded."""
    try:
        with held_back():  # PySide6 aborts the process where an exception comes while it is loaded
            import PySide6.QtGui
            import PySide6.QtSvg
            import PySide6.QtWidgets  # noqa: F401  # loading is the check
    except ImportError as error:
        raise missing_library(str(error)) from error


def check_screen() -> None:
    """Raise BpeVizError if no window can be opened: no screen, or a library of Qt's screen plugin is missing.

    Only Linux needs it; where the user chose a platform plugin by QT_QPA_PLATFORM, that choice is trusted unless it
    is xcb.
    """
    platform = os.environ.get("QT_QPA_PLATFORM", "").partition(":")[0]
    if not sys.platform.startswith("linux") or platform not in ("", "xcb"):
        return
    if platform == "" and os.environ.get("WAYLAND_DISPLAY"):
        return
    if not os.environ.get("DISPLAY"):
        raise BpeVizError(
            "There is no screen: neither DISPLAY nor WAYLAND_DISPLAY is set.",
            f"Start it in a desktop session. {NO_SCREEN_NEEDED}",
        )
    _load_plugin("libqxcb.so")
    _check_display(os.environ["DISPLAY"])


def _load_plugin(name: str) -> None:
    """Load a platform plugin as Qt would, to hear what is missing; Qt would only say so and abort."""
    spec = importlib.util.find_spec("PySide6")
    if spec is None or spec.origin is None:
        return
    plugin = Path(spec.origin).parent / "Qt" / "plugins" / "platforms" / name
    if not plugin.exists():
        return
    try:
        ctypes.CDLL(str(plugin))
    except OSError as error:
        raise missing_library(str(error)) from error


def _check_display(display: str) -> None:
    name = ctypes.util.find_library("xcb") or "libxcb.so.1"
    try:
        xcb = ctypes.CDLL(name)
    except OSError as error:
        raise missing_library(str(error)) from error
    xcb.xcb_connect.restype = ctypes.c_void_p
    xcb.xcb_connection_has_error.argtypes = [ctypes.c_void_p]
    xcb.xcb_disconnect.argtypes = [ctypes.c_void_p]
    connection = xcb.xcb_connect(display.encode(), None)
    failed = xcb.xcb_connection_has_error(connection)
    xcb.xcb_disconnect(connection)
    if failed:
        raise BpeVizError(
            f"The screen {display!r} (DISPLAY) does not answer.", f"Start it in a desktop session. {NO_SCREEN_NEEDED}"
        )


def missing_library(message: str) -> BpeVizError:
    """Turn a loader's message into the packages to install: of this library, and of all others that will be missed.

    message: such as "libEGL.so.1: cannot open shared object file: No such file or directory"
    """
    library = message.partition(":")[0].strip()
    if "No module named" in message:
        return BpeVizError(f"A Python package is missing: {message}.", "Install bpe-viz again with pip.")
    if _packages_of(library) is None:
        return BpeVizError(f"Qt cannot be loaded: {message}.", "Install that library with your system's packages.")
    missing = list(dict.fromkeys((library, *filterfalse(_can_be_loaded, _NEEDED))))
    names = [packages for one in missing if (packages := _packages_of(one)) is not None]
    debian, fedora, arch = (" ".join(dict.fromkeys(packages)) for packages in zip(*names, strict=True))
    what = f"library {library}, which is" if len(missing) == 1 else f"libraries {', '.join(missing)}, which are"
    return BpeVizError(
        f"Qt needs the system {what} not installed.",
        f"Debian, Ubuntu: apt install {debian}; Fedora: dnf install {fedora}; Arch: pacman -S {arch}.",
    )


def _packages_of(library: str) -> tuple[str, str, str] | None:
    return next((names for part, names in _PACKAGES.items() if library.startswith(part)), None)


def _can_be_loaded(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True
