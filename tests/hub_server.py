"""A hub on this machine, so that no test asks anybody else."""

from __future__ import annotations

import contextlib
import hashlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@dataclass
class Hub:
    """What the server answers, and what it was asked.

    files: by path, such as ORG/NAME/resolve/main/tokenizer.json
    sends_commit: answers as a hub does, not as any server
    status, code: of every answer, unless the status is 200
    token: without it every answer is 401
    cut: how many bytes of a body are sent before the connection is closed
    held: if set, the server waits for this before it answers, or with `cut` before it closes
    """

    address: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    commit: str = COMMIT
    etags: dict[str, str] = field(default_factory=dict)
    status: int = 200
    code: str = ""
    token: str = ""
    cut: int | None = None
    held: threading.Event | None = None
    sends_commit: bool = True
    redirects: dict[str, str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    reached: threading.Event = field(default_factory=threading.Event)

    def add(self, repository: str, file: str, content: bytes, revision: str = "main") -> None:
        """Publish a file; a commit names it as well."""
        for known_as in (revision, self.commit):
            self.files[f"{repository}/resolve/{known_as}/{file}"] = content


def _handler(hub: Hub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = unquote(self.path).lstrip("/")
            hub.asked.append(path)
            hub.headers.append(dict(self.headers))
            hub.reached.set()
            if hub.held is not None and hub.cut is None:
                hub.held.wait()
            if path in hub.redirects:
                return self._answer(302, b"", {"Location": hub.redirects[path]})
            if hub.token and self.headers.get("Authorization") != f"Bearer {hub.token}":
                return self._answer(401, b"", {"X-Error-Code": "GatedRepo"})
            if hub.status != 200:
                return self._answer(hub.status, b"", {"X-Error-Code": hub.code} if hub.code else {})
            if path not in hub.files:
                return self._answer(404, b"", {"X-Error-Code": "EntryNotFound"} if hub.sends_commit else {})
            content = hub.files[path]
            etag = hub.etags.get(path, hashlib.sha1(content).hexdigest())
            return self._answer(200, content, {"ETag": f'"{etag}"'})

        def _answer(self, status: int, content: bytes, headers: dict[str, str]) -> None:
            self.send_response(status)
            if hub.sends_commit:
                self.send_header("X-Repo-Commit", hub.commit)
            for name, value in {**headers, "Content-Length": str(len(content))}.items():
                self.send_header(name, value)
            self.end_headers()
            try:
                self.wfile.write(content[: hub.cut])
                self.wfile.flush()
                if hub.held is not None:
                    hub.held.wait()
            except ConnectionError:
                self.close_connection = True  # the other side has read enough

        def log_message(self, *arguments: object) -> None:
            """Say nothing."""

    return Handler


@contextlib.contextmanager
def serving(hub: Hub) -> Iterator[None]:
    """Let a hub answer, at the address that it gets."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(hub))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    hub.address = f"http://127.0.0.1:{server.server_address[1]}"
    yield
    if hub.held is not None:
        hub.held.set()
    server.shutdown()
    server.server_close()
    thread.join()
