"""What a window shows, and what is pointed at in it: the part of the workspace that is only read."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from bpe_viz.engine.corpus import Corpus
from bpe_viz.engine.merge_list import MergeList
from bpe_viz.engine.timeline import Timeline
from bpe_viz.engine.tokenizer import Tokenizer
from bpe_viz.engine.types import Frame, Options
from bpe_viz.gui.opened_tokenizer import OpenedTokenizer, TokenizerSource, why_no_replay
from bpe_viz.gui.replay import Replay
from bpe_viz.gui.selection import Selection
from bpe_viz.gui.shown import Shown

NO_BRANCH_REMEDY = "To merge other pairs, choose Train a new tokenizer on the corpus in the Tokenizer menu."


class ShownState(QObject):
    """Holds what is shown, the cursor, and the selection; the workspace replaces them."""

    selection_changed = Signal(object)
    """Selection or None: something else is pointed at."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._shown: Shown | None = None
        self._wanted = 0
        self.frame: Frame | None = None
        self.selection: Selection | None = None
        self._hovered: Selection | None = None

    @property
    def corpus(self) -> Corpus | None:
        """The corpus that is counted; None for a tokenizer alone."""
        return self._shown.corpus if self._shown else None

    @property
    def options(self) -> Options:
        """The options of what is shown."""
        return self._shown.options if self._shown else Options()

    @property
    def shown(self) -> Shown | None:
        """What is shown: a training, or a tokenizer that was opened; None before anything is."""
        return self._shown

    @property
    def tokenizer(self) -> Tokenizer | None:
        """The tokenizer that was opened; None while what is shown is trained here."""
        return self._shown.tokenizer if self._shown else None

    @property
    def tokenizer_source(self) -> TokenizerSource | None:
        """Where the tokenizer comes from that was opened; None while what is shown is trained here."""
        return self._shown.source if isinstance(self._shown, OpenedTokenizer | Replay) else None

    @property
    def why_no_replay(self) -> str | None:
        """Why the merges of what is shown cannot be made again on a text; None if they can."""
        return None if self._shown is None or self.tokenizer is None else why_no_replay(self.tokenizer)

    @property
    def why_no_branch(self) -> str | None:
        """Why no pair can be merged instead of the next one; None if one can."""
        tokenizer = self.tokenizer
        if tokenizer is None:
            return None
        return (
            f"The list of {tokenizer.name} stands as it is: its entries name the tokens that they join, and after "
            "another pair those would be missing."
        )

    @property
    def merges(self) -> MergeList | None:
        """The merge list that is shown."""
        return self._shown.merges if self._shown else None

    @property
    def timeline(self) -> Timeline | None:
        """The recorded pair counts that are shown; None where there is no corpus."""
        return self._shown.timeline if self._shown else None

    @property
    def position(self) -> int:
        """The cursor: the position asked for last, which is shown in a moment."""
        return self._wanted

    @property
    def shown_position(self) -> int:
        """The cursor, or as near to it as is trained."""
        return min(self._wanted, self.frontier)

    @property
    def frontier(self) -> int:
        """How many merges are known."""
        return self._shown.merges.frontier if self._shown else 0

    @property
    def last_position(self) -> int:
        """Where the timeline ends: the target, or where training ran out of pairs."""
        return self._shown.end if self._shown else 0

    # --- selection ---

    def select(self, selection: Selection | None) -> None:
        """Point at something until something else is selected."""
        self.selection = selection
        self.selection_changed.emit(self.pointed_at)

    def hover(self, selection: Selection | None) -> None:
        """Point at something while the mouse is over it."""
        if selection != self._hovered:
            self._hovered = selection
            self.selection_changed.emit(self.pointed_at)

    @property
    def pointed_at(self) -> Selection | None:
        """What is under the mouse, else what is selected."""
        return self._hovered or self.selection
