"""Which kernels to run: plain for small corpora and until compiled ones are in the cache."""

from __future__ import annotations

import subprocess
import threading

from PySide6.QtCore import QObject

from bpe_viz.engine import compiled
from bpe_viz.engine.compiled import LARGE, PLAIN, SMALL, Kernels
from bpe_viz.errors import Stopped
from bpe_viz.gui.jobs import Job

_SECONDS_TO_COMPILE = 40  # what progress is shown against, once in the life of an installation


class KernelChoice(QObject):
    """Chooses kernels by the size of the corpus, and has missing ones compiled in another process."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._lock = threading.Lock()
        self._compiling: subprocess.Popen[bytes] | None = None
        self._loaded: Kernels | None = None

    def prepare(self) -> None:
        """Start compiling in another process unless that was done before."""
        with self._lock:
            if self._compiling is None and not compiled.is_ready():
                self._compiling = compiled.start_filling_cache()

    def for_size(self, n_cells: int, job: Job) -> Kernels:
        """Return the kernels to use. Runs in a lane; may wait for the compilation, with progress.

        Raises Stopped: going on with plain kernels would hold the lane for as long as the corpus is large.
        """
        if n_cells <= SMALL:
            return PLAIN
        if self._loaded is None:
            self.prepare()
            if n_cells > LARGE:
                self._wait(job)
            if compiled.is_ready():
                self._loaded = compiled.load()
        return self._loaded or PLAIN

    def at_hand(self, n_cells: int) -> Kernels:
        """Return the compiled kernels if they are loaded already and worth it."""
        return self._loaded if self._loaded is not None and n_cells > SMALL else PLAIN

    def close(self) -> None:
        """Leave a compilation that still runs: it ends by itself and serves the next start."""
        self._compiling = None

    def _wait(self, job: Job) -> None:
        waited = 0.0
        while self._compiling is not None and self._compiling.poll() is None:
            share = min(0.99, waited / _SECONDS_TO_COMPILE)
            job.report(share, "Compiling the trainer (only on the first run)")
            if job.wait(0.1):
                raise Stopped
            waited += 0.1
