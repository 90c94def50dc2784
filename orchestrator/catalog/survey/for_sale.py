"""The lanes that one sweep may buy: those with a price, those with the price of another lane, and training plans."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sqlalchemy import Column, Integer, MetaData, Table, Text, insert, select

from orchestrator.catalog.files.cells import is_local
from orchestrator.db.tables import prices
from orchestrator.wire.task import Lane, Purchase

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sqlalchemy import Connection

    from orchestrator.catalog.platforms import Platforms
    from orchestrator.catalog.survey.commitments import TrainingPlan
    from orchestrator.spec.sweep import Where

OFFERED = Table(
    "offered",
    MetaData(),
    *(Column(name, Text, nullable=False) for name in ("platform", "region", "instance_type", "purchase")),
    Column("site", Text, nullable=False, comment="the training plan of a committed lane, or empty"),
    Column("opens_h", Integer, nullable=False),
    Column("closes_h", Integer, comment="null if that is far away"),
    *(Column(f"proxy_{name}", Text) for name in ("platform", "region", "instance_type")),
    prefixes=["TEMPORARY"],
)
"""A temporary table of the lanes that the sweep may buy. It is gone with the transaction.

The proxy of a spot lane stands in for facts that are missing."""


@dataclass(frozen=True)
class ForSale:
    """What a sweep may buy from, beside the lanes in OFFERED."""

    platforms: tuple[str, ...]
    plans: tuple[TrainingPlan, ...]
    """Training plans that the sweep might use, whether it may buy `committed` or not."""
    refused: dict[str, str]
    """Why lanes are refused by their platforms, by instance type."""
    excluded: dict[str, frozenset[str]]
    """Why the sweep's trainings cannot run on lanes that there are, by Region."""

    def excluded_in(self, regions: Sequence[str]) -> list[str]:
        """Return why the sweep's trainings cannot run on lanes of these Regions, each reason once."""
        return sorted({why for region in regions for why in self.excluded.get(region, ())})


def gather_lanes(
    connection: Connection,
    where: Where,
    platforms: Platforms,
    plans: Sequence[TrainingPlan],
    excludes: Callable[[Lane], str],
) -> ForSale:
    """Write the lanes that this sweep may buy into OFFERED, and return what they come from.

    `excludes` says in words why the sweep's trainings cannot run on a lane, or nothing.
    """
    asked = platforms.asked(where)
    plans = [plan for plan in plans if plan.platform in asked]
    refused: dict[str, str] = {}
    excluded: defaultdict[str, set[str]] = defaultdict(set)

    def taken(lane: Lane) -> bool:
        why = platforms.refuses(lane)
        if not why and lane.purchase in where.purchases and (why := excludes(lane)):
            excluded[lane.region].add(why)
        if why:
            refused.setdefault(lane.instance_type, why)
        return lane.purchase in where.purchases and not why

    priced = _priced_lanes(connection, where, asked)
    rows = [_row(lane, platforms) for lane in _with_spot_by_proxy(priced, platforms) if taken(lane)]
    rows += [
        _row(plan.lane, platforms) | {"site": plan.site, "opens_h": plan.opens_h, "closes_h": plan.closes_h}
        for plan in plans
        if taken(plan.lane)
    ]
    OFFERED.create(connection)
    if rows:
        connection.execute(insert(OFFERED), rows)
    return ForSale(asked, tuple(plans), refused, {region: frozenset(why) for region, why in excluded.items()})


def _priced_lanes(connection: Connection, where: Where, platforms: Sequence[str]) -> list[Lane]:
    """Return the lanes that have a price, on the platforms, of the types and in the Regions that the sweep allows.

    Nothing is trained in a local zone.
    """
    key = [prices.c[name] for name in ("platform", "region", "instance_type", "purchase")]
    seen = select(*key).where(
        prices.c.instance_type.in_(where.instance_types),
        prices.c.platform.in_(platforms),
        prices.c.purchase.in_([Purchase.SPOT.value, Purchase.ON_DEMAND.value]),
    )
    if where.regions:
        seen = seen.where(prices.c.region.in_(where.regions))
    rows = connection.execute(seen.group_by(*key)).fetchall()
    return sorted(
        Lane(row.platform, row.region, row.instance_type, Purchase(row.purchase))
        for row in rows
        if not is_local(row.region)
    )


def _with_spot_by_proxy(priced: Sequence[Lane], platforms: Platforms) -> Iterator[Lane]:
    """Yield these lanes, and each spot lane without a price for which another lane's price may stand in."""
    yield from priced
    known = set(priced)
    for lane in priced:
        spot = replace(lane, purchase=Purchase.SPOT)
        if spot not in known and not platforms.refuses(spot) and platforms.proxy(spot) is not None:
            yield spot


def _row(lane: Lane, platforms: Platforms) -> dict[str, Any]:
    """Return the row of OFFERED for a lane that is ours for ever."""
    proxy = platforms.proxy(lane) if lane.purchase is Purchase.SPOT else None
    return {
        "platform": lane.platform,
        "region": lane.region,
        "instance_type": lane.instance_type,
        "purchase": lane.purchase.value,
        "site": "",
        "opens_h": 0,
        "closes_h": None,
        "proxy_platform": proxy.platform if proxy else None,
        "proxy_region": proxy.region if proxy else None,
        "proxy_instance_type": proxy.instance_type if proxy else None,
    }
