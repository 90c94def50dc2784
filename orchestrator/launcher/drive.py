"""Bring one task to its end: record an attempt, start or adopt its training, watch it, try again or elsewhere.

What holds at every line, however many launchers drive the same task and wherever they are killed:

- an attempt is recorded before its training is started, and each number is recorded once;
- attempt n+1 is recorded only when the platform has said, in the Region of n, that n has ended;
- a recorded attempt whose training is not found is started again: same name, same request. Never the next number;
- a task that belongs to a newer submission is left alone: its owner takes over all that was recorded.

So at most one training of a task is alive. docs/protocol.md has the whole argument.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from orchestrator.errors import (
    AccessError,
    AlreadyExists,
    InvalidRequest,
    NewerVersion,
    NoCapacity,
    QuotaExceeded,
    SweepError,
    Throttled,
    Unreachable,
)
from orchestrator.launcher.decide import End, Start, decide, exit_of, exit_of_failure
from orchestrator.launcher.moving.leaving import Leaving
from orchestrator.launcher.moving.moves import Moves
from orchestrator.launcher.pause import Pause
from orchestrator.launcher.task_history import Standing
from orchestrator.launcher.trainings import Trainings
from orchestrator.launcher.turn import Turn
from orchestrator.launcher.watching.lookout import Lookout
from orchestrator.wire.exits import Exit
from orchestrator.wire.reasons import why_put_off
from orchestrator.wire.result import Cause, TaskState

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.launcher.task_history import TaskHistory
    from orchestrator.launcher.world import World
    from orchestrator.platforms.base import Runner
    from orchestrator.wire.result import Attempt, Outcome
    from orchestrator.wire.task import Task

log = logging.getLogger(__name__)

PASSING = (Throttled, QuotaExceeded, Unreachable)
"""Errors that say nothing about the task: waiting helps, and nothing else does."""
FINAL = (NoCapacity, InvalidRequest, AccessError, AlreadyExists)
"""Errors after which a start is not tried again as it is."""
CANCELLED = End(TaskState.CANCELLED, Exit.CANCELLED, "cancelled")
LAST_WORD_S = 20.0
"""Seconds that a cancelled launcher waits for its training to end, so that it can say how. Batch's grace is 30 s."""


class Driver:
    """Brings one task to its end. All that matters lies in S3 and in the platform: it may die at any line."""

    def __init__(self, history: TaskHistory, runners: Callable[[str], Runner], world: World) -> None:
        self.task: Task = history.task
        self.history = history
        self.trainings = Trainings(history.task, history.control, runners, world)
        self.world = world
        self.turn = Turn(history, self.trainings, world)
        self.pause = Pause(history, self.trainings, self.turn)
        self.moves = Moves(history, self.trainings, world)
        self.leaving = Leaving(self.moves)
        self.lookout = Lookout(history.control, runners, world, self.trainings.pace)
        self._just_recorded = 0
        """The number of the attempt that we have just recorded: nobody can have started it before us."""
        self._unanswered: set[int] = set()
        """Numbers of attempts that we tried to start, without an answer that they run."""
        self._waited_before = 0
        """The number of the attempt before which we have waited, because of the refusals before it."""
        self._leaves_at: float | None = None
        """When a cancelled launcher goes at the latest; None while it has not been asked to go."""

    def drive(self) -> Exit:
        """Go on until the task has ended, or this launcher may not go on. Return what Batch is to make of it."""
        exit_code, loaded, refusals = None, False, 0
        while exit_code is None:
            try:
                exit_code = self._take_step() if loaded else self._load()
                loaded, refusals = True, 0
            except PASSING as error:
                refusals += 1
                log.warning("task %d: %s", self.task.number, error)
                if self.world.terminated():
                    exit_code = Exit.RESTART  # no time to try again: whoever comes next, or the cancel itself, will
                else:
                    self.world.sleep(self.world.back_off(self.trainings.poll_s, refusals))
            except SweepError as error:
                exit_code = self._leave_unfinished(error)
        self.lookout.leave()
        self.turn.leave(exit_code)
        return exit_code

    def _load(self) -> Exit | None:
        """Return an exit code if the task has ended already: this is a restart, or a second array's launcher."""
        result = self.history.load()
        if result is None or result.submission < self.history.submission:
            return None
        if result.submission > self.history.submission:
            log.info("task %d: submission %d has taken over", self.task.number, result.submission)
            return Exit.CANCELLED
        if not result.state.terminal:
            return None
        self.history.control.tell_again(self.task.number)  # whoever wrote it may have been killed before it told
        return exit_of(result)

    def _take_step(self) -> Exit | None:
        """Take one step. Each starts from what is known, so any of them may be the first after a restart."""
        if self.world.terminated():
            return self._on_sigterm()
        if (attempt := self.history.open()) is not None:
            return self._follow(attempt)
        step = self.pause.hold(self._decide())
        return self._end(step) if isinstance(step, End) else self._record(step)

    def _decide(self) -> Start | End:
        ahead, tried = self.moves.ahead(), self.history.tried()  # the former learns what moves have cost
        ahead = self.trainings.with_sites(ahead, tried)
        return decide(self.task, tried, self.history.spent, self.world.now(), ahead)

    def _record(self, step: Start) -> Exit | None:
        """Record the next attempt, if we still may. Whoever loses the race for its number follows what was recorded."""
        number = self.history.newest + 1
        if step.refusals and self._waited_before != number:
            self._waited_before = number
            self.world.sleep(self.world.back_off(self.trainings.poll_s, step.refusals))
            return None
        place = self.task.places[step.place]
        if wrong := self.trainings.why_not_read(place):
            return self._end(End(TaskState.FAILED, Exit.TASK_WRONG, wrong))
        if not self.moves.bring(place):
            return None
        standing = self.history.standing()
        if standing is not Standing.WANTED:
            return self._leave(standing)
        if not self.turn.has_come(step):
            self.turn.wait(step)
            return None
        step = self.trainings.at_a_site(step, self.history.tried())
        attempt = self.trainings.attempt(step, number, self.history.submission, self.world.now())
        if self.history.record(attempt):
            self._just_recorded = number
        return None

    def _follow(self, attempt: Attempt) -> Exit | None:
        """Look at an attempt that has not ended, as far as we know; start it if it is not there."""
        if attempt.number == self._just_recorded:
            return self._start(attempt)
        if attempt.number in self._unanswered:
            # Starting it again says more than looking for it again; but not if somebody has gone on meanwhile.
            self.history.refresh()
            if self.history.may_start(attempt):
                return self._start(attempt)
        self.trainings.template(attempt.lane)
        outcome = self.trainings.poll(attempt)
        if outcome is not None:
            return self._take_note(attempt, outcome)
        if self.history.may_start(attempt):
            return self._start(attempt)
        self.history.give_up(attempt)
        return None

    def _take_note(self, attempt: Attempt, outcome: Outcome) -> Exit | None:
        """Write down what the platform says of an attempt; wait while it runs, and stop it if the run is cancelled."""
        due = outcome.state.terminal or self.lookout.reads_logs(attempt)
        outcome = self.trainings.read_logs(self.history, attempt, outcome, due=due)
        outcome = self.leaving.explain(attempt, outcome)
        self.history.outcomes[attempt.number] = outcome
        if outcome.state.terminal:
            self._say(attempt, f"{outcome.state.value} after {outcome.seconds:.0f} s. {outcome.reason}".strip())
            return None
        self.history.publish(outcome.state)
        standing = self.history.standing()
        if standing is Standing.SUPERSEDED:
            return self._leave(standing)
        if standing is Standing.CANCELLED or outcome.ended_for or self.leaving.has_come(attempt, outcome):
            self.trainings.stop(attempt)
            self.world.sleep(self.trainings.poll_s)
        else:
            self.lookout.wait(attempt)
        return None

    def _start(self, attempt: Attempt) -> Exit | None:
        """Start the recorded attempt, or adopt it. Whether we still may is asked before, and again after."""
        standing = self.history.standing()
        if standing is not Standing.WANTED:
            return self._leave_before_start(attempt, standing)
        tried_before = attempt.number in self._unanswered
        self._just_recorded = 0
        self._unanswered.add(attempt.number)
        self.history.note(attempt, self.world.now())
        try:
            self.trainings.start(self.trainings.recorded_request(attempt))
        except PASSING as error:
            self.history.publish(TaskState.STARTING, why_put_off(error))
            raise
        except FINAL as error:
            return self._take_refusal(attempt, error, tried_before)
        self._unanswered.discard(attempt.number)
        self._say(attempt, f"started as {attempt.lane}")
        return self._look_back(attempt)

    def _look_back(self, attempt: Attempt) -> Exit | None:
        """Stop a training just started, if a cancel came meanwhile, or another launcher gave its attempt up."""
        self.history.refresh()
        standing = self.history.standing()
        if standing is Standing.SUPERSEDED:
            return self._leave(standing)
        if standing is Standing.CANCELLED or not self.history.may_start(attempt):
            self._say(attempt, "is not wanted any more: stopped")
            self.trainings.stop(attempt)
        self.history.publish(TaskState.STARTING)
        self.lookout.wait(attempt)
        return None

    def _take_refusal(self, attempt: Attempt, error: SweepError, tried_before: bool) -> Exit | None:
        """End an attempt that will not be started; unless an earlier start of it went through, its answer lost."""
        if tried_before and not isinstance(error, AlreadyExists) and self.trainings.poll(attempt) is not None:
            self._unanswered.discard(attempt.number)
            return None
        if isinstance(error, NoCapacity):
            self.history.note(attempt, self.world.now(), Cause.CAPACITY, str(error))
            return None
        cause = Cause.TASK if isinstance(error, InvalidRequest) else Cause.NONE
        self.history.note(attempt, self.world.now(), cause, str(error))
        return self._end(End(TaskState.FAILED, exit_of_failure(cause), str(error)))

    def _leave(self, standing: Standing) -> Exit:
        """Exit, for we may not go on. What has ended by itself, without a cancel, has ended so.

        A task that belongs to a newer submission is left as it is.
        """
        if standing is Standing.SUPERSEDED:
            log.info("task %d: a newer submission has taken over", self.task.number)
            return Exit.CANCELLED
        step = None if self.history.open() else self._decide()
        return self._end(step if isinstance(step, End) else CANCELLED)

    def _leave_before_start(self, attempt: Attempt, standing: Standing) -> Exit | None:
        """Exit; unless the run is cancelled, and an earlier start of the attempt may have gone through, unanswered."""
        if standing is Standing.CANCELLED and attempt.number in self._unanswered:
            self._unanswered.discard(attempt.number)
            return None
        return self._leave(standing)

    def _on_sigterm(self) -> Exit | None:
        """Go. A training is left to the launcher that Batch starts next; that of a cancelled run is stopped.

        A training that stops has not ended yet. We wait a little, to say how it did; later, `cancel` or `sync` will.
        """
        standing = self.history.standing()
        if standing is Standing.WANTED:
            log.info("task %d: asked to go; what runs goes on running", self.task.number)
            return Exit.RESTART
        attempt = self.history.open()
        if standing is Standing.SUPERSEDED or attempt is None:
            return self._leave(standing)
        outcome = self.trainings.poll(attempt)
        if outcome is None:
            return Exit.CANCELLED if attempt.number in self._unanswered else self._leave(standing)
        if outcome.state.terminal:
            return self._take_note(attempt, outcome)
        self.trainings.stop(attempt)
        self._leaves_at = self._leaves_at or self.world.now() + LAST_WORD_S
        if self.world.now() >= self._leaves_at:
            self._say(attempt, "is stopping, and somebody else will see its end")
            return Exit.CANCELLED
        self.world.sleep(1.0)
        return None

    def _end(self, end: End) -> Exit:
        """Write the task's result for good, and return its exit code."""
        log.info("task %d: %s. %s", self.task.number, end.state.value, end.reason)
        self.history.publish(end.state, end.reason)
        self.pause.note_end(end.state)
        return end.exit

    def _leave_unfinished(self, error: SweepError) -> Exit:
        """Exit, for we may not look or what we need is not there. A training that runs is left for `sync` to settle."""
        log.error("task %d: %s", self.task.number, error)
        attempt = self.history.open()
        # What a newer launcher has written, and we cannot read, may say that the task goes on.
        state = TaskState.STARTING if isinstance(error, NewerVersion) else TaskState.FAILED
        if attempt is not None:
            outcome = self.history.outcomes.get(attempt.number)
            state = outcome.state if outcome else TaskState.STARTING
        self.history.publish(state, str(error))
        return Exit.UNAVAILABLE

    def _say(self, attempt: Attempt, what: str) -> None:
        log.info("task %d attempt %d: %s %s", self.task.number, attempt.number, attempt.training, what)
