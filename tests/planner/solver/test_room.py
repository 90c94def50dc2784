"""Tasks without room are refused at once, and only those: data and dollars do not count."""

from __future__ import annotations

from math import inf

import pytest

from orchestrator.planner.model.solution import DoesNotFit
from orchestrator.planner.model.time_limit import TimeLimit
from orchestrator.planner.solver.room import check_room
from tests.planner.solver.problems import make_problem

ROWS = [(0, 0, -1, 2.0, 0.0, 1.0), (0, 1, 0, 4.0, 0.0, 9.0), (1, 0, -1, 5.0, 0.0, 1.0)]


def test_hours_on_all_lanes_that_copies_can_reach_are_room() -> None:
    check_room(make_problem([13, 2], [2.0, 4.0], ROWS, charges=[1e9], budget=1.0), TimeLimit())


@pytest.mark.parametrize(("counts", "slots"), [([16, 2], [2.0, 2.0]), ([1, 5], [2.0, inf])])
def test_more_hours_than_all_lanes_have_are_none(counts: list[int], slots: list[float]) -> None:
    with pytest.raises(DoesNotFit):
        check_room(make_problem(counts, slots, ROWS, charges=[1.0]), TimeLimit())
