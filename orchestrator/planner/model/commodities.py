"""Commodities: cohorts whose hours and costs are in proportion wherever they go. To a relaxation they are one.

With a budget, their promises are in proportion as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.model.choices import NO_COPY

if TYPE_CHECKING:
    from orchestrator.planner.model.arrays import Floats, Integers
    from orchestrator.planner.model.problem import Problem


@dataclass(frozen=True)
class Commodity:
    """Cohorts whose hours and costs are in the same proportion everywhere. The longest cohort's task is its unit."""

    rows: Integers
    """The choices of the longest cohort, by lane."""
    members: tuple[tuple[int, Integers], ...]
    """Each cohort with its choices, in the order of `rows`. The cohort with the longest tasks comes first."""
    promise: Floats
    """The smallest promise ($) of any cohort at each of these choices, for one unit of work."""
    wait: Floats
    """The shortest wait of any cohort at each of these choices."""
    slot_part: Floats
    """The smallest part of a slot that any cohort takes at each of these choices, for one unit of work."""
    weight: float
    """The work of all tasks, in units."""


def commodities(problem: Problem) -> list[Commodity]:
    """Return the problem's cohorts as commodities; a cohort that is like no other is one by itself."""
    choices, first = problem.choices, problem.first_choice
    by_lane = np.lexsort((choices.lane, choices.cohort))
    where, amounts = [choices.lane], [choices.hours, choices.usd]
    if (choices.copy != NO_COPY).any():
        where.append(choices.copy)
    if len(problem.pools):
        where.append(choices.pool)
        amounts.append(choices.draw)
    if np.isfinite(problem.budget):
        amounts.append(choices.promise)
    found: dict[bytes, list[tuple[float, int, Integers]]] = {}
    for cohort in range(len(problem.counts)):
        rows = by_lane[first[cohort] : first[cohort + 1]]
        length = float(choices.hours[rows[0]])
        key = blake2b()
        for numbers in where:
            key.update(numbers[rows].data)
        for each in amounts:
            key.update((each[rows] / length).astype(np.float32).data)
        found.setdefault(key.digest(), []).append((-length, cohort, rows))
    return [_commodity(problem, sorted(members, key=lambda member: member[:2])) for members in found.values()]


def _commodity(problem: Problem, members: list[tuple[float, int, Integers]]) -> Commodity:
    longest, promise = members[0][0], problem.choices.promise
    return Commodity(
        promise=np.min([promise[rows] * (longest / length) for length, _, rows in members], axis=0),
        slot_part=np.min([problem.slot_parts[rows] * (longest / length) for length, _, rows in members], axis=0),
        wait=np.min([problem.choices.wait[rows] for _, _, rows in members], axis=0),
        rows=members[0][2],
        members=tuple((cohort, rows) for _, cohort, rows in members),
        weight=sum(length / longest * float(problem.counts[cohort]) for length, cohort, _ in members),
    )
