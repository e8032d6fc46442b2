"""Tokenizers of the Hugging Face hub: which of a model's files are fetched, and what to say if that does not succeed.

Only files of data are asked for, never code. What is in huggingface_hub's cache is used, and kept there.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlsplit

from bpe_viz.engine.types import Progress, StopRequested
from bpe_viz.errors import OptionError
from bpe_viz.names._download import Answer, FetchError, Headers, Unreachable, get
from bpe_viz.names._hub_cache import HubCache, home_folder, hub_folder, is_commit, plain_word

_REPOSITORY = re.compile(r"[A-Za-z0-9_][\w.-]*(/[A-Za-z0-9_][\w.-]*)?", re.ASCII)
_REVISION = re.compile(r"[\w][\w.+-]*(/[\w][\w.+-]*)*", re.ASCII)
_LONGEST_NAME = 96
_SHA256 = re.compile(r"[0-9a-f]{64}")
_TRUE = ("1", "ON", "YES", "TRUE")
_BUSY = (429, 500, 502, 503, 504)


@dataclass(frozen=True, slots=True)
class _Choice:
    """Files that make a tokenizer together. first: without it the next choice is tried"""

    first: str
    needed: tuple[str, ...] = ()
    useful: tuple[str, ...] = ()


_CHOICES = (
    _Choice("tokenizer.json"),
    _Choice("tekken.json"),
    _Choice("tokenizer.model"),
    _Choice("vocab.json", ("merges.txt",), ("tokenizer_config.json", "special_tokens_map.json", "added_tokens.json")),
    _Choice("vocab.txt", (), ("tokenizer_config.json",)),
)


@dataclass(frozen=True, slots=True)
class HubName:
    """A model and its revision: a branch, a tag or a commit."""

    repository: str
    revision: str = "main"

    @classmethod
    def parse(cls, written: str) -> HubName:
        """Read ORG/NAME or ORG/NAME@REVISION. Raises OptionError."""
        repository, at, revision = written.partition("@")
        ill = not _REPOSITORY.fullmatch(repository) or len(repository) > _LONGEST_NAME
        if ill or ".." in repository or "--" in repository or repository.endswith((".", "-")):
            raise OptionError(
                f"{written!r} is no name of a model on the Hugging Face hub.",
                "Write hf:ORG/NAME or hf:ORG/NAME@REVISION.",
            )
        if at and (not _REVISION.fullmatch(revision) or ".." in revision):
            raise OptionError(f"{revision!r} is no revision.", "Give a branch, a tag or a commit, such as @main.")
        return cls(repository, revision or "main")


@dataclass(frozen=True, slots=True)
class HubFile:
    """A tokenizer of the hub on this disk. path: of its first file; origin: a sentence on where it is from"""

    path: Path
    origin: str


def fetch(
    name: HubName, progress: Progress, should_stop: StopRequested, environment: Mapping[str, str] | None = None
) -> HubFile:
    """Return the tokenizer of a model, fetched unless the cache has the same.

    The hub is asked whether the revision has changed, unless it is a commit or HF_HUB_OFFLINE is set; if it cannot be
    asked, what was fetched before is taken, and `origin` says so.
    Raises FetchError, Unreachable, Stopped.
    """
    settings = os.environ if environment is None else environment
    cache = HubCache(hub_folder(settings), name.repository)
    commit = cache.commit_of(name.revision)
    cached = _cached(cache, commit)
    if cached is not None and is_commit(name.revision):
        return HubFile(cached, _origin(name, commit))
    if _is_true(settings, "HF_HUB_OFFLINE") or _is_true(settings, "TRANSFORMERS_OFFLINE"):
        if cached is None:
            raise FetchError(
                f"{name.repository} is not in the cache {cache.folder.parent}, and HF_HUB_OFFLINE is set.",
                "Unset HF_HUB_OFFLINE to fetch it.",
            )
        return HubFile(cached, f"{_origin(name, commit)} It was fetched before: HF_HUB_OFFLINE is set.")
    try:
        return _Fetching(name, cache, settings, progress, should_stop).run()
    except FetchError as error:
        if cached is None:
            raise
        return HubFile(cached, f"{_origin(name, commit)} It was fetched before, and may have changed: {error.message}")


def _is_true(settings: Mapping[str, str], name: str) -> bool:
    return settings.get(name, "").upper() in _TRUE


def _cached(cache: HubCache, commit: str) -> Path | None:
    """Return the first file of the best choice that the cache has whole."""
    for choice in _CHOICES:
        path = cache.path_of(commit, choice.first)
        if path is not None and all(cache.path_of(commit, file) for file in choice.needed):
            return path
    return None


def _origin(name: HubName, commit: str) -> str:
    at = "" if is_commit(name.revision) else f", {name.revision}"
    return f"{name.repository} of the Hugging Face hub{at}, commit {commit[:12]}."


class _Fetching:
    """One model that is being fetched."""

    def __init__(
        self,
        name: HubName,
        cache: HubCache,
        settings: Mapping[str, str],
        progress: Progress,
        should_stop: StopRequested,
    ) -> None:
        self._name = name
        self._cache = cache
        self._progress = progress
        self._should_stop = should_stop
        self._endpoint = (settings.get("HF_ENDPOINT") or "https://huggingface.co").rstrip("/")
        if urlsplit(self._endpoint).scheme not in ("http", "https"):
            raise FetchError(f"HF_ENDPOINT is {self._endpoint!r}, no address.", "Let it begin with https://.")
        self._host = urlsplit(self._endpoint).netloc
        self._token = "" if _is_true(settings, "HF_HUB_DISABLE_IMPLICIT_TOKEN") else _token(settings)
        self._headers: dict[str, str] = {}
        # Once an answer tells the commit, all other files are taken from it: together they are one tokenizer.
        self._commit = name.revision if is_commit(name.revision) else ""
        self._is_hub = False

    def run(self) -> HubFile:
        for choice in _CHOICES:
            path = self._file(choice.first)
            if path is None:
                continue
            for file in choice.needed:
                if self._file(file) is None:
                    raise FetchError(f"{self._name.repository} has {choice.first} and no {file}.", "Check the name.")
            for file in choice.useful:
                self._file(file)
            self._cache.keep_commit(self._name.revision, self._commit)
            return HubFile(path, _origin(self._name, self._commit))
        if not self._is_hub:
            raise self._no_hub()
        listed = ", ".join(" with ".join((choice.first, *choice.needed)) for choice in _CHOICES)
        raise FetchError(
            f"{self._name.repository} at {self._host} has no tokenizer that bpe-viz knows by its name: {listed}.",
            "Check the name; a file of another name can be downloaded and opened by itself.",
        )

    def _file(self, file: str) -> Path | None:
        """Return a file of the model, None if it has none of this name."""
        if self._commit and (path := self._cache.path_of(self._commit, file)) is not None:
            return path
        if self._cache.lacks(self._commit, file):
            return None
        answer = self._ask(file)
        commit = plain_word(answer.headers.get("X-Repo-Commit", ""))
        self._is_hub |= bool(commit) or "X-Error-Code" in answer.headers
        if answer.status == 404 and answer.headers.get("X-Error-Code", "EntryNotFound") == "EntryNotFound":
            if commit:
                self._commit = self._commit or commit
                self._cache.keep_missing(self._commit, file)
            return None
        if answer.status != 200:
            raise self._refusal(answer)
        if not commit:
            raise self._no_hub()
        self._commit = self._commit or commit
        if answer.body is not None:
            self._check(file, answer.headers, answer.body)
        return self._cache.keep(self._commit, file, _etag(answer.headers), answer.body)

    def _no_hub(self) -> FetchError:
        return FetchError(
            f"{self._host} does not answer as the Hugging Face hub does.",
            "Check the network connection, and HF_ENDPOINT if it is set.",
        )

    def _ask(self, file: str) -> Answer:
        """Ask for a file, once more with the user's token if the hub wants to know who asks."""
        revision = quote(self._commit or self._name.revision, safe="")
        address = f"{self._endpoint}/{self._name.repository}/resolve/{revision}/{file}"
        title = f"{file} of {self._name.repository}"
        while True:
            answer = get(
                address,
                title,
                self._progress,
                self._should_stop,
                headers=self._headers,
                wants=lambda headers: not self._cache.holds(_etag(headers), _size(headers)),
            )
            if answer.status not in (401, 403) or not self._token or self._headers:
                return answer
            self._headers["Authorization"] = f"Bearer {self._token}"

    def _check(self, file: str, headers: Headers, content: bytes) -> None:
        """Raise FetchError for content that is not what its ETag says, where that is a hash."""
        etag = _etag(headers)
        if _SHA256.fullmatch(etag) and hashlib.sha256(content).hexdigest() != etag:
            raise FetchError(
                f"{file} of {self._name.repository} did not arrive as it was sent: its hash is not the announced one. "
                "Nothing of it was kept.",
                "Try again.",
            )

    def _refusal(self, answer: Answer) -> FetchError:
        repository, host = self._name.repository, self._host
        code = answer.headers.get("X-Error-Code", "")
        if answer.status in _BUSY:
            said = "is asked too often" if answer.status == 429 else f"cannot answer now (status {answer.status})"
            return Unreachable(f"{host} {said}.", "Try again in a minute.")
        if code == "RevisionNotFound":
            return FetchError(f"{repository} has no revision {self._name.revision}.", "Try @main, or leave it out.")
        if code == "RepoNotFound" or answer.status == 404:
            return FetchError(
                f"{host} has no model {repository} that may be seen{' with your token' if self._headers else ''}.",
                "Check its name; a private one needs an access token in HF_TOKEN.",
            )
        if answer.status in (401, 403):
            page = f"{self._endpoint}/{repository}"
            if code != "GatedRepo":
                return FetchError(
                    f"{host} does not give out {repository}: it is gated or private, or there is no such model.",
                    f"Check its name and {page}; an access token goes into HF_TOKEN.",
                )
            if self._headers:
                return FetchError(
                    f"{repository} is gated, and your token has no access to it.", f"Ask for it at {page}."
                )
            return FetchError(
                f"{repository} is gated: its owner decides who may have it.",
                f"Ask for access at {page}, then put your access token in HF_TOKEN.",
            )
        return FetchError(f"{host} answers with status {answer.status} to {repository}.", "Try again later.")


def _etag(headers: Headers) -> str:
    """Return the ETag of a file as a name; "" if there is none."""
    return plain_word(headers.get("X-Linked-Etag") or headers.get("ETag") or "")


def _size(headers: Headers) -> int | None:
    """Return how many bytes a file has, None if that is not said."""
    written = headers.get("X-Linked-Size") or headers.get("Content-Length") or ""
    return int(written) if written.isascii() and written.isdigit() else None


def _token(settings: Mapping[str, str]) -> str:
    """Return the access token that the user gave to programs like this one; "" if none."""
    for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"):
        if settings.get(name, "").strip():
            return settings[name].strip()
    path = Path(settings.get("HF_TOKEN_PATH") or home_folder(settings) / "token")
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return ""
