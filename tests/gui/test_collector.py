"""Garbage is collected in the GUI thread alone."""

from __future__ import annotations

import gc
import threading
import weakref

from bpe_viz.gui.collector import Collector


class Cycle:
    def __init__(self) -> None:
        self.itself = self


def test_a_thread_that_allocates_much_collects_nothing_but_the_collector_does(qapp):
    collector = Collector()
    collected_in = []
    cycle = Cycle()
    weakref.finalize(cycle, lambda: collected_in.append(threading.current_thread().name))
    del cycle
    thread = threading.Thread(target=lambda: [Cycle() for _ in range(5_000)], name="a lane")
    thread.start()
    thread.join()
    assert collected_in == []
    assert not gc.isenabled()
    collector.collect()
    assert collected_in == [threading.main_thread().name]
    collector.deleteLater()
