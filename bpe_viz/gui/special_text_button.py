"""Chooses what the text of a special token becomes: the token, plain text, or an error."""

from __future__ import annotations

from PySide6.QtGui import QActionGroup
from PySide6.QtWidgets import QMenu, QToolButton

from bpe_viz.engine.tokenizer import SpecialText
from bpe_viz.gui.shrinking_button import ShrinkingButton
from bpe_viz.gui.workspace import Workspace

_CHOICES: dict[SpecialText, tuple[str, str]] = {
    "allow": ("specials allowed", "Special tokens in the text become their tokens, the longest match first"),
    "text": ("specials as text", "Special tokens in the text are plain text, and split like any other"),
    "error": ("specials refused", "A text that holds a special token is not encoded"),
}
_MOST_NAMED = 12


class SpecialTextButton(ShrinkingButton):
    """There only where the tokenizer has special tokens."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self._workspace = workspace
        self._is_allowed = True
        menu = QMenu(self)
        group = QActionGroup(menu)
        self._actions = {}
        for choice, (_, meaning) in _CHOICES.items():
            action = menu.addAction(meaning)
            action.setCheckable(True)
            action.triggered.connect(lambda _=False, choice=choice: workspace.encoder.treat_special_text(choice))
            group.addAction(action)
            self._actions[choice] = action
        self.setMenu(menu)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setProperty("role", "flat")
        workspace.encoder.special_text_changed.connect(self.follow)
        workspace.encoder.encoding_changed.connect(self.follow)
        workspace.encoder.refused.connect(self.follow)
        workspace.timeline_changed.connect(self.follow)
        self.follow()

    def allow(self, is_allowed: bool) -> None:
        """Stand there at all, or not while ids are decoded."""
        self._is_allowed = is_allowed
        self.follow()

    def follow(self, _: object = None) -> None:
        """Show what was chosen, and which special tokens there are."""
        chosen, special = self._workspace.encoder.special_text, self._special_tokens()
        text, meaning = _CHOICES[chosen]
        self.show_text(text)
        self._actions[chosen].setChecked(True)
        some = ", ".join(special[:_MOST_NAMED]) + (", …" if len(special) > _MOST_NAMED else "")
        self.setToolTip(f"{meaning}.\n{len(special):,}: {some}")
        self.setAccessibleName(f"Special tokens: {meaning}")
        self.setVisible(self._is_allowed and bool(special))

    def _special_tokens(self) -> list[str]:
        shown = self._workspace.shown
        if shown is None:
            return []
        if shown.tokenizer is not None:
            return list(shown.tokenizer.special_ids)
        return list(shown.options.counting.special_tokens)
