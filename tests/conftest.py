"""Fixtures for all tests: the cases and data that the project shares, which lie outside it; a hub on this machine."""

from __future__ import annotations

import json
import signal
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from bpe_viz.engine.tokenizer import Tokenizer
from bpe_viz.formats import load_tokenizer
from tests.hub_server import Hub, serving

# A busy machine must not fail a test: no test here is about time.
settings.register_profile("bpe_viz", deadline=None)
settings.load_profile("bpe_viz")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell starts what runs in the background so, and tests of Ctrl+C would hear nothing.
    signal.signal(signal.SIGINT, signal.default_int_handler)

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder ../shared beside the repository; the test is skipped where it is absent."""
    if not SHARED.is_dir():
        pytest.skip(f"needs {SHARED}, which this checkout does not have")
    return SHARED


@pytest.fixture(scope="session")
def cl100k(shared: Path) -> Tokenizer:
    """The tokenizer of GPT-4, from the ranks in ../shared."""
    return load_tokenizer(shared / "data" / "tok" / "cl100k_base.tiktoken.gz")


@pytest.fixture(scope="session")
def cl100k_of_tiktoken(cl100k: Tokenizer) -> Any:
    """The same ranks in the library tiktoken, with the pattern of its own registry."""
    tiktoken = pytest.importorskip("tiktoken")
    return tiktoken.Encoding(
        "cl100k_base",
        # Source: tiktoken 0.14, tiktoken_ext/openai_public.py.
        pat_str=(
            r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+"
            r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
        ),
        mergeable_ranks={token.content: token.id for token in cl100k.vocabulary() if token.kind != "special"},
        special_tokens=cl100k.special_ids,
    )


@pytest.fixture(scope="session")
def case(shared: Path) -> Callable[[str], dict[str, Any]]:
    """Return a loader: the id of a case in cases.jsonl -> the case."""
    lines = (shared / "cases" / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    cases = {record["id"]: record for record in map(json.loads, lines)}
    return cases.__getitem__


@pytest.fixture
def hub(tmp_path, monkeypatch) -> Iterator[Hub]:
    """A hub that holds nothing yet; the environment of this test names it, and caches of its own."""
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_TOKEN_PATH",
                 "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_HUB_DISABLE_IMPLICIT_TOKEN", "DATA_GYM_CACHE_DIR",
                 "http_proxy", "HTTP_PROXY"):  # fmt: skip
        monkeypatch.delenv(name, raising=False)
    hub = Hub()
    with serving(hub):
        monkeypatch.setenv("HF_ENDPOINT", hub.address)
        monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
        monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "tiktoken"))
        yield hub


@pytest.fixture
def gone(hub, monkeypatch) -> str:
    """A host with nothing behind its port, in place of the hub; returns its name."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        host = f"127.0.0.1:{taken.getsockname()[1]}"
    monkeypatch.setenv("HF_ENDPOINT", f"http://{host}")
    return host
