"""GGUF, the files of llama.cpp and Ollama: of a model's metadata its vocabulary and merges, which are all that is read.

Ids are those of llama.cpp, or the file is refused.
"""

from __future__ import annotations

from pathlib import Path

from bpe_viz.engine.tokenizer import SpecialText, Tokenizer
from bpe_viz.engine.types import CountingOptions
from bpe_viz.errors import FormatError
from bpe_viz.formats import Format, refuse_pretokenizer
from bpe_viz.formats._gguf_metadata import MAGIC
from bpe_viz.formats._gguf_models import of_merges, of_scores
from bpe_viz.formats._gguf_vocabulary import read_vocabulary
from bpe_viz.formats._own_library import Encode, OwnLibrary, Units
from bpe_viz.formats._reading import shortened_line

_OTHERS = {
    "bert": "WordPiece",
    "t5": "Unigram",
    "rwkv": "RWKV's longest match",
}


def detect(path: Path, head: bytes) -> bool:
    """Tell whether a file begins as GGUF does."""
    return head.startswith(MAGIC)


def load(path: Path, given: CountingOptions | None = None) -> Tokenizer:
    """Read the tokenizer of a model.

    given: the pretokenizer for a file whose own is not known by its name
    Raises PretokenizerNeeded if there is none, FormatError.
    """
    vocabulary = read_vocabulary(path)
    if vocabulary.model in ("gpt2", "gemma4"):
        tokenizer = of_merges(vocabulary, given)
    elif vocabulary.model == "llama":
        refuse_pretokenizer(path, given)
        tokenizer = of_scores(vocabulary)
    else:
        what = _OTHERS.get(vocabulary.model, "of a kind that bpe_viz does not know")
        raise FormatError(
            f"{path}: tokenizer.ggml.model is {shortened_line(vocabulary.model)}, which is {what}. Of GGUF, bpe_viz "
            "reads BPE by merges (gpt2, gemma4) and by scores (llama): others it would not encode as llama.cpp does.",
            "Open the model's tokenizer.json, .model or vocab.txt instead.",
        )
    tokenizer.name = path.name
    tokenizer.notes += vocabulary.notes
    return tokenizer


def _open_library(path: Path, tokenizer: Tokenizer) -> Encode:
    """Return what encodes with llama.cpp, which reads the vocabulary alone."""
    import llama_cpp

    model = llama_cpp.Llama(str(path), vocab_only=True, verbose=False)

    def encode(text: str, special_text: SpecialText, around: bool) -> Units:
        return list(model.tokenize(text.encode(), add_bos=around, special=special_text != "text"))

    return encode


FORMAT = Format(
    name="gguf",
    title="GGUF",
    suffixes=(".gguf",),
    detect=detect,
    load=load,
    save=None,
    library=OwnLibrary("llama-cpp-python", _open_library),
)
