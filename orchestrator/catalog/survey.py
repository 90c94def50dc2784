"""The Market of one sweep: what its datasets could be trained on, and for how much."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from sqlalchemy import BigInteger, Column, Integer, MetaData, Table, Text, bindparam, func, insert, text, update
from sqlalchemy import select as sql

from orchestrator import resources
from orchestrator.catalog.committed import gather, pools
from orchestrator.catalog.infeasible import check_instance_types, no_place
from orchestrator.catalog.market import ANY, CANDIDATES, DATASETS, LEASES, POOLS, TOTALS, TRANSFERS, Market, Past, table
from orchestrator.catalog.select import Chosen, named, select
from orchestrator.db.engine import reading
from orchestrator.db.tables import datasets, leases, replicas, transfer_prices
from orchestrator.errors import CatalogError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from sqlalchemy import Connection, Engine

    from orchestrator.spec.sweep import Sweep, Where
    from orchestrator.wire.manifest import ClassicLine

_NAMES = 10_000
"""In one statement; databases take only so many."""

WANTED = Table(
    "wanted",
    MetaData(),
    Column("dataset", Text, nullable=False),
    Column("region", Text, nullable=False),
    Column("number", Integer, comment="of the Region, by name"),
    Column("s3_uri", Text, nullable=False),
    Column("bytes", BigInteger, nullable=False),
    prefixes=["TEMPORARY"],
)
"""The replicas of the datasets asked for. Gone with the transaction: a survey leaves nothing behind."""


def survey(
    engine: Engine,
    sweep: Sweep,
    classic: Sequence[ClassicLine] | None = None,
    past: Past | None = None,
    now: datetime | None = None,
) -> Market:
    """Of datasets in the catalog; or of a classic JOBARRAY's lines, each URI a dataset that no catalog knows."""
    with reading(engine) as connection:
        WANTED.create(connection)
        chosen = _lines(connection, classic) if classic is not None else select(connection, sweep.data)
        if classic is None:
            want(connection, [row.dataset for row in chosen])
        # Nobody has said how large a classic line's data is, so nobody can say what moving it costs.
        market = _market(connection, sweep, chosen, now, may_move=classic is None)
        check_instance_types(connection, sweep.where)
        placed = set(market.candidates["dataset"].unique())
        nowhere = [row.dataset for row in chosen if row.dataset not in placed]
        if nowhere:
            raise no_place(connection, nowhere, sweep.where, WANTED)
    return replace(market, history=past.history, discounts=past.discounts) if past else market


def resurvey(
    engine: Engine,
    sweep: Sweep,
    names: Sequence[str],
    classic: Sequence[ClassicLine] = (),
    now: datetime | None = None,
) -> Market:
    """Of these very datasets, or lines, whatever the sweep would choose today. What is not known is not there."""
    with reading(engine) as connection:
        WANTED.create(connection)
        chosen = _lines(connection, classic) if classic else named(connection, names)
        if not classic:
            want(connection, [row.dataset for row in chosen])
        return _market(connection, sweep, chosen, now, may_move=not classic)


def _market(
    connection: Connection, sweep: Sweep, chosen: Sequence[Chosen], now: datetime | None, *, may_move: bool
) -> Market:
    """Of the wanted replicas."""
    now = now or datetime.now(timezone.utc)
    where = sweep.where
    gather(connection, where, now)
    lanes = candidates(connection, where, now, may_move=may_move and sweep.data.move_data != "never")
    return Market(
        datasets=table(chosen, DATASETS),
        candidates=in_order(lanes, [row.dataset for row in chosen]),
        transfers=transfers(connection, lanes),
        totals=totals(connection, lanes, now),
        pools=table(pools(connection, where, now), POOLS),
        leases=held(connection, now),
    )


def held(connection: Connection, now: datetime) -> pd.DataFrame:
    """Every lease that has not expired."""
    live = sql(*(leases.c[name] for name in LEASES)).where(leases.c.expires_at > now.timestamp(), leases.c.slots > 0)
    return table(sorted(tuple(row) for row in connection.execute(live)), LEASES)


def candidates(connection: Connection, where: Where, now: datetime, *, may_move: bool = False) -> pd.DataFrame:
    """What sql/candidates.sql finds for the wanted replicas."""
    _number_regions(connection)
    lists = {
        "instance_types": where.instance_types,
        "regions": where.regions,
        "purchases": [purchase.value for purchase in where.purchases],
    }
    bound = [bindparam(name, values, Text, expanding=True) for name, values in lists.items()]
    statement = text(resources.text("sql/candidates.sql")).bindparams(*bound)
    said = {"any_region": int(not where.regions), "may_move": int(may_move), "now": now.timestamp()}
    found = table(connection.execute(statement, said).fetchall(), CANDIDATES)
    return found.fillna({"closes_h": math.inf})


def _number_regions(connection: Connection) -> None:
    """Databases do not agree on what comes first by name."""
    names = sorted(connection.scalars(sql(WANTED.c.region).distinct()))
    if names:
        this = update(WANTED).where(WANTED.c.region == bindparam("its_region")).values(number=bindparam("its_number"))
        connection.execute(this, [{"its_region": name, "its_number": number} for number, name in enumerate(names)])


def totals(connection: Connection, lanes: pd.DataFrame, now: datetime) -> pd.DataFrame:
    """Of the Regions with lanes, for their purchases."""
    statement = text(resources.text("sql/totals.sql"))
    rows = sorted(tuple(row) for row in connection.execute(statement, {"now": now.timestamp()}))
    keys = ["platform", "region", "purchase"]
    bought = set(lanes[keys].drop_duplicates().itertuples(index=False, name=None)) if rows else set()
    bought |= {(platform, region, ANY) for platform, region, _ in bought}
    return table([row for row in rows if row[:3] in bought], TOTALS)


def want(connection: Connection, names: Sequence[str]) -> None:
    """The replicas of these datasets."""
    size = func.coalesce(replicas.c.bytes, datasets.c.bytes)
    rows = sql(replicas.c.dataset, replicas.c.region, replicas.c.s3_uri, size).join_from(replicas, datasets)
    names_of = ["dataset", "region", "s3_uri", "bytes"]
    for start in range(0, len(names), _NAMES):
        some = rows.where(datasets.c.dataset.in_(names[start : start + _NAMES]))
        connection.execute(insert(WANTED).from_select(names_of, some))


def _lines(connection: Connection, lines: Sequence[ClassicLine]) -> list[Chosen]:
    """A URI in several Regions has as many replicas. Nobody has said how large it is."""
    wanted = list(dict.fromkeys((line.s3_uri, line.region) for line in lines))
    if not wanted:
        raise CatalogError("the job array has no lines")
    connection.execute(
        insert(WANTED), [{"dataset": uri, "region": region, "s3_uri": uri, "bytes": 0} for uri, region in wanted]
    )
    return [Chosen(uri, campaign="", version="", bytes=0) for uri in dict.fromkeys(uri for uri, _ in wanted)]


def in_order(lanes: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """Of the datasets, then of the lanes."""
    order = {name: number for number, name in enumerate(names)}
    return lanes.sort_values(
        ["dataset", "platform", "region", "instance_type", "purchase", "arn"],
        key=lambda column: column.map(order) if column.name == "dataset" else column,
        ignore_index=True,
    )


def transfers(connection: Connection, lanes: pd.DataFrame) -> pd.DataFrame:
    """Every tier of the copies that the candidates would need."""
    copies = lanes[["from_region", "region"]].dropna().drop_duplicates()
    pairs = set(copies.itertuples(index=False, name=None))
    rows = connection.execute(sql(*(transfer_prices.c[name] for name in TRANSFERS))) if pairs else ()
    return table(sorted(tuple(row) for row in rows if tuple(row[:2]) in pairs), TRANSFERS)
