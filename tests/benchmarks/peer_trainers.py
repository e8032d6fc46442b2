"""The other trainers, each run as a process of its own.

python -m tests.benchmarks.peer_trainers NAME FILE VOCAB_SIZE [OUT]

Trains on the whole FILE to VOCAB_SIZE tokens, with the pattern of GPT-2. OUT gets what each merge makes: a JSON list of
bytes in hex, in order. Each library is used as it is quickest from Python.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

PATTERN = r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""
N_BYTES = 256
NO_LIMIT = 1 << 30

Made = Callable[[], Iterable[bytes]]
"""Works out what each merge makes: after training, so that it costs nothing when nobody asks."""


def train_gigabpe(file: Path, vocab_size: int) -> Made:
    import gigabpe

    _, merges = gigabpe.train_bpe([str(file)], vocab_size, pretokenizer="bytelevel")
    return lambda: map(bytes_of_letters, merges)


def train_tokenizers(file: Path, vocab_size: int) -> Made:
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=vocab_size, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train([str(file)], trainer)

    def made() -> Iterable[bytes]:
        merges = json.loads(tokenizer.to_str())["model"]["merges"]
        # Older versions write a merge as one string.
        return (bytes_of_letters(merge.split(" ") if isinstance(merge, str) else merge) for merge in merges)

    return made


def train_gigatoken(file: Path, vocab_size: int) -> Made:
    import gigatoken

    _, merges = gigatoken.train_bpe(gigatoken.TextFileSource([file]), vocab_size, [], "huggingface")
    return lambda: (left + right for left, right in merges)


def train_rustbpe(file: Path, vocab_size: int) -> Made:
    import rustbpe

    tokenizer = rustbpe.Tokenizer()
    tokenizer.train_from_iterator(iter([read(file)]), vocab_size, pattern=PATTERN)
    return lambda: merged({bytes(token): rank for token, rank in tokenizer.get_mergeable_ranks()})


def train_bpeasy(file: Path, vocab_size: int) -> Made:
    import bpeasy

    vocabulary = bpeasy.train_bpe(iter([read(file)]), PATTERN, NO_LIMIT, vocab_size)
    return lambda: merged(vocabulary)


def train_ffbpe(file: Path, vocab_size: int) -> Made:
    import ffbpe

    # Not by its own reading of files, which cuts a large one into parts: on 100 MB other merges came of it.
    counter = ffbpe.PreTokenizer([], pat_str=PATTERN).word_counter()
    counter.add_text(read(file))
    trainer = ffbpe.BpeTrainer([])
    trainer.add_word_counter(counter)
    trainer.train(vocab_size)
    return lambda: merged(trainer.vocab)


def read(file: Path) -> str:
    """Return a text with its line ends as they are."""
    return file.read_bytes().decode()


def merged(ids: Mapping[bytes, int]) -> Iterable[bytes]:
    """Return the tokens behind the 256 bytes, by id."""
    return sorted(ids, key=ids.__getitem__)[N_BYTES:]


def bytes_of_letters(merge: Iterable[str]) -> bytes:
    """Return the bytes that GPT-2's printable letters stand for."""
    return bytes(BYTE_OF[letter] for part in merge for letter in part)


def _byte_of() -> dict[str, int]:
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(N_BYTES) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(N_BYTES + i): byte for i, byte in enumerate(others)}


BYTE_OF = _byte_of()

TRAINERS: dict[str, Callable[[Path, int], Made]] = {
    "gigabpe": train_gigabpe,
    "gigatoken": train_gigatoken,
    "ffbpe": train_ffbpe,
    "rustbpe": train_rustbpe,
    "tokenizers": train_tokenizers,
    "bpeasy": train_bpeasy,
}

if __name__ == "__main__":
    name, file, vocab_size, *out = sys.argv[1:]
    made = TRAINERS[name](Path(file), int(vocab_size))
    for path in out:
        Path(path).write_text(json.dumps([token.hex() for token in made()]))
