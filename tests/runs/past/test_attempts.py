"""What the attempts of a result say of their lanes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.runs.past.attempts import rows_of_attempts, waits_of
from orchestrator.wire.result import Cause, Outcome, Result, TaskState
from tests.runs.past.history import ELSEWHERE, NOW, SPOT, refused, trained


def rows(*outcomes: Outcome) -> list[dict[str, object]]:
    return list(rows_of_attempts("run", Result(0, "key", TaskState.DONE, outcomes=outcomes)))


def test_a_task_that_never_began_says_nothing() -> None:
    assert rows() == []


def test_a_start_is_what_was_neither_waited_nor_trained() -> None:
    one = trained(1, waited_s=60.0, freed_at=NOW - 3600 + 2000)
    assert rows(one)[0]["start_s"] == (180 - 60) + 20


def test_what_is_between_start_and_end_belongs_to_the_hours() -> None:
    assert rows(trained(1, seconds=100.0))[0]["start_s"] == 180.0


@pytest.mark.parametrize("unknown", ["requested_at", "started_at", "ended_at"])
def test_where_a_moment_is_not_known_nothing_is_said_of_the_start(unknown: str) -> None:
    (row,) = rows(trained(1, **{unknown: None}))
    assert row["start_s"] is None
    assert (row["hour"] is None) == (unknown == "requested_at")


def test_what_still_runs_says_nothing_of_its_end() -> None:
    assert rows(replace(trained(1), state=TaskState.RUNNING))[0]["start_s"] is None


def test_a_refused_attempt_waits_until_its_lane_is_asked_again() -> None:
    first, second, done = rows(refused(1), refused(0.5, number=2), trained(0.25, number=3))
    assert [row["waited_s"] for row in (first, second, done)] == [1800.0, 900.0, 0.0]
    assert [row["cause"] for row in (first, done)] == ["capacity", ""]


def test_a_refused_attempt_that_goes_elsewhere_has_waited_until_its_end() -> None:
    (first, _) = rows(refused(1, after_s=30.0), trained(0.5, ELSEWHERE, number=2))
    assert first["waited_s"] == 30.0


def test_a_training_whose_time_for_waiting_is_over_after_it_has_trained_was_not_refused() -> None:
    stopped = replace(trained(1), state=TaskState.FAILED, cause=Cause.CAPACITY)
    assert rows(stopped, trained(0.1, SPOT, number=2))[0]["waited_s"] == 0.0


def in_zone(outcome: Outcome, zone: str) -> Outcome:
    return replace(outcome, site=zone)


def test_a_lane_whose_next_zone_gives_machines_has_not_refused_and_its_training_has_waited() -> None:
    first, second, done = rows(
        in_zone(refused(1), "a"), in_zone(refused(0.9, number=2), "b"), in_zone(trained(0.75, number=3), "c")
    )
    assert [row["cause"] for row in (first, second, done)] == ["", "", ""]
    assert [row["waited_s"] for row in (first, second, done)] == [0.0, 0.0, pytest.approx(900)]
    assert done["start_s"] == 180.0


def test_a_lane_has_refused_once_for_each_round_through_its_zones() -> None:
    asked = [("a", 1.0), ("b", 0.9), ("a", 0.5), ("b", 0.4)]
    outcomes = [in_zone(refused(ago, number=number), zone) for number, (zone, ago) in enumerate(asked, 1)]
    found = rows(*outcomes, in_zone(trained(0.25, number=5), "a"))
    assert [row["cause"] for row in found] == ["", "capacity", "", "capacity", ""]
    assert [row["waited_s"] for row in found] == pytest.approx([0, 1800, 0, 900, 0])
    assert waits_of(outcomes) == pytest.approx(1800 + 360 + 1)


def test_a_task_that_leaves_for_another_region_has_waited_for_all_zones() -> None:
    found = rows(
        in_zone(refused(1), "a"), in_zone(refused(0.9, number=2, after_s=5), "b"), trained(0.5, ELSEWHERE, number=3)
    )
    assert [row["cause"] for row in found] == ["", "capacity", ""]
    assert [row["waited_s"] for row in found] == pytest.approx([0, 365, 0])
    assert found[1]["requested_at"] == NOW - 3600
