"""GPT-2's `vocab.json` with `merges.txt`, and what takes after it: `encoder.json` with `vocab.bpe`.

The two files say which token has which id and what merges, and neither how text is cut nor which tokens are special.
That comes from the files that stand beside them, from the published vocabulary that they are, or from the user.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import msgspec
import numpy as np

from bpe_viz.engine.library_pipelines import cut_as_the_library
from bpe_viz.engine.listed_ranks import ListedRanks
from bpe_viz.engine.symbols import BaseVocabulary
from bpe_viz.engine.tokenizer import Tokenizer
from bpe_viz.engine.types import CountingOptions, Options, Pair
from bpe_viz.errors import FormatError
from bpe_viz.formats import Format, PretokenizerNeeded, refuse_pretokenizer
from bpe_viz.formats._added_tokens import AddedToken, added_ids
from bpe_viz.formats._draft import as_option
from bpe_viz.formats._gpt2_document import document_beside, with_settings
from bpe_viz.formats._gpt2_files import NAMES, Files, find_files, is_one_of_the_two, late_headers, read_vocabulary
from bpe_viz.formats._gpt2_settings import CLASSES, CLIP, Settings, TokenizerClass, read_settings
from bpe_viz.formats._own_library import Encode, OwnLibrary, encode_with_tokenizers
from bpe_viz.formats._reading import read_whole, shortened_line
from bpe_viz.formats._stand_ins import LETTER_OF_BYTE
from bpe_viz.formats._tokenizer_json_writing import document_of, written_symbols
from bpe_viz.formats._written_merges import (
    HEADER,
    MergesInSymbols,
    WrittenList,
    check_same_token,
    check_sweeping,
    in_symbols,
    read_merges,
)

MARKER = "</w>"
SPACE = LETTER_OF_BYTE[ord(" ")]
"""How bytes are known where letters for some of them lack: nearly every list of merges has a space."""

_JSON = "Save as .json."

GPT2 = "61dcf265f71d3ad664d0fb2b35af80d7f9c7e6576375a126860f4990eab23348"
PUBLISHED = {GPT2: ("GPT-2", TokenizerClass("gpt2"), ("<|endoftext|>",))}
"""By `_fingerprint`: the name, the class, and the special tokens of the vocabulary."""


def detect(path: Path, head: bytes) -> bool:
    """Tell whether a file is one of the two; its neighbours are looked at."""
    return is_one_of_the_two(path, head)


def load(path: Path, given: CountingOptions | None = None) -> Tokenizer:
    """Read the vocabulary and the merges, one of which is named, and what stands beside them.

    given: how text is cut, where nothing says so
    Raises FormatError that names file and line, and PretokenizerNeeded if nothing says how text is cut.
    """
    files = find_files(path)
    data = read_whole(files.merges)
    written = read_merges(files.merges, data)
    vocabulary = read_vocabulary(files.vocabulary)
    settings = read_settings(files.merges.parent)
    name, kind, specials = PUBLISHED.get(_fingerprint(vocabulary, written), ("", None, ()))
    settings.tokens |= {text: vocabulary[text] for text in specials}
    # A class of the library takes a tokenizer.json that is there before these two files, and may cut otherwise then.
    if kind is None and not document_beside(files.merges).is_file():
        kind = CLASSES.get(settings.class_name)
    if kind is not None:
        settings.follow(kind, vocabulary)
    counting = _counting(path, files, settings, kind, given)
    special_ids = settings.ids(files.merges.parent, vocabulary)
    unknown = settings.unknown
    base, base_texts = _base_vocabulary(files, vocabulary, written, unknown)
    if kind is not None and kind.end_of_word != base.end_of_word:
        raise FormatError(
            f"{files.vocabulary}: a {settings.class_name} has {'an' if kind.end_of_word == 'glued' else 'no'} "
            f"end-of-word marker {MARKER}, and this vocabulary has {'none' if base.end_of_word == 'none' else 'it'}.",
            "Check that the files belong together.",
        )
    merges = in_symbols(written, base, base_texts, "last")
    _check_made(files, vocabulary, base, merges, written)
    is_unknown_used = base.base == "characters" and unknown is not None
    tokenizer = Tokenizer.from_merges(
        base,
        merges.pairs,
        counting,
        unknown=unknown if is_unknown_used else None,
        ids=np.array([vocabulary[text] for text in merges.texts], dtype=np.int64),
        special_ids=special_ids,
        name=name or files.merges.name,
        ranks=merges.ranks,
    )
    tokenizer.refuses_gaps = base.base == "characters" and not is_unknown_used
    tokenizer.pipeline = cut_as_the_library(tokenizer.counting, tokenizer.special_ids)
    notes = [*files.notes, *_notes(name, settings, kind), *merges.notes]
    notes += [_late_header_note(files, late)] if (late := late_headers(files.merges, data)) else []
    notes += _vocabulary_notes(vocabulary, merges, special_ids)
    by_id = sorted(AddedToken(number, text) for text, number in special_ids.items())  # as the library adds them
    added = added_ids(by_id, vocabulary, len(vocabulary))
    tokenizer.renumbered = added.moved
    notes += added.notes
    # The library composes and makes lower case by another Unicode than Python.
    if not settings.is_plain or (kind is not None and kind.normalize):
        tokenizer = with_settings(tokenizer, vocabulary, written, settings, kind)
    tokenizer.notes = tuple(dict.fromkeys((*notes, *tokenizer.notes)))
    return tokenizer


def _fingerprint(vocabulary: dict[str, int], written: WrittenList) -> str:
    """Return what tells a published vocabulary, however its files are laid out: a SHA-256 of tokens, ids and merges."""
    merges = "\n".join(f"{merge.left} {merge.right}" for merge in written.merges)
    tokens = msgspec.json.encode(sorted(vocabulary.items()))
    return hashlib.sha256(tokens + b"\n" + merges.encode()).hexdigest()


def _counting(
    path: Path, files: Files, settings: Settings, kind: TokenizerClass | None, given: CountingOptions | None
) -> CountingOptions:
    """Return how text is cut."""
    specials = tuple(settings.tokens)
    if kind is not None:
        refuse_pretokenizer(path, given)
        return CountingOptions(kind.pretokenizer, kind.pattern, kind.normalize, specials)
    if given is None:
        beside = document_beside(files.merges)
        if beside.is_file():
            said, instead = f", while {beside.name} beside it does", f"Open {beside.name}, or give"
        else:
            said = f", and bpe-viz does not know how a {settings.class_name} cuts it" if settings.class_name else ""
            instead = "Give"
        raise PretokenizerNeeded(
            f"{path} holds a vocabulary and merges, and does not say how text is cut{said}.",
            f"{instead} --pretokenizer or --pattern.",
        )
    return CountingOptions(given.pretokenizer, given.pattern, given.normalize, specials)


def _base_vocabulary(
    files: Files, vocabulary: dict[str, int], written: WrittenList, unknown: str | None
) -> tuple[BaseVocabulary, list[str]]:
    """Return the base symbols, and how the files write them.

    They are bytes if the vocabulary has all 256 letters that stand for bytes, else the letters of the vocabulary.
    Raises FormatError if merges speak of bytes and letters for bytes lack.
    """
    lacking = [letter for letter in LETTER_OF_BYTE if letter not in vocabulary]
    if not lacking:
        ends = all(letter + MARKER in vocabulary for letter in LETTER_OF_BYTE)
        letters = [(LETTER_OF_BYTE[byte], bytes([byte]), False) for byte in range(256)]
        letters += [(text + MARKER, content, True) for text, content, _ in letters] if ends else []
        return _base(letters, "bytes", "glued" if ends else "none")
    if any(merge.left.startswith(SPACE) for merge in written.merges):
        raise FormatError(
            f"{files.vocabulary} lacks {len(lacking)} of the 256 letters that stand for bytes, {lacking[0]!r} for one.",
            "Get the whole vocabulary.",
        )
    texts = [text for text in vocabulary if text != unknown]
    made = {merge.left + merge.right for merge in written.merges}
    marked = [text for text in texts if _is_marked(text) and text not in made]
    letters = [(text, text.encode(), False) for text in texts if len(text) == 1]
    if marked:
        letters += [(text, text[0].encode(), True) for text in marked]
    # As a training numbers them.
    letters.sort(key=lambda letter: (letter[0].encode(), letter[2]))
    return _base(letters, "characters", "glued" if marked else "none")


def _is_marked(text: str) -> bool:
    return text[1:] == MARKER


def _base(
    letters: list[tuple[str, bytes, bool]], base: Literal["bytes", "characters"], end_of_word: Literal["none", "glued"]
) -> tuple[BaseVocabulary, list[str]]:
    contents, ends = tuple(letter[1] for letter in letters), tuple(letter[2] for letter in letters)
    return BaseVocabulary(base, end_of_word, MARKER, contents, ends), [letter[0] for letter in letters]


def _check_made(
    files: Files, vocabulary: dict[str, int], base: BaseVocabulary, merges: MergesInSymbols, written: WrittenList
) -> None:
    for text in merges.texts[len(base) :]:
        if text not in vocabulary:
            line = next(merge.number for merge in written.merges if merge.left + merge.right == text)
            raise FormatError(
                f"{files.merges}, line {line} makes {shortened_line(text)}, which {files.vocabulary} lacks.",
                "Check that the files belong together.",
            )


def _notes(name: str, settings: Settings, kind: TokenizerClass | None) -> Iterator[str]:
    if name:
        yield f"The vocabulary and the merges are those of {name}: its pattern and special tokens are used."
    if settings.paths:
        listed = ", ".join(path.name for path in settings.paths)
        yield f"Read beside them: {listed}."
    yield from settings.notes
    if kind is CLIP:
        yield (
            "Text is cleaned as the tokenizers library does it. The slow CLIPTokenizer of transformers 4 repaired it "
            "with ftfy, as OpenAI's code does: ids of text that is no printable ASCII may differ there."
        )
    if kind is not None and kind.around:
        yield f"Its library puts {' and '.join(kind.around)} around a text; here they are left out."


def _late_header_note(files: Files, lines: list[int]) -> str:
    return (
        f"{files.merges.name}, line {lines[0]} begins like a header and is a merge here and to GPT-2's own code; the "
        "tokenizers library passes it over."
    )


def _vocabulary_notes(
    vocabulary: dict[str, int], merges: MergesInSymbols, special_ids: dict[str, int]
) -> Iterator[str]:
    unused = len(vocabulary.keys() - set(merges.texts) - special_ids.keys())
    if unused:
        yield f"Tokens of the vocabulary that no merge makes, so no text ever encodes to them: {unused:,}."
    n_ids = len(set(vocabulary.values()))
    if n_ids < len(vocabulary):
        yield f"Tokens that share an id with another, and an id decodes to one of them: {len(vocabulary) - n_ids:,}."


def companions(path: Path) -> tuple[Path, ...]:
    """Return the other file that save writes. Raises FormatError for a name that is neither's."""
    for vocabulary, merges in NAMES:
        for own, other in ((vocabulary, merges), (merges, vocabulary)):
            if path.name.endswith(own):
                return (path.with_name(path.name.removesuffix(own) + other),)
    usual = ", ".join(name for pair in NAMES for name in pair)
    raise FormatError(f"{path} does not end with the name of one of the two files.", f"End it with one of: {usual}.")


def contents(tokenizer: Tokenizer, path: Path) -> dict[Path, bytes]:
    """Return a tokenizer at its position as the two files. Raises FormatError where they would encode otherwise."""
    (other,) = companions(path)
    base = tokenizer.base
    _check(base.base, base.end_of_word, base.marker, tokenizer.counting, tokenizer.unknown)
    check_sweeping(tokenizer, False, "GPT-2's two files")
    texts = written_symbols(tokenizer)
    if not texts:
        raise FormatError("The tokenizer has no token, and two empty files are no tokenizer.", "Train it on some text.")
    vocabulary = _vocabulary_to_write(tokenizer, texts)
    pairs = tokenizer.pairs
    if len(set(pairs)) < len(pairs) and not isinstance(tokenizer.merge_ranks, ListedRanks):
        raise FormatError("Two merges join the same pair, and the file would mean the last of them.", _JSON)
    _check_order(tokenizer, texts, pairs)
    lines = [f"{HEADER} 0.2", *(f"{texts[left]} {texts[right]}" for left, right in pairs)]
    _check_lines(base.base, lines)
    is_merges = path.name.endswith(tuple(merges for _, merges in NAMES))
    merges_path, vocabulary_path = (path, other) if is_merges else (other, path)
    written = "".join(f"{line}\n" for line in lines).encode()
    return {vocabulary_path: msgspec.json.encode(vocabulary), merges_path: written}


def _check_order(tokenizer: Tokenizer, texts: list[str], pairs: list[Pair]) -> None:
    """Refuse what goes on from a token that only a later line makes: the earlier one is left out at this position."""
    made = set(texts[: len(tokenizer.base)])
    for left, right in pairs:
        if not {texts[left], texts[right]} <= made:
            raise FormatError(
                f"A merge of {texts[left]!r} and {texts[right]!r} would stand before what makes them.",
                "Choose another position, or save as .json.",
            )
        made.add(texts[left] + texts[right])


def check(options: Options) -> None:
    """Raise FormatError if no tokenizer that is trained with these options can be written."""
    training = options.training
    _check(training.base, training.end_of_word, training.marker, options.counting, training.unknown)


def _check(base: str, end_of_word: str, marker: str, counting: CountingOptions, unknown: str | None) -> None:
    if end_of_word == "separate":
        raise FormatError(
            "The two files have no place for an end-of-word marker that is a symbol of its own.",
            "Save as .codes, in subword-nmt's version 0.1.",
        )
    if end_of_word == "glued" and marker != MARKER:
        raise FormatError(f"The end-of-word marker of the two files is {MARKER}, not {marker!r}.", _JSON)
    if counting.normalize:
        raise FormatError("The two files cannot say that text is normalized first.", _JSON)
    if unknown is not None and base == "characters":
        raise FormatError("The two files cannot say which token stands for unknown letters.", _JSON)


def _check_lines(base: str, lines: list[str]) -> None:
    """Raise FormatError if a line of the merges would be read as something else."""
    if base == "bytes":
        return  # white space is written in stand-in letters
    for line in lines[1:]:
        if line.count(" ") != 1 or "\n" in line or "\r" in line:
            raise FormatError(f"The merge {line!r} holds white space, which parts tokens or lines in the file.", _JSON)
        if line.startswith(HEADER):
            raise FormatError(f"The merge {line!r} would be taken for a header.", _JSON)
        if line.startswith(SPACE):
            raise FormatError(f"The merge {line!r} would be taken for one of bytes, where {SPACE} is a space.", _JSON)


def _vocabulary_to_write(tokenizer: Tokenizer, texts: list[str]) -> dict[str, int]:
    symbol_of: dict[str, int] = {}
    for symbol, text in enumerate(texts):
        if symbol_of.setdefault(text, symbol) != symbol:
            check_same_token(tokenizer, text, symbol_of[text], symbol)
    vocabulary = {text: tokenizer.id_of(symbol) for text, symbol in symbol_of.items()}
    for text, number in tokenizer.special_ids.items():
        if vocabulary.setdefault(text, number) != number:
            raise FormatError(
                f"The special token {text!r} is written like the ordinary token {vocabulary[text]}.",
                "Choose another text for it.",
            )
    if tokenizer.base.base == "characters":
        _check_letters(tokenizer, vocabulary)
    return vocabulary


def _check_letters(tokenizer: Tokenizer, vocabulary: dict[str, int]) -> None:
    """Refuse special tokens, and merges, that would be read as letters, and letters that would be read as bytes."""
    n_letters = sum(len(text) == 1 or _is_marked(text) for text in vocabulary)
    if n_letters > len(tokenizer.base):
        raise FormatError("A special token is a letter, or one with the end-of-word marker.", _JSON)
    if all(letter in vocabulary for letter in LETTER_OF_BYTE):
        raise FormatError("The letters hold all that stand for bytes, and would be read as bytes.", _JSON)


def losses(tokenizer: Tokenizer) -> Iterator[str]:
    """Say what the two files do not hold."""
    yield f"The two files do not hold how text is cut: give {as_option(tokenizer.counting)} when opening them."
    if tokenizer.special_ids:
        listed = ", ".join(f"{text} {token_id}" for text, token_id in tokenizer.special_ids.items())
        yield f"The two files do not say which tokens are special: {listed}."


def _open_library(path: Path, tokenizer: Tokenizer) -> Encode:
    """Build the library's model from the two files; all around it, which they do not hold, is as it is in use here."""
    from tokenizers.models import BPE

    files = find_files(path)
    with tempfile.TemporaryDirectory() as folder:
        unpacked = [Path(folder) / name for name in NAMES[0]]
        for source, target in zip((files.vocabulary, files.merges), unpacked, strict=True):
            target.write_bytes(read_whole(source))
        vocabulary, merges = BPE.read_file(*map(str, unpacked))
    known = tokenizer.document
    document = document_of(tokenizer) if known is None else msgspec.json.decode(known)
    document["model"] |= {"vocab": vocabulary, "merges": merges}
    return encode_with_tokenizers(msgspec.json.encode(document).decode())


FORMAT = Format(
    name="gpt2",
    title="GPT-2 vocab.json and merges.txt",
    suffixes=("merges.txt", "vocab.json", "vocab.bpe", "encoder.json"),
    detect=detect,
    load=load,
    contents=contents,
    losses=losses,
    holds_pretokenizer=False,
    companions=companions,
    check=check,
    library=OwnLibrary("tokenizers", _open_library),
)
