"""Large problems: the linear relaxation, then copies, then whole tasks, then what is left over."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.clock import Clock
from orchestrator.planner.columns import columns
from orchestrator.planner.commodity import commodities
from orchestrator.planner.problem import NO_COPY, DoesNotFit
from orchestrator.planner.program import Effort, Entries, Program, numbered
from orchestrator.planner.repair import repaired
from orchestrator.planner.sieve import Sieve

if TYPE_CHECKING:
    from orchestrator.planner.columns import Columns
    from orchestrator.planner.commodity import Commodity
    from orchestrator.planner.problem import Floats, Integers, Problem, Solution
    from orchestrator.planner.sieve import Sifted

COPIES = Effort(gap=2e-4, nodes=500)
ROOM = (1.0, 0.99, 0.97, 0.9)
"""Parts of each lane that the relaxation may fill; less, when roundings left over more than the rest could take."""


def solve(problem: Problem, clock: Clock | None = None) -> Solution:
    groups, clock = commodities(problem), clock or Clock()
    relaxation = columns(problem, groups)
    sieve, bound = Sieve(relaxation), None
    for room in ROOM:
        if bound is not None:
            sieve.fill(room)
        sifted = sieve.solve(clock)
        bound = sifted.bound if bound is None else bound
        flow = _with_whole_copies(relaxation, sifted, room, clock)
        if (found := repaired(problem, _whole_tasks(problem, groups, relaxation, flow), bound)) is not None:
            return found
    raise DoesNotFit


def _with_whole_copies(relaxation: Columns, sifted: Sifted, room: float, clock: Clock) -> Floats:
    """The part of its commodity that each column takes, when copies are made or not; made if there is no time."""
    flow = np.zeros(len(relaxation))
    few, made = sifted.columns, len(relaxation.charges)
    flow[few] = sifted.parts
    if made:
        try:
            flow[few] = _program(relaxation, few, room).solve(COPIES, clock).values[: len(few)]
        except DoesNotFit:
            if not clock.stopped:
                raise
    return flow


def _program(relaxation: Columns, few: Integers, room: float) -> Program:
    """Columns: these few, then the copies."""
    here, made, entries = len(few), len(relaxation.charges), relaxation.entries
    usd = np.concatenate([relaxation.usd[few], relaxation.charges])
    program = Program(usd, np.ones(here + made), np.repeat([False, True], [here, made]))
    every = np.arange(here)
    program.rows(len(relaxation.starts), Entries(relaxation.group[few], every, np.ones(here)), 1.0, 1.0)
    position = np.full(len(relaxation), -1)
    position[few] = every
    some = np.flatnonzero(position[entries.column] >= 0)
    charged = np.repeat(relaxation.charged, made)
    under = Entries(
        np.concatenate([entries.limit[some], charged]),
        np.concatenate([position[entries.column[some]], here + np.arange(len(charged))]),
        np.concatenate([entries.part[some], relaxation.charge_part]),
    )
    high = np.ones(relaxation.limits)
    high[: relaxation.lanes] = room
    program.rows(relaxation.limits, under, -np.inf, high)
    needing = np.flatnonzero(relaxation.link[few] != NO_COPY)
    links, link = numbered(relaxation.link[few][needing])
    copy = relaxation.copy_of[np.unique(relaxation.link[few][needing])]
    program.rows(
        links,
        Entries(
            np.concatenate([link, np.arange(links)]),
            np.concatenate([needing, here + copy]),
            np.repeat([1.0, -1.0], [len(needing), links]),
        ),
        -np.inf,
        0.0,
    )
    return program


def _whole_tasks(problem: Problem, groups: list[Commodity], relaxation: Columns, flow: Floats) -> Integers:
    """Tasks of each choice, some of which are left over."""
    tasks = np.zeros(len(problem.choices), dtype=np.int64)
    part = np.zeros(len(problem.choices))
    part[relaxation.rows] = flow
    for group in groups:
        _round_down(problem, group, part[group.rows] * group.weight, tasks)
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
