"""The heading row of a panel: its title, and controls that go into a second row where the first has no room."""

from __future__ import annotations

from math import ceil

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from bpe_viz.gui.elided_label import ElidedLabel
from bpe_viz.gui.look import Look

HEIGHT = 36


class Heading(QWidget):
    """Asks for no width: the controls on the right go into a row of their own, then the title is shortened."""

    def __init__(self, look: Look, title: str) -> None:
        super().__init__()
        self._look = look
        self.setObjectName("heading")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.title = ElidedLabel(title)
        self.title.setProperty("role", "heading")
        self._beside: list[QWidget] = []
        self._right: list[QWidget] = []
        self._rows = 1
        self._first, self._second = QHBoxLayout(), QHBoxLayout()
        self._first.addWidget(self.title)
        self._first.addStretch(1)
        self._second.addStretch(1)
        self._column = QVBoxLayout(self)
        self._column.setSpacing(0)
        self._column.addLayout(self._first, 1)
        self._column.addLayout(self._second)
        self.fit_look()

    @property
    def rows(self) -> int:
        """How many rows there are: 1, or 2 where one has no room."""
        return self._rows

    def add(self, widget: QWidget, on_the_right: bool) -> None:
        """Put a control into the row: on the right, or beside the title."""
        if on_the_right:
            self._right.append(widget)
            (self._first if self._rows == 1 else self._second).addWidget(widget)
        else:
            self._beside.append(widget)
            self._first.insertWidget(len(self._beside), widget)
        self._fit()

    def show_title(self, shown: bool) -> None:
        """Show the title, or leave its room to the controls."""
        self.title.setVisible(shown)

    def minimumSizeHint(self) -> QSize:
        """No width is too small."""
        return QSize(0, self.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Break the row anew."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._fit()

    def showEvent(self, event: QShowEvent) -> None:
        """Break the row: the width is known now."""
        super().showEvent(event)
        self._fit()

    def event(self, event: QEvent) -> bool:
        """A control may ask for more or less room."""
        done = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest:
            self._fit()
        return done

    def fit_look(self) -> None:
        """Take the sizes of the look."""
        look = self._look
        self._column.setContentsMargins(look.px(12), 0, look.px(8), 0)
        self._first.setSpacing(look.grid)
        self._second.setSpacing(look.grid)
        self._fit()

    def _fit(self) -> None:
        look = self._look
        room = self.width() - look.px(12) - look.px(8)
        controls = [widget for widget in (*self._beside, *self._right) if not widget.isHidden()]
        needed = sum(_least_width(widget) + look.grid for widget in controls)
        # Not its size hint: the style sheet with the new type may come only after the look has changed.
        width = ceil(look.ui_metrics(bold=True).horizontalAdvance(self.title.text())) + 2
        title = 0 if self.title.isHidden() else width
        needed += title
        parent = self.parentWidget()
        is_high = parent is not None and parent.height() >= 4 * look.px(HEIGHT)
        rows = 2 if needed > room and self._right and self.isVisible() and is_high else 1
        if rows != self._rows:
            self._rows = rows
            old, new = (self._first, self._second) if rows == 2 else (self._second, self._first)
            for widget in self._right:
                old.removeWidget(widget)
                new.addWidget(widget)
        in_first = controls if rows == 1 else [widget for widget in controls if widget in self._beside]
        fits = title + sum(_least_width(widget) + look.grid for widget in in_first) <= room
        self.title.setMinimumWidth(title if fits else 0)
        height = rows * look.px(HEIGHT)
        if self.minimumHeight() != height or self.maximumHeight() != height:
            self.setFixedHeight(height)


def _least_width(widget: QWidget) -> int:
    """Return the width below which a layout would cut a widget."""
    shrinks = widget.sizePolicy().horizontalPolicy().value & QSizePolicy.PolicyFlag.ShrinkFlag.value
    hint = widget.minimumSizeHint() if shrinks else widget.sizeHint()
    return min(max(hint.width(), widget.minimumWidth()), widget.maximumWidth())
