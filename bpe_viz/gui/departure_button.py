"""How many entries of a replayed list depart from what training would have done, and the way to the next of them."""

from __future__ import annotations

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QIcon, QPainter, QPixmap
from PySide6.QtWidgets import QApplication

from bpe_viz.gui.fork_mark import HEIGHT, WIDTH, paint_fork
from bpe_viz.gui.look import Look
from bpe_viz.gui.shrinking_button import ShrinkingButton
from bpe_viz.gui.workspace import Workspace


class DepartureButton(ShrinkingButton):
    """Goes to the next such entry, with Shift to the one before; there only where some depart."""

    def __init__(self, workspace: Workspace, look: Look) -> None:
        super().__init__()
        self._workspace = workspace
        self._look = look
        self.setProperty("role", "flat")
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.setToolTip(
            "Entries where training on this text would have merged another pair, marked by a fork\n"
            "Click, or D: the next one. Shift+click, or Shift+D: the one before"
        )
        self.clicked.connect(self._go)
        workspace.timeline_changed.connect(self.follow)
        workspace.frontier_changed.connect(self.follow)
        look.changed.connect(self._draw_icon)
        self._draw_icon()
        self.follow()

    @Slot()
    def follow(self, _: object = None) -> None:
        """Count them anew: more are known while the replay goes on."""
        workspace = self._workspace
        is_replay = workspace.tokenizer is not None and workspace.corpus is not None
        n = int(workspace.merges.departs().sum()) if is_replay and workspace.merges is not None else 0
        self.setVisible(n > 0)
        self.show_text(f"{n:,}")
        self.setAccessibleName(f"{n:,} entries depart from training: next one")

    @Slot()
    def _go(self) -> None:
        is_back = bool(QApplication.keyboardModifiers() & Qt.KeyboardModifier.ShiftModifier)
        self._workspace.step_to_departing(not is_back)

    @Slot()
    def _draw_icon(self) -> None:
        look, pixels = self._look, self.devicePixelRatioF()
        width, height = look.px(WIDTH + 2), look.px(HEIGHT + 1)
        pixmap = QPixmap(round(width * pixels), round(height * pixels))
        pixmap.setDevicePixelRatio(pixels)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        paint_fork(painter, look, 1, height / 2, "dim")
        painter.end()
        self.setIcon(QIcon(pixmap))
        self.setIconSize(pixmap.deviceIndependentSize().toSize())
