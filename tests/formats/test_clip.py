"""CLIP's list of merges against OpenAI's own code: the values are those of clip/simple_tokenizer.py."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import pytest

from bpe_viz.engine import clip_pipeline
from bpe_viz.engine.clip_pipeline import Repair
from bpe_viz.engine.encoder import Encoder
from bpe_viz.engine.tokenizer import Tokenizer
from bpe_viz.errors import FormatError, OptionError
from bpe_viz.formats import detect_format, draft_tokenizer, load_tokenizer
from bpe_viz.formats.clip import FORMAT
from tests.formats.vectors import kitoken_cases

HEADER = '"bpe_simple_vocab_16e6.txt#version: 0.2\n'


@pytest.fixture(scope="module")
def path(clip_model, tmp_path_factory) -> Path:
    merges = "\n".join(clip_model["merges"])
    path = tmp_path_factory.mktemp("clip") / "bpe_simple_vocab_16e6.txt.gz"
    # What follows the merges in use is in the published file too.
    path.write_bytes(gzip.compress(f"{HEADER}{merges}\nq q\nx y\n".encode()))
    return path


@pytest.fixture(scope="module")
def clip(path) -> Tokenizer:
    return load_tokenizer(path)


@pytest.fixture
def without_ftfy(monkeypatch) -> None:
    monkeypatch.setattr(clip_pipeline, "repair", lambda: None)


@pytest.fixture
def with_a_repair(monkeypatch) -> None:
    """As ftfy does, of which it is a small part."""

    def fix(text: str) -> str:
        return text.replace("â€™", "'").replace("\ufeff", "").replace("ｂ", "b")

    monkeypatch.setattr(clip_pipeline, "repair", lambda: Repair(fix, "9.9"))


def test_ids_are_numbered_as_its_code_does(path, clip, shared, without_ftfy):
    assert detect_format(path).name == "clip"
    assert clip.special_ids == {"<|startoftext|>": 49406, "<|endoftext|>": 49407}
    assert (clip.vocab_size, clip.n_merges) == (49408, 48894)
    for text, ids in kitoken_cases(shared, "tokenizers/small_tokens_clip_base.txt"):
        assert clip.encode(text).ids == ids, text
    assert any("puts <|startoftext|> and <|endoftext|> around a text" in note for note in clip.notes)
    assert any("repairs text with ftfy first" in note for note in clip.notes)


CASES = [
    ("ΟΔΟΣ ΑΣ. Σ 'Σ ΣΑΣ", [138, 123, 138, 112, 138, 123, 139, 480, 138, 109, 139, 480, 269, 139, 481, 262, 139, 481,
                           139, 225, 138, 109, 139, 480], None),
    ("ΑΣ<|endoftext|>Σ", [138, 109, 139, 480, 49407, 139, 481],
     [138, 109, 139, 480, 27, 91, 40786, 18169, 91, 285, 139, 481]),
    ("'ſt I'D 'S", [6, 129, 379, 339, 328, 1896, 568], None),
    ("<|ſtartoftext|> x", [27, 91, 129, 123, 2002, 6659, 18169, 91, 285, 343], None),
    ("a <|STARTOFTEXT|>b", [320, 49406, 321], [320, 27, 91, 993, 6659, 18169, 91, 285, 321]),
    ("x&amp;lt;y &Eacute;", [343, 283, 344, 4166], None),
    ("&lt;|endoftext|&gt;", [49407], [27, 91, 40786, 18169, 91, 285]),
    ("a\u0345b .\u0345.", [320, 321, 269, 269], None),
    ("  Cafe\u0301\tau lait \n", [15304, 2566, 572, 585], None),
    ("&#x1c; &nbsp; &NewLine;", [], None),
    ("naïve 12½ 🤏🏽", [1097, 35689, 563, 272, 273, 33613, 1793, 237, 6114], None),
    ("", [], None),
]  # fmt: skip
"""A text, its ids, and those where the code forgets its special tokens, if they are others; ftfy changes no letter."""


@pytest.mark.parametrize(("text", "ids", "as_text"), CASES)
def test_text_is_cleaned_cut_and_merged_as_its_code_does(text, ids, as_text, clip, without_ftfy):
    assert clip.encode_ids(text) == ids
    assert Encoder(clip).encode_bytes(text.encode()).tolist() == ids
    ids_of_text = ids if as_text is None else as_text
    assert clip.encode(text, "text").ids == ids_of_text
    assert Encoder(clip).encode_bytes(text.encode(), allow_special=False).tolist() == ids_of_text
    encoded = clip.lay_out(text)
    tokens = encoded.at(clip.position)
    assert tokens.ids.tolist() == ids
    assert all(0 <= start <= end <= len(text) for start, end in zip(tokens.start, tokens.end, strict=True))


def test_tokens_are_shown_where_they_come_from(clip, without_ftfy):
    tokens = clip.encode("A &lt;b e\u0301  ΑΣ x").tokens
    places = [(one.content.decode(errors="replace"), one.start, one.end) for one in tokens]
    assert places[:4] == [
        ("a", 0, 1),
        ("<", 2, None),  # a word with an entity is shown as one
        ("b", None, 7),
        ("é", 8, 10),
    ]
    assert [(start, end) for _, start, end in places[4:]] == [
        (12, None),
        (None, 13),
        (13, None),
        (None, 14),
        (15, 16),
    ]
    (last,) = clip.encode("x <|EndOfText|>").tokens[1:]
    assert (last.id, last.start, last.end) == (49407, 2, 15)
    with pytest.raises(OptionError, match=r"'<\|endoftext\|>' at character 3"):
        clip.encode("x <|EndOfText|>", "error")


def test_what_is_dropped_is_counted(clip, without_ftfy):
    encoded = clip.lay_out("a b\u0345 &nbsp;")
    assert encoded.dropped == len(" \u0345 &nbsp;")
    assert any("drops 9 of 11 characters" in note for note in encoded.notes)


def test_a_text_is_repaired_as_a_whole_before_all_else(clip, with_a_repair):
    text = "\ufeff itâ€™s aｂc &lt;"
    assert clip.encode_ids(text) == clip.encode_ids("it's abc <")
    assert any("repaired by ftfy 9.9" in note for note in clip.lay_out(text).notes)
    assert clip.lay_out("ﬁ é").notes == clip.lay_out("a b").notes
    tokens = clip.encode("\ufeff itâ€™s aｂc").tokens
    assert [(token.start, token.end) for token in tokens][-1] == (9, 12)


def test_without_ftfy_the_texts_that_it_may_change_are_told(clip, without_ftfy):
    for text in ("It's <b>\t plain\n", "a^b~c"):
        assert not any("ftfy" in note for note in clip.lay_out(text).notes)
    for text in ("é", "&lt;", "a\x1bb", "a\r\n"):
        assert any("ftfy first, which is not installed" in note for note in clip.lay_out(text).notes)
    assert clip.encode_ids("e\u0301") == clip.encode_ids("é")
    assert clip.encode_ids("\ud800") == clip.encode_ids("\ufffd")


def test_what_a_tokenizer_json_does_otherwise_is_said(clip, tmp_path, shared):
    draft = draft_tokenizer(clip, tmp_path / "clip.json")
    assert [said.split()[0] for said in draft.losses] == ["Lowercasing", "bpe-viz", "OpenAI's"]
    draft.write()
    again = load_tokenizer(tmp_path / "clip.json")
    assert again.encode("a <|STARTOFTEXT|>").ids == [320, 49406]
    for text, ids in kitoken_cases(shared, "tokenizers/small_tokens_clip_base.txt"):
        assert again.encode(text).ids == ids, text


def test_a_merge_or_a_token_that_comes_twice_is_refused(tmp_path):
    for merges in ("a b\na b\n", "a b\nb c\nab c\na bc\n"):
        (tmp_path / "c.txt").write_text(HEADER + merges)
        with pytest.raises(FormatError, match="comes twice, so its ids cannot be told"):
            load_tokenizer(tmp_path / "c.txt")


def test_random_texts_have_the_ids_of_the_code_itself(path, clip):
    pytest.importorskip("ftfy", reason="OpenAI's code needs ftfy, which is not installed")
    try:
        encode = FORMAT.library.open(path, clip)
    except ImportError:
        pytest.skip("OpenAI's code, the package clip-anytorch, is not installed")
    random_ = random.Random(5)
    pieces = [*(text for text, _, _ in CASES), "é", "ﬀ", "Ｘ", "\x85", "\r\n", "\u2028", "â€™", "ΣΣ", "<", " ", "\x1c"]
    for _ in range(2000):
        ends = [random_.choice((0x80, 0x600, 0xD800)) for _ in range(random_.randrange(12))]
        text = "".join(
            random_.choice(pieces) if random_.random() < 0.5 else chr(random_.randrange(end)) for end in ends
        )
        for special_text in ("allow", "text"):
            assert clip.encode_ids(text, special_text) == encode(text, special_text, True), text
