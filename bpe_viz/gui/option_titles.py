"""How the options and their values are called where people read them: in the bar, the form and the messages."""

from __future__ import annotations

from bpe_viz.engine.library_pipelines import GuardedPipeline
from bpe_viz.engine.pipeline import PlainPipeline
from bpe_viz.engine.pretokenize import WHOLE_TEXT, pretokenizer_for
from bpe_viz.engine.tokenizer import Tokenizer
from bpe_viz.engine.types import DEFAULT_MERGES, CountingOptions, Options, TrainingOptions
from bpe_viz.errors import BpeVizError

BASES = {"bytes": "bytes", "characters": "characters"}
MARKERS = {"none": "none", "separate": "a symbol of its own", "glued": "glued to the last letter"}
WEIGHTS = {"counts": "by how often a pre-token occurs", "types": "each distinct pre-token once"}
DOCUMENTS = {"file": "whole file", "line": "line by line"}


def pretokenizer_title(counting: CountingOptions) -> str:
    """Return what the pretokenizer is called; a name that there is not is its own title."""
    try:
        return pretokenizer_for(counting).title
    except BpeVizError:
        return counting.pretokenizer


def cutting_of(tokenizer: Tokenizer, given: CountingOptions | None) -> tuple[str, str]:
    """Return how a tokenizer that was opened cuts text, in a word or two and in a sentence.

    given: what the user said of it, for a file that says nothing
    """
    counting, pipeline = tokenizer.counting, tokenizer.pipeline
    if not isinstance(pipeline, PlainPipeline | GuardedPipeline):
        return "of the file", f"{tokenizer.name} prepares text by {pipeline.title}"
    if counting.pattern == WHOLE_TEXT:
        return "none", f"{tokenizer.name} does not cut text: all between special tokens is taken at once"
    meaning = f"{tokenizer.name} cuts text so: {pretokenizer_for(counting).pattern or 'line by line'}"
    is_of_file = counting.pattern is not None and (given is None or given.pattern is None)
    return "of the file" if is_of_file else pretokenizer_title(counting), meaning


def describe(options: Options) -> dict[str, str]:
    """Return the title of every option with its value in words."""
    counting, training = options.counting, options.training
    longest = training.max_token_length
    return {
        "Pretokenizer": pretokenizer_title(counting) if counting.pattern is None else f"the pattern {counting.pattern}",
        "Normalization": " ".join(counting.normalize) or "none",
        "Special tokens": ", ".join(counting.special_tokens) or "none",
        "Documents": DOCUMENTS.get(counting.documents, counting.documents),
        "Base": BASES.get(training.base, training.base),
        "End of word": MARKERS.get(training.end_of_word, training.end_of_word),
        "End-of-word marker": training.marker,
        "Unknown token": training.unknown or "none",
        "Tie rule": training.rule,
        "Weights": WEIGHTS.get(training.weights, training.weights),
        "Least count": f"{training.min_count:,}",
        "Longest token": "no limit" if longest is None else f"{longest:,} base symbols",
        "Target": _target(training),
    }


def _target(training: TrainingOptions) -> str:
    if training.vocab_size is not None:
        return f"vocabulary size {training.vocab_size:,}"
    return f"{DEFAULT_MERGES if training.merges is None else training.merges:,} merges"
