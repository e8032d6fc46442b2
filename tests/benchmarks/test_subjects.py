"""Every subject runs, and gives rows with figures in them."""

from __future__ import annotations

import json
import signal
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from bpe_viz.cli.terminal import INTERRUPTED, STOPPED
from bpe_viz.engine.tokenizer import BYTES, Tokenizer
from bpe_viz.engine.types import CountingOptions
from tests.benchmarks import encoders, entry, growth, large, opening, seeks, sentences, steps, trainers, window
from tests.benchmarks.cl100k import Encoders, tiktoken_encoding
from tests.benchmarks.measuring import RefusedError, UnavailableError
from tests.benchmarks.plan import Plan
from tests.benchmarks.trainers import Peer

RANKS = {token: rank for rank, token in enumerate((*BYTES, b"th", b" th", b"the", b" the", b"lo", b"low", b" \xc3"))}

# Trains with bpe_viz itself, by the rule in its name, and writes what peer_trainers write.
FAKE = """
import json, subprocess, sys
file, vocab_size, *out = sys.argv[1:]
log = file + ".fake"
options = ["--vocab-size", vocab_size, "--pretokenizer", "gpt2", "--rule", {rule!r}, "--log", log]
subprocess.run([sys.executable, "-m", "bpe_viz", "train", file, *options], check=True)
for path in out:
    json.dump([json.loads(line)["token"] for line in open(log)], open(path, "w"))
"""


def fake_peer(name: str, rule: str, module: str = "json") -> Peer:
    """Return a peer that has the rule `rustbpe` if one believes it, and really another."""
    program = (sys.executable, "-c", FAKE.format(rule=rule))
    return Peer(name=name, module=module, rule="rustbpe", documents="file", program=program)


def small_tokenizer() -> Tokenizer:
    return Tokenizer.from_ranks(RANKS, CountingOptions("cl100k"))


def no_gigatoken() -> None:
    raise UnavailableError("not installed")


@pytest.fixture
def small_encoders() -> Encoders:
    pytest.importorskip("tiktoken", reason="tiktoken is not installed (extra test)")
    return Encoders(small_tokenizer, lambda: tiktoken_encoding(small_tokenizer()), no_gigatoken)


def test_a_peer_with_the_same_merges_is_timed(plan: Plan) -> None:
    (row,) = trainers.rows(plan, [fake_peer("twin", "rustbpe")])
    assert not row.is_refused
    assert row.merges == plan.vocab_size - 256
    assert all((row.time_ratio, row.memory_ratio, row.seconds, row.peer_seconds))
    assert [goal.text for goal in row.goals] == ["time at most 0.9", "time at most 0.75"]


def test_a_peer_with_other_merges_is_refused_and_not_timed(plan: Plan) -> None:
    (row,) = trainers.rows(plan, [fake_peer("stranger", "cs336")])
    assert row.is_refused
    assert row.note.startswith("refused: merge ")
    assert row.seconds is None
    assert row.time_ratio is None


def test_a_peer_that_is_not_installed_has_a_row_that_says_so(plan: Plan) -> None:
    (row,) = trainers.rows(plan, [fake_peer("absent", "rustbpe", module="no_such_trainer")])
    assert (row.note, row.is_refused, row.seconds) == ("not installed", False, None)


def test_a_peer_that_fails_is_refused_with_what_it_said(plan: Plan) -> None:
    broken = replace(
        fake_peer("broken", "rustbpe"), program=(sys.executable, "-c", "raise SystemExit('no such thing')")
    )
    (row,) = trainers.rows(plan, [broken])
    assert row.is_refused
    assert row.note.endswith("ended with 1: no such thing")


@pytest.mark.parametrize("peer", trainers.PEERS, ids=lambda peer: peer.name)
def test_every_peer_makes_the_merges_of_its_rule(plan: Plan, peer: Peer) -> None:
    pytest.importorskip(peer.module, reason=f"{peer.module} is not installed (extra bench)")
    (row,) = trainers.rows(plan, [peer])
    assert (row.note, row.is_refused) == ("the fastest of them", False)


def test_a_peer_with_fewer_merges_is_refused() -> None:
    with pytest.raises(RefusedError, match="makes 62 here and nothing there"):
        trainers.check_equal(["61", "62"], ["61"])


def test_encoders_with_the_same_ids_are_timed(plan: Plan, small_encoders: Encoders) -> None:
    text = plan.file.read_text(encoding="utf-8")
    contestants = encoders.contestants(small_encoders, text, plan.kernels)
    rows = encoders.file_rows(contestants, 1, plan.pairs)
    assert [row.note for row in rows] == [""] * 3 + ["not installed"] * 4
    assert all(row.ratio and row.speed and row.peer_speed for row in rows[:3])


def test_an_encoder_with_other_ids_is_refused(plan: Plan, small_encoders: Encoders) -> None:
    text = plan.file.read_text(encoding="utf-8")
    contestants = encoders.contestants(small_encoders, text, plan.kernels)
    contestants[encoders.TIKTOKEN] = contestants[encoders.TIKTOKEN]._replace(
        ids=lambda ids: np.array([*ids[:5], -1, *ids[6:]])
    )
    first, *_ = encoders.file_rows(contestants, 1, plan.pairs)
    assert first.is_refused
    assert first.note == "refused: other ids than those of bpe_viz from token 5 on"
    assert first.ratio is None


def test_documents_are_the_text_and_end_with_lines(plan: Plan) -> None:
    text = plan.file.read_text(encoding="utf-8")
    documents = encoders.cut_into_documents(text, 100)
    assert "".join(documents) == text
    assert len(documents) > 10
    assert all(document.endswith("\n") for document in documents)


def test_sentences_with_the_same_ids_are_timed(plan: Plan, small_encoders: Encoders) -> None:
    rows = sentences.sentence_rows(small_encoders, plan.file.read_text(encoding="utf-8"), plan)
    assert [row.note for row in rows] == ["", "the text is too short", "", ""]
    assert all(row.texts and row.microseconds and row.ratio for row in rows if not row.note)


def test_sentences_with_other_ids_are_refused(plan: Plan, small_encoders: Encoders) -> None:
    other = Tokenizer.from_ranks(
        {token: rank for token, rank in RANKS.items() if token != b"low"}, CountingOptions("cl100k")
    )
    unequal = replace(small_encoders, ours=lambda: other)
    rows = sentences.sentence_rows(unequal, plan.file.read_text(encoding="utf-8"), plan)
    assert rows[0].is_refused
    assert "other ids than those of tiktoken" in rows[0].note
    assert rows[0].ratio is None


def test_without_ranks_the_row_says_what_is_needed(plan: Plan, tmp_path: Path) -> None:
    pytest.importorskip("tiktoken", reason="tiktoken is not installed (extra test)")
    (row,) = encoders.rows(replace(plan, ranks=tmp_path / "absent.tiktoken"))
    assert "--ranks" in row.note
    assert not row.is_refused


def test_seeks_are_timed(plan: Plan) -> None:
    random, farthest, others = seeks.rows(plan)
    assert (random.jumps, farthest.jumps, others.jumps) == (plan.repeats, seeks.FARTHEST_JUMPS, None)
    assert random.median is not None
    assert random.worst is not None
    assert random.median <= random.worst


def test_counts_that_differ_from_a_recount_are_refused(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bpe_viz.engine.timeline.Reader.split", lambda reader, row: (0, 0, 0))
    first, *_ = seeks.rows(plan)
    assert first.is_refused
    assert "not those of a recount" in first.note
    assert first.median is None


def test_steps_are_timed(plan: Plan) -> None:
    sample, frontier, *behind = steps.rows(plan)
    assert (sample.steps, frontier.steps) == (plan.sample_merges, (plan.vocab_size - 256) // 2)
    assert sample.ratio
    assert [goal.text for goal in frontier.goals] == ["median at most 50"]
    assert [row.steps for row in behind] == [plan.repeats] * 2


@pytest.mark.parametrize("subject", [steps, growth])
def test_merges_that_differ_from_a_recount_are_refused(
    plan: Plan, monkeypatch: pytest.MonkeyPatch, subject: ModuleType
) -> None:
    monkeypatch.setattr("bpe_viz.engine.reference.smallest_ids", lambda pair, ids: (-ids[pair[0]], -ids[pair[1]]))
    (row,) = subject.rows(plan)
    assert row.is_refused
    assert "by a recount of everything" in row.note


def test_growth_is_shown_for_every_doubling(plan: Plan) -> None:
    rows = growth.rows(plan)
    assert len(rows) == 5
    assert [len(row.goals) for row in rows] == [0, 1, 1, 1, 1]
    assert all(row.seconds and row.symbols for row in rows)


def test_the_large_text_has_the_merges_of_the_text_and_a_multiple_of_its_counts(plan: Plan) -> None:
    row = large.train_large(plan, plan.folder / "large.txt")
    assert row.what == "trained, 3 times the text"
    assert row.merges == plan.vocab_size - 256


def test_a_large_text_with_other_counts_is_refused(plan: Plan) -> None:
    once, many = plan.folder / "once.jsonl", plan.folder / "many.jsonl"
    once.write_text(json.dumps({"token": "6161", "count": 5}))
    many.write_text(json.dumps({"token": "6161", "count": 14}))
    with pytest.raises(RefusedError, match="3 times"):
        large.check_multiplied(once, many, 3)
    many.write_text(json.dumps({"token": "6161", "count": 15}))
    assert large.check_multiplied(once, many, 3) == 1


def test_the_large_text_is_deleted(plan: Plan) -> None:
    rows = large.rows(replace(plan, large_bytes=10**18))
    assert "no room" in rows[0].note
    assert not (plan.folder / "large.txt").exists()


# Blocked, the signal waits until it is asked for, however soon it comes.
WAITS = """
import os, signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
os.write(2, b"  3%  Training: merge 5\\n")
signal.sigwait([signal.SIGINT])
sys.exit(os.write(2, {said!r}.encode()) and {status})
"""


TELLS = """
import os, signal
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
ignored = signal.getsignal(signal.SIGINT) == signal.SIG_IGN
os.write(2, b"ready, but deaf" if ignored else b"ready")
signal.sigwait([signal.SIGINT])
"""


@pytest.mark.parametrize(("said", "status", "is_met"), [(STOPPED, INTERRUPTED, True), ("Traceback", 1, False)])
def test_what_an_interrupted_process_says_is_checked(said: str, status: int, is_met: bool) -> None:
    row = large.stop_row([sys.executable, "-c", WAITS.format(said=said, status=status)], "Training")
    assert row.goals[1].is_met is is_met
    assert bool(row.note) is not is_met


def test_a_process_is_interrupted_even_if_signals_are_ignored_here() -> None:
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        ended = large.interrupt([sys.executable, "-c", TELLS], "ready")
    finally:
        signal.signal(signal.SIGINT, handler)
    assert ended.said == "ready"


def test_a_process_that_ends_before_it_can_be_interrupted_is_refused() -> None:
    with pytest.raises(RefusedError, match="ended before it said 'Training'"):
        large.interrupt([sys.executable, "-c", "pass"], "Training")


def test_a_large_tokenizer_is_opened_in_the_window(plan: Plan) -> None:
    (row,) = opening.rows(replace(plan, tokens=12_000))
    assert isinstance(row, opening.OpeningRow)
    assert not row.is_refused, row.note
    assert all((row.seconds, row.hold, row.user, row.window_mb, row.reader_mb))
    assert [goal.text for goal in row.goals] == ["at most 3", "hold at most 100"]


def test_a_hold_of_the_window_has_a_goal_and_what_has_none_has_none() -> None:
    assert [goal.is_met for goal in window.row_of("hold, jump", 101).goals] == [False]
    assert [goal.is_met for goal in window.row_of("jump, median", 99).goals] == [True]
    assert window.row_of("jump, worst", 10**6).goals == ()


def test_the_entry_prints_a_table_and_writes_the_rows(
    plan: Plan, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entry, "_plan", lambda chosen, folder: plan)
    out = plan.folder / "out.json"
    assert entry.main([str(plan.file), "--only", "seeks,growth", "--json", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "seeks: " in printed
    assert "growth: " in printed
    written = json.loads(out.read_text())
    assert list(written["subjects"]) == ["seeks", "growth"]
    assert written["machine"]["tiny.txt"] == "0.0 MB"
    assert len(written["subjects"]["growth"]) == 5


def test_the_exit_status_tells_of_unequal_results(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entry, "_plan", lambda chosen, folder: plan)
    monkeypatch.setattr("bpe_viz.engine.timeline.Reader.split", lambda reader, row: (0, 0, 0))
    assert entry.main(["--only", "seeks"]) == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(["--only", "seeks,speeds"], "no subject 'speeds'"), (["absent.txt"], "absent.txt is no file")],
)
def test_what_does_not_exist_is_a_usage_error(
    capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        entry.main(arguments)
    assert ended.value.code == 2
    assert said in capsys.readouterr().err
