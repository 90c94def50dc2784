"""What time costs: from the cheapest plan to the fastest."""

from __future__ import annotations

from itertools import pairwise
from xml.etree import ElementTree

from orchestrator.plan.frontier_chart import draw_frontier
from orchestrator.planner.frontier import frontier
from tests.fixtures.sweeps import candidate, make_market, make_sweep

REGIONS = ("us-east-1", "us-west-2", "eu-west-1", "eu-central-1")


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
