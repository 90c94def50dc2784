"""Why a sweep's trainings cannot run on a lane: what the platform does not have, and what the sweep asks for there."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from orchestrator.platforms.base import Planning
    from orchestrator.spec.sweep import Sweep
    from orchestrator.wire.task import Lane


def find_refusal(planning: Planning, lane: Lane, sweep: Sweep) -> str:
    """Return in words why the sweep's trainings cannot run on this lane of a platform; nothing if they can."""
    return planning.refuses(lane) or sweep.train.lacks_in(lane.region) or planning.excludes(sweep, lane)
