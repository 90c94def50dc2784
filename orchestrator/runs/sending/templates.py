"""What is put into each Region before a run's tasks come there: the packed sources, and the template they share.

The template is made by the platform of its tasks, which checks at the same time what AWS would refuse later.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from orchestrator.platforms.base import Staging
from orchestrator.wire.names import S3Uri

if TYPE_CHECKING:
    from orchestrator.plan.plan import Plan
    from orchestrator.runs.cloud import Cloud
    from orchestrator.runs.written.anchor import Anchor
    from orchestrator.wire.template import Template


def make_template(anchor: Anchor, platform: str, region: str, cloud: Cloud) -> Template:
    """Return what all tasks of the run share in a Region, on one platform. Nothing is written.

    Raise what the platform raises when something is missing there, such as NotFound for an image.
    """
    every = (place for share in anchor.plan.shares for place in share.places)
    places = [place for place in every if (place.lane.platform, place.lane.region) == (platform, region)]
    staging = Staging(
        sweep=anchor.plan.sweep,
        region=region,
        run=anchor.name,
        owner=cloud.account.owner,
        source=str(S3Uri(cloud.bucket_name(region), source_key(anchor.code))),
        output=str(S3Uri(cloud.bucket_name(region), f"runs/{anchor.name}")),
        sites=tuple(sorted({place.site for place in places if place.site})),
        lanes=tuple(sorted({place.lane for place in places})),
        images=anchor.plan.images,
        role=cloud.account.role,
        poll_s=cloud.account.poll_s,
    )
    template = cloud.planning(platform).stage(staging, cloud.clients)
    asked = anchor.plan.sweep
    at_most = at_once(anchor.plan, platform, region)
    return replace(template, at_once=at_most, pause_after=asked.pause_after, canary=asked.canary)


def at_once(plan: Plan, platform: str, region: str) -> int:
    """Return how many trainings of a plan may run at once in a Region, at the most.

    These are all tasks that may come there, and no more than its lanes have slots in the plan. A Region of fallbacks
    alone has none: there it is all of them.
    """
    there = [lot for lot in plan.lots if (lot.lane.platform, lot.lane.region) == (platform, region)]
    tasks = sum(
        share.count
        for share in plan.shares
        if any((place.lane.platform, place.lane.region) == (platform, region) for place in share.places)
    )
    slots = sum(tasks if lot.used is None else lot.used for lot in there)
    return min(tasks, slots) if slots else tasks


def source_key(code: str) -> str:
    """Return the key of the packed sources in each Region's bucket, by their digest."""
    return f"sources/{code}/sourcedir.tar.gz"
