"""The encodings are those of tiktoken's own registry."""

from __future__ import annotations

import gzip
import hashlib

import pytest

from bpe_viz.formats.openai_encodings import (
    ENCODINGS,
    GPT2_VOCABULARY_SHA256,
    RANKS_OF_GPT2,
    encoding_named,
    encoding_of_file,
    encoding_of_model,
    ranks_of_vocabulary,
)

tiktoken = pytest.importorskip("tiktoken")


@pytest.fixture
def registry(monkeypatch):
    """What tiktoken's registry says of each encoding: the file and the hash it would fetch, and the rest."""
    from tiktoken_ext import openai_public

    asked = []
    monkeypatch.setattr(openai_public, "load_tiktoken_bpe", lambda *args, **said: asked.append((*args, *said.values())))
    monkeypatch.setattr(openai_public, "data_gym_to_mergeable_bpe_ranks", lambda **said: asked.append(None))
    found = {}
    for name, constructor in openai_public.ENCODING_CONSTRUCTORS.items():
        found[name] = (constructor(), asked.pop())
    return found


def test_names_files_hashes_and_special_tokens_are_those_of_tiktoken(registry):
    assert {one.name for one in ENCODINGS} == registry.keys()
    for encoding in ENCODINGS:
        said, file = registry[encoding.name]
        assert encoding.special_ids == said["special_tokens"], encoding.name
        if encoding.name != "gpt2":  # whose ranks are those of r50k_base
            assert (encoding.address, encoding.sha256) == file


def test_the_ranks_of_gpt2_are_those_of_r50k_base(shared):
    vocabulary = gzip.decompress((shared / "data" / "tok" / "gpt2" / "encoder.json.gz").read_bytes())
    assert hashlib.sha256(vocabulary).hexdigest() == GPT2_VOCABULARY_SHA256
    assert hashlib.sha256(ranks_of_vocabulary(vocabulary)).hexdigest() == RANKS_OF_GPT2
    assert encoding_named("gpt2").sha256 == encoding_named("r50k_base").sha256 == RANKS_OF_GPT2


def test_models_have_the_encoding_that_tiktoken_gives_them():
    from tiktoken.model import MODEL_TO_ENCODING

    for model in ("gpt-4", "gpt-4o", "gpt-3.5-turbo", "o1", "gpt-4.1", "text-davinci-003", "text-davinci-edit-001",
                  "text-embedding-3-small", "davinci"):  # fmt: skip
        assert encoding_of_model(model).name == MODEL_TO_ENCODING[model], model
    assert encoding_of_model("gpt-oss-20b").name == "o200k_harmony"
    assert encoding_of_model("claude") is None


def test_a_file_is_taken_for_the_best_known_of_its_encodings():
    assert [encoding_of_file(one.sha256).name for one in ENCODINGS] == [
        *("cl100k_base", "o200k_base", "o200k_base", "p50k_base", "p50k_base", "r50k_base", "r50k_base"),
    ]
    assert encoding_of_file("0" * 64) is None
