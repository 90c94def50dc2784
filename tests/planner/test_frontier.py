"""What time costs: from the cheapest plan to the fastest."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import numpy as np
import pytest

from orchestrator.catalog.market import STARTS, table
from orchestrator.plan.frontier_chart import draw_frontier
from orchestrator.planner.frontier import frontier
from orchestrator.planner.solve import solve
from tests.fixtures.sweeps import candidate, make_market, make_sweep

if TYPE_CHECKING:
    from orchestrator.catalog.market import Market
    from orchestrator.plan.plan import Plan
    from orchestrator.spec.sweep import Sweep

REGIONS = ("us-east-1", "us-west-2", "eu-west-1", "eu-central-1")
PACES = {"ml.g5.xlarge": 1.0, "ml.g5.2xlarge": 0.7}
START_H = {"us-east-1": 0.05, "us-west-2": 0.03, "eu-west-1": 0.3}


def test_each_plan_is_dearer_and_faster_than_the_one_before() -> None:
    rows = [candidate(region=region, usd_per_hour=1.0 + rank, slots=1.0) for rank, region in enumerate(REGIONS)]
    plans = frontier(make_sweep(space={"lr": list(range(12))}, runtime=1), make_market(*rows))
    assert (plans[0].usd, plans[0].finish) == (12, 12)
    assert (plans[-1].usd, plans[-1].finish) == (30, 3)
    assert len(plans) >= 4
    for one, other in pairwise(plans):
        assert one.usd < other.usd
        assert one.finish > other.finish


def test_where_nothing_binds_the_cheapest_is_the_fastest() -> None:
    assert len(frontier(make_sweep(), make_market(candidate()))) == 1


def test_there_are_at_least_five_where_there_is_so_much_to_choose_from() -> None:
    rows = [candidate(usd_per_hour=1.0, slots=1.0), candidate(region="us-west-2", usd_per_hour=1.5)]
    plans = frontier(make_sweep(space={"lr": list(range(40))}, runtime=1, plan={"horizon": "40h"}), make_market(*rows))
    assert 5 <= len(plans) <= 10
    ratios = [slower.finish / faster.finish for slower, faster in pairwise(plans)]
    assert max(ratios) < 3  # evenly spread


def test_the_chart_has_words_for_each_plan() -> None:
    rows = [candidate(slots=1.0), candidate(region="us-west-2", usd_per_hour=2.0, slots=1.0)]
    plans = frontier(make_sweep(runtime=1), make_market(*rows))
    drawing = ElementTree.fromstring(draw_frontier(plans, "svg"))
    words = [text.text for text in drawing.findall(".//{http://www.w3.org/2000/svg}text")]
    for plan in plans:
        assert f"{plan.finish:.3g} h, ${plan.usd:,.2f}" in words


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 4])
def test_no_plan_is_dearer_than_one_of_the_frontier_that_ends_by_its_deadline(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Starts take so long in one Region that they break deadlines which hours alone would keep."""
    made: list[Plan] = []

    def note(sweep: Sweep, market: Market) -> Plan:
        made.append(solve(sweep, market))
        return made[-1]

    monkeypatch.setattr("orchestrator.planner.frontier.solve", note)
    random = np.random.default_rng(seed)
    rows = [
        candidate(
            region=region,
            instance_type=kind,
            usd_per_hour=float(random.uniform(1, 2)),
            slots=float(random.integers(8, 30)),
        )
        for region in REGIONS[:3]
        for kind in PACES
    ]
    lanes = [
        ("sagemaker", region, kind, "on_demand", START_H[region], 3600.0) for region in REGIONS[:3] for kind in PACES
    ]
    market = replace(make_market(*rows), starts=table(lanes, STARTS))
    lengths = [0.2, 0.5, 1.1, 1.7]
    sweep = make_sweep(
        space={"size": lengths, "seed": {"range": [1, int(random.integers(260, 400))]}},
        where={"instance_types": list(PACES)},
        runtime={name: f"{pace} * size" for name, pace in PACES.items()},
    )
    frontier(sweep, market)
    assert len(made) > 4
    for plan in made:
        if plan.sweep.plan.deadline is not None:
            in_time = [other.usd for other in made if other.finish <= plan.sweep.plan.hours]
            assert plan.usd <= min(in_time) * (1 + 1e-6)
