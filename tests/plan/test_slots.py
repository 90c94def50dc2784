"""A plan takes so many slots of each lane, and its tasks may have to wait for them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.plan.plan import Dataset, Lot, Plan, Share
from orchestrator.plan.slots import Quota, crowded, slots_taken, tasks_by_quota
from orchestrator.wire.task import Lane, Limits, Place, Purchase
from tests.fixtures.sweeps import make_sweep

LANE = Lane("sagemaker", "us-east-1", "ml.g5.xlarge", Purchase.SPOT)
OTHER = replace(LANE, region="eu-west-1")
LIMITS = Limits(max_runtime_s=3600)


def share(first: int, count: int, lane: Lane = LANE, arn: str = "") -> Share:
    return Share(first, count, 0, (Place(lane, "s3://data/alps/", 1.0, arn),), hours=1.0, usd=1.0, limits=LIMITS)


def plan(*shares: Share, lots: tuple[Lot, ...] = (), instances: int = 1) -> Plan:
    sweep = make_sweep(train__instances=instances)
    return Plan(sweep, "market", (Dataset("alps@1", 10),), shares, lots=lots)


@pytest.mark.parametrize(
    ("lot", "instances", "taken"),
    [
        (None, 1, 6),
        (Lot(LANE, 1.0, None), 1, 6),
        (Lot(LANE, 1.0, 4), 1, 4),
        (Lot(LANE, 1.0, 40), 1, 6),
        (Lot(LANE, 1.0, 8, held=5), 1, 3),
        (Lot(LANE, 1.0, 8, held=5, used=2), 1, 2),
        (Lot(LANE, 1.0, 7), 2, 6),
        (Lot(LANE, 1.0, 7), 4, 4),
        (Lot(LANE, 1.0, None), 4, 24),
    ],
)
def test_a_plan_takes_what_its_tasks_hold_at_once_and_no_more_than_there_was(
    lot: Lot | None, instances: int, taken: int
) -> None:
    made = plan(share(0, 6), lots=(lot,) if lot else (), instances=instances)
    assert slots_taken(made, tasks_by_quota(made)) == {Quota(LANE): taken}
    assert crowded(made) == (taken < 6 * instances)


def test_each_lane_has_its_own_and_shares_of_one_lane_add_up() -> None:
    made = plan(share(0, 3), share(3, 2, OTHER), share(5, 4), lots=(Lot(LANE, 1.0, 4), Lot(OTHER, 1.0, 4)))
    assert slots_taken(made, tasks_by_quota(made)) == {Quota(LANE): 4, Quota(OTHER): 2}


def test_a_committed_lane_has_the_slots_of_each_of_its_training_plans() -> None:
    lane = replace(LANE, purchase=Purchase.COMMITTED)
    lots = (Lot(lane, 0.0, 2, arn="arn:a"), Lot(lane, 0.0, 9, arn="arn:b"))
    made = plan(share(0, 3, lane, "arn:a"), share(3, 3, lane, "arn:b"), lots=lots)
    assert slots_taken(made, tasks_by_quota(made)) == {Quota(lane, "arn:a"): 2, Quota(lane, "arn:b"): 3}
