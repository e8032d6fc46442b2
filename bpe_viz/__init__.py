"""Watch byte-pair encoding happen: train one merge at a time, scrub through it, encode with it."""

from importlib.metadata import version

__version__ = version("bpe-viz")
