"""The join in sql/candidates.sql against the same join in a few lines of Python, on any rows, on both databases."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from itertools import product
from math import inf
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import insert

from orchestrator.catalog.survey import WANTED, candidates, in_order
from orchestrator.db.engine import reading
from orchestrator.db.tables import prices, quotas, transfer_prices
from tests.fixtures.sweeps import make_sweep

if TYPE_CHECKING:
    from sqlalchemy import Connection, Table

    from orchestrator.catalog.catalog import Catalog
    from orchestrator.spec.sweep import Where

Row = dict[str, Any]
REGIONS = ("eu-west-1", "us-east-1", "us-west-2")
TYPES = ("ml.a.large", "ml.b.large")
PURCHASES = ("spot", "on_demand")
DATASETS = ("x@1", "y@1")
START = datetime(2026, 1, 1, tzinfo=timezone.utc)
LANES = [
    {"platform": "sagemaker", "region": region, "instance_type": kind, "purchase": purchase}
    for region, kind, purchase in product(REGIONS, TYPES, PURCHASES)
]
PAIRS = [{"from_region": a, "to_region": b} for a, b in product(REGIONS, REGIONS) if a != b]


def observed(fact: str, values: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Row]]:
    """Some facts about some lanes, each at some days."""
    row = st.builds(
        lambda lane, day, value: {**lane, "observed_at": START + timedelta(days=day), fact: value, "source": "test"},
        st.sampled_from(LANES),
        st.integers(0, 3),
        values,
    )
    return st.lists(row, min_size=8, max_size=30, unique_by=lambda row: (*_lane(row), row["observed_at"]))


replicas = st.lists(
    st.builds(
        lambda dataset, region, gb: {
            "dataset": dataset,
            "region": region,
            "s3_uri": f"s3://{region}/{dataset}",
            "bytes": gb * 10**9,
        },
        st.sampled_from(DATASETS),
        st.sampled_from(REGIONS),
        st.sampled_from((0, 99, 100, 101)),
    ),
    min_size=2,
    unique_by=lambda row: (row["dataset"], row["region"]),
)
tiers = st.lists(
    st.builds(
        lambda pair, gb, usd: {**pair, "from_gb": gb, "usd_per_gb": usd},
        st.sampled_from(PAIRS),
        st.sampled_from((0.0, 100.0)),
        st.sampled_from((0.01, 0.02)),
    ),
    min_size=8,
    unique_by=lambda row: (row["from_region"], row["to_region"], row["from_gb"]),
)
wheres = st.builds(
    lambda regions, types, purchases: (
        make_sweep(where={"regions": regions, "instance_types": types, "purchases": purchases}).where
    ),
    st.lists(st.sampled_from(REGIONS), unique=True),
    st.lists(st.sampled_from(TYPES), unique=True, min_size=1),
    st.lists(st.sampled_from(PURCHASES), unique=True, min_size=1),
)


worlds = st.fixed_dictionaries(
    {
        "wanted": replicas,
        "rates": observed("usd_per_hour", st.sampled_from((0.5, 1.0, 2.0))),
        "slots": observed("slots", st.integers(0, 9)),
        "tiers": tiers,
    }
)


@given(world=worlds, where=wheres, may_move=st.booleans())
@settings(max_examples=100, deadline=None)
def test_the_join_finds_what_a_loop_would_find(
    schema: Catalog, world: dict[str, list[Row]], where: Where, may_move: bool
) -> None:
    tables = {"wanted": WANTED, "rates": prices, "slots": quotas, "tiers": transfer_prices}
    with reading(schema.engine) as connection:
        WANTED.create(connection)
        for name, rows in world.items():
            _insert(connection, tables[name], rows)
        found = in_order(candidates(connection, where, may_move=may_move), list(DATASETS)).astype(object)
    if not may_move:
        world = world | {"tiers": []}
    assert found.where(found.notna(), None).to_dict("records") == _loop(where, **world)


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def schema(request: pytest.FixtureRequest) -> Any:
    return request.getfixturevalue(f"empty_{request.param}")


def _insert(connection: Connection, table: Table, rows: list[Row]) -> None:
    if rows:
        connection.execute(insert(table), rows)


def _loop(where: Where, wanted: list[Row], rates: list[Row], slots: list[Row], tiers: list[Row]) -> list[Row]:
    newest_rate, newest_slots = _newest(rates), _newest(slots)
    found = []
    for dataset, lane in product(DATASETS, LANES):
        allowed = not where.regions or lane["region"] in where.regions
        asked = lane["instance_type"] in where.instance_types and lane["purchase"] in [p.value for p in where.purchases]
        rate = newest_rate.get(_lane(lane))
        source = _source([row for row in wanted if row["dataset"] == dataset], lane["region"], tiers)
        if not (allowed and asked and rate and source):
            continue
        quota = newest_slots.get(_lane(lane))
        full = newest_rate.get(_lane({**lane, "purchase": "on_demand"}))
        replica, usd = source
        found.append(
            {"dataset": dataset, **lane, "s3_uri": replica["s3_uri"], "bytes": replica["bytes"]}
            | {"usd_per_hour": rate["usd_per_hour"], "on_demand_usd_per_hour": full and full["usd_per_hour"]}
            | {"slots": quota and quota["slots"], "held": 0, "interruptions_per_hour": None}
            | {"opens_h": 0.0, "closes_h": inf, "arn": None, "transfer_usd_per_gb": usd}
            | {"from_region": None if usd is None else replica["region"]}
        )
    return sorted(found, key=lambda row: (row["dataset"], *_lane(row)))


def _source(replicas: list[Row], region: str, tiers: list[Row]) -> tuple[Row, float | None] | None:
    """The replica here; or the cheapest to copy from, the first of equals."""
    options: list[tuple[float, str, Row]] = []
    for replica in replicas:
        if replica["region"] == region:
            return replica, None
        reached = [
            tier
            for tier in tiers
            if (tier["from_region"], tier["to_region"]) == (replica["region"], region)
            and tier["from_gb"] * 10**9 <= replica["bytes"]
        ]
        if reached:
            tier = max(reached, key=lambda tier: tier["from_gb"])
            options.append((tier["usd_per_gb"], replica["region"], replica))
    best = min(options, key=lambda option: option[:2], default=None)
    return (best[2], best[0]) if best else None


def _newest(rows: list[Row]) -> dict[tuple[str, ...], Row]:
    return {_lane(row): row for row in sorted(rows, key=lambda row: row["observed_at"])}


def _lane(row: Row) -> tuple[str, ...]:
    return (row["platform"], row["region"], row["instance_type"], row["purchase"])
