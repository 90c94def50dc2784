"""EC2's quotas: how many vCPUs of a family's instances an account may run, on demand and spot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.aws.account.service_quotas import list_quotas
from orchestrator.platforms.ec2.families import CODES
from orchestrator.platforms.feed import Feed, Reading

if TYPE_CHECKING:
    from datetime import datetime

    from orchestrator.aws.session import Clients

_MOST = 2**31 - 1
"""The most units that the catalog holds."""


def read(clients: Clients, region: str, now: datetime) -> Reading:
    """Return the account's vCPU quotas in this Region, by their codes."""
    rows, left_out = [], []
    for quota in list_quotas(clients, region, "ec2"):
        code = (quota.code or "").rpartition("/")[2]
        if code not in CODES:
            continue
        if not 0 <= quota.value <= _MOST:
            left_out.append(f"{quota.name} is {quota.value:g}")
            continue
        of_region = {"platform": "ec2", "region": region, "observed_at": now}
        rows.append({**of_region, "quota": code, "units": int(quota.value), "code": quota.code})
    return Reading(tuple(sorted(rows, key=lambda row: str(row["quota"]))), tuple(left_out))


FEED = Feed(
    name="ec2-quotas",
    kind="quotas",
    about="how many vCPUs of each family the account may run on EC2",
    actions=("servicequotas:ListServiceQuotas",),
    read=read,
)
