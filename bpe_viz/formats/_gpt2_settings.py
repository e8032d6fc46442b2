"""What stands beside a vocabulary and its merges: which class of tokenizer they are for, and its special tokens.

Source: Hugging Face transformers; `tokenizer_config.json`, `special_tokens_map.json`, `added_tokens.json`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import msgspec

from bpe_viz.errors import FormatError
from bpe_viz.formats._reading import AGAIN, LARGEST_ID, parse_json, parse_numbers, read_whole, shortened_json

CONFIG, MAP, ADDED = "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"
_NAMED = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")


@dataclass(frozen=True, slots=True)
class TokenizerClass:
    """How a class of the library treats text.

    pretokenizer: a name of ours, or a pattern
    around: the tokens that it puts around a text, which the two files do not say and bpe_viz leaves out
    named: the tokens that have a part to play where no file says which, by the part
    forgets_flags: it adds those tokens itself, and what a file says of them is lost
    steps: the parts of a tokenizer.json that it builds otherwise than from the above
    """

    pretokenizer: str
    pattern: str | None = None
    normalize: tuple[str, ...] = ()
    end_of_word: Literal["none", "glued"] = "none"
    around: tuple[str, ...] = ()
    named: Mapping[str, str] = field(default_factory=dict)
    forgets_flags: bool = False
    steps: Mapping[str, Any] = field(default_factory=dict)


_END = "<|endoftext|>"
_GPT2_NAMED = dict.fromkeys(("bos_token", "eos_token", "unk_token"), _END)
_QWEN2_NAMED = dict.fromkeys(("eos_token", "unk_token", "pad_token"), _END)

_CLIP_PATTERN = r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"

CLIP = TokenizerClass(
    "gpt2",
    pattern=_CLIP_PATTERN,
    normalize=("NFC", "lowercase"),
    end_of_word="glued",
    around=("<|startoftext|>", "<|endoftext|>"),
    steps={
        "normalizer": {
            "type": "Sequence",
            "normalizers": [
                {"type": "NFC"},
                {"type": "Replace", "pattern": {"Regex": r"\s+"}, "content": " "},
                {"type": "Lowercase"},
            ],
        },
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [
                {"type": "Split", "pattern": {"Regex": _CLIP_PATTERN}, "behavior": "Removed", "invert": True},
                # It cuts again, by GPT-2's pattern: the text of a special token, where that is no token.
                {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
            ],
        },
    },
)

# Source: transformers 5.24, models/gpt2/tokenization_gpt2.py and its neighbours.
CLASSES = {
    "GPT2Tokenizer": TokenizerClass("gpt2", named=_GPT2_NAMED),
    "CodeGenTokenizer": TokenizerClass("gpt2", named=_GPT2_NAMED),
    "Qwen2Tokenizer": TokenizerClass("qwen2", normalize=("NFC",), named=_QWEN2_NAMED, forgets_flags=True),
    "CLIPTokenizer": CLIP,
}

IGNORING_CASE = {*CLASSES, "RobertaTokenizer", "BartTokenizer"}
"""Classes that do not heed do_lower_case, neither in transformers 5.24 nor in 4.57, slow or fast."""


class AddedToken(msgspec.Struct):
    """A token as these files write it."""

    content: str
    single_word: bool = False
    lstrip: bool = False
    rstrip: bool = False
    normalized: bool = False
    special: bool | None = None


@dataclass(slots=True)
class Settings:
    """What the files beside the two say.

    class_name: of the tokenizer, without Fast; "" if nothing says
    tokens: the added and the special tokens by text, None where only a name is given and the vocabulary has the id
    normalized: those tokens that are looked for in normalized text
    paths: the files that were there
    flags: what else is said of a token, by text
    named: the tokens that have a part to play, by the part, such as bos_token; None: none is to play it
    others: additional special tokens
    notes: what is to be said of them
    adds_space: a space is put before a text; adds_begin, adds_end: bos_token and eos_token are put around it
    """

    class_name: str = ""
    tokens: dict[str, int | None] = field(default_factory=dict)
    normalized: set[str] = field(default_factory=set)
    named: dict[str, str | None] = field(default_factory=dict)
    paths: list[Path] = field(default_factory=list)
    flags: dict[str, AddedToken] = field(default_factory=dict)
    others: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    adds_space: bool = False
    adds_begin: bool = False
    adds_end: bool = False

    @property
    def unknown(self) -> str | None:
        """The unknown token."""
        return self.named.get("unk_token")

    def follow(self, kind: TokenizerClass, vocabulary: Collection[str]) -> None:
        """Take the tokens that a class names where no file does, if the vocabulary has them or they are needed."""
        self.named = {**kind.named, **self.named}
        if kind.around:  # it puts these around a text whatever is said
            self.adds_begin = self.adds_end = False
        for text in self.named.values():
            if text is not None and (text in vocabulary or text in self.around):
                self.tokens.setdefault(text, None)
        for text in (*self.named.values(), *self.others) if kind.forgets_flags else ():
            if text is not None:
                self.flags[text] = AddedToken(text, special=True)
                self.normalized.discard(text)

    @property
    def around(self) -> tuple[str | None, str | None]:
        """The tokens that are put before and behind a text, None where there is none."""
        begins, ends = self.named.get("bos_token"), self.named.get("eos_token")
        return begins if self.adds_begin else None, ends if self.adds_end else None

    @property
    def is_plain(self) -> bool:
        """Whether nothing is added to a text, and tokens take no more of it than their own."""
        takes_more = any(token.single_word or token.lstrip or token.rstrip for token in self.flags.values())
        return not takes_more and not self.adds_space and self.around == (None, None)

    def ids(self, folder: Path, vocabulary: dict[str, int]) -> dict[str, int]:
        """Return the ids of the tokens. Raises FormatError for one that has none, or another in the vocabulary."""
        found: dict[str, int] = {}
        for text, number in self.tokens.items():
            known = vocabulary.get(text)
            if number is None and known is None:
                raise FormatError(
                    f"{folder}: the special token {text!r} is named, but neither the vocabulary nor {ADDED} has it.",
                    f"Give its id in {ADDED}.",
                )
            if number is not None and known is not None and number != known:
                raise FormatError(f"{folder}: {text!r} has the id {number}, but the vocabulary says {known}.", AGAIN)
            found[text] = known if number is None else number  # type: ignore[assignment]  # one of the two is there
        return found


def read_settings(folder: Path) -> Settings:
    """Read what stands in a folder. Raises FormatError for what bpe_viz would not do in the same way."""
    settings = Settings()
    path = folder / ADDED
    if path.is_file():
        settings.paths.append(path)
        for text, number in parse_numbers(path, read_whole(path), ADDED).items():
            _add(settings, path, text, number)
            settings.normalized.add(text)
    path = folder / CONFIG
    if path.is_file():
        settings.paths.append(path)
        _read_config(settings, path, parse_json(path, read_whole(path), dict[str, Any], CONFIG))
    path = folder / MAP
    if path.is_file():
        settings.paths.append(path)
        _read_named(settings, path, parse_json(path, read_whole(path), dict[str, Any], MAP))
    return settings


def _read_config(settings: Settings, path: Path, config: dict[str, Any]) -> None:
    name = config.get("tokenizer_class")
    settings.class_name = str(name).removesuffix("Fast") if name else ""
    if config.get("do_lower_case"):
        if settings.class_name not in IGNORING_CASE:
            raise FormatError(
                f"{path}: do_lower_case is {shortened_json(config['do_lower_case'])}, and bpe-viz does not know what a "
                f"{settings.class_name or 'tokenizer of no named class'} does then.",
                "Remove it there, if a text is to be encoded as it is.",
            )
        settings.notes.append(f"{CONFIG} says do_lower_case, which a {settings.class_name} does not heed.")
    settings.adds_space = bool(config.get("add_prefix_space"))
    settings.adds_begin, settings.adds_end = bool(config.get("add_bos_token")), bool(config.get("add_eos_token"))
    decoder = config.get("added_tokens_decoder") or {}
    if not isinstance(decoder, dict):
        raise FormatError(f"{path}: added_tokens_decoder is {shortened_json(decoder)}, no object.", AGAIN)
    for number, value in decoder.items():
        place = f"added_tokens_decoder.{number}"
        if not (number.isascii() and number.isdigit()) or len(number) > 10 or int(number) > LARGEST_ID:
            raise FormatError(f"{path}: {place} is no id.", AGAIN)
        token = _token(path, place, value)
        _add(settings, path, token.content, int(number))
        settings.flags[token.content] = token
        (settings.normalized.add if token.normalized else settings.normalized.discard)(token.content)
    _read_named(settings, path, config)


def _read_named(settings: Settings, path: Path, values: dict[str, Any]) -> None:
    """Read tokens that have a part to play."""
    settings.named |= {name: None for name in _NAMED if name in values and values[name] is None}
    for place, value in _named(path, values):
        token = _token(path, place, value)
        if place in _NAMED:
            settings.named[place] = token.content
        else:
            settings.others.append(token.content)
        if token.content not in settings.tokens:
            _add(settings, path, token.content, None)
            settings.flags[token.content] = token
            if token.normalized:
                settings.normalized.add(token.content)


def _named(path: Path, values: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for name in _NAMED:
        if values.get(name) is not None:
            yield name, values[name]
    others = values.get("additional_special_tokens") or []
    if not isinstance(others, list):
        raise FormatError(f"{path}: additional_special_tokens is {shortened_json(others)}, no list.", AGAIN)
    for number, value in enumerate(others):
        yield f"additional_special_tokens[{number}]", value


def _token(path: Path, place: str, value: Any) -> AddedToken:
    """Return a token that is a text or an object. Raises FormatError for what is neither."""
    try:
        return AddedToken(value) if isinstance(value, str) else msgspec.convert(value, AddedToken)
    except msgspec.ValidationError as error:
        raise FormatError(f"{path}: {place} is no token: {error}.", AGAIN) from error


def _add(settings: Settings, path: Path, text: str, number: int | None) -> None:
    if not text:
        raise FormatError(f"{path}: a special token has no text.", AGAIN)
    known = settings.tokens.get(text)
    if known is not None and number is not None and known != number:
        raise FormatError(f"{path}: {text!r} has the id {number}, but elsewhere {known}.", AGAIN)
    settings.tokens[text] = known if number is None else number
