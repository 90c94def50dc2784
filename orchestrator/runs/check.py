"""Refuses now, before anything is written, what a platform, AWS or the sweep itself would refuse later."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.errors import SpecError, UsageError
from orchestrator.runs.submission import everything
from orchestrator.runs.templates import make_template

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.plan.plan import Plan
    from orchestrator.platforms.base import Planning
    from orchestrator.runs.anchor import Anchor
    from orchestrator.runs.cloud import Cloud


def check_plan(plan: Plan, planning: Callable[[str], Planning]) -> None:
    """Refuse a plan that one of its platforms cannot run, without asking AWS.

    Raise UsageError for a platform that is not installed, and for a lane that its platform does not have. Raise
    SpecError for what a platform cannot do of the sweep.
    """
    for platform in sorted({platform for platform, _ in plan.sites}):
        for complaint in planning(platform).check(plan.sweep):
            raise SpecError(complaint.message, where=".".join(map(str, complaint.at)), hint=complaint.hint)
    for lane in sorted({place.lane for share in plan.shares for place in share.places}):
        why = planning(lane.platform).refuses(lane)
        if why:
            raise UsageError(why, where=str(lane), hint="leave it out of the sweep's `where`, and plan again")


def check(wanted: Anchor, cloud: Cloud) -> None:
    """Refuse a run that could not be submitted: templates, buckets, images and queues are asked for."""
    check_plan(wanted.plan, cloud.planning)
    for platform, region in wanted.plan.sites:
        make_template(wanted, platform, region, cloud)
        cloud.bucket(region).check()
    cloud.rendered  # noqa: B018 (is there such an image of the launcher?)
    arrays = everything(wanted.plan).arrays(wanted.name)
    for queue in sorted({cloud.queue(array.lot) for array in arrays}):
        cloud.batch.find(arrays[0].name, queue)  # is there such a queue?
