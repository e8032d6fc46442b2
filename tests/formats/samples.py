"""A small file of every kind of tokenizer file, for what all of them have to do."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass, field
from pathlib import Path

from bpe_viz.engine.types import CountingOptions, TrainingOptions
from bpe_viz.formats import save_tokenizer
from bpe_viz.formats._stand_ins import LETTER_OF_BYTE
from tests.formats.gguf_files import bpe_fields, character_fields, gguf, piece_fields
from tests.formats.ranks import BYTES, b64
from tests.formats.test_sentencepiece import model_of
from tests.formats.training import trained

CORPUS = "low low low lower newest newest widest <s> naïve 字"

GIVEN = CountingOptions("gpt2")
BLANKS = CountingOptions("whitespace")


@dataclass
class Sample:
    """A whole file, small. given: how it cuts text, if it does not say so; beside: what stands in its folder"""

    name: str
    data: bytes
    given: CountingOptions | None = None
    beside: dict[str, bytes] = field(default_factory=dict)

    def write(self, folder: Path) -> Path:
        """Write it and what stands beside it, and return the file that is opened."""
        for name, data in {**self.beside, self.name: self.data}.items():
            (folder / name).write_bytes(data)
        opened = next((name for name in self.beside if name in ("merges.txt", "vocab.txt")), self.name)
        return folder / (opened if self.name.endswith("config.json") else self.name)


def saved(name: str, folder: Path, counting: CountingOptions, training: TrainingOptions) -> bytes:
    path = folder / name
    save_tokenizer(trained(CORPUS, counting, training), path)
    return path.read_bytes()


def all_samples(folder: Path) -> dict[str, Sample]:
    """Return a whole file of every kind, by NAMES; folder: an empty one to write to."""
    special = CountingOptions("gpt2", special_tokens=("<s>",))
    letters = {"base": "characters", "end_of_word": "glued"}
    ranks = {token: rank for rank, token in enumerate([*BYTES, b"lo", b"low", b"ne", b"est"])}
    lines = "\n".join(f"{b64(token)} {rank}" for token, rank in ranks.items())
    tekken = {
        "config": {"pattern": r"\S+|\s", "default_vocab_size": 260, "default_num_special_tokens": 3, "version": "v7"},
        "special_tokens": [{"rank": 0, "token_str": "<unk>"}],
        "vocab": [{"rank": rank, "token_bytes": b64(token), "token_str": None} for token, rank in ranks.items()],
    }
    rank_json = {"explicit_n_vocab": 261, "pat_str": r"\S+|\s", "special_tokens": {"<s>": 300}}
    pair = {
        "merges.txt": saved("merges.txt", folder, special, TrainingOptions(merges=20)),
        "vocab.json": (folder / "vocab.json").read_bytes(),
        "tokenizer_config.json": json.dumps(
            {
                "tokenizer_class": "Qwen2Tokenizer",
                "unk_token": None,
                "added_tokens_decoder": {"300": {"content": "<e>", "special": True, "normalized": False}},
                "additional_special_tokens": ["<s>"],
            }
        ).encode(),
    }
    letter_pair = {
        "merges.txt": saved("letters-merges.txt", folder, BLANKS, TrainingOptions(base="characters", merges=20)),
        "vocab.json": (folder / "letters-vocab.json").read_bytes(),
    }

    around = {
        name: data.replace(b"Qwen2Tokenizer", b"GPT2Tokenizer").replace(
            b'"normalized": false}', b'"normalized": false, "lstrip": true}').replace(
            b'"unk_token": null', b'"add_bos_token": true, "bos_token": "<s>"')
        for name, data in pair.items()
    }  # fmt: skip

    def one_of(files: dict[str, bytes], name: str, given: CountingOptions | None = None) -> Sample:
        return Sample(name, files[name], given, {other: data for other, data in files.items() if other != name})

    codes = saved("x.codes", folder, BLANKS, TrainingOptions(**letters, merges=20))
    rwkv = "".join(f"{number} {token!r} 1\n" for number, token in enumerate(BYTES)) + "256 'low' 3\n"
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "low", "##est", "new", "##er", "<", "s", ">", "naive", "字"]
    pieces = [("<unk>", 0.0, 2), ("<s>", 0.0, 3), ("lo", -1.0, 1), ("low", -2.0, 1), ("▁low", -3.0, 1), ("字", 0.0, 4)]
    pieces += [(letter, -9.0, 1) for letter in "▁lowestnr"]
    pieces += [(f"<0x{byte:02X}>", 0.0, 6) for byte in range(256)]
    merges, put_before = ["l o", "lo w", "Ġ low"], {"types": {"<s>": 3}, "add_bos_token": True, "bos_token_id": 259}
    escaped = [repr(bytes([byte]))[2:-1] for byte in range(256)]
    in_rwkv = {"tokenizer.ggml.model": "rwkv", "tokenizer.ggml.tokens": [*escaped, "low", "<s>"]}
    steps = {
        "version": "1.0",
        "added_tokens": [
            {
                "id": 4,
                "content": "<s>",
                "single_word": False,
                "lstrip": True,
                "rstrip": False,
                "normalized": False,
                "special": True,
            }
        ],
        "normalizer": {
            "type": "Sequence",
            "normalizers": [
                {"type": "Prepend", "prepend": "▁"},
                {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
            ],
        },
        "post_processor": {"type": "BertProcessing", "sep": ["<s>", 4], "cls": ["<s>", 4]},
        "decoder": {"type": "Fuse"},
        "model": {
            "type": "BPE",
            "unk_token": "?",
            "fuse_unk": True,
            "byte_fallback": True,
            "ignore_merges": False,
            "vocab": {"l": 0, "o": 1, "lo": 2, "▁": 3, "<s>": 4, "?": 5, "w": 6, "low": 7, "▁lo": 8},
            "merges": [["l", "o"], ["▁", "lo"], ["lo", "w"]],
        },
    }
    return {
        "tokenizer.json": Sample("t.json", saved("t.json", folder, special, TrainingOptions(merges=20))),
        "letters in tokenizer.json": Sample(
            "l.json", saved("l.json", folder, GIVEN, TrainingOptions(**letters, unknown="<unk>", merges=20))
        ),
        "tiktoken": Sample("x.tiktoken", lines.encode(), GIVEN),
        "minbpe": Sample("x.model", saved("x.model", folder, special, TrainingOptions(merges=20))),
        "subword-nmt 0.2": Sample("x.codes", codes),
        "subword-nmt 0.1": Sample("y.codes", b"l o\nlo w\nlow </w>\nn e\nne w\ne s\nes t\nest </w>\n"),
        "codes that go on": Sample("w.codes", b"#version: 0.2\nl o\nlo w\no w\nl ow\nlow e\nn e\nlow e\n"),
        "fastBPE": Sample("z.codes", codes.split(b"\n", 1)[1].replace(b"\n", b" 12\n")),
        "GPT-2 merges": one_of(pair, "merges.txt"),
        "GPT-2 vocabulary": one_of(pair, "vocab.json"),
        "GPT-2 settings": one_of(pair, "tokenizer_config.json"),
        "GPT-2 settings of tokens": one_of(around, "tokenizer_config.json"),
        "GPT-2 merges of letters": one_of(letter_pair, "merges.txt", BLANKS),
        "GPT-2 vocabulary of letters": one_of(letter_pair, "vocab.json", BLANKS),
        "CLIP": Sample("c.txt", b'"bpe_simple_vocab_16e6.txt#version: 0.2\nl o\nlo w</w>\nn e\ne s\nes t</w>\n'),
        "rank-json with offsets": Sample(
            "r.json", json.dumps(rank_json | {"bpe_ranks": "! 0 " + " ".join(map(b64, ranks))}).encode()
        ),
        "rank-json with ranks": Sample("s.json", json.dumps(rank_json | {"bpe_ranks": lines}).encode()),
        "tekken": Sample("tekken.json", json.dumps(tekken).encode()),
        "steps in tokenizer.json": Sample("s.json", json.dumps(steps).encode()),
        "rwkv": Sample("rwkv.txt", rwkv.encode()),
        "bert": Sample("vocab.txt", "\n".join(words).encode()),
        "bert settings": Sample(
            "tokenizer_config.json",
            b'{"do_lower_case": true, "strip_accents": null}',
            None,
            {"vocab.txt": "\n".join(words).encode()},
        ),
        "sentencepiece": Sample("s.model", model_of(pieces, byte_fallback=True)),
        "sentencepiece unused": Sample(
            "n.model", model_of([*pieces[:3], ("low", -2.0, 5), *pieces[4:]], byte_fallback=True)
        ),
        "sentencepiece unigram": Sample("u.model", model_of(pieces[:-256], kind=1)),
        "gguf": Sample("m.gguf", gguf(bpe_fields([*LETTER_OF_BYTE, "lo", "low", "Ġlow", "<s>"], merges, **put_before))),
        "gguf characters": Sample("c.gguf", gguf(character_fields([*"▁lowest字", "lo", "low"], merges[:2]))),
        "gguf rwkv": Sample("w.gguf", gguf(in_rwkv)),
        "gguf pieces": Sample("p.gguf", gguf(piece_fields([piece[:2] for piece in pieces[2:-256]]))),
        "packed": Sample("x.tiktoken.gz", gzip.compress(lines.encode(), mtime=0), GIVEN),
    }


NAMES = (
    *("tokenizer.json", "letters in tokenizer.json", "tiktoken", "minbpe", "subword-nmt 0.2", "subword-nmt 0.1"),
    *("fastBPE", "GPT-2 merges", "GPT-2 vocabulary", "GPT-2 settings", "GPT-2 merges of letters"),
    *("GPT-2 vocabulary of letters", "CLIP", "rank-json with offsets", "rank-json with ranks", "tekken", "packed"),
    *("steps in tokenizer.json", "rwkv", "bert", "bert settings", "sentencepiece", "sentencepiece unigram"),
    *("GPT-2 settings of tokens", "codes that go on", "sentencepiece unused"),
    *("gguf", "gguf characters", "gguf pieces", "gguf rwkv"),
)
