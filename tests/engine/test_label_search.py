"""Which symbols hold some bytes."""

from __future__ import annotations

import random

import numpy as np
import pytest

from bpe_viz.engine.corpus import worked_example
from bpe_viz.engine.label_search import parse_wanted, symbols_holding
from bpe_viz.engine.symbols import SymbolTable, symbolize
from bpe_viz.engine.trainer import Trainer
from bpe_viz.engine.types import TrainingOptions


@pytest.mark.parametrize(
    ("typed", "wanted"),
    [("est", b"est"), ("0x6573", b"es"), ("0xE5", b"\xe5"), ("0x", b"0x"), ("0x657", b"0x657"), ("é", b"\xc3\xa9")],
)
def test_hex_is_bytes_and_all_else_is_text(typed: str, wanted: bytes) -> None:
    assert parse_wanted(typed) == wanted


def test_symbols_of_the_worked_example_are_found_in_order() -> None:
    trainer = Trainer(worked_example().pretokens, TrainingOptions(base="characters", merges=7))
    trainer.train_to(7)
    symbols = trainer.timeline.symbols

    def found(wanted: bytes, first: int = 0) -> list[int]:
        return symbols_holding(symbols, wanted, first, len(symbols)).tolist()

    assert found(b"est") == [11, 15, 16]
    assert found(b"low", 10) == [13]
    assert found(b"newests") == []


def test_search_agrees_with_a_plain_one_on_random_labels() -> None:
    rng = random.Random(1)
    labels = [bytes(rng.choices(b"ab", k=rng.randint(1, 9))) for _ in range(500)]
    text = np.frombuffer(b"".join(labels), dtype=np.uint8)
    base = symbolize(worked_example().pretokens, TrainingOptions()).vocabulary
    symbols = SymbolTable(base, text, np.cumsum([0, *map(len, labels)]), np.zeros(500, dtype=np.uint8), 500)
    for wanted in (b"a", b"ab", b"aabb", b"bbbbbbbbb", b"ababababab"):
        for first, end in ((0, 500), (13, 14), (100, 400), (500, 500)):
            plain = [symbol for symbol in range(first, end) if wanted in labels[symbol]]
            assert symbols_holding(symbols, wanted, first, end).tolist() == plain
