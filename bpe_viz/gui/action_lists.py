"""Two views of the table of actions: the palette that finds one by name, and the sheet of all keys."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QDialog,
    QGridLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from bpe_viz.gui.actions import GROUPS, Actions, ActionSpec

_TO_LIST = {Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown}


class Palette(QDialog):
    """Type a part of an action's name, press Enter."""

    def __init__(self, actions: Actions, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._actions = actions
        self.field = QLineEdit()
        self.field.setPlaceholderText("What do you want to do?")
        self.field.setAccessibleName("Action to find")
        self.field.textChanged.connect(self._list)
        self.field.returnPressed.connect(self.run_current)
        self.field.installEventFilter(self)
        self.found = QListWidget()
        self.found.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.found.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)  # long titles are cut
        self.found.itemClicked.connect(lambda _: self.run_current())
        column = QVBoxLayout(self)
        column.addWidget(self.field)
        column.addWidget(self.found)
        width = min(parent.width() - 40, 64 * self.fontMetrics().horizontalAdvance("n"))
        self.resize(width, 16 * self.fontMetrics().lineSpacing())
        self.move(parent.mapToGlobal(parent.rect().topLeft()) + self._offset(parent))
        self._list("")
        self.field.setFocus()

    def _offset(self, parent: QWidget) -> QPoint:
        return QPoint((parent.width() - self.width()) // 2, parent.height() // 8)

    @Slot(str)
    def _list(self, typed: str) -> None:
        self.found.clear()
        words = typed.lower().split()
        for spec in self._actions.specs:
            text = f"{spec.group} {spec.shown_title}".lower()
            if all(word in text for word in words):
                item = QListWidgetItem(_line(spec))
                item.setData(Qt.ItemDataRole.UserRole, spec.id)
                if not spec.is_enabled():
                    item.setFlags(Qt.ItemFlag.NoItemFlags)
                self.found.addItem(item)
        self.found.setCurrentRow(0)

    @Slot()
    def run_current(self) -> None:
        """Close, and run the action that is marked."""
        item = self.found.currentItem()
        self.close()
        if item is not None:
            self._actions.run(item.data(Qt.ItemDataRole.UserRole))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Let the arrows move in the list while the field is typed in."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and event.key() in _TO_LIST:
            self.found.keyPressEvent(event)
            return True
        return super().eventFilter(watched, event)


def _line(spec: ActionSpec) -> str:
    keys = f"    {spec.shown_keys}" if spec.shown_keys else ""
    return f"{spec.group}: {spec.shown_title}{keys}"


class KeySheet(QDialog):
    """All keys, by group."""

    def __init__(self, actions: Actions, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Keys")
        sheet = QWidget()
        grid = QGridLayout(sheet)
        grid.setHorizontalSpacing(24)
        grid.setVerticalSpacing(3)  # tall faces, such as Noto Sans, fit a low screen too
        listed = {group: [one for one in actions.specs if one.group == group and one.shown_keys] for group in GROUPS}
        most = sum(len(specs) + 1 for specs in listed.values() if specs) / 2
        row = column = deepest = 0
        for group, specs in listed.items():
            if not specs:
                continue
            if column == 0 and row and row + len(specs) / 2 > most:
                row, column = 0, 2
            heading = QLabel(group)
            heading.setProperty("role", "heading")
            grid.addWidget(heading, row, column, 1, 2)
            for spec in specs:
                row += 1
                grid.addWidget(QLabel(spec.shown_keys), row, column)
                grid.addWidget(QLabel(spec.title.replace("&", "&&")), row, column + 1)
            row += 1
            deepest = max(deepest, row)
        note = QLabel(
            "A list or field with the focus keeps the keys that it uses itself; "
            "Alt+Right and Alt+Left always step, Esc gives the keys back to the timeline."
        )
        note.setProperty("role", "dim")
        note.setWordWrap(True)
        grid.addWidget(note, deepest, 0, 1, 4)
        area = QScrollArea()
        area.setWidget(sheet)
        area.setWidgetResizable(True)
        area.setFrameShape(QScrollArea.Shape.NoFrame)
        around = QVBoxLayout(self)
        around.addWidget(area)
        self.resize(sheet.sizeHint().width() + 60, min(parent.height() - 60, sheet.sizeHint().height() + 60))
