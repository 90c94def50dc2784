"""A plan takes so many instances of each lane and units of each quota, and its tasks may have to wait for them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.plan.facts import Lot
from orchestrator.plan.plan import Dataset, Plan, Share
from orchestrator.plan.slots import LotKey, crowded, instances_taken, tasks_by_lot, units_taken
from orchestrator.wire.task import Lane, Limits, Place, Purchase, Quota
from tests.fixtures.sweeps import make_sweep

LANE = Lane("sagemaker", "us-east-1", "ml.g5.xlarge", Purchase.SPOT)
OTHER = replace(LANE, region="eu-west-1")
LIMITS = Limits(max_runtime_s=3600)


def share(first: int, count: int, lane: Lane = LANE, site: str = "", instances: int = 1) -> Share:
    place = Place(lane, "s3://data/alps/", 1.0, site, instances)
    return Share(first, count, 0, (place,), hours=1.0, usd=1.0, limits=LIMITS)


def lot(used: int | None, lane: Lane = LANE, site: str = "", **uses: int) -> Lot:
    return Lot(lane, 1.0, uses or {"own": 1}, site, used)


def plan(*shares: Share, lots: tuple[Lot, ...] = ()) -> Plan:
    return Plan(make_sweep(), "market", (Dataset("alps@1", 10),), shares, lots=lots)


@pytest.mark.parametrize(
    ("used", "instances", "taken"),
    [(None, 1, 6), (4, 1, 4), (40, 1, 6), (7, 2, 6), (7, 4, 4), (None, 4, 24)],
)
def test_a_plan_takes_what_its_tasks_hold_at_once_and_no_more_than_it_has(
    used: int | None, instances: int, taken: int
) -> None:
    made = plan(share(0, 6, instances=instances), lots=(lot(used),))
    assert instances_taken(made, tasks_by_lot(made)) == {LotKey(LANE): taken}
    assert crowded(made) == (taken < 6 * instances)


@pytest.mark.parametrize(("used", "taken"), [(40, 17), (11, 11), (3, 3)])
def test_tasks_of_one_lane_may_have_different_numbers_of_instances(used: int, taken: int) -> None:
    made = plan(share(0, 3, instances=4), share(3, 5), lots=(lot(used),))
    assert tasks_by_lot(made) == {LotKey(LANE): {4: 3, 1: 5}}
    assert instances_taken(made, tasks_by_lot(made)) == {LotKey(LANE): taken}


def test_each_lane_has_its_own_and_shares_of_one_lane_add_up() -> None:
    made = plan(share(0, 3), share(3, 2, OTHER), share(5, 4), lots=(lot(4), lot(4, OTHER)))
    assert instances_taken(made, tasks_by_lot(made)) == {LotKey(LANE): 4, LotKey(OTHER): 2}


def test_what_nobody_has_counted_takes_as_much_as_it_needs() -> None:
    made = plan(share(0, 6))
    assert instances_taken(made, tasks_by_lot(made)) == {LotKey(LANE): 6}
    assert units_taken(made, tasks_by_lot(made)) == {}


def test_a_committed_lane_has_the_instances_of_each_of_its_training_plans() -> None:
    lane = replace(LANE, purchase=Purchase.COMMITTED)
    made = plan(
        share(0, 3, lane, "arn:a"), share(3, 3, lane, "arn:b"), lots=(lot(2, lane, "arn:a"), lot(9, lane, "arn:b"))
    )
    assert instances_taken(made, tasks_by_lot(made)) == {LotKey(lane, "arn:a"): 2, LotKey(lane, "arn:b"): 3}


def test_lanes_may_count_under_one_quota_in_units() -> None:
    big = replace(LANE, instance_type="ml.g5.12xlarge")
    lots = (lot(None, family=4, single=1), lot(2, big, family=48), lot(None, OTHER, family=4))
    made = plan(share(0, 3), share(3, 5, big), share(8, 1, OTHER), lots=lots)
    here, there = (Quota("sagemaker", region, "family") for region in ("us-east-1", "eu-west-1"))
    single = Quota("sagemaker", "us-east-1", "single")
    assert units_taken(made, tasks_by_lot(made)) == {here: 3 * 4 + 2 * 48, single: 3, there: 4}
