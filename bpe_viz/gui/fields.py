"""Small line edits in the heading of a panel."""

from __future__ import annotations

from PySide6.QtWidgets import QLineEdit

from bpe_viz.gui.tooltips import plain_tooltip

LEAST_FIELD, MOST_FIELD = 64, 176


def show_fault(field: QLineEdit, fault: str | None, help_text: str) -> None:
    """Mark a field whose text cannot be used, and say why in its tooltip; None: it can be used.

    help_text: what the tooltip says otherwise
    """
    field.setToolTip(plain_tooltip(fault or help_text))
    field.setAccessibleDescription(fault or help_text)
    role = "error" if fault else ""
    if field.property("role") != role:
        field.setProperty("role", role)
        # Style sheets look at a property only when they are applied.
        field.style().unpolish(field)
        field.style().polish(field)
