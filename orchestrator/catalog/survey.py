"""The Market of one sweep: what its datasets could be trained on, and for how much."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sqlalchemy import BigInteger, Column, MetaData, Table, Text, bindparam, func, insert, text
from sqlalchemy import select as sql

from orchestrator import resources
from orchestrator.catalog.infeasible import check_instance_types, no_place
from orchestrator.catalog.market import CANDIDATES, DATASETS, TRANSFERS, Market, table
from orchestrator.catalog.select import Chosen, named, select
from orchestrator.db.engine import reading
from orchestrator.db.tables import datasets, replicas, transfer_prices
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
    Column("s3_uri", Text, nullable=False),
    Column("bytes", BigInteger, nullable=False),
    prefixes=["TEMPORARY"],
)
"""The replicas of the datasets asked for. Gone with the transaction: a survey leaves nothing behind."""


def survey(engine: Engine, sweep: Sweep, classic: Sequence[ClassicLine] | None = None) -> Market:
    """Of datasets in the catalog; or of a classic JOBARRAY's lines, each URI a dataset that no catalog knows."""
    with reading(engine) as connection:
        WANTED.create(connection)
        chosen = _lines(connection, classic) if classic is not None else select(connection, sweep.data)
        if classic is None:
            want(connection, [row.dataset for row in chosen])
        check_instance_types(connection, sweep.where)
        # Nobody has said how large a classic line's data is, so nobody can say what moving it costs.
        market = _market(connection, sweep, chosen, may_move=classic is None)
        placed = set(market.candidates["dataset"])
        nowhere = [row.dataset for row in chosen if row.dataset not in placed]
        if nowhere:
            raise no_place(connection, nowhere, sweep.where, WANTED)
        return market


def resurvey(engine: Engine, sweep: Sweep, names: Sequence[str], classic: Sequence[ClassicLine]) -> Market:
    """Of these very datasets, or lines, whatever the sweep would choose today. What is not known is not there."""
    with reading(engine) as connection:
        WANTED.create(connection)
        chosen = _lines(connection, classic) if classic else named(connection, names)
        if not classic:
            want(connection, [row.dataset for row in chosen])
        return _market(connection, sweep, chosen, may_move=not classic)


def _market(connection: Connection, sweep: Sweep, chosen: Sequence[Chosen], *, may_move: bool) -> Market:
    lanes = candidates(connection, sweep.where, may_move=may_move and sweep.data.move_data != "never")
    return Market(
        datasets=table(chosen, DATASETS),
        candidates=in_order(lanes, [row.dataset for row in chosen]),
        transfers=transfers(connection, lanes),
    )


def candidates(connection: Connection, where: Where, *, may_move: bool = False) -> pd.DataFrame:
    """What sql/candidates.sql finds for the wanted replicas."""
    lists = {
        "instance_types": where.instance_types,
        "regions": where.regions,
        "purchases": [purchase.value for purchase in where.purchases],
    }
    bound = [bindparam(name, values, Text, expanding=True) for name, values in lists.items()]
    statement = text(resources.text("sql/candidates.sql")).bindparams(*bound)
    flags = {"any_region": int(not where.regions), "may_move": int(may_move)}
    found = table([tuple(row) for row in connection.execute(statement, flags)], CANDIDATES)
    return found.fillna({"closes_h": math.inf})


def want(connection: Connection, names: Sequence[str]) -> None:
    """The replicas of these datasets."""
    size = func.coalesce(replicas.c.bytes, datasets.c.bytes)
    rows = sql(replicas.c.dataset, replicas.c.region, replicas.c.s3_uri, size).join_from(replicas, datasets)
    for start in range(0, len(names), _NAMES):
        some = rows.where(datasets.c.dataset.in_(names[start : start + _NAMES]))
        connection.execute(insert(WANTED).from_select(WANTED.columns.keys(), some))


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
    """Of the datasets, then of the lanes; and of sources that cost the same, the first."""
    lane = ["dataset", "platform", "region", "instance_type", "purchase"]
    order = {name: number for number, name in enumerate(names)}
    lanes = lanes.sort_values(
        [*lane, "from_region"], key=lambda column: column.map(order) if column.name == "dataset" else column
    )
    return lanes.drop_duplicates(lane).reset_index(drop=True)


def transfers(connection: Connection, lanes: pd.DataFrame) -> pd.DataFrame:
    """Every tier of the copies that the candidates would need."""
    copies = lanes.dropna(subset="from_region")
    pairs = set(zip(copies["from_region"], copies["region"], strict=True))
    rows = connection.execute(sql(*(transfer_prices.c[name] for name in TRANSFERS))) if pairs else ()
    return table(sorted(tuple(row) for row in rows if tuple(row[:2]) in pairs), TRANSFERS)
