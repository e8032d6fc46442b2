"""Asking the library in a child process, which can be ended at any moment.

Messages are written in MessagePack behind their length: the parent sends an _Opening and gets _Opened, then sends
_Question after _Question and gets an _Answer to each. Instead of either the child may send _Failure.
"""

from __future__ import annotations

import contextlib
import queue
import struct
import subprocess
import sys
import threading
from pathlib import Path
from typing import BinaryIO, TypeVar

import msgspec

from bpe_viz.engine.interrupts import leave_to_parent
from bpe_viz.engine.layout import EncodedText
from bpe_viz.engine.pipeline import without_surrogates
from bpe_viz.engine.tokenizer import SpecialText
from bpe_viz.engine.types import CountingOptions, StopRequested
from bpe_viz.errors import BpeVizError, FormatError, Stopped
from bpe_viz.formats.openai_encodings import encoding_named
from bpe_viz.names import Located
from bpe_viz.verification._comparison import Verification, compare
from bpe_viz.verification._own import OpenedLibrary, library_of
from bpe_viz.verification._service import check_whole

_POLL_SECONDS = 0.02
_LENGTH = struct.Struct("<Q")


class _Opening(msgspec.Struct):
    path: str
    encoding: str | None
    given: CountingOptions | None


class _Opened(msgspec.Struct, tag=True):
    version: str


class _Question(msgspec.Struct):
    text: str
    special_text: SpecialText
    around: bool


class _Answer(msgspec.Struct, tag=True):
    units: list[int | str]


class _Failure(msgspec.Struct, tag=True):
    message: str
    remedy: str


_Reply = _Opened | _Answer | _Failure
_Kind = TypeVar("_Kind", _Opened, _Answer)
_REPLIES = msgspec.msgpack.Decoder(_Reply)


class Verifier:
    """The own library of one tokenizer, in a child process that starts with the first question.

    May be used by any thread; questions of several threads wait for each other.
    """

    def __init__(self, located: Located, given: CountingOptions | None = None) -> None:
        """Raise OptionError if no library reads such a file; whether it is installed tells the first question.

        located: the tokenizer's file; given: the user's pretokenizer, if it was opened with one
        """
        self._library = library_of(located.path)
        name = None if located.encoding is None else located.encoding.name
        self._opening = _Opening(str(located.path.absolute()), name, given)
        self._lock = threading.Lock()
        self._child: _Child | None = None
        self._version = ""

    @property
    def library(self) -> str:
        """The name of the library that is asked."""
        return self._library.package

    def verify(
        self,
        encoded: EncodedText,
        special_text: SpecialText = "allow",
        around: bool = True,
        should_stop: StopRequested = lambda: False,
    ) -> Verification:
        """Compare a text as bpe_viz encoded it with what the library makes of it.

        special_text, around: as the text was encoded
        Raises BpeVizError if the library is not installed, merges are left out, or it fails; and Stopped as soon as
        should_stop says so: the child is ended, and the next question starts another.
        """
        check_whole(encoded)
        text, _ = without_surrogates(encoded.text)
        with self._lock:
            try:
                child = self._started(should_stop)
                theirs = child.ask(_Question(text, special_text, around), _Answer, should_stop).units
            except BaseException:
                self._end()
                raise
        return compare(encoded, self._library.ours, theirs, self.library, self._version)

    def close(self) -> None:
        """End the child process; a later question would start another."""
        with self._lock:
            self._end()

    def _started(self, should_stop: StopRequested) -> _Child:
        if self._child is None:
            self._child = _Child()
            self._version = self._child.ask(self._opening, _Opened, should_stop).version
        return self._child

    def _end(self) -> None:
        if self._child is not None:
            self._child.end()
            self._child = None


class _Child:
    """A process that runs `serve`, and a thread that reads what it writes."""

    def __init__(self) -> None:
        command = [sys.executable, "-c", "from bpe_viz.verification._process import serve; serve()"]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self._replies: queue.SimpleQueue[_Reply | None] = queue.SimpleQueue()
        threading.Thread(target=self._read, name="own library", daemon=True).start()

    def ask(self, message: msgspec.Struct, kind: type[_Kind], should_stop: StopRequested) -> _Kind:
        """Send a message and return its reply. Raises BpeVizError for a failure, Stopped."""
        threading.Thread(target=self._send, args=(message,), daemon=True).start()
        while True:
            if should_stop():
                raise Stopped
            with contextlib.suppress(queue.Empty):
                reply = self._replies.get(timeout=_POLL_SECONDS)
                if isinstance(reply, kind):
                    return reply
                if isinstance(reply, _Failure):
                    raise BpeVizError(reply.message, reply.remedy)
                raise FormatError("The library ended while it was asked.", "Ask it about a shorter text.")

    def end(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        with contextlib.suppress(OSError):  # what it did not read is lost
            self._process.stdin.close()  # type: ignore[union-attr]  # it is a pipe

    def _send(self, message: msgspec.Struct) -> None:
        # A full pipe waits for the child, so this is no work for the thread that looks out for Stop.
        with contextlib.suppress(OSError):  # the child has ended, which the reading thread tells
            _write(self._process.stdin, message)  # type: ignore[arg-type]  # it is a pipe

    def _read(self) -> None:
        try:
            with self._process.stdout as pipe:  # type: ignore[union-attr]  # it is a pipe
                while (data := _read_frame(pipe)) is not None:  # type: ignore[arg-type]
                    self._replies.put(_REPLIES.decode(data))
        finally:
            self._replies.put(None)


def _write(pipe: BinaryIO, message: msgspec.Struct) -> None:
    data = msgspec.msgpack.encode(message)
    pipe.write(_LENGTH.pack(len(data)) + data)
    pipe.flush()


def _read_frame(pipe: BinaryIO) -> bytes | None:
    """Return the next message, None at the end."""
    head = pipe.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    data = pipe.read(length)
    return data if len(data) == length else None


def serve() -> None:
    """Be the child: answer questions on standard input until it ends."""
    leave_to_parent()
    questions, answers = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # whatever a library prints is not for the parent
    frame = _read_frame(questions)
    try:
        opened = _open(msgspec.msgpack.decode(frame or b"", type=_Opening))
        _write(answers, _Opened(opened.version))
        while (frame := _read_frame(questions)) is not None:
            asked = msgspec.msgpack.decode(frame, type=_Question)
            units = opened.encode(asked.text, asked.special_text, asked.around)
            _write(answers, _Answer(list(units)))
    except BpeVizError as error:
        _write(answers, _Failure(error.message, error.remedy))


def _open(opening: _Opening) -> OpenedLibrary:
    path = Path(opening.path)
    encoding = None if opening.encoding is None else encoding_named(opening.encoding)
    tokenizer = Located(opening.path, path, path.name, encoding=encoding).load(opening.given)
    return OpenedLibrary(path, tokenizer)
