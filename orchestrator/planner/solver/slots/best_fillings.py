"""Finds the filling of each lane that is worth most: in a list of all, where tasks have few lengths; else by search."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from orchestrator.planner.model.arrays import SLACK
from orchestrator.planner.solver.slots.all_ways import Slot, make_lookups
from orchestrator.planner.solver.slots.fill_slot import Kind, fill_slot

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.planner.model.arrays import Floats, Integers
    from orchestrator.planner.model.problem import Problem
    from orchestrator.planner.solver.slots.rest import Rest

KINDS = 20
"""Kinds of tasks that are looked at for one slot: those that are worth most by the hour."""
LEAST = 1e-9
"""Tasks that are worth no more than this are worth nothing."""
BETTER = 1 + 1e-6
"""A filling must be worth so many times what a slot costs."""


class Filling(NamedTuple):
    """One slot with whole tasks in it. On a lane that is under no limit it is one task."""

    lane: int
    rows: Integers
    """Its choices."""
    counts: Integers
    """The number of tasks of each."""


class BestFillings:
    """The best fillings of all lanes that are limited, for these choices of a problem."""

    def __init__(self, problem: Problem, rows: Integers) -> None:
        choices = problem.choices
        self._problem = problem
        limited = rows[np.isfinite(problem.most_slots[choices.lane[rows]])]
        order = np.lexsort((limited, -choices.hours[limited], choices.lane[limited]))
        in_order = limited[order]
        lane = choices.lane[in_order]
        stops = np.flatnonzero(np.append(True, lane[1:] != lane[:-1])).tolist() if len(lane) else []
        self._slots: list[Slot] = []
        """The slots of each lane, from the time on at which its first tasks may start, and its last."""
        self._rows: list[Integers] = []
        """The choices of each slot, the longest first."""
        for start, stop in pairwise([*stops, len(in_order)]):
            its = in_order[start:stop]
            number, waits = int(lane[start]), choices.wait[its]
            for wait in sorted({float(waits.min()), float(waits.max())}):
                some = its[waits <= wait]
                hours = choices.hours[some]
                kinds = tuple(hours[np.append(True, hours[1:] != hours[:-1])].tolist())
                self._slots.append(Slot(number, float(problem.latest_end[number]) - wait, kinds))
                self._rows.append(some)
        self._lookups, others = make_lookups(self._slots)
        self._searched = others.tolist()
        self._look_up = [self._numbered(lookup.numbers) for lookup in self._lookups]

    def _numbered(self, numbers: Integers) -> tuple[Integers, Integers]:
        """Return the choices of these slots, slot by slot and the longest first; and where each length begins."""
        rows = np.concatenate([self._rows[number] for number in numbers.tolist()])
        hours, slot = self._problem.choices.hours[rows], np.repeat(numbers, [len(self._rows[n]) for n in numbers])
        begins = np.flatnonzero(np.append(True, (hours[1:] != hours[:-1]) | (slot[1:] != slot[:-1])))
        return rows, begins

    def paying(self, worth: Floats, price: Floats, rest: Rest, least: float) -> Iterator[Filling]:
        """Yield fillings that are worth more than their slot costs: the best of each lane.

        `worth` says what one task of each choice is worth, and `price` what one slot of each lane costs. Lanes whose
        slots could not save as much as `least`, all together, are passed over.
        """
        worth = np.where(rest.left[self._problem.choices.cohort] > 0, worth, -np.inf)
        searched = list(self._searched)
        for lookup, (rows, begins) in zip(self._lookups, self._look_up, strict=True):
            value = worth[rows]
            best = np.maximum.reduceat(value, begins)
            sizes = np.diff(np.append(begins, len(rows)))
            first = np.flatnonzero(value == np.repeat(best, sizes))
            kind = np.searchsorted(begins, first, side="right") - 1
            best_row = rows[first[np.unique(kind, return_index=True)[1]]]
            shape = len(lookup.numbers), lookup.ways.shape[1]
            lanes = np.array([self._slots[number].lane for number in lookup.numbers.tolist()])
            counts, values = lookup.best(best.reshape(shape))
            saved = (values - price[lanes]) * rest.slots[lanes]
            for position in np.flatnonzero((values > price[lanes] * BETTER) & (saved > least)).tolist():
                used = np.flatnonzero((counts[position] > 0) & (best.reshape(shape)[position] > LEAST))
                its, number = best_row.reshape(shape)[position][used], counts[position][used]
                if (rest.left[self._problem.choices.cohort[its]] >= number).all():
                    yield Filling(int(lanes[position]), its, number)
                else:
                    searched.append(int(lookup.numbers[position]))
        for slot in sorted(searched):
            yield from self._search(slot, worth, price, rest, least)

    def _search(self, number: int, worth: Floats, price: Floats, rest: Rest, least: float) -> Iterator[Filling]:
        """Yield the best filling of one slot, if that pays."""
        choices, slot = self._problem.choices, self._slots[number]
        rows = self._rows[number]
        rows = rows[worth[rows] > LEAST]
        if not len(rows):
            return
        by_hour = worth[rows] / choices.hours[rows]
        order = np.lexsort((rows, -by_hour))
        if (by_hour[order[0]] * slot.hours - price[slot.lane]) * rest.slots[slot.lane] <= least:
            return
        kinds = self._kinds(rows[order], slot.hours, rest)
        most = rest.left[choices.cohort[kinds]]
        facts = zip(worth[kinds].tolist(), choices.hours[kinds].tolist(), most.tolist(), strict=True)
        counts, value = fill_slot([Kind(*each) for each in facts], slot.hours)
        if value > price[slot.lane] * BETTER:
            used = np.flatnonzero(counts)
            yield Filling(slot.lane, kinds[used], np.array(counts)[used])

    def _kinds(self, rows: Integers, hours: float, rest: Rest) -> Integers:
        """Return those of some choices, the best first, of which a slot takes tasks: of equal ones the best suffice."""
        choices, found = self._problem.choices, []
        room: dict[float, int] = {}
        for row in rows.tolist():
            length = float(choices.hours[row])
            left = room.get(length, int(hours * SLACK / length))
            if left > 0:
                found.append(row)
                room[length] = left - int(rest.left[choices.cohort[row]])
        return np.array(found[:KINDS], dtype=np.int64)
