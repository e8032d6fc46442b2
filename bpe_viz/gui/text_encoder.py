"""The text to encode: encoded for every position of the timeline that is shown, again whenever either changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Signal

from bpe_viz.engine.id_decoding import Decoding
from bpe_viz.engine.layout import EncodedText
from bpe_viz.engine.tokenizer import SpecialText
from bpe_viz.errors import BpeVizError, Stopped
from bpe_viz.gui.jobs import Job, Lane
from bpe_viz.gui.shown import Shown


class TextEncoder(QObject):
    """Encodes a text, and decodes ids, with the tokenizer that is shown; both in the query lane."""

    encoding_changed = Signal(object)
    """EncodedText: the text to encode was encoded anew."""
    text_set = Signal(object)
    """str, as an object, because Signal(str) loses lone surrogates: somebody else than its editor replaced the text."""
    decoded = Signal(object)
    """Decoding: the answer to decode()."""
    refused = Signal(object)
    """BpeVizError: this text is not encoded, by the user's choice or because it cannot be; nothing is shown of it."""
    special_text_changed = Signal(str)
    """SpecialText: what the text of a special token becomes."""
    failed = Signal(object)
    """BpeVizError: ids could not be decoded."""

    def __init__(self, lane: Lane, shown: Callable[[], Shown | None], parent: QObject) -> None:
        """shown: returns what encodes, None while there is nothing"""
        super().__init__(parent)
        self._lane = lane
        self._shown = shown
        self._text_is_own = False
        self.text = ""
        self.special_text: SpecialText = "allow"
        self.encoded: EncodedText | None = None
        self.refusal: BpeVizError | None = None

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

    def treat_special_text(self, special_text: SpecialText) -> None:
        """Encode anew, with the text of special tokens as the token, as plain text, or as an error."""
        if special_text != self.special_text:
            self.special_text = special_text
            self.special_text_changed.emit(special_text)
            self.encode()

    def forget(self) -> None:
        """Another timeline is shown: what is encoded was by the one before."""
        self.encoded = None
        self.refusal = None

    def encode_up_to(self, position: int) -> None:
        """Encode anew if what is known ends before a position."""
        if self.refusal is None and (self.encoded is None or self.encoded.known < position):
            self.encode()

    def encode(self) -> None:
        """Encode the text for every position known so far."""
        shown, text, special_text = self._shown(), self.text, self.special_text
        if shown is None:
            return

        def work(job: Job) -> EncodedText:
            return shown.answers.encode(text, special_text)

        def show(encoded: EncodedText) -> None:
            # Something else may be shown meanwhile; its first frame asks for the text to be encoded anew.
            if shown is self._shown():
                self.encoded, self.refusal = encoded, None
                self.encoding_changed.emit(encoded)

        def refuse(error: BpeVizError) -> None:
            if shown is self._shown() and not isinstance(error, Stopped):
                self.encoded, self.refusal = None, error
                self.refused.emit(error)

        self._lane.submit("encode", work, show, refuse)

    def decode(self, ids: Sequence[int]) -> None:
        """Decode ids with the tokenizer that is shown; `decoded` brings the answer."""
        shown = self._shown()
        if shown is None:
            return

        def work(job: Job) -> Decoding:
            return shown.answers.decode(ids)

        self._lane.submit("decode", work, self.decoded.emit, self.failed.emit)
