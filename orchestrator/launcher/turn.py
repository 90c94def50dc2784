"""The turn of a task: when may it begin? After the canaries of its lane, and when the run's limit has room for it.

Both save money or machines, and nothing rests on them: a task that has begun goes on, whatever they say.
"""

from __future__ import annotations

import logging
from itertools import count, islice, takewhile
from typing import TYPE_CHECKING

from orchestrator.aws.turns import Turns
from orchestrator.errors import Damaged, NewerVersion, SweepError
from orchestrator.wire.beside.markers import PAUSED, Canary
from orchestrator.wire.exits import Exit
from orchestrator.wire.reasons import shortened
from orchestrator.wire.result import Cause, TaskState

if TYPE_CHECKING:
    from orchestrator.launcher.decide import Start
    from orchestrator.launcher.task_history import TaskHistory
    from orchestrator.launcher.trainings import Trainings
    from orchestrator.launcher.world import World
    from orchestrator.wire.beside.markers import Limit
    from orchestrator.wire.result import Result
    from orchestrator.wire.task import Lane

log = logging.getLogger(__name__)

COUNTING_S = 900.0
"""Seconds after which a limit holds though not all is counted that ran when it was set: whoever set it was killed."""
CHECKED = 3
"""Tasks written down as running that a waiting launcher looks up: a launcher that died may have left one there."""
LOOKS = 10.0
"""Looks in a second by all launchers of a Region that wait for their turn."""


class Turn:
    """The turn of one task, as its launcher sees it."""

    def __init__(self, history: TaskHistory, trainings: Trainings, world: World) -> None:
        self.history = history
        self.task = history.task
        self.trainings = trainings
        self.world = world
        self.turns = Turns(history.control)
        self._lane_is_safe = False
        """The canaries of our lane are done, or we are one of them."""
        self._held: tuple[Lane, int] | None = None
        """The lane and the instances that we have written down as ours."""
        self._told = ""

    def has_come(self, step: Start) -> bool:
        """Return whether the task may take this step now. If not, `wait` until it is asked again."""
        place = self.task.places[step.place]
        waits_for = ""
        try:
            if not self._follows_canaries():
                waits_for = f"the canary of {self._lane}"
            elif not self._fits(place.lane, place.instances):
                waits_for = "the run's limit"
        except (Damaged, NewerVersion) as error:
            log.warning("task %d: begins, for whose turn it is cannot be understood: %s", self.task.number, error)
        if waits_for and waits_for != self._told:
            log.info("task %d: waits for %s", self.task.number, waits_for)
        self._told = waits_for
        return not waits_for

    def wait(self, step: Start) -> None:
        """Wait until it is to be asked again whether the task's turn has come."""
        pace = self.trainings.pace(self.task.places[step.place].lane)
        seconds = max(pace.poll_s, pace.at_once / LOOKS)
        self.world.sleep(self.world.uniform(0.5, 1.0) * seconds)

    def leave(self, exit_code: Exit) -> None:
        """Make room for others, unless the task's training may go on without us."""
        if self._held is None or exit_code in (Exit.RESTART, Exit.UNAVAILABLE):
            return
        self._let_go()

    def _let_go(self) -> None:
        try:
            self.turns.note_gone(self.task.number)
        except SweepError as error:
            log.warning("others will find that task %d holds no slot: %s", self.task.number, error)

    @property
    def _lane(self) -> Lane:
        """The lane of the task's first choice, wherever it comes to run."""
        return self.task.places[0].lane

    @property
    def _canaries(self) -> int:
        return self.trainings.template(self._lane).canary

    def is_canary(self) -> bool:
        """Return whether the task was sent ahead of its lane."""
        if not self._canaries:
            return False
        there = takewhile(lambda canary: canary is not None, map(self._canary, count(1)))
        return any(canary and self._is_ours(canary) for canary in there)

    def _is_ours(self, canary: Canary) -> bool:
        """Return whether we go ahead of our lane. What went ahead in an earlier submission waits like any other."""
        return (canary.task, canary.submission) == (self.task.number, self.history.submission)

    def _follows_canaries(self) -> bool:
        if not self._canaries or self._lane_is_safe or self.history.tried():
            return True
        self._lane_is_safe = self._may_follow()
        return self._lane_is_safe

    def _may_follow(self) -> bool:
        """Return whether all canaries of the lane are done, or we have become one of them."""
        done: set[int] = set()
        ahead = 0
        for number in count(1):
            canary = self._canary(number)
            if canary is None:
                if len(done) + ahead >= self._canaries:
                    return False
                ours = Canary(self.task.number, self.world.now() + self._longest_s, self.history.submission)
                if self.turns.send_ahead(self._lane, number, ours):
                    return True
                canary = self._canary(number)
            if canary is None or self._is_ours(canary):
                return True
            found = self.history.control.result(canary.task)
            if found and self._has_failed_by_itself(found[0]):
                # Its own launcher says so too, a moment later, if it is not killed before.
                why = self.why_pause(canary.task, found[0].reason)
                self.history.control.pause(self.history.submission, why)
                return False
            if found and found[0].state is TaskState.DONE:
                done.add(canary.task)
            elif canary.submission == self.history.submission and self.world.now() < canary.until:
                ahead += not found or not found[0].state.terminal or found[0].submission < canary.submission
            if len(done) >= self._canaries:
                return True
        return False

    def _has_failed_by_itself(self, result: Result) -> bool:
        """Return whether a task of our own submission has failed for a reason that others would share."""
        if result.state is not TaskState.FAILED or result.submission != self.history.submission or not result.outcomes:
            return False
        return result.outcomes[-1].cause in (Cause.TASK, Cause.TIMEOUT)

    def why_pause(self, task: int, reason: str) -> str:
        """Return in words why the run pauses when this task, which went ahead of our lane, has failed."""
        said = shortened(reason) or "no reason was given"
        return f"{PAUSED}task {task} went ahead of {self._lane} and has failed: {said}"

    def _canary(self, number: int) -> Canary | None:
        return self.turns.canary(self._lane, number)

    @property
    def _longest_s(self) -> float:
        limits = self.task.limits
        return (limits.max_runtime_s + limits.max_wait_s) * (1 + limits.retries) + limits.patience_s

    def _fits(self, lane: Lane, instances: int) -> bool:
        """Return whether the run's limit has room for the task, which is written down then.

        It is written down first and counted after: of two launchers that want the last room, at most one gets it.
        """
        limit = self.turns.limit()
        if not limit.slots or self._held == (lane, instances):
            return True
        if not limit.counted and self.world.now() < limit.set_at + COUNTING_S:
            return False
        if not self._has_room(limit, lane, instances):
            return False
        self.turns.note_running(self.task.number, lane, instances)
        if self._has_room(limit, lane, instances):
            self._held = (lane, instances)
            return True
        self._let_go()
        return False

    def _has_room(self, limit: Limit, lane: Lane, instances: int) -> bool:
        others = self.turns.running()
        others.pop(self.task.number, None)
        if limit.allows([(lane, instances), *(held for each in others.values() for held in each)]):
            return True
        self._drop_ended(list(others))
        return False

    def _drop_ended(self, tasks: list[int]) -> None:
        """Take some tasks out of what is written down as running, if they have ended."""
        first = int(self.world.uniform(0, len(tasks)))
        for task in islice([*tasks[first:], *tasks[:first]], CHECKED):
            found = self.history.control.result(task)
            if found and found[0].state.terminal:
                log.info("task %d has ended and holds no slot any more", task)
                self.turns.note_gone(task)
