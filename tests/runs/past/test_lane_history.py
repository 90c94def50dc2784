"""What the ledger remembers of lanes: starts, refusals that fade, interruptions; in SQLite and PostgreSQL."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.db.engine import reading
from orchestrator.runs.past import lane_history
from orchestrator.runs.past.marks import EVERY, Subject, What, forget
from orchestrator.wire.result import Cause, TaskState
from tests.runs.past.history import ELSEWHERE, HOUR, NOW, SPOT, refused, trained

if TYPE_CHECKING:
    from tests.runs.past.history import Past

KEY = ("sagemaker", "us-east-1", "ml.g5.xlarge")


def found(past: Past, what: str, now: float = NOW) -> list[tuple[Any, ...]]:
    with reading(past.ledger.engine) as connection:
        rows = getattr(lane_history, what)(connection, now)
    return list(rows.itertuples(index=False, name=None))


def forget_at(past: Past, what: What, place: str, hours_ago: float) -> None:
    moment = datetime.fromtimestamp(NOW - hours_ago * HOUR, timezone.utc)
    forget(past.ledger.engine, Subject(what, place), "anna", moment)


def test_nothing_is_known_of_lanes_that_nobody_asked(past: Past) -> None:
    assert [found(past, what) for what in ("starts", "refusals", "interruptions")] == [[], [], []]


def test_a_start_is_the_median_of_each_lane(past: Past) -> None:
    slow = trained(3, started_at=NOW - 3 * HOUR + 900)
    past.ended([trained(5)], [trained(4, started_at=NOW - 4 * HOUR + 240)], [slow], [trained(2, ELSEWHERE)])
    assert found(past, "starts") == [
        ("sagemaker", "eu-west-1", "ml.g5.xlarge", "spot", 1, 180 / HOUR),
        (*KEY, "spot", 3, 240 / HOUR),
    ]


def test_of_a_lane_the_newest_starts_count(past: Past, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lane_history, "NEWEST", 2)
    past.ended(*([trained(ago, started_at=NOW - ago * HOUR + 60 * ago)] for ago in (1, 2, 3, 4)))
    assert found(past, "starts") == [(*KEY, "spot", 2, pytest.approx(90 / HOUR))]


def test_a_lane_that_gives_machines_refuses_in_no_hour(past: Past) -> None:
    past.ended([trained(0.5, waited_s=360.0)])
    ((*_, asked, refused_in, granted, waited),) = found(past, "refusals", NOW - 1)
    assert (asked, refused_in, granted, waited) == (1.0, 0.0, 1.0, pytest.approx(0.1))


def test_an_hour_counts_once_however_many_were_refused_in_it(past: Past) -> None:
    past.ended(*([refused(0.5)] for _ in range(30)), [trained(0.5)], [trained(0.5)])
    ((*_, asked, refused_in, granted, _),) = found(past, "refusals", NOW - 1)
    assert (asked, refused_in, granted) == (1.0, pytest.approx(30 / 32), 1.0)


def test_a_refusal_fades_by_half_a_day_long_and_is_gone_after_a_week(past: Past) -> None:
    past.ended([refused(24)])
    assert [row[-4:] for row in found(past, "refusals")] == [(0.5, 0.5, 0.0, 0.0)]
    later = NOW + 24 * HOUR
    assert [row[-4:-2] for row in found(past, "refusals", later)] == [(0.25, 0.25)]
    assert found(past, "refusals", NOW + 7 * 24 * HOUR) == []


def test_a_refusal_that_took_hours_counts_in_each_of_them(past: Past) -> None:
    past.ended([refused(3, after_s=3 * HOUR)])
    ((*_, asked, refused_in, _, _),) = found(past, "refusals")
    assert asked == refused_in == pytest.approx(sum(0.5 ** (ago / 24) for ago in (0, 1, 2, 3)))


def test_who_waits_or_was_stopped_says_nothing_of_refusals(past: Past) -> None:
    waiting = replace(refused(1), state=TaskState.STARTING, cause=Cause.NONE)
    past.ended([waiting], [replace(waiting, state=TaskState.CANCELLED, cause=Cause.STOPPED)])
    assert found(past, "refusals") == []


def test_interruptions_are_counted_in_the_hours_of_instances(past: Past) -> None:
    lost = replace(trained(3), state=TaskState.FAILED, cause=Cause.INTERRUPTED)
    past.ended([lost, trained(2, number=2, instances=3, interruptions=2)])
    assert found(past, "interruptions") == [(*KEY, pytest.approx(0.5 + 1.5), 3)]


@pytest.mark.parametrize("place", [EVERY, str(SPOT)])
def test_what_was_forgotten_does_not_count_and_what_came_since_does(past: Past, place: str) -> None:
    past.ended([refused(9)], [trained(9)], [trained(2)], [trained(9, ELSEWHERE)])
    for what in (What.START, What.WAITING, What.INTERRUPTIONS):
        forget_at(past, what, place, 5)
    of_lane = [row[4] for row in found(past, "starts") if row[1] == "us-east-1"]
    assert of_lane == [1]
    elsewhere = [row for row in found(past, "starts") if row[1] == "eu-west-1"]
    assert len(elsewhere) == (place != EVERY)
    assert [row[5] for row in found(past, "refusals") if row[1] == "us-east-1"] == [0.0]
    assert found(past, "interruptions")[-1][3:] == (0.5, 0)
