"""A layout that goes on in another row where a row is full."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget


class FlowLayout(QLayout):
    """Places widgets from left to right, row below row; none is wider than the room there is."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self.setContentsMargins(0, 0, 0, 0)

    def addItem(self, item: QLayoutItem) -> None:
        """Place another item after the others."""
        self._items.append(item)

    def count(self) -> int:
        """Return how many items there are."""
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        """Return an item, None beyond the last."""
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        """Take an item away."""
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        """Take no more room than is needed."""
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        """The narrower, the higher."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Return the height of all rows."""
        return self._place(QRect(0, 0, width, 0), is_moving=False)

    def sizeHint(self) -> QSize:
        """All in one row."""
        hints = [item.sizeHint() for item in self._items]
        width = sum(hint.width() for hint in hints) + self.spacing() * max(0, len(hints) - 1)
        return QSize(width, max((hint.height() for hint in hints), default=0))

    def minimumSize(self) -> QSize:
        """No width is too small: what does not fit is cut."""
        return QSize(0, max((item.sizeHint().height() for item in self._items), default=0))

    def setGeometry(self, area: QRect) -> None:
        """Place all items."""
        super().setGeometry(area)
        self._place(area, is_moving=True)

    def _place(self, area: QRect, is_moving: bool) -> int:
        """Place the items, or only measure; returns the height of the rows."""
        x, y, row_height = area.x(), area.y(), 0
        for item in self._items:
            size = item.sizeHint().boundedTo(QSize(area.width(), 1 << 20))
            if x > area.x() and x + size.width() > area.x() + area.width():
                x, y, row_height = area.x(), y + row_height + self.spacing(), 0
            if is_moving:
                item.setGeometry(QRect(QPoint(x, y), size))
            x += size.width() + self.spacing()
            row_height = max(row_height, size.height())
        return y + row_height - area.y()
