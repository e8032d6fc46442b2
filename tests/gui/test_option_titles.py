"""What the bar says of how a tokenizer cuts text, for a file of every format."""

from __future__ import annotations

from pathlib import Path

import pytest

from bpe_viz.engine.types import CountingOptions
from bpe_viz.formats import load_tokenizer
from bpe_viz.gui.option_titles import cutting_of
from tests.formats.samples import all_samples

OF_FILE, NONE = "of the file", "none"
SAID = {
    "tokenizer.json": ("GPT-2", "cuts text so: 's|'t|'re"),
    "steps in tokenizer.json": (OF_FILE, "the steps of the file, run by the tokenizers library"),
    "tiktoken": ("GPT-2", "cuts text so: 's|'t|'re"),
    "minbpe": ("GPT-2", "cuts text so: 's|'t|'re"),
    "subword-nmt 0.2": (OF_FILE, r"cuts text so: [^ \r\n]+"),
    "CLIP": (OF_FILE, "the steps of OpenAI's code for CLIP"),
    "rank-json with ranks": (OF_FILE, r"cuts text so: \S+|\s"),
    "tekken": (OF_FILE, r"cuts text so: \S+|\s"),
    "GPT-2 merges": ("Qwen 2", "cuts text so: (?i:'s|'t"),
    "GPT-2 settings of tokens": (OF_FILE, "the steps of the file"),
    "rwkv": (NONE, "does not cut text: all between special tokens is taken at once"),
    "bert": (OF_FILE, "the whole file, run by the tokenizers library"),
    "sentencepiece": (OF_FILE, "the normalizer of the model, run by the sentencepiece library"),
    "sentencepiece unigram": (OF_FILE, "the whole model, run by the sentencepiece library"),
}


@pytest.fixture(scope="module")
def samples(tmp_path_factory):
    return all_samples(tmp_path_factory.mktemp("samples"))


@pytest.mark.parametrize("name", SAID)
def test_how_a_file_cuts_text_is_said_as_it_is(name, samples, tmp_path):
    sample = samples[name]
    label, meaning = cutting_of(load_tokenizer(sample.write(tmp_path), sample.given), sample.given)
    assert label == SAID[name][0]
    assert SAID[name][1] in meaning


def test_only_a_pattern_of_the_user_is_called_so(samples, tmp_path):
    path: Path = samples["tiktoken"].write(tmp_path)
    given = CountingOptions(pattern=r"\w+|\W")
    assert cutting_of(load_tokenizer(path, given), given)[0] == "Own pattern"
