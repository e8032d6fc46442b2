"""The two ways to run the kernels: as plain Python at once, or compiled by Numba when that is ready.

Numba's own cache does not see a changed callee in another file and would run the old code, so the cache folder is
named by a hash of the kernels' source, Numba's version and the processor; the first run ever fills it in a process
of its own, since compiling in a thread would hold the window for up to 0.2 s at a time.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import platform
import subprocess
import sys
import threading
from importlib.metadata import version
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, NamedTuple, TypeVar

from bpe_viz.engine import kernels
from bpe_viz.engine.kernel_cache import use_cache_folder, writable_cache_folder

_TWINS = "bpe_viz.engine._compiled"

SMALL = 100_000
"""Up to so many cells plain kernels are done before Numba is imported."""

LARGE = 1_000_000
"""From so many cells on it is quicker to wait until the kernels are compiled, half a minute once."""

_READY = "ready"
_Arrays = TypeVar("_Arrays", bound=NamedTuple)


class Kernels:
    """One way to run the kernels."""

    def __init__(self, compiled: bool) -> None:
        self.compiled = compiled
        self._twins: dict[str, ModuleType] = {}

    def of(self, plain: ModuleType) -> Any:
        """Return the functions of a kernel module, in this way; plain: engine.kernels or engine.kernels_*."""
        if not self.compiled:
            return plain
        if plain.__name__ not in self._twins:
            self._twins[plain.__name__] = _compiled_twin(plain, self)
        return self._twins[plain.__name__]

    @property
    def module(self) -> Any:
        """The kernels of training and seeking."""
        return self.of(kernels)

    def view(self, arrays: Any) -> Any:
        """Return the arrays, nested tuples of them included, in the form that these kernels run fastest on.

        Plain Python indexes a memoryview of an array twice as fast as the array, and gets Python integers
        from it. Both forms share the same memory.
        """
        if self.compiled:
            return arrays
        if isinstance(arrays, tuple):
            views = (self.view(array) for array in arrays)
            return type(arrays)(*views) if hasattr(arrays, "_fields") else tuple(views)
        return memoryview(arrays)


PLAIN = Kernels(compiled=False)


def cache_folder() -> Path:
    """Return the user's folder for compiled kernels of exactly this source, Numba and processor."""
    sources = [Path(__file__), *sorted(Path(kernels.__file__).parent.glob("kernels*.py"))]
    source = b"".join(path.read_bytes() for path in sources)
    machine = f"{version('numba')} {sys.version_info[:2]} {platform.machine()} {platform.processor()} {_cpu_flags()}"
    digest = hashlib.sha256(source + machine.encode()).hexdigest()[:16]
    return writable_cache_folder(_user_cache() / "bpe-viz", Path(kernels.__file__), digest)


def _user_cache() -> Path:
    if configured := os.environ.get("BPE_VIZ_CACHE"):
        return Path(configured)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", str(Path.home() / "AppData" / "Local")))
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def _cpu_flags() -> str:
    """Return what tells this processor from a lesser one that shares the same home folder."""
    cpuinfo = Path("/proc/cpuinfo")
    if not cpuinfo.exists():
        return ""
    return next((line for line in cpuinfo.read_text(errors="replace").splitlines() if line.startswith("flags")), "")


def is_ready() -> bool:
    """Tell whether the compiled kernels are in the cache, so that loading them takes a moment only."""
    return (cache_folder() / _READY).exists()


_lock = threading.Lock()
_loaded: Kernels | None = None


def load() -> Kernels:
    """Return the compiled kernels; each compiles at its first call unless it is in the cache.

    Takes about half a second (importing Numba) the first time in a process.
    """
    global _loaded
    with _lock:
        if _loaded is None:
            import numba

            _leave_extensions_out()
            folder = cache_folder()
            use_cache_folder(folder)
            numba.config.CACHE_DIR = str(folder)  # type: ignore[attr-defined]  # made at run time
            _loaded = Kernels(compiled=True)
        return _loaded


def _leave_extensions_out() -> None:
    """Keep Numba from importing, before it runs anything, whatever other installed packages register with it.

    Flat arrays need none of it, and it may be large: one array library alone took 0.3 s and 30 MB.
    """
    from numba.core import entrypoints

    entrypoints._already_initialized = True  # there is no public way


def _compiled_twin(plain: ModuleType, kernel_set: Kernels) -> ModuleType:
    """Load a kernel module a second time and compile every function in it, imported kernels included."""
    import numba

    name = f"{_TWINS}.{plain.__name__.rpartition('.')[2]}"
    spec = importlib.util.spec_from_file_location(name, plain.__file__)
    if spec is None or spec.loader is None:
        raise ImportError(f"{plain.__file__} cannot be loaded a second time")
    twin = importlib.util.module_from_spec(spec)
    sys.modules[name] = twin  # Numba's cache finds a function's globals by the name of its module
    spec.loader.exec_module(twin)
    # No kernel makes an array, so none needs reference counts; without them scanning takes two thirds of the time.
    compile_one = numba.njit(nogil=True, cache=True, _nrt=False)  # type: ignore[call-overload]  # not in its stubs
    for known_as, function in list(vars(twin).items()):
        if not isinstance(function, FunctionType):
            continue
        if function.__module__ == name:
            setattr(twin, known_as, compile_one(function))
        elif function.__module__.startswith(kernels.__name__):
            setattr(twin, known_as, getattr(kernel_set.of(sys.modules[function.__module__]), function.__name__))
    return twin


def fill_cache() -> None:
    """Compile every kernel that is called anywhere, for the very types they are called with."""
    from bpe_viz.engine.boundaries import LONG, BoundaryRanks
    from bpe_viz.engine.corpus import worked_example
    from bpe_viz.engine.encoder import Encoder
    from bpe_viz.engine.merge_ranks import MergeRanks
    from bpe_viz.engine.replay import Replayer
    from bpe_viz.engine.scanning import call_every_kernel
    from bpe_viz.engine.timeline import Reader
    from bpe_viz.engine.tokenizer import BYTES, Tokenizer
    from bpe_viz.engine.trainer import Trainer
    from bpe_viz.engine.types import CountingOptions, TrainingOptions

    compiled = load()
    trainer = Trainer(worked_example().pretokens, TrainingOptions(base="characters"), kernel_set=compiled)
    trainer.step()
    trainer.train_to()
    reader = Reader(trainer.timeline, kernel_set=compiled)
    BoundaryRanks(trainer.timeline.base, MergeRanks(0, [(0, 0)]), compiled).of(b"a" * (LONG + 1), 1)
    for position in (trainer.frontier, 0, 1):
        reader.frame(position, top=3)
    call_every_kernel(compiled)
    tokenizer = Tokenizer.from_timeline(trainer.timeline, CountingOptions())
    replayer = Replayer(worked_example().pretokens, tokenizer, TrainingOptions(), compiled)
    replayer.train_to()
    replayer.timeline.reader(compiled).frame(1, top=3)
    ranks = {content: rank for rank, content in enumerate((*BYTES, b"aa"))}
    Encoder(Tokenizer.from_ranks(ranks, CountingOptions()), compiled).encode_bytes(b"a" * 100)
    (cache_folder() / _READY).touch()


def start_filling_cache() -> subprocess.Popen[bytes]:
    """Fill the cache in another process, at low priority; is_ready() tells when it is done."""
    command = [sys.executable, "-c", "import os; getattr(os, 'nice', int)(10); "
               "from bpe_viz.engine.compiled import fill_cache; fill_cache()"]  # fmt: skip
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
