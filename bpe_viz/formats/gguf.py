"""GGUF, the files of llama.cpp and Ollama: of a model's metadata its vocabulary and merges, which are all that is read.

Ids are those of llama.cpp, or the file is refused.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from bpe_viz.engine.tokenizer import SpecialText, Tokenizer
from bpe_viz.engine.types import CountingOptions
from bpe_viz.errors import FormatError
from bpe_viz.formats import Format, refuse_pretokenizer
from bpe_viz.formats._gguf_metadata import MAGIC
from bpe_viz.formats._gguf_models import of_longest_match, of_merges, of_scores
from bpe_viz.formats._gguf_vocabulary import read_vocabulary
from bpe_viz.formats._own_library import Encode, OwnLibrary, Units
from bpe_viz.formats._reading import shortened_line

_OTHERS = {
    "bert": "WordPiece",
    "t5": "Unigram",
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
    elif vocabulary.model == "rwkv":
        refuse_pretokenizer(path, given)
        tokenizer = of_longest_match(vocabulary)
    else:
        what = _OTHERS.get(vocabulary.model, "of a kind that bpe-viz does not know")
        raise FormatError(
            f"{path}: tokenizer.ggml.model is {shortened_line(vocabulary.model)}, which is {what}. Of GGUF, bpe-viz "
            "reads BPE by merges (gpt2, gemma4), BPE by scores (llama) and RWKV's (rwkv): others it would not encode "
            "as llama.cpp does.",
            "Open the model's tokenizer.json, .model or vocab.txt instead.",
        )
    tokenizer.name = path.name
    tokenizer.notes += vocabulary.notes
    return tokenizer


@cache
def _silent_log() -> Any:
    """Return a listener for llama.cpp that says nothing; it is called as long as the process lives, so it is kept."""
    import llama_cpp

    return llama_cpp.llama_log_callback(lambda level, text, data: None)


def _open_library(path: Path, tokenizer: Tokenizer) -> Encode:
    """Return what encodes with llama.cpp, which reads the vocabulary alone."""
    import llama_cpp

    llama_cpp.llama_log_set(_silent_log(), None)
    parameters = llama_cpp.llama_model_default_params()
    parameters.vocab_only = True
    # Not llama_cpp.Llama, which makes a context as well, and warns of it.
    model = llama_cpp.llama_model_load_from_file(bytes(path), parameters)
    if not model:
        raise FormatError(f"llama.cpp itself does not read {path}.", "Unpack it if it is packed, or convert it again.")
    vocabulary = llama_cpp.llama_model_get_vocab(model)

    def encode(text: str, special_text: SpecialText, around: bool) -> Units:
        content = text.encode()
        asked = (vocabulary, content, len(content))
        needed = -llama_cpp.llama_tokenize(*asked, None, 0, around, special_text != "text")
        ids = (llama_cpp.llama_token * needed)()
        return list(ids[: llama_cpp.llama_tokenize(*asked, ids, needed, around, special_text != "text")])

    return encode


FORMAT = Format(
    name="gguf",
    title="GGUF",
    suffixes=(".gguf",),
    detect=detect,
    load=load,
    library=OwnLibrary("llama-cpp-python", _open_library),
)
