"""Names to choose from: well-known ones, and those that were opened last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

MOST_RECENT = 10


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A name that `names.locate` takes, and a line on what it is."""

    name: str
    description: str


SUGGESTIONS = (
    Suggestion("tiktoken:o200k_base", "GPT-4o: 200,000 tokens, cut by case and with endings such as 's"),
    Suggestion("tiktoken:cl100k_base", "GPT-4 and GPT-3.5: 100,000 tokens, digits by threes"),
    Suggestion("tiktoken:o200k_harmony", "gpt-oss: the tokens of GPT-4o with other special tokens"),
    Suggestion("tiktoken:p50k_base", "Codex: the tokens of GPT-2 and runs of spaces"),
    Suggestion("tiktoken:gpt2", "GPT-2 and GPT-3: 50,000 merges"),
    Suggestion("hf:Qwen/Qwen2.5-7B", "Qwen 2.5: 151,643 tokens, digits one by one"),
    Suggestion("hf:deepseek-ai/DeepSeek-V3", "DeepSeek V3: several cuts one after the other"),
    Suggestion("hf:meta-llama/Llama-3.1-8B", "Llama 3.1: 128,000 tokens; ask Meta for access first"),
    Suggestion("hf:mistralai/Mistral-7B-v0.1", "Mistral 7B: 32,000 tokens of characters, other characters as bytes"),
    Suggestion("hf:HuggingFaceTB/SmolLM2-135M", "SmolLM2: 49,152 tokens, a small vocabulary"),
    Suggestion("hf:bigscience/bloom", "BLOOM: 250,680 tokens for 46 languages"),
    Suggestion("hf:bigcode/starcoder2-3b", "StarCoder 2: 49,152 tokens learned from code"),
    Suggestion("hf:EleutherAI/gpt-neox-20b", "GPT-NeoX: learned from the Pile, with tokens of several spaces"),
    Suggestion("hf:google-bert/bert-base-uncased", "BERT: WordPiece, which is shown and has no merges"),
    Suggestion("hf:openai/clip-vit-base-patch32", "CLIP: lower case, with a marker at the end of each word"),
)


def matching(typed: str, recent: Sequence[str] = ()) -> tuple[Suggestion, ...]:
    """Return what to suggest for what was typed so far: recent names first, each name once.

    A suggestion matches that holds every typed word in its name or description, whatever the case.
    """
    described = {one.name: one for one in SUGGESTIONS}
    offered = [described.get(name, Suggestion(name, "opened before")) for name in recent]
    offered += [one for one in SUGGESTIONS if one.name not in recent]
    words = typed.casefold().split()
    return tuple(one for one in offered if all(word in f"{one.name} {one.description}".casefold() for word in words))


def remembered(recent: Sequence[str], name: str) -> tuple[str, ...]:
    """Return the recent names after another one was opened: newest first, each once, the oldest forgotten."""
    return (name, *(other for other in recent if other != name))[:MOST_RECENT]
