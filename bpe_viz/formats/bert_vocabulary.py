"""BERT's vocab.txt as a format: WordPiece behind BERT's own steps, run by the `tokenizers` library.

Source: google-research/bert, tokenization.py; Hugging Face transformers, models/bert/tokenization_bert.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from bpe_viz.engine.tokenizer import Tokenizer
from bpe_viz.engine.types import CountingOptions
from bpe_viz.formats import Format, refuse_pretokenizer
from bpe_viz.formats._bert_vocabulary import CONTINUES, SPECIAL, looks_like_bert, read_bert
from bpe_viz.formats._own_library import TOKENIZERS
from bpe_viz.formats._reading import parse_json, read_whole
from bpe_viz.formats._tokenizer_json_reading import read_document

SETTINGS = "tokenizer_config.json"


class _Settings(msgspec.Struct):
    """What a tokenizer_config.json says of BERT's steps."""

    do_lower_case: bool | None = None
    strip_accents: bool | None = None
    tokenize_chinese_chars: bool = True


def detect(path: Path, head: bytes) -> bool:
    """Tell whether a file begins as such a vocabulary does."""
    return looks_like_bert(head)


def load(path: Path, given: CountingOptions | None = None) -> Tokenizer:
    """Read a vocabulary, with the settings beside it. Raises FormatError that names the line."""
    refuse_pretokenizer(path, given)
    ids = read_bert(path)
    beside = path.parent / SETTINGS
    settings = parse_json(beside, read_whole(beside), _Settings, SETTINGS) if beside.is_file() else _Settings()
    notes = [f"BERT's own steps are run; {SETTINGS} beside the file says how." if beside.is_file() else _ALONE, _WHOSE]
    lowers = settings.do_lower_case
    if lowers is None:
        lowers = not _has_capitals(ids)
        notes.append(
            "As no token has a capital letter, text is made lower case."
            if lowers
            else "As tokens have capital letters, text is not made lower case."
        )
    document = msgspec.json.encode(_document(ids, lowers, settings))
    tokenizer = read_document(document, str(path), path.name)
    tokenizer.notes = (*tokenizer.notes, *notes)
    return tokenizer


_ALONE = f"BERT's own steps are run, as no {SETTINGS} stands beside the file."

_WHOSE = (
    "The tokenizers library runs them. Google's first code, in Python, sorts rare characters by another Unicode, and "
    "drops those that it does not know."
)


def _has_capitals(ids: Mapping[str, int]) -> bool:
    return any(token != token.lower() for token in ids if token not in SPECIAL and not token.startswith("[unused"))


def _document(ids: Mapping[str, int], lowers: bool, settings: _Settings) -> dict[str, Any]:
    """Return the tokenizer.json that says the same."""
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    has_ends = "[CLS]" in ids and "[SEP]" in ids
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": ids[text], "content": text, **flags} for text in SPECIAL if text in ids],
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": settings.tokenize_chinese_chars,
            "strip_accents": settings.strip_accents,
            "lowercase": lowers,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", ids["[SEP]"]], "cls": ["[CLS]", ids["[CLS]"]]}
        if has_ends
        else None,
        "decoder": {"type": "WordPiece", "prefix": CONTINUES, "cleanup": True},
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": CONTINUES,
            "max_input_chars_per_word": 100,
            "vocab": dict(ids),
        },
    }


FORMAT = Format(
    name="bert",
    title="BERT vocab.txt",
    suffixes=("vocab.txt",),
    detect=detect,
    load=load,
    library=TOKENIZERS,
)
