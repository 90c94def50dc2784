"""Of what runs, time and cost are up to now: by the clock and the plan's prices, and marked as such."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from orchestrator.plan.facts import Lot
from orchestrator.plan.plan import Dataset, Plan, Share
from orchestrator.runs.known.rows import Known
from orchestrator.runs.views.accrued import Accrued, Meter
from orchestrator.runs.views.outlook import Seen, expect
from orchestrator.wire.result import Outcome, Result, TaskState
from orchestrator.wire.task import Lane, Limits, Place, Purchase
from tests.fixtures.sweeps import make_sweep

LANE = Lane("sagemaker", "us-east-1", "ml.g5.xlarge", Purchase.SPOT)
NOON = 1_795_000_000.0
LIMITS = Limits(100_000)


def plan(limits: Limits = LIMITS) -> Plan:
    share = Share(0, 8, 0, (Place(LANE, "s3://data/", 0.8),), 1.0, 0.5, limits)
    return Plan(make_sweep(), "market", (Dataset("alps@1", 10),), (share,), lots=(Lot(LANE, 0.5, 4),))


def meter(now: float, limits: Limits = LIMITS) -> Meter:
    return Meter(plan(limits), now)


def known(state: TaskState = TaskState.RUNNING, **facts: Any) -> Known:
    outcome = Outcome(1, LANE, "training", state, **({"started_at": NOON} | facts))
    return Known("etag", Result(7, "key", state, outcomes=(outcome,)), state)


def test_an_hour_costs_the_lanes_price_for_each_instance() -> None:
    assert meter(NOON + 3600).accrued(known()) == Accrued(3600, 0.5)
    assert meter(NOON + 3600).accrued(known(instances=4)) == Accrued(3600, 2.0)


def test_what_the_result_says_already_is_not_counted_twice() -> None:
    assert meter(NOON + 3600).accrued(known(seconds=600.0, usd=0.1)) == Accrued(3000, 0.4)


def test_an_estimate_is_never_above_what_may_be_billed() -> None:
    """Its end cannot be seen, such as while S3 is away: the platform has ended it at its limit all the same."""
    a_day = NOON + 86_400
    assert meter(a_day, Limits(3600 - 180)).accrued(known()) == Accrued(3600, 0.5)
    assert meter(a_day, Limits(3600, envelope=0.4)).accrued(known()) == Accrued(1800, 0.25)  # 0.4 at 0.8 an hour
    before = Outcome(1, LANE, "first", TaskState.FAILED, usd=0.3, started_at=NOON - 9000, ended_at=NOON - 8000)
    again = Outcome(2, LANE, "second", TaskState.RUNNING, started_at=NOON)
    second = Known("etag", Result(7, "key", TaskState.RUNNING, outcomes=(before, again)), TaskState.RUNNING)
    assert meter(a_day, Limits(3600, envelope=0.4)).accrued(second) == Accrued(
        pytest.approx(450), pytest.approx(0.0625)
    )
    expected = expect(
        plan(Limits(3600, envelope=0.4)), Seen(0.3, [second], {}), meter(NOON, Limits(3600, envelope=0.4))
    )
    assert expected.usd == pytest.approx(0.4)


def test_a_clock_that_is_behind_takes_nothing_away() -> None:
    assert meter(NOON - 60).accrued(known(seconds=600.0, usd=0.3)) == Accrued(0, 0)


@pytest.mark.parametrize("state", [state for state in TaskState if state is not TaskState.RUNNING])
def test_only_what_runs_is_estimated(state: TaskState) -> None:
    assert meter(NOON + 3600).accrued(known(state)) is None


def test_nobody_knows_of_what_has_not_said_when_it_began() -> None:
    assert meter(NOON).accrued(known(started_at=None)) is None
    assert meter(NOON).accrued(Known("etag", Result(7, "key", TaskState.RUNNING), TaskState.RUNNING)) is None


def test_what_has_lost_its_machines_costs_nothing_from_then_on() -> None:
    waits = known(lost_at=NOON + 1800)
    assert meter(NOON + 1800).accrued(waits) == meter(NOON + 7200).accrued(waits) == Accrued(1800, 0.25)


def test_of_a_task_whose_last_training_has_ended_nothing_runs() -> None:
    """Its checkpoint is brought elsewhere: the task goes on, and no training."""
    ended = Outcome(1, LANE, "training", TaskState.FAILED, started_at=NOON, ended_at=NOON + 1800, usd=0.25)
    moves = Known("etag", Result(7, "key", TaskState.RUNNING, outcomes=(ended,)), TaskState.RUNNING)
    assert meter(NOON + 7200).accrued(moves) is None


def test_what_has_no_machines_costs_nothing_an_hour() -> None:
    moves = replace(known(), result=known(TaskState.FAILED).result)
    for begun, hourly in ((known(), 0.5), (known(lost_at=NOON + 1800), 0.0), (moves, 0.0)):
        assert expect(plan(), Seen(0.0, [begun], {}), meter(NOON + 3600)).usd_per_hour == hourly


def test_all_of_them_add_up() -> None:
    assert meter(NOON + 3600).usd([known(), known(TaskState.DONE), known(started_at=NOON + 1800)]) == 0.75
