"""What starts after a task that waits does not start before it: rows say so, and bar nothing that ends in time."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from orchestrator.planner.model.choices import NO_COPY
from orchestrator.planner.model.solution import DoesNotFit
from orchestrator.planner.solver.program import Entries, Program
from orchestrator.planner.solver.slots.late_starts import add_late_starts
from tests.planner.solver.brute_force import last_end
from tests.planner.solver.problems import make_problem

MOST, HORIZON = (2, 3, 2), 9.0
LONG_AND_LATE = (4.0, 3.0)


@pytest.mark.parametrize("slots", [1, 2, 3])
@pytest.mark.parametrize("shares", [False, True])
@pytest.mark.parametrize("others", [((2.5, 0.0), (1.0, 0.0)), ((4.0, 0.0), (2.0, 1.5)), ((2.0, 3.0), (1.0, 1.5))])
def test_rows_bar_nothing_that_ends_in_time_and_most_that_does_not_in_one_slot(
    slots: int, shares: bool, others: tuple[tuple[float, float], ...]
) -> None:
    kinds = (LONG_AND_LATE, *others)
    too_late = barred = 0
    for counts in product(*(range(count + 1) for count in MOST)):
        items = [(wait, hours) for (hours, wait), count in zip(kinds, counts, strict=True) for _ in range(count)]
        in_time = not items or last_end(items, slots) <= HORIZON + 1e-9
        keeps_rows = _keeps_rows(kinds, counts, slots, shares)
        assert keeps_rows or not in_time, counts
        too_late += not in_time
        barred += not keeps_rows
    if slots == 1:
        assert barred >= too_late * 0.6


def _keeps_rows(kinds: tuple[tuple[float, float], ...], counts: tuple[int, ...], slots: int, shares: bool) -> bool:
    """Return whether a program that has only these rows may hold so many tasks of each kind in so many slots."""
    rows = [(number, 0, NO_COPY, hours, wait, 1.0) for number, (hours, wait) in enumerate(kinds)]
    problem = make_problem(list(MOST), [3.0 if shares else float(slots)], rows, horizon=HORIZON)
    width = len(kinds) + shares
    program = Program(np.zeros(width), np.full(width, 10.0), np.ones(width, dtype=bool))
    fixed = np.array([*counts, slots][:width], dtype=np.float64)
    program.add_rows(width, Entries(np.arange(width), np.arange(width), np.ones(width)), fixed, fixed)
    assert add_late_starts(program, problem, 0, len(kinds) if shares else None)
    try:
        program.solve()
    except DoesNotFit:
        return False
    return True
