"""What is used of EC2's quotas: the vCPUs of all instances of the account, ours among them, and of its reservations."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from orchestrator.aws.account.identity import account_of_credentials
from orchestrator.platforms.ec2.families import CODES, quota_of, vcpus
from orchestrator.platforms.ec2.reservations import list_reservations
from orchestrator.platforms.ec2.watching.machines import ALIVE, find_machines
from orchestrator.platforms.feed import Feed, Reading
from orchestrator.wire.task import Purchase

if TYPE_CHECKING:
    from datetime import datetime

    from orchestrator.aws.session import Clients


def read(clients: Clients, region: str, now: datetime) -> Reading:
    """Return how many vCPUs are used in this Region, by the quotas that they count under.

    An on-demand reservation counts whole, whether its instances run or not. A capacity block counts under no quota.
    """
    used = Counter(dict.fromkeys(CODES, 0))
    for page in find_machines(clients, region, ("instance-state-name", ",".join(ALIVE))):
        for machine in page:
            bought = Purchase.SPOT if machine.is_spot else Purchase.ON_DEMAND
            quota = quota_of(machine.instance_type, bought)
            if quota and not machine.reservation:
                used[quota] += vcpus(machine.instance_type) or 0
    used.update(_reserved(clients, region, now))
    rows = ({"platform": "ec2", "region": region, "quota": name, "used": used[name]} for name in sorted(used))
    return Reading(tuple(rows))


def _reserved(clients: Clients, region: str, now: datetime) -> Counter[str]:
    """Return the vCPUs of this account's on-demand reservations. Those that others share with it count in theirs."""
    found = [each for each in list_reservations(clients, region, now) if each.is_active and not each.is_block]
    used: Counter[str] = Counter()
    account = account_of_credentials(clients, region) if found else ""
    for each in found:
        quota = quota_of(each.instance_type, Purchase.ON_DEMAND)
        if quota and each.owner == account:
            used[quota] += (vcpus(each.instance_type) or 0) * each.total
    return used


FEED = Feed(
    name="ec2-use",
    kind="quota_use",
    about="how many vCPUs the account's instances use",
    actions=("ec2:DescribeInstances", "ec2:DescribeCapacityReservations"),
    read=read,
)
