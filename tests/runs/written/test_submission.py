"""What is sent together, in which order, and that it means the same to everybody who reads it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.errors import NewerVersion
from orchestrator.plan.facts import Lot
from orchestrator.plan.plan import Dataset, Plan, Share
from orchestrator.plan.slots import LotKey
from orchestrator.runs.written.submission import WITH_PLAN, Part, Submission, everything, parts
from orchestrator.wire.ranges import Ranges
from orchestrator.wire.stored import VERSION
from orchestrator.wire.task import Lane, Limits, Place, Purchase
from tests.fixtures.sweeps import make_sweep

LANES = [Lane("sagemaker", region, "ml.g5.xlarge", Purchase.SPOT) for region in ("us-east-1", "eu-west-1")]
ROOM, NO_ROOM = 1000, 2


def plan(*shares: tuple[int, int, float] | tuple[int, int, float, int], used: int | None = ROOM) -> Plan:
    """Shares of (tasks, lane, hours of one), and instances of one if they are several."""
    made, first = [], 0
    for count, lane, hours, *instances in shares:
        place = Place(LANES[lane], "s3://data/alps/", 1.0, instances=sum(instances) or 1)
        made.append(Share(first, count, 0, (place,), hours, usd=1.0, limits=Limits(3600)))
        first += count
    lots = tuple(Lot(lane, 1.0, {"own": 1}, used=used) for lane in LANES)
    return Plan(make_sweep(), "market", (Dataset("alps@1", 10),), tuple(made), lots=lots)


def test_what_fits_at_once_is_sent_together_longest_task_first() -> None:
    made = plan((3, 0, 1.0), (2, 1, 5.0), (4, 0, 5.0), (1, 1, 2.0))
    assert everything(made).parts == (Part(Ranges(((3, 10), (0, 3)))),)


def test_what_does_not_fit_is_sent_lane_by_lane_longest_task_first() -> None:
    made = plan((3, 0, 1.0), (2, 1, 5.0), (4, 0, 5.0), (1, 1, 2.0), used=NO_ROOM)
    assert everything(made).parts == (
        Part(Ranges(((3, 5), (9, 10))), LotKey(LANES[1])),
        Part(Ranges(((5, 9), (0, 3))), LotKey(LANES[0])),
    )


def test_tasks_of_one_lane_that_wait_for_different_numbers_of_instances_are_apart() -> None:
    made = plan((3, 0, 1.0), (2, 0, 5.0, 4), (1, 0, 2.0), used=NO_ROOM)
    submission = everything(made)
    assert submission.parts == (
        Part(Ranges(((5, 6), (0, 3))), LotKey(LANES[0])),
        Part(Ranges(((3, 5),)), LotKey(LANES[0]), instances=4),
    )
    assert [array.instances for array in submission.arrays("run")] == [1, 4]
    assert Submission.from_json(submission.to_json()) == submission


def test_a_submission_of_a_newer_sweep_is_refused() -> None:
    body = everything(plan((3, 0, 1.0))).to_json()
    assert body["version"] == VERSION
    with pytest.raises(NewerVersion, match="this submission has version 3, and this sweep reads versions up to 2"):
        Submission.from_json(body | {"version": WITH_PLAN + 1})


def test_lanes_without_a_known_quota_never_fill_up() -> None:
    assert [part.lot for part in everything(plan((5000, 0, 1.0), used=None)).parts] == [None]


def test_some_tasks_go_the_way_that_all_of_them_go() -> None:
    made = plan((3, 0, 1.0), (2, 1, 5.0), (4, 0, 5.0), used=NO_ROOM)
    assert parts(made, Ranges.of([1, 4, 6, 8])) == (
        Part(Ranges(((4, 5),)), LotKey(LANES[1])),
        Part(Ranges(((6, 7), (8, 9), (1, 2))), LotKey(LANES[0])),
    )


def test_an_array_a_lane_and_every_ten_thousand_tasks_in_the_same_order() -> None:
    arrays = everything(plan((15_000, 0, 1.0), (3, 1, 2.0), (1, 0, 9.0), used=NO_ROOM)).arrays("run")
    assert [(array.name, str(array.tasks)) for array in arrays] == [
        ("run-s1-a1", "15000-15002"),
        ("run-s1-a2", "15003,0-7498"),
        ("run-s1-a3", "7499-14999"),
    ]


SHARES = st.lists(st.tuples(st.integers(1, 30), st.integers(0, 1), st.sampled_from([0.5, 1.0, 2.0])), min_size=1)


@given(SHARES, st.sampled_from([ROOM, NO_ROOM, None]))
def test_whatever_the_plan_each_task_is_sent_once_and_none_before_a_longer_one(
    shares: list[tuple[int, int, float]], used: int | None
) -> None:
    made = plan(*shares, used=used)
    submission = everything(made)
    for part in submission.parts:
        hours = [made.share(task).hours for task in part.tasks]
        assert hours == sorted(hours, reverse=True)
    assert sorted(task for part in submission.parts for task in part.tasks) == list(range(made.tasks))
    assert submission.tasks == Ranges(((0, made.tasks),))
    assert Submission.from_json(submission.to_json()) == submission
