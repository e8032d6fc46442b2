"""The parts of a tokenizer.json around its model, as far as options of bpe_viz say the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

import regex

from bpe_viz.engine.pretokenize import LINES, PRETOKENIZERS, WHOLE_TEXT
from bpe_viz.formats._split_patterns import from_library, why_not_alike
from bpe_viz.formats._tokenizer_json_writing import NORMALIZERS

Step = dict[str, Any]


class NotSaidByOptions(Exception):  # noqa: N818  # nothing is wrong with the file
    """No options say what a step does."""


@dataclass(frozen=True, slots=True)
class Field:
    """A place in a file, to name it."""

    name: str

    def at(self, key: str | int) -> Field:
        """Return a place inside this one."""
        return Field(f"{self.name}[{key}]" if isinstance(key, int) else f"{self.name}.{key}")

    def refuse(self, why: str) -> NoReturn:
        """Raise NotSaidByOptions."""
        raise NotSaidByOptions(f"{self.name} {why}")


@dataclass(slots=True)
class PlainSteps:
    """What surrounds the model, in options.

    pretokenizer, pattern, normalize: as in CountingOptions
    is_byte_level: text is written in letters that stand for bytes
    removed: a Split that removes letters before the model sees them, still to be compared with the vocabulary
    is_scanned: the pattern is one whose pre-tokens are known to be the library's
    """

    pretokenizer: str = "gpt2"
    pattern: str | None = None
    normalize: tuple[str, ...] = ()
    is_byte_level: bool = False
    removed: Step | None = None
    is_scanned: bool = False


def read_steps(normalizer: Step | None, pre_tokenizer: Step | None, post_processor: Step | None) -> PlainSteps:
    """Read the parts around the model. Raises NotSaidByOptions."""
    steps = PlainSteps(normalize=_normalizations(Field("normalizer"), normalizer))
    _read_pre_tokenizer(Field("pre_tokenizer"), pre_tokenizer, steps)
    for place, step in flat_steps(Field("post_processor"), post_processor, "processors"):
        if not _adds_nothing(step):
            place.refuse(f"is {step.get('type')!r}, which puts tokens around a text")
    return steps


def letters_are_bytes(normalizer: Step | None, pre_tokenizer: Step | None) -> bool:
    """Tell whether the model sees letters that stand for bytes, and nothing else: no step changes them again."""
    try:
        cuts = [step.get("type") for _, step in flat_steps(Field("pre_tokenizer"), pre_tokenizer, "pretokenizers")]
        changes = [step.get("type") for _, step in flat_steps(Field("normalizer"), normalizer, "normalizers")]
    except NotSaidByOptions:
        return False  # the library will say what is wrong with the steps
    if "ByteLevel" in cuts:
        return "Metaspace" not in cuts[cuts.index("ByteLevel") :]
    return changes[-1:] == ["ByteLevel"] and "Metaspace" not in cuts


def without_last_step(pre_tokenizer: Step | None) -> Step | None:
    """Return a pre-tokenizer without its last step, that which removes letters."""
    steps = [step for _, step in flat_steps(Field("pre_tokenizer"), pre_tokenizer, "pretokenizers")][:-1]
    return {"type": "Sequence", "pretokenizers": steps} if steps else None


def flat_steps(place: Field, part: Step | None, key: str) -> list[tuple[Field, Step]]:
    """Return the steps of a Sequence, nested ones laid flat, or the one step, or none."""
    if part is None:
        return []
    if part.get("type") != "Sequence":
        return [(place, part)]
    inner = part.get(key)
    if not isinstance(inner, list) or not all(isinstance(step, dict) for step in inner):
        place.at(key).refuse("is no list of steps")
    return [found for i, step in enumerate(inner) for found in flat_steps(place.at(key).at(i), step, key)]


def _normalizations(place: Field, normalizer: Step | None) -> tuple[str, ...]:
    ours = {theirs: name for name, theirs in NORMALIZERS.items()}
    found = []
    for step_place, step in flat_steps(place, normalizer, "normalizers"):
        kind = step.get("type")
        if not isinstance(kind, str) or kind not in ours:
            step_place.refuse(f"is {kind!r}")
        found.append(ours[kind])
    return tuple(found)


def _adds_nothing(step: Step) -> bool:
    if step.get("type") == "ByteLevel":
        return True
    single = step.get("single")
    return (
        step.get("type") == "TemplateProcessing"
        and isinstance(single, list)
        and len(single) == 1
        and isinstance(single[0], dict)
        and "Sequence" in single[0]
    )


def _read_pre_tokenizer(place: Field, pre_tokenizer: Step | None, steps: PlainSteps) -> None:
    chain = flat_steps(place, pre_tokenizer, "pretokenizers")
    if len(chain) == 1 and _removes_letters(chain[0][1]):
        # Whole texts, but for the letters that the base lacks.
        steps.pattern, steps.removed = WHOLE_TEXT, chain[0][1]
        return
    cuts = False
    for number, (step_place, step) in enumerate(chain):
        kind = step.get("type")
        if kind == "ByteLevel":
            _read_byte_level(step_place, step, steps, is_only=number == 0, is_last=number == len(chain) - 1)
            cuts = cuts or bool(step.get("use_regex", True))
        elif kind == "WhitespaceSplit" and not cuts:
            steps.pretokenizer = "whitespace"
            cuts = True
        elif kind == "Split" and not cuts:
            _read_split(step_place, step, steps)
            cuts = True
        elif kind == "Split" and number == len(chain) - 1 and steps.removed is None:
            steps.removed = step
        else:
            step_place.refuse(f"is {kind!r}{' after another step' if cuts else ''}")
    if not cuts:
        steps.pattern = WHOLE_TEXT


def _read_byte_level(place: Field, step: Step, steps: PlainSteps, *, is_only: bool, is_last: bool) -> None:
    if step.get("add_prefix_space", True):
        place.at("add_prefix_space").refuse("is true, so a space is put before every text")
    if not is_last:
        place.refuse("stands before another step")
    steps.is_byte_level = True
    if step.get("use_regex", True):
        if not is_only:
            place.at("use_regex").refuse("is true after another step")
        steps.pretokenizer, steps.is_scanned = "gpt2", True


def _removes_letters(step: Step) -> bool:
    """Tell whether a step looks like one that removes the letters that a base lacks."""
    pattern = step.get("pattern")
    return (
        step.get("type") == "Split"
        and step.get("behavior") == "Removed"
        and not step.get("invert")
        and isinstance(pattern, dict)
        and str(pattern.get("Regex", "")).startswith("[^\\x{")
    )


def _read_split(place: Field, step: Step, steps: PlainSteps) -> None:
    written = _pattern_of(place.at("pattern"), step.get("pattern"))
    ours = from_library(written)
    behavior, invert = step.get("behavior"), bool(step.get("invert", False))
    if behavior == "Isolated":
        # Backwards: of two names for one pattern the first is kept.
        entries = reversed(list(PRETOKENIZERS.values()))
        named = {entry.pattern or LINES: entry.name for entry in entries if entry.lossless}
        if written in named:
            steps.pretokenizer, steps.is_scanned = named[written], True
            return
        pattern = f"{ours}|{_between(ours)}"
    elif behavior == "Removed" and invert:
        if ours == PRETOKENIZERS["whitespace"].pattern:
            steps.pretokenizer = "whitespace"
            return
        pattern = ours
    elif behavior == "Removed":
        pattern = _between(ours)
    else:
        place.at("behavior").refuse(f"is {behavior!r}")
    if reason := why_not_alike(pattern, written, behavior, invert):
        place.at("pattern").refuse(f"{written!r} cuts differently here: {reason}")
    steps.pattern = pattern


def _pattern_of(place: Field, pattern: object) -> str:
    if isinstance(pattern, dict) and len(pattern) == 1:
        kind, text = next(iter(pattern.items()))
        if kind in ("Regex", "String") and isinstance(text, str) and text:
            return text if kind == "Regex" else regex.escape(text, special_only=True)
    place.refuse("is neither a Regex nor a String")


def _between(pattern: str) -> str:
    """Return a pattern that matches what lies between the matches of another."""
    return rf"(?:(?!{pattern})[\s\S])+"
