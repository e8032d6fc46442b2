"""Small GGUF files: metadata alone, as a model without tensors has it."""

from __future__ import annotations

import struct
from typing import Any

GGML = "tokenizer.ggml."
BYTE_NAMES = [f"<0x{byte:02X}>" for byte in range(256)]
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)

_CODES = {"uint8": (0, "B"), "int8": (1, "b"), "uint16": (2, "H"), "int16": (3, "h"), "uint32": (4, "I"),
          "int32": (5, "i"), "float32": (6, "f"), "bool": (7, "?"), "uint64": (10, "Q"), "int64": (11, "q"),
          "float64": (12, "d")}  # fmt: skip
_STRING, _LIST = 8, 9
Value = str | bool | int | list[str] | tuple[str, Any]
"""A value by its Python type, an int as uint32; or (type, number or list of numbers)."""


def gguf(fields: dict[str, Value], version: int = 3, order: str = "<", n_tensors: int = 0) -> bytes:
    """Return the bytes of a file. order: of bytes, as `struct` writes it"""

    def string(text: str) -> bytes:
        content = text.encode()
        return struct.pack(f"{order}Q", len(content)) + content

    def value(one: Value) -> bytes:
        if isinstance(one, str):
            return struct.pack(f"{order}I", _STRING) + string(one)
        if isinstance(one, list):
            return struct.pack(f"{order}IIQ", _LIST, _STRING, len(one)) + b"".join(map(string, one))
        if isinstance(one, bool | int):
            one = ("bool" if isinstance(one, bool) else "uint32", one)
        code, letter = _CODES[one[0]]
        if isinstance(one[1], list):
            head = struct.pack(f"{order}IIQ", _LIST, code, len(one[1]))
            return head + struct.pack(f"{order}{len(one[1])}{letter}", *one[1])
        return struct.pack(f"{order}I{letter}", code, one[1])

    head = b"GGUF" + struct.pack(f"{order}IQQ", version, n_tensors, len(fields))
    return head + b"".join(string(key) + value(one) for key, one in fields.items())


def bpe_fields(
    tokens: list[str], merges: list[str], pre: str | None = "gpt-2", types: dict[str, int] | None = None, **more: Value
) -> dict[str, Value]:
    """Return the metadata of a byte-level BPE model. types: of tokens that are no normal ones; more: further keys"""
    return _fields("gpt2", tokens, types or {}, {"merges": merges, **({} if pre is None else {"pre": pre}), **more})


def character_fields(tokens: list[str], merges: list[str], model: str = "gemma4", **more: Value) -> dict[str, Value]:
    """Return the metadata of a model whose merges join characters; its first tokens are <bos> and the 256 bytes."""
    types = {"<bos>": CONTROL, **dict.fromkeys(BYTE_NAMES, BYTE)}
    more = {"merges": merges, "bos_token_id": 0, **more}
    return _fields(model, ["<bos>", *BYTE_NAMES, *tokens], types, more)


def piece_fields(
    pieces: list[tuple[str, float]], types: dict[str, int] | None = None, **more: Value
) -> dict[str, Value]:
    """Return the metadata of a model of pieces with scores, those of the 256 bytes behind <unk>, <s> and </s>."""
    first = [("<unk>", 0.0), ("<s>", 0.0), ("</s>", 0.0), *((name, 0.0) for name in BYTE_NAMES)]
    known = {"<unk>": UNKNOWN, "<s>": CONTROL, "</s>": CONTROL, **dict.fromkeys(BYTE_NAMES, BYTE)}
    texts = [text for text, _ in first + pieces]
    scores = ("float32", [score for _, score in first + pieces])
    return _fields("llama", texts, {**known, **(types or {})}, {"scores": scores, **more})


def _fields(model: str, tokens: list[str], types: dict[str, int], more: dict[str, Value]) -> dict[str, Value]:
    numbers = ("int32", [types.get(token, NORMAL) for token in tokens])
    return {
        "general.architecture": "llama",
        f"{GGML}model": model,
        f"{GGML}tokens": tokens,
        f"{GGML}token_type": numbers,
        **{GGML + name: value for name, value in more.items()},
    }
