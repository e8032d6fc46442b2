"""Runs subjects and prints a table each.

Results are compared first; unequal ones are not timed, are said, and make the exit status 1.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import sys
import tempfile
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from tests.benchmarks.measuring import Row, as_values, table
from tests.benchmarks.plan import Plan, make_text

SUBJECTS = ("trainers", "encoders", "seeks", "steps", "growth", "large", "window", "opening")
"""Modules of this folder with a function `rows`."""

BY_NAME_ONLY = ("large", "window", "opening")
PEERS = ("gigabpe", "gigatoken", "ffbpe", "rustbpe", "bpeasy", "tokenizers", "tiktoken")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is asked for; returns the exit status."""
    chosen = _parser().parse_args(arguments)
    with tempfile.TemporaryDirectory(dir=chosen.temp) as name:
        plan = _plan(chosen, Path(name))
        machine = facts(plan)
        print(", ".join(f"{key} {value}" for key, value in machine.items()), flush=True)
        measured = measure(chosen.only, plan)
    if chosen.json:
        subjects = {subject: as_values(rows) for subject, rows in measured.items()}
        chosen.json.write_text(json.dumps({"machine": machine, "subjects": subjects}, indent=1, ensure_ascii=False))
    return 1 if any(row.is_refused for rows in measured.values() for row in rows) else 0


def measure(subjects: Sequence[str], plan: Plan) -> dict[str, list[Row]]:
    """Measure subject by subject, and print each as soon as it is done."""
    measured = {}
    for subject in subjects:
        module = importlib.import_module(f"tests.benchmarks.{subject}")
        measured[subject] = list(module.rows(plan))
        print(f"\n{subject}: {module.TITLE}\n\n{table(measured[subject])}", flush=True)
    return measured


def facts(plan: Plan) -> dict[str, Any]:
    """Return what the figures hang on: the text, the machine, the versions."""
    versions = {}
    for peer in PEERS:
        try:
            versions[peer] = version(peer)
        except PackageNotFoundError:
            versions[peer] = "absent"
    size = f"{plan.file.stat().st_size / 1e6:.1f} MB"
    return {plan.file.name: size, "processors": os.cpu_count(), "Python": platform.python_version(), **versions}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", nargs="?", type=_file, help="a text in UTF-8; without one a text of 20 MB is made")
    usual = tuple(subject for subject in SUBJECTS if subject not in BY_NAME_ONLY)
    parser.add_argument(
        "--only",
        type=_subjects,
        default=usual,
        metavar="SUBJECTS",
        help=f"of {', '.join(SUBJECTS)}, with commas between; all but {', '.join(BY_NAME_ONLY)} if not given",
    )
    parser.add_argument("--quick", action="store_true", help="a small part only, to see that everything runs")
    parser.add_argument("--ranks", type=_file, help="the file of cl100k_base's ranks, also .gz")
    parser.add_argument("--temp", type=Path, help="the folder for texts that are made")
    parser.add_argument("--json", type=Path, help="write the rows to this file too")
    return parser


def _file(text: str) -> Path:
    path = Path(text)
    if not path.is_file():
        raise argparse.ArgumentTypeError(f"{text} is no file")
    return path.resolve()


def _subjects(text: str) -> tuple[str, ...]:
    names = tuple(text.split(","))
    if unknown := [name for name in names if name not in SUBJECTS]:
        raise argparse.ArgumentTypeError(f"no subject {unknown[0]!r}; there are {', '.join(SUBJECTS)}")
    return names


def _plan(chosen: argparse.Namespace, folder: Path) -> Plan:
    from bpe_viz.engine import compiled

    if not compiled.is_ready():
        print("Compiling the kernels, about half a minute.", file=sys.stderr)
        compiled.fill_cache()
    file = chosen.file or make_text(folder / "made.txt")
    plan = Plan(file=file, folder=folder, kernels=compiled.load(), ranks=chosen.ranks)
    return plan.quick() if chosen.quick else plan
