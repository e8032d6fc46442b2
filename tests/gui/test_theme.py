"""Theme files: complete, readable, and told apart by everyone."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtGui import QColor

from bpe_viz.assets import resource
from bpe_viz.errors import BpeVizError
from bpe_viz.gui.theme import ROLES, Theme, load_theme, read_theme, theme_names

# Severity 1.0, linear RGB. Source: Machado, Oliveira and Fernandes 2009, table 1.
VISIONS = {
    "full": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)

# CIELAB distances; 2.3 is just noticeable. Neighbours in a text are one apart in the cycle, so those
# must differ clearly; the other pairs have edges and place as a second cue.
LEAST_NEIGHBOUR_DISTANCE = 15.0
LEAST_TOKEN_DISTANCE = 7.0
LEAST_ACCENT_DISTANCE = 25.0

TEXT_PAIRS = [
    *((ink, ground) for ink in ("ink", "dim") for ground in ("background", "panel", "hover", "selection")),
    *((ink, ground) for ink in ("ink", "sign") for ground in ("chip", "next_soft", "made_soft")),
    ("next", "panel"),
    ("next", "next_soft"),
    ("next_ink", "next"),
    ("made", "panel"),
    ("made", "made_soft"),
    ("error", "error_soft"),
    ("error", "panel"),
    ("ink", "error_soft"),
    ("warning", "warning_soft"),
    ("ink", "warning_soft"),
]
SHAPE_PAIRS = [("faint", "panel"), ("next", "background"), ("bar_line", "panel"), ("next", "hover")]


def linear(colour: QColor) -> np.ndarray:
    values = np.array([colour.redF(), colour.greenF(), colour.blueF()])
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def contrast(one: QColor, other: QColor) -> float:
    """WCAG 2.2, from 1 to 21."""
    darker, lighter = sorted(float(linear(colour) @ XYZ[1]) for colour in (one, other))
    return (lighter + 0.05) / (darker + 0.05)


def lab(colour: QColor, vision: str) -> np.ndarray:
    xyz = XYZ @ np.clip(VISIONS[vision] @ linear(colour), 0, 1) / (0.95047, 1.0, 1.08883)
    x, y, z = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def distance(one: QColor, other: QColor, vision: str) -> float:
    return float(np.linalg.norm(lab(one, vision) - lab(other, vision)))


@pytest.fixture(params=theme_names())
def theme(request: pytest.FixtureRequest) -> Theme:
    return load_theme(request.param)


def test_the_four_themes_are_there() -> None:
    assert {"light", "dark", "high-contrast", "print"} <= set(theme_names())


@pytest.mark.parametrize(("ink", "ground"), TEXT_PAIRS)
def test_text_has_contrast(theme: Theme, ink: str, ground: str) -> None:
    assert contrast(getattr(theme, ink), getattr(theme, ground)) >= 4.5


@pytest.mark.parametrize(("shape", "ground"), SHAPE_PAIRS)
def test_shapes_have_contrast(theme: Theme, shape: str, ground: str) -> None:
    assert contrast(getattr(theme, shape), getattr(theme, ground)) >= 3


def test_text_and_signs_on_tokens_have_contrast(theme: Theme) -> None:
    for fill in theme.tokens:
        assert contrast(theme.ink, fill) >= 4.5
        assert contrast(theme.sign, fill) >= 4.5


def test_tokens_show_their_edges(theme: Theme) -> None:
    for fill, line in zip(theme.tokens, theme.token_lines, strict=True):
        assert contrast(fill, line) >= 1.5
        assert contrast(line, theme.panel) >= 1.8


@pytest.mark.parametrize("vision", VISIONS)
def test_token_colours_stay_distinct(theme: Theme, vision: str) -> None:
    for one, other in combinations(theme.tokens, 2):
        assert distance(one, other, vision) >= LEAST_TOKEN_DISTANCE, (one.name(), other.name())
    for one, other in zip(theme.tokens, theme.tokens[1:] + theme.tokens[:1], strict=True):
        assert distance(one, other, vision) >= LEAST_NEIGHBOUR_DISTANCE, (one.name(), other.name())


@pytest.mark.parametrize("vision", VISIONS)
def test_next_and_made_stay_distinct(theme: Theme, vision: str) -> None:
    assert distance(theme.next, theme.made, vision) >= LEAST_ACCENT_DISTANCE
    assert distance(theme.next_soft, theme.made_soft, vision) >= 9
    assert distance(theme.next, theme.bar, vision) >= LEAST_ACCENT_DISTANCE


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ('ink = "#1c2330"', "", "ink"),
        ('ink = "#1c2330"', 'ink = "red"', "ink"),
        ('ink = "#1c2330"', "ink = 3", "ink"),
        ('ink = "#1c2330"', 'ink = "#1c2330"\nglow = "#ffffff"', "glow"),
        ("is_dark = false", 'is_dark = "no"', "is_dark"),
        ('title = "Light"', 'title = ""', "title"),
        ('"#bcdeef", ', "", "tokens"),
        ('"#bcdeef"', '"#bcdee"', r"tokens\[0\]"),
    ],
)
def test_a_bad_field_is_named(tmp_path: Path, old: str, new: str, field: str) -> None:
    text = resource("themes", "light.toml").read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / "mine.toml"
    path.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(BpeVizError, match=rf"mine\.toml: {field} "):
        read_theme(path)


@pytest.mark.parametrize("content", [b"title = ", b"\xff\xfe"])
def test_a_file_that_is_no_toml_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(content)
    with pytest.raises(BpeVizError, match=r"mine\.toml"):
        read_theme(path)


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(BpeVizError, match=r"'pink'.*dark.*light"):
        load_theme("pink")


def test_a_missing_resource_says_where_it_was_sought() -> None:
    with pytest.raises(BpeVizError, match=r"themes/pink\.toml"):
        resource("themes", "pink.toml")


def test_every_role_is_a_colour(theme: Theme) -> None:
    assert all(theme.colour(role).isValid() for role in ROLES)
