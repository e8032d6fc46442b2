"""The badge that says whether a tokenizer's own library gives the same ids."""

from __future__ import annotations

from PySide6.QtCore import Signal, Slot

from bpe_viz.gui.fidelity import Fidelity, FidelityCheck, Kind
from bpe_viz.gui.look import Look
from bpe_viz.gui.shrinking_button import ShrinkingButton
from bpe_viz.gui.theme import Role
from bpe_viz.gui.tooltips import plain_tooltip

_SIGNS: dict[Kind, str] = {"asking": "", "same": "✓ ", "renumbered": "✓ ", "different": "≠ ", "unknown": "? "}
_INKS: dict[Kind, Role] = {
    "asking": "dim", "same": "dim", "renumbered": "dim", "different": "error", "unknown": "dim"
}  # fmt: skip


class FidelityBadge(ShrinkingButton):
    """A few words with a sign; a click goes to the first difference.

    place_wanted: the code point at which it is
    """

    place_wanted = Signal(object)

    def __init__(self, check: FidelityCheck, look: Look) -> None:
        super().__init__()
        self._look = look
        self._fidelity: Fidelity | None = None
        self._is_allowed = True
        self._is_at_end = True
        self.setProperty("role", "flat")
        self.clicked.connect(self._go)
        check.changed.connect(self.show_fidelity)
        look.changed.connect(self._fit_look)
        self.show_fidelity(check.fidelity)

    def allow(self, is_allowed: bool) -> None:
        """Stand there at all, or not while ids are decoded."""
        self._is_allowed = is_allowed
        self.show_fidelity(self._fidelity)

    def show_position(self, is_at_end: bool) -> None:
        """Say of what it speaks: the library knows all merges, and the text may be shown as it is before."""
        if is_at_end != self._is_at_end:
            self._is_at_end = is_at_end
            self.show_fidelity(self._fidelity)

    @Slot(object)
    def show_fidelity(self, fidelity: Fidelity | None) -> None:
        """Say it; None: nothing is to be compared."""
        self._fidelity = fidelity
        self.setVisible(fidelity is not None and self._is_allowed)
        if fidelity is None:
            return
        is_said = fidelity.kind in ("same", "renumbered", "different")
        said = fidelity.text
        if is_said and not self._is_at_end:
            said = f"at the end {said}"
        self.show_text(_SIGNS[fidelity.kind] + said)
        meaning = f"With all merges applied: {fidelity.meaning}" if is_said else fidelity.meaning
        self.setToolTip(plain_tooltip(meaning))
        self.setAccessibleName(said)
        self.setAccessibleDescription(meaning)
        self._fit_look()

    @Slot()
    def _fit_look(self) -> None:
        if self._fidelity is not None:
            self.setStyleSheet(f"QToolButton {{ color: {self._look.colour(_INKS[self._fidelity.kind]).name()}; }}")

    @Slot()
    def _go(self) -> None:
        if self._fidelity is not None and self._fidelity.place is not None:
            self.place_wanted.emit(self._fidelity.place)
