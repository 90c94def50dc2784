"""Merges cohorts that may go to the same places into one: a far smaller problem, which costs about the same.

Its tasks are the average of theirs. It tells which copies are good, and proves nothing.
"""

from __future__ import annotations

from dataclasses import replace
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.model.choices import Choices

if TYPE_CHECKING:
    from orchestrator.planner.model.arrays import Integers
    from orchestrator.planner.model.problem import Problem


def merge_cohorts(problem: Problem, most: int) -> Problem | None:
    """Return the problem with one cohort, of average tasks, in place of all that have the same lanes and copies.

    None, if that leaves more than so many choices.
    """
    choices, first = problem.choices, problem.first_choice
    alike: dict[bytes, list[tuple[int, Integers]]] = {}
    for cohort in range(len(problem.counts)):
        rows = np.arange(first[cohort], first[cohort + 1])
        rows = rows[np.lexsort((choices.pool[rows], choices.copy[rows], choices.lane[rows]))]
        places = np.concatenate([choices.lane[rows], choices.copy[rows], choices.pool[rows]])
        alike.setdefault(blake2b(places.tobytes()).digest(), []).append((cohort, rows))
    groups = list(alike.values())
    if sum(len(members[0][1]) for members in groups) > most:
        return None
    counts = [sum(int(problem.counts[cohort]) for cohort, _ in members) for members in groups]
    parts = [_average(problem, number, members) for number, members in enumerate(groups)]
    merged = replace(problem, counts=np.array(counts), choices=Choices.join(parts))
    # How full a slot gets depends on the tasks as they are.
    merged.__dict__["busy_hours"] = problem.busy_hours
    return merged


def _average(problem: Problem, number: int, members: list[tuple[int, Integers]]) -> Choices:
    """Return the choices of the average task of these cohorts, cheapest first."""
    rows = np.stack([its for _, its in members])
    counts = problem.counts[[cohort for cohort, _ in members]].astype(np.float64)
    shares = counts / counts.sum()
    choices = problem.choices
    means = {
        name: shares @ getattr(choices, name)[rows]
        for name in ("hours", "usd", "promise", "draw", "average", "unpaid", "part")
    }
    by_usd = np.argsort(means["usd"], kind="stable")
    one = replace(choices.take(rows[0]), wait=choices.wait[rows].min(axis=0), **means)
    return replace(one, cohort=np.full(len(by_usd), number)).take(by_usd)
