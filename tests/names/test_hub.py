"""Models of a hub, which here is a server on this machine."""

from __future__ import annotations

import hashlib
import json
import threading
from pathlib import Path

import pytest

from bpe_viz.errors import OptionError, Stopped
from bpe_viz.formats import PretokenizerNeeded
from bpe_viz.names import Located, _download, check_name, locate
from bpe_viz.names._download import FetchError, Unreachable
from bpe_viz.names._hub import HubName
from tests.hub_server import COMMIT

MODEL = {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": [["a", "b"]]}
TOKENIZER = json.dumps({"version": "1.0", "added_tokens": [], "model": MODEL}).encode()
OTHER_COMMIT = "f" * 40


def files_below(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir())


def test_a_tokenizer_json_is_fetched_and_kept_as_the_hubs_own_library_keeps_it(hub, tmp_path):
    hub.add("org/model", "tokenizer.json", TOKENIZER)
    said = []
    located = locate("hf:org/model", lambda fraction, text: said.append((fraction, text)))
    tokenizer = located.load()
    assert tokenizer.encode("ab").ids == [2]
    assert tokenizer.name == located.title == "org/model"
    assert tokenizer.notes[0] == f"org/model of the Hugging Face hub, main, commit {COMMIT[:12]}."
    etag = hashlib.sha1(TOKENIZER).hexdigest()
    kept = tmp_path / "hf" / "hub" / "models--org--model"
    assert files_below(kept) == [f"blobs/{etag}", "refs/main", f"snapshots/{COMMIT}/tokenizer.json"]
    assert (kept / "refs" / "main").read_text() == COMMIT
    assert located.path == kept / "snapshots" / COMMIT / "tokenizer.json"
    assert located.path.is_symlink()
    assert said[0] == (0.0, f"Asking {hub.address[7:]} for tokenizer.json of org/model")
    assert said[-1][0] == 1.0
    assert hub.asked == ["org/model/resolve/main/tokenizer.json"]


def test_the_hubs_own_library_finds_what_was_fetched_and_the_other_way_round(hub, tmp_path):
    library = pytest.importorskip("huggingface_hub")
    hub.add("org/model", "tokenizer.json", TOKENIZER)
    located = locate("hf:org/model")
    cache = tmp_path / "hf" / "hub"
    theirs = library.hf_hub_download("org/model", "tokenizer.json", cache_dir=cache, local_files_only=True)
    assert Path(theirs) == located.path


def test_what_was_fetched_is_not_sent_again(hub):
    content = TOKENIZER + b" " * 1_000_000
    hub.add("org/model", "tokenizer.json", content)
    first = locate("hf:org/model")
    said = []
    assert locate("hf:org/model", lambda fraction, text: said.append(fraction)) == first
    assert (hub.asked.count("org/model/resolve/main/tokenizer.json"), max(said)) == (2, 0.0)
    hub.commit = OTHER_COMMIT  # something else of the model has changed
    again = locate("hf:org/model")
    assert again.path.parent.name == OTHER_COMMIT
    assert again.path.read_bytes() == content
    assert len({path.resolve() for path in (first.path, again.path)}) == 1


def test_a_change_is_fetched(hub):
    hub.add("org/model", "tokenizer.json", TOKENIZER)
    locate("hf:org/model")
    hub.commit = OTHER_COMMIT
    hub.add("org/model", "tokenizer.json", TOKENIZER.replace(b'"ab"', b'"bb"').replace(b'["a", "b"]', b'["b", "b"]'))
    assert locate("hf:org/model").load().encode("bbab").ids == [2, 0, 1]


def test_a_commit_that_is_here_is_not_asked_for(hub):
    hub.add("org/model", "tokenizer.json", TOKENIZER, COMMIT)
    name = f"hf:org/model@{COMMIT}"
    first = locate(name)
    assert hub.asked == [f"org/model/resolve/{COMMIT}/tokenizer.json"]
    assert locate(name) == first
    assert len(hub.asked) == 1
    assert first.origin == f"org/model of the Hugging Face hub, commit {COMMIT[:12]}."


def test_a_revision_with_a_slash_is_one_part_of_the_address(hub, tmp_path):
    hub.add("org/model", "tokenizer.json", TOKENIZER, "refs/pr/1")
    assert "refs/pr/1" in locate("hf:org/model@refs/pr/1").origin
    assert (tmp_path / "hf/hub/models--org--model/refs/refs/pr/1").read_text() == COMMIT


def test_two_files_and_what_stands_beside_them(hub):
    letters = [chr(number) for number in (*range(33, 127), *range(161, 173), *range(174, 256), *range(256, 324))]
    vocabulary = {text: number for number, text in enumerate([*letters, "ab", "<s>"])}
    hub.add("gpt", "vocab.json", json.dumps(vocabulary).encode())
    hub.add("gpt", "merges.txt", b"#version: 0.2\na b\n")
    hub.add("gpt", "tokenizer_config.json", b'{"tokenizer_class": "GPT2Tokenizer", "bos_token": "<s>"}')
    located = locate("hf:gpt")
    tokenizer = located.load()
    assert tokenizer.encode("ab<s>").ids == [256, 257]
    assert tokenizer.counting.pretokenizer == "gpt2"
    # The second time only the revision is asked for: what the commit lacks is known.
    n = len(hub.asked)
    assert locate("hf:gpt").path == located.path
    assert hub.asked[n:] == ["gpt/resolve/main/tokenizer.json"]


def test_two_files_alone_need_a_pretokenizer(hub):
    hub.add("org/model", "vocab.json", b'{"a": 0, "b": 1, "ab": 2}')
    hub.add("org/model", "merges.txt", b"a b\n")
    with pytest.raises(PretokenizerNeeded):
        locate("hf:org/model").load()


def test_a_vocabulary_without_its_merges(hub):
    hub.add("org/model", "vocab.json", b'{"a": 0}')
    with pytest.raises(FetchError, match=r"org/model has vocab\.json and no merges\.txt"):
        locate("hf:org/model")


def test_what_was_fetched_opens_without_a_network(hub, gone, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", hub.address)
    hub.add("org/model", "tokenizer.json", TOKENIZER)
    first = locate("hf:org/model")
    monkeypatch.setenv("HF_ENDPOINT", f"http://{gone}")
    again = locate("hf:org/model")
    assert again.path == first.path
    assert again.origin.startswith(first.origin)
    assert f"It was fetched before, and may have changed: {gone} cannot be reached" in again.origin


@pytest.mark.parametrize("variable", ["HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"])
def test_nobody_is_asked_when_the_user_says_so(hub, monkeypatch, variable):
    hub.add("org/model", "tokenizer.json", TOKENIZER)
    locate("hf:org/model")
    n = len(hub.asked)
    monkeypatch.setenv(variable, "1")
    assert "HF_HUB_OFFLINE is set" in locate("hf:org/model").origin
    with pytest.raises(FetchError, match=r"org/other is not in the cache .*, and HF_HUB_OFFLINE is set"):
        locate("hf:org/other")
    assert len(hub.asked) == n


def test_without_a_network_and_a_cache(gone):
    with pytest.raises(Unreachable, match=rf"{gone} cannot be reached: .*refused.* Check the network"):
        locate("hf:org/model")


def test_a_host_that_has_no_address(hub, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "http://bpe-viz.invalid")
    monkeypatch.setattr("socket.getaddrinfo", _no_address)
    with pytest.raises(Unreachable, match=r"bpe-viz\.invalid cannot be found: there seems to be no network"):
        locate("hf:org/model")


def _no_address(*arguments: object, **named: object) -> None:
    import socket

    raise socket.gaierror(-3, "Temporary failure in name resolution")


def test_a_server_that_accepts_nothing(hub, monkeypatch):
    monkeypatch.setattr(_download, "CONNECT_SECONDS", 0.0)
    never = threading.Event()
    monkeypatch.setattr("socket.getaddrinfo", lambda *arguments, **named: never.wait())
    with pytest.raises(Unreachable, match="does not answer"):
        locate("hf:org/model")
    never.set()


@pytest.mark.parametrize(
    ("status", "code", "message"),
    [
        (404, "RepoNotFound", r"has no model org/model that may be seen\. Check its name"),
        (401, "RepoNotFound", r"has no model org/model that may be seen\. Check its name"),
        (404, "RevisionNotFound", r"org/model has no revision old\. Try @main"),
        (403, "GatedRepo", r"org/model is gated: .* Ask for access at http.*/org/model, then .* HF_TOKEN"),
        (401, "", r"does not give out org/model: it is gated or private"),
        (429, "", r"is asked too often\. Try again in a minute"),
        (503, "", r"cannot answer now \(status 503\)"),
        (418, "", r"answers with status 418 to org/model"),
    ],
)
def test_refusals(hub, tmp_path, status, code, message):
    hub.status, hub.code = status, code
    with pytest.raises(FetchError, match=message):
        locate("hf:org/model@old")
    assert not (tmp_path / "hf").exists()


def test_a_model_without_a_tokenizer(hub, tmp_path):
    with pytest.raises(FetchError, match=r"org/model at .* has no tokenizer .*: tokenizer\.json, .* Check the name"):
        locate("hf:org/model")
    assert [path.rsplit("/", 1)[1] for path in hub.asked] == [
        *("tokenizer.json", "tekken.json", "tokenizer.model", "vocab.json", "vocab.txt"),
    ]
    assert not list(tmp_path.rglob("refs"))


def test_the_token_is_sent_when_the_hub_wants_to_know_who_asks_and_not_before(hub, monkeypatch, tmp_path):
    hub.token = "for-this-test"
    hub.add("org/model", "tokenizer.json", TOKENIZER)
    with pytest.raises(FetchError, match="is gated"):
        locate("hf:org/model")
    monkeypatch.setenv("HF_TOKEN", "another")
    with pytest.raises(FetchError, match=r"org/model is gated, and your token has no access to it"):
        locate("hf:org/model")
    monkeypatch.delenv("HF_TOKEN")
    (tmp_path / "hf").mkdir(exist_ok=True)
    (tmp_path / "hf" / "token").write_text("for-this-test\n")
    hub.headers.clear()
    assert locate("hf:org/model").load().encode("ab").ids == [2]
    assert [headers.get("Authorization") for headers in hub.headers] == [None, "Bearer for-this-test"]
    monkeypatch.setenv("HF_HUB_DISABLE_IMPLICIT_TOKEN", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "other"))
    with pytest.raises(FetchError, match="is gated"):
        locate("hf:org/model")


def test_another_host_gets_no_token(hub, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "for-this-test")
    hub.token = "for-this-test"
    hub.add("org/model", "tokenizer.json", TOKENIZER)
    elsewhere = hub.address.replace("127.0.0.1", "localhost")
    hub.redirects["org/model/resolve/main/tokenizer.json"] = f"{elsewhere}/store/1"
    hub.files["store/1"] = TOKENIZER
    with pytest.raises(FetchError):  # the store wants the token as well
        locate("hf:org/model")
    assert {headers["Host"]: headers.get("Authorization") for headers in hub.headers}[elsewhere[7:]] is None


def test_a_model_that_was_renamed_or_lies_elsewhere(hub):
    hub.add("org/model", "tokenizer.json", TOKENIZER)
    hub.redirects["old/resolve/main/tokenizer.json"] = "/org/model/resolve/main/tokenizer.json"
    assert locate("hf:old").load().encode("ab").ids == [2]
    for target in ("file:///etc/passwd", "ftp://127.0.0.1/x", ""):
        hub.redirects["bad/resolve/main/tokenizer.json"] = target
        with pytest.raises(FetchError, match="sends us to"):
            locate("hf:bad")
    hub.redirects |= {"a/resolve/main/tokenizer.json": "/b", "b": "/a/resolve/main/tokenizer.json"}
    with pytest.raises(FetchError, match=r"sends every request for tokenizer\.json of a elsewhere"):
        locate("hf:a")


@pytest.mark.parametrize("cut", [0, 10])
def test_what_breaks_off_is_not_kept(hub, tmp_path, cut):
    hub.add("org/model", "tokenizer.json", TOKENIZER)
    hub.cut = cut
    with pytest.raises(Unreachable, match=rf"broke off tokenizer\.json of org/model after {cut} bytes of \d+ bytes"):
        locate("hf:org/model")
    assert not (tmp_path / "hf").exists()
    hub.cut = None
    assert locate("hf:org/model").load().encode("ab").ids == [2]


def test_content_that_is_not_what_its_hash_says(hub, tmp_path):
    hub.add("org/model", "tokenizer.json", TOKENIZER)
    address = "org/model/resolve/main/tokenizer.json"
    hub.etags[address] = "0" * 64
    with pytest.raises(FetchError, match=r"did not arrive as it was sent: its hash"):
        locate("hf:org/model")
    assert not (tmp_path / "hf").exists()
    hub.etags[address] = hashlib.sha256(TOKENIZER).hexdigest()
    assert locate("hf:org/model").path.is_file()


def test_one_etag_for_two_files_is_not_taken_for_one_content(hub):
    hub.add("org/model", "vocab.json", b'{"a": 0, "b": 1, "ab": 2}')
    hub.add("org/model", "merges.txt", b"a b\n")
    hub.etags = dict.fromkeys(hub.files, "same")
    assert (locate("hf:org/model").path.with_name("merges.txt")).read_bytes() == b"a b\n"


def test_a_server_that_is_no_hub(hub):
    hub.sends_commit = False
    hub.add("org/model", "tokenizer.json", b"<html>Log in first</html>")
    for name in ("org/model", "org/other"):
        with pytest.raises(FetchError, match=r"does not answer as the Hugging Face hub does\. Check .* HF_ENDPOINT"):
            locate(f"hf:{name}")
    assert len(hub.asked) == 6


def test_a_file_that_is_too_large(hub, monkeypatch):
    monkeypatch.setattr(_download, "LARGEST", 50)
    hub.add("org/model", "tokenizer.json", TOKENIZER)
    with pytest.raises(FetchError, match="more than any tokenizer file"):
        locate("hf:org/model")


@pytest.mark.parametrize("cut", [None, 10])
def test_stop_ends_it_though_the_server_is_silent(hub, tmp_path, cut):
    hub.add("org/model", "tokenizer.json", TOKENIZER)
    hub.held, hub.cut = threading.Event(), cut
    with pytest.raises(Stopped):
        locate("hf:org/model", should_stop=hub.reached.is_set)
    assert not (tmp_path / "hf").exists()


def test_a_server_that_is_silent_is_told_of_while_it_is_waited_for(hub):
    hub.add("ORG/NAME", "tokenizer.json", b"{}")
    hub.held = threading.Event()
    said: list[str] = []
    with pytest.raises(Stopped):
        locate("hf:ORG/NAME", lambda _, text: said.append(text), lambda: any("a second" in text for text in said))
    assert said[-1].endswith("has not answered for a second yet")


def test_a_cache_that_cannot_be_written(hub, monkeypatch, tmp_path):
    hub.add("org/model", "tokenizer.json", TOKENIZER)
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "file"))
    with pytest.raises(FetchError, match=r"The cache .* cannot be made: .* Give another folder in HF_HOME"):
        locate("hf:org/model")


def test_where_links_cannot_be_made_files_are_copied(hub, monkeypatch):
    def refuse(*arguments: object) -> None:
        raise OSError(1, "a required privilege is not held by the client")

    monkeypatch.setattr(Path, "symlink_to", refuse)
    hub.add("org/model", "tokenizer.json", TOKENIZER)
    located = locate("hf:org/model")
    assert not located.path.is_symlink()
    assert located.path.read_bytes() == TOKENIZER


def test_the_caches_folder_is_where_the_environment_says(hub, monkeypatch, tmp_path):
    hub.add("org/model", "tokenizer.json", TOKENIZER)
    for name in ("HUGGINGFACE_HUB_CACHE", "HF_HUB_CACHE"):  # the later one goes first
        monkeypatch.setenv(name, str(tmp_path / name))
        assert locate("hf:org/model").path.is_relative_to(tmp_path / name)


def test_an_endpoint_that_is_no_address(hub, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "huggingface.co")
    with pytest.raises(FetchError, match=r"HF_ENDPOINT is 'huggingface\.co', no address"):
        locate("hf:org/model")


@pytest.mark.parametrize(
    "written", ["", "/", "a/b/c", "../x", "a/..", "a//b", "-a/b", "a/b.", "a--b/c", "a b/c", "ä/b", "a" * 97, "a/b@",
                "a/b@..", "a/b@x y", "a/b@/x", "a/b@x/../y", "a/b@c@d"]
)  # fmt: skip
def test_what_is_no_name_is_refused_at_once(hub, written):
    for act in (check_name, locate):
        with pytest.raises(OptionError):
            act(f"hf:{written}")
    assert not hub.asked


def test_names(tmp_path):
    assert HubName.parse("gpt2") == HubName("gpt2", "main")
    assert HubName.parse("Org-1/a.b_c@v1.0/x") == HubName("Org-1/a.b_c", "v1.0/x")
    check_name("hf:org/model")
    file = tmp_path / "file.json"
    file.touch()
    assert locate(str(file)) == Located(str(file), file, "file.json")
