"""Write a tokenizer as the `tokenizers` library reads it, so that it encodes every text with the same ids.

Ids stay what they are, so with a position below the end the vocabulary has holes; special tokens are
therefore written into the vocabulary as well, since the library renumbers added tokens that it does not
find there.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from bpe_viz.engine.joined_ranks import JoinedRanks
from bpe_viz.engine.pretokenize import LINES, WHOLE_TEXT, pretokenizer_for, shortened
from bpe_viz.engine.segments import normalize
from bpe_viz.engine.tokenizer import Tokenizer
from bpe_viz.engine.types import CountingOptions, EndOfWord, Options, Pair
from bpe_viz.errors import FormatError
from bpe_viz.formats._split_patterns import for_library, library_is_installed, why_not_alike
from bpe_viz.formats._stand_ins import LETTER_OF_BYTE, to_stand_ins
from bpe_viz.formats._written_merges import check_sweeping

Json = dict[str, Any]

NORMALIZERS = {"NFC": "NFC", "NFD": "NFD", "NFKC": "NFKC", "NFKD": "NFKD", "lowercase": "Lowercase"}
"""What the library calls our normalizations."""

SIGMA_NOTE = "Lowercasing makes every capital sigma σ in the tokenizers library; bpe-viz makes one that ends a word ς."
UNICODE_NOTE = (
    f"bpe-viz normalizes by Unicode {unicodedata.unidata_version}, the tokenizers library by other versions of it: "
    "rare letters and marks of the last years may differ."
)


def written(tokenizer: Tokenizer) -> bytes:
    """Return a tokenizer at its position as a file. Raises FormatError if the file would encode differently."""
    if tokenizer.document is not None:
        return _as_it_was_read(tokenizer, tokenizer.document)
    return msgspec.json.format(msgspec.json.encode(document_of(tokenizer)), indent=2)


def _as_it_was_read(tokenizer: Tokenizer, document: bytes) -> bytes:
    """Return the file that a tokenizer was read from, with the merges up to its position."""
    if tokenizer.position == tokenizer.n_merges:
        return document
    whole = msgspec.json.decode(document)
    model = whole["model"]
    lines = [line for line in model["merges"] if not (isinstance(line, str) and line.startswith("#version"))]
    # A line that a later one repeats never applies; without the later one it would.
    pairs = [tuple(line.split(" ")) if isinstance(line, str) else tuple(line) for line in lines]
    last = {pair: rank for rank, pair in enumerate(pairs)}
    model["merges"] = [list(pair) for rank, pair in enumerate(pairs[: tokenizer.position]) if last[pair] == rank]
    if model.get("ignore_merges"):
        model["ignore_merges"] = False
    return msgspec.json.format(msgspec.json.encode(whole), indent=2)


def check(options: Options) -> None:
    """Raise FormatError for what is known before training: document_of would refuse the tokenizer."""
    training, counting = options.training, options.counting
    _check_marker(training.end_of_word)
    _check_named_like_the_marker(training.end_of_word, training.marker, _specials(training.unknown, counting))
    if counting.pattern != WHOLE_TEXT:
        _split(counting)
    if training.base == "bytes":
        _check_letters_of_bytes(training.end_of_word, training.marker, _specials(training.unknown, counting))


def _specials(unknown: str | None, counting: CountingOptions) -> list[str]:
    return list(dict.fromkeys([*([] if unknown is None else [unknown]), *counting.special_tokens]))


def _check_marker(end_of_word: EndOfWord) -> None:
    if end_of_word == "separate":
        raise FormatError(
            "A tokenizer.json has no place for an end-of-word marker that is a symbol of its own: "
            "the library only knows one glued to the last letter.",
            "Train with --end-of-word glued.",
        )


def _check_named_like_the_marker(end_of_word: EndOfWord, marker: str, specials: Sequence[str]) -> None:
    if end_of_word != "none" and marker in specials:
        raise FormatError(
            f"The special or unknown token {marker!r} is the end-of-word marker as well, "
            "and the library would take the one for the other.",
            "Choose another text for it.",
        )


def _check_letters_of_bytes(end_of_word: EndOfWord, marker: str, specials: Sequence[str]) -> None:
    """Refuse a special token that is written like a byte that it is not: the letters for bytes are always there."""
    for text in specials:
        letter = text.removesuffix(marker) if end_of_word == "glued" and text != marker else text
        if letter in LETTER_OF_BYTE and (letter != text or to_stand_ins(text.encode()) != text):
            raise FormatError(
                f"The special token {text!r} is written like an ordinary token in a tokenizer.json.",
                "Choose another text for it.",
            )


def document_of(tokenizer: Tokenizer) -> Json:
    """Return the content of a tokenizer.json. Raises FormatError if it would encode differently."""
    base = tokenizer.base
    _check_marker(base.end_of_word)
    _check_named_like_the_marker(base.end_of_word, base.marker, list(tokenizer.special_ids))
    check_sweeping(tokenizer, False, "tokenizer.json")
    texts = written_symbols(tokenizer)
    vocabulary = _vocabulary(tokenizer, texts)
    pairs, takes_whole = _merges(tokenizer)
    counting = tokenizer.counting
    added = [_added_token(tokenizer, text) for text in dict.fromkeys(counting.special_tokens)]
    _add_specials(tokenizer, vocabulary)
    if takes_whole:
        _check_no_special_is_a_pretoken(tokenizer)
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": sorted(added, key=lambda token: int(token["id"])),
        "normalizer": _normalizer(counting.normalize),
        "pre_tokenizer": _pre_tokenizer(tokenizer),
        "post_processor": None,
        "decoder": _decoder(tokenizer),
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": tokenizer.unknown,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": base.marker if base.end_of_word == "glued" else None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": takes_whole,
            "vocab": vocabulary,
            "merges": [[texts[left], texts[right]] for left, right in pairs],
        },
    }


def _merges(tokenizer: Tokenizer) -> tuple[list[Pair], bool]:
    """Return the merges up to the position, and whether a pre-token that is a token is taken whole.

    Of a list of ranks the one pair that ever makes each token; converters write every way to cut it in two, and the
    others never apply.
    """
    ranks = tokenizer.merge_ranks
    if not isinstance(ranks, JoinedRanks):
        return tokenizer.pairs, False
    made = ranks.merging_pairs(tokenizer.position)
    # Where merges make every token, a pre-token becomes the token that it is without being taken whole.
    return [pair for pair in made if pair is not None], None in made


def written_symbols(tokenizer: Tokenizer) -> list[str]:
    """Return how each symbol up to the position is written: stand-in letters or text, and its marker."""
    symbols, base = tokenizer.symbols, tokenizer.base
    written = []
    for symbol in range(len(base) + tokenizer.position):
        content = symbols.content(symbol)
        text = to_stand_ins(content) if base.base == "bytes" else content.decode()
        written.append(text + base.marker if symbols.ends_word(symbol) else text)
    return written


def _vocabulary(tokenizer: Tokenizer, texts: Sequence[str]) -> dict[str, int]:
    """Return the ids of symbols by how they are written. Raises FormatError if two would be one to the library."""
    vocabulary: dict[str, int] = {}
    base = tokenizer.base
    for symbol, text in enumerate(texts):
        token_id = tokenizer.id_of(symbol)
        is_other = vocabulary.setdefault(text, token_id) != token_id
        if base.end_of_word == "glued" and (
            is_other or (symbol >= len(base) and _is_letter(base.end_of_word, base.marker, text))
        ):
            raise FormatError(
                f"The token {text!r} ends like the end-of-word marker, "
                "and the library would take the one for the other.",
                "Train with a --marker that the corpus does not hold.",
            )
        if is_other:
            raise FormatError(f"Two tokens with ids {vocabulary[text]} and {token_id} have the same text {text!r}.")
    return vocabulary


def _add_specials(tokenizer: Tokenizer, vocabulary: dict[str, int]) -> None:
    """Add the unknown and the special tokens. Raises FormatError where one would be misread."""
    base = tokenizer.base
    n_ordinary = len(vocabulary)
    for text, token_id in tokenizer.special_ids.items():
        ordinary = vocabulary.get(text)
        if ordinary is not None and ordinary != token_id:
            raise FormatError(
                f"The special token {text!r} is written like the ordinary token {ordinary} in a tokenizer.json.",
                "Choose another text for it.",
            )
        if ordinary is not None and text == tokenizer.unknown and base.base == "characters":
            raise FormatError(
                f"The unknown token {text!r} is an ordinary token as well, and the library would merge it.",
                "Choose another text for it.",
            )
        if ordinary is not None:
            continue
        # One letter in the vocabulary would be taken as a base symbol. The library numbers an added token that is
        # not in the vocabulary by their count, so it may stay out where that gives the same id.
        if base.base == "characters" and text != tokenizer.unknown and _is_letter(base.end_of_word, base.marker, text):
            if token_id != n_ordinary or len(tokenizer.special_ids) > 1:
                raise FormatError(
                    f"The special token {text!r} would be taken as an ordinary letter in a tokenizer.json.",
                    "Choose a longer text for it.",
                )
            continue
        vocabulary[text] = token_id


def _is_letter(end_of_word: EndOfWord, marker: str, text: str) -> bool:
    """Tell whether the library would take a text in the vocabulary as a letter, or as one that ends a word."""
    return len(text) == 1 or (end_of_word == "glued" and text[1:] == marker)


def _check_no_special_is_a_pretoken(tokenizer: Tokenizer) -> None:
    """Refuse a special token that, typed as plain text, would be found in the vocabulary and taken whole."""
    pretokenizer = pretokenizer_for(tokenizer.counting)
    for text in tokenizer.special_ids:
        if pretokenizer.split(text) == [text]:
            raise FormatError(
                f"Some tokens are only taken whole, and so would the special token {text!r} be in a tokenizer.json, "
                "even as plain text: it is one pre-token.",
                "Choose another text for it, or save as .tiktoken.",
            )


def _is_normalized(tokenizer: Tokenizer, text: str) -> bool:
    """Tell whether a special token is looked for in normalized text, where the library looks for it normalized too."""
    return tokenizer.normalizes_first and normalize(text, tokenizer.counting.normalize) == text


def _added_token(tokenizer: Tokenizer, text: str) -> Json:
    return {
        "id": tokenizer.special_ids[text],
        "content": text,
        "single_word": False,
        "lstrip": False,
        "rstrip": False,
        "normalized": _is_normalized(tokenizer, text),
        "special": True,
    }


def _normalizer(forms: Sequence[str]) -> Json | None:
    chain = [{"type": NORMALIZERS[form]} for form in forms]
    return {"type": "Sequence", "normalizers": chain} if len(chain) > 1 else next(iter(chain), None)


BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False}


def _pre_tokenizer(tokenizer: Tokenizer) -> Json | None:
    counting = tokenizer.counting
    steps: list[Json] = []
    if counting.pattern != WHOLE_TEXT:
        steps.append(_split(counting))
    if tokenizer.base.base == "bytes":
        steps.append(BYTE_LEVEL)
    elif tokenizer.unknown is None and tokenizer.base.end_of_word == "none":
        steps.append(split_off_unknown([content.decode() for content in tokenizer.base.content]))
    return {"type": "Sequence", "pretokenizers": steps} if len(steps) > 1 else next(iter(steps), None)


def _split(counting: CountingOptions) -> Json:
    entry = pretokenizer_for(counting)
    pattern = entry.pattern or LINES
    if reason := why_not_alike(pattern):
        raise FormatError(
            f"The pattern {shortened(pattern)} would cut text differently in a tokenizer.json: {reason}.",
            "Choose a named pretokenizer or a simpler pattern.",
        )
    covers = entry.lossless
    return {
        "type": "Split",
        "pattern": {"Regex": for_library(pattern)},
        "behavior": "Isolated" if covers else "Removed",
        "invert": not covers,
    }


def split_off_unknown(letters: Sequence[str]) -> Json:
    """Return the step that removes what the base lacks, so that its neighbours are not joined.

    Without it the library would leave the letter out and merge what stands left and right of it.
    """
    known = "".join(f"\\x{{{ord(letter):X}}}" for letter in sorted(set(letters)))
    return {
        "type": "Split",
        "pattern": {"Regex": f"[^{known}]" if known else r"[\s\S]"},
        "behavior": "Removed",
        "invert": False,
    }


def _decoder(tokenizer: Tokenizer) -> Json:
    base = tokenizer.base
    steps: list[Json] = []
    if base.end_of_word == "glued":
        blank = "" if tokenizer.covers_text else " "
        if base.base == "bytes" and blank:
            blank = LETTER_OF_BYTE[ord(" ")]
        marker = "".join(f"\\x{{{ord(letter):X}}}" for letter in base.marker)
        steps.append({"type": "Replace", "pattern": {"Regex": f"{marker}\\z"}, "content": blank})
    steps.append({**BYTE_LEVEL, "use_regex": True} if base.base == "bytes" else {"type": "Fuse"})
    if base.end_of_word == "glued" and not tokenizer.covers_text:
        steps.append({"type": "Strip", "content": " ", "start": 0, "stop": 1})
    return {"type": "Sequence", "decoders": steps} if len(steps) > 1 else steps[0]


def losses(tokenizer: Tokenizer) -> Iterator[str]:
    """Say what is not the same in the library; nothing for a file that is written as it was read."""
    if tokenizer.document is not None:
        return
    if "lowercase" in tokenizer.counting.normalize:
        yield SIGMA_NOTE
    if tokenizer.counting.normalize:
        yield UNICODE_NOTE
    others = [text for text in tokenizer.counting.special_tokens if not _is_normalized(tokenizer, text)]
    if tokenizer.normalizes_first and others:
        yield (
            "Special tokens are looked for before text is normalized; where this comes from it is afterwards: "
            f"{', '.join(others)}."
        )
    base = tokenizer.base
    if base.base == "characters" and base.end_of_word == "glued" and tokenizer.unknown is None:
        yield (
            "A letter that the vocabulary lacks is left out by the tokenizers library, which then joins its "
            "neighbours; bpe-viz keeps a gap. With --unknown both do the same."
        )
    if tokenizer.counting.pattern is not None and not library_is_installed():
        yield "The pattern was not tried with the tokenizers library, which is not installed."
