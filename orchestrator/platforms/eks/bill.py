"""What an attempt has cost that ran on spot nodes: the time of its pods, at what spot really cost then.

In which zones its nodes were, its pods do not tell: the dearest zone's price counts, and never more than the rate.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from orchestrator.errors import AccessError
from orchestrator.platforms.spot_price_paid import average_spot_prices
from orchestrator.wire.task import Purchase

if TYPE_CHECKING:
    from orchestrator.aws.session import Clients
    from orchestrator.wire.result import Attempt, Outcome


def at_spot_price(clients: Clients, attempt: Attempt, outcome: Outcome) -> Outcome:
    """Return the outcome with what its spot nodes have cost; as it is for other purchases, and before it has ended.

    Where we may not look at spot prices, it has cost the rate.
    """
    began, ended = outcome.started_at, outcome.ended_at
    if attempt.lane.purchase is not Purchase.SPOT or began is None or ended is None:
        return outcome
    try:
        prices = average_spot_prices(clients, attempt.lane, began, ended)
    except AccessError:
        return outcome
    dearest = max(prices.values(), default=attempt.rate)
    usd = outcome.billable_s / 3600 * min(dearest, attempt.rate) * attempt.instances
    return replace(outcome, usd=usd)
