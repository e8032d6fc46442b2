"""What every format must do, whichever it is."""

from __future__ import annotations

import gzip
import json
import pickle
import stat
from pathlib import Path

import pytest

from bpe_viz.engine.corpus import count_text
from bpe_viz.engine.tokenizer import Tokenizer
from bpe_viz.engine.trainer import Trainer
from bpe_viz.engine.types import CountingOptions, Options
from bpe_viz.errors import FormatError
from bpe_viz.formats import (
    Format,
    _reading,
    detect_format,
    draft_tokenizer,
    format_to_save,
    formats,
    load_tokenizer,
    losses,
    save_tokenizer,
)
from tests.formats.samples import NAMES

ALL = pytest.mark.parametrize("one", formats(), ids=lambda one: one.name)
SAVING = pytest.mark.parametrize("one", [one for one in formats() if one.contents], ids=lambda one: one.name)
TEXT = "low low low lower newest newest widest, naïve 字 <|end|> lowest\n\n  low"


def trained(options: Options) -> Tokenizer:
    corpus = count_text(TEXT, options.counting)
    trainer = Trainer(corpus.pretokens, options.training, 1)
    trainer.train_to()
    return Tokenizer.from_timeline(trainer.timeline, options.counting)


@pytest.fixture(scope="module")
def tokenizers() -> list[Tokenizer]:
    """One of bytes, and one of letters with a marker; each format that saves holds one of them at least."""
    options = Options().with_counting(special_tokens=("<|end|>",)).with_training(merges=30)
    words = options.with_counting(pattern=r"[^ \r\n]+").with_training(base="characters", end_of_word="glued")
    return [trained(options), trained(words)]


def saved_by(one: Format, tokenizers: list[Tokenizer], path: Path) -> Tokenizer:
    """Save the first tokenizer that a format holds, and return it."""
    refusals = []
    for tokenizer in tokenizers:
        try:
            save_tokenizer(tokenizer, path, one.name)
        except FormatError as error:
            refusals.append(str(error))
        else:
            return tokenizer
    pytest.fail(f"{one.name} holds none: {refusals}")


def test_names_are_unique_and_sorted():
    names = [one.name for one in formats()]
    assert names == sorted(set(names))


@ALL
def test_a_format_says_what_it_is(one):
    assert one.title
    assert all("." in suffix for suffix in one.suffixes)


@SAVING
def test_what_is_saved_is_detected_and_encodes_alike(one, tokenizers, tmp_path):
    path = tmp_path / f"saved{one.suffixes[0]}"
    tokenizer = saved_by(one, tokenizers, path)
    assert set(tmp_path.iterdir()) == {path, *one.companions(path)}
    assert draft_tokenizer(tokenizer, path).files == {each: each.read_bytes() for each in (path, *one.companions(path))}
    assert detect_format(path) == one
    given = CountingOptions(tokenizer.counting.pretokenizer, tokenizer.counting.pattern)
    loaded = load_tokenizer(path, None if one.holds_pretokenizer else given)
    text = TEXT if one.holds_pretokenizer else TEXT.replace("<|end|>", "")
    assert loaded.n_merges == tokenizer.n_merges
    for position in range(loaded.n_merges + 1):
        ours, theirs = tokenizer.at(position).encode(text), loaded.at(position).encode(text)
        assert [token.content for token in theirs.tokens] == [token.content for token in ours.tokens]
        if one.holds_ids:
            assert theirs.ids == ours.ids


@pytest.mark.parametrize("name", NAMES)
def test_a_tokenizer_is_sent_to_another_process_and_encodes_alike_there(name, samples, tmp_path):
    sample = samples[name]
    loaded = load_tokenizer(sample.write(tmp_path), sample.given)
    sent = pickle.loads(pickle.dumps(loaded, protocol=5))
    text = "low lower<s> newest" if loaded.refuses_gaps else f"{TEXT}<s>"
    for position in {0, loaded.n_merges // 2, loaded.n_merges}:
        assert sent.at(position).encode(text) == loaded.at(position).encode(text)
        assert sent.at(position).encode_ids(text) == loaded.at(position).encode_ids(text)
    ids = [*loaded.encode(text).ids, 99_999]
    assert sent.decode(ids) == loaded.decode(ids)
    assert [token.id for token in sent.vocabulary()] == [token.id for token in loaded.vocabulary()]
    for what in ("name", "kind", "notes", "special_ids", "why_no_merges", "document", "renumbered", "counting"):
        assert getattr(sent, what) == getattr(loaded, what)
    assert [sent.merge_of(number) for number in ids[:-1]] == [loaded.merge_of(number) for number in ids[:-1]]


def test_each_format_has_a_sample_that_is_sent(samples, tmp_path):
    sent = set()
    for name, sample in samples.items():
        (tmp_path / name).mkdir()
        sent.add(detect_format(sample.write(tmp_path / name)))
    assert sent == set(formats())


@SAVING
def test_what_would_be_lost_is_said_before_anything_is_written(one, tokenizers, tmp_path):
    path = tmp_path / f"saved{one.suffixes[0]}"
    tokenizer = saved_by(one, tokenizers, tmp_path / f"other-{one.suffixes[0]}").at(3)
    for other in tmp_path.iterdir():
        other.unlink()
    path.write_text("before")
    draft = draft_tokenizer(tokenizer, path, one.name)
    assert path.read_text() == "before"
    assert list(draft.losses) == losses(tokenizer, one)
    assert all("  " not in said and said.endswith(".") for said in (*draft.losses, *draft.notes))
    given = [said for said in draft.losses if "--pretokenizer" in said or "--pattern" in said]
    assert bool(given) == (not one.holds_pretokenizer and tokenizer.counting.pattern != r"[^ \r\n]+")
    assert any("Only the first 3 of" in said for said in draft.notes)
    draft.write()
    assert path.read_bytes() == draft.files[path]


def test_tokens_that_no_merge_makes_are_a_loss_but_not_where_the_file_is_kept(tmp_path):
    path = tmp_path / "x.json"
    save_tokenizer(trained(Options().with_training(merges=3)), path)
    document = json.loads(path.read_text())
    document["model"]["vocab"] |= {"zzz": 300, "qqq": 301}
    path.write_text(json.dumps(document))
    tokenizer = load_tokenizer(path)
    assert "no merge makes are left out, and their ids decode to nothing: 2." in losses(
        tokenizer, format_to_save(tmp_path / "x.tiktoken")
    )[-1]  # fmt: skip
    assert losses(tokenizer, format_to_save(path)) == []


@SAVING
def test_each_of_its_names_chooses_a_format(one, tmp_path):
    for suffix in one.suffixes:
        names = (f"x{suffix}",) if suffix.startswith(".") else (suffix, f"x-{suffix}", f"x.{suffix}")
        assert all(format_to_save(tmp_path / name) == one for name in names)


@SAVING
def test_a_file_that_is_packed_reads_the_same(one, tokenizers, tmp_path):
    path = tmp_path / f"saved{one.suffixes[0]}"
    tokenizer = saved_by(one, tokenizers, path)
    given = None if one.holds_pretokenizer else CountingOptions(pattern=tokenizer.counting.pattern)
    expected = load_tokenizer(path, given).encode(TEXT).ids
    for written in (path, *one.companions(path)):
        written.with_name(f"{written.name}.gz").write_bytes(gzip.compress(written.read_bytes()))
        written.unlink()
    packed = path.with_name(f"{path.name}.gz")
    assert detect_format(packed) == one
    assert load_tokenizer(packed, given).encode(TEXT).ids == expected


def test_a_packed_file_that_unpacks_without_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(_reading, "LARGEST_FILE", 1 << 20)
    path = tmp_path / "bomb.json"
    path.write_bytes(gzip.compress(b'{"model": ' + b" " * (1 << 21)))
    with pytest.raises(FormatError, match="holds more than 1 MB"):
        load_tokenizer(path)


@ALL
@pytest.mark.parametrize("content", [b"", b"\0\1\2", b"low 5\nlower 2\n", b"{}", b"[1]", b"\xff\xfe"])
def test_what_is_none_is_not_detected_or_is_refused(one, content, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(content)
    if one.detect(path, content):
        with pytest.raises(FormatError):
            one.load(path)


@ALL
def test_a_file_that_is_absent_is_named(one, tmp_path):
    with pytest.raises(FormatError, match=r"absent"):
        one.load(tmp_path / "absent")


@SAVING
def test_saving_keeps_the_mode_and_what_was_there_if_it_fails(one, tokenizers, tmp_path):
    path = tmp_path / f"saved{one.suffixes[0]}"
    path.write_text("before")
    path.chmod(0o640)
    tokenizer = saved_by(one, tokenizers, path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    with pytest.raises(FormatError, match=r"no folder|cannot be written"):
        save_tokenizer(tokenizer, tmp_path / "absent" / path.name, one.name)


def test_an_unknown_name_lists_the_known(tmp_path):
    with pytest.raises(FormatError, match=r"tokenizer\.json"):
        format_to_save(tmp_path / "x.json", "nonsense")
    with pytest.raises(FormatError, match=r"for a file named x\.xyz"):
        format_to_save(tmp_path / "x.xyz")
