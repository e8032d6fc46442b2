"""A small field that takes the number of a merge and goes there."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt, Slot
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QLineEdit, QVBoxLayout, QWidget

from bpe_viz.gui.look import Look
from bpe_viz.gui.workspace import Workspace


class GoToPopup(QFrame):
    """A field for the number of a merge; Enter goes there, Escape leaves."""

    def __init__(self, workspace: Workspace, look: Look, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._workspace = workspace
        self._look = look
        last = workspace.last_position
        label = QLabel("Go to merge")
        self.field = QLineEdit()
        self.field.setPlaceholderText(f"0 to {last:,}")
        self.field.setAccessibleName(f"Go to merge, 0 to {last:,}")
        self.field.setFixedWidth(look.px(120))
        self.note = QLabel()
        self.note.setProperty("role", "dim")
        self.note.hide()
        row = QHBoxLayout()
        row.addWidget(label)
        row.addWidget(self.field)
        column = QVBoxLayout(self)
        column.setContentsMargins(look.px(12), look.px(8), look.px(8), look.px(8))
        column.addLayout(row)
        column.addWidget(self.note)
        self.field.returnPressed.connect(self._go)
        self.field.textEdited.connect(self._retract)

    def open_above(self, button: QWidget) -> None:
        """Show the field above a button, and give it the keys."""
        self.adjustSize()
        corner = button.mapToGlobal(QPoint(button.width() - self.width(), -self.height() - self._look.px(4)))
        self.move(corner)
        self.show()
        self.field.setFocus()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw a sheet with one thin line around it."""
        painter = QPainter(self)
        painter.setPen(self._look.pen("line"))
        painter.setBrush(self._look.brush("panel"))
        painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
        painter.end()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Leave on Escape."""
        if event.key() == Qt.Key.Key_Escape:
            self.close()
        else:
            super().keyPressEvent(event)

    @Slot()
    def _go(self) -> None:
        position = position_in(self.field.text())
        last = self._workspace.last_position
        if position is None or not 0 <= position <= last:
            self._refuse(f"Type a number from 0 to {last:,}.")
            return
        self._workspace.jump(position)
        self.close()

    def _refuse(self, why: str) -> None:
        self.note.setText(why)
        self.note.show()
        self._mark(is_wrong=True)

    @Slot()
    def _retract(self) -> None:
        self.note.hide()
        self._mark(is_wrong=False)

    def _mark(self, *, is_wrong: bool) -> None:
        self.field.setProperty("role", "error" if is_wrong else "")
        self.field.style().unpolish(self.field)
        self.field.style().polish(self.field)
        self.adjustSize()


def position_in(text: str) -> int | None:
    """Read a whole number, thousands marks allowed; None if it is none."""
    digits = "".join(character for character in text if character not in ",.'’_ \u00a0\u2009\u202f")
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 19 else None
