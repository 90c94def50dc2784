"""Tasks that wait for their data have only what is left of their slots: the bound knows it."""

from __future__ import annotations

import numpy as np
import pytest

from orchestrator.planner.model.choices import NO_COPY
from orchestrator.planner.model.time_limit import TimeLimit
from orchestrator.planner.pack.play import Load, fits
from orchestrator.planner.solver import exact, rounding
from orchestrator.planner.solver.copies.decide_copies import decide_copies
from orchestrator.planner.solver.slots.windows import find_windows
from tests.planner.solver.problems import make_problem


def test_of_tasks_whose_data_comes_late_the_bound_counts_no_more_than_fit_before_the_end() -> None:
    late, at_home = (0, 1, 0, 1.0, 8.0, 1.0), (0, 0, NO_COPY, 1.0, 0.0, 10.0)
    problem = make_problem([4, 1], [5.0, 1.0], [late, at_home, (1, 1, NO_COPY, 1.0, 0.0, 1.0)], charges=[0.5])
    usd = 2 * 1.0 + 2 * 10.0 + 1.0 + 0.5  # two of four end within the two hours that are left
    assert decide_copies(problem, TimeLimit())[0].proof.bound == pytest.approx(usd)
    assert rounding.solve(problem).usd == pytest.approx(usd)
    found, bound = exact.solve(problem)
    assert found is not None
    assert (found.usd, bound) == (pytest.approx(usd), pytest.approx(usd))


@pytest.mark.parametrize("seed", range(5))
def test_whatever_ends_in_time_fits_into_all_windows(seed: int) -> None:
    random = np.random.default_rng(seed)
    kinds, slots, until, played = 6, 3, 20.0, 0
    wait, hours = random.choice([0.0, 2.0, 5.0, 11.0], kinds), random.uniform(1, 6, kinds)
    windows = find_windows(np.zeros(kinds, dtype=np.int64), wait, np.array([until]), most=3)
    assert windows.lane.tolist() == [0] * (len(set(wait.tolist())) - 1)
    for _ in range(400):
        counts = random.integers(0, 4, kinds)
        if fits(slots, until, [Load(*each) for each in zip(hours, wait, counts.tolist(), strict=True)]):
            played += 1
            work = (hours * counts)[windows.row]
            used = np.bincount(windows.window, weights=work, minlength=len(windows.lane))
            assert (used <= slots * windows.hours).all()
    assert played > 10
