"""Ranks that are written as a tokenizer.json: the tokenizers library gives the ids that tiktoken gives."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
import tiktoken
import tokenizers
from hypothesis import given
from hypothesis import strategies as st

from bpe_viz.engine.pretokenize import PRETOKENIZERS
from bpe_viz.engine.tokenizer import Tokenizer
from bpe_viz.engine.types import CountingOptions
from bpe_viz.errors import FormatError
from bpe_viz.formats import draft_tokenizer, load_tokenizer, save_tokenizer
from bpe_viz.formats._split_patterns import PROBES
from bpe_viz.formats._tokenizer_json_writing import UNICODE_NOTE
from tests.formats.ranks import BYTES, TOKENS, in_tiktoken

GPT2 = PRETOKENIZERS["gpt2"].pattern
# What newer versions of Unicode assign is a letter to one library and none to the other.
ASSIGNED = st.characters(exclude_categories=("Cn", "Cs"))
TEXTS = st.one_of(st.text("ab c", max_size=40), st.text(ASSIGNED, max_size=40))

# Runs of one letter, and tokens that overlap themselves: of several ways to cut them the leftmost pair must win.
PERIODIC = st.lists(
    st.one_of(st.text("a", min_size=2, max_size=9), st.text("ab", min_size=2, max_size=7)).map(str.encode),
    max_size=14,
    unique=True,
)


def tokenizer_of(tokens: list[bytes], pretokenizer: str = "gpt2", **special_ids: int) -> Tokenizer:
    ranks = {token: rank for rank, token in enumerate([*BYTES, *tokens])}
    counting = CountingOptions(pretokenizer, special_tokens=tuple(special_ids))
    return Tokenizer.from_ranks(ranks, counting, special_ids, "ranks")


def written(tokenizer: Tokenizer, path: Path) -> tokenizers.Tokenizer:
    """Save as a tokenizer.json, and open it with its library."""
    save_tokenizer(tokenizer, path)
    return tokenizers.Tokenizer.from_file(str(path))


@given(st.one_of(TOKENS, PERIODIC), st.lists(TEXTS, max_size=5), st.data())
def test_random_ranks_give_the_ids_of_tiktoken_in_the_other_library(tmp_path_factory, tokens, texts, data):
    tokenizer = tokenizer_of(tokens)
    path = tmp_path_factory.getbasetemp() / "random.json"
    library, theirs = (
        written(tokenizer, path),
        in_tiktoken({token: rank for rank, token in enumerate([*BYTES, *tokens])}, GPT2),
    )
    loaded = load_tokenizer(path)
    drawn = data.draw(st.lists(st.sampled_from([*tokens, b"a", b"b", b" "]), max_size=12).map(b"".join))
    for text in [*texts, drawn.decode(), *(token.decode() for token in tokens)]:
        ids = theirs.encode(text, disallowed_special=())
        assert library.encode(text).ids == ids, text
        assert loaded.encode(text).ids == ids, text


@given(st.one_of(TOKENS, PERIODIC), TEXTS, st.integers(0, 14))
def test_the_first_ranks_alone_are_written_too(tmp_path_factory, tokens, text, position):
    tokens = tokens[:position]
    tokenizer = tokenizer_of([*tokens, b"abcabc", b"aaaaaaaaaa"]).at(len(tokens))
    library = written(tokenizer, tmp_path_factory.getbasetemp() / "first.json")
    theirs = in_tiktoken({token: rank for rank, token in enumerate([*BYTES, *tokens])}, GPT2)
    assert library.encode(text).ids == theirs.encode(text, disallowed_special=())


@pytest.mark.parametrize("name", ["cl100k_base.tiktoken.gz", "claude-old-npm.json.gz"])
def test_published_ranks_give_the_ids_of_tiktoken(shared, tmp_path, name, real_texts):
    tokenizer = load_tokenizer(shared / "data" / "tok" / name)
    path = tmp_path / "x.json"
    draft = draft_tokenizer(tokenizer, path)
    assert draft.losses == ((UNICODE_NOTE,) if tokenizer.counting.normalize else ())
    draft.write()
    library = tokenizers.Tokenizer.from_file(str(path))
    loaded = load_tokenizer(path)
    for text in real_texts:
        ids = tokenizer.encode(text).ids
        assert library.encode(text).ids == ids
        assert loaded.encode(text).ids == ids
    for text, number in tokenizer.special_ids.items():
        assert library.encode(f"a {text}b").ids == tokenizer.encode(f"a {text}b").ids
        assert library.token_to_id(text) == number
    assert (loaded.n_merges, loaded.merge_of(600)) == (tokenizer.n_merges, tokenizer.merge_of(600))


@pytest.fixture(scope="session")
def real_texts(shared: Path) -> list[str]:
    """Probes of many scripts, runs, and the beginning of each text of the project."""
    texts = [*PROBES, "a" * 200, " " * 300 + "x", "\n" * 90, "<EOT", "ﬁ ½ ａ"]
    for path in sorted(path for path in (shared / "data" / "text").iterdir() if path.is_file()):
        texts.append(path.read_bytes()[:60_000].decode("utf-8", "replace"))
    return texts


@given(text=st.text(ASSIGNED, max_size=200))
def test_random_unicode_gives_the_ids_of_tiktoken(cl100k_as_json, cl100k_of_tiktoken, text):
    assert cl100k_as_json.encode(text).ids == cl100k_of_tiktoken.encode(text, disallowed_special=())


@pytest.fixture(scope="session")
def cl100k_as_json(cl100k: Tokenizer, tmp_path_factory: pytest.TempPathFactory) -> tokenizers.Tokenizer:
    """GPT-4's ranks as a tokenizer.json, opened with its library."""
    return written(cl100k, tmp_path_factory.mktemp("cl100k") / "x.json")


def test_a_token_that_no_merge_makes_is_taken_whole_there_too(tmp_path):
    tokenizer = tokenizer_of([b"yx", b"xy", b"xyxy"], "none")
    library = written(tokenizer, tmp_path / "x.json")
    model = json.loads((tmp_path / "x.json").read_text())["model"]
    assert (model["ignore_merges"], model["merges"]) == (True, [["y", "x"], ["x", "y"]])
    for text in ("xyxy", "xyxyx", "yxyxy"):
        assert library.encode(text).ids == tokenizer.encode(text).ids
    for name in ("merges.txt", "x.model"):
        with pytest.raises(FormatError, match=r"No merge makes the token b'xyxy'.*1 of them"):
            save_tokenizer(tokenizer, tmp_path / name)


def test_every_token_has_one_merge_at_most_and_none_is_taken_whole_without_need(tmp_path):
    tokenizer = tokenizer_of([b"aa", b"aaa", b"aaaa", b"abab", b"ab"])
    written(tokenizer, tmp_path / "x.json")
    model = json.loads((tmp_path / "x.json").read_text())["model"]
    assert Counter(map("".join, model["merges"])).most_common(1)[0][1] == 1
    assert ["aa", "a"] in model["merges"]
    assert ["a", "aa"] not in model["merges"]
    assert not model["ignore_merges"]


def test_a_special_token_that_would_be_taken_whole_as_plain_text_is_refused(tmp_path):
    orphan = [b"yx", b"xy", b"xyxy"]
    with pytest.raises(FormatError, match="the special token 'stop' be in a tokenizer"):
        save_tokenizer(tokenizer_of(orphan, "gpt2", stop=300), tmp_path / "x.json")
    save_tokenizer(tokenizer_of(orphan[:2], "gpt2", stop=300), tmp_path / "x.json")
    library = tokenizers.Tokenizer.from_file(str(tmp_path / "x.json"))
    library.encode_special_tokens = True
    assert library.encode("stop").ids == list(b"stop")


def test_a_pattern_that_would_cut_otherwise_is_refused_with_the_reason(tmp_path):
    ranks = {token: rank for rank, token in enumerate(BYTES)}
    tokenizer = Tokenizer.from_ranks(ranks, CountingOptions(pattern=r"\p{N}{1,3}+|\P{N}+"), {}, "ranks")
    with pytest.raises(FormatError, match=r"would cut text differently in a tokenizer\.json"):
        save_tokenizer(tokenizer, tmp_path / "x.json")
    assert not (tmp_path / "x.json").exists()


def test_the_ids_are_those_of_tiktoken_itself_for_the_worked_tokens(tmp_path):
    tokens = [b"ab", b"abab", b" ab"]
    library = written(tokenizer_of(tokens), tmp_path / "x.json")
    theirs = tiktoken.Encoding(
        "x",
        pat_str=GPT2,
        mergeable_ranks={token: rank for rank, token in enumerate([*BYTES, *tokens])},
        special_tokens={},
    )
    assert library.encode("abab ab").ids == theirs.encode("abab ab") == [257, 258]
