"""The compiled kernels, with words about it where they are not at hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bpe_viz.cli.terminal import say

if TYPE_CHECKING:
    from bpe_viz.engine.compiled import Kernels
    from bpe_viz.engine.tokenizer import Tokenizer

LONG_TEXT = 200_000
"""From so many characters on, which may be one pre-token, loading compiled kernels is quicker than doing without."""


def choose_kernels(is_worth_it: bool, may_compile: bool) -> Kernels | None:
    """Return the compiled kernels if they are worth it and are at hand or may be compiled first; None: do without."""
    from bpe_viz.engine import compiled

    if not is_worth_it:
        return None
    if (kernels := compiled.loaded()) is not None:
        return kernels
    is_ready = compiled.is_ready()
    if not (is_ready or may_compile):
        return None
    if not is_ready:
        say("Compiling the kernels, about half a minute; later runs find them compiled.")
    kernels = compiled.load()
    if not compiled.is_ready():
        say(f"The compiled kernels cannot be kept in {compiled.cache_file().parent}; every run will compile them anew.")
    return kernels


def use_kernels_for(tokenizer: Tokenizer, text: str) -> None:
    """Have a long text, which may be one pre-token, worked out by compiled kernels if they are at hand."""
    kernels = choose_kernels(len(text) >= LONG_TEXT, may_compile=False)
    if kernels is not None:
        tokenizer.use(kernels)
