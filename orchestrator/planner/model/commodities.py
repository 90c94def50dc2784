"""Cohorts that cost the same in proportion, wherever they go: for a relaxation they are one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from orchestrator.planner.model.arrays import Floats, Integers
    from orchestrator.planner.model.problem import Problem


@dataclass(frozen=True)
class Commodity:
    """Cohorts whose hours and costs are in the same proportion everywhere."""

    rows: Integers
    """The choices of its first cohort, by lane."""
    members: tuple[tuple[int, Integers], ...]
    """Each cohort with its choices in the same order, longest tasks first."""
    promise: Floats
    """The least that is promised at each of these choices for as much of it as one task of its first cohort is."""
    weight: float
    """All its tasks together, in tasks of the first cohort."""


def commodities(problem: Problem) -> list[Commodity]:
    choices, first = problem.choices, problem.first
    found: dict[bytes, list[tuple[float, int, Integers]]] = {}
    for cohort in range(len(problem.counts)):
        rows = np.arange(first[cohort], first[cohort + 1])
        rows = rows[np.argsort(choices.lane[rows], kind="stable")]
        length = float(choices.hours[rows[0]])
        facts = [choices.hours[rows] / length, choices.usd[rows] / length, choices.draw[rows] / length]
        same = np.concatenate([choices.lane[rows], choices.copy[rows], choices.pool[rows]]).tobytes()
        key = same + b"".join(np.float32(fact).tobytes() for fact in facts)
        found.setdefault(key, []).append((-length, cohort, rows))
    return [_commodity(problem, sorted(members, key=lambda member: member[:2])) for members in found.values()]


def _commodity(problem: Problem, members: list[tuple[float, int, Integers]]) -> Commodity:
    longest, promise = members[0][0], problem.choices.promise
    return Commodity(
        promise=np.min([promise[rows] * (longest / length) for length, _, rows in members], axis=0),
        rows=members[0][2],
        members=tuple((cohort, rows) for _, cohort, rows in members),
        weight=sum(length / longest * float(problem.counts[cohort]) for length, cohort, _ in members),
    )
