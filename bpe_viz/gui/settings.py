"""What the program remembers from one start to the next."""

from __future__ import annotations

import math
from pathlib import Path

from PySide6.QtCore import QByteArray, QSettings

from bpe_viz.gui.look import LEAST_ZOOM, MOST_ZOOM
from bpe_viz.gui.speeds import SPEEDS
from bpe_viz.gui.theme import SYSTEM_THEME, theme_names
from bpe_viz.names.suggestions import remembered

NORMAL_SPEED = 1.0
RECENT_FILES = 10


class Settings:
    """Typed access to the remembered settings; a damaged value reads as its default.

    path: an INI file of its own, for tests; None: where the system keeps settings
    """

    def __init__(self, path: Path | None = None) -> None:
        if path is None:
            self._store = QSettings("bpe-viz", "bpe-viz")
        else:
            self._store = QSettings(str(path), QSettings.Format.IniFormat)

    @property
    def theme(self) -> str:
        """A theme's name, or SYSTEM_THEME."""
        name = self._store.value("look/theme")
        return name if isinstance(name, str) and name in theme_names() else SYSTEM_THEME

    @theme.setter
    def theme(self, name: str) -> None:
        self._store.setValue("look/theme", name)

    @property
    def zoom(self) -> float:
        """How much larger than normal everything is."""
        return self._number("look/zoom", 1.0, LEAST_ZOOM, MOST_ZOOM)

    @zoom.setter
    def zoom(self, zoom: float) -> None:
        self._store.setValue("look/zoom", zoom)

    @property
    def speed(self) -> float:
        """Merges a second while playing."""
        return self._number("timeline/speed", NORMAL_SPEED, SPEEDS[0], SPEEDS[-1])

    @speed.setter
    def speed(self, speed: float) -> None:
        self._store.setValue("timeline/speed", speed)

    @property
    def geometry(self) -> QByteArray | None:
        """What QWidget.saveGeometry returned, or None."""
        return self._bytes("window/geometry")

    @geometry.setter
    def geometry(self, geometry: QByteArray) -> None:
        self._store.setValue("window/geometry", geometry)

    def dock_state(self, version: int) -> QByteArray | None:
        """Return what set_dock_state stored, or None if that was for another version of the layout."""
        stored = self._number("window/layout_version", -1, -1, math.inf)
        return self._bytes("window/docks") if stored == version else None

    def set_dock_state(self, state: QByteArray, version: int) -> None:
        """Remember what QMainWindow.saveState returned."""
        self._store.setValue("window/docks", state)
        self._store.setValue("window/layout_version", version)

    def forget_dock_state(self) -> None:
        """Start with the default layout next time."""
        self._store.remove("window/docks")

    @property
    def last_folder(self) -> Path | None:
        """Where the last file was opened or saved; None if it is gone."""
        text = self._store.value("files/folder")
        folder = Path(text) if isinstance(text, str) and text else None
        return folder if folder is not None and folder.is_dir() else None

    @last_folder.setter
    def last_folder(self, folder: Path) -> None:
        self._store.setValue("files/folder", str(folder))

    @property
    def recent_files(self) -> tuple[Path, ...]:
        """The texts and tables opened last, newest first."""
        return tuple(map(Path, self._texts("files/recent")))

    def add_recent_file(self, path: Path) -> None:
        """Put a file first among the recent ones, once."""
        others = [other for other in self.recent_files if other != path]
        self._store.setValue("files/recent", [str(file) for file in (path, *others)][:RECENT_FILES])

    def clear_recent_files(self) -> None:
        """Forget which files were opened."""
        self._store.remove("files/recent")

    @property
    def recent_tokenizers(self) -> tuple[str, ...]:
        """The tokenizers opened last, newest first: paths, and names such as tiktoken:cl100k_base."""
        return self._texts("tokenizers/recent")

    def add_recent_tokenizer(self, written: str) -> None:
        """Put a tokenizer first among the recent ones, once."""
        self._store.setValue("tokenizers/recent", list(remembered(self.recent_tokenizers, written)))

    def _texts(self, key: str) -> tuple[str, ...]:
        value = self._store.value(key)
        # An INI file gives a list of one back as a plain text.
        texts = [value] if isinstance(value, str) else value
        if not isinstance(texts, list):
            return ()
        return tuple(text for text in texts if isinstance(text, str) and text)[:RECENT_FILES]

    def sync(self) -> None:
        """Write what has been set to the disk now."""
        self._store.sync()

    def _number(self, key: str, default: float, least: float, most: float) -> float:
        value = self._store.value(key)
        try:
            number = float(value)
        except (TypeError, ValueError):
            return default
        return min(max(number, least), most) if math.isfinite(number) else default

    def _bytes(self, key: str) -> QByteArray | None:
        value = self._store.value(key)
        return value if isinstance(value, QByteArray) and not value.isEmpty() else None
