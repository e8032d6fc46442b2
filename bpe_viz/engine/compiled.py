"""The two ways to run the kernels: as plain Python at once, or compiled by Numba when that is ready.

Compiling takes half a minute. It is done once for a version of the kernels, in a process of its own, since compiling
in a thread would hold the window for up to 0.2 s at a time. What it gave is kept in a file that is named by a hash of
the kernels' source, Numba's version and the processor.
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
from bpe_viz.engine.kernel_cache import Entries, kept_file, note_use, read_kernels, write_kernels

_TWINS = "bpe_viz.engine._compiled"

SMALL = 100_000
"""Up to so many cells plain kernels are done before Numba is imported."""

LARGE = 1_000_000
"""From so many cells on it is quicker to wait until the kernels are compiled, half a minute once."""

_Arrays = TypeVar("_Arrays", bound=NamedTuple)


class Kernels:
    """One way to run the kernels.

    kept: the compiled kernels are taken from it; None: they are plain
    is_filling: those that are not there are added as they are compiled
    """

    def __init__(self, kept: Entries | None = None, is_filling: bool = False) -> None:
        self._kept = kept
        self._is_filling = is_filling
        self._twins: dict[str, ModuleType] = {}

    @property
    def compiled(self) -> bool:
        """Whether they are not plain."""
        return self._kept is not None

    def of(self, plain: ModuleType) -> Any:
        """Return the functions of a kernel module, in this way; plain: engine.kernels or engine.kernels_*."""
        if self._kept is None:
            return plain
        if plain.__name__ not in self._twins:
            self._twins[plain.__name__] = self._compiled_twin(plain, self._kept)
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

    def bind(self, arrays: _Arrays) -> Any:
        """Return tuples of arrays, themselves in a tuple, as one thing that goes to a kernel at little cost.

        The kernel reads each field once, before its loops.
        """
        if not self.compiled:
            return self.view(arrays)
        from bpe_viz.engine.numba_binding import Bound

        return Bound(arrays)

    def _compiled_twin(self, plain: ModuleType, kept: Entries) -> ModuleType:
        """Load a kernel module a second time and compile every function in it, imported kernels included."""
        from bpe_viz.engine.numba_cache import compile_kernel

        name = f"{_TWINS}.{plain.__name__.rpartition('.')[2]}"
        spec = importlib.util.spec_from_file_location(name, plain.__file__)
        if spec is None or spec.loader is None:
            raise ImportError(f"{plain.__file__} cannot be loaded a second time")
        twin = importlib.util.module_from_spec(spec)
        sys.modules[name] = twin  # a kept function finds its globals by the name of its module
        spec.loader.exec_module(twin)
        for known_as, function in list(vars(twin).items()):
            if not isinstance(function, FunctionType):
                continue
            if function.__module__ == name:
                setattr(twin, known_as, compile_kernel(function, kept, self._is_filling))
            elif function.__module__.startswith(kernels.__name__):
                setattr(twin, known_as, getattr(self.of(sys.modules[function.__module__]), function.__name__))
        return twin


PLAIN = Kernels()


def cache_file() -> Path:
    """Return the user's file for compiled kernels of exactly this source, Numba and processor."""
    here = Path(__file__)
    beside = [here, here.with_name("kernel_cache.py"), *sorted(here.parent.glob("numba_*.py"))]
    sources = [*beside, *sorted(Path(kernels.__file__).parent.glob("kernels*.py"))]
    source = b"".join(path.read_bytes() for path in sources)
    python = f"{sys.implementation.cache_tag} {version('numba')} {version('llvmlite')} {version('numpy')}"
    machine = f"{sys.platform} {platform.machine()} {platform.processor()} {_cpu_flags()}"
    digest = hashlib.sha256(source + python.encode() + machine.encode()).hexdigest()[:16]
    return kept_file(_user_cache() / "bpe-viz", digest)


def _user_cache() -> Path:
    if configured := os.environ.get("BPE_VIZ_CACHE"):
        return Path(configured)
    given = {"win32": "LOCALAPPDATA", "darwin": ""}.get(sys.platform, "XDG_CACHE_HOME")
    if folder := os.environ.get(given):
        return Path(folder)
    in_home = {"win32": "AppData/Local", "darwin": "Library/Caches"}.get(sys.platform, ".cache")
    try:
        return Path.home() / in_home
    except RuntimeError:  # this user has no home
        return Path(os.devnull)


def _cpu_flags() -> str:
    """Return what tells this processor from a lesser one that shares the same home folder."""
    cpuinfo = Path("/proc/cpuinfo")
    if not cpuinfo.exists():
        return ""
    return next((line for line in cpuinfo.read_text(errors="replace").splitlines() if line.startswith("flags")), "")


_lock = threading.Lock()
_read: tuple[Path, Entries] | None = None
_loaded: Kernels | None = None


def is_ready() -> bool:
    """Tell whether the compiled kernels are kept and whole, so that loading them takes a moment only."""
    return bool(_kept())


def _kept() -> Entries:
    """Return the compiled kernels that are kept, none if they must be compiled; they are read once in a process."""
    global _read
    path = cache_file()
    if _read is None or _read[0] != path:
        entries = read_kernels(path)
        if entries is None:
            return {}
        _read = (path, entries)
    return _read[1]


def loaded() -> Kernels | None:
    """Return the compiled kernels if this process has them already."""
    return _loaded


def load(may_fill: bool = True) -> Kernels:
    """Return the compiled kernels; takes about half a second (importing Numba) the first time in a process.

    may_fill: if they are not kept yet, they are compiled first, in another process, which takes half a minute
    Those that are still not kept, because nothing can be written, are compiled as they are called, in this process.
    """
    global _loaded
    with _lock:
        if _loaded is None:
            if may_fill and not is_ready():
                start_filling_cache().wait()
            _loaded = Kernels(_kept())
            note_use(cache_file())
        return _loaded


def fill_cache() -> None:
    """Compile every kernel that is called anywhere, for the very types they are called with, and keep them.

    Raises BpeVizError or OSError if nothing can be written.
    """
    import numpy as np

    from bpe_viz.engine import kernels_replay
    from bpe_viz.engine.alike_characters import AlikeCharacters
    from bpe_viz.engine.boundaries import LONG, BoundaryRanks
    from bpe_viz.engine.corpus import worked_example
    from bpe_viz.engine.encoder import Encoder
    from bpe_viz.engine.merge_ranks import MergeRanks
    from bpe_viz.engine.reader import Reader
    from bpe_viz.engine.replay import Replayer
    from bpe_viz.engine.scanning import call_every_kernel
    from bpe_viz.engine.tokenizer import BYTES, Tokenizer
    from bpe_viz.engine.trainer import Trainer
    from bpe_viz.engine.types import CountingOptions, Pair, TrainingOptions

    entries: Entries = {}
    compiled = Kernels(entries, is_filling=True)
    pretokens, options = worked_example().pretokens, TrainingOptions(base="characters")
    trainer = Trainer(pretokens, options, kernel_set=compiled)
    trainer.step()
    trainer.train_to()
    second = trainer.timeline.merge(1)
    branch = Trainer(pretokens, options, kernel_set=compiled)
    branch.repeat(trainer.timeline.beginning(1))
    branch.merge_pair(Pair(second.left, second.right))
    reader = Reader(trainer.timeline, kernel_set=compiled)
    BoundaryRanks(trainer.timeline.base, MergeRanks(0, [(0, 0)]), compiled).of(b"a" * (LONG + 1), 1)
    for position in (trainer.frontier, 0, 1):
        reader.frame(position, top=3)
    reader.seek(reader.position)  # as few changes as this are applied one by one
    call_every_kernel(compiled)
    tokenizer = Tokenizer.from_timeline(trainer.timeline, CountingOptions())
    replayer = Replayer(worked_example().pretokens, tokenizer, TrainingOptions(), compiled)
    replayer.train_to()
    replayer.timeline.reader(compiled).frame(1, top=3)
    slots = np.zeros(1, dtype=np.int32)  # so small a replay has room for all its pairs
    compiled.of(kernels_replay).fill_slot_table(np.full(4, -1, dtype=np.int64), slots, slots, 1)
    ranks = {content: rank for rank, content in enumerate((*BYTES, b"aa"))}
    for counting in (CountingOptions(), CountingOptions(pattern="a+")):  # with a scanner and without
        Encoder(Tokenizer.from_ranks(ranks, counting), compiled).encode_bytes(b"a" * 100)
    AlikeCharacters().holds_utf8("é".encode(), compiled)
    write_kernels(cache_file(), entries)


def start_filling_cache() -> subprocess.Popen[bytes]:
    """Fill the cache in another process, at low priority; is_ready() tells when it is done."""
    # -P: what lies in the folder that this was started in is none of its modules.
    program = (
        "import os, sys; sys.path.append(sys.argv[1]); getattr(os, 'nice', int)(10); "
        "from bpe_viz.engine.compiled import fill_cache; fill_cache()"
    )
    command = [sys.executable, "-P", "-c", program, str(Path(__file__).resolve().parents[2])]
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
