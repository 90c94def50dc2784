"""SageMaker's quotas of training: how many instances of a type, and of all types, an account may train on at once."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from orchestrator.aws.account.service_quotas import list_quotas
from orchestrator.platforms.feed import Feed, Reading
from orchestrator.wire.task import Purchase

if TYPE_CHECKING:
    from datetime import datetime

    from orchestrator.aws.account.service_quotas import ServiceQuota
    from orchestrator.aws.session import Clients

_MOST = 2**31 - 1
"""The most units that the catalog holds. What is not a number is none of them, either."""
_OF_A_TYPE = re.compile(r"(?P<type>ml\.\S+) for (?P<spot>spot )?training job usage")
_OF_ALL = re.compile(r"(?:Total n|N)umber of instances (?:\w+ )?across all (?P<spot>spot )?training jobs")


def read(clients: Clients, region: str, now: datetime) -> Reading:
    """Return the account's quotas of training in this Region. Those of hosting, notebooks and others are not ours."""
    found: dict[str, ServiceQuota] = {}
    left_out = []
    for quota in list_quotas(clients, region, "sagemaker"):
        name = quota_name(quota.name)
        if name is None:
            continue
        if not 0 <= quota.value <= _MOST:
            left_out.append(f"{quota.name} is {quota.value:g}")
            continue
        found[name] = quota
    of_region = {"platform": "sagemaker", "region": region, "observed_at": now}
    rows = (
        {**of_region, "quota": name, "units": int(quota.value), "code": quota.code}
        for name, quota in sorted(found.items())
    )
    return Reading(tuple(rows), tuple(left_out))


def quota_name(name: str) -> str | None:
    """Return our name of a quota that AWS calls so; None for one that trainings do not count under."""
    of_a_type, of_all = _OF_A_TYPE.fullmatch(name), _OF_ALL.fullmatch(name)
    found = of_a_type or of_all
    if found is None:
        return None
    bought = Purchase.SPOT if found["spot"] else Purchase.ON_DEMAND
    return f"{of_a_type['type'] if of_a_type else '*'}/{bought.value}"


FEED = Feed(
    name="sagemaker-quotas",
    kind="quotas",
    about="how many instances the account may train on",
    actions=("servicequotas:ListServiceQuotas",),
    read=read,
)
