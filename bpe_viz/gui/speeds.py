"""The speeds at which merges are played, and what they are called."""

from __future__ import annotations

SPEEDS = (0.5, 1.0, 2.0, 5.0, 10.0, 50.0, 200.0, 1000.0, 5000.0)
"""Merges a second, slowest first."""


def speed_text(speed: float) -> str:
    """Name a speed: 1 merge / 2 s, 1 merge / s, 200 merges / s."""
    if speed < 1:
        return f"1 merge / {1 / speed:g} s"
    return f"{speed:,.10g} merge{'' if speed == 1 else 's'} / s"


def faster(speed: float) -> float:
    """Return the next higher speed, the highest if there is none."""
    return min((step for step in SPEEDS if step > speed), default=SPEEDS[-1])


def slower(speed: float) -> float:
    """Return the next lower speed, the lowest if there is none."""
    return max((step for step in SPEEDS if step < speed), default=SPEEDS[0])
