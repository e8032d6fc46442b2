"""Names to choose from."""

from __future__ import annotations

from bpe_viz.names import check_name, is_name
from bpe_viz.names.suggestions import MOST_RECENT, SUGGESTIONS, matching, remembered


def test_every_suggestion_is_a_name_and_says_what_it_is_in_a_line():
    for one in SUGGESTIONS:
        assert is_name(one.name)
        check_name(one.name)
        assert 0 < len(one.description) <= 80
        assert one.description.isprintable()
    assert len({one.name for one in SUGGESTIONS}) == len(SUGGESTIONS)


def test_matching():
    assert matching("") == SUGGESTIONS
    assert [one.name for one in matching("GPT-4")] == [
        "tiktoken:o200k_base",
        "tiktoken:cl100k_base",
        "tiktoken:o200k_harmony",
    ]
    assert [one.name for one in matching("tiktoken gpt-3")] == ["tiktoken:cl100k_base", "tiktoken:gpt2"]
    assert matching("nothing like it") == ()


def test_recent_names_come_first_and_once():
    found = matching("", ["hf:org/own", "tiktoken:gpt2"])
    assert [(one.name, one.description) for one in found[:2]] == [
        ("hf:org/own", "opened before"),
        ("tiktoken:gpt2", "GPT-2 and GPT-3: 50,000 merges"),
    ]
    assert len(found) == len(SUGGESTIONS) + 1
    assert matching("own", ["hf:org/own"])[0].name == "hf:org/own"


def test_what_is_opened_again_moves_up_and_the_oldest_is_forgotten():
    recent: tuple[str, ...] = ()
    for name in ("a", "b", "a"):
        recent = remembered(recent, name)
    assert recent == ("a", "b")
    for number in range(MOST_RECENT):
        recent = remembered(recent, str(number))
    assert len(recent) == MOST_RECENT
    assert "a" not in recent
