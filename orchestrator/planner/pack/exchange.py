"""Makes a solution of whole tasks cheaper: tasks move to cheaper places, and others there make room for them.

A task moves alone where there is room. Else it takes the room of tasks that go on to the cheapest place for them.
Every change is played before it is made. So limits are kept, and the order in which tasks start is counted on.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.model.arrays import SLACK
from orchestrator.planner.model.choices import NO_COPY, NO_POOL
from orchestrator.planner.pack.play import Load, fits

if TYPE_CHECKING:
    from orchestrator.planner.model.arrays import Booleans, Floats, Integers
    from orchestrator.planner.model.solution import Solution

ROUNDS, TRIES = 60, 700
"""Times that exchanges are looked for, and exchanges that are played in all."""
FEW = 40
"""Exchanges of one round that are played, the most saving first."""
LEAST = 1e-7
"""The part of the cost that an exchange must save."""
MANY = 4_000_000
"""Pairs of a place in use and a place that tasks may go to, beyond which it takes too long to compare them."""


@dataclass(frozen=True)
class Exchange:
    """Tasks of the choice `out` go to the choice `to`, and others of the choice `ejected` make room there."""

    out: int
    to: int
    moved: int
    ejected: int
    """The choice, or -1 where there is room."""
    onto: int
    """The choice that the ejected tasks go to."""
    count: int


def exchange_tasks(solution: Solution) -> Solution:
    """Return the solution with tasks exchanged as long as that saves something. Its copies are made, and no others."""
    problem = solution.problem
    if len(problem.choices) * np.count_nonzero(solution.tasks) > MANY:
        return solution
    search = _Search(solution)
    for _ in range(ROUNDS):
        exchanges = search.exchanges()[:FEW]
        if not exchanges or search.tries >= TRIES:
            break
        for exchange in exchanges:
            search.make(exchange)
    return replace(solution, tasks=search.tasks)


class _Search:
    """The tasks of each choice, while they are exchanged."""

    def __init__(self, solution: Solution) -> None:
        problem = self._problem = solution.problem
        choices = problem.choices
        self.tasks, self._slots = solution.tasks.copy(), solution.slots
        self.tries = 0
        self._charges = float(problem.charges[solution.copies].sum())
        self._row = np.full((len(problem.counts), problem.lanes), -1)
        """The choice of each cohort on each lane, the cheapest if there are several; -1 where there is none."""
        usable = np.flatnonzero(_usable(solution))
        dearest_first = usable[np.argsort(-choices.usd[usable], kind="stable")]
        self._row[choices.cohort[dearest_first], choices.lane[dearest_first]] = dearest_first
        by_lane = np.argsort(choices.lane, kind="stable")
        self._on_lane = np.split(by_lane, np.cumsum(np.bincount(choices.lane, minlength=problem.lanes))[:-1])
        self._room = np.where(np.isfinite(self._slots), self._slots, 0.0) * problem.latest_end * SLACK
        self._room[~np.isfinite(self._slots)] = np.inf
        self._version = np.zeros(problem.lanes, dtype=np.int64)
        self._failed: set[tuple[object, ...]] = set()
        self._least = LEAST * solution.usd

    def exchanges(self) -> list[Exchange]:
        """Return what would save something, as far as hours tell; the most saving first."""
        choices, used = self._problem.choices, np.flatnonzero(self.tasks)
        free = self._free()
        cohort = choices.cohort[used]
        rows = self._row[cohort]  # a row for each choice in use, a column for each lane
        saved = np.where(rows >= 0, choices.usd[used][:, None] - choices.usd[rows], -np.inf)
        saved[np.arange(len(used)), choices.lane[used]] = -np.inf
        out, lane = np.nonzero(saved > self._least / np.maximum(self.tasks[used], 1)[:, None])
        gain, to = saved[out, lane], rows[out, lane]
        hours = choices.hours[to]
        there = free[lane] >= hours
        most = np.minimum(np.floor(free[lane] / hours), self.tasks[used[out]])
        found = [
            (float(gain[n] * most[n]), Exchange(int(used[out[n]]), int(to[n]), 1, -1, -1, 0))
            for n in np.flatnonzero(there).tolist()
        ]
        found += self._ejections(used, free, (out, lane, gain, to))
        found.sort(key=lambda each: (-each[0], each[1].out, each[1].to, each[1].ejected))
        return [exchange for _, exchange in found if self._key(exchange) not in self._failed]

    def _ejections(
        self, used: Integers, free: Floats, moves: tuple[Integers, Integers, Floats, Integers]
    ) -> list[tuple[float, Exchange]]:
        """Return the exchanges in which some tasks make room for others, with what each saves."""
        choices = self._problem.choices
        out, lane, gain, to = moves
        onto, extra = self._next_place(used, free)
        found = []
        lane_of_used = choices.lane[used]
        for number in np.unique(lane).tolist():
            here = np.flatnonzero(lane == number)
            there = np.flatnonzero((lane_of_used == number) & (onto >= 0))
            if not len(there):
                continue
            hours_in, hours_out = choices.hours[to[here]][:, None], choices.hours[used[there]][None, :]
            count = np.maximum(np.ceil((hours_in - free[number]) / hours_out - 1e-9), 1)
            moved = np.maximum(np.floor((free[number] + count * hours_out) / hours_in + 1e-9), 1)
            moved = np.minimum(moved, self.tasks[used[out[here]]][:, None])
            saved = moved * gain[here][:, None] - count * extra[there][None, :]
            other = choices.cohort[used[out[here]]][:, None] != choices.cohort[used[there]][None, :]
            good = (saved > self._least) & other & (count <= self.tasks[used[there]][None, :])
            first_of, second_of = np.nonzero(good)
            best = np.argsort(-saved[first_of, second_of], kind="stable")[:FEW]
            for first, second in zip(first_of[best], second_of[best], strict=True):
                exchange = Exchange(
                    int(used[out[here[first]]]),
                    int(to[here[first]]),
                    int(moved[first, second]),
                    int(used[there[second]]),
                    int(onto[there[second]]),
                    int(count[first, second]),
                )
                found.append((float(saved[first, second]), exchange))
        found.sort(key=lambda each: -each[0])
        return found[: 10 * FEW]

    def _next_place(self, used: Integers, free: Floats) -> tuple[Integers, Floats]:
        """Return for each choice in use the cheapest other choice that has room, or -1; and how much dearer it is."""
        choices = self._problem.choices
        rows = self._row[choices.cohort[used]]
        usd = np.where((rows >= 0) & (choices.hours[rows] <= free[None, :]), choices.usd[rows], np.inf)
        usd[np.arange(len(used)), choices.lane[used]] = np.inf
        best = usd.argmin(axis=1)
        extra = usd[np.arange(len(used)), best] - choices.usd[used]
        return np.where(np.isfinite(extra), rows[np.arange(len(used)), best], -1), extra

    def make(self, exchange: Exchange) -> bool:
        """Make this exchange, then twice as much of it, and so on, while that can be made; return False if none can."""
        changes = {exchange.out: -exchange.moved, exchange.to: exchange.moved}
        if exchange.ejected >= 0:
            for row, count in ((exchange.ejected, -exchange.count), (exchange.onto, exchange.count)):
                changes[row] = changes.get(row, 0) + count
        if self._key(exchange) in self._failed or self.tries >= TRIES:
            return False
        if not self._try(changes):
            self._failed.add(self._key(exchange))
            return False
        while self._try(changes := {row: 2 * count for row, count in changes.items()}):
            pass
        return True

    def _try(self, changes: dict[int, int]) -> bool:
        """Change the numbers of tasks, and return True, if everything still fits."""
        self.tries += 1
        tasks = self.tasks.copy()
        for row, count in changes.items():
            tasks[row] += count
        rows = np.array(list(changes))
        if (tasks[rows] < 0).any() or not self._is_paid(tasks):
            return False
        lanes = np.unique(self._problem.choices.lane[rows]).tolist()
        if not all(self._fits(lane, tasks) for lane in lanes):
            return False
        self.tasks = tasks
        self._version[lanes] += 1
        return True

    def _fits(self, lane: int, tasks: Integers) -> bool:
        choices = self._problem.choices
        rows = self._on_lane[lane][tasks[self._on_lane[lane]] > 0].tolist()
        loads = [Load(float(choices.hours[row]), float(choices.wait[row]), int(tasks[row])) for row in rows]
        return fits(float(self._slots[lane]), float(self._problem.latest_end[lane]), loads)

    def _is_paid(self, tasks: Integers) -> bool:
        """Return whether pools pay for these tasks, and the budget is kept."""
        problem = self._problem
        if len(problem.pools) and (problem.drawn_usd(tasks) > problem.funds * SLACK).any():
            return False
        if not np.isfinite(problem.budget):
            return True
        return float(tasks @ problem.choices.promise + self._charges) <= problem.budget * SLACK

    def _free(self) -> Floats:
        """Return the hours of each lane in which nothing runs."""
        choices = self._problem.choices
        busy = np.bincount(choices.lane, weights=self.tasks * choices.hours, minlength=self._problem.lanes)
        return np.maximum(self._room - busy, 0.0)

    def _key(self, exchange: Exchange) -> tuple[object, ...]:
        """Return what an exchange is known by for as long as nothing changes on its lanes."""
        rows = [exchange.out, exchange.to] + [exchange.ejected, exchange.onto] * (exchange.ejected >= 0)
        return exchange, *self._version[self._problem.choices.lane[rows]].tolist()


def _usable(solution: Solution) -> Booleans:
    """Return which choices tasks may go to: their data is there, their lane has slots, and no pool pays for them."""
    problem = solution.problem
    made = np.zeros(len(problem.charges) + 1, dtype=bool)
    made[solution.copies] = True
    made[NO_COPY] = True
    choices = problem.choices
    return np.asarray(made[choices.copy] & (solution.slots[choices.lane] >= 1) & (choices.pool == NO_POOL))
