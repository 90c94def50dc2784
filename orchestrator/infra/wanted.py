"""What is wanted of each platform in a Region, by the names that everything has in the account."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.platforms.account.wanted import Wanted

if TYPE_CHECKING:
    from orchestrator.infra.names import Names


def wanted_of(names: Names, platform: str, region: str) -> Wanted:
    """Return what the settings want of a platform in a Region, for no sweep in particular."""
    return Wanted(
        region=region,
        settings=names.tables.get(platform, {}),
        role=names.role,
        launchers=tuple(dict.fromkeys((names.job_role, names.conductor_role))),
    )
