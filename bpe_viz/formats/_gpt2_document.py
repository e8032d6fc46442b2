"""GPT-2's two files with settings that no options say, as the tokenizer.json that says the same.

Source: transformers 5.24, tokenization_utils_tokenizers.py, which builds such a tokenizer of the same parts.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from bpe_viz.engine.tokenizer import Tokenizer
from bpe_viz.errors import FormatError
from bpe_viz.formats._gpt2_settings import CONFIG, AddedToken, Settings, TokenizerClass
from bpe_viz.formats._tokenizer_json_reading import read_document
from bpe_viz.formats._tokenizer_json_writing import BYTE_LEVEL, document_of
from bpe_viz.formats._written_merges import WrittenList

Json = dict[str, Any]


def with_settings(
    tokenizer: Tokenizer,
    vocabulary: dict[str, int],
    written: WrittenList,
    settings: Settings,
    kind: TokenizerClass | None,
) -> Tokenizer:
    """Return the same tokenizer as the library runs it: its tokens take white space, and tokens stand around a text.

    tokenizer: of the two files, with their added tokens, as options say it
    kind: the library's class; None: how text is cut was given by the user
    Raises FormatError for what options do not tell the library.
    """
    document = document_of(tokenizer)
    document["model"] |= {"vocab": vocabulary, "merges": [[merge.left, merge.right] for merge in written.merges]}
    document["added_tokens"] = [
        _added(text, number, settings)
        for text, number in sorted(tokenizer.special_ids.items(), key=lambda item: item[1])
    ]
    document |= {} if kind is None else kind.steps
    document["post_processor"] = _template(*settings.around, tokenizer.special_ids)
    if settings.adds_space:
        if kind is None:
            raise FormatError(
                f"{written.path.with_name(CONFIG)}: add_prefix_space is true, and bpe-viz does not know where a "
                f"{settings.class_name or 'tokenizer of no named class'} puts the space.",
                "Remove it there, if a text is to be encoded without.",
            )
        document["pre_tokenizer"] = _with_space(document["pre_tokenizer"], kind)
    return read_document(msgspec.json.encode(document), str(written.path), tokenizer.name)


def _added(text: str, number: int, settings: Settings) -> Json:
    token = settings.flags.get(text, AddedToken(text, special=text not in settings.normalized))
    return {
        "id": number,
        "content": text,
        "single_word": token.single_word,
        "lstrip": token.lstrip,
        "rstrip": token.rstrip,
        "normalized": text in settings.normalized,
        "special": token.special is not False,
    }


def _template(begins: str | None, ends: str | None, ids: dict[str, int]) -> Json | None:
    """Return the step that puts tokens around a text."""
    around = [text for text in (begins, ends) if text is not None]
    if not around:
        return None
    single: list[Json] = [{"Sequence": {"id": "A", "type_id": 0}}]
    if begins is not None:
        single.insert(0, {"SpecialToken": {"id": begins, "type_id": 0}})
    if ends is not None:
        single.append({"SpecialToken": {"id": ends, "type_id": 0}})
    return {
        "type": "TemplateProcessing",
        "single": single,
        "pair": [*single, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {text: {"id": text, "ids": [ids[text]], "tokens": [text]} for text in around},
    }


def _with_space(steps: Json, kind: TokenizerClass) -> Json:
    """Put a space first: before a whole text where the library cuts by its ByteLevel, else before every piece."""
    if kind.pretokenizer == "gpt2" and kind.pattern is None:
        return {**BYTE_LEVEL, "add_prefix_space": True, "use_regex": True}
    return {**steps, "pretokenizers": [*steps["pretokenizers"][:-1], {**BYTE_LEVEL, "add_prefix_space": True}]}


def document_beside(path: Path) -> Path:
    """Return where a tokenizer.json would stand beside the two files, which says everything."""
    return path.with_name("tokenizer.json")
