"""Bring one task to its end: record an attempt, start or adopt its training, watch it, try again or elsewhere.

What holds at every line, however many launchers drive the same task and wherever they are killed:

- an attempt is recorded before its training is started, and each number is recorded once;
- attempt n+1 is recorded only when the platform has said, in the Region of n, that n has ended;
- a recorded attempt whose training is not found is started again: same name, same request. Never the next number.

So at most one training of a task is alive. docs/protocol.md has the whole argument.
"""

from __future__ import annotations

import logging
from dataclasses import replace
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
from orchestrator.wire.exits import Exit
from orchestrator.wire.result import Attempt, Cause, Outcome, TaskState

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.aws.control import Control
    from orchestrator.launcher.task_history import TaskHistory
    from orchestrator.launcher.world import World
    from orchestrator.platforms.base import Request, Runner
    from orchestrator.wire.task import Lane, Place, Task
    from orchestrator.wire.template import Template

log = logging.getLogger(__name__)

PASSING = (Throttled, QuotaExceeded, Unreachable)
"""Errors that say nothing about the task: waiting helps, and nothing else does."""
FINAL = (NoCapacity, InvalidRequest, AccessError, AlreadyExists)
"""Errors after which a start is not tried again as it is."""
CANCELLED = End(TaskState.CANCELLED, Exit.CANCELLED, "cancelled")
USUAL_POLL_S = 30.0
"""Seconds between two tries of anything, until a template says otherwise."""


class Driver:
    """Brings one task to its end. All that matters lies in S3 and in the platform: it may die at any line."""

    def __init__(self, history: TaskHistory, runners: Callable[[str], Runner], world: World) -> None:
        self.task: Task = history.task
        self.control: Control = history.control
        self.history = history
        self.runners = runners
        self.world = world
        self._templates: dict[tuple[str, str], Template] = {}
        self._poll_s = USUAL_POLL_S
        self._just_recorded = 0
        """The number of the attempt that we have just recorded: nobody can have started it before us."""
        self._unanswered: set[int] = set()
        """Numbers of attempts that we tried to start, without an answer that they run."""
        self._waited_before = 0
        """The number of the attempt before which we have waited, because of the refusals before it."""

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
                    self.world.sleep(self.world.back_off(self._poll_s, refusals))
            except SweepError as error:
                exit_code = self._leave_unfinished(error)
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
        log.info("task %d: %s already", self.task.number, result.state.value)
        return exit_of(result)

    def _take_step(self) -> Exit | None:
        """Take one step. Each starts from what is known, so any of them may be the first after a restart."""
        if self.world.terminated():
            return self._on_sigterm()
        attempt = self.history.open()
        if attempt is not None:
            return self._follow(attempt)
        step = decide(self.task, self.history.tried(), self.history.spent, self.world.now())
        if isinstance(step, End):
            return self._end(step)
        self._record(step)
        return None

    def _record(self, step: Start) -> None:
        """Record the next attempt. Whoever loses the race for its number follows what was recorded."""
        number = self.history.newest + 1
        if step.refusals and self._waited_before != number:
            self._waited_before = number
            self.world.sleep(self.world.back_off(self._poll_s, step.refusals))
            return
        place = self.task.places[step.place]
        request = self._request(place, number, step.max_runtime_s)
        attempt = Attempt(
            task=self.task.number,
            number=number,
            place=step.place,
            lane=request.lane,
            training=request.training,
            request_hash=request.hash,
            max_runtime_s=step.max_runtime_s,
            recorded_at=self.world.now(),
            rate=place.rate,
            site=place.site,
            instances=place.instances,
            output=self._template(place.lane).output,
        )
        if self.control.record(attempt):
            self.history.attempts.append(attempt)
            self._just_recorded = number
        else:
            self.history.refresh()

    def _follow(self, attempt: Attempt) -> Exit | None:
        """Look at an attempt that has not ended, as far as we know; start it if it is not there."""
        if attempt.number == self._just_recorded:
            return self._start(attempt)
        if attempt.number in self._unanswered:
            # Starting it again says more than looking for it again; but not if somebody has gone on meanwhile.
            self.history.refresh()
            if self.history.may_start(attempt):
                return self._start(attempt)
        self._template(attempt.lane)
        outcome = self._poll(attempt)
        if outcome is not None:
            self._take_note(attempt, outcome)
            return None
        if self.history.may_start(attempt):
            return self._start(attempt)
        self.history.give_up(attempt)
        return None

    def _take_note(self, attempt: Attempt, outcome: Outcome) -> None:
        """Write down what the platform says of an attempt; wait while it runs, and stop it if the run is cancelled."""
        if outcome.state is not TaskState.STARTING:
            reader = self.history.metrics_reader
            for one in reader.to_read(self.history.attempts, attempt):
                reader.read(self._runner(one.lane), one, self._template(one.lane))
            outcome = replace(outcome, metrics=reader.newest_values(outcome.metrics))
        self.history.outcomes[attempt.number] = outcome
        if outcome.state.terminal:
            self._say(attempt, f"{outcome.state.value} after {outcome.seconds:.0f} s. {outcome.reason}".strip())
            return
        self.history.publish(outcome.state)
        if self._cancelled():
            self._runner(attempt.lane).stop(attempt)
            self.world.sleep(self._poll_s)
        else:
            self.world.sleep(self.world.poll_interval(self._poll_s))

    def _start(self, attempt: Attempt) -> Exit | None:
        """Start the recorded attempt, or adopt it. The cancel marker is looked at before, and again after."""
        if self._cancelled():
            return self._cancel_before_start(attempt)
        tried_before = attempt.number in self._unanswered
        self._just_recorded = 0
        self._unanswered.add(attempt.number)
        self._set_outcome(attempt, TaskState.STARTING)
        try:
            self._runner(attempt.lane).start(self._recorded_request(attempt))
        except PASSING as error:
            self.history.publish(TaskState.STARTING, error.message)
            raise
        except FINAL as error:
            return self._take_refusal(attempt, error, tried_before)
        self._unanswered.discard(attempt.number)
        self._say(attempt, f"started as {attempt.lane}")
        self._stop_if_unwanted(attempt)
        self.history.publish(TaskState.STARTING)
        self.world.sleep(self.world.poll_interval(self._poll_s))
        return None

    def _take_refusal(self, attempt: Attempt, error: SweepError, tried_before: bool) -> Exit | None:
        """End an attempt that will not be started; unless an earlier start of it went through, its answer lost."""
        if tried_before and not isinstance(error, AlreadyExists) and self._poll(attempt) is not None:
            self._unanswered.discard(attempt.number)
            return None
        if isinstance(error, NoCapacity):
            self._set_outcome(attempt, TaskState.FAILED, Cause.CAPACITY, str(error))
            return None
        cause = Cause.TASK if isinstance(error, InvalidRequest) else Cause.NONE
        self._set_outcome(attempt, TaskState.FAILED, cause, str(error))
        return self._end(End(TaskState.FAILED, exit_of_failure(cause), str(error)))

    def _cancel_before_start(self, attempt: Attempt) -> Exit | None:
        """End the task; unless an earlier start of the attempt may have gone through, its answer lost."""
        if attempt.number not in self._unanswered:
            return self._end(CANCELLED)
        self._unanswered.discard(attempt.number)
        return None

    def _stop_if_unwanted(self, attempt: Attempt) -> None:
        """Stop a training just started, if a cancel came meanwhile, or another launcher gave its attempt up."""
        self.history.refresh()
        if self._cancelled() or not self.history.may_start(attempt):
            self._say(attempt, "is not wanted any more: stopped")
            self._runner(attempt.lane).stop(attempt)

    def _on_sigterm(self) -> Exit:
        """Stop the training if the run is cancelled; else leave it to the launcher that Batch starts next."""
        if not self._cancelled():
            log.info("task %d: asked to go; what runs goes on running", self.task.number)
            return Exit.RESTART
        attempt = self.history.open()
        if attempt is not None:
            self._runner(attempt.lane).stop(attempt)
            outcome = self._poll(attempt)
            if outcome is not None:
                self.history.outcomes[attempt.number] = outcome
        return self._end(CANCELLED)

    def _end(self, end: End) -> Exit:
        """Write the task's result for good, and return its exit code."""
        log.info("task %d: %s. %s", self.task.number, end.state.value, end.reason)
        self.history.publish(end.state, end.reason)
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

    def _set_outcome(self, attempt: Attempt, state: TaskState, cause: Cause = Cause.NONE, reason: str = "") -> None:
        """Write down how an attempt stands of which the platform knows nothing."""
        ended = self.world.now() if state.terminal else None
        outcome = Outcome(attempt.number, attempt.lane, attempt.training, state, cause, reason, ended_at=ended)
        self.history.outcomes[attempt.number] = replace(outcome, instances=attempt.instances)

    def _recorded_request(self, attempt: Attempt) -> Request:
        """Return the very request that was recorded, made again. Raise AlreadyExists when it comes out another one."""
        there = (attempt.lane, attempt.site, attempt.instances)
        for place in self.task.places:
            if (place.lane, place.site, place.instances) == there:
                request = self._request(place, attempt.number, attempt.max_runtime_s)
                if request.hash == attempt.request_hash:
                    return request
        raise AlreadyExists(
            f"{attempt.training} was recorded with another request than this launcher would send",
            hint="another version of the launcher recorded it: `sweep retry` makes a new attempt",
        )

    def _request(self, place: Place, number: int, max_runtime_s: int) -> Request:
        return self._runner(place.lane).request(self._template(place.lane), self.task, place, number, max_runtime_s)

    def _template(self, lane: Lane) -> Template:
        key = (lane.platform, lane.region)
        if key not in self._templates:
            self._templates[key] = self.control.template(*key)
        self._poll_s = self._templates[key].poll_s
        return self._templates[key]

    def _poll(self, attempt: Attempt) -> Outcome | None:
        return self._runner(attempt.lane).poll(attempt)

    def _runner(self, lane: Lane) -> Runner:
        return self.runners(lane.platform)

    def _cancelled(self) -> bool:
        return self.control.cancelled(self.history.submission)

    def _say(self, attempt: Attempt, what: str) -> None:
        log.info("task %d attempt %d: %s %s", self.task.number, attempt.number, attempt.training, what)
