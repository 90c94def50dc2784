"""What a run has cost: by lane, for what was really paid."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.runs.known.rows import Known
from orchestrator.runs.views.costs import CostRow, cost_rows
from orchestrator.wire.result import Cause, Outcome, Result, TaskState
from orchestrator.wire.task import Lane, Purchase

LANE = Lane("sagemaker", "us-east-1", "ml.g5.xlarge", Purchase.SPOT)
ELSEWHERE = replace(LANE, platform="elsewhere")


def known(task: int, *outcomes: Outcome) -> Known:
    return Known("etag", Result(task, "key", TaskState.DONE, outcomes=outcomes), TaskState.DONE)


def test_each_lane_of_each_platform_has_a_row_with_the_hours_of_all_instances() -> None:
    hour = Outcome(1, LANE, "t", TaskState.DONE, seconds=7200, billable_s=3600, usd=0.5)
    rows = cost_rows(
        [
            known(0, hour, replace(hour, number=2, instances=4, usd=2.0)),
            known(1, hour),
            known(2, replace(hour, lane=ELSEWHERE, usd=0.1)),
        ]
    )
    assert rows == [
        CostRow("elsewhere", "us-east-1", "ml.g5.xlarge", "spot", 1, 1.0, 0.1),
        CostRow("sagemaker", "us-east-1", "ml.g5.xlarge", "spot", 2, 6.0, pytest.approx(3.0)),
    ]


def test_a_checkpoint_that_was_brought_elsewhere_counts_where_it_came_from() -> None:
    left = Outcome(1, LANE, "t", TaskState.FAILED, billable_s=3600, usd=0.5, moved_usd=0.02)
    there = Outcome(2, ELSEWHERE, "t", TaskState.DONE, billable_s=3600, usd=0.25)
    told = known(0, left, there)
    assert cost_rows([told]) == [
        CostRow("elsewhere", "us-east-1", "ml.g5.xlarge", "spot", 1, 1.0, 0.25),
        CostRow("sagemaker", "us-east-1", "ml.g5.xlarge", "spot", 1, 1.0, pytest.approx(0.52), 0.02),
    ]
    assert told.result.usd == pytest.approx(0.77)


def test_each_zone_that_gave_machines_has_a_row_and_those_that_refused_have_none() -> None:
    hour = Outcome(2, LANE, "t", TaskState.DONE, billable_s=3600, usd=0.5, site="b")
    none = Outcome(1, LANE, "t", TaskState.FAILED, Cause.CAPACITY, site="a")
    dear = replace(hour, number=1, site="c", usd=0.75)
    rows = cost_rows([known(0, none, hour), known(1, dear)])
    assert [(one.site, one.tasks, one.usd) for one in rows] == [("b", 1, 0.5), ("c", 1, 0.75)]
    assert [(one.site, one.usd) for one in cost_rows([known(0, none)])] == [("a", 0.0)]
