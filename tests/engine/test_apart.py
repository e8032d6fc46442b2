"""Work in a process of its own."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import time

import pytest

from bpe_viz.engine.apart import run_apart
from bpe_viz.engine.packing import ENTRIES_A_PIECE, pack, unpack
from bpe_viz.errors import FormatError, Stopped


def add(a: int, b: int) -> tuple[int, int]:
    """Return the sum, and which process made it."""
    print("what a library prints is no part of the answer")
    return a + b, os.getpid()


def refuse() -> None:
    """Raise what a user can put right."""
    raise FormatError("It is broken.", "Mend it.")


def fail() -> None:
    """Raise what only a bug raises."""
    raise ZeroDivisionError("a bug")


def die() -> None:
    """End without an answer."""
    os._exit(7)


def last_long() -> None:
    """Go on for longer than anybody waits."""
    time.sleep(600)


def test_the_answer_comes_from_another_process():
    total, process = run_apart(add, (2, 3), "Adding", 1.0)
    assert total == 5
    assert process != os.getpid()


def length(content: bytes) -> int:
    """Return how long it is."""
    return len(content)


def test_more_than_a_pipe_holds_is_sent():
    assert run_apart(length, (b"x" * 3_000_000,), "Sending", 1.0) == 3_000_000


def test_what_is_refused_is_raised_here_with_its_remedy():
    with pytest.raises(FormatError) as raised:
        run_apart(refuse, (), "Refusing", 1.0)
    assert str(raised.value) == "It is broken. Mend it."


def test_a_bug_is_raised_with_its_traceback():
    with pytest.raises(RuntimeError, match="ZeroDivisionError: a bug"):
        run_apart(fail, (), "Failing", 1.0)


def test_a_process_that_dies_is_named():
    with pytest.raises(RuntimeError, match="'Dying' ended with status 7"):
        run_apart(die, (), "Dying", 1.0)


def test_it_is_stopped_and_tells_how_far_it_is():
    seen = []

    def report(fraction: float, text: str) -> None:
        seen.append((fraction, text))

    with pytest.raises(Stopped):
        run_apart(last_long, (), "Waiting", 0.1, report, lambda: len(seen) > 2)
    assert all(text == "Waiting" for _, text in seen)
    assert [fraction for fraction, _ in seen] == sorted(fraction for fraction, _ in seen)
    assert seen[-1][0] < 1


@pytest.mark.parametrize("size", [0, 1, ENTRIES_A_PIECE, 2 * ENTRIES_A_PIECE + 1])
def test_tables_are_packed_in_pieces(size):
    table = {str(number): number for number in range(size)}
    pieces = pack(table)
    assert len(pieces) == -(-size // ENTRIES_A_PIECE)
    assert all(len(pickle.loads(piece)) <= ENTRIES_A_PIECE for piece in pieces)
    assert dict(entry for piece in unpack(pieces) for entry in piece) == table
    assert [value for piece in unpack(pack(list(table))) for value in piece] == list(table)


def interrupt() -> str:
    """Send what Ctrl+C sends to this process as well."""
    os.kill(os.getpid(), signal.SIGINT)
    return "done"


@pytest.mark.skipif(sys.platform == "win32", reason="a process gets no SIGINT there")
def test_ctrl_c_is_left_to_the_process_that_asks():
    assert run_apart(interrupt, (), "Going on", 1.0) == "done"


def test_what_is_raised_while_it_is_waited_for_ends_it(tmp_path):
    number = tmp_path / "number"

    def give_up(fraction: float, text: str) -> None:
        if number.exists():
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_apart(tell_and_last, (str(number),), "Lasting", 1.0, give_up)
    with pytest.raises(ProcessLookupError):
        os.kill(int(number.read_text()), 0)


def tell_and_last(path: str) -> None:
    """Write which process this is, and go on for longer than anybody waits."""
    with open(f"{path}.part", "w") as file:
        file.write(str(os.getpid()))
    os.rename(f"{path}.part", path)
    time.sleep(600)
