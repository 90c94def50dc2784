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

from orchestrator.catalog.platforms import Platforms
from orchestrator.catalog.survey.commitments import TrainingPlan
from orchestrator.catalog.survey.for_sale import gather_lanes
from orchestrator.catalog.survey.survey import WANTED, candidates, in_order
from orchestrator.db.engine import reading
from orchestrator.db.tables import interruptions, prices, transfer_prices
from orchestrator.wire.task import Purchase
from tests.catalog.platforms import Managed
from tests.fixtures.examples import examples
from tests.fixtures.sweeps import make_sweep

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection, Table

    from orchestrator.catalog.catalog import Catalog
    from orchestrator.spec.sweep import Where

Row = dict[str, Any]
REGIONS = ("eu-west-1", "us-east-1", "us-west-2")
LOCAL_ZONE = "us-west-2-lax-1"
TYPES = ("ml.a.large", "ml.b.large")
PURCHASES = ("spot", "on_demand")
DATASETS = ("x@1", "y@1")
START = datetime(2026, 1, 1, tzinfo=timezone.utc)
NOW = START + timedelta(days=2)
"""Facts are of four days: those of the last are dated later than now."""
LANES = [
    {"platform": platform, "region": region, "instance_type": prefix + kind, "purchase": purchase}
    for region, kind, purchase in product((*REGIONS, LOCAL_ZONE), ("a.large", "b.large"), PURCHASES)
    for platform, prefix in (("sagemaker", "ml."), ("ec2", ""))
]
PAIRS = [{"from_region": a, "to_region": b} for a, b in product(REGIONS, (*REGIONS, LOCAL_ZONE)) if a != b]


def observed(fact: str, values: st.SearchStrategy[Any], lanes: list[Row] = LANES) -> st.SearchStrategy[list[Row]]:
    """Some facts about some lanes, each at some days."""
    row = st.builds(
        lambda lane, day, value: {**lane, "observed_at": START + timedelta(days=day), fact: value, "source": "test"},
        st.sampled_from(lanes),
        st.integers(0, 3),
        values,
    )
    return st.lists(row, min_size=8, max_size=40, unique_by=lambda row: (*_lane(row), row["observed_at"]))


plans = st.lists(
    st.builds(
        lambda lane, slots, opens, closes, arn: (
            {name: lane[name] for name in ("platform", "region", "instance_type")}
            | {"slots": slots, "opens_h": opens, "closes_h": closes, "site": arn}
        ),
        st.sampled_from([lane for lane in LANES if lane["region"] != LOCAL_ZONE and lane["platform"] == "sagemaker"]),
        st.integers(0, 9),
        st.integers(0, 3),
        st.sampled_from((None, 5)),
        st.sampled_from(("arn:1", "arn:2", "arn:3")),
    ),
    max_size=4,
    unique_by=lambda row: row["site"],
)
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
    st.lists(st.sampled_from((*REGIONS, LOCAL_ZONE)), unique=True),
    st.lists(st.sampled_from((*TYPES, "a.large")), unique=True, min_size=1),
    st.lists(st.sampled_from((*PURCHASES, "committed")), unique=True, min_size=1),
)


worlds = st.fixed_dictionaries(
    {
        "wanted": replicas,
        "rates": observed("usd_per_hour", st.sampled_from((0.0, 0.5, 1.0, 2.0))),
        "reclaimed": observed(
            "per_hour", st.sampled_from((0.0, 0.1)), [row for row in LANES if row["purchase"] == "spot"]
        ),
        "tiers": tiers,
        "plans": plans,
    }
)
TABLES = {
    "wanted": WANTED,
    "rates": prices,
    "reclaimed": interruptions,
    "tiers": transfer_prices,
}


@given(world=worlds, where=wheres, may_move=st.booleans())
@settings(max_examples=examples(75))
def test_the_join_finds_what_a_loop_would_find(
    schema: Catalog, world: dict[str, list[Row]], where: Where, may_move: bool
) -> None:
    with reading(schema.engine) as connection:
        WANTED.create(connection)
        for name, filled in TABLES.items():
            _insert(connection, filled, world[name])
        plans = [TrainingPlan(**row) for row in world["plans"]]
        gather_lanes(connection, where, Platforms({"sagemaker": Managed()}), plans, lambda _: "")
        found = in_order(candidates(connection, NOW, may_move=may_move), list(DATASETS)).astype(object)
    if not may_move:
        world = world | {"tiers": []}
    assert found.where(found.notna(), None).to_dict("records") == _loop(where, _World(**world))


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def schema(request: pytest.FixtureRequest) -> Any:
    return request.getfixturevalue(f"empty_{request.param}")


def _insert(connection: Connection, table: Table, rows: list[Row]) -> None:
    columns = table.columns.keys()
    if rows:
        connection.execute(insert(table), [{name: row[name] for name in columns if name in row} for row in rows])


class _World:
    """Holds the facts of one example, to be looked up one by one."""

    def __init__(
        self, wanted: list[Row], rates: list[Row], reclaimed: list[Row], tiers: list[Row], plans: list[Row]
    ) -> None:
        self.wanted, self.tiers, self.plans = wanted, tiers, plans
        self.rates, self.reclaimed = _newest(_seen(rates)), _newest(_seen(reclaimed))

    def usd(self, lane: Row) -> float | None:
        row = self.rates.get(_lane(lane))
        if row is None or row["usd_per_hour"] == 0:
            return None
        return row["usd_per_hour"]

    def price(self, lane: Row) -> float | None:
        """Return the lane's own price, or that of managed spot as EC2's prices suggest it."""
        twin = _on_ec2(lane)
        if _lane(lane) in self.rates or lane["purchase"] != "spot" or not twin:
            return self.usd(lane)
        full, spot, beside = self.usd(_on_demand(lane)), self.usd(twin), self.usd(_on_demand(twin))
        return full * spot / beside if full and spot and beside else None

    def offers(self) -> Iterator[Row]:
        """Yield every lane that is for sale, with all that is known of it."""
        for lane in LANES:
            twin = _on_ec2(lane)
            rate = self.reclaimed.get(_lane(lane)) or (self.reclaimed.get(_lane(twin)) if twin else None)
            usd = self.price(lane)
            if usd and lane["region"] != LOCAL_ZONE and lane["platform"] != "ec2":
                yield lane | {
                    "usd_per_hour": usd,
                    "interruptions_per_hour": rate and rate["per_hour"],
                    "opens_h": 0,
                    "closes_h": inf,
                    "site": None,
                }
        for plan in self.plans:
            closes = inf if plan["closes_h"] is None else plan["closes_h"]
            fixed = {"purchase": "committed", "usd_per_hour": 0, "interruptions_per_hour": None}
            yield {name: value for name, value in plan.items() if name != "slots"} | fixed | {"closes_h": closes}


def _loop(where: Where, world: _World) -> list[Row]:
    found = []
    for dataset, offer in product(DATASETS, list(world.offers())):
        purchases = [purchase.value for purchase in where.purchases]
        wanted = offer["instance_type"] in where.instance_types and offer["purchase"] in purchases
        # What is committed is selected in Python, before the join.
        allowed = not where.regions or offer["region"] in where.regions
        if offer["purchase"] == "committed":
            wanted, allowed = Purchase.COMMITTED in where.purchases, True
        of_dataset = [row for row in world.wanted if row["dataset"] == dataset]
        for replica, usd in _sources(of_dataset, offer["region"], world.tiers) if allowed and wanted else ():
            found.append(
                {"dataset": dataset, **offer, "s3_uri": replica["s3_uri"], "bytes": replica["bytes"]}
                | {"on_demand_usd_per_hour": world.usd(_on_demand(offer))}
                | {"transfer_usd_per_gb": usd, "from_region": None if usd is None else replica["region"]}
            )
    return sorted(found, key=lambda row: (row["dataset"], *_lane(row), row["site"] or "", row["from_region"] or ""))


def _seen(rows: list[Row]) -> list[Row]:
    return [row for row in rows if row["observed_at"] <= NOW]


def _on_demand(lane: Row) -> Row:
    return lane | {"purchase": "on_demand"}


def _on_ec2(lane: Row) -> Row | None:
    """Return the EC2 machine that a managed one runs on."""
    if lane["platform"] != "sagemaker":
        return None
    return lane | {"platform": "ec2", "instance_type": lane["instance_type"].removeprefix("ml.")}


def _sources(replicas: list[Row], region: str, tiers: list[Row]) -> list[tuple[Row, float | None]]:
    """Return the replica here, or all that can be copied here, each with the price of the tier that it reaches."""
    found: list[tuple[Row, float | None]] = []
    for replica in replicas:
        if replica["region"] == region:
            return [(replica, None)]
        reached = [
            tier
            for tier in tiers
            if (tier["from_region"], tier["to_region"]) == (replica["region"], region)
            and tier["from_gb"] * 10**9 <= replica["bytes"]
        ]
        if reached:
            found.append((replica, max(reached, key=lambda tier: tier["from_gb"])["usd_per_gb"]))
    return found


def _newest(rows: list[Row]) -> dict[tuple[str, ...], Row]:
    return {_lane(row): row for row in sorted(rows, key=lambda row: row["observed_at"])}


def _lane(row: Row) -> tuple[str, ...]:
    return (row["platform"], row["region"], row["instance_type"], row["purchase"])
