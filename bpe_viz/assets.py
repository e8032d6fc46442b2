"""Finds the files of resources/, in a checkout and in an installed wheel."""

from __future__ import annotations

from pathlib import Path

from bpe_viz.errors import BpeVizError

_PACKAGE = Path(__file__).resolve().parent

# The wheel puts resources/ inside the package; an editable install leaves it beside the package.
_ROOTS = (_PACKAGE / "resources", _PACKAGE.parent / "resources")


def resource(*parts: str) -> Path:
    """Return the path of one file or folder of resources/.

    parts: the names on the way to it, such as "themes", "light.toml"
    Raises BpeVizError if it is absent.
    """
    for root in _ROOTS:
        path = root.joinpath(*parts)
        if path.exists():
            return path
    raise BpeVizError(
        f"The program's file resources/{'/'.join(parts)} is missing; looked in {_ROOTS[0]} and {_ROOTS[1]}.",
        "Install bpe-viz again.",
    )
