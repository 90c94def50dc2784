"""Reads from the settings which AWS runs use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator import resources
from orchestrator.aws.definitions import render
from orchestrator.runs.cloud import Account

if TYPE_CHECKING:
    from orchestrator.settings import Settings


def account(settings: Settings) -> Account:
    """Return the account that the settings name. Raise SettingsError if one is missing that no run can do without."""
    settings.require("bucket", "region_bucket", "role", "launcher_image")
    definition = render(
        resources.text("job_definitions/launcher.json"),
        {
            "image": settings.launcher_image or "",
            "job_role": settings.job_role or settings.role or "",
            "execution_role": settings.execution_role or settings.role or "",
            "region": settings.region,
            "log_group": settings.log_group,
            "owner": settings.owner,
        },
    )
    return Account(
        region=settings.region,
        bucket=settings.bucket or "",
        region_bucket=settings.region_bucket or "",
        queue=settings.queue,
        lane_queue=settings.lane_queue or settings.queue,
        role=settings.role or "",
        owner=settings.owner,
        poll_s=settings.poll_s,
        definition=definition,
    )
