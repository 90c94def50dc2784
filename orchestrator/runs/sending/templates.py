"""What is put into each Region before a run's tasks come there: the packed sources, and the template they share.

The template is made by the platform of its tasks, which checks at the same time what AWS would refuse later.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.platforms.base import Staging
from orchestrator.wire.names import S3Uri

if TYPE_CHECKING:
    from orchestrator.runs.cloud import Cloud
    from orchestrator.runs.written.anchor import Anchor
    from orchestrator.wire.template import Template


def make_template(anchor: Anchor, platform: str, region: str, cloud: Cloud) -> Template:
    """Return what all tasks of the run share in a Region, on one platform. Nothing is written.

    Raise what the platform raises when something is missing there, such as NotFound for an image.
    """
    staging = Staging(
        sweep=anchor.plan.sweep,
        region=region,
        run=anchor.name,
        owner=cloud.account.owner,
        source=str(S3Uri(cloud.bucket_name(region), source_key(anchor.code))),
        output=str(S3Uri(cloud.bucket_name(region), f"runs/{anchor.name}")),
        role=cloud.account.role,
        poll_s=cloud.account.poll_s,
    )
    return cloud.planning(platform).stage(staging, cloud.clients)


def source_key(code: str) -> str:
    """Return the key of the packed sources in each Region's bucket, by their digest."""
    return f"sources/{code}/sourcedir.tar.gz"
