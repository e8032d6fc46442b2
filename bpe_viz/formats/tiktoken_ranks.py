"""Ranks as tiktoken and Llama 3 keep them: on each line a token in base64, a space, its rank.

Such a file holds neither pattern nor special tokens. They come from the registry of the encoding whose very file it is,
which its SHA-256 tells, or from the user; they are never guessed.
"""

from __future__ import annotations

import binascii
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from bpe_viz.engine.tokenizer import Tokenizer
from bpe_viz.engine.types import Base, CountingOptions, EndOfWord, Options
from bpe_viz.errors import FormatError
from bpe_viz.formats import Format, PretokenizerNeeded, refuse_pretokenizer
from bpe_viz.formats._reading import AGAIN, LARGEST_ID, from_base64, read_whole, without_bom
from bpe_viz.whole_file import whole_file

SUFFIX = ".tiktoken"
_LINE = re.compile(rb"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)? [0-9]+")
_FEW_LINES = 3
_MOST_DIGITS = 20
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Encoding:
    """What belongs to a published file of ranks. pretokenizer: the first published pattern."""

    name: str
    pretokenizer: str
    special_ids: dict[str, int]


# Source: tiktoken 0.14, tiktoken_ext/openai_public.py. p50k_edit has the ranks of p50k_base and o200k_harmony those of
# o200k_base; the first name of a file is taken.
ENCODINGS = {
    "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7": Encoding(
        "cl100k_base",
        "cl100k",
        {
            "<|endoftext|>": 100257,
            "<|fim_prefix|>": 100258,
            "<|fim_middle|>": 100259,
            "<|fim_suffix|>": 100260,
            "<|endofprompt|>": 100276,
        },
    ),
    "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d": Encoding(
        "o200k_base", "o200k", {"<|endoftext|>": 199999, "<|endofprompt|>": 200018}
    ),
    "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069": Encoding(
        "p50k_base", "gpt2", {"<|endoftext|>": 50256}
    ),
    "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930": Encoding(
        "r50k_base", "gpt2", {"<|endoftext|>": 50256}
    ),
}
"""By the SHA-256 of the file, unpacked."""


def detect(path: Path, head: bytes) -> bool:
    """Tell whether a file begins with ranks; one that is named so is read even if they are damaged."""
    is_named_so = path.name.endswith(SUFFIX)
    if is_named_so and not head.lstrip().startswith(b"{"):
        return True
    # The last line may be cut. A table of counts may look alike, but not with the ranks of a list that begins.
    lines = without_bom(head).replace(b"\r\n", b"\n").split(b"\n")[:-1]
    ranks = [line.partition(b" ")[2] for line in lines if _LINE.fullmatch(line)]
    return len(lines) >= _FEW_LINES and ranks == [b"%d" % rank for rank in range(len(lines))]


def load(path: Path, given: CountingOptions | None = None) -> Tokenizer:
    """Read a file of ranks.

    given: the pretokenizer for a file that is of no known encoding
    Raises PretokenizerNeeded if there is none, FormatError if one is given for a known encoding or a line is damaged.
    """
    data = read_whole(path)
    encoding = ENCODINGS.get(hashlib.sha256(data).hexdigest())
    ranks = read_ranks(path, data)
    if encoding is None and given is None:
        raise PretokenizerNeeded(
            f"{path} holds ranks and no pattern, and is not the file of an encoding that bpe_viz knows.",
            "Give --pretokenizer or --pattern.",
        )
    if encoding is not None:
        refuse_pretokenizer(path, given)
        counting = CountingOptions(encoding.pretokenizer, special_tokens=tuple(encoding.special_ids))
        notes = [f"{path.name} holds the ranks of {encoding.name}: its pattern and special tokens are used."]
        name, special_ids = encoding.name, dict(encoding.special_ids)
    else:
        counting, name, special_ids = given or CountingOptions(), path.name, {}
        notes = [f"{path.name} holds ranks only: there are no special tokens."]
    try:
        tokenizer = Tokenizer.from_ranks(ranks, counting, special_ids, name)
    except FormatError as error:
        raise FormatError(f"{path}: {error.message}", error.remedy) from error
    tokenizer.notes = tuple(notes)
    return tokenizer


def read_ranks(path: Path | str, data: bytes) -> dict[bytes, int]:
    """Return token -> rank. Raises FormatError that names the line; path: for errors only."""
    ranks: dict[bytes, int] = {}
    token_of: dict[int, bytes] = {}
    for number, line in enumerate(without_bom(data).split(b"\n"), start=1):
        line = line.removesuffix(b"\r")
        if not line:
            continue
        written, _, rank_written = line.partition(b" ")
        token = from_base64(written)
        if not token:
            raise _damaged(path, number, line, "does not begin with a token in base64")
        # int() would also take "1_0", "-1" and blanks.
        if not rank_written.isdigit():
            raise _damaged(path, number, line, "has no rank behind its token and one space")
        rank = int(rank_written) if len(rank_written) < _MOST_DIGITS else LARGEST_ID + 1
        if rank > LARGEST_ID:
            raise _damaged(path, number, line, f"has a rank above {LARGEST_ID:,}")
        if token in ranks:
            raise _damaged(path, number, line, f"lists a token again that has rank {ranks[token]}")
        if rank in token_of:
            raise _damaged(path, number, line, f"gives a rank again that the token {token_of[rank]!r} has")
        ranks[token] = rank
        token_of[rank] = token
    return ranks


def _damaged(path: Path | str, number: int, line: bytes, what: str) -> FormatError:
    shown = line[:_SHOWN].decode("utf-8", "backslashreplace") + ("…" if len(line) > _SHOWN else "")
    return FormatError(f"{path}, line {number} {what}: {shown!r}.", AGAIN)


def save(tokenizer: Tokenizer, path: Path) -> tuple[str, ...]:
    """Write the ranks of a tokenizer at its position; returns what they do not hold.

    Raises FormatError, before anything is written, if merging by joined bytes would give other ids, or if the file
    cannot be written.
    """
    ranks = _ranks_of(tokenizer)
    lines = (binascii.b2a_base64(token, newline=False) + b" %d\n" % rank for token, rank in ranks)
    with whole_file(path, FormatError) as file:
        file.write(b"".join(lines))
    return tuple(_losses(tokenizer))


def check(options: Options) -> None:
    """Raise FormatError if no tokenizer that is trained with these options can be written."""
    _check(options.training.base, options.training.end_of_word, options.counting)


def _check(base: Base, end_of_word: EndOfWord, counting: CountingOptions) -> None:
    if base != "bytes" or end_of_word != "none":
        raise FormatError(
            "Ranks hold tokens of bytes, without an end-of-word marker.", "Train with --base bytes, or save as .json."
        )
    if counting.normalize:
        raise FormatError("Ranks cannot say that text is normalized first.", "Save as .json.")


def _ranks_of(tokenizer: Tokenizer) -> list[tuple[bytes, int]]:
    """Return (token, id), ascending by id. Raises FormatError where the format would change the ids of a text."""
    base, symbols = tokenizer.base, tokenizer.symbols
    _check(base.base, base.end_of_word, tokenizer.counting)
    used = range(len(base) + tokenizer.position)
    contents = [symbols.content(symbol) for symbol in used]
    ids = [tokenizer.id_of(symbol) for symbol in used]
    merged = ids[len(base) :]
    if len(set(contents)) < len(contents) or len(set(ids)) < len(ids):
        raise FormatError("Two merges make the same token, and ranks hold each token once.", "Save as .json.")
    if any(a > b for a, b in pairwise(merged)):
        raise FormatError("The ids do not follow the merges, and in ranks one number is both.", "Save as .json.")
    if not tokenizer.merge_ranks.takes_whole:
        # Joined bytes and pairs give the same where each token is what its own bytes merge to just when it is learned.
        for rank, symbol in enumerate(used[len(base) :]):
            if tokenizer.symbols_of(contents[symbol], rank + 1) != [symbol]:
                raise FormatError(
                    f"The token {contents[symbol]!r} is not what its bytes merge to, so ranks would give other ids.",
                    "Save as .json.",
                )
    return sorted(zip(contents, ids, strict=True), key=lambda entry: entry[1])


def _losses(tokenizer: Tokenizer) -> Iterator[str]:
    counting = tokenizer.counting
    given = f"--pretokenizer {counting.pretokenizer}" if counting.pattern is None else f"--pattern {counting.pattern}"
    yield f"Ranks do not hold how text is cut: give {given} when opening the file."
    if tokenizer.special_ids:
        listed = ", ".join(f"{text} {token_id}" for text, token_id in tokenizer.special_ids.items())
        yield f"Ranks do not hold special tokens: {listed}."
    if tokenizer.position < tokenizer.n_merges:
        yield f"Only the first {tokenizer.position:,} of {tokenizer.n_merges:,} merges are saved."


FORMAT = Format(
    name="tiktoken",
    title="tiktoken ranks",
    suffixes=(SUFFIX,),
    detect=detect,
    load=load,
    save=save,
    holds_pretokenizer=False,
    check=check,
)
