"""The panels: one file each, found by itself. A module in this folder that has a PANEL is a panel."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from bpe_viz.gui.panel import PanelSpec


@cache
def panels() -> tuple[PanelSpec, ...]:
    """Return all panels, in the order of the default layout."""
    found = []
    for module in pkgutil.iter_modules(__path__):
        contents = importlib.import_module(f"{__name__}.{module.name}")
        if hasattr(contents, "PANEL"):
            found.append(contents.PANEL)
    return tuple(sorted(found, key=lambda panel: (panel.place != "top", panel.order)))
