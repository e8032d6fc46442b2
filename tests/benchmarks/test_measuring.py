"""Figures are medians of pairs, and tables say what is missing and what is not reached."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.benchmarks.measuring import RefusedError, Row, as_values, at_least, at_most, column, compared, run, table
from tests.benchmarks.plan import excerpts, read_beginning, repeat_text


@dataclass(frozen=True, kw_only=True)
class Speed(Row):
    seconds: float | None = column("s", ".1f")


@dataclass(frozen=True, kw_only=True)
class Size(Row):
    n: int | None = column("n", ",")


def test_a_ratio_is_the_median_of_the_pairs_ratios() -> None:
    # The second pair was slowed as a whole.
    assert compared([(1.0, 2.0), (9.0, 3.0), (2.0, 2.0)]) == (2.0, 2.0, 1.0)


def test_a_limit_itself_is_met() -> None:
    assert at_most(0.9, 0.9).is_met
    assert not at_most(0.91, 0.9).is_met
    assert at_least(6, 6).is_met
    assert not at_least(5.9, 6).is_met


def test_a_table_shows_figures_goals_and_reasons() -> None:
    rows = [
        Speed(what="one", seconds=12.34, goals=(at_most(12.34, 10, "time"),)),
        Speed(what="another", note="not installed"),
        Size(what="text", n=1234),
    ]
    assert table(rows).splitlines() == [
        "            s",
        "one      12.3  time at most 10: NO",
        "another        not installed",
        "",
        "          n",
        "text  1,234",
    ]


def test_rows_are_values() -> None:
    (value,) = as_values([Speed(what="one", seconds=2.0, goals=(at_least(2, 1),))])
    goals = [{"text": "at least 1", "is_met": True}]
    assert value == {"what": "one", "goals": goals, "note": "", "is_refused": False, "seconds": 2.0}


def test_a_process_is_measured_whole() -> None:
    used = run([sys.executable, "-c", "x = bytearray(b'1') * (200 << 20)"])
    assert used.seconds > 0
    assert used.mebibytes > 200


def test_a_process_that_fails_is_refused() -> None:
    with pytest.raises(RefusedError, match="ended with 3"):
        run([sys.executable, "-c", "raise SystemExit(3)"])


def test_a_text_is_repeated_whole(tmp_path: Path) -> None:
    file, out = tmp_path / "once.txt", tmp_path / "many.txt"
    file.write_text(" ein Wörtchen \n\n", encoding="utf-8")
    assert repeat_text(file, 30, out) == 3
    assert out.read_text(encoding="utf-8") == "ein Wörtchen\n" * 3


def test_a_beginning_ends_with_a_character(tmp_path: Path) -> None:
    file = tmp_path / "text.txt"
    file.write_text("aäb", encoding="utf-8")
    assert [read_beginning(file, n) for n in range(5)] == ["", "a", "a", "aä", "aäb"]


def test_excerpts_are_different_and_always_the_same() -> None:
    text = "".join(map(chr, range(0x4E00, 0x5200)))
    found = excerpts(text, 40, 10)
    assert len(set(found)) == 40
    assert all(len(one) == 10 and one in text for one in found)
    assert found == excerpts(text, 40, 10)
