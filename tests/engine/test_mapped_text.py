"""A file that is read through a map of it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from bpe_viz.engine import mapped_text, scanning
from bpe_viz.engine.compiled import PLAIN
from bpe_viz.engine.documents import TextSource
from bpe_viz.engine.mapped_text import MappedText, map_text, safe_pieces
from bpe_viz.engine.scanning import Piece, PretokenTable, rule_for
from bpe_viz.engine.types import CountingOptions
from bpe_viz.errors import CorpusError

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps a mapped file from being cut short")

RULE = rule_for(CountingOptions())


@pytest.fixture
def path(tmp_path) -> Path:
    """A file of several pages, in pieces of one."""
    path = tmp_path / "log.txt"
    path.write_bytes(b"low lower\n" * 10_000)
    return path


def mapped(path: Path) -> MappedText:
    found = map_text(TextSource(path, path.name, path.stat().st_size))
    assert found is not None
    return found


def test_a_file_that_is_cut_short_between_two_pieces_is_told(path, monkeypatch):
    monkeypatch.setattr(mapped_text, "BLOCK_BYTES", 8192)
    text = mapped(path)
    assert RULE is not None
    pieces = safe_pieces(text.data, RULE, PLAIN, text.check)
    next(pieces)
    os.truncate(path, 9000)
    with pytest.raises(CorpusError, match=r"log\.txt was cut short .*100,000 bytes 9,000 are left") as raised:
        next(pieces)
    assert "Read it again" in raised.value.remedy


def test_a_file_that_is_cut_short_before_a_piece_is_counted_is_told(path):
    text = mapped(path)
    assert RULE is not None
    os.truncate(path, 0)
    table = PretokenTable(PLAIN, scanning.FIRST_PRETOKENS)
    with pytest.raises(CorpusError, match="cut short"):
        table.count(RULE, Piece(text.data, 0, len(text.data), 0, text), lambda: None)


def test_a_file_that_grows_is_read_as_it_was(path):
    text = mapped(path)
    with path.open("ab") as file:
        file.write(b"more")
    text.check(len(text.data))
    assert len(text.data) == 100_000
