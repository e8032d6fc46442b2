"""The vocabulary of a GGUF file, and what llama.cpp makes of its tokens by their names.

A file says little of its special tokens, so llama.cpp knows many by their texts, and puts their types right.
Source: ggml-org/llama.cpp, src/llama-vocab.cpp, as vendored by llama-cpp-python 0.3.36.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bpe_viz.engine.llama_cpp_cutting import SpecialToken
from bpe_viz.errors import FormatError
from bpe_viz.formats._gguf_metadata import Metadata, read_metadata
from bpe_viz.formats._reading import AGAIN, LARGEST_ID, shortened_line
from bpe_viz.formats._sentencepiece_proto import CONTROL, NORMAL, UNKNOWN, USER_DEFINED

_GGML = "tokenizer.ggml."
_FIM = {
    "pre": (
        *("<|fim_prefix|>", "<fim-prefix>", "<fim_prefix>", "<｜fim▁begin｜>", "<PRE>", "▁<PRE>"),
        *("<|code_prefix|>", "<|prefix|>"),
    ),
    "suf": (
        *("<|fim_suffix|>", "<fim-suffix>", "<fim_suffix>", "<｜fim▁hole｜>", "<SUF>", "▁<SUF>"),
        *("<|code_suffix|>", "<|suffix|>"),
    ),
    "mid": (
        *("<|fim_middle|>", "<fim-middle>", "<fim_middle>", "<｜fim▁end｜>", "<MID>", "▁<MID>"),
        *("<|code_middle|>", "<|middle|>"),
    ),
    "pad": ("<|fim_pad|>", "<fim-pad>", "<fim_pad>", "<PAD>", "[PAD]"),
    "rep": ("<|fim_repo|>", "<|repo_name|>", "<fim-repo>", "<REPO>", "<reponame>"),
    "sep": ("<|file_sep|>",),
}
"""Texts of tokens that fill in the middle; of each kind one becomes a control token."""

_OLD_NAMES = {"pre": "prefix", "suf": "suffix", "mid": "middle"}
_ENDS = (
    *("<|eot_id|>", "<|im_end|>", "<|end|>", "<|return|>", "<|call|>", "<|flush|>", "<|calls|>", "<end_of_turn>"),
    *("<|endoftext|>", "</s>", "<|eom_id|>", "<EOT>", "_<EOT>", "[EOT]", "[EOS]", "<|end_of_text|>"),
    *("<end_of_utterance>", "<eos>", "<turn|>", "<|tool_response>", "<｜end▁of▁sentence｜>", "[e~["),
)
"""Texts of tokens that end an answer: all become control tokens."""

_SHOWN_ALWAYS = ("<|channel|>", "<|message|>", "<|start|>", "<|constrain|>")
_WANTED = frozenset(
    {
        *("general.name", "general.architecture"),
        *(
            _GGML + name
            for name in (
                *("model", "pre", "tokens", "token_type", "scores", "merges", "bos_token_id", "eos_token_id"),
                *("add_bos_token", "add_eos_token", "add_space_prefix"),
                *(f"fim_{kind}_token_id" for kind in _FIM),
                *(f"{name}_token_id" for name in _OLD_NAMES.values()),
            )
        ),
    }
)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What a file says of its tokens.

    model: the name of the kind of model; pre: that of its pre-tokenizer, "" if there is none
    texts: by id, no text twice; types: by id, those of SentencePiece
    scores: by id; None: there are none
    merges: as they are written; None: there are none
    notes: what is out of the ordinary
    """

    path: Path
    metadata: Metadata
    model: str
    pre: str
    texts: list[str]
    types: list[int]
    scores: list[float] | None
    merges: list[str] | None
    notes: tuple[str, ...] = ()

    def ids(self) -> dict[str, int]:
        """Return the ids by text, newly made."""
        return {text: number for number, text in enumerate(self.texts)}

    @property
    def adds_space(self) -> bool:
        """Whether a model of pieces puts a space before a text."""
        adds = self.metadata.flag(f"{_GGML}add_space_prefix")
        return adds is None or adds

    def specials(self) -> list[SpecialToken]:
        """Return the tokens that are looked for in a text before anything else, in the order in which they are."""
        known = (CONTROL, USER_DEFINED, UNKNOWN)
        found = [
            SpecialToken(text, number, kind == USER_DEFINED)
            for number, (text, kind) in enumerate(zip(self.texts, self.types, strict=True))
            if kind in known
        ]
        return sorted(map(self._stripping, found), key=lambda one: -len(one.text.encode()))

    def _stripping(self, token: SpecialToken) -> SpecialToken:
        """Return a token that takes the white space beside it along, where llama.cpp knows that of the model's name."""
        name = (self.metadata.text("general.name") or "").lower()
        architecture = self.metadata.text("general.architecture") or ""
        if any(one in self.pre for one in ("jina-v2-de", "jina-v2-es", "jina-v2-code")) or any(
            one in architecture for one in ("nomic-bert-moe", "jina-bert-v3")
        ):
            return replace(token, strips_left=token.text == "<mask>")
        if "phi-3" in name or "phi3" in name:
            return replace(token, strips_right=token.text not in ("<unk>", "<s>", "<|endoftext|>"))
        if "modern-bert" in name:
            return replace(token, strips_left=token.text == "[MASK]")
        return token

    def around(
        self, adds_first: bool, first: int | None, last: int | None, always: bool = False
    ) -> tuple[SpecialToken | None, SpecialToken | None]:
        """Return the tokens that are put before and behind a text.

        adds_first: whether there is one before, first, last: which these are, if the file does not say
        always: there is one before, whatever the file says
        Raises FormatError if there is to be one that is not named.
        """
        adds = self.metadata.flag(f"{_GGML}add_bos_token")
        before = self._put("bos", always or (adds_first if adds is None else adds), first)
        return before, self._put("eos", self.metadata.flag(f"{_GGML}add_eos_token") or False, last)

    def _put(self, name: str, is_put: bool, otherwise: int | None) -> SpecialToken | None:
        if not is_put:
            return None
        key = f"{_GGML}{name}_token_id"
        number = self.metadata.number(key)
        if number is None or number >= len(self.texts):
            number = otherwise
        if number is None or number >= len(self.texts):
            raise FormatError(f"{self.path}: {_GGML}add_{name}_token is set, and {key} names no token.", AGAIN)
        return SpecialToken(self.texts[number], number)


def read_vocabulary(path: Path) -> Vocabulary:
    """Read the vocabulary of a file. Raises FormatError."""
    metadata = read_metadata(path, _WANTED)
    model = metadata.text(f"{_GGML}model")
    texts = metadata.texts(f"{_GGML}tokens")
    if model in (None, "none", "no_vocab") or texts is None:
        raise FormatError(
            f"{path} holds no vocabulary: {_GGML}{'tokens' if texts is None else 'model'} is not there.",
            "If the model lies in several files, open the first; a projector or an adapter has no vocabulary.",
        )
    texts = [text or f"[EMPTY_{number}]" for number, text in enumerate(texts)]
    ids = {text: number for number, text in enumerate(texts)}
    if len(ids) < len(texts):
        twice, number = next((text, number) for number, text in enumerate(texts) if ids[text] != number)
        raise FormatError(
            f"{path}: {_GGML}tokens lists {shortened_line(twice)} twice, as {number:,} and {ids[twice]:,}.", AGAIN
        )
    if len(texts) > LARGEST_ID or not texts:
        raise FormatError(f"{path}: {_GGML}tokens has {len(texts):,} entries.", AGAIN)
    types, notes = _types(metadata, texts, ids)
    return Vocabulary(
        path,
        metadata,
        str(model),
        metadata.text(f"{_GGML}pre") or "",
        texts,
        types,
        _numbers(metadata, "scores", len(texts), "float32", "int32"),
        metadata.texts(f"{_GGML}merges"),
        tuple(notes),
    )


def _numbers(metadata: Metadata, name: str, length: int, *kinds: str) -> list[float] | None:
    found = metadata.numbers(_GGML + name, *kinds)
    if found is None:
        return None
    if len(found) < length:
        raise FormatError(f"{metadata.path}: {_GGML}{name} has {len(found):,} entries for {length:,} tokens.", AGAIN)
    return found[:length]


def _types(metadata: Metadata, texts: Sequence[str], ids: dict[str, int]) -> tuple[list[int], list[str]]:
    """Return the types of tokens as llama.cpp takes them, and what is to be said of that."""
    written = _numbers(metadata, "token_type", len(texts), "int32")
    types = [NORMAL] * len(texts) if written is None else [int(kind) for kind in written]
    notes = []
    for names in _fill_in_the_middle(metadata, len(texts)):
        there = [ids[name] for name in names if name in ids]
        if len(there) > 1 and any(types[number] != CONTROL for number in there):
            listed = ", ".join(repr(texts[number]) for number in there)
            notes.append(f"llama.cpp takes one of {listed} for a control token, and which is left to chance: all are.")
        for number in there:
            types[number] = CONTROL
    for name in _ENDS:
        if name in ids:
            types[ids[name]] = CONTROL
    for name in _SHOWN_ALWAYS:
        if name in ids:
            types[ids[name]] = USER_DEFINED
    calls = {"<|call|>", "<|calls|>"} & ids.keys()
    if "<|end|>" in ids and calls and ("<|return|>" in ids or "<|flush|>" in ids):
        types[ids["<|end|>"]] = USER_DEFINED
    if "</s>" in ids and "<|tool_response>" in ids:
        types[ids["</s>"]] = NORMAL
    return types, notes


def _fill_in_the_middle(metadata: Metadata, n_tokens: int) -> Iterator[tuple[str, ...]]:
    """Yield the texts of each kind of token that the file does not name by its id."""
    for kind, names in _FIM.items():
        keys = [f"{_GGML}fim_{kind}_token_id"]
        if kind in _OLD_NAMES:
            keys.append(f"{_GGML}{_OLD_NAMES[kind]}_token_id")
        numbers = [metadata.number(key) for key in keys]
        if all(number is None or number >= n_tokens for number in numbers):
            yield names
