"""What a row of the merge list says: of the merges recorded, and of the one that training would make next."""

from __future__ import annotations

from dataclasses import dataclass

from bpe_viz.engine.narration import by_the_rule, sentence, times
from bpe_viz.engine.types import Departure, Merge
from bpe_viz.engine.visible import Parts, shortened, text_of, visible_parts
from bpe_viz.gui.merge_chips import ARROW
from bpe_viz.gui.symbol_texts import LONGEST_IN_TOOLTIP, describe_bytes
from bpe_viz.gui.workspace import Workspace

CHOSEN = "chosen"


@dataclass(frozen=True, slots=True)
class Row:
    """One row as it is shown.

    symbols: left, right and token, as text
    notes: what stands beside the count, such as "2 replaced", "= 2" and "chosen", which is drawn as a fork
    """

    number: int
    symbols: tuple[str, str, str]
    count: int
    notes: tuple[str, ...]


class MergeTexts:
    """Reads merges and symbols of the timeline that is shown."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def row(self, rank: int) -> Row:
        """Return a row as it is shown."""
        merge = self.merge(rank)
        texts = [text_of(self.parts(symbol)) for symbol in (merge.left, merge.right, merge.token)]
        notes = tuple(note for note in (self.replaced(merge), self.tie_note(merge)) if note)
        return Row(rank + 1, (texts[0], texts[1], texts[2]), merge.count, notes)

    def merge(self, rank: int) -> Merge:
        """Return a merge. Raises IndexError for one that is neither recorded nor next."""
        timeline, frame = self._workspace.timeline, self._workspace.frame
        if timeline is not None and rank < timeline.frontier:
            return timeline.merge(rank)
        if frame is None or frame.next is None:
            raise IndexError(f"no merge of rank {rank}")
        return frame.next

    def content(self, symbol: int) -> tuple[bytes, bool]:
        """Return the bytes of a symbol, and whether it ends a word; of the token to come as well."""
        timeline, frame = self._workspace.timeline, self._workspace.frame
        if timeline is None:
            raise IndexError(f"no symbol {symbol}")
        symbols = timeline.symbols
        if symbol < len(symbols):
            return symbols.content(symbol), symbols.ends_word(symbol)
        if frame is None or frame.next is None:
            raise IndexError(f"no symbol {symbol}")
        left, right = frame.next.left, frame.next.right
        return symbols.content(left) + symbols.content(right), symbols.ends_word(right)

    def parts(self, symbol: int, limit: int = LONGEST_IN_TOOLTIP) -> Parts:
        """Return what is shown of a symbol; limit: in characters."""
        timeline = self._workspace.timeline
        content, ends_word = self.content(symbol)
        marker = timeline.base.marker if timeline is not None and ends_word else ""
        parts = visible_parts(content, marker)
        return shortened(parts, limit)

    @staticmethod
    def replaced(merge: Merge) -> str:
        """Say how often it was replaced, where that is less than counted."""
        is_known = merge.replacements > 0
        return f"{merge.replacements:,} replaced" if is_known and merge.replacements != merge.count else ""

    def tie_note(self, merge: Merge) -> str:
        """Say that it was chosen, or how many pairs tied."""
        if self.departure(merge) is not None:
            return CHOSEN
        return f"= {merge.ties:,}" if merge.ties > 1 else ""

    def departure(self, merge: Merge) -> Departure | None:
        """Return what the rule would have done where a merge was chosen by hand."""
        timeline = self._workspace.timeline
        return timeline.departures.get(merge.rank) if timeline is not None else None

    def describe(self, rank: int) -> str:
        """Return what a tooltip says of a merge, as plain text in lines."""
        merge = self.merge(rank)
        left, right, token = (text_of(self.parts(one)) for one in (merge.left, merge.right, merge.token))
        content, _ = self.content(merge.token)
        counted = f"counted {times(merge.count)}"
        if merge.replacements:
            counted += f", replaced {times(merge.replacements)}"
        lines = [f"merge {rank + 1:,}, rank {rank:,}: {left} + {right} {ARROW} {token}", counted]
        departure, timeline = self.departure(merge), self._workspace.timeline
        if departure is not None and timeline is not None:
            lines.append(f"chosen by hand; {sentence(by_the_rule(departure), timeline.symbols)}")
        elif merge.ties > 1:
            lines.append(f"tied with {merge.ties - 1:,} other {'pair' if merge.ties == 2 else 'pairs'}")
        return "\n".join([*lines, f"id {merge.token:,}, {describe_bytes(content)}"])
