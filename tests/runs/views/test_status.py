"""How a run stands, and what is to be expected of it, from the database and the time alone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.cli.views.status import StatusView
from orchestrator.db.database import Database
from orchestrator.plan.copy import Copy
from orchestrator.plan.facts import Lot
from orchestrator.plan.plan import Dataset, Plan, Share
from orchestrator.runs.cloud import Account
from orchestrator.runs.known.ledger import Ledger
from orchestrator.runs.known.rows import Known
from orchestrator.runs.views.status import Status, run_status
from orchestrator.runs.written.anchor import Anchor
from orchestrator.wire.result import Outcome, Result, TaskState
from orchestrator.wire.task import Lane, Limits, Place, Purchase
from tests.fixtures.sweeps import make_sweep

if TYPE_CHECKING:
    from collections.abc import Callable

ACCOUNT = Account("us-east-1", "control", "data-{region}", "sweep", "sweep", "role", "ada", 30.0)
IRELAND = Lane("sagemaker", "eu-west-1", "ml.g5.xlarge", Purchase.SPOT)
OHIO = Lane("sagemaker", "us-east-2", "ml.g5.xlarge", Purchase.ON_DEMAND)
ELSEWHERE = Lane("sagemaker", "ap-south-1", "ml.g5.xlarge", Purchase.ON_DEMAND)
NOON = 1_795_000_000.0
HOUR = 3600.0
PENDING, RUNNING, DONE, CANCELLED = TaskState.PENDING, TaskState.RUNNING, TaskState.DONE, TaskState.CANCELLED


@pytest.fixture
def standing(database_url: str) -> Callable[..., Status]:
    """Returns the status at an hour after noon of a run of 4 tasks in Ireland, two at once, and 2 in Ohio."""

    def look(*known: Known, at: float = 0.0, copies: tuple[Copy, ...] = ()) -> Status:
        places = [Place(lane, "s3://data/alps/", 2.0) for lane in (IRELAND, OHIO)]
        shares = (
            Share(0, 4, 0, (places[0],), 2.0, 1.0, Limits(3600, envelope=5.0)),
            Share(4, 2, 0, (places[1],), 3.0, 6.0, Limits(3600, envelope=10.0)),
        )
        lots = (Lot(IRELAND, 0.5, {}, used=2), Lot(OHIO, 2.0, {}))
        plan = Plan(make_sweep(), "market", (Dataset("alps@1", 10),), shares, lots=lots, copies=copies)
        ledger = Ledger(Database(database_url))
        ledger.remember(Anchor("run", plan, "code", "ada", NOON), ACCOUNT)
        ledger.save("run", known)
        return run_status(Anchor("run", plan, "code", "ada", NOON), ledger, NOON + at * HOUR)

    return look


def task(number: int, state: TaskState, lane: Lane = IRELAND, **facts: Any) -> Known:
    outcome = Outcome(1, lane, f"t-{number}", state, **({"started_at": NOON} | facts))
    return Known("etag", Result(number, "key", state, outcomes=(outcome,)), state)


def never_begun(number: int, state: TaskState) -> Known:
    return Known("etag", Result(number, "key", state), state)


def test_every_task_is_in_the_row_of_one_region(standing: Callable[..., Status]) -> None:
    status = standing(task(0, DONE), task(1, RUNNING, OHIO), never_begun(2, CANCELLED), never_begun(5, CANCELLED))
    assert status.counts == {**dict.fromkeys(TaskState, 0), PENDING: 2, RUNNING: 1, DONE: 1, CANCELLED: 2}
    rows = {region: {state: n for state, n in row.items() if n} for region, row in status.regions.items()}
    assert rows == {
        "eu-west-1": {DONE: 1, CANCELLED: 1, PENDING: 1},
        "us-east-2": {RUNNING: 1, CANCELLED: 1, PENDING: 1},
    }


def test_what_has_no_machines_just_now_is_told_apart_of_what_runs(standing: Callable[..., Status]) -> None:
    moves = task(0, TaskState.FAILED, ended_at=NOON + 60)
    moves = replace(
        moves, state=RUNNING, result=replace(moves.result, state=RUNNING, reason="its checkpoint is brought")
    )
    status = standing(moves, task(1, RUNNING, lost_at=NOON + 1800), task(2, RUNNING), at=1.0)
    assert (status.counts[RUNNING], status.moving, status.waiting) == (3, 1, 1)
    assert str(StatusView.of(status)).startswith(
        "run: 0/6 done, 3 running (1 moving, 1 waiting for machines), 3 pending"
    )
    ended = standing(*(task(number, DONE) for number in range(6)))
    assert (ended.moving, ended.waiting) == (0, 0)


def test_what_waits_takes_turns_in_the_slots_of_its_lane(standing: Callable[..., Status]) -> None:
    outlook = standing().outlook
    assert outlook is not None
    assert outlook.ends_at == NOON + 4 * HOUR  # four tasks of two hours, two at once; Ohio's two of three side by side
    assert (outlook.usd_per_hour, outlook.usd, outlook.most_usd) == (0.0, 4 * 1 + 2 * 6, 4 * 5 + 2 * 10)


def test_what_runs_is_paid_by_the_hour_and_has_less_before_it(standing: Callable[..., Status]) -> None:
    status = standing(*(task(number, RUNNING) for number in (0, 1)), task(4, DONE, OHIO, usd=7.0), at=1)
    assert status.outlook is not None
    assert status.running_usd == 2 * 0.5
    assert status.outlook.usd_per_hour == 2 * 0.5
    assert status.outlook.usd == 7 + 4 * 1 + 6  # one was dearer than planned
    assert status.outlook.ends_at == NOON + HOUR + 3 * HOUR  # Ireland has an hour twice, and two hours twice


def test_a_price_that_nobody_knows_is_named_and_in_no_sum(standing: Callable[..., Status]) -> None:
    outlook = standing(task(0, RUNNING, ELSEWHERE), at=1).outlook
    assert outlook is not None
    assert (outlook.unpriced, outlook.usd_per_hour) == (1, 0.0)


def test_copies_are_part_of_what_it_costs_in_all(standing: Callable[..., Status]) -> None:
    copies = (Copy(0, "eu-west-1", "us-east-2", "s3://a/", "s3://b/", usd=3.0, hours=0.1),)
    outlook = standing(copies=copies).outlook
    assert outlook is not None
    assert (outlook.usd, outlook.most_usd) == (16 + 3, 40 + 3)


def test_nothing_is_expected_of_what_has_ended(standing: Callable[..., Status]) -> None:
    assert standing(*(task(number, DONE) for number in range(6))).outlook is None
