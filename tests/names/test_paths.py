"""What is said of a path at which no tokenizer file is."""

from __future__ import annotations

import pytest

from bpe_viz.errors import FormatError
from bpe_viz.names.paths import check_path, suggested_name


@pytest.mark.parametrize(
    ("written", "suggested"),
    [
        ("gpt2", "OpenAI's encoding is tiktoken:gpt2"),
        ("o200k_base", "OpenAI's encoding is tiktoken:o200k_base"),
        ("gpt-4o-mini", "OpenAI's encoding is tiktoken:o200k_base"),
        ("gpt-3.5-turbo", "OpenAI's encoding is tiktoken:cl100k_base"),
        ("Qwen/Qwen2.5-7B", "A model of the Hugging Face hub is hf:Qwen/Qwen2.5-7B"),
        ("org/name@main", "A model of the Hugging Face hub is hf:org/name@main"),
        ("gpt-4.json", ""),
        ("tests/absent", ""),
        ("a/b/c", ""),
        ("novel.txt", ""),
        ("/org/name", ""),
        ("", ""),
    ],
)
def test_a_name_without_its_publisher_is_known(written: str, suggested: str, monkeypatch, tmp_path) -> None:
    (tmp_path / "tests").mkdir()
    monkeypatch.chdir(tmp_path)
    assert suggested_name(written) == suggested


def test_in_the_folder_of_a_model_its_file_is_named(tmp_path):
    with pytest.raises(FormatError, match="is a folder") as caught:
        check_path(str(tmp_path))
    assert caught.value.remedy == "Name a tokenizer file in it."
    for name in ("vocab.json", "tokenizer.json"):
        (tmp_path / name).touch()
        with pytest.raises(FormatError) as caught:
            check_path(str(tmp_path))
        assert caught.value.remedy.endswith(str(tmp_path / name))


def test_a_file_is_let_through_whatever_it_holds(tmp_path):
    path = tmp_path / "empty"
    path.touch()
    assert check_path(str(path)) == path
    with pytest.raises(FormatError, match="There is no file"):
        check_path(str(tmp_path / "absent"))
