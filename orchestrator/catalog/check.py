"""What is missing from a catalog, or looks wrong: for people to read, before a plan stumbles over it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import and_, func, select

from orchestrator.catalog import cells
from orchestrator.catalog.market import ANY, REFERENCE
from orchestrator.catalog.select import few
from orchestrator.db.engine import reading
from orchestrator.db.tables import (
    campaigns,
    commitments,
    datasets,
    interruptions,
    prices,
    quotas,
    replicas,
    transfer_prices,
)
from orchestrator.wire.task import Lane, Purchase

if TYPE_CHECKING:
    from collections.abc import Iterator, Sized

    from sqlalchemy import Column, Connection, Engine, Row, Table

STALE = timedelta(days=30)
"""A price not seen for longer is worth a word."""


@dataclass(frozen=True)
class Problem:
    kind: str
    """Of the file that would mend it."""
    message: str


class _Fact(NamedTuple):
    value: float
    observed_at: datetime


def check(engine: Engine, now: datetime) -> list[Problem]:
    with reading(engine) as connection:
        lying = {(row.dataset, row.region) for row in connection.execute(select(replicas))}
        listed = _newest(connection, prices, prices.c.usd_per_hour)
        rates = {lane: fact for lane, fact in listed.items() if fact.value > 0 and _may_train(lane)}
        slots = _newest(connection, quotas, quotas.c.slots)
        return [
            *_data(connection, lying),
            *_free(listed),
            *_prices(lying, rates),
            *_old(listed, now),
            *_quotas(rates, slots),
            *_transfers(connection, {region for _, region in lying}, {lane.region for lane in rates}),
            *_interruptions(connection, rates),
            *_commitments(connection, rates, now),
        ]


def _data(connection: Connection, lying: set[tuple[str, str]]) -> Iterator[Problem]:
    versions = connection.execute(select(datasets.c.dataset, datasets.c.campaign)).fetchall()
    names = set(connection.scalars(select(campaigns.c.campaign)))
    if bare := sorted(names - {row.campaign for row in versions}):
        yield Problem("datasets", f"{_count(bare, 'campaign')} without a dataset: {few(bare)}")
    if bare := sorted({row.dataset for row in versions} - {dataset for dataset, _ in lying}):
        yield Problem("replicas", f"{_count(bare, 'dataset')} without a replica: {few(bare)}")


def _may_train(lane: Lane) -> bool:
    return lane.platform != REFERENCE and not cells.is_local(lane.region)


def _free(listed: dict[Lane, _Fact]) -> Iterator[Problem]:
    if free := sorted(lane for lane, fact in listed.items() if fact.value == 0):
        yield Problem("prices", f"{_count(free, 'price')} of $0, taken for unknown: {few(map(str, free))}")


def _prices(lying: set[tuple[str, str]], rates: dict[Lane, _Fact]) -> Iterator[Problem]:
    priced = {lane.region for lane in rates}
    for region in sorted({region for _, region in lying} - priced):
        there = [dataset for dataset, its in lying if its == region]
        yield Problem("prices", f"{_count(there, 'replica')} in {region}, where nothing has a price")
    full = {lane: rates.get(replace(lane, purchase=Purchase.ON_DEMAND)) for lane in rates}
    if dear := sorted(
        lane
        for lane, beside in full.items()
        if beside and rates[lane].value >= beside.value and lane.purchase is Purchase.SPOT
    ):
        names = few(f"{lane} at ${rates[lane].value:g}" for lane in dear)
        yield Problem("prices", f"{_count(dear, 'spot price')} no lower than on demand: {names}")


def _old(listed: dict[Lane, _Fact], now: datetime) -> Iterator[Problem]:
    if old := sorted((fact.observed_at, lane) for lane, fact in listed.items() if now - fact.observed_at > STALE):
        oldest, lane = old[0]
        lanes = _count(old, "price")
        yield Problem("prices", f"{lanes} older than {STALE.days} days; the oldest is {lane}, of {oldest:%Y-%m-%d}")


def _quotas(rates: dict[Lane, _Fact], slots: dict[Lane, _Fact]) -> Iterator[Problem]:
    if bare := sorted(set(rates) - set(slots)):
        yield Problem("quotas", f"{_count(bare, 'lane')} without a known quota: {few(map(str, bare))}")


def _transfers(connection: Connection, sources: set[str], targets: set[str]) -> Iterator[Problem]:
    rows = connection.execute(select(transfer_prices.c.from_region, transfer_prices.c.to_region))
    known = {(row.from_region, row.to_region) for row in rows}
    pairs = {(source, target) for source in sources for target in targets if source != target}
    if bare := sorted(pairs - known):
        names = few(f"{source} to {target}" for source, target in bare)
        yield Problem("transfer_prices", f"{_count(bare, 'pair')} of Regions without a transfer price: {names}")


def _interruptions(connection: Connection, rates: dict[Lane, _Fact]) -> Iterator[Problem]:
    table = interruptions.c
    rows = connection.execute(select(table.platform, table.region, table.instance_type).distinct())
    priced = {(lane.platform, lane.region, lane.instance_type) for lane in rates}
    priced |= {(REFERENCE, region, name[3:]) for platform, region, name in priced if platform == "sagemaker"}
    if bare := sorted({tuple(row) for row in rows} - priced):
        names = few("/".join(machine) for machine in bare)
        yield Problem("prices", f"{_count(bare, 'interruption rate')} of what has no price: {names}")


def _commitments(connection: Connection, rates: dict[Lane, _Fact], now: datetime) -> Iterator[Problem]:
    rows = connection.execute(select(commitments).order_by(commitments.c.ends_at, commitments.c.commitment)).fetchall()
    if over := [row for row in rows if row.ends_at <= now]:
        names = few(f"{row.commitment} ({row.ends_at:%Y-%m-%d})" for row in over)
        yield Problem(
            "commitments", f"{_count(over, 'commitment')} that {'is' if len(over) == 1 else 'are'} over: {names}"
        )
    for row in rows:
        if row.ends_at > now and not any(_covers(row, lane) for lane in rates):
            yield Problem(
                "prices", f"{row.commitment} is for {row.instance_type} in {row.region}, which has no on_demand price"
            )


def _covers(commitment: Row[Any], lane: Lane) -> bool:
    same = lane.platform == commitment.platform and lane.purchase is Purchase.ON_DEMAND
    return same and commitment.region in (ANY, lane.region) and commitment.instance_type in (ANY, lane.instance_type)


def _newest(connection: Connection, table: Table, fact: Column[float]) -> dict[Lane, _Fact]:
    """Of each lane; what is said of all instance types together is of none."""
    key = [table.c[name] for name in ("platform", "region", "instance_type", "purchase")]
    newest = select(*key, func.max(table.c.observed_at).label("observed_at")).group_by(*key).subquery()
    same = and_(*(newest.c[column.name] == column for column in (*key, table.c.observed_at)))
    rows = connection.execute(
        select(*key, fact, table.c.observed_at).join_from(table, newest, same).where(table.c.instance_type != ANY)
    )
    return {Lane(*row[:3], Purchase(row.purchase)): _Fact(row[4], row.observed_at) for row in rows}


def _count(things: Sized, what: str) -> str:
    return f"{len(things):,} {what}{'s' if len(things) != 1 else ''}"
