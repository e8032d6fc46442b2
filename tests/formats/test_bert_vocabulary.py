"""BERT's vocabulary."""

from __future__ import annotations

import gzip
import json

import pytest

from bpe_viz.errors import FormatError
from bpe_viz.formats import detect_format, load_tokenizer, save_tokenizer
from bpe_viz.formats._bert_vocabulary import CONTINUES, looks_like_bert, read_bert
from tests.formats.test_tokenizer_json_steps import random_texts


def test_the_published_vocabulary(shared):
    path = shared / "data" / "tok" / "bert_base_uncased_vocab.txt.gz"
    ids = read_bert(path)
    assert len(ids) == 30522
    assert [ids[token] for token in ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the")] == [
        0,
        100,
        101,
        102,
        103,
        1996,
    ]
    assert ids[CONTINUES + "s"] == 2015
    assert looks_like_bert(gzip.decompress(path.read_bytes())[:4096])


def test_only_line_feeds_end_a_token(tmp_path):
    path = tmp_path / "vocab.txt"
    path.write_bytes("\ufeff[PAD]\r\n[UNK]\r\na\u2028b\n\u00a0c".encode())
    assert read_bert(path) == {"[PAD]": 0, "[UNK]": 1, "a\u2028b": 2, "\u00a0c": 3}


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ("[PAD]\n\n[UNK]\n", "line 2 holds no token"),
        ("[PAD]\n[UNK]\na\n[PAD]\n", "line 4 lists the token of line 1 again"),
        ("[PAD]\na\n", r"has no token \[UNK\]"),
        ("", "has no token"),
    ],
)
def test_damage_is_named(content, what, tmp_path):
    path = tmp_path / "vocab.txt"
    path.write_text(content)
    with pytest.raises(FormatError, match=what):
        read_bert(path)
    assert not looks_like_bert(b"low 5\n")


@pytest.fixture(scope="module")
def published(shared):
    return load_tokenizer(shared / "data" / "tok" / "bert_base_uncased_vocab.txt.gz")


def test_the_published_vocabulary_encodes_as_berts_own_steps_in_the_library(published, shared, tmp_path):
    path = tmp_path / "vocab.txt"
    path.write_bytes(gzip.decompress((shared / "data/tok/bert_base_uncased_vocab.txt.gz").read_bytes()))
    assert detect_format(path).name == "bert"
    library = pytest.importorskip("tokenizers").BertWordPieceTokenizer(str(path), lowercase=True)
    for text in [*random_texts(8, 2000), "Hello, WORLD! unaffable [MASK] 東京 naïve"]:
        expected = library.encode(text)
        tokens = published.lay_out(text).at(0)
        assert tokens.ids.tolist() == expected.ids, text
        inside = list(zip(tokens.start.tolist(), tokens.end.tolist(), strict=True))[1:-1]
        assert inside == expected.offsets[1:-1], text
        assert published.decode(expected.ids).text == library.decode(expected.ids, skip_special_tokens=False)


def test_what_it_is_and_is_not_is_said(published, tmp_path):
    assert (published.kind, published.n_merges) == ("WordPiece", 0)
    assert "not BPE but WordPiece" in published.why_no_merges
    assert "lower case" in " ".join(published.notes)
    assert [token.content for token in published.encode("unaffable").tokens] == [
        b"[CLS]", b"una", b"ffa", b"ble", b"[SEP]",
    ]  # fmt: skip
    assert published.lay_out("the", around=False).at(0).ids.tolist() == [1996]
    save_tokenizer(published, tmp_path / "x.json")
    again = load_tokenizer(tmp_path / "x.json")
    assert again.encode("Unaffable [MASK]").ids == published.encode("Unaffable [MASK]").ids


def test_settings_beside_it_count(tmp_path):
    path = tmp_path / "vocab.txt"
    path.write_text("[UNK]\n[CLS]\n[SEP]\nab\nAB\n##c\n字\n")
    assert load_tokenizer(path).encode("ABc").ids == [1, 4, 5, 2]
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"do_lower_case": True}))
    assert load_tokenizer(path).encode("ABc").ids == [1, 3, 5, 2]
    assert load_tokenizer(path).encode("ab字").ids == [1, 3, 6, 2]
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"tokenize_chinese_chars": False}))
    assert load_tokenizer(path).encode("ab字").ids == [1, 0, 2]
    (tmp_path / "tokenizer_config.json").write_text('{"do_lower_case": 1}')
    with pytest.raises(FormatError, match=r"tokenizer_config\.json"):
        load_tokenizer(path)
