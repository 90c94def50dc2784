"""Nights that nobody can go on with: what they were to reach, or what was done, cannot be understood any more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.conductor.notes import Notes
from orchestrator.errors import Damaged, NewerVersion
from orchestrator.nightly.goal import read_goal
from orchestrator.nightly.shelf import Shelf

if TYPE_CHECKING:
    from orchestrator.aws.s3 import S3
    from orchestrator.errors import SweepError


def why_lost(s3: S3, schedule: str, night: str, goal: str) -> SweepError | None:
    """Return why nobody can go on with this night, which was begun for this goal; None if somebody can."""
    try:
        if Shelf(s3).night(schedule, night) is None:
            return Damaged("was begun, and is gone", where=f"the night {schedule}/{night}")
        read_goal(s3, goal)
        Notes(s3, goal, f"{schedule}-{night}").read()
    except (Damaged, NewerVersion) as error:
        return error
    return None
