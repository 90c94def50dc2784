"""Small problems: the model of docs/planner.md as it stands, whole tasks and all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.model.arrays import SLACK
from orchestrator.planner.model.problem import NO_COPY, NO_POOL
from orchestrator.planner.model.solution import DoesNotFit, Solution
from orchestrator.planner.model.time_limit import TimeLimit
from orchestrator.planner.pack.lanes import spread
from orchestrator.planner.pack.repair import repaired
from orchestrator.planner.pack.schedule import misfits
from orchestrator.planner.solver.program import Effort, Entries, Program, numbered

if TYPE_CHECKING:
    from orchestrator.planner.model.arrays import Floats, Integers
    from orchestrator.planner.model.problem import Problem

ROUNDS = 40
PATTERNS = 500
"""Of one lane; where there are more, its hours are cut to what could be packed."""
NEAR = 1e-4
"""Parts of the bound by which a plan may be dearer, where packing cannot be modelled exactly."""
DUALS = range(1, 9)
EFFORT = Effort(gap=1e-7, nodes=2_000)


def solve(problem: Problem, time_limit: TimeLimit | None = None) -> Solution:
    """Solve, pack, tell the model what did not fit, and solve again."""
    program, time_limit = model(problem), time_limit or TimeLimit()
    bound, best, cut = 0.0, None, False
    patterned: set[int] = set()
    for _ in range(ROUNDS):
        try:
            answer = program.solve(EFFORT, time_limit)
        except DoesNotFit:
            break
        # Once a lane's hours are cut, the model says nothing about all plans any more.
        bound = bound if cut else answer.bound
        tasks = np.rint(answer.values[: len(problem.choices)]).astype(np.int64)
        slots = _slots(problem, answer.values)
        wrong = {lane: found for lane, found in misfits(problem, tasks, slots).items() if lane not in patterned}
        if not wrong:
            return _better(best, Solution(problem, tasks, bound, spread(problem, tasks, slots)))
        if time_limit.is_out and (mended := _mended(problem, tasks, bound, slots)) is not None:
            return _better(best, mended)
        new = {lane: found for lane in wrong if (found := patterns(problem, lane)) is not None}
        for lane, ways in new.items():
            _hold(program, problem, lane, ways)
            patterned.add(lane)
        if new:
            continue
        if (mended := _mended(problem, tasks, bound, slots)) is not None:
            best = _better(best, mended)
            if best.gap <= NEAR:
                return best
        cut = True
        for lane, (rows, placed) in wrong.items():
            _cut(program, problem, lane, float(placed @ problem.choices.hours[rows]))
    if best is None:
        raise DoesNotFit
    return best


def _mended(problem: Problem, tasks: Integers, bound: float, slots: Floats) -> Solution | None:
    found = repaired(problem, tasks, bound, slots)
    return found if found is not None and found.promise <= problem.budget else None


def _better(one: Solution | None, other: Solution) -> Solution:
    return one if one is not None and one.usd <= other.usd else other


def _slots(problem: Problem, values: Floats) -> Floats:
    """That each lane has, of the totals it is under."""
    found = problem.most.copy()
    split = _split(problem)
    start = len(problem.choices) + len(problem.charges)
    found[split] = np.rint(values[start : start + len(split)])
    return found


def _split(problem: Problem) -> Integers:
    """Lanes that share a total."""
    lanes = [total.lanes for total in problem.shared]
    return np.unique(np.concatenate(lanes)) if lanes else np.empty(0, dtype=np.int64)


def model(problem: Problem) -> Program:
    """Columns: the tasks of each choice, then the copies, then the slots of each lane that shares a total."""
    choices, counts, split = problem.choices, problem.counts, _split(problem)
    here, made = len(choices), len(problem.charges)
    usd = np.concatenate([choices.usd, problem.charges, np.zeros(len(split))])
    upper = np.concatenate([counts[choices.cohort], np.ones(made), problem.most[split]]).astype(np.float64)
    program = Program(usd, upper, np.ones(len(usd), dtype=bool))
    every = np.arange(here)
    ones = np.ones(here)
    program.rows(
        len(counts), Entries(choices.cohort, every, ones), counts.astype(np.float64), counts.astype(np.float64)
    )
    _links(program, problem)
    _room(program, problem)
    _totals(program, problem)
    _pools(program, problem)
    if np.isfinite(problem.budget):
        spent = np.concatenate([choices.promise, problem.charges])
        row = np.zeros(here + made, dtype=np.int64)
        program.rows(1, Entries(row, np.arange(here + made), spent), -np.inf, problem.budget)
    return program


def _room(program: Program, problem: Problem) -> None:
    """Lanes have so many hours, and hold whole tasks."""
    choices, split = problem.choices, _split(problem)
    start = len(choices) + len(problem.charges)
    share = choices.hours / problem.open[choices.lane]
    of_busiest = choices.hours / problem.busy_hours[choices.lane]
    for per_task in (of_busiest, *(whole(share, q) for q in DUALS)):
        limited = np.flatnonzero(np.isfinite(problem.most[choices.lane]) & (per_task > 0))
        lanes, row = numbered(choices.lane[limited])
        these = np.unique(choices.lane[limited])
        shared = np.flatnonzero(np.isin(these, split))
        columns = start + np.searchsorted(split, these[shared])
        program.rows(
            lanes,
            Entries(
                np.concatenate([row, shared]),
                np.concatenate([limited, columns]),
                np.concatenate([per_task[limited], np.full(len(shared), -SLACK)]),
            ),
            -np.inf,
            np.where(np.isin(these, split), 0.0, problem.most[these] * SLACK),
        )


def _totals(program: Program, problem: Problem) -> None:
    """The lanes under a total have no more slots together."""
    start, split = len(problem.choices) + len(problem.charges), _split(problem)
    for total in problem.shared:
        columns = start + np.searchsorted(split, total.lanes)
        zeros = np.zeros(len(columns), dtype=np.int64)
        program.rows(1, Entries(zeros, columns, np.ones(len(columns))), -np.inf, total.slots)


def _pools(program: Program, problem: Problem) -> None:
    """What is paid already is not spent twice."""
    paid = np.flatnonzero(problem.choices.pool != NO_POOL)
    drawn = Entries(problem.choices.pool[paid], paid, problem.choices.draw[paid])
    program.rows(len(problem.pools), drawn, -np.inf, problem.funds * SLACK)


def _links(program: Program, problem: Problem) -> None:
    """What needs a copy, cohort by cohort, runs only if the copy is made."""
    choices = problem.choices
    needing = np.flatnonzero(choices.copy != NO_COPY)
    if not needing.size:
        return
    width = len(problem.charges)
    keys = choices.cohort[needing] * width + choices.copy[needing]
    links, row = numbered(keys)
    cohort, copy = np.divmod(np.unique(keys), width)
    program.rows(
        links,
        Entries(
            np.concatenate([row, np.arange(links)]),
            np.concatenate([needing, len(choices) + copy]),
            np.concatenate([np.ones(len(needing)), -problem.counts[cohort].astype(np.float64)]),
        ),
        -np.inf,
        0.0,
    )


def whole(sizes: Floats, q: int) -> Floats:
    """A dual feasible function: sizes that fit into 1 together still do so after it. See docs/planner.md."""
    scaled = (q + 1) * sizes
    near = np.abs(scaled - np.rint(scaled)) < 1e-9
    return np.where(near, sizes, np.floor(scaled) / q)


@dataclass(frozen=True)
class Patterns:
    """The ways to fill one slot of a lane."""

    rows: Integers
    """The lane's choices."""
    kind: Integers
    """For each of them, which kind of task it is: those that wait and take equally long are one."""
    ways: Integers
    """A row for each way: how many tasks of each kind."""


def patterns(problem: Problem, lane: int) -> Patterns | None:
    """None where there are too many."""
    choices = problem.choices
    rows = np.flatnonzero(choices.lane == lane)
    facts = np.stack([-choices.wait[rows], -choices.hours[rows]], axis=1)
    kinds, kind = np.unique(facts, axis=0, return_inverse=True)
    waits, hours = -kinds[:, 0], -kinds[:, 1]
    most = np.bincount(kind.ravel(), weights=problem.counts[choices.cohort[rows]])
    until = problem.until[lane] * SLACK
    found: list[list[int]] = []

    def extend(chosen: list[int], filled: float) -> bool:
        """In the order of packing, so that a slot that takes a pattern's last task takes all of it."""
        number = len(chosen)
        if number == len(kinds):
            found.append(chosen)
            return len(found) <= PATTERNS
        room = int(min(max((until - waits[number] - filled) / hours[number], 0), most[number]))
        fewest = room if number == len(kinds) - 1 else 0
        counts = range(room, fewest - 1, -1)
        return all(extend([*chosen, count], filled + count * hours[number]) for count in counts)

    return Patterns(rows, kind.ravel().astype(np.int64), np.array(found)) if extend([], 0.0) else None


def _hold(program: Program, problem: Problem, lane: int, found: Patterns) -> None:
    """The lane's tasks are those of the patterns that its slots follow."""
    slots, ways, split = problem.most[lane], found.ways, _split(problem).tolist()
    used = program.columns(len(ways), slots)
    ones, columns, high = np.ones(len(ways)), used, slots
    if lane in split:
        own = len(problem.choices) + len(problem.charges) + split.index(lane)
        ones, columns, high = np.append(ones, -1.0), np.append(used, own), 0.0
    program.rows(1, Entries(np.zeros(len(columns), dtype=np.int64), columns, ones), -np.inf, high)
    way, kind = np.nonzero(ways)
    program.rows(
        ways.shape[1],
        Entries(
            np.concatenate([found.kind, kind]),
            np.concatenate([found.rows, used[way]]),
            np.concatenate([np.ones(len(found.rows)), -ways[way, kind].astype(np.float64)]),
        ),
        -np.inf,
        0.0,
    )


def _cut(program: Program, problem: Problem, lane: int, hours: float) -> None:
    rows = np.flatnonzero(problem.choices.lane == lane)
    zeros = np.zeros(len(rows), dtype=np.int64)
    program.rows(1, Entries(zeros, rows, problem.choices.hours[rows]), -np.inf, hours)
