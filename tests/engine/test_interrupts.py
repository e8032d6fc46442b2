"""Ctrl+C while something is done that it must not cut apart."""

from __future__ import annotations

import signal
import threading

import pytest

from bpe_viz.engine.interrupts import held_back


def test_ctrl_c_waits_until_the_end():
    done = []

    def interrupted() -> None:
        with held_back():
            signal.raise_signal(signal.SIGINT)
            done.append(True)

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert done == [True]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_what_goes_wrong_meanwhile_is_told_first():
    def interrupted() -> None:
        with held_back():
            signal.raise_signal(signal.SIGINT)
            raise ValueError("wrong")

    with pytest.raises(ValueError, match="wrong"):
        interrupted()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_another_handler_is_let_be():
    came = []
    before = signal.signal(signal.SIGINT, lambda number, frame: came.append(number))
    try:
        with held_back():
            signal.raise_signal(signal.SIGINT)
            assert came == [signal.SIGINT]
    finally:
        signal.signal(signal.SIGINT, before)


def test_another_thread_changes_no_handler():
    seen = []

    def work() -> None:
        with held_back():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler]


def test_loading_a_compiled_kernel_is_not_cut_apart(monkeypatch):
    from bpe_viz.engine import numba_cache

    loaded = []

    def rebuild(*arguments: object) -> None:
        signal.raise_signal(signal.SIGINT)
        loaded.append(True)

    class Target:
        def refresh(self) -> None:
            """Do nothing."""

        def codegen(self) -> Target:
            return self

        def magic_tuple(self) -> tuple[str, ...]:
            return ()

    def kernel() -> None:
        """Do nothing."""

    monkeypatch.setattr(numba_cache.CompileResult, "_rebuild", rebuild)
    monkeypatch.setattr(numba_cache, "_unpacked", lambda found: ())
    key = (kernel.__module__, kernel.__qualname__, "signature")
    with pytest.raises(KeyboardInterrupt):
        numba_cache._FunctionCache(kernel, {key: b""}, False).load_overload("signature", Target())
    assert loaded == [True]
