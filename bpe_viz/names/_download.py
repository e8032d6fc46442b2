"""One HTTP request in a thread of its own, so that it can be given up at any moment.

Looking up a host's name and waiting for a socket cannot be interrupted: the thread is left behind, and ends by itself.
"""

from __future__ import annotations

import contextlib
import http.client
import queue
import socket
import ssl
import threading
import time
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.message import Message
from importlib.metadata import version
from typing import Any, cast
from urllib.parse import urljoin, urlsplit

from bpe_viz.engine.types import Progress, StopRequested
from bpe_viz.errors import BpeVizError, Stopped

CONNECT_SECONDS = 4.0
"""How long a server may take to accept a connection: a first attempt and two that are made again."""

SILENT_SECONDS = 20.0
"""How long a server that accepted may say nothing."""

LARGEST = 1 << 28
"""Bytes; no tokenizer file has more, as `formats._reading` says too."""

_POLL_SECONDS = 0.05
_CHUNK = 1 << 16
_MOST_REDIRECTS = 8
_REDIRECTS = (301, 302, 303, 307, 308)


Headers = Message


class FetchError(BpeVizError):
    """Something that could not be fetched."""


class Unreachable(FetchError):  # noqa: N818  # a kind of FetchError
    """The server could not be reached, or could not answer now: what was fetched before may do."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server said.

    headers: of the host that was asked, even if another one has the body
    body: None unless the status is 200 and it was wanted
    """

    status: int
    headers: Headers
    body: bytes | None


def get(
    address: str,
    title: str,
    progress: Progress,
    should_stop: StopRequested,
    *,
    headers: Mapping[str, str] | None = None,
    wants: Callable[[Headers], bool] = lambda headers: True,
) -> Answer:
    """Get what is at an address; follows where its server sends us.

    title: what it is, for people
    headers: sent to the host of the address, and to no other
    wants: tells from the headers of the host that was asked whether to read the body
    Raises FetchError, Unreachable, and Stopped as soon as should_stop says so.
    """
    host = urlsplit(address).netloc
    own: Headers | None = None
    for _ in range(_MOST_REDIRECTS):
        is_own = urlsplit(address).netloc == host
        transfer = _Transfer(_request(address, headers if is_own else None))
        try:
            status, said = _wait_for_answer(transfer, address, title, progress, should_stop)
            own = said if is_own or own is None else own
            if status == 200:
                body = _read(transfer, address, said, title, progress, should_stop) if wants(own) else None
                return Answer(status, own, body)
            if status not in _REDIRECTS:
                return Answer(status, own, None)
            address = _next_address(address, said)
            if urlsplit(address).netloc != host and not wants(own):
                return Answer(200, own, None)
        finally:
            transfer.give_up()
    raise FetchError(f"{host} sends every request for {title} elsewhere.", "Try again later.")


def _request(address: str, headers: Mapping[str, str] | None) -> urllib.request.Request:
    sent = {"User-Agent": f"bpe-viz/{version('bpe-viz')}", "Accept-Encoding": "identity", **(headers or {})}
    return urllib.request.Request(address, headers=sent)


def _next_address(address: str, said: Headers) -> str:
    """Return where a server sends us. Raises FetchError for a place that is no HTTP or less safe."""
    target = urljoin(address, said.get("Location", ""))
    allowed = ("https",) if address.startswith("https:") else ("http", "https")
    if urlsplit(target).scheme not in allowed or target == address:
        raise FetchError(f"{urlsplit(address).hostname} sends us to {target[:80]!r}.", "It is not followed there.")
    return target


def _wait_for_answer(
    transfer: _Transfer, address: str, title: str, progress: Progress, should_stop: StopRequested
) -> tuple[int, Headers]:
    host = urlsplit(address).netloc
    progress(0.0, f"Asking {host} for {title}")
    until = time.monotonic() + CONNECT_SECONDS

    def tell_silence(seconds: int) -> None:
        progress(0.0, f"{host} has not answered for {_seconds(seconds)} yet")

    while True:
        kind, value = transfer.next(until, should_stop, tell_silence)
        if kind == "connected":
            until = time.monotonic() + SILENT_SECONDS
        elif kind == "answer":
            return cast("tuple[int, Headers]", value)
        else:
            raise _unreachable(host, value)


def _read(
    transfer: _Transfer,
    address: str,
    said: Headers,
    title: str,
    progress: Progress,
    should_stop: StopRequested,
) -> bytes:
    """Return the whole body. Raises FetchError if it is too large, Unreachable if it breaks off."""
    host = urlsplit(address).netloc
    written = said.get("Content-Length", "")
    size = int(written) if written.isascii() and written.isdigit() else None
    chunks: list[bytes] = []
    n = 0

    def tell_silence(seconds: int) -> None:
        progress(n / size if size else 0.0, f"{_fetching(title, n, size)}; nothing came for {_seconds(seconds)}")

    while True:
        if max(n, size or 0) > LARGEST:
            raise FetchError(
                f"{title} at {host} holds more than {LARGEST >> 20} MB, more than any tokenizer file.",
                "Check the name.",
            )
        kind, value = transfer.next(time.monotonic() + SILENT_SECONDS, should_stop, tell_silence)
        if kind == "chunk":
            chunks.append(value)
            n += len(value)
            progress(n / size if size else 0.0, _fetching(title, n, size))
        elif kind == "end" and (size is None or n == size):
            return b"".join(chunks)
        else:
            of = f" of {_megabytes(size)}" if size is not None else ""
            raise Unreachable(
                f"{host} broke off {title} after {_megabytes(n)}{of}; nothing of it was kept.", "Try again."
            )


def _fetching(title: str, n: int, size: int | None) -> str:
    return f"Fetching {title}: {_megabytes(n)}" + (f" of {_megabytes(size)}" if size else "")


def _seconds(n: int) -> str:
    return "a second" if n == 1 else f"{n} seconds"


def _megabytes(n: int) -> str:
    return f"{n / 1e6:.1f} MB" if n >= 100_000 else f"{n:,} bytes"


def _unreachable(host: str, error: object) -> Unreachable:
    """Return what to say of a server that cannot be reached."""
    reason = getattr(error, "reason", error)  # what urllib wraps
    again = "Check the network connection, and try again."
    if isinstance(reason, socket.gaierror):
        return Unreachable(f"{host} cannot be found: there seems to be no network.", again)
    if isinstance(reason, ssl.SSLCertVerificationError):
        return Unreachable(
            f"{host} shows a certificate that is not trusted here: {reason.verify_message}.",
            "Give the file of certificates of your network in SSL_CERT_FILE.",
        )
    if isinstance(reason, TimeoutError):
        return Unreachable(f"{host} does not answer.", again)
    if isinstance(reason, OSError) and not isinstance(reason, http.client.HTTPException):
        return Unreachable(f"{host} cannot be reached: {reason.strerror or reason}.", again)
    return Unreachable(f"{host} gives no whole answer ({type(reason).__name__}).", "Try again.")


class _Transfer:
    """One request that is under way. Events arrive as (kind, value): connected, answer, chunk, end, failed."""

    def __init__(self, wanted: urllib.request.Request) -> None:
        self._wanted = wanted
        self._events: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
        self._given_up = threading.Event()
        self._socket: socket.socket | None = None
        threading.Thread(target=self._run, name="fetch", daemon=True).start()

    def next(self, until: float, should_stop: StopRequested, tell_silence: Callable[[int], None]) -> tuple[str, Any]:
        """Return the next event; ("failed", TimeoutError) if there is none until then. Raises Stopped.

        tell_silence: called with every whole second that none comes
        """
        began, told = time.monotonic(), 0
        while True:
            if should_stop():
                raise Stopped
            try:
                return self._events.get(timeout=_POLL_SECONDS)
            except queue.Empty:
                now = time.monotonic()
                if now > until:
                    return "failed", TimeoutError()
                if now - began >= told + 1:
                    told = int(now - began)
                    tell_silence(told)

    def give_up(self) -> None:
        """End it; the thread wakes up if it waits for the server."""
        self._given_up.set()
        if self._socket is not None:
            with contextlib.suppress(OSError):  # it may be closed already
                self._socket.shutdown(socket.SHUT_RDWR)

    def _run(self) -> None:
        try:
            with _opener(self._connected).open(self._wanted, timeout=SILENT_SECONDS) as answer:
                self._events.put(("answer", (answer.status, answer.headers)))
                while not self._given_up.is_set() and (chunk := answer.read1(_CHUNK)):
                    self._events.put(("chunk", chunk))
            self._events.put(("end", None))
        except Exception as error:  # noqa: BLE001  # told to the thread that waits
            self._events.put(("failed", error))

    def _connected(self, used: socket.socket) -> None:
        self._socket = used
        self._events.put(("connected", None))
        if self._given_up.is_set():
            self.give_up()


def _opener(connected: Callable[[socket.socket], None]) -> urllib.request.OpenerDirector:
    """Return what opens HTTP and HTTPS alone, through the proxies of the environment, and follows nothing by itself."""

    class Plain(http.client.HTTPConnection):
        def connect(self) -> None:
            super().connect()
            connected(self.sock)

    class Secure(http.client.HTTPSConnection):
        def connect(self) -> None:
            super().connect()
            connected(self.sock)

    class OverHttp(urllib.request.HTTPHandler):
        def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
            return self.do_open(Plain, req)

    class OverHttps(urllib.request.HTTPSHandler):
        def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
            return self.do_open(Secure, req, context=ssl.create_default_context())

    opener = urllib.request.OpenerDirector()
    for handler in (urllib.request.ProxyHandler(), OverHttp(), OverHttps(), urllib.request.UnknownHandler()):
        opener.add_handler(handler)
    return opener
