"""What a row of the merge list says: of the entries known, and of the merge that training would make next."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bpe_viz.engine.narration import by_the_rule, sentence, times
from bpe_viz.engine.replay_narration import by_training
from bpe_viz.engine.types import Departure, Merge
from bpe_viz.engine.visible import Parts, shortened, text_of, visible_parts
from bpe_viz.gui.merge_chips import ARROW
from bpe_viz.gui.symbol_texts import LONGEST_IN_TOOLTIP, describe_bytes
from bpe_viz.gui.workspace import Workspace

CHOSEN = "chosen"
DEPARTS = "departs"


@dataclass(frozen=True, slots=True)
class Row:
    """One row as it is shown.

    symbols: left, right and token, as text; the token alone where no two symbols make it
    count: None where there is no corpus to count in
    notes: what stands beside the count, such as "2 replaced", "= 2" and "chosen" or "departs", which are drawn as forks
    """

    number: int
    symbols: tuple[str, ...]
    count: int | None
    notes: tuple[str, ...]


class MergeTexts:
    """Reads entries and symbols of the merge list that is shown."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def row(self, rank: int) -> Row:
        """Return a row as it is shown."""
        merge = self.merge(rank)
        texts = tuple(text_of(self.parts(symbol)) for symbol in self.symbols(merge))
        notes = tuple(note for note in (self.replaced(merge), self.tie_note(merge)) if note)
        return Row(rank + 1, texts, merge.count if self.is_counted else None, notes)

    @property
    def is_counted(self) -> bool:
        """Whether there are counts to show."""
        merges = self._workspace.merges
        return merges is not None and merges.is_counted

    @staticmethod
    def symbols(merge: Merge) -> tuple[int, ...]:
        """Return what the chips of a merge show: left, right and token, or the token alone."""
        return (merge.token,) if merge.pair is None else (*merge.pair, merge.token)

    def count_text(self, merge: Merge) -> str:
        """Return the count as it is shown; empty where there is none."""
        return f"{merge.count:,}" if self.is_counted else ""

    def merge(self, rank: int) -> Merge:
        """Return a merge. Raises IndexError for one that is neither recorded nor next."""
        merges, frame = self._workspace.merges, self._workspace.frame
        if merges is not None and rank < merges.frontier:
            return merges.merge(rank)
        if frame is None or frame.next is None:
            raise IndexError(f"no merge of rank {rank}")
        return frame.next

    def content(self, symbol: int) -> tuple[bytes, bool]:
        """Return the bytes of a symbol, and whether it ends a word; of the token to come as well."""
        merges, frame = self._workspace.merges, self._workspace.frame
        if merges is None:
            raise IndexError(f"no symbol {symbol}")
        symbols = merges.symbols
        if symbol < len(symbols):
            return symbols.content(symbol), symbols.ends_word(symbol)
        if frame is None or frame.next is None:
            raise IndexError(f"no symbol {symbol}")
        left, right = frame.next.left, frame.next.right
        return symbols.content(left) + symbols.content(right), symbols.ends_word(right)

    def parts(self, symbol: int, limit: int = LONGEST_IN_TOOLTIP) -> Parts:
        """Return what is shown of a symbol; limit: in characters."""
        merges = self._workspace.merges
        content, ends_word = self.content(symbol)
        marker = merges.base.marker if merges is not None and ends_word else ""
        parts = visible_parts(content, marker)
        return shortened(parts, limit)

    @staticmethod
    def replaced(merge: Merge) -> str:
        """Say how often it was replaced, where that is less than counted."""
        is_known = merge.replacements > 0
        return f"{merge.replacements:,} replaced" if is_known and merge.replacements != merge.count else ""

    def tie_note(self, merge: Merge) -> str:
        """Say that it was chosen, or that training would have merged something else, or how many pairs tied."""
        if self.departure(merge) is not None:
            return CHOSEN
        if self.expected(merge) is not None:
            return DEPARTS
        return f"= {merge.ties:,}" if merge.ties > 1 else ""

    def departure(self, merge: Merge) -> Departure | None:
        """Return what the rule would have done where a merge was chosen by hand."""
        merges = self._workspace.merges
        return merges.departures.get(merge.rank) if merges is not None else None

    def expected(self, merge: Merge) -> Departure | None:
        """Return what training would have done at an entry, where that is something else."""
        merges = self._workspace.merges
        return merges.expected(merge.rank) if merges is not None else None

    def describe(self, rank: int) -> str:
        """Return what a tooltip says of a merge, as plain text in lines."""
        merge, merges = self.merge(rank), self._workspace.merges
        *parts, token = (text_of(self.parts(one)) for one in self.symbols(merge))
        made = f"{' + '.join(parts)} {ARROW} {token}" if parts else f"{token}: no two tokens merge to it"
        content, _ = self.content(merge.token)
        token_id = merge.token if merges is None else merges.id_of(merge.token)
        return "\n".join(
            [
                f"merge {rank + 1:,}, rank {rank:,}: {made}",
                *self._said_of_counts(merge),
                f"id {token_id:,}, {describe_bytes(content)}",
            ]
        )

    def _said_of_counts(self, merge: Merge) -> Iterator[str]:
        merges = self._workspace.merges
        if merges is None or not self.is_counted:
            return
        replaced = f", replaced {times(merge.replacements)}" if merge.replacements else ""
        yield f"counted {times(merge.count)}{replaced}"
        departure = self.departure(merge)
        if departure is not None:
            yield f"chosen by hand; {sentence(by_the_rule(departure), merges.symbols)}"
        elif (expected := self.expected(merge)) is not None:
            yield f"training on this text would have merged {sentence(by_training(expected, merge), merges.symbols)}"
        elif merge.ties > 1:
            yield f"tied with {merge.ties - 1:,} other {'pair' if merge.ties == 2 else 'pairs'}"
