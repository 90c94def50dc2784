"""The rivals that need no solver: each task to what is cheapest there and then, as long as slots are left.

They are let off lightly: a slot's hours are a fluid to them, and a copy's data is there at once.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.model.choices import NO_COPY

if TYPE_CHECKING:
    from collections.abc import Iterable

    from orchestrator.planner.model.problem import Problem


def best(problem: Problem) -> tuple[float, int]:
    """$ of the best of three greedy ways, and how many tasks it leaves over: the fewest, then the cheapest."""
    ways = (_as_they_come(problem), _by_regret(problem), _cheapest_first(problem))
    left, usd = min(_filled(problem, rows) for rows in ways)
    return usd, left


def _as_they_come(problem: Problem) -> Iterable[int]:
    """Cohort by cohort; each tries its cheapest choices first."""
    return range(len(problem.choices))


def _by_regret(problem: Problem) -> Iterable[int]:
    """First the cohorts whose second best is so much dearer than their best."""
    usd, first = problem.choices.usd, problem.first_choice
    regret = [usd[min(start + 1, stop - 1)] / usd[start] for start, stop in pairwise(first)]
    for cohort in np.argsort(-np.array(regret), kind="stable").tolist():
        yield from range(first[cohort], first[cohort + 1])


def _cheapest_first(problem: Problem) -> Iterable[int]:
    """Whatever choice is cheapest beside its cohort's cheapest hour."""
    usd = problem.choices.usd / problem.choices.usd[problem.first_choice[problem.choices.cohort]]
    yield from np.argsort(usd, kind="stable").tolist()


def _filled(problem: Problem, rows: Iterable[int]) -> tuple[int, float]:
    choices = problem.choices
    left, hours = problem.counts.copy(), problem.most_slots * problem.busy_hours
    made: set[int] = set()
    usd = 0.0
    for row in rows:
        cohort, lane, copy = int(choices.cohort[row]), choices.lane[row], int(choices.copy[row])
        some = int(min(left[cohort], hours[lane] / choices.hours[row] + 1e-9))
        if some == 0:
            continue
        if copy != NO_COPY and copy not in made:
            made.add(copy)
            usd += float(problem.charges[copy])
        left[cohort] -= some
        hours[lane] -= some * choices.hours[row]
        usd += some * float(choices.usd[row])
    return int(left.sum()), usd
