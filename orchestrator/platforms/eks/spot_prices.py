"""What an hour on a spot node is expected to cost: what it will be billed at, as far as that can be known before.

An autoscaler may put a node into any zone of its cluster. What is billed is the price of the zone that the pod tells;
so the mean over the zones is expected. Where pods do not tell, the dearest zone's price is billed, and so expected.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from orchestrator.errors import AccessError, CloudError, SettingsError
from orchestrator.platforms.eks.kube.clusters import list_clusters, open_cluster
from orchestrator.platforms.eks.supply import read_supply
from orchestrator.platforms.eks.zones import TOLD_SINCE
from orchestrator.platforms.feed import Reading
from orchestrator.platforms.spot_price_paid import read_changes, usual_price, usual_zones
from orchestrator.wire.shapes import shape
from orchestrator.wire.task import Purchase

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from orchestrator.aws.session import Clients

WINDOW = timedelta(hours=6)


def read_spot_prices(clients: Clients, region: str, now: datetime) -> Reading:
    """Return what an hour of each type is expected to cost that spot nodes here have or may have.

    Of several clusters of a Region the dearest counts.
    """
    clusters, left_out = [], []
    for name in list_clusters(clients, region):
        try:
            api = open_cluster(clients, region, name)
            supply = read_supply(clients, api)
            clusters.append((supply, api.version() >= TOLD_SINCE))
        except (AccessError, CloudError, SettingsError) as error:
            left_out.append(f"the cluster {name}: {error.message}")
    of_spot = {kind for supply, _ in clusters for kind, bought in supply.most if bought is Purchase.SPOT}
    types = sorted(kind for kind in of_spot if shape(kind) is not None)
    if not types:
        return Reading((), tuple(left_out))
    window = (now - WINDOW).timestamp(), now.timestamp()
    changes = read_changes(types, clients, region, *window)
    prices = {
        kind: usual_zones({zone: usual_price(told, *window) for zone, told in zones.items()}, region)
        for kind, zones in changes.items()
    }
    found: dict[str, float] = {}
    for supply, is_told in clusters:
        for kind in types:
            by_zone = prices.get(kind, {})
            by_zone = {zone: usd for zone, usd in by_zone.items() if zone in supply.zones} or by_zone
            if by_zone and supply.most[kind, Purchase.SPOT]:
                found[kind] = max(expected_price(by_zone, is_told=is_told), found.get(kind, 0.0))
    rows = (
        {
            "platform": "eks",
            "region": region,
            "instance_type": kind,
            "purchase": Purchase.SPOT.value,
            "usd_per_hour": usd,
            "observed_at": now,
        }
        for kind, usd in sorted(found.items())
    )
    return Reading(tuple(rows), tuple(left_out))


def expected_price(by_zone: Mapping[str, float], *, is_told: bool) -> float:
    """Return what an hour is expected to be billed at on a node in any of these zones."""
    return sum(by_zone.values()) / len(by_zone) if is_told else max(by_zone.values())
