"""Finds the reservations that a run may use in a Region, and refuses a plan whose reservation cannot be used."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from orchestrator.errors import NotFound
from orchestrator.platforms.ec2.reservations import list_reservations
from orchestrator.platforms.ec2.sent.request import reservation_id
from orchestrator.wire.task import Purchase

if TYPE_CHECKING:
    from collections.abc import Collection

    from orchestrator.aws.session import Clients
    from orchestrator.platforms.base import Staging


def stage_reservations(
    staging: Staging, types: Collection[str], zones: Collection[str], clients: Clients
) -> dict[str, dict[str, Any]]:
    """Return the reservations that trainings of these types may run in, by their ids: their zones and kinds.

    None are looked for where the sweep may not use any. Raise NotFound if the plan names one that is not there, or one
    in another zone than these, which have subnets.
    """
    if Purchase.COMMITTED not in staging.sweep.where.purchases:
        return {}
    region = staging.region
    listed = {each.id: each for each in list_reservations(clients, region, datetime.now(timezone.utc))}
    for name in filter(None, map(reservation_id, staging.sites)):
        found = listed.get(name)
        why = "is over, or is not shared with this account" if found is None else found.unfit
        if why:
            hint = "`sweep catalog refresh capacity-reservations`, and plan again"
            raise NotFound(f"the reservation {name} {why}", where=region, hint=hint)
        if found and found.zone not in zones:
            hint = "name one under platforms.ec2.network, or leave `committed` out of `where.purchases`"
            missing = f"there is no subnet in {found.zone}, where the reservation {name} is"
            raise NotFound(missing, where=region, hint=hint)
    fit = [each for each in listed.values() if not each.unfit and each.instance_type in types]
    return {each.id: {"zone": each.zone, "block": each.is_block} for each in sorted(fit, key=lambda each: each.id)}
