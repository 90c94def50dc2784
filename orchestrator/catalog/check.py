"""What is missing from a catalog, or looks wrong: for people to read, before a plan stumbles over it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import and_, func, select

from orchestrator.catalog.select import few
from orchestrator.db.engine import reading
from orchestrator.db.tables import campaigns, datasets, prices, quotas, replicas, transfer_prices
from orchestrator.wire.task import Lane, Purchase

if TYPE_CHECKING:
    from collections.abc import Iterator, Sized

    from sqlalchemy import Column, Connection, Engine, Table

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
        rates = _newest(connection, prices, prices.c.usd_per_hour)
        slots = _newest(connection, quotas, quotas.c.slots)
        return [
            *_data(connection, lying),
            *_prices(lying, rates, now),
            *_quotas(rates, slots),
            *_transfers(connection, {region for _, region in lying}, {lane.region for lane in rates}),
        ]


def _data(connection: Connection, lying: set[tuple[str, str]]) -> Iterator[Problem]:
    versions = connection.execute(select(datasets.c.dataset, datasets.c.campaign)).fetchall()
    names = set(connection.scalars(select(campaigns.c.campaign)))
    if bare := sorted(names - {row.campaign for row in versions}):
        yield Problem("datasets", f"{_count(bare, 'campaign')} without a dataset: {few(bare)}")
    if bare := sorted({row.dataset for row in versions} - {dataset for dataset, _ in lying}):
        yield Problem("replicas", f"{_count(bare, 'dataset')} without a replica: {few(bare)}")


def _prices(lying: set[tuple[str, str]], rates: dict[Lane, _Fact], now: datetime) -> Iterator[Problem]:
    priced = {lane.region for lane in rates}
    for region in sorted({region for _, region in lying} - priced):
        there = [dataset for dataset, its in lying if its == region]
        yield Problem("prices", f"{_count(there, 'replica')} in {region}, where nothing has a price")
    for lane, spot in sorted(rates.items()):
        full = rates.get(Lane(lane.platform, lane.region, lane.instance_type, Purchase.ON_DEMAND))
        if lane.purchase is Purchase.SPOT and full is not None and spot.value >= full.value:
            yield Problem("prices", f"{lane} at ${spot.value:g} is no cheaper than on demand at ${full.value:g}")
    if old := sorted((fact.observed_at, lane) for lane, fact in rates.items() if now - fact.observed_at > STALE):
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


def _newest(connection: Connection, table: Table, fact: Column[float]) -> dict[Lane, _Fact]:
    """Of each lane."""
    key = [table.c[name] for name in ("platform", "region", "instance_type", "purchase")]
    newest = select(*key, func.max(table.c.observed_at).label("observed_at")).group_by(*key).subquery()
    same = and_(*(newest.c[column.name] == column for column in (*key, table.c.observed_at)))
    rows = connection.execute(select(*key, fact, table.c.observed_at).join_from(table, newest, same))
    return {Lane(*row[:3], Purchase(row.purchase)): _Fact(row[4], row.observed_at) for row in rows}


def _count(things: Sized, what: str) -> str:
    return f"{len(things):,} {what}{'s' if len(things) != 1 else ''}"
