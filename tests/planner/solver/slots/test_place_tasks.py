"""Whole tasks of mixed lengths are placed although nearly all slots of all lanes are needed, at about the bound."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchmarks.plans.medium import example
from orchestrator.planner.offer.formulate import formulate
from orchestrator.planner.pack.schedule import overfull_lanes
from orchestrator.planner.solver import rounding
from orchestrator.planner.solver.incremental import IncrementalProgram
from orchestrator.planner.solver.slots import place_tasks
from orchestrator.planner.solver.slots.fill_lane import fill_lane
from orchestrator.spec.goal import Goal
from tests.planner.solver.problems import random_problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.planner.solver.slots.fill_lane import LaneToFill, Way


@pytest.mark.parametrize("number", [11, pytest.param(19, marks=pytest.mark.long)])
def test_a_sweep_that_needs_nearly_all_slots_keeps_every_limit_and_is_near_its_bound(number: int) -> None:
    sweep, market = example(number)
    at_leisure = sweep.model_copy(update={"plan": Goal(horizon=sweep.plan.deadline)})  # spot needs no hours to spare
    problem = formulate(at_leisure, market).offer.problem.within(sweep.plan.hours)
    found = rounding.solve(problem)
    sent = np.bincount(problem.choices.cohort, weights=found.tasks, minlength=len(problem.counts))
    assert sent.tolist() == problem.counts.tolist()
    assert (found.tasks >= 0).all()
    assert not overfull_lanes(problem, found.tasks, found.slots)
    assert all(limit.used(found.slots) <= limit.free for limit in problem.limits)
    assert found.bound <= found.usd <= found.bound * 1.01


def test_where_any_plan_is_enough_far_fewer_ways_to_fill_lanes_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[int] = []

    def count(lane: LaneToFill, ways: Sequence[Way], number: int) -> list[int]:
        tries.append(number)
        return fill_lane(lane, ways, number)

    monkeypatch.setattr(place_tasks, "fill_lane", count)
    problem = random_problem(5, cohorts=6, lanes=6, tasks=1_200)
    looked_at = []
    for is_quick in (True, False):
        tries.clear()
        rounding.solve_whatever_copies_cost(problem, is_quick=is_quick)
        looked_at.append(sum(tries))
    assert 0 < looked_at[0] < looked_at[1] / 4


def test_a_program_takes_no_columns_that_the_solver_would_leave_out_in_silence() -> None:
    program = IncrementalProgram()
    program.add_rows(np.ones(1), np.ones(1), np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0))
    one, twice_the_row = np.ones(1), np.zeros(2, dtype=np.int64)
    with pytest.raises(ValueError, match="none of these columns"):
        program.add_columns(one, one, np.array([2]), twice_the_row, np.ones(2))
