"""Whether a real tokenizer's own library gives the same ids for the text: asked in the background, told in a badge.

The library runs in a process of its own, so typing never waits for it. What it says of an older text is never shown.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from bpe_viz.engine.layout import EncodedText
from bpe_viz.engine.tokenizer import SpecialText
from bpe_viz.errors import BpeVizError, Stopped
from bpe_viz.gui.jobs import Job, Lane
from bpe_viz.gui.opened_tokenizer import TokenizerSource
from bpe_viz.gui.text_encoder import TextEncoder
from bpe_viz.verification import Verification, Verifier

PAUSE_MILLISECONDS = 150
"""Without a change of the text, after which the library is asked."""

Kind = Literal["asking", "same", "renumbered", "different", "unknown"]


@dataclass(frozen=True, slots=True)
class Fidelity:
    """What is known of the text that is shown.

    text: in a few words; meaning: in a sentence
    kind: renumbered: the same tokens, some of which the library is known to number otherwise
    place: where the first token begins that differs, a code point of the text; None where none does
    """

    kind: Kind
    text: str
    meaning: str
    place: int | None = None


class FidelityCheck(QObject):
    """Asks a tokenizer's own library about the text that is encoded, one question at a time, the newest next."""

    changed = Signal(object)
    """Fidelity, or None where there is no tokenizer to compare with."""

    def __init__(self, encoder: TextEncoder, source: Callable[[], TokenizerSource | None], parent: QObject) -> None:
        """source: returns where the tokenizer comes from that is shown, None if it is trained here"""
        super().__init__(parent)
        self._lane = Lane("fidelity", self)
        self._encoder = encoder
        self._source = source
        self._verifier: Verifier | None = None
        self._verifies: TokenizerSource | None = None
        self._asked: EncodedText | None = None
        self.fidelity: Fidelity | None = None
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(PAUSE_MILLISECONDS)
        self._pause.timeout.connect(self._ask)
        encoder.encoding_changed.connect(self._follow)
        encoder.refused.connect(self._forget)

    @property
    def is_settled(self) -> bool:
        """Whether what is known is what will be."""
        return self.fidelity is None or self.fidelity.kind != "asking"

    @Slot()
    def follow_source(self) -> None:
        """Another tokenizer, or none, is shown: the library of the one before is ended."""
        if self._source() is not self._verifies:
            self._lane.drop("verify")
            self._asked = None
            self._end_library()
            self._verifies = self._source()
        self._forget()

    @Slot()
    def _forget(self, _: object = None) -> None:
        self._pause.stop()
        self._show(None)

    @Slot()
    def _follow(self, _: object = None) -> None:
        """Another text is encoded: what was said of the one before is taken back at once."""
        if self._verifies is None:
            self._show(None)
            return
        self._show(Fidelity("asking", "comparing…", "Its own library is asked"))
        self._pause.start()

    @Slot()
    def _ask(self) -> None:
        encoded, source = self._encoder.encoded, self._verifies
        # A question that is being answered is let be: ending it would end the library, which takes a second to load.
        if encoded is None or source is None or source.located is None or self._asked is not None:
            return
        if self._verifier is None:
            try:
                self._verifier = Verifier(source.located, source.given)
            except BpeVizError as error:
                self._show(_unknown(error))
                return
        self._asked = encoded
        work = partial(_verify, self._verifier, encoded, self._encoder.special_text)
        self._lane.submit("verify", work, partial(self._answered, encoded), partial(self._failed, encoded))

    def _answered(self, encoded: EncodedText, verification: Verification) -> None:
        self._conclude(encoded, _said(verification))

    def _failed(self, encoded: EncodedText, error: BpeVizError) -> None:
        if not isinstance(error, Stopped):
            self._conclude(encoded, _unknown(error))

    def _conclude(self, encoded: EncodedText, fidelity: Fidelity) -> None:
        self._asked = None
        if encoded is self._encoder.encoded:
            self._show(fidelity)
        else:
            self._ask()

    def _show(self, fidelity: Fidelity | None) -> None:
        if fidelity != self.fidelity:
            self.fidelity = fidelity
            self.changed.emit(fidelity)

    def _end_library(self) -> None:
        if self._verifier is not None:
            verifier, self._verifier = self._verifier, None
            self._lane.submit("end", lambda job: verifier.close(), lambda _: None, lambda _: None)

    def close(self) -> None:
        """End the library and the lane, and wait for both."""
        self._pause.stop()
        self._lane.close()
        if self._verifier is not None:
            self._verifier.close()


def _verify(verifier: Verifier, encoded: EncodedText, special_text: SpecialText, job: Job) -> Verification:
    return verifier.verify(encoded, special_text, should_stop=job.should_stop)


def _said(verification: Verification) -> Fidelity:
    name = f"{verification.library} {verification.version}"
    difference = verification.difference
    if difference is None:
        return Fidelity("same", f"same as {name}", f"All {verification.n_tokens:,} ids are those that {name} gives.")
    number = f"{difference.number + 1:,}"
    if difference.renumbered:
        meaning = (
            f"All {verification.n_tokens:,} tokens are those that {name} gives, but it numbers "
            f"{difference.renumbered:,} of them anew, as the ids that the file declares leave a hole; bpe-viz keeps "
            f"those of the file. The first is token {number}: {difference.our_text} here, {difference.theirs} there."
        )
        return Fidelity("renumbered", f"same as {name}, renumbered", meaning, difference.place)
    meaning = (
        f"Token {number} is the first that differs, at character {difference.place + 1:,}: {difference.our_text} here, "
        f"{difference.their_text} by {name}."
    )
    return Fidelity("different", f"differs from {name} at token {number}", meaning, difference.place)


def _unknown(error: BpeVizError) -> Fidelity:
    return Fidelity("unknown", "not compared", str(error))
