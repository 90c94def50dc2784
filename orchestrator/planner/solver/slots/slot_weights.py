"""Weighs tasks by what whole tasks leave of a slot: a bound that sees this, where hours are seen as a fluid.

A task's weight on a lane is such that no slot holds more than 1 of it, whichever whole tasks it holds. So weights bound
what a lane holds as hours do. What tasks are worth to a program of fillings makes good weights: a filling that the
program takes weighs just 1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.model.arrays import SLACK
from orchestrator.planner.solver.slots.all_ways import Slot, make_lookups

if TYPE_CHECKING:
    from orchestrator.planner.model.arrays import Floats, Integers
    from orchestrator.planner.model.problem import Problem

WAYS = 40_000
"""Ways to fill a slot of a lane up to which its tasks are weighed."""
AT_ONCE = 1_000_000
"""Lanes times ways that are looked at together."""
SAFE = 1 - 1e-12
"""A factor on weights, because sums of them may differ in their last bits."""


@dataclass(frozen=True)
class _Lengths:
    """The limited lanes of a problem, and the lengths of tasks on each."""

    slots: list[Slot]
    """A slot of each lane."""
    starts: Integers
    """The number of each slot's first length. Lengths are numbered slot by slot, the longest first."""
    rows: Integers
    """The choices on these lanes."""
    length: Integers
    """The number of the length of each of these choices."""


def weigh_tasks(problem: Problem, worth: Floats) -> Problem:
    """Return the problem with weights in place of hours, on lanes whose slots can be filled in few ways.

    `worth` says what one task of each choice is worth where it goes, in $; -inf if it does not say. Any numbers make
    weights that are valid.
    """
    lengths = _lengths(problem)
    most = np.zeros(int(lengths.length.max(initial=-1)) + 1)
    np.maximum.at(most, lengths.length, np.maximum(worth[lengths.rows], 0.0))
    weights = np.full(len(most), np.nan)
    for lookup in make_lookups(lengths.slots, WAYS)[0]:
        its = lengths.starts[lookup.numbers][:, None] + np.arange(lookup.ways.shape[1])
        its = its[most[its].max(axis=1) > 0]  # elsewhere hours tell as much
        for some in np.array_split(its, len(its) * len(lookup.ways) // AT_ONCE + 1):
            weights[some] = _as_heavy_as_can_be(most[some], lookup.ways) * SAFE
    part = problem.choices.part.copy()
    part[lengths.rows] = weights[lengths.length]
    return replace(problem, choices=replace(problem.choices, part=part))


def _lengths(problem: Problem) -> _Lengths:
    choices, most = problem.choices, problem.most_slots
    limited = np.flatnonzero((most[choices.lane] >= 1) & np.isfinite(most[choices.lane]))
    rows = limited[np.lexsort((-choices.hours[limited], choices.lane[limited]))]
    lane, hours = choices.lane[rows], choices.hours[rows]
    new_lane = np.append(True, lane[1:] != lane[:-1])[: len(rows)]
    is_new = new_lane | np.append(True, hours[1:] != hours[:-1])[: len(rows)]
    length = np.cumsum(is_new) - 1
    first = np.flatnonzero(new_lane)
    starts = length[first]
    kinds = np.split(hours[is_new], starts[1:])[: len(first)]
    lanes = lane[first].tolist()
    slots = [
        Slot(number, float(problem.open_hours[number]) * SLACK, tuple(its.tolist()))
        for number, its in zip(lanes, kinds, strict=True)
    ]
    return _Lengths(slots, starts, rows, length)


def _as_heavy_as_can_be(worth: Floats, ways: Integers) -> Floats:
    """Return weights in proportion to worth, and then made heavier, the longest task's first, until no more can be.

    No way to fill a slot weighs more than 1. A row of `worth` is a lane, and has a number for each length of task.
    """
    held = np.zeros((len(worth), len(ways)))
    for kind in range(ways.shape[1]):  # a product of matrices may differ in last bits between machines
        held += worth[:, kind][:, None] * ways[:, kind][None, :]
    most = held.max(axis=1, initial=0.0)[:, None]
    weights, held = worth / most, held / most
    for kind in range(ways.shape[1]):
        counts = ways[:, kind]
        with_it = np.flatnonzero(counts)
        more = np.maximum(((1.0 - held[:, with_it]) / counts[with_it]).min(axis=1), 0.0)
        weights[:, kind] += more
        held += more[:, None] * counts[None, :]
    return np.asarray(weights)
