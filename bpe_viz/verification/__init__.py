"""Does a tokenizer's own library give the same ids? Asked in this process, or in one of its own that can be stopped.

`verify` is for a command that waits for the answer. `Verifier` is for a window: loading a library and encoding with it
holds Python's lock, so it does so in a child process, which Stop ends at once.
"""

from __future__ import annotations

from bpe_viz.verification._comparison import Difference, Verification
from bpe_viz.verification._own import OpenedLibrary, library_of
from bpe_viz.verification._process import Verifier
from bpe_viz.verification._service import verify

__all__ = ["Difference", "OpenedLibrary", "Verification", "Verifier", "library_of", "verify"]
