"""Colours by role, read from resources/themes/*.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Literal, get_args

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QGuiApplication

from bpe_viz.assets import resource
from bpe_viz.errors import BpeVizError

SYSTEM_THEME = "system"
TOKEN_COLOURS = 8

Role = Literal[
    "background",
    "panel",
    "line",
    "hover",
    "selection",
    "ink",
    "dim",
    "faint",
    "sign",
    "next",
    "next_soft",
    "next_ink",
    "made",
    "made_soft",
    "bar",
    "bar_line",
    "chip",
    "chip_line",
    "error",
    "error_soft",
    "warning",
    "warning_soft",
]
"""The name of one colour of a Theme."""

ROLES: tuple[Role, ...] = get_args(Role)


@dataclass(frozen=True, slots=True)
class Theme:
    """One set of colours.

    background: between the panels; panel: in them; line: around them
    hover: a button or row under the mouse; selection: the row of the cursor
    ink, dim, faint: text that says it, text that helps, text of what is still to come
    sign: invisible characters drawn inside a chip; readable on every chip and token
    next, next_soft, next_ink: what is merged next, its fill, and text on solid next
    made, made_soft: what was just made, and its fill
    bar, bar_line: a pair's bar, and the outline of its count before
    tokens, token_lines: TOKEN_COLOURS fills and the edge of each
    """

    name: str
    title: str
    is_dark: bool
    background: QColor
    panel: QColor
    line: QColor
    hover: QColor
    selection: QColor
    ink: QColor
    dim: QColor
    faint: QColor
    sign: QColor
    next: QColor
    next_soft: QColor
    next_ink: QColor
    made: QColor
    made_soft: QColor
    bar: QColor
    bar_line: QColor
    chip: QColor
    chip_line: QColor
    error: QColor
    error_soft: QColor
    warning: QColor
    warning_soft: QColor
    tokens: tuple[QColor, ...]
    token_lines: tuple[QColor, ...]

    def colour(self, role: Role) -> QColor:
        """Return the colour of a role."""
        colour: QColor = getattr(self, role)
        return colour


def theme_names() -> tuple[str, ...]:
    """Return the names of all themes in resources/themes, sorted."""
    return tuple(sorted(path.stem for path in resource("themes").glob("*.toml")))


def system_theme_name() -> str:
    """Return "dark" if the system asks for dark colours, else "light"."""
    is_dark = QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark
    return "dark" if is_dark else "light"


def load_theme(name: str) -> Theme:
    """Read a theme by name; SYSTEM_THEME stands for the one that the system asks for.

    Raises BpeVizError if there is none of that name or its file is damaged.
    """
    wanted = system_theme_name() if name == SYSTEM_THEME else name
    if wanted not in theme_names():
        raise BpeVizError(
            f"There is no theme named {name!r}.",
            f"Choose one of: {', '.join((SYSTEM_THEME, *theme_names()))}.",
        )
    return read_theme(resource("themes", f"{wanted}.toml"))


def read_theme(path: Path) -> Theme:
    """Read and check a theme file.

    Raises BpeVizError that names the file and the field.
    """
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BpeVizError(f"The theme {path} cannot be read: {error}.") from error
    reader = _ThemeReader(path, values)
    reader.check_fields()
    return Theme(
        name=path.stem,
        title=reader.text("title"),
        is_dark=reader.flag("is_dark"),
        tokens=reader.colours("tokens"),
        token_lines=reader.colours("token_lines"),
        **{role: reader.colour(role) for role in ROLES},
    )


class _ThemeReader:
    """Checks the values of one theme file, and names file and field of a bad one."""

    def __init__(self, path: Path, values: Mapping[str, object]) -> None:
        self._path = path
        self._values = values

    def check_fields(self) -> None:
        known = {field.name for field in fields(Theme)} - {"name"}
        for name in sorted(known - self._values.keys()):
            raise self._error(name, "is missing")
        for name in sorted(self._values.keys() - known):
            raise self._error(name, "is not a field of a theme")

    def text(self, name: str) -> str:
        value = self._values[name]
        if not isinstance(value, str) or not value:
            raise self._error(name, f"is {value!r}, not a text")
        return value

    def flag(self, name: str) -> bool:
        value = self._values[name]
        if not isinstance(value, bool):
            raise self._error(name, f"is {value!r}, not true or false")
        return value

    def colour(self, name: str) -> QColor:
        return self._as_colour(name, self._values[name])

    def colours(self, name: str) -> tuple[QColor, ...]:
        values = self._values[name]
        if not isinstance(values, list) or len(values) != TOKEN_COLOURS:
            raise self._error(name, f"is not a list of {TOKEN_COLOURS} colours")
        return tuple(self._as_colour(f"{name}[{place}]", value) for place, value in enumerate(values))

    def _as_colour(self, name: str, value: object) -> QColor:
        # Names such as "red" are refused: a theme says the same on every system.
        if not isinstance(value, str) or len(value) != 7 or not QColor.isValidColorName(value):
            raise self._error(name, f'is {value!r}, not a colour such as "#0b61c4"')
        return QColor(value)

    def _error(self, name: str, fault: str) -> BpeVizError:
        return BpeVizError(f"The theme {self._path}: {name} {fault}.", "Put the field right.")
