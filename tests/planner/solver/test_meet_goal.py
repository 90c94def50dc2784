"""The fastest solution is looked for among any solutions, and made as cheap as can be once it is found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.planner.model.time_limit import TimeLimit
from orchestrator.planner.solver import meet_goal
from orchestrator.planner.solver.meet_goal import TOLERANCE, fastest
from orchestrator.planner.solver.optimise import optimise
from tests.planner.solver.problems import make_problem

if TYPE_CHECKING:
    import pytest

    from orchestrator.planner.model.problem import Problem
    from orchestrator.planner.model.solution import Solution


def test_cheapest_plans_are_made_of_few_of_the_hours_that_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[float] = []

    def count(problem: Problem, time_limit: TimeLimit | None = None) -> Solution:
        asked.append(problem.horizon)
        return optimise(problem, time_limit)

    monkeypatch.setattr(meet_goal, "optimise", count)
    rows = [(0, 0, -1, 1.0, 0.0, 1.0), (0, 1, -1, 1.5, 0.0, 2.0), (0, 2, -1, 1.0, 0.0, 5.0)]
    found = fastest(make_problem([40], [4.0, 3.0, 1.0], rows, horizon=100.0), 100.0, TimeLimit())
    # In six hours, 24 + 12 + 6 tasks could run: one that is not of the dearest would be two of these.
    assert found.tasks.tolist() == [24, 12, 4]
    assert found.problem.horizon <= 6 * TOLERANCE
    assert len(asked) == 2, "what the longest task takes, and what is found in the end"
