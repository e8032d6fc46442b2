"""What the line at the bottom says of what is open."""

from __future__ import annotations

from bpe_viz.engine.corpus import count_text
from bpe_viz.engine.types import CountingOptions
from bpe_viz.gui.summaries import summary_of_corpus, summary_of_tokenizer
from tests.gui.opened import trained


def test_one_of_a_kind_is_no_plural() -> None:
    assert summary_of_corpus(count_text("a", CountingOptions())).endswith(" · 1 byte · 1 pre-token, 1 distinct")
    assert summary_of_corpus(count_text("a a", CountingOptions())).endswith(" · 3 bytes · 2 pre-tokens, 2 distinct")
    assert summary_of_tokenizer(trained(merges=1)).endswith(" · 258 tokens · 1 merge · 1 special token")
    assert summary_of_tokenizer(trained(merges=2, special=())).endswith(" · 258 tokens · 2 merges")
