"""Refuses now, before anything is written of a run, what a platform, AWS or the sweep itself would refuse later."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.errors import SettingsError, SpecError, UsageError
from orchestrator.platforms.refusals import find_refusal
from orchestrator.platforms.registry import is_ours
from orchestrator.runs.sending.champion import bring_champion, find_champion
from orchestrator.runs.sending.templates import make_template
from orchestrator.runs.written.submission import everything

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.plan.plan import Plan
    from orchestrator.platforms.base import Planning
    from orchestrator.runs.cloud import Cloud
    from orchestrator.runs.written.anchor import Anchor


def check_plan(plan: Plan, planning: Callable[[str], Planning]) -> None:
    """Refuse a plan that one of its platforms cannot run, without asking AWS.

    Raise UsageError for a platform that is not installed, and for a lane where the sweep's trainings cannot run. Raise
    SpecError for what a platform cannot do of the sweep.
    """
    for platform in sorted({platform for platform, _ in plan.sites}):
        for complaint in planning(platform).check(plan.sweep):
            raise SpecError(complaint.message, where=".".join(map(str, complaint.at)), hint=complaint.hint)
    for lane in sorted({place.lane for share in plan.shares for place in share.places}):
        why = find_refusal(planning(lane.platform), lane, plan.sweep)
        if why:
            raise UsageError(why, where=str(lane), hint="leave it out of the sweep's `where`, and plan again")


def check_launchers(plan: Plan, cloud: Cloud) -> None:
    """Raise SettingsError for a platform that the launcher's image is not said to have.

    Its tasks would start, and then fail one by one for want of it.
    """
    for platform in sorted({platform for platform, _ in plan.sites}):
        if not is_ours(platform) and platform not in cloud.account.launcher_platforms:
            raise SettingsError(
                f"the launcher's image is not said to have the platform {platform!r}",
                hint=f'build its wheel into the image, then write `launcher_platforms = ["{platform}"]` in sweep.toml',
            )


def check(wanted: Anchor, cloud: Cloud) -> None:
    """Refuse a run that could not be submitted, and bring the champion's model to where it is read."""
    check_run(wanted, cloud)
    bring_champion(wanted.plan, cloud)


def check_run(wanted: Anchor, cloud: Cloud) -> None:
    """Refuse a run that could not be submitted: templates, buckets, images, models and queues are asked for.

    Nothing is written.
    """
    check_plan(wanted.plan, cloud.planning)
    check_launchers(wanted.plan, cloud)
    find_champion(wanted.plan, cloud)
    for platform, region in wanted.plan.sites:
        make_template(wanted, platform, region, cloud)
        cloud.bucket(region).check()
    cloud.rendered  # noqa: B018 (is there such an image of the launcher?)
    arrays = everything(wanted.plan).arrays(wanted.name)
    for queue in sorted({cloud.queue(array.lot) for array in arrays}):
        cloud.batch.find(arrays[0].name, queue)  # is there such a queue?
