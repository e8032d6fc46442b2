"""The text to encode: encoded for every position of the timeline that is shown, again whenever either changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Signal

from bpe_viz.engine.layout import EncodedText
from bpe_viz.engine.tokenizer import Decoding
from bpe_viz.errors import BpeVizError, Stopped
from bpe_viz.gui.jobs import Job, Lane
from bpe_viz.gui.training import Training


class TextEncoder(QObject):
    """Encodes a text, and decodes ids, with the tokenizer that is shown; both in the query lane."""

    encoding_changed = Signal(object)
    """EncodedText: the text to encode was encoded anew."""
    text_set = Signal(object)
    """str, as an object, because Signal(str) loses lone surrogates: somebody else than its editor replaced the text."""
    decoded = Signal(object)
    """Decoding: the answer to decode()."""
    failed = Signal(object)
    """BpeVizError."""

    def __init__(self, lane: Lane, shown: Callable[[], Training | None], parent: QObject) -> None:
        """shown: returns the training whose tokenizer encodes, None while there is none"""
        super().__init__(parent)
        self._lane = lane
        self._shown = shown
        self._text_is_own = False
        self.text = ""
        self.encoded: EncodedText | None = None

    def set_text(self, text: str, from_editor: bool = False) -> None:
        """Encode another text; from_editor: its editor shows it already."""
        self._text_is_own = True
        self._take_text(text, from_editor)

    def suggest_text(self, text: str) -> None:
        """Encode this text unless the user has chosen one."""
        if not self._text_is_own:
            self._take_text(text, from_editor=False)

    def _take_text(self, text: str, from_editor: bool) -> None:
        self.text = text
        if not from_editor:
            self.text_set.emit(text)
        self.encode()

    def forget(self) -> None:
        """Another timeline is shown: what is encoded was by the one before."""
        self.encoded = None

    def encode_up_to(self, position: int) -> None:
        """Encode anew if what is known ends before a position."""
        if self.encoded is None or self.encoded.known < position:
            self.encode()

    def encode(self) -> None:
        """Encode the text for every position trained so far."""
        training, text = self._shown(), self.text
        if training is None:
            return

        def work(job: Job) -> EncodedText:
            return training.answers.encode(text)

        def show(encoded: EncodedText) -> None:
            # Another timeline may be shown meanwhile; its first frame asks for the text to be encoded anew.
            if training is self._shown():
                self.encoded = encoded
                self.encoding_changed.emit(encoded)

        self._lane.submit("encode", work, show, self._fail)

    def decode(self, ids: Sequence[int]) -> None:
        """Decode ids with the tokenizer trained so far; `decoded` brings the answer."""
        training = self._shown()
        if training is None:
            return

        def work(job: Job) -> Decoding:
            return training.answers.decode(ids)

        self._lane.submit("decode", work, self.decoded.emit, self.failed.emit)

    def _fail(self, error: BpeVizError) -> None:
        if not isinstance(error, Stopped):
            self.failed.emit(error)
