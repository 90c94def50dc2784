"""What is used of EC2's quotas: the vCPUs of all instances of the account, ours among them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from orchestrator.platforms.ec2.families import CODES, quota_of, vcpus
from orchestrator.platforms.ec2.machines import ALIVE, find_machines
from orchestrator.platforms.feed import Feed, Reading
from orchestrator.wire.task import Purchase

if TYPE_CHECKING:
    from datetime import datetime

    from orchestrator.aws.session import Clients


def read(clients: Clients, region: str, now: datetime) -> Reading:  # noqa: ARG001 (a feed is told the moment)
    """Return how many vCPUs run in this Region, by the quotas that they count under."""
    used = Counter(dict.fromkeys(CODES, 0))
    for page in find_machines(clients, region, ("instance-state-name", ",".join(ALIVE))):
        for machine in page:
            bought = Purchase.SPOT if machine.is_spot else Purchase.ON_DEMAND
            quota = quota_of(machine.instance_type, bought)
            if quota and not machine.is_reserved:
                used[quota] += vcpus(machine.instance_type) or 0
    rows = ({"platform": "ec2", "region": region, "quota": name, "used": used[name]} for name in sorted(used))
    return Reading(tuple(rows))


FEED = Feed(
    name="ec2-use",
    kind="quota_use",
    about="how many vCPUs the account's instances use",
    actions=("ec2:DescribeInstances",),
    read=read,
)
