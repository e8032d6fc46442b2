"""What every format must do, whichever it is."""

from __future__ import annotations

import stat

import pytest

from bpe_viz.engine.corpus import count_text
from bpe_viz.engine.tokenizer import Tokenizer
from bpe_viz.engine.trainer import Trainer
from bpe_viz.engine.types import CountingOptions, Options
from bpe_viz.errors import FormatError
from bpe_viz.formats import detect_format, format_to_save, formats, load_tokenizer, save_tokenizer

ALL = pytest.mark.parametrize("one", formats(), ids=lambda one: one.name)
SAVING = pytest.mark.parametrize("one", [one for one in formats() if one.save is not None], ids=lambda one: one.name)
TEXT = "low low low lower newest newest widest, naïve 字 <|end|> lowest\n\n  low"


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    options = Options().with_counting(special_tokens=("<|end|>",)).with_training(merges=30)
    corpus = count_text(TEXT, options.counting)
    trainer = Trainer(corpus.pretokens, options.training, 1)
    trainer.train_to()
    return Tokenizer.from_timeline(trainer.timeline, options.counting)


def test_names_are_unique_and_sorted():
    names = [one.name for one in formats()]
    assert names == sorted(set(names))


@ALL
def test_a_format_says_what_it_is(one):
    assert one.title
    assert all(suffix.startswith(".") for suffix in one.suffixes)


@SAVING
def test_what_is_saved_is_detected_and_encodes_alike(one, tokenizer, tmp_path):
    path = tmp_path / f"saved{one.suffixes[0]}"
    assert save_tokenizer(tokenizer, path) == one.save(tokenizer, path)
    assert detect_format(path) == one
    loaded = load_tokenizer(path, None if one.holds_pretokenizer else CountingOptions(tokenizer.counting.pretokenizer))
    text = TEXT if one.holds_pretokenizer else TEXT.replace("<|end|>", "")
    assert loaded.n_merges == tokenizer.n_merges
    for position in range(loaded.n_merges + 1):
        assert loaded.at(position).encode(text).ids == tokenizer.at(position).encode(text).ids
    assert [path] == list(tmp_path.iterdir())


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
def test_saving_keeps_the_mode_and_what_was_there_if_it_fails(one, tokenizer, tmp_path):
    path = tmp_path / f"saved{one.suffixes[0]}"
    path.write_text("before")
    path.chmod(0o640)
    one.save(tokenizer, path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    with pytest.raises(FormatError, match=r"no folder|cannot be written"):
        one.save(tokenizer, tmp_path / "absent" / path.name)


def test_an_unknown_name_lists_the_known(tmp_path):
    with pytest.raises(FormatError, match=r"tokenizer\.json"):
        format_to_save(tmp_path / "x.json", "nonsense")
    with pytest.raises(FormatError, match=r"for a file named x\.xyz"):
        format_to_save(tmp_path / "x.xyz")
