"""The narration: one sentence that says what this merge is and why it won."""

from __future__ import annotations

from PySide6.QtCore import Slot

from bpe_viz.engine.narration import Words
from bpe_viz.engine.types import Frame
from bpe_viz.gui.look import Look
from bpe_viz.gui.panel import Panel, PanelSpec
from bpe_viz.gui.sentence_view import SentenceView
from bpe_viz.gui.workspace import Workspace

TITLE = "Narration"
HINT = Words("  Press Right for the next merge.", "quiet")


class NarrationPanel(Panel):
    """Shows the sentence on the frame, and how to start until somebody has."""

    has_heading = False

    def __init__(self, workspace: Workspace, look: Look) -> None:
        super().__init__(workspace, look, TITLE)
        self.view = SentenceView(look)
        self.set_body(self.view)
        self._has_stepped = False
        workspace.timeline_changed.connect(self.view.forget_lines)
        workspace.frame_changed.connect(self.show_frame)
        if workspace.frame is not None:
            self.show_frame(workspace.frame)

    @property
    def text(self) -> str:
        """What is shown, as plain text."""
        return self.view.text

    @Slot(object)
    def show_frame(self, frame: Frame) -> None:
        """Say what this frame is."""
        self._has_stepped = self._has_stepped or frame.position > 0
        shown = self.workspace.shown
        pieces = () if shown is None else shown.narrate(frame)
        is_hint_due = not self._has_stepped and frame.next is not None
        self.view.show_sentence((*pieces, HINT) if is_hint_due else pieces, frame.symbols)


PANEL = PanelSpec("narration", TITLE, NarrationPanel, "bottom", 1, 0)
