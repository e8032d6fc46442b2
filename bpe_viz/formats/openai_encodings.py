"""OpenAI's encodings: which published file of ranks each one has, and what belongs to it that the file does not say."""

from __future__ import annotations

import binascii
import json
from dataclasses import dataclass, field

from bpe_viz.formats._stand_ins import from_stand_ins

_FOLDER = "https://openaipublic.blob.core.windows.net/encodings/"
_END = "<|endoftext|>"

RANKS_OF_GPT2 = "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930"
GPT2_VOCABULARY = "https://openaipublic.blob.core.windows.net/gpt-2/encodings/main/encoder.json"
"""What tiktoken fetches for "gpt2", from which it makes those ranks."""
GPT2_VOCABULARY_SHA256 = "196139668be63f3b5d6574427317ae82f612a97c5d1cdaf36ed2256dbf636783"


@dataclass(frozen=True, slots=True)
class Encoding:
    """What belongs to a published file of ranks.

    name: as tiktoken calls it; model: what it is known from
    file: where its ranks are published; sha256: of that file
    pretokenizer: ours with its first published pattern; special_ids: by text
    models: names that people give instead of the encoding's, or how these begin
    """

    name: str
    model: str
    file: str
    sha256: str
    pretokenizer: str
    special_ids: dict[str, int] = field(hash=False)
    models: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """Both names, for people."""
        return f"{self.model} ({self.name})"

    @property
    def address(self) -> str:
        """Where the ranks are published."""
        return _FOLDER + self.file


_FIM = ("<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>")
_HARMONY = {
    "<|startoftext|>": 199998,
    _END: 199999,
    "<|endofprompt|>": 200018,
    "<|return|>": 200002,
    "<|constrain|>": 200003,
    "<|channel|>": 200005,
    "<|start|>": 200006,
    "<|end|>": 200007,
    "<|message|>": 200008,
    "<|call|>": 200012,
}

# Source: tiktoken 0.14, tiktoken_ext/openai_public.py and model.py. Of encodings with one file the first is what a file
# is taken for. "gpt2" is published as GPT-2's own two files there; written as ranks they are r50k_base's, byte by byte.
ENCODINGS = (
    Encoding(
        "cl100k_base",
        "GPT-4",
        "cl100k_base.tiktoken",
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
        "cl100k",
        {_END: 100257, **dict(zip(_FIM, range(100258, 100261), strict=True)), "<|endofprompt|>": 100276},
        ("gpt-4", "gpt-3.5", "gpt-35", "text-embedding-"),
    ),
    Encoding(
        "o200k_base",
        "GPT-4o",
        "o200k_base.tiktoken",
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
        "o200k",
        {_END: 199999, "<|endofprompt|>": 200018},
        ("gpt-4o", "chatgpt-4o", "gpt-4.1", "gpt-4.5", "gpt-5", "o1", "o3", "o4-mini"),
    ),
    Encoding(
        "o200k_harmony",
        "gpt-oss",
        "o200k_base.tiktoken",
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
        "o200k",
        {
            **_HARMONY,
            **{
                f"<|reserved_{number}|>": number
                for number in range(200000, 201088)
                # The first of these ids have names; from 200013 on all are reserved too, one of which has two names.
                if number > 200012 or number not in _HARMONY.values()
            },
        },
        ("gpt-oss",),
    ),
    Encoding(
        "p50k_base",
        "Codex",
        "p50k_base.tiktoken",
        "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069",
        "gpt2",
        {_END: 50256},
        ("code-", "text-davinci-002", "text-davinci-003", "davinci-codex", "cushman-codex"),
    ),
    Encoding(
        "p50k_edit",
        "GPT-3 edit",
        "p50k_base.tiktoken",
        "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069",
        "gpt2",
        {_END: 50256, **dict(zip(_FIM, range(50281, 50284), strict=True))},
        ("text-davinci-edit", "code-davinci-edit"),
    ),
    Encoding("r50k_base", "GPT-3", "r50k_base.tiktoken", RANKS_OF_GPT2, "gpt2", {_END: 50256}, ("davinci", "gpt-3")),
    Encoding("gpt2", "GPT-2", "r50k_base.tiktoken", RANKS_OF_GPT2, "gpt2", {_END: 50256}, ("gpt-2",)),
)


def encoding_named(name: str) -> Encoding | None:
    """Return the encoding that tiktoken calls so."""
    return next((one for one in ENCODINGS if one.name == name), None)


def encoding_of_model(name: str) -> Encoding | None:
    """Return the encoding of a model that is named so, by the longest beginning that is known."""
    known = [(len(beginning), one) for one in ENCODINGS for beginning in one.models if name.startswith(beginning)]
    return max(known, key=lambda pair: pair[0])[1] if known else None


def encoding_of_file(sha256: str) -> Encoding | None:
    """Return the encoding whose published file has this hash: the best known of those that share it."""
    return next((one for one in ENCODINGS if one.sha256 == sha256), None)


def ranks_of_vocabulary(vocabulary: bytes) -> bytes:
    """Write GPT-2's vocabulary, the content of its encoder.json, as a file of ranks."""
    ids: dict[str, int] = json.loads(vocabulary)
    tokens = sorted((number, from_stand_ins(text)) for text, number in ids.items() if text != _END)
    return b"".join(binascii.b2a_base64(token, newline=False) + b" %d\n" % number for number, token in tokens)
