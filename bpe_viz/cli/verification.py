"""Encode with a tokenizer's own library and compare."""

from __future__ import annotations

from itertools import zip_longest
from pathlib import Path

from bpe_viz.engine.layout import EncodedText
from bpe_viz.engine.pipeline import without_surrogates
from bpe_viz.engine.pretokenize import LINES, pretokenizer_for
from bpe_viz.engine.segments import normalize
from bpe_viz.engine.tokenizer import Tokenizer
from bpe_viz.errors import BpeVizError, FormatError, OptionError
from bpe_viz.formats import detect_format, read_whole


def library_of(tokenizer: Tokenizer) -> str:
    """Return the name of the library that reads the tokenizer's file, "" if there is none."""
    return tokenizer.library or ("tiktoken" if tokenizer.merge_ranks.takes_whole else "")


def first_difference(
    path: Path, tokenizer: Tokenizer, encoded: EncodedText, special_text: str, around: bool = True
) -> str:
    """Return where the tokenizer's own library encodes a text otherwise, "" if nowhere.

    around: with the tokens that the file puts around a text
    Raises OptionError if the library is not installed or there is none, FormatError if it cannot read the file.
    """
    name = library_of(tokenizer)
    text = without_surrogates(encoded.text)[0]
    try:
        if name == "tiktoken":
            theirs = _tiktoken_ids(tokenizer, text, special_text)
        elif name == "sentencepiece":
            theirs = _sentencepiece_ids(path, text)
        elif name == "tokenizers" and tokenizer.document is not None:
            theirs = _tokenizers_ids(tokenizer.document, text, special_text, around)
        else:
            found = detect_format(path)
            raise OptionError(
                f"--verify knows no library that reads {path if found is None else found.title}.",
                f"First run: bpe-viz convert {path} NAME.json",
            )
    except ImportError as error:
        raise OptionError(
            f"--verify needs the library {name}, which is not installed.", f"Run: pip install {name}"
        ) from error
    except BpeVizError:
        raise
    except Exception as error:  # the libraries raise bare Exception
        raise FormatError(f"The {name} library cannot read {path}: {error}.") from error
    ids = encoded.at(tokenizer.position).ids
    ours = ids[ids >= 0].tolist()
    for number, (our_id, their_id) in enumerate(zip_longest(ours, theirs)):
        if our_id != their_id:
            return (
                f"Token {number} differs: bpe_viz gives {_described(tokenizer, our_id)}, "
                f"the {name} library {_described(tokenizer, their_id)}."
            )
    return ""


def _tokenizers_ids(document: bytes, text: str, special_text: str, around: bool) -> list[int]:
    import tokenizers

    library = tokenizers.Tokenizer.from_str(document.decode())
    library.no_truncation()
    library.no_padding()
    library.encode_special_tokens = special_text == "text"
    return list(library.encode(text, add_special_tokens=around).ids)


def _sentencepiece_ids(path: Path, text: str) -> list[int]:
    import sentencepiece

    return list(sentencepiece.SentencePieceProcessor(model_proto=read_whole(path)).encode(text))


def _tiktoken_ids(tokenizer: Tokenizer, text: str, special_text: str) -> list[int]:
    """Encode with the ranks and the pattern that are in use here: the library knows no file by its name."""
    import tiktoken

    counting = tokenizer.counting
    special_ids = {text: tokenizer.special_ids[text] for text in counting.special_tokens}
    library = tiktoken.Encoding(
        tokenizer.name,
        # Its engine knows the very end by another sign.
        pat_str=(pretokenizer_for(counting).pattern or LINES).replace(r"\Z", "$"),
        mergeable_ranks={token.content: token.id for token in tokenizer.vocabulary() if token.kind != "special"},
        special_tokens=special_ids,
    )
    allowed = set(special_ids) if special_text == "allow" else set()
    return library.encode(normalize(text, counting.normalize), allowed_special=allowed, disallowed_special=())


def _described(tokenizer: Tokenizer, token_id: int | None) -> str:
    if token_id is None:
        return "no more"
    try:
        return f"{token_id} ({tokenizer.label(token_id).decode('utf-8', 'backslashreplace')!r})"
    except KeyError:
        return str(token_id)
