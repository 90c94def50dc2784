"""What an attempt has cost that ran on spot nodes: the time of its pods, at what spot really cost then in their zones.

Where it is not known in which zone a pod was, the dearest one's price counts; and never more than the rate.
"""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from orchestrator.errors import AccessError
from orchestrator.platforms.spot_price_paid import average_spot_prices, usual_zones
from orchestrator.wire.task import Purchase

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from orchestrator.aws.session import Clients
    from orchestrator.wire.result import Attempt, Outcome

NOWHERE: Mapping[int, Collection[str]] = MappingProxyType({})


def at_spot_price(
    clients: Clients, attempt: Attempt, outcome: Outcome, zones: Mapping[int, Collection[str]] = NOWHERE
) -> Outcome:
    """Return the outcome with what its spot nodes have cost; as it is for other purchases, and before it has ended.

    `zones` has those of each instance as far as they are known, by its index. Of several the dearest counts. Where we
    may not look at spot prices, it has cost the rate.
    """
    began, ended = outcome.started_at, outcome.ended_at
    if attempt.lane.purchase is not Purchase.SPOT or began is None or ended is None:
        return outcome
    try:
        prices = average_spot_prices(clients, attempt.lane, began, ended)
    except AccessError:
        return outcome
    dearest = max(usual_zones(prices, attempt.lane.region).values(), default=attempt.rate)
    hourly = sum(
        min(max((prices[zone] for zone in zones.get(index, ()) if zone in prices), default=dearest), attempt.rate)
        for index in range(attempt.instances)
    )
    return replace(outcome, usd=outcome.billable_s / 3600 * hourly)
