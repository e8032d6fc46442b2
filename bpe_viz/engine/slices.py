"""Long work in slices, so that progress is shown and Stop is felt between them."""

from __future__ import annotations

import time

_SLICE_SECONDS = 0.02  # between two looks at progress and stop


def next_budget(budget: int, seconds: float, least: int) -> int:
    """Return the budget that would have taken one slice's time, growing at most fourfold at once.

    budget: of the slice that took so many seconds
    """
    fitting = int(budget * _SLICE_SECONDS / max(seconds, 1e-6))
    return max(least, min(4 * budget, fitting))


_PAUSE_SECONDS = 0.0005


def let_others_run() -> None:
    """Pause for a moment: work in plain Python that does so every few milliseconds does not starve the window.

    A paint gives Python's lock away at every call of Qt, and beside a thread that never pauses waits for it each time.
    """
    time.sleep(_PAUSE_SECONDS)
