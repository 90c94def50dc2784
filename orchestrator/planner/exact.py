"""Small problems: the model of docs/planner.md as it stands, whole tasks and all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.problem import NO_COPY, SLACK, DoesNotFit, Solution
from orchestrator.planner.program import Effort, Entries, Program, numbered
from orchestrator.planner.repair import repaired
from orchestrator.planner.schedule import misfits

if TYPE_CHECKING:
    from orchestrator.planner.problem import Floats, Integers, Problem

ROUNDS = 40
PATTERNS = 500
"""Of one lane; where there are more, its hours are cut to what could be packed."""
NEAR = 1e-4
"""Parts of the bound by which a plan may be dearer, where packing cannot be modelled exactly."""
DUALS = range(1, 9)
EFFORT = Effort(gap=1e-7, nodes=2_000)


def solve(problem: Problem) -> Solution:
    """Solve, pack, tell the model what did not fit, and solve again."""
    program = model(problem)
    bound, best, cut = 0.0, None, False
    patterned: set[int] = set()
    for _ in range(ROUNDS):
        try:
            answer = program.solve(EFFORT)
        except DoesNotFit:
            break
        # Once a lane's hours are cut, the model says nothing about all plans any more.
        bound = bound if cut else answer.bound
        tasks = np.rint(answer.values[: len(problem.choices)]).astype(np.int64)
        wrong = {lane: found for lane, found in misfits(problem, tasks).items() if lane not in patterned}
        if not wrong:
            return _better(best, Solution(problem, tasks, bound))
        new = {lane: found for lane in wrong if (found := patterns(problem, lane)) is not None}
        for lane, ways in new.items():
            _hold(program, problem, lane, ways)
            patterned.add(lane)
        if new:
            continue
        if (mended := repaired(problem, tasks)) is not None:
            best = _better(best, Solution(problem, mended, bound))
            if best.gap <= NEAR:
                return best
        cut = True
        for lane, (rows, placed) in wrong.items():
            _cut(program, problem, lane, float(placed @ problem.choices.hours[rows]))
    if best is None:
        raise DoesNotFit
    return best


def _better(one: Solution | None, other: Solution) -> Solution:
    return one if one is not None and one.usd <= other.usd else other


def model(problem: Problem) -> Program:
    """Columns: the tasks of each choice, then the copies."""
    choices, counts = problem.choices, problem.counts
    here, made = len(choices), len(problem.charges)
    usd = np.concatenate([choices.usd, problem.charges])
    upper = np.concatenate([counts[choices.cohort], np.ones(made)]).astype(np.float64)
    program = Program(usd, upper, np.ones(here + made, dtype=bool))
    every = np.arange(here)
    ones = np.ones(here)
    program.rows(
        len(counts), Entries(choices.cohort, every, ones), counts.astype(np.float64), counts.astype(np.float64)
    )
    _links(program, problem)
    share = choices.hours / problem.horizon
    of_fullest = choices.hours / problem.fullest[choices.lane]
    for per_task in (of_fullest, *(whole(share, q) for q in DUALS)):
        limited = np.flatnonzero(np.isfinite(problem.slots[choices.lane]) & (per_task > 0))
        lanes, row = numbered(choices.lane[limited])
        slots = problem.slots[np.unique(choices.lane[limited])]
        program.rows(lanes, Entries(row, limited, per_task[limited]), -np.inf, slots * SLACK)
    if np.isfinite(problem.budget):
        spent = np.concatenate([choices.promise, problem.charges])
        row = np.zeros(here + made, dtype=np.int64)
        program.rows(1, Entries(row, np.arange(here + made), spent), -np.inf, problem.budget)
    return program


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
    horizon = problem.horizon * SLACK
    found: list[list[int]] = []

    def extend(chosen: list[int], filled: float) -> bool:
        """In the order of packing, so that a slot that takes a pattern's last task takes all of it."""
        number = len(chosen)
        if number == len(kinds):
            found.append(chosen)
            return len(found) <= PATTERNS
        room = int(min(max((horizon - waits[number] - filled) / hours[number], 0), most[number]))
        fewest = room if number == len(kinds) - 1 else 0
        counts = range(room, fewest - 1, -1)
        return all(extend([*chosen, count], filled + count * hours[number]) for count in counts)

    return Patterns(rows, kind.ravel().astype(np.int64), np.array(found)) if extend([], 0.0) else None


def _hold(program: Program, problem: Problem, lane: int, found: Patterns) -> None:
    """The lane's tasks are those of the patterns that its slots follow."""
    slots, ways = problem.slots[lane], found.ways
    used = program.columns(len(ways), slots)
    zeros = np.zeros(len(ways), dtype=np.int64)
    program.rows(1, Entries(zeros, used, np.ones(len(ways))), -np.inf, slots)
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
