"""What all panels share: a heading row of one height, and a body."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QVBoxLayout, QWidget

from bpe_viz.gui.heading import Heading
from bpe_viz.gui.look import Look
from bpe_viz.gui.workspace import Workspace


class Panel(QWidget):
    """A panel: build, connect, show. It keeps no copy of the state and computes nothing of BPE.

    heading: becomes the title bar of the dock; add controls with add_to_heading
    has_heading: False for a panel whose title would only take room; its dock then has no title bar
    """

    has_heading = True

    def __init__(self, workspace: Workspace, look: Look, title: str) -> None:
        super().__init__()
        self.workspace = workspace
        self.look = look
        self.setAccessibleName(title)
        self.heading = Heading(look, title)
        self._body = QVBoxLayout(self)
        self._body.setContentsMargins(0, 0, 0, 0)
        self._body.setSpacing(0)
        look.changed.connect(self._fit_look)
        self._fit_look()

    def add_to_heading(self, widget: QWidget, after_stretch: bool = True) -> None:
        """Put a control into the heading row: on the right, or beside the title."""
        self.heading.add(widget, on_the_right=after_stretch)

    def set_body(self, widget: QWidget) -> None:
        """Fill the panel with its one body widget."""
        self._body.addWidget(widget)
        self.setFocusProxy(widget)

    def activate(self) -> None:
        """Give the keys to the field that people look for in this panel: find, filter, go to, text."""
        self.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def figure(self) -> QWidget:
        """Return the widget that an exported figure shows."""
        return self

    @Slot()
    def _fit_look(self) -> None:
        self.heading.fit_look()


@dataclass(frozen=True, slots=True)
class PanelSpec:
    """Says of a panel what the window needs to place it.

    name: of the file, of the dock, and of --panel; place: where it stands in the default layout
    order: from left to right in the top row, from above to below at the bottom
    stretch: its share of the row's width (top) or of the height (bottom; 0: as high as its content)
    """

    name: str
    title: str
    make: Callable[[Workspace, Look], Panel]
    place: Literal["top", "bottom"]
    order: int
    stretch: int
