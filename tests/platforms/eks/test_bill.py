"""What spot nodes cost: what their zones asked while pods ran, the dearest if they do not tell, at most the rate."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import datetime, timezone
from types import SimpleNamespace
from typing import Any

import pytest

from orchestrator.errors import AccessDenied
from orchestrator.platforms.eks import spot_prices
from orchestrator.platforms.eks.bill import at_spot_price
from orchestrator.platforms.eks.kube.api import NODES, Answer
from orchestrator.platforms.eks.kube.nodes import ZONE
from orchestrator.platforms.eks.kube.pods import read_pod
from orchestrator.platforms.eks.supply import Supply
from orchestrator.platforms.eks.zones import Zones
from orchestrator.platforms.spot_price_paid import usual_price
from orchestrator.wire.result import Outcome, TaskState
from orchestrator.wire.task import Lane, Purchase
from tests.platforms.eks.made import ATTEMPT

SPOT = Lane.parse("eks/eu-west-1/g5.xlarge/spot")
DONE = Outcome(
    1, SPOT, "nightly-7-1", TaskState.DONE, billable_s=1800.0, usd=2.0, started_at=1000.0, ended_at=2800.0, instances=2
)


class Prices:
    """EC2 with one spot price in each zone."""

    def __init__(self, **prices: float) -> None:
        self.prices = prices

    def client(self, service: str, region: str) -> Any:
        assert (service, region) == ("ec2", "eu-west-1")
        if not self.prices:
            raise AccessDenied("may not look at spot prices")
        return self

    def get_paginator(self, _: str) -> Any:
        return self

    def paginate(self, **asked: Any) -> list[dict[str, Any]]:
        assert asked["InstanceTypes"] == ["g5.xlarge"]
        early = datetime.fromtimestamp(0, timezone.utc)
        rows = [
            {"InstanceType": kind, "AvailabilityZone": zone, "Timestamp": early, "SpotPrice": str(usd)}
            for zone, usd in self.prices.items()
            for kind in asked["InstanceTypes"]
        ]
        return [{"SpotPriceHistory": rows}]


@pytest.mark.parametrize(
    ("prices", "usd"),
    [({"a": 0.4, "b": 0.6}, 0.6), ({"a": 3.0}, 2.0), ({}, 2.0)],  # at 0.6 for half an hour of two; the rate; as it was
)
def test_the_dearest_zone_counts_and_never_more_than_the_rate(prices: dict[str, float], usd: float) -> None:
    clients: Any = Prices(**prices)
    assert at_spot_price(clients, ATTEMPT, DONE).usd == pytest.approx(usd)


@pytest.mark.parametrize(
    ("zones", "hourly"),
    [
        ({0: {"eu-west-1a"}, 1: {"eu-west-1a"}}, 0.4 + 0.4),
        ({0: {"eu-west-1a"}, 1: {"eu-west-1b"}}, 0.4 + 0.6),
        ({0: {"eu-west-1a"}}, 0.4 + 0.9),  # where the other was, nobody knows
        ({0: {"eu-west-1a", "eu-west-1b"}, 1: {"eu-west-1a"}}, 0.6 + 0.4),  # a pod that was made again elsewhere
        ({0: {"eu-west-1x"}, 1: {"eu-west-1-bos-1a"}}, 0.9 + 2.0),  # a zone without a price; a local one, at the rate
    ],
)
def test_each_pod_costs_what_its_own_zone_asks(zones: dict[int, set[str]], hourly: float) -> None:
    prices = {"eu-west-1a": 0.4, "eu-west-1b": 0.6, "eu-west-1c": 0.9, "eu-west-1-bos-1a": 5.0}
    clients: Any = Prices(**prices)
    assert at_spot_price(clients, ATTEMPT, DONE, zones).usd == pytest.approx(hourly / 2)


@pytest.mark.parametrize(("version", "usd"), [((1, 35), 0.5), ((1, 34), 0.6)])
def test_what_is_planned_is_what_is_billed_on_the_average_of_the_zones_that_nodes_may_be_in(
    monkeypatch: pytest.MonkeyPatch, version: tuple[int, int], usd: float
) -> None:
    """There are nodes in two of three zones. Pods of older servers do not tell theirs: the dearest one is billed."""
    supply = Supply(most=Counter({("g5.xlarge", Purchase.SPOT): 2, ("c5.xlarge", Purchase.ON_DEMAND): 1}))
    supply.zones |= {"eu-west-1a", "eu-west-1b"}
    api = SimpleNamespace(version=lambda: version)
    monkeypatch.setattr(spot_prices, "list_clusters", lambda *_: ["prod"])
    monkeypatch.setattr(spot_prices, "open_cluster", lambda *_: api)
    monkeypatch.setattr(spot_prices, "read_supply", lambda *_: supply)
    clients: Any = Prices(**{"eu-west-1a": 0.4, "eu-west-1b": 0.6, "eu-west-1c": 0.9})
    reading = spot_prices.read_spot_prices(clients, "eu-west-1", datetime.now(timezone.utc))
    told = [(row["instance_type"], row["purchase"], row["usd_per_hour"]) for row in reading.rows]
    assert told == [("g5.xlarge", "spot", pytest.approx(usd))]


def test_a_price_that_is_to_be_planned_with_does_not_change_with_each_moment() -> None:
    changes = [(3600.0, 0.9), (-900.0, 0.4), (7200.0, 0.5)]  # an hour of 0.4, one of 0.9, and then 0.5
    assert [usual_price(changes, 0.0, ends) for ends in (1800.0, 7200.0, 9000.0, 14_400.0)] == [0.4, 0.4, 0.5, 0.5]


class Nodes:
    """A cluster that tells of one node, to who may look."""

    region, cluster = "eu-west-1", "prod"

    def __init__(self, *, may_look: bool) -> None:
        self.may_look = may_look
        self.asked = 0

    def get(self, kind: str, namespace: str, name: str) -> Answer:
        assert (kind, namespace, name) == (NODES, "", "ip-10-0-0-1")
        self.asked += 1
        if not self.may_look:
            raise AccessDenied("nodes is forbidden")
        return Answer({"metadata": {"labels": {ZONE: "eu-west-1b"}}, "spec": {}}, 0.0)


@pytest.mark.parametrize(
    ("labels", "may_look", "zones", "asked"),
    [
        ({ZONE: "eu-west-1a"}, True, {1: {"eu-west-1a"}}, 0),
        ({}, True, {1: {"eu-west-1b"}}, 1),
        ({}, False, {}, 1),
    ],
)
def test_a_pod_s_zone_is_what_it_tells_or_else_its_node(
    labels: dict[str, str], may_look: bool, zones: dict[int, set[str]], asked: int
) -> None:
    meta = {"name": "x", "labels": {"batch.kubernetes.io/job-completion-index": "1", **labels}}
    pod = read_pod({"metadata": meta, "spec": {"nodeName": "ip-10-0-0-1"}, "status": {"phase": "Running"}})
    known, api = Zones(), Nodes(may_look=may_look)
    cluster: Any = api
    for _ in range(2):
        known.note("nightly-7-1", (pod,), cluster)
    known.note("nightly-7-1", (), cluster)  # it is gone, and not forgotten
    assert (known.of("nightly-7-1"), api.asked) == (zones, asked)


def test_on_demand_is_billed_at_the_rate_and_what_never_ran_costs_nothing() -> None:
    clients: Any = Prices(a=0.4)
    on_demand = replace(ATTEMPT, lane=replace(SPOT, purchase=Purchase.ON_DEMAND))
    assert at_spot_price(clients, on_demand, DONE) == DONE
    never = replace(DONE, started_at=None, ended_at=2800.0, usd=0.0)
    assert at_spot_price(clients, ATTEMPT, never).usd == 0.0
