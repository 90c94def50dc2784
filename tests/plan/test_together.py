"""Places that one request can ask for are joined, where their platform says so and the budget allows it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from orchestrator.plan.together import join_places
from orchestrator.planner.solve import solve
from orchestrator.platforms.sagemaker.planning import SageMakerPlanning
from tests.fixtures.sweeps import candidate, make_market, make_sweep

if TYPE_CHECKING:
    from orchestrator.plan.plan import Plan

TYPES = ["ml.g5.xlarge", "ml.g5.2xlarge", "ml.g4dn.xlarge"]
ASKED = {"sagemaker": {"instance_preferences": True}}


def planned(*candidates: dict[str, Any], **changes: Any) -> Plan:
    """Return the plan of a sweep that may use these types, joined as SageMaker says."""
    body = {"platforms": ASKED, "where__instance_types": TYPES, "runtime": 1.0} | changes
    plan = solve(make_sweep(**body), make_market(*candidates))
    planning = SageMakerPlanning({})
    return join_places(plan, lambda place, other: planning.joins(plan.sweep, place, other))


def offered(kind: str, usd: float, **changes: Any) -> dict[str, Any]:
    return candidate(instance_type=kind, usd_per_hour=usd, on_demand_usd_per_hour=usd, **changes)


def joined(plan: Plan) -> list[tuple[str, bool]]:
    return [(place.lane.instance_type, place.joined) for place in plan.shares[0].places]


def test_on_demand_places_of_a_region_are_one_request_where_the_sweep_asks_for_it() -> None:
    there = [offered(kind, usd) for kind, usd in zip(TYPES, (1.0, 2.0, 3.0), strict=True)]
    plan = planned(*there)
    assert joined(plan) == [(TYPES[0], False), (TYPES[1], True), (TYPES[2], True)]
    assert plan.notes[-1].startswith("1 of 1 shares ask for several places at once")
    task = plan.task(0, code="c0de")
    assert task.together(task.places[0]) == task.places
    assert task.together(task.places[1]) == task.places[1:]


def test_without_that_the_plan_is_the_same_byte_for_byte() -> None:
    there = [offered(kind, usd) for kind, usd in zip(TYPES, (1.0, 2.0, 3.0), strict=True)]
    plan = planned(*there, platforms={})
    assert not any(place.joined for place in plan.shares[0].places)
    assert plan.to_json() == solve(plan.sweep, make_market(*there)).to_json()


def test_spot_another_region_and_a_type_that_needs_another_image_are_requests_of_their_own() -> None:
    spot = offered(TYPES[0], 1.0) | {"purchase": "spot", "usd_per_hour": 0.5}
    elsewhere = offered(TYPES[1], 2.0, region="eu-west-1", from_region=None)
    cpu = offered("ml.c5.xlarge", 3.0)
    plan = planned(spot, elsewhere, cpu, where__instance_types=[*TYPES, "ml.c5.xlarge"])
    assert len(plan.shares[0].places) == 3
    assert not any(place.joined for place in plan.shares[0].places)


def test_under_a_budget_a_dearer_place_stays_alone_for_it_would_shorten_what_the_envelope_pays_for() -> None:
    there = [offered(kind, usd) for kind, usd in zip(TYPES, (1.0, 2.0, 3.0), strict=True)]
    plan = planned(*there, plan={"budget": 1000.0})
    assert plan.shares[0].limits.envelope is not None
    assert not any(place.joined for place in plan.shares[0].places)


def on_so_many(plan: Plan, *places: tuple[str, int]) -> Plan:
    """Return the plan with these types and numbers of instances as the places of its share, joined anew."""
    (share,) = plan.shares
    first = share.places[0]
    lanes = [(replace(first.lane, instance_type=kind), instances) for kind, instances in places]
    asked = tuple(replace(first, lane=lane, instances=instances, joined=False) for lane, instances in lanes)
    alone = replace(plan, shares=(replace(share, places=asked),))
    return join_places(alone, lambda place, other: SageMakerPlanning({}).joins(plan.sweep, place, other))


def test_each_place_of_a_request_may_have_a_number_of_instances_of_its_own() -> None:
    plan = on_so_many(planned(offered(TYPES[0], 1.0)), (TYPES[0], 1), (TYPES[1], 2), (TYPES[2], 1))
    assert joined(plan) == [(TYPES[0], False), (TYPES[1], True), (TYPES[2], True)]


def test_a_type_that_the_request_has_already_begins_another_one() -> None:
    plan = on_so_many(planned(offered(TYPES[0], 1.0)), (TYPES[0], 2), (TYPES[1], 2), (TYPES[0], 1), (TYPES[2], 1))
    assert joined(plan) == [(TYPES[0], False), (TYPES[1], True), (TYPES[0], False), (TYPES[2], True)]


def test_under_a_budget_another_number_of_instances_stays_alone_for_it_takes_another_time() -> None:
    plan = planned(offered(TYPES[0], 1.0), plan={"budget": 1000.0})
    assert joined(on_so_many(plan, (TYPES[0], 2), (TYPES[1], 1))) == [(TYPES[0], False), (TYPES[1], False)]
    assert joined(on_so_many(plan, (TYPES[0], 2), (TYPES[1], 2))) == [(TYPES[0], False), (TYPES[1], True)]
