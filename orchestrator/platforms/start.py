"""The start of trainings on a platform: how long it takes, and how many may begin in a second."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Start:
    """What a platform takes to start and end trainings, beside the time that they train: priors.

    A Planning may have one as `start`. Without it, trainings start and end at once, as many as are wanted.
    """

    seconds: float = 0.0
    """Seconds that a training holds its slot before it trains, and after."""
    per_second: float = float("inf")
    """Trainings that may be started in a second, in one Region."""
