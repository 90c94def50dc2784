"""What is paid for already: capacity blocks, and on-demand capacity reservations, less what others use of them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from orchestrator.platforms.ec2.reservations import list_reservations
from orchestrator.platforms.ec2.watching.machines import ALIVE, find_machines
from orchestrator.platforms.feed import Feed, Reading

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from orchestrator.aws.session import Clients
    from orchestrator.platforms.ec2.reservations import Reserved


def read(clients: Clients, region: str, now: datetime) -> Reading:
    """Return a row for each reservation of this Region in which trainings can run. Those that do not fit are told.

    Its slots are the instances that nobody uses, or that trainings of ours use: who holds these is known from leases.
    """
    reservations = list(list_reservations(clients, region, now))
    fit = [each for each in reservations if not each.unfit]
    ours = _used_by_us(clients, region, fit)
    left_out = (f"{each.id} ({each.instance_type}) {each.unfit}" for each in reservations if each.unfit)
    return Reading(tuple(_row(each, region, ours[each.id]) for each in fit), tuple(left_out))


def _used_by_us(clients: Clients, region: str, reservations: Sequence[Reserved]) -> Counter[str]:
    """Return how many instances of our runs were sent into each reservation, and run there.

    An instance that was not sent there, but fell into an open reservation, is somebody else's: no lease counts it.
    """
    used: Counter[str] = Counter()
    if all(each.free == each.total for each in reservations):
        return used
    ours = (("tag-key", "sweep:run"), ("instance-state-name", ",".join(ALIVE)))
    for page in find_machines(clients, region, *ours):
        used.update(machine.reservation for machine in page if machine.was_sent_there)
    return used


def _row(found: Reserved, region: str, ours: int) -> dict[str, object]:
    return {
        "commitment": f"{region}/{found.id}",
        "kind": "training_plan" if found.is_block else "reservation",
        "platform": "ec2",
        "region": region,
        "instance_type": found.instance_type,
        "slots": min(found.total, found.free + ours),
        "usd_per_hour": None,
        "discount": None,
        "starts_at": found.starts_at,
        "ends_at": found.ends_at,
        "arn": found.arn,
    }


FEED = Feed(
    name="capacity-reservations",
    kind="commitments",
    about="instances of EC2 that are paid for already",
    actions=("ec2:DescribeCapacityReservations", "ec2:DescribeInstances"),
    read=read,
    may_be_empty=True,
)
