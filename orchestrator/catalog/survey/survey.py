"""Surveys the catalog for one sweep: what could its datasets be trained on, and for how much?"""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import datetime, timezone
from functools import partial
from itertools import permutations
from typing import TYPE_CHECKING

from sqlalchemy import BigInteger, Column, MetaData, Table, Text, bindparam, func, insert, select, text

from orchestrator import resources
from orchestrator.catalog.files.to_come import CLOCKS_DIFFER
from orchestrator.catalog.market import CANDIDATES, DATASETS, POOLS, STORAGE, TRANSFERS, Market, Past, table
from orchestrator.catalog.quotas import known_quotas, live_leases, quota_codes, uses_of
from orchestrator.catalog.survey.commitments import savings_pools, training_plans
from orchestrator.catalog.survey.for_sale import gather_lanes
from orchestrator.catalog.survey.infeasible import check_instance_types, no_place_error
from orchestrator.catalog.survey.lines import name_lines
from orchestrator.catalog.survey.select_datasets import Chosen, datasets_named, select_datasets
from orchestrator.catalog.survey.starts import billing_of, starts_of
from orchestrator.db.engine import reading
from orchestrator.db.tables import UtcTime, datasets, replicas, storage_prices, transfer_prices
from orchestrator.errors import CatalogError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from sqlalchemy import Connection, Engine

    from orchestrator.catalog.platforms import Platforms
    from orchestrator.spec.sweep import Sweep
    from orchestrator.spec.where import Where
    from orchestrator.wire.manifest import ClassicLine

_NAMES_PER_STATEMENT = 10_000
"""Databases take only so many values in one statement."""

WANTED = Table(
    "wanted",
    MetaData(),
    Column("dataset", Text, nullable=False),
    Column("region", Text, nullable=False),
    Column("s3_uri", Text, nullable=False),
    Column("bytes", BigInteger, nullable=False),
    prefixes=["TEMPORARY"],
)
"""A temporary table of the replicas of the datasets asked for. It is gone with the transaction."""


def survey(
    engine: Engine,
    platforms: Platforms,
    sweep: Sweep,
    classic: Sequence[ClassicLine] | None = None,
    past: Past | None = None,
    now: datetime | None = None,
) -> Market:
    """Return the Market of the datasets that the sweep selects, or of a classic JOBARRAY's lines if there are some.

    Each classic line is a dataset that the catalog does not know. Raise CatalogError if nothing is selected,
    InfeasibleError if a dataset can be trained nowhere.
    """
    named = name_lines(classic or ())
    with reading(engine) as connection:
        WANTED.create(connection)
        if classic is None:
            chosen = select_datasets(connection, sweep.data)
            gather_replicas(connection, [row.dataset for row in chosen])
        else:
            chosen = _gather_lines(connection, named)
        # Nobody has said how large a classic line's data is, so nobody can say what moving it costs.
        found = _Survey(connection, platforms, sweep, now)
        market = _as_asked(found.market(chosen, may_move=classic is None), named)
        check_instance_types(connection, sweep.where, found.for_sale)
        placed = set(market.candidates["dataset"].unique())
        nowhere = [row.dataset for row in chosen if row.dataset not in placed]
        if nowhere:
            where = _where_asked(sweep, market.lines.get(nowhere[0]))
            raise no_place_error(connection, nowhere, where, found.for_sale, WANTED)
    return replace(market, history=past.history, discounts=past.discounts, seen=past.seen) if past else market


def resurvey(
    engine: Engine,
    platforms: Platforms,
    sweep: Sweep,
    names: Sequence[str],
    classic: Sequence[ClassicLine] = (),
    now: datetime | None = None,
) -> Market:
    """Return the Market of exactly these datasets or lines, whatever the sweep would select today.

    What the catalog does not know is left out: nothing is raised for it.
    """
    named = name_lines(classic)
    with reading(engine) as connection:
        WANTED.create(connection)
        if classic:
            chosen = _gather_lines(connection, named)
        else:
            chosen = datasets_named(connection, names)
            gather_replicas(connection, [row.dataset for row in chosen])
        return _as_asked(_Survey(connection, platforms, sweep, now).market(chosen, may_move=not classic), named)


class _Survey:
    """Surveys the catalog for one sweep. Beside the Market, it knows what was for sale."""

    def __init__(self, connection: Connection, platforms: Platforms, sweep: Sweep, now: datetime | None) -> None:
        self._connection, self._platforms, self._sweep = connection, platforms, sweep
        self._now = now or datetime.now(timezone.utc)
        plans = training_plans(connection, sweep.where, self._now)
        self.for_sale = gather_lanes(connection, sweep.where, platforms, plans, partial(platforms.excludes, sweep))

    def market(self, chosen: Sequence[Chosen], *, may_move: bool) -> Market:
        """Return the Market of the replicas in WANTED."""
        connection = self._connection
        may_move = may_move and self._sweep.data.move_data != "never"
        lanes = candidates(connection, self._now, may_move=may_move)
        live, uses = live_leases(connection, self._now), uses_of(lanes, self._platforms)
        return Market(
            datasets=table(chosen, DATASETS),
            candidates=in_order(lanes, [row.dataset for row in chosen]),
            transfers=transfers(connection, lanes, of_checkpoints=self._sweep.train.checkpoints is not None),
            quotas=known_quotas(connection, uses, self.for_sale.plans, live, self._now),
            uses=uses,
            pools=table(savings_pools(connection, self._sweep.where, self._now), POOLS),
            leases=live,
            starts=starts_of(lanes, self._platforms),
            billing=billing_of(lanes, self._platforms),
            storage=storage(connection, lanes),
            quota_codes=quota_codes(connection, self._now),
            cautions=(*self._platforms.cautions(self._sweep), *self._left_out()),
        )

    def _left_out(self) -> list[str]:
        """Return a line for each reason why trainings cannot run on lanes of Regions where replicas lie."""
        regions = list(self._connection.scalars(select(WANTED.c.region).distinct()))
        return [f"left out: {why}" for why in self.for_sale.excluded_in(regions)]


def candidates(connection: Connection, now: datetime, *, may_move: bool = False) -> pd.DataFrame:
    """Return CANDIDATES: what sql/candidates.sql finds for the replicas in WANTED and the lanes in OFFERED."""
    statement = text(resources.text("sql/candidates.sql")).bindparams(bindparam("until", type_=UtcTime))
    facts = {"may_move": int(may_move), "until": now + CLOCKS_DIFFER}
    found = table(connection.execute(statement, facts).fetchall(), CANDIDATES)
    return found.fillna({"closes_h": math.inf})


def gather_replicas(connection: Connection, names: Sequence[str]) -> None:
    """Write the replicas of these datasets into WANTED."""
    size = func.coalesce(replicas.c.bytes, datasets.c.bytes)
    rows = select(replicas.c.dataset, replicas.c.region, replicas.c.s3_uri, size).join_from(replicas, datasets)
    columns = ["dataset", "region", "s3_uri", "bytes"]
    for start in range(0, len(names), _NAMES_PER_STATEMENT):
        some = rows.where(datasets.c.dataset.in_(names[start : start + _NAMES_PER_STATEMENT]))
        connection.execute(insert(WANTED).from_select(columns, some))


def _gather_lines(connection: Connection, named: Sequence[tuple[str, ClassicLine]]) -> list[Chosen]:
    """Write a classic JOBARRAY's lines into WANTED, and return the datasets that they stand for.

    Nobody has said how large one is.
    """
    if not named:
        raise CatalogError("the job array has no lines")
    connection.execute(
        insert(WANTED),
        [{"dataset": name, "region": line.region, "s3_uri": line.s3_uri, "bytes": 0} for name, line in named],
    )
    return [Chosen(name, campaign="", version="", bytes=0) for name in dict.fromkeys(name for name, _ in named)]


def _as_asked(market: Market, named: Sequence[tuple[str, ClassicLine]]) -> Market:
    """Return the Market with what lines say of parameters and instance types."""
    telling = {name: line for name, line in named if line.point or line.instance_type or line.image}
    types = {name: line.instance_type for name, line in telling.items() if line.instance_type}
    if not telling:
        return market
    wanted = market.candidates["dataset"].map(types)
    fits = wanted.isna() | (wanted == market.candidates["instance_type"])
    return replace(market, lines=telling, candidates=market.candidates[fits].reset_index(drop=True))


def _where_asked(sweep: Sweep, line: ClassicLine | None) -> Where:
    """Return the sweep's `where`, with the type alone that a line asks for."""
    only = {"instance_types": [line.instance_type]} if line and line.instance_type else {}
    return sweep.where.model_copy(update=only)


def in_order(lanes: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """Return the candidates in the order of the dataset names, then of the lanes, then of where a copy comes from."""
    order = {name: number for number, name in enumerate(names)}
    return lanes.sort_values(
        ["dataset", "platform", "region", "instance_type", "purchase", "site", "from_region"],
        key=lambda column: column.map(order) if column.name == "dataset" else column,
        ignore_index=True,
    )


def transfers(connection: Connection, lanes: pd.DataFrame, *, of_checkpoints: bool) -> pd.DataFrame:
    """Return TRANSFERS: every tier of the copies that the candidates would need.

    Checkpoints may come from any of their Regions to any other.
    """
    copies = lanes[["from_region", "region"]].dropna().drop_duplicates()
    pairs = set(copies.itertuples(index=False, name=None))
    if of_checkpoints:
        pairs |= set(permutations(sorted(set(lanes["region"])), 2))
    rows = connection.execute(select(*(transfer_prices.c[name] for name in TRANSFERS))) if pairs else ()
    return table(sorted(tuple(row) for row in rows if tuple(row[:2]) in pairs), TRANSFERS)


def storage(connection: Connection, lanes: pd.DataFrame) -> pd.DataFrame:
    """Return STORAGE: every tier of what copies would cost that the candidates need, where they would be kept."""
    regions = set(lanes.loc[lanes["from_region"].notna(), "region"])
    rows = connection.execute(select(storage_prices)) if regions else ()
    return table(sorted(tuple(row) for row in rows if row.region in regions), STORAGE)
