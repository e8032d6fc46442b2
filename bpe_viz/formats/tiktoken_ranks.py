"""Ranks as tiktoken and Llama 3 keep them: on each line a token in base64, a space, its rank.

Such a file holds neither pattern nor special tokens. They come from the registry of the encoding whose very file it is,
which its SHA-256 tells, or from the user; they are never guessed.
"""

from __future__ import annotations

import binascii
import hashlib
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from bpe_viz.engine.library_pipelines import cut_as_the_library
from bpe_viz.engine.tokenizer import Tokenizer
from bpe_viz.engine.types import Base, CountingOptions, EndOfWord, Options
from bpe_viz.errors import FormatError
from bpe_viz.formats import Format, PretokenizerNeeded, refuse_pretokenizer
from bpe_viz.formats._draft import as_option
from bpe_viz.formats._own_library import TIKTOKEN
from bpe_viz.formats._reading import AGAIN, LARGEST_ID, from_base64, read_whole, without_bom
from bpe_viz.formats.openai_encodings import ENCODINGS, Encoding, encoding_of_file

SUFFIX = ".tiktoken"
_LINE = re.compile(rb"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)? [0-9]+")
_EMPTY = b"="  # as Whisper's file writes it
_FEW_LINES = 3
_MOST_DIGITS = 20
_SHOWN = 60


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
    encoding = encoding_of_file(hashlib.sha256(data).hexdigest())
    ranks = read_ranks(path, data)
    if encoding is not None:
        refuse_pretokenizer(path, given)
        note = f"{path.name} holds the ranks of {encoding.name}: its pattern and special tokens are used."
        return _of_encoding(path, ranks, encoding, encoding.name, note)
    if given is None:
        raise PretokenizerNeeded(
            f"{path} holds ranks and no pattern, and is not the file of an encoding that bpe-viz knows.",
            "Give --pretokenizer or --pattern.",
        )
    return _tokenizer(path, ranks, given, {}, path.name, f"{path.name} holds ranks only: there are no special tokens.")


def load_encoding(path: Path, encoding: Encoding) -> Tokenizer:
    """Read the ranks of an encoding that was asked for by name. Raises FormatError for another file than its own."""
    data = read_whole(path)
    if hashlib.sha256(data).hexdigest() != encoding.sha256:
        raise FormatError(f"{path} is not the file of ranks of {encoding.name}.", AGAIN)
    return _of_encoding(path, read_ranks(path, data), encoding, encoding.title)


def _of_encoding(path: Path, ranks: dict[bytes, int], encoding: Encoding, name: str, *notes: str) -> Tokenizer:
    counting = CountingOptions(encoding.pretokenizer, special_tokens=tuple(encoding.special_ids))
    return _tokenizer(path, ranks, counting, dict(encoding.special_ids), name, *notes)


def _tokenizer(
    path: Path, ranks: dict[bytes, int], counting: CountingOptions, special_ids: dict[str, int], name: str, *notes: str
) -> Tokenizer:
    notes += without_empty(ranks)
    try:
        tokenizer = Tokenizer.from_ranks(ranks, counting, special_ids, name)
    except FormatError as error:
        raise FormatError(f"{path}: {error.message}", error.remedy) from error
    tokenizer.pipeline = cut_as_the_library(tokenizer.counting, tokenizer.special_ids)
    tokenizer.notes = notes
    return tokenizer


def read_ranks(path: Path | str, data: bytes) -> dict[bytes, int]:
    """Return token -> rank; one token may be empty. Raises FormatError that names the line; path: for errors only."""
    ranks: dict[bytes, int] = {}
    token_of: dict[int, bytes] = {}
    for number, line in enumerate(without_bom(data).split(b"\n"), start=1):
        line = line.removesuffix(b"\r")
        if not line:
            continue
        written, _, rank_written = line.partition(b" ")
        token = b"" if written == _EMPTY else from_base64(written)
        if not token and written != _EMPTY:
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


def without_empty(ranks: dict[bytes, int]) -> tuple[str, ...]:
    """Take an empty token out of ranks; returns what to say of it."""
    rank = ranks.pop(b"", None)
    return () if rank is None else (f"The token of rank {rank} is empty: no text becomes it.",)


def _damaged(path: Path | str, number: int, line: bytes, what: str) -> FormatError:
    shown = line[:_SHOWN].decode("utf-8", "backslashreplace") + ("…" if len(line) > _SHOWN else "")
    return FormatError(f"{path}, line {number} {what}: {shown!r}.", AGAIN)


def contents(tokenizer: Tokenizer, path: Path) -> dict[Path, bytes]:
    """Return the ranks of a tokenizer at its position. Raises FormatError if joined bytes would give other ids."""
    ranks = _ranks_of(tokenizer)
    lines = (binascii.b2a_base64(token, newline=False) + b" %d\n" % rank for token, rank in ranks)
    return {path: b"".join(lines)}


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


def losses(tokenizer: Tokenizer) -> Iterator[str]:
    """Say what ranks do not hold; nothing of a file whose hash will tell it again."""
    if _is_published(tokenizer):
        return
    yield f"Ranks do not hold how text is cut: give {as_option(tokenizer.counting)} when opening the file."
    if tokenizer.special_ids:
        listed = ", ".join(f"{text} {token_id}" for text, token_id in tokenizer.special_ids.items())
        yield f"Ranks do not hold special tokens: {listed}."


def _is_published(tokenizer: Tokenizer) -> bool:
    """Tell whether the ranks are those of an encoding, which has this very pattern and these special tokens."""
    alike = [
        one
        for one in ENCODINGS
        if one.pretokenizer == tokenizer.counting.pretokenizer and dict(one.special_ids) == tokenizer.special_ids
    ]
    if not alike or tokenizer.counting.pattern is not None or tokenizer.position < tokenizer.n_merges:
        return False
    try:
        (data,) = contents(tokenizer, Path()).values()
    except FormatError:  # what cannot be written was never published
        return False
    return encoding_of_file(hashlib.sha256(data).hexdigest()) in alike


FORMAT = Format(
    name="tiktoken",
    title="tiktoken ranks",
    suffixes=(SUFFIX,),
    detect=detect,
    load=load,
    contents=contents,
    losses=losses,
    holds_pretokenizer=False,
    check=check,
    library=TIKTOKEN,
)
