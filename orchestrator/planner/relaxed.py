"""Large problems: the linear relaxation, then copies, then whole tasks, then what is left over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.problem import NO_COPY, DoesNotFit, Solution
from orchestrator.planner.program import Effort, Entries, Program, numbered
from orchestrator.planner.repair import repaired

if TYPE_CHECKING:
    from orchestrator.planner.problem import Floats, Integers, Problem

PRUNED = 0.02
"""Choices whose reduced cost is a larger part of their cohort's cheapest are not looked at again."""
COPIES = Effort(gap=2e-4, nodes=500)
ROOM = (1.0, 0.99, 0.97, 0.9)
"""Parts of each lane that the relaxation may fill; less, when roundings left over more than the rest could take."""


@dataclass(frozen=True)
class Commodity:
    """Cohorts whose hours and costs are in the same proportion everywhere."""

    rows: Integers
    """The choices of its first cohort, by lane."""
    members: tuple[tuple[int, Integers], ...]
    """Each cohort with its choices in the same order, longest tasks first."""
    weight: float
    """All its tasks together, in tasks of the first cohort."""


def solve(problem: Problem) -> Solution:
    bound: float | None = None
    groups = commodities(problem)
    for room in ROOM:
        flow, proven = _flow(problem, groups, room)
        bound = proven if bound is None else bound
        if (found := repaired(problem, _whole_tasks(problem, groups, flow), bound)) is not None:
            return found
    raise DoesNotFit


def commodities(problem: Problem) -> list[Commodity]:
    choices, first = problem.choices, problem.first
    found: dict[bytes, list[tuple[float, int, Integers]]] = {}
    for cohort in range(len(problem.counts)):
        rows = np.arange(first[cohort], first[cohort + 1])
        rows = rows[np.argsort(choices.lane[rows], kind="stable")]
        length = float(choices.hours[rows[0]])
        facts = [choices.hours[rows] / length, choices.usd[rows] / length]
        if np.isfinite(problem.budget):
            facts.append(choices.promise[rows] / length)
        same = np.concatenate([choices.lane[rows], choices.copy[rows]]).tobytes()
        key = same + b"".join(np.float32(fact).tobytes() for fact in facts)
        found.setdefault(key, []).append((-length, cohort, rows))
    return [_commodity(problem, sorted(members, key=lambda member: member[:2])) for members in found.values()]


def _commodity(problem: Problem, members: list[tuple[float, int, Integers]]) -> Commodity:
    longest = members[0][0]
    return Commodity(
        rows=members[0][2],
        members=tuple((cohort, rows) for _, cohort, rows in members),
        weight=sum(length / longest * float(problem.counts[cohort]) for length, cohort, _ in members),
    )


def _flow(problem: Problem, groups: list[Commodity], room: float) -> tuple[Floats, float]:
    """The part of its commodity that each choice takes, and the bound on the cost."""
    rows = np.concatenate([group.rows for group in groups])
    group_of = np.repeat(np.arange(len(groups)), [len(group.rows) for group in groups])
    weight = np.array([group.weight for group in groups])[group_of]
    answer = _program(problem, (rows, group_of, weight), room, copies=False).solve()
    values = answer.values[: len(rows)]
    if len(problem.charges):
        cheapest = np.full(len(groups), np.inf)
        usd = problem.choices.usd[rows] * weight
        np.minimum.at(cheapest, group_of, usd)
        kept = (values > 0) | (answer.reduced[: len(rows)] <= PRUNED * cheapest[group_of])
        program = _program(problem, (rows[kept], group_of[kept], weight[kept]), room, copies=True)
        values = np.zeros(len(rows))
        values[kept] = program.solve(COPIES).values[: int(kept.sum())]
    return values, answer.usd


def _program(problem: Problem, columns: tuple[Integers, Integers, Floats], room: float, *, copies: bool) -> Program:
    """Columns: for each choice its part of its commodity, then the copies: whole ones, or parts of them."""
    rows, group_of, weight = columns
    choices, here, made = problem.choices, len(columns[0]), len(problem.charges)
    usd = np.concatenate([choices.usd[rows] * weight, problem.charges])
    program = Program(usd, np.ones(here + made), np.repeat([False, copies], [here, made]))
    every = np.arange(here)
    program.rows(int(group_of.max()) + 1, Entries(group_of, every, np.ones(here)), 1.0, 1.0)
    limited = np.flatnonzero(np.isfinite(problem.most[choices.lane[rows]]))
    lanes, lane = numbered(choices.lane[rows][limited])
    hours = (problem.most * problem.fullest)[choices.lane[rows][limited]]
    load = choices.hours[rows][limited] * weight[limited] / np.maximum(hours, 1e-9)
    program.rows(lanes, Entries(lane, limited, load), -np.inf, room)
    needing = np.flatnonzero(choices.copy[rows] != NO_COPY)
    keys = group_of[needing] * made + choices.copy[rows][needing]
    links, link = numbered(keys)
    program.rows(
        links,
        Entries(
            np.concatenate([link, np.arange(links)]),
            np.concatenate([needing, here + np.unique(keys) % max(made, 1)]),
            np.repeat([1.0, -1.0], [len(needing), links]),
        ),
        -np.inf,
        0.0,
    )
    if np.isfinite(problem.budget):
        spent = np.concatenate([choices.promise[rows] * weight, problem.charges]) / problem.budget
        program.rows(1, Entries(np.zeros(here + made, dtype=np.int64), np.arange(here + made), spent), -np.inf, 1.0)
    return program


def _whole_tasks(problem: Problem, groups: list[Commodity], flow: Floats) -> Integers:
    """Tasks of each choice, some of which are left over."""
    tasks = np.zeros(len(problem.choices), dtype=np.int64)
    start = 0
    for group in groups:
        stop = start + len(group.rows)
        _round_down(problem, group, flow[start:stop] * group.weight, tasks)
        start = stop
    return tasks


def _round_down(problem: Problem, group: Commodity, flow: Floats, tasks: Integers) -> None:
    """Each place gets its part of every cohort, as short tasks fill the gaps that long ones leave; then the rest,
    the longest first."""
    longest = problem.choices.hours[group.rows[0]]
    left = {cohort: int(problem.counts[cohort]) for cohort, _ in group.members}
    parts = np.floor(np.outer(flow / group.weight, list(left.values())) + 1e-6).astype(np.int64)
    for number, (cohort, rows) in enumerate(group.members):
        tasks[rows] = parts[:, number]
        left[cohort] -= int(parts[:, number].sum())
        flow -= parts[:, number] * (problem.choices.hours[rows[0]] / longest)
    for cohort, rows in group.members:
        part = problem.choices.hours[rows[0]] / longest
        for place in np.flatnonzero(flow >= part * (1 - 1e-6)).tolist():
            count = min(left[cohort], int(flow[place] / part + 1e-6))
            tasks[rows[place]] += count
            flow[place] -= count * part
            left[cohort] -= count
