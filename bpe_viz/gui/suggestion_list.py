"""A list of suggestions: what each is called, and below it in quiet type what it is."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from bpe_viz.gui.look import Look
from bpe_viz.names.suggestions import Suggestion

_NAME, _DESCRIPTION = Qt.ItemDataRole.UserRole, Qt.ItemDataRole.UserRole + 1
_SMALL = 0.9
_SIDE, _ABOVE = 10, 5

_Index = QModelIndex | QPersistentModelIndex


class SuggestionList(QListWidget):
    """Shows suggestions; nothing is chosen until somebody chooses."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self.setItemDelegate(_TwoLines(look, self))
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setUniformItemSizes(True)

    def show_suggestions(self, suggestions: Iterable[Suggestion]) -> None:
        """Show others."""
        self.clear()
        for one in suggestions:
            item = QListWidgetItem()
            item.setData(_NAME, one.name)
            item.setData(_DESCRIPTION, one.description)
            item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{one.name}: {one.description}")
            self.addItem(item)

    @property
    def names(self) -> list[str]:
        """What is shown, in order."""
        return [str(self.item(row).data(_NAME)) for row in range(self.count())]

    @property
    def chosen(self) -> str | None:
        """The name of what is chosen; None if nothing is."""
        item = self.currentItem()
        return None if item is None else str(item.data(_NAME))


class _TwoLines(QStyledItemDelegate):
    def __init__(self, look: Look, parent: QListWidget) -> None:
        super().__init__(parent)
        self._look = look

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        look = self._look
        height = look.mono_metrics().height() + look.ui_metrics(_SMALL).height() + 2 * look.px(_ABOVE)
        return QSize(look.px(200), round(height))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        look = self._look
        box: QRect = option.rect
        state: QStyle.StateFlag = option.state
        if state & QStyle.StateFlag.State_Selected:
            painter.fillRect(box, look.brush("selection"))
        elif state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(box, look.brush("hover"))
        inside = box.adjusted(look.px(_SIDE), look.px(_ABOVE), -look.px(_SIDE), -look.px(_ABOVE))
        height = round(look.mono_metrics().height())
        lines = (
            (look.mono_font(), "ink", _NAME, inside.adjusted(0, 0, 0, height - inside.height())),
            (look.ui_font(_SMALL), "dim", _DESCRIPTION, inside.adjusted(0, height, 0, 0)),
        )
        for font, role, data, place in lines:
            painter.setFont(font)
            painter.setPen(look.pen(role))  # type: ignore[arg-type]  # both are roles
            text = painter.fontMetrics().elidedText(str(index.data(data)), Qt.TextElideMode.ElideMiddle, place.width())
            painter.drawText(place, int(Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine), text)
