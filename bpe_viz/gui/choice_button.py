"""A button of the corpus bar: a quiet label, the choice in bold, and a menu."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Slot
from PySide6.QtGui import QEnterEvent, QPainter, QPaintEvent, QPolygonF
from PySide6.QtWidgets import QAbstractButton, QMenu, QWidget

from bpe_viz.gui.look import Look

_HEIGHT = 28
_PADDING = 10
_ARROW = 8
_LEAST_VALUE, _MOST_VALUE = 40, 260


class ChoiceButton(QAbstractButton):
    """Shows `label value v` and opens a menu."""

    def __init__(self, look: Look, label: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._label = self._shown_label = label
        self._value = ""
        self._is_quiet = False
        self.menu = QMenu(self)
        self.clicked.connect(self.open_menu)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        look.changed.connect(self._fit_look)

    @property
    def value(self) -> str:
        """The choice that is shown."""
        return self._value

    def show_value(self, value: str, is_quiet: bool = False) -> None:
        """Show another choice; is_quiet: it was not made here."""
        self._value = value
        self._is_quiet = is_quiet
        self.setAccessibleName(f"{self._label} {value}".strip())
        self.updateGeometry()
        self.update()

    def leave_out_label(self, is_left_out: bool) -> None:
        """Show the value only, or the label as well."""
        self._shown_label = "" if is_left_out and self._value else self._label
        self._fit_look()

    @Slot()
    def open_menu(self) -> None:
        """Open the menu below the button."""
        self.menu.popup(self.mapToGlobal(self.rect().bottomLeft()))

    def sizeHint(self) -> QSize:
        """As wide as the text."""
        look = self._look
        label = self._label_width()
        value = look.ui_metrics(bold=True).horizontalAdvance(self._shown_value())
        between = look.px(5) if self._shown_label and self._value else 0
        arrow = look.px(6) + look.px(_ARROW) if self.isEnabled() else 0
        width = 2 * look.px(_PADDING) + label + between + value + arrow
        return QSize(round(width), look.px(_HEIGHT))

    def minimumSizeHint(self) -> QSize:
        """Cut by nobody: the bar breaks into rows."""
        return self.sizeHint()

    def _shown_value(self) -> str:
        metrics = self._look.ui_metrics(bold=True)
        look = self._look
        most = float(look.px(_MOST_VALUE))
        parent = self.parentWidget()
        if parent is not None:
            most = min(most, parent.width() - look.px(2 * _PADDING + 6 + _ARROW + 5) - self._label_width())
        return metrics.elidedText(self._value, Qt.TextElideMode.ElideMiddle, max(look.px(_LEAST_VALUE), round(most)))

    def _label_width(self) -> float:
        return self._look.ui_metrics().horizontalAdvance(self._shown_label)

    def enterEvent(self, event: QEnterEvent) -> None:
        """Light up."""
        self.update()
        super().enterEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw frame, label, value and arrow."""
        look = self._look
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(look.pen("next" if self.hasFocus() else "line"))
        painter.setBrush(look.brush("hover" if self.underMouse() or self.isDown() else "panel"))
        frame = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.drawRoundedRect(frame, look.px(6), look.px(6))
        x = float(look.px(_PADDING))
        if self._shown_label:
            painter.setFont(look.ui_font())
            painter.setPen(look.pen("dim"))
            x = self._write(painter, x, self._shown_label) + (look.px(5) if self._value else 0)
        painter.setFont(look.ui_font(bold=True))
        painter.setPen(look.pen("dim" if self._is_quiet else "ink" if self.isEnabled() else "faint"))
        x = self._write(painter, x, self._shown_value()) + look.px(6)
        if not self.isEnabled():
            return  # there is no menu to point at
        half = look.px(_ARROW) / 2
        middle = self.height() / 2
        painter.setPen(look.pen("dim", 1.4 * look.zoom))
        painter.drawPolyline(
            QPolygonF(
                [QPointF(x, middle - half / 2), QPointF(x + half, middle + half / 2),
                 QPointF(x + 2 * half, middle - half / 2)]
            )
        )  # fmt: skip

    def _write(self, painter: QPainter, x: float, text: str) -> float:
        width = painter.fontMetrics().horizontalAdvance(text)
        box = QRectF(x, 0, width + 2, self.height())
        painter.drawText(box, Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine, text)
        return x + width

    @Slot()
    def _fit_look(self) -> None:
        self.updateGeometry()
        self.update()
