"""BERT's vocabulary."""

from __future__ import annotations

import gzip

import pytest

from bpe_viz.errors import FormatError
from bpe_viz.formats._bert_vocabulary import CONTINUES, looks_like_bert, read_bert


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
