"""The proof of a cancel: what was asked for in each Region, and that it has ended."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from orchestrator.runs.ending.arrays import ArrayJobs
    from orchestrator.runs.ending.stop import OpenAttempts


@dataclass(frozen=True)
class Stopped:
    """What a cancel has asked for in one Region, and what came of it."""

    region: str
    arrays: int
    """Array jobs that were terminated. All have ended."""
    asked: int
    """Trainings that the cancel itself asked to stop. Launchers stop their own."""
    ended: int
    """Trainings that were looked at until they had ended, whether they were asked to or not."""
    never_begun: int
    """Attempts that were recorded, and whose training was looked for in vain."""

    def __str__(self) -> str:
        told = []
        if self.arrays:
            told.append(f"{self.arrays} array job{'s' if self.arrays > 1 else ''} terminated")
        if self.ended:
            told.append(
                f"{self.ended} training{'s' if self.ended > 1 else ''} ended, {self.asked} asked to stop from here"
            )
        if self.never_begun:
            told.append(f"{self.never_begun} recorded, and never begun")
        return f"{self.region}: {'; '.join(told)}"


def prove(home: str, arrays: ArrayJobs, attempts: OpenAttempts) -> list[Stopped]:
    """Return what was asked for and has ended, by Region; nothing if there was nothing to stop."""
    asked = Counter(region for region, _ in attempts.asked)
    ended = Counter(region for region, _ in attempts.proven)
    never = Counter(attempt.lane.region for attempt in attempts.unborn.values())
    regions = sorted({*asked, *ended, *never, *([home] if arrays.terminated else [])})
    return [
        Stopped(
            region=region,
            arrays=len(arrays.terminated) if region == home else 0,
            asked=asked[region],
            ended=ended[region],
            never_begun=never[region],
        )
        for region in regions
    ]
