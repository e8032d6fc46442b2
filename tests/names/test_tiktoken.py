"""OpenAI's encodings by name: from tiktoken's cache, or from a server on this machine."""

from __future__ import annotations

import gzip
import hashlib
import threading

import pytest

from bpe_viz.errors import FormatError, OptionError, Stopped
from bpe_viz.formats import openai_encodings
from bpe_viz.formats.openai_encodings import ENCODINGS, Encoding, encoding_named
from bpe_viz.names import _tiktoken, check_name, locate
from bpe_viz.names._download import FetchError, Unreachable
from tests.formats.ranks import BYTES, b64

RANKS = "".join(f"{b64(token)} {rank}\n" for rank, token in enumerate([*BYTES, b"ab"])).encode()
SMALL = Encoding("small", "Model", "small.tiktoken", hashlib.sha256(RANKS).hexdigest(), "gpt2", {"<s>": 300})


@pytest.fixture
def small(hub, monkeypatch) -> Encoding:
    """An encoding whose ranks the hub has."""
    monkeypatch.setattr(openai_encodings, "_FOLDER", f"{hub.address}/encodings/")
    monkeypatch.setattr(openai_encodings, "ENCODINGS", (SMALL,))
    hub.files["encodings/small.tiktoken"] = RANKS
    return SMALL


def sha1(address: str) -> str:
    return hashlib.sha1(address.encode()).hexdigest()


def test_ranks_are_fetched_once_and_kept_where_tiktoken_looks(hub, small, tmp_path):
    said = []
    located = locate("tiktoken:small", lambda fraction, text: said.append((fraction, text)))
    tokenizer = located.load()
    assert tokenizer.encode("ab<s>").ids == [256, 300]
    assert tokenizer.name == located.title == "Model (small)"
    assert tokenizer.notes == (
        f"Model (small), fetched from {hub.address}/encodings/small.tiktoken; its SHA-256 is the published one.",
    )
    assert located.path == tmp_path / "tiktoken" / sha1(small.address)
    assert located.path.read_bytes() == RANKS
    assert said[-1] == (1.0, f"Fetching the ranks of small: {len(RANKS):,} bytes of {len(RANKS):,} bytes")
    assert "from tiktoken's cache" in locate("tiktoken:small").origin
    assert hub.asked == ["encodings/small.tiktoken"]


def test_tiktoken_reads_what_was_fetched_and_the_other_way_round(hub, small, monkeypatch):
    load = pytest.importorskip("tiktoken.load")
    locate("tiktoken:small")
    assert len(load.load_tiktoken_bpe(small.address, small.sha256)) == 257
    assert len(hub.asked) == 1
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    monkeypatch.setenv("DATA_GYM_CACHE_DIR", "ignored")
    locate("tiktoken:small")
    assert len(hub.asked) == 2


def test_a_cache_that_is_not_wanted_is_a_folder_that_goes(hub, small, monkeypatch, tmp_path):
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    _tiktoken._passing_folder.cache_clear()
    registered = []
    monkeypatch.setattr("atexit.register", lambda *arguments, **named: registered.append(arguments))
    path = locate("tiktoken:small").path
    assert path.is_relative_to(tmp_path)
    assert [arguments[1] for arguments in registered] == [str(path.parent)]
    _tiktoken._passing_folder.cache_clear()


def test_the_folder_without_any_setting_is_tiktokens_own(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert _tiktoken.cache_folder({}) == tmp_path / "data-gym-cache"
    assert str(_tiktoken.cache_folder({"DATA_GYM_CACHE_DIR": "x"})) == "x"
    assert str(_tiktoken.cache_folder({"DATA_GYM_CACHE_DIR": "x", "TIKTOKEN_CACHE_DIR": "y"})) == "y"


def test_a_damaged_file_in_the_cache_is_fetched_again(hub, small, tmp_path):
    path = locate("tiktoken:small").path
    path.write_bytes(RANKS[:-1])
    assert locate("tiktoken:small").path.read_bytes() == RANKS
    assert len(hub.asked) == 2


@pytest.mark.parametrize("content", [RANKS[:-1], b"", b"<html>Log in first</html>"])
def test_content_of_another_hash_is_refused_and_not_kept(hub, small, tmp_path, content):
    hub.files["encodings/small.tiktoken"] = content
    with pytest.raises(FetchError, match="is not the file of small: its SHA-256 is another"):
        locate("tiktoken:small")
    assert not (tmp_path / "tiktoken").exists()


def test_what_breaks_off_is_not_kept(hub, small, tmp_path):
    hub.cut = 100
    with pytest.raises(Unreachable, match="broke off the ranks of small after 100 bytes"):
        locate("tiktoken:small")
    assert not (tmp_path / "tiktoken").exists()


def test_stop_in_the_middle(hub, small, tmp_path):
    hub.cut, hub.held = 100, threading.Event()
    has_begun = threading.Event()

    def progress(fraction: float, text: str) -> None:
        if fraction > 0:
            has_begun.set()

    with pytest.raises(Stopped):
        locate("tiktoken:small", progress, has_begun.is_set)
    assert not (tmp_path / "tiktoken").exists()


def test_what_the_server_refuses_and_no_server(hub, small, monkeypatch, gone):
    hub.status = 503
    with pytest.raises(FetchError, match=r"small\.tiktoken answers with status 503"):
        locate("tiktoken:small")
    monkeypatch.setattr(openai_encodings, "_FOLDER", f"http://{gone}/")
    with pytest.raises(Unreachable, match=f"{gone} cannot be reached"):
        locate("tiktoken:small")


def test_a_cache_that_cannot_be_written(hub, small, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "file" / "x"))
    with pytest.raises(FetchError, match=r"cannot be made: .* Give another folder in TIKTOKEN_CACHE_DIR"):
        locate("tiktoken:small")


def test_a_pretokenizer_is_not_to_be_given(hub, small):
    from bpe_viz.engine.types import CountingOptions

    with pytest.raises(FormatError, match="tiktoken:small has its own pretokenizer"):
        locate("tiktoken:small").load(CountingOptions())


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("cl100k", r"Did you mean tiktoken:cl100k_base\?"),
        ("gpt-4o-mini", r"Its encoding is tiktoken:o200k_base"),
        ("gpt-4", r"Its encoding is tiktoken:cl100k_base"),
        ("zzz", r"Known: cl100k_base, .*gpt2"),
        ("", r"Known: "),
    ],
)
def test_unknown_names(name, remedy):
    for act in (check_name, locate):
        with pytest.raises(OptionError, match=remedy):
            act(f"tiktoken:{name}")


def test_known_names_are_checked_without_asking(hub):
    for encoding in ENCODINGS:
        check_name(f"tiktoken:{encoding.name}")
    assert not hub.asked


@pytest.fixture
def cached(hub, shared, tmp_path):
    """tiktoken's cache as it is after it has loaded cl100k_base and gpt2."""
    folder = tmp_path / "tiktoken"
    folder.mkdir()
    ranks = gzip.decompress((shared / "data" / "tok" / "cl100k_base.tiktoken.gz").read_bytes())
    (folder / sha1("https://openaipublic.blob.core.windows.net/encodings/cl100k_base.tiktoken")).write_bytes(ranks)
    for name in ("encoder.json", "vocab.bpe"):
        content = gzip.decompress((shared / "data" / "tok" / "gpt2" / f"{name}.gz").read_bytes())
        (folder / sha1(f"https://openaipublic.blob.core.windows.net/gpt-2/encodings/main/{name}")).write_bytes(content)
    return folder


def test_what_tiktoken_has_cached_opens_with_its_ids(cached):
    tiktoken = pytest.importorskip("tiktoken")
    text = "Hello, wörld! 12345 don't\n\n  字<|endoftext|> x"
    for name in ("cl100k_base", "gpt2", "r50k_base"):
        tokenizer = locate(f"tiktoken:{name}").load()
        library = tiktoken.get_encoding("gpt2" if name == "r50k_base" else name)
        assert tokenizer.encode(text).ids == library.encode(text, allowed_special="all")
        assert tokenizer.special_ids == library._special_tokens
    assert locate("tiktoken:gpt2").title == "GPT-2 (gpt2)"


def test_encodings_with_one_file_differ_in_their_special_tokens(cached, tmp_path, monkeypatch):
    # The real ranks are not here; these are enough to number special tokens.
    monkeypatch.setattr(
        openai_encodings,
        "ENCODINGS",
        tuple(
            Encoding(one.name, one.model, one.file, SMALL.sha256, one.pretokenizer, one.special_ids)
            for one in ENCODINGS
        ),
    )
    for name in ("p50k_base", "p50k_edit", "o200k_harmony"):
        (cached / sha1(encoding_named(name).address)).write_bytes(RANKS)
        tokenizer = locate(f"tiktoken:{name}").load()
        assert tokenizer.special_ids == encoding_named(name).special_ids
    assert tokenizer.encode("<|start|>ab<|reserved_200018|>").ids == [200006, 256, 200018]
    assert tokenizer.decode([200018]).text == "<|endofprompt|>"
