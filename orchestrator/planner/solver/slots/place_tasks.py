"""Places whole tasks: lanes are filled one after the other, as a program says that sees how tasks fill slots.

What a lane does not take goes where the program, solved again, finds it cheapest. Where that turns out dear, or tasks
are left over, some lanes are filled anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.solver.slots.fill_lane import LaneToFill, Wanted, Way, fill_lane

if TYPE_CHECKING:
    from orchestrator.planner.model.arrays import Booleans, Floats, Integers
    from orchestrator.planner.model.problem import Problem
    from orchestrator.planner.model.time_limit import TimeLimit
    from orchestrator.planner.solver.slots.rest import Rest
    from orchestrator.planner.solver.slots.slot_program import SlotAnswer, SlotProgram

AT_ONCE = 12
"""Lanes of one part in so many of all that slots are worth are filled before the program is solved again."""
TRIES, FEWEST_TRIES = 6_000, 60
"""Numbers of tasks that are looked at for all lanes together, shared out by what lanes are worth; and at least for one
lane."""
QUICKER = 10
"""The part of these that are looked at where any plan is enough, one in so many."""
FEW_KINDS = 8
"""Kinds of tasks on a lane from which on fewer numbers of them are looked at, because each takes longer to play."""
BEYOND, STRICTLY = 0.03, 0.5
"""The part by which a task is worth less on a lane where the program has not put it: at first, and if that was dear."""
DEAR = 2e-4
"""The part of the cost by which filling some lanes may cost more, before they are filled otherwise."""
SMALL = 1e-7
"""The part of all cost that a lane's slots must be worth, to be filled with care."""
ANEW, PART = 5, 0.4
"""Times that some lanes are filled anew if tasks are left over, and the part of them."""
ALIKE = 0.95
"""Choices of equal tasks on a lane are looked at together if they are worth this part of the best one."""


class Placing:
    """Places the tasks of a problem by its slot program: with less care if it `is_quick`."""

    def __init__(self, problem: Problem, program: SlotProgram, *, is_quick: bool = False) -> None:
        self._problem, self._program = problem, program
        self._tries = TRIES // QUICKER if is_quick else TRIES
        self._lanes, self.rest = program.lanes, program.rest
        self._limited: Booleans = np.isfinite(problem.most_slots[self._lanes])
        self._held = np.zeros(problem.lanes, dtype=np.int64)
        """Slots of each lane that are filled."""
        rows, lane = program.rows, problem.choices.lane[program.rows]
        self._rows_on = {number: rows[lane == number] for number in self._lanes.tolist()}

    def place(self, time_limit: TimeLimit) -> Integers:
        """Return the tasks of each choice. Some may be left over, and some may not fit in the end."""
        self._fill(self._limited.copy(), time_limit)
        random = np.random.default_rng(0)
        for _ in range(ANEW):
            if not self.rest.left.any() or time_limit.is_out:
                break
            self._fill_anew(random, time_limit)
        return self.rest.tasks

    def place_at_once(self) -> Integers:
        """Return the tasks of each choice, for no more than the program says of all lanes. It takes far less time."""
        self._fill_rest(self._program.solve())
        return self.rest.tasks

    def _fill_anew(self, random: np.random.Generator, time_limit: TimeLimit) -> None:
        """Empty some lanes, and fill them anew. All stays as it was if more is left over then."""
        rest, held = self.rest.copy(), self._held.copy()
        some = random.random(len(self._lanes)) < PART
        for position in np.flatnonzero(some | ~self._limited | (self._held[self._lanes] == 0)).tolist():
            lane = int(self._lanes[position])
            self.rest.clear(lane, self._rows_on[lane], int(self._held[lane]))
            self._held[lane] = 0
        self._fill((self.rest.slots[self._lanes] > 0) & self._limited, time_limit)
        if self._left_usd(self.rest) > self._left_usd(rest):
            self._set(rest, held)

    def _left_usd(self, rest: Rest) -> float:
        """Return about what the tasks that are left over cost."""
        return float(rest.left @ self._problem.choices.usd[self._problem.cheapest])

    def _fill(self, is_open: Booleans, time_limit: TimeLimit) -> None:
        """Fill the lanes that are open, those first whose slots are worth most."""
        answer, all_worth = self._program.solve(), 0.0
        while self.rest.left.any():
            if not time_limit.is_out:
                answer = self._program.solve_with_more(answer)
            worth = answer.slot_usd[self._lanes] * answer.slots_taken[self._lanes]
            all_worth = all_worth or float(worth.sum())
            order = np.flatnonzero(is_open & (worth > SMALL * answer.usd))
            if not len(order):
                break
            order = order[np.argsort(-worth[order], kind="stable")]
            at_once = np.cumsum(worth[order]) <= all_worth / AT_ONCE
            first = order[: max(int(at_once.sum()), 1)]
            tries = [int(FEWEST_TRIES + self._tries * part) for part in (worth[first] / all_worth).tolist()]
            is_open[first] = False
            answer = self._fill_lanes(self._lanes[first].tolist(), tries, answer)
        self._fill_rest(answer)

    def _fill_lanes(self, lanes: list[int], tries: list[int], answer: SlotAnswer) -> SlotAnswer:
        """Fill these lanes, and once more if that was dear. Return the program's answer to what is left."""
        rest, held, before = self.rest.copy(), self._held.copy(), answer.usd + self._usd()
        found: list[tuple[float, Rest, Integers, SlotAnswer]] = []
        for beyond, part in ((BEYOND, 1.0), (STRICTLY, 0.3)):
            self._set(rest.copy(), held.copy())
            for lane, number in zip(lanes, tries, strict=True):
                self._fill_lane(lane, answer, int(number * part), beyond)
            after = self._program.solve()
            found.append((after.usd + self._usd(), self.rest, self._held, after))
            if found[-1][0] <= before * (1 + DEAR):
                break
        _, rest, held, after = min(found, key=lambda each: each[0])
        self._set(rest, held)
        return after

    def _set(self, rest: Rest, held: Integers) -> None:
        self.rest = self._program.rest = rest
        self._held = held

    def _usd(self) -> float:
        placed = np.flatnonzero(self.rest.tasks)
        return float(self.rest.tasks[placed] @ self._problem.choices.usd[placed])

    def _fill_lane(self, lane: int, answer: SlotAnswer, tries: int, beyond: float) -> None:
        """Fill the slots of a lane with about what the program has there."""
        about, taken = answer.about(lane), float(answer.slots_taken[lane])
        slots = self.rest.most_slots(lane)
        if lane in self._program.sharing:
            slots = min(int(taken + 0.5), slots)
        if slots < 1 or not about:
            self.rest.hold(lane, 0)
            return
        kinds = self._kinds(lane, about, answer.worth)
        wanted = [self._wanted(rows, about, answer.worth) for rows in kinds]
        kind_of = {row: number for number, rows in enumerate(kinds) for row in rows}
        ways = []
        for filling, part in answer.fillings(lane):
            counts = [0] * len(kinds)
            for row, count in zip(filling.rows.tolist(), filling.counts.tolist(), strict=True):
                counts[kind_of[row]] += count
            ways.append(Way(tuple(counts), part / taken))
        found = fill_lane(
            LaneToFill(slots, float(self._problem.latest_end[lane]), wanted, beyond),
            ways,
            tries * FEW_KINDS // max(len(kinds), FEW_KINDS),
        )
        self.rest.hold(lane, slots)
        self._held[lane] = slots
        for rows, count in zip(kinds, found, strict=True):
            self._take(rows, count, about)

    def _kinds(self, lane: int, about: dict[int, float], worth: Floats) -> list[list[int]]:
        """Return the choices that tasks may take there, those of equal hours together; what the program has first."""
        choices = self._problem.choices
        found: dict[tuple[float, float], list[int]] = {}
        for row in self._rows_on[lane].tolist():
            if row in about or (worth[row] > 0 and self.rest.left[choices.cohort[row]]):
                found.setdefault((float(choices.hours[row]), float(choices.wait[row])), []).append(row)
        for rows in found.values():
            rows.sort(key=lambda row: (row not in about, -worth[row]))
            least = ALIKE * max(float(worth[row]) for row in rows)
            rows[:] = [row for row in rows if row in about or worth[row] >= least]
        return list(found.values())

    def _wanted(self, rows: list[int], about: dict[int, float], worth: Floats) -> Wanted:
        choices, left = self._problem.choices, self.rest.left
        most = {int(choices.cohort[row]): int(left[choices.cohort[row]]) for row in rows}
        return Wanted(
            hours=float(choices.hours[rows[0]]),
            wait=float(choices.wait[rows[0]]),
            worth=float(worth[rows[0]]),
            about=sum(about.get(row, 0.0) for row in rows),
            most=sum(most.values()),
        )

    def _take(self, rows: list[int], count: int, about: dict[int, float]) -> None:
        """Place so many tasks by these choices, of each about as many as the program has."""
        total = sum(about.get(row, 0.0) for row in rows)
        scale = min(count / total, 1.0) if total > 0 else 0.0
        wished = {row: about.get(row, 0.0) * scale for row in rows}
        for row in rows:
            count -= self.rest.put(row, min(int(wished[row] + 1e-6), count))
        for row in sorted(rows, key=lambda row: -(wished[row] % 1.0)):
            count -= self.rest.put(row, min(int(row in about), count))
        for row in rows:
            count -= self.rest.put(row, count)

    def _fill_rest(self, answer: SlotAnswer) -> None:
        """Place whole tasks where the program has parts of them, for no more than it has."""
        for lane in self._lanes.tolist():
            for row, number in answer.about(lane).items():
                self.rest.put(row, int(number + 1e-6))
