"""Reads from the settings which AWS runs use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator import resources
from orchestrator.aws.jobs.definitions import render
from orchestrator.errors import SettingsError
from orchestrator.notices.channels import Channels
from orchestrator.runs.cloud import Account

if TYPE_CHECKING:
    from orchestrator.settings.settings import Settings

ROLES = ("job_role", "execution_role", "role")
"""The settings that name a role. Any of them says the account's number."""


def account(settings: Settings) -> Account:
    """Return the account that the settings name. Raise SettingsError if one is missing that no run can do without.

    The role of trainings is not among these: a platform that needs one asks for it.
    """
    settings.require("bucket", "region_bucket", "launcher_image")
    if not settings.role:  # it stands in for these two
        settings.require("job_role", "execution_role")
    number = account_number(settings)
    definition = render(
        resources.text("job_definitions/launcher.json"),
        {
            "image": (settings.launcher_image or "").replace("{account}", number).replace("{region}", settings.region),
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
        owner_budget=settings.owner_budget,
        channels=Channels(settings.notify, settings.notify_secret or ""),
        mlflow=settings.mlflow or "",
        mlflow_token=settings.mlflow_token or "",
        model_registry=settings.registry_region,
        id=number,
        definition=definition,
        launcher_platforms=settings.launcher_platforms,
    )


def account_number(settings: Settings) -> str:
    """Return the account that the settings' roles belong to, as the first ARN among them says.

    Raise SettingsError when that is no role's ARN.
    """
    for name in ROLES:
        role = getattr(settings, name)
        if role:
            parts = role.split(":")
            if len(parts) < 6 or not parts[4]:
                raise SettingsError(
                    f"not a role's ARN: {role!r}", where=name, hint="arn:aws:iam::<account>:role/<name>"
                )
            return str(parts[4])
    return ""
