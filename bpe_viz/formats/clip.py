"""CLIP's `bpe_simple_vocab_16e6.txt`: a list of merges, from which OpenAI's code makes the vocabulary and its ids.

Source: openai/CLIP, clip/simple_tokenizer.py.
"""

from __future__ import annotations

import gzip
import importlib.util
import tempfile
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

from bpe_viz.engine.clip_pipeline import ClipPipeline
from bpe_viz.engine.pipeline import SpecialText
from bpe_viz.engine.symbols import BaseVocabulary, stand_in_order
from bpe_viz.engine.tokenizer import Tokenizer
from bpe_viz.engine.types import CountingOptions
from bpe_viz.errors import FormatError
from bpe_viz.formats import Format, refuse_pretokenizer
from bpe_viz.formats._own_library import Encode, OwnLibrary, Units
from bpe_viz.formats._reading import read_whole, without_bom
from bpe_viz.formats._stand_ins import LETTER_OF_BYTE
from bpe_viz.formats._written_merges import WrittenList, in_symbols, is_clip, read_merges

MERGES = 49152 - 256 - 2
"""How many of the merges are in use."""

MARKER = "</w>"
SPECIALS = ("<|startoftext|>", "<|endoftext|>")

# The code matches without regard to case what is lower case already, which two characters notice: ſ is an s in another
# case, and the mark U+0345 is the letter ι in another and so in no class.
PATTERN = r"<\|[sſ]tartoftext\|>|<\|endoftext\|>|'[sſ]|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}\u0345]+"

_PACKAGE = "clip-anytorch"
"""OpenAI's code as a package; its module of the tokenizer runs without torch."""


def detect(path: Path, head: bytes) -> bool:
    """Tell whether a file begins as CLIP's merges do."""
    return is_clip(head)


def load(path: Path, given: CountingOptions | None = None) -> Tokenizer:
    """Number the tokens as CLIP's code does: letters, letters that end a word, merges, two special tokens.

    Raises FormatError that names the line.
    """
    refuse_pretokenizer(path, given)
    written = read_merges(path, read_whole(path))
    used = WrittenList(path, written.header, written.merges[:MERGES], False, written.notes)
    base, texts = _base()
    merges = in_symbols(used, base, texts, "last")
    if len(merges.pairs) < len(used.merges) or len(set(merges.texts)) < len(merges.texts):
        raise FormatError(f"{path}: a merge or a token comes twice, so its ids cannot be told.", "Get the file again.")
    special_ids = {text: len(merges.texts) + number for number, text in enumerate(SPECIALS)}
    counting = CountingOptions(pattern=PATTERN, normalize=("NFC", "lowercase"), special_tokens=SPECIALS)
    tokenizer = Tokenizer.from_merges(base, merges.pairs, counting, special_ids=special_ids, name="CLIP")
    tokenizer.pipeline = ClipPipeline(counting, special_ids)
    tokenizer.normalizes_first = True
    tokenizer.not_in_options = (
        "OpenAI's code repairs text with ftfy and reads HTML entities before it cuts, and finds no special token right "
        "behind a sign; the tokenizers library does otherwise.",
    )
    tokenizer.notes = (
        *written.notes,
        f"{path.name} is CLIP's: the first {len(used.merges):,} merges are in use, numbered as OpenAI's code does.",
        "Text is cleaned and cut as that code does. It repairs text with ftfy first: where that library is not "
        "installed, a text that it might change is told.",
        f"OpenAI's code puts {' and '.join(SPECIALS)} around a text for its models; here they are left out.",
    )
    return tokenizer


def _base() -> tuple[BaseVocabulary, list[str]]:
    """Return the bytes, each alone and as it ends a word, in the order of their ids, and how the file writes them."""
    order = list(stand_in_order())
    contents = tuple(bytes([byte]) for byte in order)
    letters = [LETTER_OF_BYTE[byte] for byte in order]
    ends = (False,) * len(order) + (True,) * len(order)
    base = BaseVocabulary("bytes", "glued", MARKER, contents * 2, ends)
    return base, [*letters, *(letter + MARKER for letter in letters)]


def _open_library(path: Path, tokenizer: Tokenizer) -> Encode:
    """Return what encodes with OpenAI's code, which takes special text for tokens unless it forgets that it does."""
    module = distribution(_PACKAGE).locate_file("clip/simple_tokenizer.py")
    spec = importlib.util.spec_from_file_location("simple_tokenizer", str(module))
    if spec is None or spec.loader is None:
        raise ImportError(f"{module} is no module")
    code: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(code)
    with tempfile.TemporaryDirectory() as folder:
        packed = Path(folder) / "merges.txt.gz"
        packed.write_bytes(gzip.compress(without_bom(read_whole(path)), 1))
        library = code.SimpleTokenizer(str(packed))

    def encode(text: str, special_text: SpecialText, around: bool) -> Units:
        for special in SPECIALS:
            library.cache.pop(special, None)
            if special_text != "text":
                library.cache[special] = special
        return list(library.encode(text))

    return encode


FORMAT = Format(
    name="clip",
    title="CLIP's merges",
    suffixes=("bpe_simple_vocab_16e6.txt",),
    detect=detect,
    load=load,
    library=OwnLibrary(_PACKAGE, _open_library),
)
