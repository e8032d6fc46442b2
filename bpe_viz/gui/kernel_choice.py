"""Which kernels to run: plain for small corpora and until compiled ones are in the cache."""

from __future__ import annotations

import subprocess
import threading
import time

from PySide6.QtCore import QObject

from bpe_viz.engine import compiled
from bpe_viz.engine.compiled import LARGE, PLAIN, SMALL, Kernels
from bpe_viz.engine.corpus import WORTH_COMPILING, WORTH_SCANNING
from bpe_viz.engine.types import Progress, StopRequested
from bpe_viz.errors import Stopped
from bpe_viz.gui.jobs import Job

_SECONDS_BETWEEN_LOOKS = 0.03
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
        """Return the kernels to train with. Runs in a lane; may wait for the compilation, with progress.

        Raises Stopped: going on with plain kernels would hold the lane for as long as the corpus is large.
        """
        return self._choose(n_cells > SMALL, n_cells > LARGE, job.report, job.should_stop)

    def for_bytes(self, n_bytes: int, progress: Progress, should_stop: StopRequested) -> Kernels:
        """Return the kernels to count with, as for_size does; n_bytes: how much they would scan."""
        return self._choose(n_bytes >= WORTH_SCANNING, n_bytes >= WORTH_COMPILING, progress, should_stop)

    def _choose(self, is_worth_it: bool, may_wait: bool, progress: Progress, should_stop: StopRequested) -> Kernels:
        if not is_worth_it:
            return PLAIN
        if self._loaded is None:
            self.prepare()
            if may_wait:
                self._wait(progress, should_stop)
            # If nothing can be kept, compiling in this process jerks the window, but plain kernels take far longer.
            if may_wait or compiled.is_ready():
                self._loaded = compiled.load(may_fill=False)
        return self._loaded or PLAIN

    def at_hand(self, n_cells: int) -> Kernels:
        """Return the compiled kernels if they are loaded already and worth it."""
        return self._loaded if self._loaded is not None and n_cells > SMALL else PLAIN

    def close(self) -> None:
        """Leave a compilation that still runs: it ends by itself and serves the next start."""
        self._compiling = None

    def _wait(self, progress: Progress, should_stop: StopRequested) -> None:
        waited = 0.0
        while self._compiling is not None and self._compiling.poll() is None:
            share = min(0.99, waited / _SECONDS_TO_COMPILE)
            progress(share, "Compiling the kernels (only on the first run)")
            time.sleep(_SECONDS_BETWEEN_LOOKS)
            if should_stop():
                raise Stopped
            waited += _SECONDS_BETWEEN_LOOKS
