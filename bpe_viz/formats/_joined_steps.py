"""The parts of a tokenizer.json around its model, where they are such as JoinedSteps does."""

from __future__ import annotations

from collections.abc import Sequence

from bpe_viz.engine.joined_steps import JoinedSteps, Metaspace, Prepend, Replace, SplitAt
from bpe_viz.formats._added_tokens import AddedToken
from bpe_viz.formats._tokenizer_json_pipeline import Field, NotSaidByOptions, Step, flat_steps


def joined_steps(
    normalizer: Step | None, pre_tokenizer: Step | None, added: Sequence[AddedToken]
) -> JoinedSteps | None:
    """Return the steps of a file, None if some are of another kind."""
    if any(token.single_word or token.lstrip or token.rstrip or not token.content for token in added):
        return None
    try:
        changes = [_normalizer(step) for _, step in flat_steps(Field("normalizer"), normalizer, "normalizers")]
        cuts = [_cut(step) for _, step in flat_steps(Field("pre_tokenizer"), pre_tokenizer, "pretokenizers")]
    except NotSaidByOptions:
        return None
    normalizers = tuple(step for step in changes if step is not None)
    pre_tokenizers = tuple(step for step in cuts if step is not None)
    if len(normalizers) < len(changes) or len(pre_tokenizers) < len(cuts):
        return None
    as_written = tuple(token.content for token in added if not token.normalized)
    normalized = tuple(token.content for token in added if token.normalized)
    return JoinedSteps(as_written, normalized, normalizers, pre_tokenizers)


def _normalizer(step: Step) -> Prepend | Replace | None:
    match step:
        case {"type": "Prepend", "prepend": str(text)}:
            return Prepend(text)
        case {"type": "Replace", "pattern": {"String": str(old)}, "content": str(new)} if old:
            return Replace(old, new)
    return None


def _cut(step: Step) -> SplitAt | Metaspace | None:
    match step:
        case {"type": "Split", "pattern": {"String": str(text)}, "invert": False} if text:
            return SplitAt(text)
        case {
            "type": "Metaspace",
            "replacement": str(letter),
            "prepend_scheme": "always" | "first" | "never" as scheme,
            "split": bool(splits),
        } if len(letter) == 1:
            return Metaspace(letter, scheme, splits)
    return None
