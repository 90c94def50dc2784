"""Makes whole tasks of the relaxation's flow: slot by slot, or by rounding down. What is left over is repaired."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.model.choices import NO_COPY
from orchestrator.planner.pack.exchange import exchange_tasks
from orchestrator.planner.pack.repair import repair
from orchestrator.planner.solver.pick_columns import rank_in_group
from orchestrator.planner.solver.slots.known_slots import fillings_of
from orchestrator.planner.solver.slots.place_tasks import Placing
from orchestrator.planner.solver.slots.slot_program import SlotProgram

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.planner.model.arrays import Booleans, Floats, Integers
    from orchestrator.planner.model.commodities import Commodity
    from orchestrator.planner.model.problem import Problem
    from orchestrator.planner.model.solution import Solution
    from orchestrator.planner.model.time_limit import TimeLimit
    from orchestrator.planner.solver.columns import Columns
    from orchestrator.planner.solver.copies.copies_program import CopiesAnswer
    from orchestrator.planner.solver.slots.best_fillings import Filling
    from orchestrator.planner.solver.slots.known_slots import KnownSlots

NEAR = 2.5e-3
"""The part of the bound by which a solution may be dearer, before tasks are exchanged."""
FAR = 0.01
"""The part of the bound by which a solution may be dearer, before whole tasks are found in the other way as well."""
FAR_IN_HASTE = 0.03
"""The part in large problems where the first plan that is found is good enough to advise something."""
SPARE = 0.9998
"""The part of a budget that slots may use, because tasks that they leave over will promise something, too."""
CLOSE, CLOSEST = 0.02, 15
"""The part by which a choice may be dearer than the cheapest, for slots of it to be looked at at first; and the
choices of each commodity that this is done for at most."""
LEFT_OUT = 1e-6
"""A copy that no more than this part of a commodity uses is not made."""
NEAR_FILLINGS, NEAR_FILLINGS_IF_MANY = 3e-4, 1e-3
"""The part of the bound by which a program of fillings may cost more, for these to be good enough: in smaller problems,
and in larger ones, where each round takes long."""
MOST = 20_000
"""Choices up to which lanes are filled one after the other. In larger problems it takes long, and what a program says
of all of them is near enough."""


@dataclass(frozen=True)
class Whole:
    """A solution, and what is known of the slots that it fills."""

    solution: Solution
    slots: KnownSlots | None
    """What is known of slots, if fillings of them were looked at."""


@dataclass(frozen=True)
class Relaxed:
    """The relaxation's answer, the bound that it proves, and what each of its columns costs at its duals."""

    answer: CopiesAnswer
    bound: float
    costs: Floats
    budget: float
    """The part of the budget that may be used."""
    fillings: Sequence[Filling]
    """Fillings of slots that are known to be good."""


def make_whole(
    problem: Problem,
    all_commodities: list[Commodity],
    relaxation: Columns,
    relaxed: Relaxed,
    time_limit: TimeLimit,
    *,
    is_quick: bool = False,
) -> Whole | None:
    """Return the better of two ways to make whole tasks of the relaxation's flow; None if both leave some over.

    One fills slots, and is the first in smaller problems, and where tasks are weighed; in larger ones it takes longer,
    and is the second. The second is gone only if the first leads too far from the bound, or over the budget. A large
    problem may be a little further from it where that `is_quick`.
    """
    answer, bound, slots = relaxed.answer, relaxed.bound, None
    found: Solution | None = None

    def fill_slots() -> Solution | None:
        rows = _rows_to_fill(problem, relaxation, answer.flow)
        near = _near_choices(problem, all_commodities, relaxation, relaxed.costs)
        within = replace(problem, budget=problem.budget * relaxed.budget * SPARE)
        known = relaxed.fillings if found is None else [*relaxed.fillings, *fillings_of(problem, found.tasks)]
        program = SlotProgram(within, rows, near, known)
        _improve(problem, program, answer.bound, time_limit)
        nonlocal slots
        slots = program.known
        return _improved(_fill_slots(problem, Placing(problem, program, is_quick=is_quick), answer, time_limit), bound)

    def round_down() -> Solution | None:
        tasks = _whole_tasks(problem, all_commodities, relaxation, answer.flow)
        return _improved(repair(problem, tasks, bound, answer.slots), bound)

    is_large = len(problem.choices) > MOST
    ways, far = (fill_slots, round_down), FAR
    if is_large and not problem.is_weighed:
        ways, far = (round_down, fill_slots), FAR_IN_HASTE if is_quick else NEAR
    found = ways[0]()
    if found is None and is_large and is_quick:
        return None
    if found is None or not found.keeps_budget or found.gap > far:
        found = better_of(found, ways[1]())
    return Whole(found, slots) if found is not None else None


def _improved(found: Solution | None, bound: float) -> Solution | None:
    """Return a solution with its bound and, if it is not near that, with tasks exchanged as far as that helps."""
    if found is None:
        return None
    found = replace(found, bound=bound)
    if found.gap <= NEAR or len(found.problem.choices) > MOST:
        return found
    return better_of(found, exchange_tasks(found))


def better_of(one: Solution | None, other: Solution | None) -> Solution | None:
    """Return the cheaper of two solutions; one within the budget, if any is, and else the one that is nearer to it."""
    found = [each for each in (one, other) if each is not None]
    return min(found, key=_distance, default=None)


def _distance(found: Solution) -> tuple[bool, float]:
    """Return what makes a solution worse than another: dollars over its budget before dollars."""
    over = not found.keeps_budget
    return over, found.promise if over else found.usd


def _fill_slots(problem: Problem, placing: Placing, answer: CopiesAnswer, time_limit: TimeLimit) -> Solution | None:
    """Return the solution of slots that are filled with whole tasks in this way; None if some fit nowhere."""
    tasks = placing.place(time_limit) if len(problem.choices) <= MOST else placing.place_at_once()
    return repair(problem, tasks, answer.bound)


def _improve(problem: Problem, program: SlotProgram, bound: float, time_limit: TimeLimit) -> None:
    """Let the program have fillings that are about as good as the bound says."""
    copies = np.unique(problem.choices.copy[program.rows])
    charges = float(problem.charges[copies[copies != NO_COPY]].sum())
    program.improve(
        bound - charges, NEAR_FILLINGS_IF_MANY if len(problem.choices) > MOST else NEAR_FILLINGS, time_limit
    )


def _near_choices(problem: Problem, all_commodities: list[Commodity], relaxation: Columns, costs: Floats) -> Booleans:
    """Return which choices the relaxation finds hardly dearer than the cheapest, at what its limits are worth."""
    cheapest = np.minimum.reduceat(costs, relaxation.starts)[relaxation.commodity]
    in_relaxation = np.zeros(len(problem.choices), dtype=bool)
    close = (costs <= cheapest + CLOSE * np.abs(cheapest)) & (rank_in_group(relaxation.commodity, costs) < CLOSEST)
    in_relaxation[relaxation.choice[close]] = True
    found = in_relaxation.copy()
    for commodity in all_commodities:
        for _, rows in commodity.members:
            found[rows] = in_relaxation[commodity.rows]
    return found


def _rows_to_fill(problem: Problem, relaxation: Columns, flow: Floats) -> Integers:
    """Return the choices that whole tasks may take, because their data is there."""
    choices = problem.choices
    made = np.zeros(len(problem.charges) + 1, dtype=bool)
    made[choices.copy[relaxation.choice[flow > LEFT_OUT]]] = True
    made[NO_COPY] = True
    usable = made[choices.copy] & (problem.most_slots[choices.lane] >= 1)
    usable &= np.append(problem.funds, np.inf)[choices.pool] > 0
    return np.flatnonzero(usable)


def _whole_tasks(problem: Problem, all_commodities: list[Commodity], relaxation: Columns, flow: Floats) -> Integers:
    """Return the tasks of each choice, as whole numbers. Some tasks are left over."""
    tasks = np.zeros(len(problem.choices), dtype=np.int64)
    part = np.zeros(len(problem.choices))
    part[relaxation.choice] = flow
    for commodity in all_commodities:
        flow_here = part[commodity.rows] * commodity.weight
        _round_down(problem, commodity, flow_here, tasks)
    return tasks


def _round_down(problem: Problem, commodity: Commodity, flow: Floats, tasks: Integers) -> None:
    """Give each place whole tasks of a commodity, for no more than the flow that it takes.

    Each place first gets its part of all tasks of each length, because short tasks fill the gaps that long ones leave.
    Tasks of one length come cohort by cohort, so that a place has few of these. Then it gets the rest, the longest
    first.
    """
    longest = problem.choices.hours[commodity.rows[0]]
    left = {cohort: int(problem.counts[cohort]) for cohort, _ in commodity.members}
    part_of_all = flow / commodity.weight
    for hours, alike in groupby(commodity.members, key=lambda member: float(problem.choices.hours[member[1][0]])):
        members = list(alike)
        each = np.array([left[cohort] for cohort, _ in members])
        counts = np.floor(part_of_all * each.sum() + 1e-6).astype(np.int64)
        for number, (cohort, rows) in enumerate(members):
            before = int(each[:number].sum())
            tasks[rows] = _within(counts, before, before + int(each[number]))
            left[cohort] -= int(tasks[rows].sum())
        flow -= counts * (hours / longest)
    for cohort, rows in commodity.members:
        part = problem.choices.hours[rows[0]] / longest
        for place in np.flatnonzero(flow >= part * (1 - 1e-6)).tolist():
            count = min(left[cohort], int(flow[place] / part + 1e-6))
            tasks[rows[place]] += count
            flow[place] -= count * part
            left[cohort] -= count


def _within(counts: Integers, start: int, stop: int) -> Integers:
    """Return how many of each of these counts, one after the other, lie between two numbers."""
    ends = np.cumsum(counts)
    return np.asarray(np.clip(ends, start, stop) - np.clip(ends - counts, start, stop))
