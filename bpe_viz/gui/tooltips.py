"""Tooltips that say exactly what they are given: the text of a token is never markup."""

from __future__ import annotations

from html import escape

from PySide6.QtGui import QFontMetricsF
from PySide6.QtWidgets import QToolTip

from bpe_viz.gui.glyphs import drawable_text


def plain_tooltip(text: str) -> str:
    """Return a text such that Qt shows it as it is; Qt would take one with <b> or &lt; in it for HTML."""
    text = drawable_text(text, QFontMetricsF(QToolTip.font()))
    lines = "<br>".join(escape(line) for line in text.split("\n"))
    return f"<qt><p style='white-space: pre'>{lines}</p></qt>" if text else ""
