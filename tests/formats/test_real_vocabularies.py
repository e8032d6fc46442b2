"""Real tokenizer files of a folder against their own libraries: BPE_VIZ_VOCABULARIES names the folder.

Each file in it, or in a folder below, that some format reads is opened, compared with its library on random texts,
decoded, saved in every format that can hold it and read again.
"""

from __future__ import annotations

import os
import random
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from bpe_viz.engine.library_pipelines import GuardedPipeline
from bpe_viz.engine.pipeline import PlainPipeline
from bpe_viz.engine.tokenizer import SpecialText, Tokenizer
from bpe_viz.engine.types import CountingOptions
from bpe_viz.errors import BpeVizError, FormatError
from bpe_viz.formats import (
    Format,
    PretokenizerNeeded,
    detect_format,
    draft_tokenizer,
    formats,
    load_tokenizer,
)
from bpe_viz.names import Located
from bpe_viz.verification import Verifier

NAME = "BPE_VIZ_VOCABULARIES"
FOLDER = os.environ.get(NAME)
GIVEN = CountingOptions("gpt2")
"""How text is cut where a file does not say."""

N_COMPARED, N_SAVED = 3000, 300

_SENTENCES = (
    "the cat's DON'T I'LL naïve Σίσυφος ΟΔΟΣ İstanbul ẞ ﬁne Ｆｕｌｌ 日本語 한국어 हिन्दी 12345 ½ x**2 "
    "foo_bar() ▁ Ġ ## 🤏🏽 👩‍👩‍👧 </w> <0x0A> e\u0301 \ufeff \u200d \u0345 \u1c89 \U0001cd00 \x00 \x1c"
)
_WORDS = (*_SENTENCES.split(" "), *("\x85", "\u2028", " ", "  ", "   ", "\n", "\n\n", "\r\n", "\t", "\xa0", "\u3000"))


def readable() -> Iterator[Path]:
    """Yield the tokenizer files of the folder; of two that belong together the first."""
    for path in sorted(Path(FOLDER or "").rglob("*")) if FOLDER else ():
        if path.is_file() and not path.name.endswith("config.json") and detect_format(path) is not None:
            yield path


FILES = [pytest.param(path, id=str(path.relative_to(FOLDER or ""))) for path in readable()] or [
    pytest.param(
        Path(),
        id="none",
        marks=pytest.mark.skip(reason=f"the environment variable {NAME} names no folder of tokenizer files"),
    )
]


@pytest.fixture(scope="module", params=FILES)
def opened(request) -> tuple[Path, Tokenizer, CountingOptions | None]:
    """A file, what is read from it, and how text is cut if that has to be given."""
    path: Path = request.param
    return path, *loaded(path, GIVEN)


def loaded(path: Path, given: CountingOptions) -> tuple[Tokenizer, CountingOptions | None]:
    """Read a file; given: how text is cut, if it does not say so."""
    try:
        return load_tokenizer(path), None
    except PretokenizerNeeded:
        return load_tokenizer(path, given), given


def texts_for(path: Path, tokenizer: Tokenizer, n: int) -> Iterator[str]:
    """Yield random texts: words, special tokens, tokens of the vocabulary, and any characters."""
    random_ = random.Random(zlib.crc32(path.name.encode()))
    specials = list(tokenizer.special_ids) or [""]
    labels = [tokenizer.label(one) for one in random_.choices([token.id for token in tokenizer.vocabulary()], k=2000)]
    ends = (0x80, 0x250, 0x3000, 0xD800, 0x20000, 0x110000)
    for _ in range(n):
        parts = []
        for _ in range(random_.randrange(12)):
            kind = random_.randrange(9)
            if kind < 4:
                parts.append(random_.choice(_WORDS) + random_.choice(("", " ")))
            elif kind < 5:
                parts.append(random_.choice(specials))
            elif kind < 7:
                parts.append(random_.choice(labels).decode(errors="ignore"))
            else:
                code = random_.randrange(random_.choice(ends))
                parts.append("\ufffd" if 0xD800 <= code < 0xE000 else chr(code))
        yield "".join(parts)


def test_ids_are_those_of_its_own_library(opened):
    path, tokenizer, given = opened
    found = detect_format(path)
    if found is None or found.library is None:
        pytest.skip("no library that can be asked reads such a file")
    verifier = Verifier(Located(str(path), path, path.name), given)
    special_texts: tuple[SpecialText, ...] = ("allow", "text")
    try:
        verifier.verify(tokenizer.lay_out("a"))
    except BpeVizError as error:
        if "is not installed" in str(error):
            pytest.skip(str(error))
        raise
    try:
        for number, text in enumerate(texts_for(path, tokenizer, N_COMPARED)):
            special_text = special_texts[number % 3 == 0]
            encoded = tokenizer.lay_out(text, special_text)
            said = verifier.verify(encoded, special_text)
            assert said.is_same or (said.difference and said.difference.renumbered), (text, special_text, said)
            if special_text == "allow":
                assert tokenizer.encode_ids(text) == [one for one in encoded.at(tokenizer.position).ids if one >= 0]
    finally:
        verifier.close()


def is_lossless(tokenizer: Tokenizer) -> bool:
    is_plain = isinstance(tokenizer.pipeline, PlainPipeline | GuardedPipeline) and not tokenizer.counting.normalize
    return is_plain and tokenizer.base.base == "bytes" and tokenizer.covers_text


def test_ids_decode_to_the_text_they_come_from(opened):
    path, tokenizer, _ = opened
    if not is_lossless(tokenizer):
        pytest.skip("something of a text is normalized or dropped")
    for text in texts_for(path, tokenizer, N_COMPARED):
        assert tokenizer.decode(tokenizer.encode_ids(text)).text == text


@pytest.mark.parametrize("target", [one for one in formats() if one.contents is not None], ids=lambda one: one.name)
def test_what_is_saved_gives_the_same_ids(opened, target: Format, tmp_path):
    path, tokenizer, _ = opened
    saved = tmp_path / f"saved{'-' if target.companions(Path('merges.txt')) else ''}{target.suffixes[0]}"
    try:
        draft = draft_tokenizer(tokenizer, saved, target.name)
    except FormatError as error:
        pytest.skip(f"refused: {error.message}")
    draft.write()
    again, _ = loaded(saved, tokenizer.counting)
    is_exact = tokenizer.document is not None or not draft.losses
    special_text: SpecialText = "allow" if target.holds_pretokenizer and is_exact else "text"
    for text in texts_for(path, tokenizer, N_SAVED):
        # Libraries find special tokens and normalize rare letters each in its way, which is said when it is saved.
        plain = text if is_exact else "".join(one for one in text if one.isascii() and one.isprintable())
        one = tokenizer.lay_out(plain, special_text, around=False).encoding(tokenizer.position)
        if one.gaps:
            continue  # where the neighbours of a letter that is left out are joined is said when it is saved
        other = again.lay_out(plain, special_text, around=False).encoding(again.position)
        if target.holds_ids:
            assert [token.id for token in other.tokens] == [token.id for token in one.tokens], plain
        assert [token.content for token in other.tokens] == [token.content for token in one.tokens], plain
