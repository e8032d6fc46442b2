"""Which characters the fonts of this machine can draw."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QFontDatabase, QFontMetricsF

from bpe_viz.gui.glyphs import is_covered


@pytest.mark.parametrize(
    "code", [0x926, 0x964, 0x995, 0xA15, 0xA95, 0xB15, 0xB85, 0xC15, 0xC95, 0xD05, 0xD9A, 0x1780, 0x4E00]
)
def test_a_script_that_no_font_has_is_told_as_qt_tells_it(qapp, code):
    metrics = QFontMetricsF(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
    assert is_covered(chr(code), metrics) == metrics.inFontUcs4(code)
