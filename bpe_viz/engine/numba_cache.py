"""What Numba's dispatchers ask for compiled functions: see kernel_cache. Importing this imports Numba."""

from __future__ import annotations

import pickle
import zlib
from types import FunctionType
from typing import Any

import numba
from numba.core import entrypoints
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from bpe_viz.engine import numba_indexing  # noqa: F401  # before anything is compiled
from bpe_viz.engine.interrupts import held_back
from bpe_viz.engine.kernel_cache import Entries

# Keeps Numba from importing, before it runs anything, whatever other installed packages register with it. Flat arrays
# need none of it, and it may be large: one array library alone took 0.3 s and 30 MB. There is no public way.
entrypoints._already_initialized = True


def compile_kernel(function: FunctionType, kept: Entries, is_filling: bool) -> Any:
    """Return a function that Numba compiles when it is first called with arguments of some types.

    kept: is looked into first
    is_filling: what had to be compiled is added to it
    """
    # No kernel makes an array, so none needs reference counts; without them scanning takes two thirds of the time.
    dispatcher = numba.njit(nogil=True, _nrt=False)(function)  # type: ignore[call-overload]  # not in its stubs
    dispatcher._cache = _FunctionCache(function, kept, is_filling)
    return dispatcher


class _FunctionCache:
    """One function's entries; the methods are those of numba.core.caching._Cache."""

    cache_path = None

    def __init__(self, function: FunctionType, kept: Entries, is_filling: bool) -> None:
        self._name = (function.__module__, function.__qualname__)
        self._kept = kept
        self._is_filling = is_filling

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """Return what was compiled for argument types, None if nothing was."""
        target_context.refresh()
        found = self._kept.get(self._key(signature, target_context.codegen()))
        if found is None:
            return None
        with held_back():  # LLVM calls Python back while it takes the code in
            return CompileResult._rebuild(target_context, *_unpacked(found))  # type: ignore[no-untyped-call]

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep what was compiled for argument types, if that is wanted."""
        # Code that holds addresses of this process cannot be kept.
        if self._is_filling and not compiled.library.has_dynamic_globals:
            self._kept[self._key(signature, compiled.codegen)] = zlib.compress(dumps(compiled._reduce()))  # type: ignore[no-untyped-call]

    def enable(self) -> None:
        """Do nothing: it always is."""

    def disable(self) -> None:
        """Do nothing: it never is."""

    def flush(self) -> None:
        """Do nothing: everything else is kept in one file with it."""

    def _key(self, signature: Any, codegen: Any) -> tuple[str, ...]:
        return (*self._name, str(signature), *map(str, codegen.magic_tuple()))


def _unpacked(found: bytes) -> Any:
    return pickle.loads(zlib.decompress(found))
