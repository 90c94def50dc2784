"""Regions without a cluster: nothing is trained there, and what was told of them stands in nobody's way."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import pytest

from orchestrator.platforms.eks.feeds import read_prices
from orchestrator.platforms.eks.planning import EksPlanning
from orchestrator.platforms.feed import Reading
from orchestrator.wire.task import Lane, Purchase
from tests.platforms.eks.made import place
from tests.platforms.sweeps import sweep

LANE = place().lane
ELSEWHERE = Lane("eks", "us-east-1", LANE.instance_type, Purchase.ON_DEMAND)
NOW = datetime(2026, 11, 22, tzinfo=timezone.utc)


@pytest.mark.parametrize(("settings", "lane"), [({}, LANE), ({"cluster": {LANE.region: "prod"}}, ELSEWHERE)])
def test_a_lane_without_a_cluster_is_excluded_and_may_have_a_price(settings: dict[str, Any], lane: Lane) -> None:
    planning = EksPlanning(settings)
    assert planning.refuses(lane) == ""
    assert planning.excludes(sweep(), lane).startswith(f"EKS has no cluster in {lane.region}: write `cluster = ")
    assert planning.uses(lane) == {}


def test_a_lane_of_a_cluster_counts_what_its_nodes_have() -> None:
    planning = EksPlanning({"cluster": {LANE.region: "prod"}})
    assert planning.excludes(sweep(), LANE) == ""
    assert planning.uses(LANE) == {"prod/nvidia.com/gpu": 1, "prod/g5.xlarge/on_demand": 1}


def test_a_type_without_efa_is_excluded_where_a_sweep_asks_for_it() -> None:
    asked = sweep(platforms={"eks": {"efa": 1}})
    planning = EksPlanning({"cluster": "prod"})
    with_it = Lane("eks", LANE.region, "p4d.24xlarge", Purchase.ON_DEMAND)
    assert planning.excludes(asked, LANE) == "g5.xlarge has no EFA on EKS, and platforms.eks.efa asks for 1"
    assert planning.excludes(asked, with_it) == ""


class WithoutClusters:
    """Stands for `Clients` of an account that has no cluster. Only EKS may be asked."""

    def client(self, service: str, _: str) -> Any:
        assert service == "eks"
        return self

    def get_paginator(self, name: str) -> Any:
        assert name == "list_clusters"
        return self

    def paginate(self) -> Any:
        return [{"clusters": []}]


def test_nodes_have_no_price_where_the_account_has_no_cluster() -> None:
    clients: Any = WithoutClusters()
    assert read_prices(clients, LANE.region, NOW) == Reading(())
