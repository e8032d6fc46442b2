"""Trains side by side with the peers, as whole processes in pairs, and prints ratios.

    python -m tests.benchmarks.trainers FILE [--vocab-size N] [--pairs N] [--json OUT]

Before anything is timed, the merges are compared with the peer's of the same tie rule. A peer that is not installed
(extra `bench`; gigabpe where its wheel exists) has a row that says so.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PATTERN = r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""


@dataclass(frozen=True)
class Peer:
    """One other trainer.

    program: trains sys.argv[1] to sys.argv[2] tokens and writes the bytes of each merge's token, as a JSON list of
        hex, into sys.argv[3] if that is given
    rule, documents: what bpe_viz needs to give the same merges
    """

    name: str
    module: str
    rule: str
    documents: str
    program: str


_LETTERS = """
letters = [*range(33, 127), *range(161, 173), *range(174, 256)]
rest = [byte for byte in range(256) if byte not in letters]
byte_of = {chr(byte): byte for byte in letters} | {chr(256 + i): byte for i, byte in enumerate(rest)}
def write(merges):
    if len(sys.argv) > 3:
        made = [bytes(byte_of[letter] for letter in a + b).hex() for a, b in merges]
        json.dump(made, open(sys.argv[3], "w"))
"""

PEERS = (
    Peer(
        "gigabpe",
        "gigabpe",
        "huggingface",
        "line",
        "import gigabpe, json, sys\n"
        + _LETTERS
        + "_, merges = gigabpe.train_bpe([sys.argv[1]], int(sys.argv[2]), pretokenizer='bytelevel')\nwrite(merges)\n",
    ),
    Peer(
        "tokenizers",
        "tokenizers",
        "huggingface",
        "line",
        "import json, sys\nfrom tokenizers import Tokenizer, models, pre_tokenizers, trainers\n"
        + _LETTERS
        + "tokenizer = Tokenizer(models.BPE())\n"
        "tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)\n"
        "alphabet = pre_tokenizers.ByteLevel.alphabet()\n"
        "trainer = trainers.BpeTrainer(vocab_size=int(sys.argv[2]), initial_alphabet=alphabet, show_progress=False)\n"
        "tokenizer.train([sys.argv[1]], trainer)\n"
        "merges = json.loads(tokenizer.to_str())['model']['merges']\n"
        "write(merge if isinstance(merge, list) else merge.split(' ') for merge in merges)\n",
    ),
    Peer(
        "rustbpe",
        "rustbpe",
        "rustbpe",
        "file",
        "import json, rustbpe, sys\n"
        "text = open(sys.argv[1], encoding='utf-8', newline='').read()\n"
        "tokenizer = rustbpe.Tokenizer()\n"
        f"tokenizer.train_from_iterator(iter([text]), int(sys.argv[2]), pattern={PATTERN!r})\n"
        "if len(sys.argv) > 3:\n"
        "    ranks = sorted(tokenizer.get_mergeable_ranks(), key=lambda entry: entry[1])\n"
        "    json.dump([bytes(token).hex() for token, _ in ranks[256:]], open(sys.argv[3], 'w'))\n",
    ),
)


def ours(file: Path, vocab_size: int, peer: Peer, log: Path) -> list[str]:
    """Return the command that trains as the peer does."""
    options = ["--vocab-size", str(vocab_size), "--pretokenizer", "gpt2", "--rule", peer.rule]
    return [sys.executable, "-m", "bpe_viz", "train", str(file), *options, "--documents", peer.documents,
            "--log", str(log)]  # fmt: skip


def run(command: list[str]) -> tuple[float, float]:
    """Return the wall seconds and the peak memory in MiB of a whole process."""
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(command[:4])} ... ended with {process.returncode}")
    return time.perf_counter() - began, used.ru_maxrss / 1024


def compare(peer: Peer, file: Path, vocab_size: int, pairs: int, folder: Path) -> dict[str, Any]:
    """Check that both make the same tokens in the same order, then time them in turn."""
    if importlib.util.find_spec(peer.module) is None:
        return {"peer": peer.name, "note": "not installed"}
    log, made = folder / "log.jsonl", folder / "made.json"
    mine = ours(file, vocab_size, peer, log)
    theirs = [sys.executable, "-c", peer.program, str(file), str(vocab_size)]
    run(mine)
    run([*theirs, str(made)])
    tokens = [json.loads(line)["token"] for line in log.read_text().splitlines()]
    # A peer that leaves bytes out of its alphabet that do not occur makes as many merges more.
    if not tokens or tokens != json.loads(made.read_text())[: len(tokens)]:
        raise SystemExit(f"the merges differ from those of {peer.name}")
    taken = [(run(mine), run(theirs)) for _ in range(pairs)]
    return {
        "peer": peer.name,
        "merges": len(tokens),
        "seconds": statistics.median(a[0] for a, _ in taken),
        "peer seconds": statistics.median(b[0] for _, b in taken),
        "time ratio": statistics.median(a[0] / b[0] for a, b in taken),
        "memory ratio": statistics.median(a[1] / b[1] for a, b in taken),
    }


def main(arguments: list[str] | None = None) -> None:
    """Compare with every peer and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--vocab-size", type=int, default=32_000)
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--json", type=Path)
    chosen: Any = parser.parse_args(arguments)
    rows = []
    print(f"{chosen.file.name}: {chosen.file.stat().st_size / 1e6:.1f} MB, {chosen.vocab_size:,} tokens")
    print(f"{'peer':12} {'bpe_viz s':>10} {'peer s':>10} {'time':>7} {'memory':>7}")
    with tempfile.TemporaryDirectory() as name:
        for peer in PEERS:
            row = compare(peer, chosen.file, chosen.vocab_size, chosen.pairs, Path(name))
            rows.append(row)
            if "note" in row:
                print(f"{row['peer']:12} {row['note']}")
            else:
                print(
                    f"{row['peer']:12} {row['seconds']:10.2f} {row['peer seconds']:10.2f} "
                    f"{row['time ratio']:7.2f} {row['memory ratio']:7.2f}"
                )
    if chosen.json:
        chosen.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
