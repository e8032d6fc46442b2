"""The `added_tokens` of a tokenizer.json: what they are called, and which ids they get.

Source: huggingface/tokenizers, tokenizer/added_vocabulary.rs, add_tokens.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from bpe_viz.formats._bpe_model import Id


class AddedToken(msgspec.Struct, order=True):
    """One of them, as it is written."""

    id: Id
    content: str
    single_word: bool = False
    lstrip: bool = False
    rstrip: bool = False
    normalized: bool = False
    special: bool = False


@dataclass(frozen=True, slots=True)
class AddedIds:
    """Their ids.

    ids: by text; those that the file declares, as far as they can be
    moved: the file's ids by those that the library gives instead
    notes: where the two differ
    """

    ids: dict[str, int]
    moved: dict[int, int]
    notes: tuple[str, ...]


def added_ids(added: Sequence[AddedToken], vocab: Mapping[str, int], vocab_size: int) -> AddedIds:
    """Return the ids of added tokens.

    A token of the vocabulary keeps its id there. The library numbers the others itself, behind the vocabulary, whatever
    the file says; bpe_viz keeps what the file says unless another token has that id.

    vocab: the ids of the model's tokens by text
    vocab_size: how many tokens the library counts there
    """
    of_library: dict[str, int] = {}
    next_id = vocab_size
    for token in added:
        if token.content and token.content not in of_library:
            number = vocab.get(token.content, next_id)
            of_library[token.content] = number
            next_id = max(next_id, number + 1)
    taken = set(vocab.values())
    ids: dict[str, int] = {}
    kept: dict[str, int] = {}
    replaced: dict[str, int] = {}
    for token in added:
        text, theirs = token.content, of_library.get(token.content)
        if theirs is None or text in ids:
            continue
        ids[text] = token.id
        if token.id == theirs:
            continue
        if text in vocab or token.id in taken:
            ids[text], replaced[text] = theirs, token.id
        else:
            kept[text] = theirs
            taken.add(token.id)
    moved = {theirs: ids[text] for text, theirs in kept.items()}
    return AddedIds(ids, moved, tuple(_notes(ids, kept, replaced)))


def _notes(ids: Mapping[str, int], kept: Mapping[str, int], replaced: Mapping[str, int]) -> Collection[str]:
    notes = []
    if kept:
        listed = ", ".join(f"{text!r} is {ids[text]} here and {theirs} there" for text, theirs in [*kept.items()][:3])
        notes.append(
            "The tokenizers library would give other ids to added tokens that model.vocab lacks, as theirs leave a "
            f"hole; bpe-viz keeps those of the file. There are {len(kept):,}: {listed}{', …' if len(kept) > 3 else ''}."
        )
    if replaced:
        listed = ", ".join(f"{text!r} is {ids[text]}, not {said}" for text, said in [*replaced.items()][:3])
        notes.append(
            "The file gives added tokens ids that model.vocab gives otherwise; the library's count. There are "
            f"{len(replaced):,}: {listed}{', …' if len(replaced) > 3 else ''}."
        )
    return notes
