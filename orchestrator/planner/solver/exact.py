"""Solves small problems: the model of docs/planner-model.md as it stands, whole tasks and all."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.model.arrays import SLACK
from orchestrator.planner.model.choices import NO_COPY, NO_POOL
from orchestrator.planner.model.solution import DoesNotFit, NotFound, Solution
from orchestrator.planner.model.time_limit import TimeLimit
from orchestrator.planner.pack.lanes import share_out_spare_slots
from orchestrator.planner.pack.repair import repair
from orchestrator.planner.pack.schedule import overfull_lanes
from orchestrator.planner.solver.program import STEPS, Effort, Entries, Program, number_keys
from orchestrator.planner.solver.slots.late_starts import add_late_starts
from orchestrator.planner.solver.slots.patterns import add_patterns, find_patterns
from orchestrator.planner.solver.slots.start_cuts import add_start_cut, find_too_much
from orchestrator.planner.solver.slots.windows import find_windows

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.planner.model.arrays import Floats, Integers
    from orchestrator.planner.model.problem import Problem

ROUNDS = 40
WORK = 9_000_000
"""Steps of the simplex method in all rounds together, each times the rows and columns of its program: two seconds."""
OF_ONE_ROUND, FOR_PLANS = 0.2, 0.4
"""The part of it that one round may take; and the part that is left for any plans, if none is proven to be best by
then: what lanes hold too much of, they may not hold in any way."""
STEPS_OF_NODE, STEPS_OF_ROUND, SIZE = 20, 150, 300
"""Steps that a node takes, more or less; those that a round counts as besides; and what counts as rows besides."""
TINY = 1e-9
"""Dollars that a budget or a pool counts as at least."""
MOST_WINDOWS = 12
"""Windows of each lane that the model knows of."""
WHOLE_SIZES = range(1, 9)
"""The numbers q of the dual feasible functions that the model uses."""
EFFORT = Effort(gap=1e-7, nodes=2_000, restarts=False)


def solve(
    problem: Problem, time_limit: TimeLimit | None = None, *, work: int = WORK, enough: float = -np.inf
) -> tuple[Solution | None, float]:
    """Return the best solution that so much work finds, or None if that finds none; and what is proven of all.

    DoesNotFit, if there is none.

    The model is solved, its tasks are started, what did not fit is added to the model, and it is solved again, until
    all tasks fit; or until a solution costs no more than `enough`, or it is proven that none does.
    """
    program, time_limit = model(problem), time_limit or TimeLimit()
    bound, best, cut, left, part = 0.0, None, False, float(work), OF_ONE_ROUND
    told: set[int] = set()
    for _ in range(ROUNDS):
        try:
            answer = program.solve(_effort(program, min(work * part, left)), time_limit)
        except DoesNotFit as failure:
            if cut or time_limit.stopped or isinstance(failure, NotFound):
                break
            raise
        left -= (answer.steps + STEPS_OF_ROUND) * (program.size + SIZE)
        # Once a lane's hours are cut, the model says nothing about all plans any more.
        bound = bound if cut else max(bound, answer.bound)
        tasks = np.rint(answer.values[: len(problem.choices)]).astype(np.int64)
        slots = _slots_of_lanes(problem, answer.values)
        overfull, overspent = overfull_lanes(problem, tasks, slots), _is_overspent(problem, tasks)
        if overfull or overspent:
            found = _repair_within_budget(problem, tasks, bound, slots)
        else:
            found = Solution(problem, tasks, bound, share_out_spare_slots(problem, tasks, slots))
        best = _cheaper(best, found)
        if left <= 0 or time_limit.is_out or _is_enough(best, bound, enough):
            break
        if not (overfull or overspent):
            if cut or part == 1 or answer.usd <= answer.bound * (1 + EFFORT.gap):
                break
            part = 1  # this program says it all: it gets what is left to prove more
            continue
        cut = cut or left <= work * FOR_PLANS
        for lane, (rows, placed) in overfull.items():
            if cut:
                _cut_hours(program, problem, lane, float(placed @ problem.choices.hours[rows]))
            else:
                _tell(program, problem, lane, tasks, slots[lane], told)
        if overspent and not overfull:
            cut = True
            _limit_dollars(program, problem, np.ceil)
    return (replace(best, bound=bound) if best is not None else None), bound


def _effort(program: Program, work: float) -> Effort:
    """Return the effort of a round that takes about so much work."""
    return replace(EFFORT, nodes=int(np.clip(work / (STEPS_OF_NODE * (program.size + SIZE)), 1, EFFORT.nodes)))


def _is_enough(best: Solution | None, bound: float, enough: float) -> bool:
    """Return whether nothing better is asked for, or to be found."""
    if -np.inf < enough < bound:
        return True
    return best is not None and best.usd <= max(bound * (1 + EFFORT.gap), enough)


def _tell(program: Program, problem: Problem, lane: int, tasks: Integers, slots: float, told: set[int]) -> None:
    """Tell the program why these tasks do not fit into the slots of this lane.

    First it learns the lane's patterns, if these are not too many, and what late data keeps waiting. Where they would
    do, and only the order in which tasks start does not, it learns that. `told` are the lanes of which it knows more.
    """
    column = _slots_column(problem, lane)
    if lane not in told:
        told.add(lane)
        ways = [_add_patterns(program, problem, lane), add_late_starts(program, problem, lane, column)]
        if any(ways):
            return
    add_start_cut(program, problem, find_too_much(problem, lane, tasks, slots), column)


def _repair_within_budget(problem: Problem, tasks: Integers, bound: float, slots: Floats) -> Solution | None:
    repaired = repair(problem, tasks, bound, slots)
    return repaired if repaired is not None and repaired.keeps_budget else None


def _cheaper(one: Solution | None, other: Solution | None) -> Solution | None:
    if one is None or other is None:
        return one or other
    return one if one.usd <= other.usd else other


def _slots_of_lanes(problem: Problem, values: Floats) -> Floats:
    """Return the slots that each lane has in the model's answer."""
    slots, sharing = problem.most_slots.copy(), problem.sharing_lanes
    slots[sharing] = np.rint(values[_slots_columns(problem, sharing)])
    return slots


def _slots_columns(problem: Problem, lanes: Integers) -> Integers:
    """Return the model's columns for the slots of these lanes, all of which share a limit."""
    first = len(problem.choices) + len(problem.charges)
    return np.asarray(first + np.searchsorted(problem.sharing_lanes, lanes))


def _slots_column(problem: Problem, lane: int) -> int | None:
    """Return the model's column for the slots of this lane; None if the lane shares no limit."""
    return int(_slots_columns(problem, np.array([lane]))[0]) if lane in problem.sharing_lanes else None


def model(problem: Problem) -> Program:
    """Return the model. Its columns are the tasks of each choice, the copies, and the slots of lanes that share."""
    choices, counts, sharing = problem.choices, problem.counts.astype(np.float64), problem.sharing_lanes
    here, made = len(choices), len(problem.charges)
    usd = np.concatenate([choices.usd, problem.charges, np.zeros(len(sharing))])
    upper = np.concatenate([counts[choices.cohort], np.ones(made), problem.most_slots[sharing]]).astype(np.float64)
    program = Program(usd, upper, np.ones(len(usd), dtype=bool))
    program.add_rows(len(counts), Entries(choices.cohort, np.arange(here), np.ones(here)), counts, counts)
    _add_links(program, problem)
    _limit_lanes(program, problem)
    _limit_shared(program, problem)
    _limit_dollars(program, problem, np.floor)
    return program


def _add_links(program: Program, problem: Problem) -> None:
    """Add a row for each cohort and copy: what needs the copy runs only if it is made."""
    choices = problem.choices
    needing = np.flatnonzero(choices.copy != NO_COPY)
    if not needing.size:
        return
    width = len(problem.charges)
    keys = choices.cohort[needing] * width + choices.copy[needing]
    links, row = number_keys(keys)
    cohort, copy = np.divmod(np.unique(keys), width)
    entries = Entries(
        np.concatenate([row, np.arange(links)]),
        np.concatenate([needing, len(choices) + copy]),
        np.concatenate([np.ones(len(needing)), -problem.counts[cohort].astype(np.float64)]),
    )
    program.add_rows(links, entries, -np.inf, 0.0)


def _limit_lanes(program: Program, problem: Problem) -> None:
    """Add rows for each lane: it has so many hours, and holds whole tasks. So has each of its windows."""
    choices = problem.choices
    limited = np.flatnonzero(np.isfinite(problem.most_slots[choices.lane]))
    lane = choices.lane[limited]
    _add_sizes(program, problem, limited, lane, lane, choices.hours[limited] / problem.busy_hours[lane])
    sizes = choices.hours[limited] / problem.open_hours[lane]
    for q in WHOLE_SIZES:
        _add_sizes(program, problem, limited, lane, lane, whole_sizes(sizes, q))
    windows = find_windows(lane, choices.wait[limited], problem.latest_end, MOST_WINDOWS)
    rows = limited[windows.row]
    sizes = choices.hours[rows] / windows.hours[windows.window]
    for sized in (sizes, *(whole_sizes(sizes, q) for q in WHOLE_SIZES)):
        _add_sizes(program, problem, rows, windows.window, windows.lane[windows.window], sized)


def _add_sizes(
    program: Program, problem: Problem, rows: Integers, group: Integers, lane: Integers, sizes: Floats
) -> None:
    """Add a row for each group of choices of one lane: in sizes, they are together no more than the lane has slots."""
    some = sizes > 0
    rows, group, lane, sizes = rows[some], group[some], lane[some], sizes[some]
    _, first, row = np.unique(group, return_index=True, return_inverse=True)
    lanes = lane[first]
    shares = np.isin(lanes, problem.sharing_lanes)
    shared = np.flatnonzero(shares)
    entries = Entries(
        np.concatenate([row, shared]),
        np.concatenate([rows, _slots_columns(problem, lanes[shared])]),
        np.concatenate([np.floor(sizes * STEPS), np.full(len(shared), -float(STEPS))]),
    )
    program.add_rows(len(lanes), entries, -np.inf, np.where(shares, 0.0, problem.most_slots[lanes] * STEPS))


def _limit_shared(program: Program, problem: Problem) -> None:
    """Add a row for each shared limit: the slots of its lanes have no more units together."""
    for limit in problem.shared_limits:
        columns = _slots_columns(problem, limit.lanes)
        zeros = np.zeros(len(columns), dtype=np.int64)
        program.add_rows(1, Entries(zeros, columns, limit.units), -np.inf, limit.free)


def _limit_dollars(program: Program, problem: Problem, rounded: Callable[[Floats], Floats]) -> None:
    """Add a row for the budget, and one for each pool: what is paid already is not spent twice.

    With dollars rounded down, the rows bar nothing that is within the limits. Rounded up, they bar all that is not.
    """
    choices = problem.choices
    if np.isfinite(problem.budget):
        spent = rounded(np.concatenate([choices.promise, problem.charges]) / max(problem.budget, TINY) * STEPS)
        columns = np.arange(len(spent))
        program.add_rows(1, Entries(np.zeros_like(columns), columns, spent), -np.inf, STEPS)
    paid = np.flatnonzero(choices.pool != NO_POOL)
    pool = choices.pool[paid]
    drawn = rounded(choices.draw[paid] / np.maximum(problem.funds[pool] * SLACK, TINY) * STEPS)
    program.add_rows(len(problem.pools), Entries(pool, paid, drawn), -np.inf, STEPS)


def _is_overspent(problem: Problem, tasks: Integers) -> bool:
    """Return whether these tasks cost more than the budget, or draw more from a pool than it has."""
    if (problem.drawn_usd(tasks) > problem.funds * SLACK).any():
        return True
    return not Solution(problem, tasks, 0.0).keeps_budget


def whole_sizes(sizes: Floats, q: int) -> Floats:
    """Return sizes that still fit into 1 together wherever the given ones do: a dual feasible function.

    docs/planner-model.md tells why whole tasks keep to it.
    """
    scaled = (q + 1) * sizes
    near = np.abs(scaled - np.rint(scaled)) < 1e-9
    return np.where(near, sizes, np.floor(scaled) / q)


def _add_patterns(program: Program, problem: Problem, lane: int) -> bool:
    """Make the model exact for this lane. Return False, and change nothing, if the lane has too many patterns."""
    patterns = find_patterns(problem, lane)
    if patterns is None:
        return False
    add_patterns(program, patterns, problem.most_slots[lane], _slots_column(problem, lane))
    return True


def _cut_hours(program: Program, problem: Problem, lane: int, hours: float) -> None:
    """Let the lane have no more than these hours."""
    rows = np.flatnonzero(problem.choices.lane == lane)
    zeros = np.zeros(len(rows), dtype=np.int64)
    program.add_rows(1, Entries(zeros, rows, problem.choices.hours[rows]), -np.inf, hours)
