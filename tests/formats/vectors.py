"""Expected ids that other libraries made, which lie in ../shared."""

from __future__ import annotations

from pathlib import Path


def kitoken_cases(shared: Path, expected: str) -> list[tuple[str, list[int]]]:
    """Return (text, ids) of kitoken's small input and one of its outputs. Special tokens are allowed, none is added."""
    folder = shared / "data" / "vectors" / "kitoken"
    texts = _lines(folder / "small_input.txt")
    ids = _lines(folder / expected)
    assert len(texts) == len(ids)
    return [
        (_plain(text), [int(number) for number in line.split(",") if number.strip()])
        for text, line in zip(texts, ids, strict=True)
    ]


def llama_cpp_cases(shared: Path, name: str) -> list[tuple[str, list[int]]]:
    """Return (text, ids) of one of llama.cpp's vocabularies. No special token is added."""
    folder = shared / "data" / "vectors" / "llama.cpp"
    texts = (folder / f"{name}.inp").read_text(encoding="utf-8").split("\n__ggml_vocab_test__\n")
    lines = (folder / f"{name}.out").read_text(encoding="utf-8").split("\n")
    cases = [
        (text, [int(number) for number in line.split()])
        for text, line in zip(texts, lines, strict=False)  # the inputs end with a separator
    ]
    assert len(cases) >= len(lines) - 1
    return cases


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").removesuffix("\n").split("\n")


def _plain(written: str) -> str:
    parts = written.split("\\x")
    for escape, plain in ((r"\n", "\n"), (r"\s", " ")):
        parts = [part.replace(escape, plain) for part in parts]
    return "\\".join(parts)
