"""Finds what is missing from the loaded catalog, or looks wrong: for people to read, before a plan needs it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sqlalchemy import case, func, select

from orchestrator.catalog.ages import days, newest_prices
from orchestrator.catalog.files.to_come import list_to_come, tell_to_come
from orchestrator.catalog.market import stands_for
from orchestrator.catalog.quotas import newest_units
from orchestrator.catalog.wording import counted, few
from orchestrator.db.engine import reading
from orchestrator.db.tables import (
    campaigns,
    commitments,
    datasets,
    interruptions,
    replicas,
    transfer_prices,
)
from orchestrator.wire.task import Lane, Purchase, Quota

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from sqlalchemy import Connection, Engine, Row

    from orchestrator.catalog.ages import Price
    from orchestrator.catalog.platforms import Platforms
    from orchestrator.settings.max_age import MaxAge


@dataclass(frozen=True)
class Problem:
    """Something that is missing from the catalog, or looks wrong."""

    kind: str
    """The kind of file that would mend it."""
    message: str


def check_catalog(engine: Engine, platforms: Platforms, ages: MaxAge, now: datetime) -> list[Problem]:
    """Return all that is missing or looks wrong, a line for each sort of problem."""
    with reading(engine) as connection:
        replicated = {(row.dataset, row.region) for row in connection.execute(select(replicas))}
        listed = newest_prices(connection, now)
        usable = {lane: fact for lane, fact in listed.items() if fact.value > 0 and platforms.may_train(lane)}
        return [
            *_missing_data(connection, replicated),
            *_unlike_replicas(connection),
            *_free_prices(listed),
            *_missing_prices(replicated, usable),
            *_dear_spot_prices(usable),
            *_old_prices(listed, ages, now),
            *_facts_to_come(connection, now),
            *_missing_quotas(usable, platforms, set(newest_units(connection, now))),
            *_missing_transfers(connection, {region for _, region in replicated}, {lane.region for lane in usable}),
            *_useless_interruptions(connection, {*listed, *_proxies(usable, platforms)}),
            *_useless_commitments(connection, usable, now),
        ]


def _missing_data(connection: Connection, replicated: set[tuple[str, str]]) -> Iterator[Problem]:
    versions = connection.execute(select(datasets.c.dataset, datasets.c.campaign)).fetchall()
    names = set(connection.scalars(select(campaigns.c.campaign)))
    if bare := sorted(names - {row.campaign for row in versions}):
        yield Problem("datasets", f"{counted(bare, 'campaign')} without a dataset: {few(bare)}")
    if bare := sorted({row.dataset for row in versions} - {dataset for dataset, _ in replicated}):
        yield Problem("replicas", f"{counted(bare, 'dataset')} without a replica: {few(bare)}")


def _unlike_replicas(connection: Connection) -> Iterator[Problem]:
    """Yield the datasets whose replicas do not hold as much: one is no copy of the other.

    Bytes are compared where somebody has looked, and left a mark: files may name other sizes on purpose.
    """
    table = replicas.c
    size = case((table.mark.is_not(None), func.coalesce(table.bytes, datasets.c.bytes)))
    found = (
        select(table.dataset)
        .join_from(replicas, datasets)
        .group_by(table.dataset)
        .having((func.min(table.objects) != func.max(table.objects)) | (func.min(size) != func.max(size)))
    )
    if unlike := sorted(connection.scalars(found)):
        what = f"{counted(unlike, 'dataset')} with replicas of unlike objects or bytes"
        look = "`sweep catalog discover` of all their buckets at once says which is whole"
        yield Problem("replicas", f"{what}: {few(unlike)}; {look}")


def _free_prices(listed: dict[Lane, Price]) -> Iterator[Problem]:
    if free := sorted(lane for lane, fact in listed.items() if fact.value == 0):
        yield Problem("prices", f"{counted(free, 'price')} of $0, taken for unknown: {few(map(str, free))}")


def _missing_prices(replicated: set[tuple[str, str]], usable: dict[Lane, Price]) -> Iterator[Problem]:
    priced = {lane.region for lane in usable}
    for region in sorted({region for _, region in replicated} - priced):
        there = [dataset for dataset, its_region in replicated if its_region == region]
        yield Problem("prices", f"{counted(there, 'replica')} in {region}, where nothing has a price")


def _dear_spot_prices(usable: dict[Lane, Price]) -> Iterator[Problem]:
    dear = []
    for lane, fact in sorted(usable.items()):
        on_demand = usable.get(replace(lane, purchase=Purchase.ON_DEMAND))
        if lane.purchase is Purchase.SPOT and on_demand and fact.value >= on_demand.value:
            dear.append(f"{lane} at ${fact.value:g}")
    if dear:
        yield Problem("prices", f"{counted(dear, 'spot price')} no lower than on demand: {few(dear)}")


def _old_prices(listed: dict[Lane, Price], ages: MaxAge, now: datetime) -> Iterator[Problem]:
    if old := sorted((fact.seen_at, lane) for lane, fact in listed.items() if now - fact.seen_at > ages.prices):
        oldest, lane = old[0]
        how_many = counted(old, "price")
        age = days(ages.prices)
        yield Problem("prices", f"{how_many} older than {age}; the oldest is {lane}, of {oldest:%Y-%m-%d}")


def _facts_to_come(connection: Connection, now: datetime) -> Iterator[Problem]:
    if early := list_to_come(connection, now):
        yield Problem("prices", tell_to_come(early))


def _missing_quotas(usable: dict[Lane, Price], platforms: Platforms, known: set[Quota]) -> Iterator[Problem]:
    """Yield the lanes of which nobody knows how much there may be: not one quota that they count under is known.

    What counts under none, such as a node where there is no cluster, lacks none.
    """

    def lacks_quota(lane: Lane) -> bool:
        wanted = {Quota(lane.platform, lane.region, name) for name in platforms.uses(lane)}
        return bool(wanted) and wanted.isdisjoint(known)

    if bare := sorted(filter(lacks_quota, usable)):
        yield Problem("quotas", f"{counted(bare, 'lane')} without a known quota: {few(map(str, bare))}")


def _missing_transfers(connection: Connection, sources: set[str], targets: set[str]) -> Iterator[Problem]:
    rows = connection.execute(select(transfer_prices.c.from_region, transfer_prices.c.to_region))
    known = {(row.from_region, row.to_region) for row in rows}
    pairs = {(source, target) for source in sources for target in targets if source != target}
    if bare := sorted(pairs - known):
        names = few(f"{source} to {target}" for source, target in bare)
        yield Problem("transfer_prices", f"{counted(bare, 'pair')} of Regions without a transfer price: {names}")


def _proxies(usable: dict[Lane, Price], platforms: Platforms) -> set[Lane]:
    found = (platforms.proxy(replace(lane, purchase=Purchase.SPOT)) for lane in usable)
    return {lane for lane in found if lane is not None}


def _useless_interruptions(connection: Connection, listed: set[Lane]) -> Iterator[Problem]:
    """Yield the rates of types that have no price, however they are bought, and stand in for none that has one."""
    table = interruptions.c
    rows = connection.execute(select(table.platform, table.region, table.instance_type).distinct())
    priced = {(lane.platform, lane.region, lane.instance_type) for lane in listed}
    if bare := sorted({tuple(row) for row in rows} - priced):
        names = few("/".join(machine) for machine in bare)
        yield Problem("prices", f"{counted(bare, 'interruption rate')} of what has no price: {names}")


def _useless_commitments(connection: Connection, usable: dict[Lane, Price], now: datetime) -> Iterator[Problem]:
    rows = connection.execute(select(commitments).order_by(commitments.c.ends_at, commitments.c.commitment)).fetchall()
    over = [row for row in rows if row.ends_at is not None and row.ends_at <= now]
    if over:
        names = few(f"{row.commitment} ({row.ends_at:%Y-%m-%d})" for row in over)
        verb = "is" if len(over) == 1 else "are"
        yield Problem("commitments", f"{counted(over, 'commitment')} that {verb} over: {names}")
    for row in rows:
        if row not in over and not any(_covers(row, lane) for lane in usable):
            yield Problem(
                "prices", f"{row.commitment} is for {row.instance_type} in {row.region}, which has no on_demand price"
            )


def _covers(commitment: Row[Any], lane: Lane) -> bool:
    return (
        lane.platform == commitment.platform
        and lane.purchase is Purchase.ON_DEMAND
        and stands_for(commitment.region, lane.region)
        and stands_for(commitment.instance_type, lane.instance_type)
    )
